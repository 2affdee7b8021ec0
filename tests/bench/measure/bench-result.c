/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rounds: every trial once a round, so that what disturbs the machine disturbs all of them.
 *
 * The first round warms up and is not recorded. Each round starts with another trial, and goes the
 * other way than the one before: so no trial always runs behind the same one, and what grows or
 * fades slowly adds as much to a series as to its base.
 */
#include "tests/bench/measure/bench-measure.h"

#include <math.h>
#include <unistd.h>

#define MAX_SERIES (2 + BENCH_MAX_EXTRAS) /* of a trial */

typedef struct
{
  BenchRunFunc func;
  BenchRun run;
  BenchSeries *series[MAX_SERIES];
} Trial;

typedef struct
{
  gpointer data;
  GDestroyNotify notify;
} Owned;

GQuark
bench_error_quark (void)
{
  return g_quark_from_static_string ("bench-error-quark");
}

gboolean
bench_is_wanted (const BenchOptions *options, const char *name, BenchKind kind)
{
  if (options->only != NULL)
    return g_strv_contains ((const char *const *) options->only, name);

  return options->peers || kind == BENCH_IRIS;
}

gboolean
bench_check_chosen (const BenchOptions *options,
                    const char *of,
                    const char *const *names,
                    GError **error)
{
  for (char **name = options->only; name != NULL && *name != NULL; name++)
    if (!g_strv_contains (names, *name))
      {
        g_autofree char *list = g_strjoinv (", ", (char **) names);

        g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                     "--only: %s has no “%s”; there are %s", of, *name, list);
        return FALSE;
      }

  return TRUE;
}

static void
owned_free (gpointer data)
{
  Owned *self = data;

  self->notify (self->data);
  g_free (self);
}

BenchResult *
bench_result_new (const char *name, const BenchOptions *options)
{
  BenchResult *self = g_new0 (BenchResult, 1);

  self->name = g_strdup (name);
  self->title = g_strdup ("");
  self->item = "item";
  self->workers = options->workers;
  self->rounds = options->rounds;
  self->each_round = options->each_round;
  self->each_round_data = options->each_round_data;
  self->progress = options->progress;
  self->series = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_series_free);
  self->trials = g_array_new (FALSE, FALSE, sizeof (Trial));
  self->owned = g_ptr_array_new_with_free_func (owned_free);

  return self;
}

void
bench_result_free (BenchResult *self)
{
  g_array_unref (self->trials);
  g_ptr_array_unref (self->owned);
  g_ptr_array_unref (self->series);
  g_free (self->title);
  g_free (self->name);
  g_free (self);
}

void
bench_result_set_title (BenchResult *self, const char *format, ...)
{
  va_list args;

  g_free (self->title);
  va_start (args, format);
  self->title = g_strdup_vprintf (format, args);
  va_end (args);
}

gpointer
bench_result_own (BenchResult *self, gpointer data, GDestroyNotify notify)
{
  Owned *owned = g_new (Owned, 1);

  *owned = (Owned){ data, notify };
  g_ptr_array_add (self->owned, owned);

  return data;
}

BenchSeries *
bench_result_add_series (BenchResult *self, BenchSeries *series)
{
  g_ptr_array_add (self->series, series);

  return series;
}

void
bench_result_add_trial (BenchResult *self,
                        BenchRunFunc func,
                        const BenchRun *run,
                        BenchSeries *first,
                        BenchSeries *second)
{
  const Trial trial = { func, *run, { first, second } };

  g_array_append_val (self->trials, trial);
}

static const BenchSeries *
first_of_load (const BenchResult *self, const char *load)
{
  for (guint i = 0; i < self->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (self->series, i);

      if (g_str_equal (series->load, load))
        return series;
    }

  return NULL;
}

static BenchSeries *
add_load (BenchResult *self,
          const BenchCase *what,
          const char *load,
          BenchUnit unit,
          const char *name,
          BenchKind kind)
{
  guint workers = what->workers != 0 ? what->workers : self->workers;
  BenchSeries *series = bench_result_add_series (
      self, bench_series_new (load, name, kind, workers, what->n_items));
  const BenchSeries *base = what->base != NULL ? what->base : first_of_load (self, load);

  series->unit = unit;
  series->show = what->show;
  if (what->x > 0)
    series->x = what->x;
  /* Plain C is what others are compared with. */
  if (what->relation != BENCH_NOT_COMPARED && (base != series || kind != BENCH_PLAIN))
    bench_series_compare (series, base, what->relation);

  return series;
}

