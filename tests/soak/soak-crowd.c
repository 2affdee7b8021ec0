/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Clients that misbehave, all at once: half open, silent, slow, flooding, and so many that there is
 * no descriptor left. irisd serves clients that behave, and its memory stays below a ceiling that
 * follows from its limits.
 */
#include "../integration/irisd-raw.h"
#include "soak-history.h"

#include <sys/resource.h>
#include <unistd.h>

#define WINDOW 32

/* --- a crowd -----------------------------------------------------------------------------------
 */

#define N_HALF_OPEN 60
#define N_SILENT    60
#define N_MUTE      4
#define N_FLOODING  2
#define BODY        16384

/* The limit of all connections together, and as much again for messages in ZeroMQ's pipes and for
 * irisd itself. */
#define CEILING_KIB (2 * 64 * 1024)

typedef struct
{
  int half_open[N_HALF_OPEN];
  int silent[N_SILENT];
  Client *mute[N_MUTE];         /* send large items and never read */
  Client *flooding[N_FLOODING]; /* send as much as they can and read all */
  Client *slow;                 /* reads one answer for each two requests */
  guint64 n_sent;
} Crowd;

static void
crowd_init (Crowd *self, const char *front)
{
  for (guint i = 0; i < N_HALF_OPEN; i++)
    {
      self->half_open[i] = raw_connect (front);
      ck_assert (raw_write (self->half_open[i], "\xff\0\0\0", i % 5));
    }
  for (guint i = 0; i < N_SILENT; i++)
    {
      self->silent[i] = raw_connect_ready (front);
      ck_assert (i % 2 == 0 || raw_write_hello (self->silent[i]));
    }
  for (guint i = 0; i < N_MUTE; i++)
    {
      int narrow = 50;
      self->mute[i] = client_hello (front);
      zmq_setsockopt (self->mute[i]->socket, ZMQ_SNDHWM, &narrow, sizeof narrow);
    }
  for (guint i = 0; i < N_FLOODING; i++)
    self->flooding[i] = client_hello (front);
  self->slow = client_hello (front);
}

static void
crowd_clear (Crowd *self)
{
  for (guint i = 0; i < N_HALF_OPEN; i++)
    close (self->half_open[i]);
  for (guint i = 0; i < N_SILENT; i++)
    close (self->silent[i]);
  for (guint i = 0; i < N_MUTE; i++)
    client_free (self->mute[i]);
  for (guint i = 0; i < N_FLOODING; i++)
    client_free (self->flooding[i]);
  client_free (self->slow);
}

static void
flood (Crowd *self, const guint8 *body)
{
  for (guint i = 0; i < N_MUTE; i++)
    client_submit (self->mute[i], "echo", body, BODY, IRIS_PLACE_ANY, FALSE);
  for (guint i = 0; i < N_FLOODING; i++)
    {
      for (guint n = 0; n < 20; n++)
        client_submit (self->flooding[i], "echo", body, 64, IRIS_PLACE_ANY, FALSE);
      while (client_try_receive (self->flooding[i]))
        if (self->flooding[i]->message.type == IRIS_WIRE_RESULT)
          client_ack (self->flooding[i], 1);
    }
  for (guint n = 0; n < 2; n++)
    {
      IrisWireMessage map;
      client_init_message (self->slow, &map, IRIS_WIRE_MAP);
      client_send (self->slow, &map);
    }
  client_try_receive (self->slow);
  self->n_sent += N_MUTE + N_FLOODING * 20 + 2;
}

void
soak_crowd (SoakFigures *figures)
{
  guint n_items = soak_times (400, 8000);
  Home *home = home_new ();
  Irisd *irisd = home_start (
      home, "[limits]\nmax-body = 1M\nmax-output = 1M\nin-flight-bytes = 8M\ntotal-bytes = 64M\n"
            "outbox-messages = 512\n");
  g_autofree guint8 *body = g_malloc0 (BODY);
  Client *good = client_hello (irisd->front);
  Crowd crowd = { 0 };
  SoakHistory history;
  soak_history_init (&history, figures);
  crowd_init (&crowd, irisd->front);
  while (history.entries->len < n_items)
    {
      IrisWireMessage item;
      soak_history_fill (&history, good, &item, "echo", IRIS_WIRE_CLASS_DURABLE);
      soak_history_send (&history, good, &item);
      flood (&crowd, body);
      while (history.open > 0)
        soak_history_take (&history, client_receive (good));
      client_ack (good, 1);
    }
  ck_assert_uint_eq (history.refused, 0);
  soak_note_peak (figures, irisd);
  ck_assert_msg (SANITIZED || figures->peak_kib < CEILING_KIB,
                 "irisd used %" G_GUINT64_FORMAT " KiB", figures->peak_kib);
  g_snprintf (figures->note, sizeof figures->note, "%" G_GUINT64_FORMAT " messages beside it",
              crowd.n_sent);
  crowd_clear (&crowd);
  client_free (good);
  irisd_stop (irisd);
  soak_history_clear (&history);
  home_free (home);
}

