/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages whose last frame has not come: what they are charged, and which connection ends.
 */
#include "core-test-run.h"
#include "daemon/net/irisd-accept.h"
#include "daemon/net/irisd-unfinished-messages.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_HEADER 4096
#define MAX_BODY   65536
#define MOST_TOTAL (1 << 20)

enum
{
  MORE = 1,
  LONG = 2,
  COMMAND = 4,
};

static char *dir;
static char *path;
static int listener;

typedef struct
{
  int ours, theirs;
} Connection;

static int
listen_at (const char *where)
{
  struct sockaddr_un name = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_strlcpy (name.sun_path, where, sizeof name.sun_path);
  ck_assert_int_eq (bind (fd, (struct sockaddr *) &name, sizeof name), 0);
  ck_assert_int_eq (listen (fd, 64), 0);
  return fd;
}

static void
set_up (void)
{
  IrisdLimits limits;

  irisd_limits_init (&limits);
  limits.max_header = MAX_HEADER;
  limits.max_body = MAX_BODY;
  limits.unfinished_bytes = MOST_TOTAL;
  irisd_unfinished_set_limits (&limits);
  /* It has irisd's accept4() linked, also where a sanitizer has one. */
  ck_assert (irisd_accept_init (NULL));
  dir = g_dir_make_tmp ("irisd-unfinished-XXXXXX", NULL);
  path = g_build_filename (dir, "front.ipc", NULL);
  g_autofree char *endpoint = g_strconcat ("ipc://", path, NULL);
  irisd_unfinished_listen (endpoint);
  listener = listen_at (path);
}

static void
tear_down (void)
{
  irisd_accept_clear ();
  close (listener);
  g_unlink (path);
  g_rmdir (dir);
  g_free (path);
  g_free (dir);
}

static Connection
connect_to (const char *where, int from)
{
  struct sockaddr_un name = { .sun_family = AF_UNIX };
  Connection self = { .theirs = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };

  g_strlcpy (name.sun_path, where, sizeof name.sun_path);
  ck_assert_int_eq (connect (self.theirs, (struct sockaddr *) &name, sizeof name), 0);
  self.ours = accept4 (from, NULL, NULL, SOCK_CLOEXEC);
  ck_assert_int_ge (self.ours, 0);
  return self;
}

/* Returns whether the connection goes on after that. */
static gboolean
pass (const Connection *self, const void *bytes, gsize size, gsize piece)
{
  guint8 buffer[65536];

  for (gsize at = 0; at < size;)
    {
      gsize part = MIN (MIN (piece, size - at), sizeof buffer);
      ck_assert_int_eq (send (self->theirs, (const guint8 *) bytes + at, part, MSG_NOSIGNAL), part);
      if (recv (self->ours, buffer, part, MSG_WAITALL) != (ssize_t) part)
        return FALSE;
      ck_assert_int_eq (memcmp (buffer, (const guint8 *) bytes + at, part), 0);
      at += part;
    }
  return TRUE;
}

static gboolean
pass_frame (const Connection *self, guint8 flags, gsize size, gsize piece)
{
  g_autofree guint8 *bytes = g_malloc0 (9 + size);
  guint64 length = GUINT64_TO_BE (size);

  bytes[0] = flags | LONG;
  memcpy (bytes + 1, &length, sizeof length);
  return pass (self, bytes, 9 + size, piece);
}

static Connection
come_in (void)
{
  static const guint8 greeting[64] = { 0xff, [9] = 0x7f, 3 };
  Connection self = connect_to (path, listener);

  ck_assert (pass (&self, greeting, sizeof greeting, 10));
  ck_assert (pass_frame (&self, COMMAND, 41, 41));
  ck_assert (pass_frame (&self, 0, 20, 20));
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
  return self;
}

/* Both ends; then there is nothing that it is charged. */
static void
leave (Connection *self)
{
  char byte;

  close (self->theirs);
  ck_assert_int_le (recv (self->ours, &byte, 1, 0), 0);
  close (self->ours);
}

