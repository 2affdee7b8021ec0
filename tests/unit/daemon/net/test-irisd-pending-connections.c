/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Connections without HELLO: those whose time is over are closed, and a descriptor that another
 * connection has by now is left alone.
 */
#include "core-test-run.h"
#include "daemon/net/irisd-pending-connections.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SECOND ((gint64) G_USEC_PER_SEC)

/* hello-ms is 8 seconds, so the other chance is the second behind them. */
#define HELLO  (8 * SECOND)
#define CHANCE (1 * SECOND)
#define MOST   4

static IrisdPendingConnections *pending_connections;
static char *dir;
static char *endpoint;
static int listener;

typedef struct
{
  int ours, theirs;
} Connection;

static void
set_up (void)
{
  IrisdLimits limits;
  struct sockaddr_un name = { .sun_family = AF_UNIX };

  irisd_limits_init (&limits);
  limits.hello_ms = HELLO / 1000;
  limits.max_pending_connections = MOST;
  pending_connections = irisd_pending_connections_new (&limits);
  dir = g_dir_make_tmp ("irisd-pending-XXXXXX", NULL);
  g_snprintf (name.sun_path, sizeof name.sun_path, "%s/front.ipc", dir);
  endpoint = g_strconcat ("ipc://", name.sun_path, NULL);
  listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_eq (bind (listener, (struct sockaddr *) &name, sizeof name), 0);
  ck_assert_int_eq (listen (listener, 64), 0);
}

static void
tear_down (void)
{
  irisd_pending_connections_free (pending_connections);
  close (listener);
  g_unlink (endpoint + strlen ("ipc://"));
  g_rmdir (dir);
  g_free (dir);
  g_free (endpoint);
}

static Connection
connect_to (const char *path)
{
  struct sockaddr_un name = { .sun_family = AF_UNIX };
  Connection self = { .theirs = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };

  g_strlcpy (name.sun_path, path, sizeof name.sun_path);
  ck_assert_int_eq (connect (self.theirs, (struct sockaddr *) &name, sizeof name), 0);
  self.ours = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);
  ck_assert_int_ge (self.ours, 0);
  return self;
}

static Connection
come_in (gint64 now)
{
  Connection self = connect_to (endpoint + strlen ("ipc://"));

  irisd_pending_connections_enter (pending_connections, self.ours, endpoint, now);
  return self;
}

static gboolean
was_hung_up (const Connection *self)
{
  struct pollfd end = { .fd = self->theirs, .events = POLLIN };
  char byte;

  return poll (&end, 1, 0) == 1 && read (self->theirs, &byte, 1) == 0;
}

static void
leave (Connection *self)
{
  close (self->ours);
  close (self->theirs);
}

TEST (a_connection_that_says_nothing_in_time_gets_another_chance_and_no_third)
{
  Connection first = come_in (0), second = come_in (SECOND), third = come_in (2 * SECOND);
  gint64 now = g_get_monotonic_time ();

  ck_assert_int_eq (irisd_pending_connections_sweep (pending_connections, HELLO - 1), HELLO);
  irisd_pending_connections_hello (pending_connections, second.ours);
  ck_assert_int_eq (irisd_pending_connections_sweep (pending_connections, HELLO), HELLO + CHANCE);
  ck_assert (!was_hung_up (&first));
  ck_assert_int_eq (irisd_pending_connections_sweep (pending_connections, HELLO + CHANCE),
                    HELLO + 2 * SECOND);
  ck_assert (was_hung_up (&first));
  ck_assert (!was_hung_up (&second) && !was_hung_up (&third));
  /* After a long sleep, such as of irisd, the chance is still one. */
  irisd_pending_connections_sweep (pending_connections, now + 1000 * SECOND);
  ck_assert (!was_hung_up (&third));
  irisd_pending_connections_hello (pending_connections, third.ours);
  ck_assert_int_eq (irisd_pending_connections_sweep (pending_connections, now + 2000 * SECOND), 0);
  ck_assert (!was_hung_up (&second) && !was_hung_up (&third));
  ck_assert_uint_eq (irisd_pending_connections_get_count (pending_connections), 0);
  leave (&first);
  leave (&second);
  leave (&third);
}

