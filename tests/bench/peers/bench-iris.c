/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris's schedulers as contenders.
 *
 * Every run gets a fresh scheduler; its threads run, and sleep, before the clock starts, as
 * the peers' do. The
 * time ends with the shutdown that drains it, so it includes joining the workers. The statistics
 * must say, as the items do themselves, that every item was executed.
 */
#include "tests/bench/peers/bench-iris.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct
{
  const BenchContender *contender;
  IrisScheduler *scheduler;
  BenchFunc func;
  GMainLoop *loop; /* main-context: of the thread that iterates it */
  GThread *thread;
  gboolean has_ended; /* the steals are counted */
} Handle;

static gpointer
iterate (gpointer data)
{
  g_autoptr (GMainLoop) loop = data;

  g_main_loop_run (loop);

  return NULL;
}

static void
tell (gpointer data)
{
  atomic_store_explicit ((atomic_bool *) data, true, memory_order_release);
}

gboolean
bench_iris_is_pool (const BenchContender *self)
{
  return self->engine == &bench_engine_iris && !bench_iris_is_main_context (self->index);
}

/* A scheduler starts its threads for its first item; that of the peers run already. */
gboolean
bench_iris_start (IrisScheduler *scheduler, GError **error)
{
  atomic_bool started = false;

  iris_scheduler_queue (scheduler, tell, &started, NULL);
  while (!atomic_load_explicit (&started, memory_order_acquire))
    sched_yield ();

  return bench_wait_asleep (NULL, NULL, error);
}

static void
add_steals (BenchSteals *self, IrisScheduler *scheduler, gint sign)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);

  self->steals += sign * (gint64) stats->total.steals;
  self->searching_ns += sign * (gint64) stats->total.searching_ns;
  self->busy_ns += sign * (gint64) stats->total.busy_ns;
}

void
bench_iris_steals_begin (const BenchContender *self, IrisScheduler *scheduler)
{
  *self->steals = (BenchSteals){ 0 };
  add_steals (self->steals, scheduler, -1);
}

void
bench_iris_steals_end (const BenchContender *self, IrisScheduler *scheduler)
{
  add_steals (self->steals, scheduler, 1);
}

static gboolean
quit (gpointer data)
{
  g_main_loop_quit (data);

  return G_SOURCE_REMOVE;
}

static void
handle_free (Handle *self)
{
  if (self->loop != NULL)
    {
      g_autoptr (GSource) source = g_idle_source_new ();

      /* From inside: a loop that is told to quit before it runs would run for ever. */
      g_source_set_callback (source, quit, self->loop, NULL);
      g_source_attach (source, g_main_loop_get_context (self->loop));
      g_thread_join (self->thread);
      g_main_loop_unref (self->loop);
    }
  g_object_unref (self->scheduler);
  g_free (self);
}

static void
handle_close (gpointer handle)
{
  Handle *self = handle;

  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  if (!self->has_ended)
    bench_iris_steals_end (self->contender, self->scheduler);
  handle_free (self);
}

static void
handle_ended (gpointer handle)
{
  Handle *self = handle;

  bench_iris_steals_end (self->contender, self->scheduler);
  self->has_ended = TRUE;
}

static gpointer
handle_open (const BenchContender *self, guint workers, BenchFunc func, GError **error)
{
  g_autofree Handle *handle = g_new0 (Handle, 1);

  handle->contender = self;
  handle->func = func;
  if (bench_iris_is_main_context (self->index))
    {
      g_autoptr (GMainContext) context = g_main_context_new ();

      handle->scheduler = iris_gmainscheduler_new (context);
      handle->loop = g_main_loop_new (context, FALSE);
      handle->thread = g_thread_new ("main-context", iterate, g_main_loop_ref (handle->loop));
      if (!bench_iris_start (handle->scheduler, error))
        handle_close (g_steal_pointer (&handle));
    }
  else
    handle->scheduler = bench_iris_open (self, workers, error);
  if (handle == NULL || handle->scheduler == NULL)
    return NULL;
  bench_iris_steals_begin (self, handle->scheduler);

  return g_steal_pointer (&handle);
}

static void
handle_push (gpointer handle, gpointer data)
{
  Handle *self = handle;

  iris_scheduler_queue (self->scheduler, self->func, data, NULL);
}

/* A scheduler that counts its parks has as many parked workers as parks that nothing ended. */
static gboolean
handle_is_idle (gpointer handle)
{
  Handle *self = handle;
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (self->scheduler);

  return stats->total.parks == 0
         || stats->total.parks - stats->total.wakes
                == iris_scheduler_get_n_workers (self->scheduler);
}

typedef struct
{
  IrisScheduler *scheduler;
  const BenchSpray *spray;
} Spray;

static void
run_outer (gpointer data)
{
  Spray *self = data;

  bench_count_one ();
  for (guint i = 0; i < self->spray->inner; i++)
    iris_scheduler_queue (self->scheduler, bench_item_run, (gpointer) &self->spray->work, NULL);
}

static void
produce (gpointer data, guint producer)
{
  Spray *self = data;
  guint first, end;

  bench_spray_share (self->spray, producer, &first, &end);
  if (self->spray->inner > 0)
    for (guint i = first; i < end; i++)
      iris_scheduler_queue (self->scheduler, run_outer, self, NULL);
  else
    for (guint i = first; i < end; i++)
      iris_scheduler_queue (self->scheduler, bench_item_run, (gpointer) &self->spray->work, NULL);
}

static gboolean
check_stats (IrisScheduler *scheduler, const BenchSpray *spray, GError **error)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);
  guint64 expected = (guint64) spray->outer * (spray->inner + 1) + 1; /* that started the threads */

  if (stats->total.executed == expected)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "the statistics say that %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
               " items were executed",
               stats->total.executed, expected);

  return FALSE;
}

static gboolean
iris_spray (const BenchContender *self,
            const BenchSpray *spray,
            guint workers,
            gdouble *seconds,
            GError **error)
{
  Handle *handle = bench_contender_open (self, workers, bench_item_run, error);
  Spray run = { handle != NULL ? handle->scheduler : NULL, spray };
  gboolean good;
  gint64 begin;

  if (handle == NULL)
    return FALSE;
  begin = bench_threads_run (spray->producers, produce, &run);
  iris_scheduler_shutdown (handle->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = bench_seconds_since (begin);
  bench_iris_steals_end (self, handle->scheduler);
  good = check_stats (handle->scheduler, spray, error);
  handle_free (handle);

  return good;
}

const BenchEngine bench_engine_iris = {
  .name = "iris",
  .summary = "iris's schedulers",
  .kind = BENCH_IRIS,
  .can = BENCH_CAN_OUTSIDE | BENCH_CAN_INSIDE | BENCH_CAN_PHASES | BENCH_CAN_WAKE | BENCH_CAN_FIB,
  .open = handle_open,
  .push = handle_push,
  .close = handle_close,
  .ended = handle_ended,
  .is_idle = handle_is_idle,
  .spray = iris_spray,
  .fib = bench_iris_fib,
};