TEST (a_message_is_charged_until_it_is_finished)
{
  static const gsize pieces[] = { 1, 7, 65536 };

  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++)
    {
      Connection it = come_in ();
      ck_assert (pass_frame (&it, MORE, 10, pieces[i]));
      ck_assert_uint_eq (irisd_unfinished_get_bytes (), IRISD_UNFINISHED_FRAME + 10);
      ck_assert (pass_frame (&it, COMMAND, 100, pieces[i]));
      ck_assert_uint_eq (irisd_unfinished_get_bytes (), IRISD_UNFINISHED_FRAME + 10);
      ck_assert (pass_frame (&it, MORE, 0, pieces[i]));
      ck_assert_uint_eq (irisd_unfinished_get_bytes (), 2 * IRISD_UNFINISHED_FRAME + 10);
      ck_assert (pass_frame (&it, MORE, 100, pieces[i]));
      ck_assert_uint_eq (irisd_unfinished_get_bytes (),
                         3 * IRISD_UNFINISHED_FRAME + 110 + IRISD_UNFINISHED_BUFFER);
      ck_assert (pass_frame (&it, 0, MAX_BODY, pieces[i]));
      ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
      ck_assert (pass_frame (&it, MORE, 1000, pieces[i]));
      leave (&it);
      ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
    }
}

TEST (a_message_beyond_a_bound_ends_its_connection)
{
  Connection it = come_in ();
  ck_assert (pass_frame (&it, MORE, MAX_BODY, 65536));
  ck_assert (!pass_frame (&it, 0, 3 * MAX_BODY, 65536));
  leave (&it);
  it = come_in ();
  /* Its length alone is enough, also one that would overflow. */
  static const guint8 huge[] = { MORE | LONG, 255, 255, 255, 255, 255, 255, 255, 255 };
  ck_assert (!pass (&it, huge, sizeof huge, sizeof huge));
  leave (&it);
  it = come_in ();
  guint n = 0;
  while (n < 10000 && pass_frame (&it, MORE, 0, 9))
    n++;
  ck_assert_uint_lt (n, 10000);
  leave (&it);
  it = come_in ();
  ck_assert (!pass_frame (&it, COMMAND | MORE, 20, 65536));
  leave (&it);
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
}

/* A client with CURVE, after its handshake; its commands have real sizes. */
static Connection
come_in_with_curve (void)
{
  static const guint8 greeting[64] = { 0xff, [9] = 0x7f, 3, 0, 'C', 'U', 'R', 'V', 'E' };
  Connection self = connect_to (path, listener);
  ck_assert (pass (&self, greeting, sizeof greeting, 7));
  ck_assert (pass_frame (&self, COMMAND, 200, 200));
  ck_assert (pass_frame (&self, COMMAND, 400, 400));
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
  return self;
}

/* The flag for more frames is encrypted, so all of them look like the last one. */
TEST (with_curve_a_message_is_charged_until_the_gateway_has_taken_it)
{
  const gsize box = IRISD_UNFINISHED_BOX, frame = IRISD_UNFINISHED_FRAME;
  Connection it = come_in_with_curve ();
  for (guint i = 0; i < 3; i++)
    ck_assert (pass_frame (&it, 0, box + 100, 65536));
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 3 * (frame + box + 100));
  irisd_unfinished_take (it.ours, 2, 200);
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), frame + box + 100);
  /* A ping is never taken; it is forgiven when the gateway has taken all there is. */
  irisd_unfinished_take (it.ours, 1, 100);
  ck_assert (pass_frame (&it, 0, box + 8, 65536));
  ck_assert_uint_gt (irisd_unfinished_get_bytes (), 0);
  irisd_unfinished_settle (it.ours);
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
  /* More than it has come with is not returned, and nothing of connections without CURVE. */
  irisd_unfinished_take (it.ours, 5, 100000);
  Connection plain = come_in ();
  ck_assert (pass_frame (&plain, MORE, 10, 65536));
  irisd_unfinished_take (plain.ours, 1, 10);
  irisd_unfinished_settle (plain.ours);
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), frame + 10);
  leave (&plain);
  leave (&it);
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
}

TEST (with_curve_a_message_without_end_ends_its_connection)
{
  Connection it = come_in_with_curve ();
  guint n = 0;
  while (n < 100000 && pass_frame (&it, 0, 1000, 65536))
    n++;
  ck_assert_uint_lt (n, 100000);
  leave (&it);
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
}