TEST (hello_may_be_here_before_the_event)
{
  Connection early = connect_to (endpoint + strlen ("ipc://"));

  irisd_pending_connections_hello (pending_connections, early.ours);
  ck_assert_uint_eq (irisd_pending_connections_get_count (pending_connections), 1);
  irisd_pending_connections_enter (pending_connections, early.ours, endpoint, 0);
  ck_assert_uint_eq (irisd_pending_connections_get_count (pending_connections), 0);

  /* An event that never comes harms no connection. */
  irisd_pending_connections_hello (pending_connections, early.ours);
  gint64 now = g_get_monotonic_time ();
  irisd_pending_connections_sweep (pending_connections, now + 2 * HELLO);
  irisd_pending_connections_sweep (pending_connections, now + 4 * HELLO);
  ck_assert_uint_eq (irisd_pending_connections_get_count (pending_connections), 0);
  ck_assert (!was_hung_up (&early));
  leave (&early);
}

TEST (a_connection_that_parts_is_pending_again)
{
  Connection it = come_in (0);
  struct pollfd wake = { .fd = irisd_pending_connections_get_wake_fd (pending_connections),
                         .events = POLLIN };
  IrisdConnection connection = irisd_pending_connections_hello (pending_connections, it.ours);

  ck_assert_int_eq (poll (&wake, 1, 0), 0);
  irisd_pending_connections_part (pending_connections, &connection, 100 * SECOND);
  ck_assert_int_eq (poll (&wake, 1, 0), 1);
  ck_assert_int_eq (irisd_pending_connections_sweep (pending_connections, 100 * SECOND),
                    100 * SECOND + HELLO);
  irisd_pending_connections_sweep (pending_connections, 100 * SECOND + HELLO);
  irisd_pending_connections_sweep (pending_connections, 100 * SECOND + HELLO + CHANCE);
  ck_assert (was_hung_up (&it));
  leave (&it);
}

/* A descriptor is given to another connection meanwhile. */
TEST (another_connection_with_the_same_descriptor_is_left_alone)
{
  Connection gone = come_in (0);
  IrisdConnection connection = irisd_pending_connections_hello (pending_connections, gone.ours);
  Connection pending = come_in (0);
  int fd = pending.ours, other[2];

  ck_assert_int_eq (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, other), 0);
  Connection innocent = { other[0], other[1] };
  ck_assert_int_eq (dup3 (innocent.ours, fd, O_CLOEXEC), fd);
  ck_assert_int_eq (dup3 (innocent.ours, gone.ours, O_CLOEXEC), gone.ours);
  irisd_pending_connections_part (pending_connections, &connection, 0);
  ck_assert_uint_eq (irisd_pending_connections_get_count (pending_connections), 1);
  irisd_pending_connections_sweep (pending_connections, HELLO);
  ck_assert_int_eq (irisd_pending_connections_sweep (pending_connections, HELLO + CHANCE), 0);
  ck_assert (!was_hung_up (&innocent));
  /* Nor is it taken for one that has come in, if the event comes late. */
  irisd_pending_connections_enter (pending_connections, fd, endpoint, 0);
  irisd_pending_connections_enter (pending_connections, 1 << 20, endpoint, 0);
  irisd_pending_connections_enter (pending_connections, -1, endpoint, 0);
  ck_assert_uint_eq (irisd_pending_connections_get_count (pending_connections), 0);
  ck_assert_uint_eq (irisd_pending_connections_hello (pending_connections, -1).cookie, 0);
  leave (&gone);
  leave (&pending);
  leave (&innocent);
}

TEST (a_connection_has_ended_when_one_of_its_ends_is_closed)
{
  Connection theirs = come_in (0), ours = come_in (0);
  const IrisdConnection first = irisd_pending_connections_hello (pending_connections, theirs.ours);
  const IrisdConnection second = irisd_pending_connections_hello (pending_connections, ours.ours);
  const IrisdConnection unknown = { ours.ours, 0 };

  ck_assert (!irisd_connection_has_ended (&first) && !irisd_connection_has_ended (&second));
  shutdown (theirs.theirs, SHUT_WR);
  ck_assert (irisd_connection_has_ended (&first));
  close (ours.ours);
  ck_assert (irisd_connection_has_ended (&second) && !irisd_connection_has_ended (&unknown));
  close (ours.theirs);
  leave (&theirs);
}

TEST (of_too_many_the_oldest_go)
{
  Connection all[MOST + 2];

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      all[i] = come_in (i);
      ck_assert_uint_le (irisd_pending_connections_get_count (pending_connections), MOST);
    }
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      ck_assert_int_eq (was_hung_up (&all[i]), i < 2);
      leave (&all[i]);
    }
}

TEST_MAIN ("irisd-pending-connections", set_up, tear_down)