/* --- no descriptor left ------------------------------------------------------------------------
 */

#define N_LATE 20

/* Fewer than a command needs. */
#define MOST_FREE 4

/* The least descriptor that is not open: a limit there leaves none free, lower ones included. */
static rlim_t
find_free_descriptor (Irisd *irisd)
{
  for (rlim_t n = 0;; n++)
    {
      g_autofree char *path = g_strdup_printf ("/proc/%d/fd/%lu", (int) irisd->pid,
                                               (unsigned long) n);
      if (!g_file_test (path, G_FILE_TEST_IS_SYMLINK))
        return n;
    }
}

/* irisd closes a connection some time after its other end was closed. */
static guint
count_sockets (Irisd *irisd)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/fd", (int) irisd->pid);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  ck_assert_ptr_nonnull (dir);
  guint n = 0;
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *link = g_build_filename (path, name, NULL);
      g_autofree char *target = g_file_read_link (link, NULL);
      n += target != NULL && g_str_has_prefix (target, "socket:");
    }
  return n;
}

static void
limit_descriptors (Irisd *irisd, rlim_t n)
{
  struct rlimit limit;
  ck_assert_int_eq (prlimit (irisd->pid, RLIMIT_NOFILE, NULL, &limit), 0);
  limit.rlim_cur = n;
  ck_assert_int_eq (prlimit (irisd->pid, RLIMIT_NOFILE, &limit, NULL), 0);
}

static void
send_echo (SoakHistory *history, Client *client)
{
  IrisWireMessage item;
  soak_history_fill (history, client, &item, "echo", IRIS_WIRE_CLASS_DURABLE);
  soak_history_send (history, client, &item);
}

static void
take_all (SoakHistory *history, Client *client)
{
  while (history->open > 0)
    {
      soak_history_take (history, client_receive (client));
      if (client->message.type == IRIS_WIRE_RESULT)
        client_ack (client, 1);
    }
}

static gboolean
run_true (Client *client)
{
  client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  const IrisWireMessage *completion = client_receive_completion (client);
  gboolean well = completion->type == IRIS_WIRE_RESULT;
  if (!well)
    {
      assert_error (completion, IRIS_WIRE_ERROR_SERVICE_FAILED);
      g_autofree char *reason = iris_wire_string_dup (&completion->message);
      ck_assert_msg (strstr (reason, "ulimit -n") != NULL, "%s", reason);
    }
  client_ack (client, 1);
  return well;
}

/* Commands and new connections need descriptors; the journal and open connections have theirs. */
static void
exhaust (SoakHistory *history, Irisd *irisd, Client *durable, Client *plain)
{
  Client *late[N_LATE];
  guint n_sockets = count_sockets (irisd);
  limit_descriptors (irisd, find_free_descriptor (irisd) + soak_random (0, MOST_FREE));
  for (guint i = 0; i < N_LATE; i++)
    {
      IrisWireMessage hello;
      late[i] = client_new (irisd->front);
      client_init_message (late[i], &hello, IRIS_WIRE_HELLO);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
      client_send (late[i], &hello);
    }
  guint n_failed = 0;
  for (guint i = 0; i < 20; i++)
    {
      for (guint n = 0; n < WINDOW; n++)
        send_echo (history, durable);
      n_failed += !run_true (plain);
      take_all (history, durable);
    }
  ck_assert_uint_gt (n_failed, 0);
  limit_descriptors (irisd, 4096);
  for (guint i = 0; i < N_LATE; i++)
    {
      client_receive_type (late[i], IRIS_WIRE_WELCOME);
      client_free (late[i]);
    }
  while (!run_true (plain) || count_sockets (irisd) > n_sockets)
    g_thread_yield ();
}

void
soak_descriptors (SoakFigures *figures)
{
  guint n_rounds = soak_times (2, 40);
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  Client *durable = client_hello (irisd->front);
  Client *plain = client_hello (irisd->front);
  SoakHistory history;
  soak_history_init (&history, figures);
  for (guint round = 0; round < n_rounds; round++)
    exhaust (&history, irisd, durable, plain);
  ck_assert_uint_eq (history.refused, 0);
  g_snprintf (figures->note, sizeof figures->note, "%u times exhausted", n_rounds);
  soak_note_peak (figures, irisd);
  client_free (durable);
  client_free (plain);
  irisd_stop (irisd);
  soak_history_clear (&history);
  home_free (home);
}
