/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Round trips: from a main context to a worker, and with the result back to the main context.
 *
 * Contenders are not schedulers but tasks: iris's, and GIO's by g_task_run_in_thread(). Both do
 * what a program would: make a task, run it, return a number from a worker, and read it in a
 * callback in the main context, which then starts the next. One trip at a time is what a program
 * that waits for each feels; with many under way it is the cost of a trip that counts.
 */
#include "tests/bench/workloads/bench-workload.h"

#include <gio/gio.h>
#include <iris/iris.h>

#define TRIPS 5000

typedef struct
{
  const char *name;
  BenchKind kind;
  gboolean is_iris;
} Traveller;

static const Traveller travellers[] = {
  { "iris-task", BENCH_IRIS, TRUE },
  { "gtask", BENCH_PEER, FALSE },
};

typedef struct
{
  const Traveller *traveller;
  guint trips;
  guint under_way;
} Load;

typedef struct
{
  const Load *load;
  GMainContext *context;
  IrisScheduler *scheduler;
  guint n_begun;
  guint n_over;
  guint64 sum;
} Run;

static void run_begin (Run *self);

static void
run_end (Run *self, guint64 number)
{
  self->n_over++;
  self->sum += number;
  if (self->n_begun < self->load->trips)
    run_begin (self);
}

static void
iris_work (IrisTask *task, gpointer data)
{
  iris_task_set_result_gtype (task, G_TYPE_INT, 1);
}

static void
iris_over (GObject *source, GAsyncResult *result, gpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;

  if (iris_task_propagate (IRIS_TASK (result), &value, NULL))
    run_end (data, (guint64) g_value_get_int (&value));
}

static void
gtask_work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_task_return_int (task, 1);
}

static void
gtask_over (GObject *source, GAsyncResult *result, gpointer data)
{
  run_end (data, (guint64) g_task_propagate_int (G_TASK (result), NULL));
}

static void
run_begin (Run *self)
{
  self->n_begun++;
  if (self->load->traveller->is_iris)
    {
      g_autoptr (IrisTask)
          task = iris_task_new_full (iris_work, NULL, NULL, FALSE, NULL, self->scheduler, NULL);

      iris_task_run_with_async_result (task, iris_over, self);
    }
  else
    {
      g_autoptr (GTask) task = g_task_new (NULL, NULL, gtask_over, self);

      g_task_run_in_thread (task, gtask_work);
    }
}

static void
run_some (Run *self, guint until)
{
  while (self->n_begun < MIN (self->load->under_way, until))
    run_begin (self);
  while (self->n_over < until)
    g_main_context_iteration (self->context, TRUE);
}

static gboolean
run_trips (const BenchRun *what, gdouble *samples, GError **error)
{
  const Load *self = what->load;
  Load warm_up = *self;
  Run run = { .load = &warm_up, .context = g_main_context_new () };
  gint64 begin;

  if (self->traveller->is_iris)
    run.scheduler = iris_wsscheduler_new_full (what->workers, what->workers);
  g_main_context_push_thread_default (run.context);
  /* The threads of both are there before the clock starts. */
  warm_up.trips = warm_up.under_way = what->workers;
  run_some (&run, warm_up.trips);
  run.load = self;
  run.n_begun = run.n_over = 0;
  run.sum = 0;
  begin = bench_now ();
  run_some (&run, self->trips);
  samples[0] = bench_seconds_since (begin);
  g_main_context_pop_thread_default (run.context);
  g_main_context_unref (run.context);
  g_clear_object (&run.scheduler);
  if (run.sum == self->trips)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "%u trips brought back a sum of %" G_GUINT64_FORMAT, self->trips, run.sum);

  return FALSE;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const guint under_way[] = { 1, 100 };
  guint trips = bench_choose (options, options->items, TRIPS, 8);

  bench_result_set_title (result, "%u times from a main context to a worker and back", trips);
  for (guint i = 0; i < G_N_ELEMENTS (under_way); i++)
    for (guint j = 0; j < G_N_ELEMENTS (travellers); j++)
      {
        const Traveller *traveller = &travellers[j];
        g_autofree char *name = g_strdup_printf ("%u under way", under_way[i]);
        Load load = { traveller, trips, under_way[i] };
        BenchCase what = { .load = name,
                           .n_items = trips,
                           .x = under_way[i],
                           .run = run_trips,
                           .data = &load,
                           .size = sizeof load };

        if (bench_is_wanted (options, traveller->name, traveller->kind))
          bench_result_add (result, &what, traveller->name, traveller->kind, NULL);
      }

  return TRUE;
}

static gboolean
check (const BenchOptions *options, GError **error)
{
  static const char *const names[] = { "iris-task", "gtask", NULL };

  return bench_check_chosen (options, "round-trip", names, error);
}

const BenchWorkload bench_workload_round_trip = {
  .name = "round-trip",
  .summary = "to a worker and back to a main context, by tasks",
  .item = "trip",
  .x_label = "trips under way",
  .plan = plan,
  .check = check,
};
