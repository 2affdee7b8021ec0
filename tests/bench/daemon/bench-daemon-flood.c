/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A flood: a program that sends items as fast as irisd lets it, or that keeps so many commands in
 * flight which only sleep.
 *
 * It is a process of its own, as irisd takes all connections of one process for one client.
 */
#include "tests/bench/daemon/bench-daemon.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ITEMS 65536 /* between two looks at nothing: it is killed */

static void
set_up_child (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

/* The program itself. It says when items of its have come back, so that it floods from then on. */
static int
flood (const char *endpoint, guint batch)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BenchClient) client = bench_client_new (endpoint, &error);
  BenchLoad load = { .service = "echo", .size = 64, .items = 1024, .window = 1024, .batch = batch };

  if (client != NULL && bench_client_run (client, &load, &error)
      && write (STDOUT_FILENO, "\n", 1) == 1)
    {
      load.items = ITEMS;
      while (bench_client_run (client, &load, &error))
        continue;
    }
  g_printerr ("iris-bench: the flood ends: %s\n", error != NULL ? error->message : "no output");

  return 1;
}

typedef struct
{
  BenchClient *client;
  guint n;
} Sleepers;

static gpointer
run_sleepers (gpointer data)
{
  static const char *const args[] = { "sleep", "1", NULL };
  Sleepers *self = data;
  g_autoptr (GError) error = NULL;
  BenchLoad load = { .service = "command", .args = args, .batch = 1 };

  load.window = self->n;
  load.items = G_MAXINT;
  bench_client_run (self->client, &load, &error);
  g_printerr ("iris-bench: the sleepers end: %s\n", error != NULL ? error->message : "all done");

  return NULL;
}

/* The program itself. It says when another connection was answered after the first were sent. */
static int
sleep_in_commands (const char *endpoint, guint n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BenchClient) client = bench_client_new (endpoint, &error);
  g_autoptr (BenchClient) probe = client != NULL ? bench_client_new (endpoint, &error) : NULL;
  BenchLoad load = { .service = "echo", .size = 64, .items = 1, .window = 1, .batch = 1 };
  Sleepers sleepers = { client, n };
  GThread *thread;

  if (probe == NULL)
    {
      g_printerr ("iris-bench: %s\n", error->message);
      return 1;
    }
  thread = g_thread_new ("sleepers", run_sleepers, &sleepers);
  for (guint i = 0; i < n; i++)
    if (!bench_client_round_trip (probe, &load, &error))
      break;
  if (error == NULL && write (STDOUT_FILENO, "\n", 1) != 1)
    g_printerr ("iris-bench: no output\n");
  g_thread_join (thread);

  return 1;
}

int
bench_daemon_child (const char *what, const char *endpoint, guint n)
{
  if (g_str_equal (what, "bare-echo"))
    return bench_bare_echo (endpoint);

  return g_str_equal (what, "flood") ? flood (endpoint, n) : sleep_in_commands (endpoint, n);
}

GSubprocess *
bench_flood_start (const char *what, const char *endpoint, guint n, GError **error)
{
  g_autoptr (GSubprocessLauncher)
      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autofree char *items = g_strdup_printf ("--items=%u", n);
  GSubprocess *self;
  char c;

  g_subprocess_launcher_set_child_setup (launcher, set_up_child, NULL, NULL);
  self = g_subprocess_launcher_spawn (launcher, error, "/proc/self/exe", "--child", what, endpoint,
                                      items, NULL);
  if (self == NULL
      || g_input_stream_read (g_subprocess_get_stdout_pipe (self), &c, 1, NULL, error) == 1)
    return self;
  if (error != NULL && *error == NULL)
    g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "the flood did not begin");
  bench_flood_stop (self, NULL);

  return NULL;
}

gboolean
bench_flood_stop (GSubprocess *self, GError **error)
{
  gboolean good;

  g_subprocess_force_exit (self);
  good = g_subprocess_wait (self, NULL, error) && g_subprocess_get_if_signaled (self);
  g_object_unref (self);
  if (!good && error != NULL && *error == NULL)
    g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_RESULT, "the flood ended by itself");

  return good;
}
