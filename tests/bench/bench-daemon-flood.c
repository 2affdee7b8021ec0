/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A flood: a program that sends items as fast as irisd lets it.
 *
 * It is a process of its own, as irisd takes all connections of one process for one client.
 */
#include "bench-daemon-flood.h"
#include "bench-daemon.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ITEMS 65536 /* between two looks at nothing: it is killed */

struct _BenchFlood
{
  GSubprocess *process;
};

static void
set_up_child (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

/* The program itself. It says when items of its have come back, so that it floods from then on. */
int
bench_flood_run (const char *endpoint, guint batch)
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

/**
 * bench_flood_start:
 * @endpoint: of irisd
 * @batch: items that it sends at once
 *
 * Returns: (nullable): a flood that is under way
 */
BenchFlood *
bench_flood_start (const char *endpoint, guint batch, GError **error)
{
  g_autoptr (GSubprocessLauncher)
      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  BenchFlood *self = g_new0 (BenchFlood, 1);
  g_autofree char *items = g_strdup_printf ("--items=%u", batch);
  char c;

  g_subprocess_launcher_set_child_setup (launcher, set_up_child, NULL, NULL);
  self->process = g_subprocess_launcher_spawn (launcher, error, "/proc/self/exe", "--flood",
                                               endpoint, items, NULL);
  if (self->process != NULL
      && g_input_stream_read (g_subprocess_get_stdout_pipe (self->process), &c, 1, NULL, error)
             == 1)
    return self;
  if (self->process != NULL && error != NULL && *error == NULL)
    g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "the flood did not begin");
  bench_flood_stop (self, NULL);

  return NULL;
}

/* Returns whether it went on to the end. */
gboolean
bench_flood_stop (BenchFlood *self, GError **error)
{
  gboolean good = FALSE;

  if (self->process != NULL)
    {
      g_subprocess_force_exit (self->process);
      good = g_subprocess_wait (self->process, NULL, error)
             && g_subprocess_get_if_signaled (self->process);
      g_object_unref (self->process);
    }
  g_free (self);
  if (!good && error != NULL && *error == NULL)
    g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_RESULT, "the flood ended by itself");

  return good;
}
