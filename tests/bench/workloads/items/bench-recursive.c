/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The classic workload: items, and messages, that each make more of them when they are handled.
 *
 * Source: Ch. Hergert, "Vacation! and Work-Stealing Schedulers" (iris, 2009).
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workload.h"

#define OUTER 1000
#define INNER 1000

enum
{
  WHAT_OUTER = 1,
  WHAT_INNER = 2,
};

/* One run. */
typedef struct
{
  const BenchSpray *load;
  IrisPort *port;
} Messages;

static void
handle_message (IrisMessage *message, gpointer data)
{
  Messages *self = data;

  bench_count_one ();
  if (message->what == WHAT_OUTER)
    for (guint i = 0; i < self->load->inner; i++)
      iris_port_post (self->port, iris_message_new (WHAT_INNER));
}

gboolean
bench_spray_run_messages (const BenchRun *run, gdouble *samples, GError **error)
{
  g_autoptr (IrisScheduler) scheduler = bench_iris_open (run->contender, run->workers, error);
  g_autoptr (IrisPort) port = iris_port_new ();
  Messages self = { run->load, port };
  gint64 begin;

  if (scheduler == NULL)
    return FALSE;
  iris_arbiter_receive (scheduler, port, handle_message, &self, NULL);
  bench_counts_reset ();
  begin = bench_now ();
  for (guint i = 0; i < self.load->outer; i++)
    iris_port_post (port, iris_message_new (WHAT_OUTER));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  samples[0] = bench_seconds_since (begin);

  return bench_counts_check ((guint64) self.load->outer * (self.load->inner + 1), 0, error);
}

/* Messages are iris's own: the peers have none. */
static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  BenchSpray spray = { .producers = 1,
                       .outer = bench_choose (options, options->outer, OUTER, 1),
                       .inner = bench_choose (options, options->inner, INNER, 1) };
  guint64 n_items = (guint64) spray.outer * (spray.inner + 1);
  BenchCase messages = { .load = "messages",
                         .n_items = n_items,
                         .run = bench_spray_run_messages,
                         .data = &spray,
                         .size = sizeof spray };

  bench_result_set_title (result, "%u items that each make %u more, %" G_GUINT64_FORMAT " in all",
                          spray.outer, spray.inner, n_items);
  bench_spray_add (result, options, &(BenchCase){ .load = "items" }, &spray);
  bench_contenders_add (result, options, BENCH_CAN_INSIDE, bench_iris_is_pool, &messages);

  return TRUE;
}

const BenchWorkload bench_workload_recursive = {
  .name = "recursive",
  .summary = "items, and messages, that each make more of them",
  .plan = plan,
};