/* Before it has shown a key a stranger costs some kilobytes. */
TEST (a_handshake_has_small_commands)
{
  static const guint8 greeting[64] = { 0xff, [9] = 0x7f, 3, 0, 'C', 'U', 'R', 'V', 'E' };
  static const guint8 flags[] = { COMMAND, 0, MORE };
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    for (guint before = 0; before < 2; before++)
      {
        Connection it = connect_to (path, listener);
        ck_assert (pass (&it, greeting, sizeof greeting, 64));
        if (before > 0)
          ck_assert (pass_frame (&it, COMMAND, 200, 65536));
        ck_assert (!pass_frame (&it, flags[i], IRISD_UNFINISHED_HANDSHAKE + 1, 65536));
        leave (&it);
      }
  Connection later = come_in_with_curve ();
  ck_assert (!pass_frame (&later, COMMAND, IRISD_UNFINISHED_HANDSHAKE + 1, 65536));
  leave (&later);
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
}

/* Under pressure the connection ends whose last message was taken longest ago. */
TEST (with_curve_the_connection_without_progress_ends_first)
{
  Connection stuck = come_in_with_curve (), busy = come_in_with_curve ();
  ck_assert (pass_frame (&busy, 0, 60000, 65536));
  for (guint i = 0; i < 5; i++)
    ck_assert (pass_frame (&stuck, 0, 60000, 65536));
  while (irisd_unfinished_get_bytes () + 60000 < MOST_TOTAL)
    {
      ck_assert (pass_frame (&busy, 0, 60000, 65536));
      irisd_unfinished_take (busy.ours, 1, 10);
    }
  ck_assert (pass_frame (&busy, 0, 60000, 65536));
  ck_assert_uint_lt (irisd_unfinished_get_bytes (), MOST_TOTAL);
  char byte;
  ck_assert_int_eq (recv (stuck.theirs, &byte, 1, 0), 0);
  ck_assert_int_eq (recv (busy.theirs, &byte, 1, MSG_DONTWAIT), -1);
  ck_assert_int_eq (recv (stuck.ours, &byte, 1, 0), 0);
  leave (&stuck);
  leave (&busy);
}

#define N_OLD 32

TEST (of_too_many_the_oldest_ends)
{
  Connection old[N_OLD];
  for (guint i = 0; i < N_OLD; i++)
    old[i] = come_in ();
  guint n = 0;
  for (; n < N_OLD && irisd_unfinished_get_bytes () + MAX_BODY < MOST_TOTAL; n++)
    ck_assert (pass_frame (&old[n], MORE, MAX_BODY, 65536));
  ck_assert_uint_lt (n, N_OLD);
  ck_assert (pass_frame (&old[n], MORE, MAX_BODY, 65536));
  ck_assert_uint_le (irisd_unfinished_get_bytes (), MOST_TOTAL);
  char byte;
  ck_assert_int_eq (recv (old[0].theirs, &byte, 1, 0), 0);
  ck_assert_int_eq (recv (old[0].ours, &byte, 1, 0), 0);
  ck_assert_int_eq (recv (old[1].theirs, &byte, 1, MSG_DONTWAIT), -1);
  for (guint i = 1; i <= n; i++)
    ck_assert (pass_frame (&old[i], 0, 10, 65536));
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
  for (guint i = 0; i < N_OLD; i++)
    leave (&old[i]);
}

/* ZeroMQ may close a connection by itself, and its descriptor is then another socket's. */
TEST (another_socket_of_the_same_descriptor_is_left_alone)
{
  g_autofree char *other_path = g_build_filename (dir, "other.ipc", NULL);
  int other = listen_at (other_path);
  Connection it = come_in ();
  ck_assert (pass_frame (&it, MORE, MAX_BODY, 65536));
  int pair[2];
  close (it.theirs);
  close (it.ours);
  ck_assert_int_eq (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  int ours = pair[1];
  if (ours != it.ours)
    ck_assert_int_eq (dup3 (pair[1], it.ours, O_CLOEXEC), it.ours);
  Connection plain = { .ours = it.ours, .theirs = pair[0] == it.ours ? pair[1] : pair[0] };
  for (guint i = 0; i < 4; i++)
    ck_assert (pass_frame (&plain, MORE, MAX_BODY, 65536));
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);

  Connection elsewhere = connect_to (other_path, other);
  for (guint i = 0; i < 4; i++)
    ck_assert (pass_frame (&elsewhere, MORE, MAX_BODY, 65536));
  ck_assert_uint_eq (irisd_unfinished_get_bytes (), 0);
  leave (&elsewhere);
  close (pair[0]);
  close (pair[1]);
  if (ours != it.ours)
    close (it.ours);
  close (other);
  g_unlink (other_path);
}

TEST_MAIN ("irisd-unfinished-messages", set_up, tear_down)
