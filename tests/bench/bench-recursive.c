/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The classic workload: messages that each make more messages when they are handled.
 *
 * One run makes a fresh scheduler, queues the outer items from outside, and drains it. The time is
 * that from the first item to the end of the last worker, so it includes starting and joining the
 * workers. After each run the statistics must show that every item was executed.
 *
 * Source: Ch. Hergert, "Vacation! and Work-Stealing Schedulers" (iris, 2009).
 */
#include "bench.h"

enum
{
  OUTER = 1,
  INNER = 2,
};

typedef struct
{
  IrisScheduler *scheduler;
  IrisPort *port;
  guint outer;
  guint inner;
} Recursive;

static void
run_inner (gpointer data)
{
}

static void
run_outer (gpointer data)
{
  Recursive *self = data;

  for (guint i = 0; i < self->inner; i++)
    iris_scheduler_queue (self->scheduler, run_inner, self, NULL);
}

static void
queue_items (Recursive *self)
{
  for (guint i = 0; i < self->outer; i++)
    iris_scheduler_queue (self->scheduler, run_outer, self, NULL);
}

static void
handle_message (IrisMessage *message, gpointer data)
{
  Recursive *self = data;

  if (message->what == OUTER)
    for (guint i = 0; i < self->inner; i++)
      iris_port_post (self->port, iris_message_new (INNER));
}

static void
post_messages (Recursive *self)
{
  for (guint i = 0; i < self->outer; i++)
    iris_port_post (self->port, iris_message_new (OUTER));
}

/* Seconds for one run, or a negative number, with a word about it, when an item was lost. */
static gdouble
time_run (Recursive *self, gboolean messages)
{
  g_autoptr (IrisStats) stats = NULL;
  guint64 expected = (guint64) self->outer * (self->inner + 1);
  gint64 begin;
  gdouble seconds;

  begin = g_get_monotonic_time ();
  if (messages)
    post_messages (self);
  else
    queue_items (self);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  seconds = (g_get_monotonic_time () - begin) / 1e6;

  stats = iris_scheduler_get_stats (self->scheduler);
  if (stats->total.executed != expected)
    {
      g_printerr ("iris-bench: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                  " items were executed\n",
                  stats->total.executed, expected);
      return -1;
    }

  return seconds;
}

static gboolean
add_sample (const BenchOptions *options, guint index, gboolean messages, BenchSeries *series)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisScheduler) scheduler = bench_scheduler_new (index, options->workers, &error);
  g_autoptr (IrisPort) port = iris_port_new ();
  Recursive run = { scheduler, port, options->outer, options->inner };
  gdouble seconds;

  if (scheduler == NULL)
    {
      g_printerr ("iris-bench: %s: %s\n", bench_scheduler_name (index), error->message);
      return FALSE;
    }
  iris_arbiter_receive (scheduler, port, handle_message, &run, NULL);
  seconds = time_run (&run, messages);
  if (seconds < 0)
    return FALSE;
  bench_series_add (series, seconds);

  return TRUE;
}

int
bench_recursive (const BenchOptions *options)
{
  static const char *const loads[] = { "items", "messages" };
  g_autoptr (GPtrArray)
      series = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_series_free);
  guint64 n_items = (guint64) options->outer * (options->inner + 1);
  g_autofree char *title = g_strdup_printf (
      "recursive: %u items that each make %u more, %" G_GUINT64_FORMAT " in all", options->outer,
      options->inner, n_items);

  for (guint load = 0; load < G_N_ELEMENTS (loads); load++)
    for (guint i = 0; i < bench_n_schedulers (); i++)
      if (bench_scheduler_is_wanted (options, i))
        g_ptr_array_add (series, bench_series_new (loads[load], bench_scheduler_name (i), n_items));

  for (guint round = 0; round < options->rounds; round++)
    {
      guint next = 0;

      for (guint load = 0; load < G_N_ELEMENTS (loads); load++)
        for (guint i = 0; i < bench_n_schedulers (); i++)
          if (bench_scheduler_is_wanted (options, i)
              && !add_sample (options, i, load == 1, g_ptr_array_index (series, next++)))
            return 1;
    }
  bench_report (title, options, series, bench_scheduler_name (0));

  return 0;
}
