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
#define QUICK 30 /* of either */

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
  guint outer = options->quick ? QUICK : OUTER, inner = options->quick ? QUICK : INNER;
  BenchSpray spray = { .producers = 1,
                       .outer = bench_choose (options, options->outer, outer, 1),
                       .inner = bench_choose (options, options->inner, inner, 1) };
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

static const BenchPublished published[] = {
  { "one GAsyncQueue for all threads (A4), wall time", "items", "default", 3.062, 3.062, TRUE },
  { "work stealing (A6), wall time", "items", "work-stealing", 0.336, 0.336, TRUE },
  { "work stealing against one queue, items", "items", "work-stealing", 9.1, 9.1,
    .base = "default" },
  { "work stealing against one queue, messages", "messages", "work-stealing", 9.1, 9.1,
    .base = "default" },
  { NULL }
};

static const BenchFigure figure = {
  .row = "A4 A6 A7",
  .title = "recursive: 1,000 messages, each of which makes 1,000 more",
  .source = "Ch. Hergert, Vacation! and Work-Stealing Schedulers (2009)",
  .machine = "Intel Core 2 Quad Q6600, 2.4 GHz, 4 cores",
  .differs = "the program's start is not in the time; the published time is that of one run",
  .published = published,
};

const BenchWorkload bench_workload_recursive = {
  .name = "recursive",
  .summary = "items, and messages, that each make more of them",
  .figure = &figure,
  .plan = plan,
};