/* Of the last trial. */
static void
add_extras (BenchResult *self, const BenchCase *what, const char *name, BenchKind kind)
{
  Trial *trial = &g_array_index (self->trials, Trial, self->trials->len - 1);
  guint n = what->second != NULL ? 2 : 1;
  BenchCase bare = *what;

  bare.n_items = 0;
  bare.show = BENCH_SHOW_SAMPLE;
  bare.relation = BENCH_NOT_COMPARED;
  for (guint i = 0; i < BENCH_MAX_EXTRAS && what->extras[i].load != NULL; i++)
    trial->series[n++] = add_load (self, &bare, what->extras[i].load, what->extras[i].unit, name,
                                   kind);
}

BenchSeries *
bench_result_add (BenchResult *self,
                  const BenchCase *what,
                  const char *name,
                  BenchKind kind,
                  const BenchContender *contender)
{
  BenchSeries *first = add_load (self, what, what->load, what->unit, name, kind), *second = NULL;
  BenchRun run = { contender, first->workers, what->data };

  if (what->second != NULL)
    second = add_load (self, what, what->second, what->second_unit, name, kind);
  if (what->size > 0)
    run.load = bench_result_own (self, g_memdup2 (what->data, what->size), g_free);
  bench_result_add_trial (self, what->run, &run, first, second);
  add_extras (self, what, name, kind);

  return first;
}

static gboolean
run_counted (const Trial *trial, gdouble *samples, GError **error)
{
  gboolean good;

  bench_counters_begin ();
  good = trial->func (&trial->run, samples, error);
  bench_counters_end ();

  return good;
}

static gboolean
run_trial (const BenchResult *self, const Trial *trial, gboolean record, GError **error)
{
  gdouble samples[MAX_SERIES] = { 0 };

  /* A peer's threads outlive its run, and look for work a while before they sleep. */
  if (!bench_wait_asleep (NULL, NULL, error) || !run_counted (trial, samples, error))
    {
      g_prefix_error (error, "%s, %s on %s: ", self->name, trial->series[0]->load,
                      trial->series[0]->contender);
      return FALSE;
    }
  for (guint i = 0; record && i < MAX_SERIES; i++)
    if (trial->series[i] != NULL)
      bench_series_add (trial->series[i], samples[i]);
  if (record && bench_counters_are_open ())
    bench_series_add_counts (trial->series[0], bench_counters_last ());

  return TRUE;
}

static char *
describe_seconds (gdouble seconds)
{
  return seconds < 60 ? g_strdup_printf ("%.0f s", seconds)
                      : g_strdup_printf ("%.0f min %02.0f s", floor (seconds / 60),
                                         floor (fmod (seconds, 60)));
}

/* On a terminal, about once a second; the result itself goes to standard output. What the next
 * workloads will take is not known. */
static void
show_progress (BenchResult *self, guint round, guint n_run)
{
  guint n = self->trials->len;
  gdouble done = (gdouble) (round * n + n_run) / ((self->rounds + 1) * n);
  gdouble taken = bench_seconds_since (self->began);
  g_autofree char *left = NULL, *all = NULL, *which = NULL;

  if (!isatty (STDERR_FILENO) || bench_seconds_since (self->shown) < 1)
    return;
  self->shown = bench_now ();
  left = describe_seconds (done > 0 ? taken * (1 - done) / done : 0);
  all = describe_seconds (bench_seconds_since (self->progress.began));
  which = self->progress.n_all > 1
              ? g_strdup_printf (" (%u of %u)", self->progress.nth, self->progress.n_all)
              : g_strdup ("");
  g_printerr ("\r%s%s: ", self->name, which);
  if (round == 0)
    g_printerr ("warming up, %u of %u", n_run, n);
  else
    g_printerr ("round %u of %u", round, self->rounds);
  if (done > 0)
    g_printerr (", about %s left", left);
  if (self->progress.n_all > 1)
    g_printerr ("; %s so far in all", all);
  g_printerr ("\033[K");
}

static void
clear_progress (void)
{
  if (isatty (STDERR_FILENO))
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

static gboolean
run_round (BenchResult *self, guint round, GError **error)
{
  guint n = self->trials->len;

  for (guint i = 0; i < n; i++)
    {
      guint turn = round + (round % 2 == 0 ? i : n - i);

      show_progress (self, round, i);
      if (!run_trial (self, &g_array_index (self->trials, Trial, turn % n), round > 0, error))
        return FALSE;
    }
  if (self->each_round != NULL)
    self->each_round (self->each_round_data);

  return TRUE;
}

gboolean
bench_result_measure (BenchResult *self, GError **error)
{
  gboolean good = TRUE;

  if (!has_contender (self))
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_NO_CONTENDER,
                   "no contender that was chosen can run %s; see iris-bench --help", self->name);
      return FALSE;
    }
  group_by_load (self);
  self->began = bench_now ();
  for (guint round = 0; good && round <= self->rounds; round++)
    good = run_round (self, round, error);
  clear_progress ();
  /* What the next workload finds on the machine is none of this one. */
  g_array_set_size (self->trials, 0);
  g_ptr_array_set_size (self->owned, 0);

  return good;
}
