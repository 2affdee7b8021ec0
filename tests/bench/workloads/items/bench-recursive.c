/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The classic workload: items, and messages, that each make more of them when they are handled.
 *
 * Source: Ch. Hergert, "Vacation! and Work-Stealing Schedulers" (iris, 2009).
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workloads.h"

#define OUTER 1000
#define INNER 1000

enum
{
  WHAT_OUTER = 1,
  WHAT_INNER = 2,
};

typedef struct
{
  BenchContender *contender;
  guint workers;
  guint outer;
  guint inner;
  IrisPort *port; /* of the run */
} Messages;

static void
messages_free (gpointer data)
{
  Messages *self = data;

  bench_contender_free (self->contender);
  g_free (self);
}

static void
handle_message (IrisMessage *message, gpointer data)
{
  Messages *self = data;

  bench_count_one ();
  if (message->what == WHAT_OUTER)
    for (guint i = 0; i < self->inner; i++)
      iris_port_post (self->port, iris_message_new (WHAT_INNER));
}

static gboolean
run_messages (gpointer data, gdouble *samples, GError **error)
{
  Messages *self = data;
  g_autoptr (IrisScheduler) scheduler = bench_iris_open (self->contender, self->workers, error);
  g_autoptr (IrisPort) port = iris_port_new ();
  gint64 begin;

  if (scheduler == NULL)
    return FALSE;
  self->port = port;
  iris_arbiter_receive (scheduler, port, handle_message, self, NULL);
  bench_iris_start (scheduler);
  if (!bench_wait_asleep (NULL, NULL, error))
    return FALSE;
  bench_counts_reset ();
  begin = bench_now ();
  for (guint i = 0; i < self->outer; i++)
    iris_port_post (port, iris_message_new (WHAT_OUTER));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  samples[0] = (bench_now () - begin) / 1e9;

  return bench_counts_check ((guint64) self->outer * (self->inner + 1), 0, error);
}

/* Messages are iris's own: the peers have none. */
static void
add_messages (BenchResult *result, const BenchOptions *options, guint outer, guint inner)
{
  g_autoptr (GPtrArray) contenders = bench_contenders (options, BENCH_CAN_INSIDE);
  const BenchSeries *base = NULL;

  while (contenders->len > 0)
    {
      BenchContender *contender = g_ptr_array_steal_index (contenders, 0);
      BenchSeries *series;
      Messages *messages;

      if (contender->engine != &bench_engine_iris || bench_iris_is_main_context (contender->index))
        {
          bench_contender_free (contender);
          continue;
        }
      series = bench_series_new ("messages", contender->name, BENCH_IRIS, options->workers,
                                 (guint64) outer * (inner + 1));
      base = base != NULL ? base : series;
      bench_series_compare (series, base, BENCH_FACTOR);
      bench_result_add_series (result, series);
      messages = g_new (Messages, 1);
      *messages = (Messages){ contender, options->workers, outer, inner, NULL };
      bench_result_add_trial (result, run_messages, messages, messages_free, series, NULL);
    }
}

BenchResult *
bench_recursive (const BenchOptions *options, GError **error)
{
  BenchSpray spray = { .producers = 1,
                       .outer = bench_choose (options, options->outer, OUTER, 1),
                       .inner = bench_choose (options, options->inner, INNER, 1) };
  char *title = g_strdup_printf ("%u items that each make %u more, %" G_GUINT64_FORMAT " in all",
                                 spray.outer, spray.inner,
                                 (guint64) spray.outer * (spray.inner + 1));
  g_autoptr (BenchResult) result = bench_result_new ("recursive", options, title);

  bench_spray_add_trials (result, options, "items", &spray, NULL, BENCH_FACTOR);
  add_messages (result, options, spray.outer, spray.inner);

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
