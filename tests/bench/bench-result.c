/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rounds: every trial once a round, so that what disturbs the machine disturbs all of them.
 *
 * The first round warms up and is not recorded. Each round starts with another trial, so that none
 * always runs behind the same neighbour.
 */
#include "bench-result.h"
#include "bench-contender.h"

#include <unistd.h>

typedef struct
{
  BenchTrialFunc func;
  gpointer data;
  GDestroyNotify notify;
  BenchSeries *series[BENCH_TRIAL_MAX_SERIES];
} Trial;

GQuark
bench_error_quark (void)
{
  return g_quark_from_static_string ("bench-error-quark");
}

static void
trial_free (gpointer data)
{
  Trial *self = data;

  if (self->notify != NULL)
    self->notify (self->data);
  g_free (self);
}

BenchResult *
bench_result_new (const char *name, const BenchOptions *options, char *title)
{
  BenchResult *self = g_new0 (BenchResult, 1);

  self->name = g_strdup (name);
  self->title = title;
  self->item = "item";
  self->workers = options->workers;
  self->rounds = options->rounds;
  self->series = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_series_free);
  self->trials = g_ptr_array_new_with_free_func (trial_free);

  return self;
}

void
bench_result_free (BenchResult *self)
{
  g_ptr_array_unref (self->trials);
  g_ptr_array_unref (self->series);
  g_free (self->x_label);
  g_free (self->title);
  g_free (self->name);
  g_free (self);
}

BenchSeries *
bench_result_add_series (BenchResult *self, BenchSeries *series)
{
  g_ptr_array_add (self->series, series);

  return series;
}

void
bench_result_add_trial (BenchResult *self,
                        BenchTrialFunc func,
                        gpointer data,
                        GDestroyNotify notify,
                        BenchSeries *first,
                        BenchSeries *second)
{
  Trial *trial = g_new0 (Trial, 1);

  *trial = (Trial){ func, data, notify, { first, second } };
  g_ptr_array_add (self->trials, trial);
}

static gboolean
run_trial (const BenchResult *self, const Trial *trial, gboolean record, GError **error)
{
  gdouble samples[BENCH_TRIAL_MAX_SERIES] = { 0 };

  /* A peer's threads outlive its run, and look for work a while before they sleep. */
  if (!bench_wait_asleep (NULL, NULL, error) || !trial->func (trial->data, samples, error))
    {
      g_prefix_error (error, "%s, %s on %s: ", self->name, trial->series[0]->load,
                      trial->series[0]->contender);
      return FALSE;
    }
  for (guint i = 0; record && i < BENCH_TRIAL_MAX_SERIES; i++)
    if (trial->series[i] != NULL)
      bench_series_add (trial->series[i], samples[i]);

  return TRUE;
}

/* For a person at a terminal; the result itself goes to standard output. */
static void
show_progress (const BenchResult *self, guint round)
{
  if (!isatty (STDERR_FILENO))
    return;
  if (round <= self->rounds)
    g_printerr ("\r%s: %s %u of %u\033[K", self->name, round == 0 ? "warming up," : "round", round,
                self->rounds);
  else
    g_printerr ("\r\033[K");
}

/* Series of one load stand together, loads in the order in which they were added. */
static void
group_by_load (BenchResult *self)
{
  guint n_grouped = 0;

  while (n_grouped < self->series->len)
    {
      const BenchSeries *first = g_ptr_array_index (self->series, n_grouped);

      for (guint i = n_grouped; i < self->series->len; i++)
        {
          BenchSeries *series = g_ptr_array_index (self->series, i);

          if (!g_str_equal (series->load, first->load))
            continue;
          g_ptr_array_steal_index (self->series, i);
          g_ptr_array_insert (self->series, (gint) n_grouped++, series);
        }
    }
}

static gboolean
has_contender (const BenchResult *self)
{
  for (guint i = 0; i < self->series->len; i++)
    if (((const BenchSeries *) g_ptr_array_index (self->series, i))->kind != BENCH_PLAIN)
      return TRUE;

  return FALSE;
}

gboolean
bench_result_measure (BenchResult *self, GError **error)
{
  guint n = self->trials->len;

  if (!has_contender (self))
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_NOBODY,
                   "no contender that was chosen can run %s; see iris-bench --help", self->name);
      return FALSE;
    }
  group_by_load (self);
  for (guint round = 0; round <= self->rounds; round++)
    {
      show_progress (self, round);
      for (guint i = 0; i < n; i++)
        if (!run_trial (self, g_ptr_array_index (self->trials, (i + round) % n), round > 0, error))
          return FALSE;
    }
  show_progress (self, self->rounds + 1);

  return TRUE;
}
