/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Round trips: from a main context to a worker, and with the result back to the main context.
 *
 * Contenders are not schedulers but tasks: iris's, and GIO's by g_task_run_in_thread(). Both do
 * what a program would: make a task, run it, return a number from a worker, and read it in a
 * callback in the main context, which then starts the next. One trip at a time is what a program
 * that waits for each feels; with many under way it is the cost of a trip that counts.
 */
#include "tests/bench/workloads/structures/bench-containers.h"
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/workloads/bench-workloads.h"

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
  guint workers;
  guint trips;
  guint under_way;
} Trial;

typedef struct
{
  const Trial *trial;
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
  if (self->n_begun < self->trial->trips)
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
  if (self->trial->traveller->is_iris)
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
  while (self->n_begun < MIN (self->trial->under_way, until))
    run_begin (self);
  while (self->n_over < until)
    g_main_context_iteration (self->context, TRUE);
}

static gboolean
trial_run (gpointer data, gdouble *samples, GError **error)
{
  const Trial *self = data;
  Trial warm_up = *self;
  Run run = { .trial = &warm_up, .context = g_main_context_new () };
  gint64 begin;

  if (self->traveller->is_iris)
    run.scheduler = iris_wsscheduler_new_full (self->workers, self->workers);
  g_main_context_push_thread_default (run.context);
  /* The threads of both are there before the clock starts. */
  warm_up.trips = warm_up.under_way = self->workers;
  run_some (&run, warm_up.trips);
  run.trial = self;
  run.n_begun = run.n_over = 0;
  run.sum = 0;
  begin = bench_now ();
  run_some (&run, self->trips);
  samples[0] = (bench_now () - begin) / 1e9;
  g_main_context_pop_thread_default (run.context);
  g_main_context_unref (run.context);
  g_clear_object (&run.scheduler);
  if (run.sum == self->trips)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "%u trips brought back a sum of %" G_GUINT64_FORMAT, self->trips, run.sum);

  return FALSE;
}

BenchResult *
bench_round_trip (const BenchOptions *options, GError **error)
{
  static const guint under_way[] = { 1, 100 };
  guint trips = bench_choose (options, options->items, TRIPS, 8);
  g_autoptr (BenchResult) result = bench_result_new (
      "round-trip", options,
      g_strdup_printf ("%u times from a main context to a worker and back", trips));

  result->item = "trip";
  result->x_label = g_strdup ("trips under way");
  for (guint i = 0; i < G_N_ELEMENTS (under_way); i++)
    for (guint j = 0; j < G_N_ELEMENTS (travellers); j++)
      {
        const Traveller *traveller = &travellers[j];
        g_autofree char *load = g_strdup_printf ("%u under way", under_way[i]);
        BenchSeries *series;
        Trial *trial;

        if (!bench_container_is_wanted (options, traveller->name, traveller->kind))
          continue;
        series = bench_container_add_series (result, load, traveller->name, traveller->kind,
                                             options->workers, trips);
        series->x = under_way[i];
        trial = g_new (Trial, 1);
        *trial = (Trial){ traveller, options->workers, trips, under_way[i] };
        bench_result_add_trial (result, trial_run, trial, g_free, series, NULL);
      }

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
