/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What work stealing costs where tasks are small: Jacobi, LU decomposition and heat diffusion in
 * tiles of a microsecond and less, by fork and join and by items.
 *
 * `overhead`: one worker, against plain C; and plain C that goes tile by tile, since what is lost
 * by that is none of a scheduler's. `steals`: all workers, with the three measures of stealing
 * beside the time: steals for each task, steals in a second, and the share of the time awake in
 * which workers had no task and looked for one. They are taken from the statistics of the
 * scheduler, from when all its workers sleep until the last task has ended; with fib and recursive
 * as items, until its workers have.
 *
 * Items lie on the split deque or on Chase and Lev's, of which a thief takes one item or half: the
 * one makes a steal cheaper, the other makes steals fewer. A forked task always lies on a split
 * stack, of which a thief takes one.
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/items/bench-fib.h"
#include "tests/bench/workloads/numeric/bench-numeric.h"

#include <math.h>
#include <string.h>

/* --- the kernels ------------------------------------------------------------------------------ */

typedef struct
{
  const char *name;
  guint size, quick_size;
  guint steps, quick_steps; /* 0: it has none */
  guint tile;
} Kernel;

static const Kernel kernels[] = {
  { "jacobi", 1024, 64, 50, 4, 1 },
  { "lud", 512, 64, 0, 0, 16 },
  { "heat", 96, 16, 30, 4, 4 },
};

static const BenchSolved *
solve (const Kernel *self, BenchResult *result, const BenchOptions *options, GError **error)
{
  guint size = bench_choose (options, options->size, options->quick ? self->quick_size : self->size,
                             2 * self->tile);
  guint steps = bench_choose (options, options->steps,
                              options->quick ? self->quick_steps : self->steps, 2);
  guint tile = options->tile != 0 ? options->tile : self->tile;
  BenchNumeric numeric;

  if (g_str_equal (self->name, "jacobi"))
    numeric = bench_jacobi_new (size, steps, tile);
  else if (g_str_equal (self->name, "lud"))
    numeric = bench_lud_new (size, tile);
  else
    numeric = bench_heat_new (size, steps, tile);

  return bench_numeric_solve (result, &numeric, error);
}

static const char source[] =
    "V. Kumar, S. M. Blackburn, Faster Work-Stealing With Return Barriers (ANU; talk)";
static const char machine[] = "2 x Intel Xeon E7530, 6 cores each; Jikes RVM 3.1.2";

/* --- overhead: one worker --------------------------------------------------------------------- */

#define BRIEF_NS    20
#define BRIEF_TASKS 400000
#define BRIEF_TRIES 9
#define BRIEF_CALLS 20000

/* A phase of tasks that all do the same. */
typedef struct
{
  BenchWork work;
  guint n_tasks;
} Brief;

static guint
brief_n_tiles (gpointer problem, guint phase)
{
  return ((const Brief *) problem)->n_tasks;
}

static void
brief_tile (gpointer problem, guint phase, guint tile)
{
  bench_item_run (&((Brief *) problem)->work);
}

static gdouble
time_brief (Brief *self)
{
  gdouble best = INFINITY;

  for (guint try = 0; try < BRIEF_TRIES; try++)
    {
      gint64 begin = bench_now ();

      for (guint i = 0; i < BRIEF_CALLS; i++)
        brief_tile (self, 0, i);
      best = MIN (best, bench_seconds_since (begin));
    }

  return best / BRIEF_CALLS;
}

/* Tasks that take so long one behind the other: because the processor begins a call before the last
 * one has ended, those are longer than what takes so long alone. */
static BenchWork
brief_work (gdouble seconds)
{
  Brief brief = { bench_work_new (seconds * 1e6), 0 };

  while (time_brief (&brief) < seconds)
    brief.work = bench_work_of_steps (brief.work.steps + 1);

  return brief.work;
}

static gboolean
brief_check (const Brief *self, GError **error)
{
  return bench_counts_check (self->n_tasks, self->n_tasks * self->work.result, error);
}

static gboolean
brief_run_plain (const BenchRun *run, gdouble *samples, GError **error)
{
  const Brief *self = run->load;
  gint64 begin;

  bench_counts_reset ();
  begin = bench_now ();
  for (guint i = 0; i < self->n_tasks; i++)
    brief_tile ((gpointer) self, 0, i);
  samples[0] = bench_seconds_since (begin);

  return brief_check (self, error);
}

static gboolean
brief_run_contender (const BenchRun *run, gdouble *samples, GError **error)
{
  const Brief *self = run->load;
  BenchPhases phases = { (gpointer) self, 1, brief_n_tiles, brief_tile };

  bench_counts_reset ();

  return bench_contender_phases (run->contender, &phases, run->workers, samples, error)
         && brief_check (self, error);
}

#define FINE \
  "fork-join", "fork-join-for", "work-stealing", "work-stealing:deque=chase-lev", "default"

static const char *const fine[] = { FINE, NULL };

/* And the peer that is made for tiles. */
static const char *const fine_and_peers[] = {
  FINE,
#ifdef HAVE_TBB
  "onetbb-for",
#endif
  NULL,
};

static void
add_overhead (BenchResult *result,
              const BenchOptions *options,
              const BenchCase *what,
              BenchRunFunc run_plain,
              BenchRunFunc run_tiles)
{
  BenchOptions own = *options;
  BenchCase one = *what;

  if (own.only == NULL)
    own.only = (char **) (options->peers ? fine_and_peers : fine);
  one.workers = 1;
  one.show = BENCH_SHOW_COMPARED;
  one.run = run_plain;
  one.base = bench_result_add (result, &one, "plain", BENCH_PLAIN, NULL);
  one.relation = BENCH_OVERHEAD;
  one.run = run_tiles;
  if (run_tiles != NULL)
    bench_result_add (result, &one, "plain, in tiles", BENCH_PLAIN, NULL);
  one.run = what->run;
  bench_contenders_add (result, &own, BENCH_CAN_PHASES, NULL, &one);
}

static gboolean
plan_overhead (BenchResult *result, const BenchOptions *options, GError **error)
{
  Brief brief = { brief_work (BRIEF_NS / 1e9),
                  bench_choose (options, options->items, options->quick ? 1000 : BRIEF_TASKS, 2) };
  g_autofree char *load = g_strdup_printf ("tasks of %u ns", BRIEF_NS);
  BenchCase what = { .load = load,
                     .n_items = brief.n_tasks,
                     .run = brief_run_contender,
                     .data = &brief,
                     .size = sizeof brief };

  bench_result_set_title (result,
                          "one worker against plain C: tiles of a row (jacobi), of 16 x 16 "
                          "(lud), of 4 rows (heat), and tasks of %u ns",
                          BRIEF_NS);
  add_overhead (result, options, &what, brief_run_plain, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
    {
      const BenchSolved *solved = solve (&kernels[i], result, options, error);

      if (solved == NULL)
        return FALSE;
      what = (BenchCase){ .load = kernels[i].name,
                          .n_items = bench_solved_count_tiles (solved),
                          .run = bench_solved_run_contender,
                          .data = solved };
      add_overhead (result, options, &what, bench_solved_run_plain, bench_solved_run_tiles);
    }

  return TRUE;
}

static const BenchPublished overhead_published[] = {
  { "theirs (try and catch), mean; ours: fork and join, jacobi", "jacobi", "fork-join", 12, 12 },
  { "the same, lud", "lud", "fork-join", 12, 12 },
  { "the same, heat", "heat", "fork-join", 12, 12 },
  { "Java's fork-join framework, mean; ours: items, jacobi", "jacobi", "work-stealing", 200, 200 },
  { "X10's work stealing, mean; ours: items, lud", "lud", "work-stealing", 400, 400 },
  { NULL }
};

static const BenchFigure overhead_figure = {
  .row = "C1",
  .title = "sequential overhead: one worker against plain code",
  .source = source,
  .machine = machine,
  .differs =
      "C, not Java; sizes and tiles are ours, for the talk names none; the published figures are "
      "means over the benchmarks of their earlier paper (OOPSLA 2012)",
  .published = overhead_published,
};

const BenchWorkload bench_workload_overhead = {
  .name = "overhead",
  .summary = "fine grain on one worker, against plain C",
  .suite = BENCH_SUITE_PAPER,
  .item = "tile",
  .figure = &overhead_figure,
  .plan = plan_overhead,
};

/* --- steals: all workers ---------------------------------------------------------------------- */

static const char *const crossed[] = {
  "fork-join",
  "fork-join-for",
  "work-stealing:deque=split,steal=one",
  "work-stealing:deque=split,steal=half",
  "work-stealing:deque=chase-lev,steal=one",
  "work-stealing:deque=chase-lev,steal=half",
  NULL,
};

typedef enum
{
  STEALS_PER_TASK,
  STEAL_RATE,
  STEAL_OVERHEAD,
  N_MEASURES,
} Measure;

static const char *const measure_names[] = { "steals per task", "steal rate", "steal overhead" };
static const BenchUnit measure_units[] = { BENCH_PERCENT, BENCH_PER_SECOND, BENCH_PERCENT };

/* The latest runs of all contenders under all loads: (element-type Latest). */
typedef struct
{
  const BenchContender *contender;
  gconstpointer load;
  gdouble measures[N_MEASURES];
} Latest;

/* A load under which stealing is measured. */
typedef struct
{
  BenchRunFunc run;
  gconstpointer load;
  guint64 n_tasks;
  GArray *latest;
} Stealing;

static void
note_latest (const Stealing *self, const BenchContender *contender, const gdouble *measures)
{
  Latest latest = { contender, self, { 0 } };

  memcpy (latest.measures, measures, sizeof latest.measures);
  for (guint i = 0; i < self->latest->len; i++)
    {
      Latest *old = &g_array_index (self->latest, Latest, i);

      if (old->contender == contender && old->load == self)
        {
          *old = latest;
          return;
        }
    }
  g_array_append_val (self->latest, latest);
}

static gboolean
run_stealing (const BenchRun *run, gdouble *samples, GError **error)
{
  const Stealing *self = run->load;
  const BenchSteals *steals = run->contender->steals;
  BenchRun inner = { run->contender, run->workers, self->load };
  gdouble *measures = samples + 1;

  if (!self->run (&inner, samples, error))
    return FALSE;
  measures[STEALS_PER_TASK] = 100.0 * (gdouble) steals->steals / (gdouble) self->n_tasks;
  measures[STEAL_RATE] = (gdouble) steals->steals / samples[0];
  measures[STEAL_OVERHEAD] = 100.0 * (gdouble) steals->searching_ns
                             / (gdouble) MAX (steals->searching_ns + steals->busy_ns, 1);
  note_latest (self, run->contender, measures);

  return TRUE;
}

static gboolean
run_spray (const BenchRun *run, gdouble *samples, GError **error)
{
  return bench_contender_spray (run->contender, run->load, run->workers, samples, error);
}

/* Those whose steals are counted. */
static gboolean
has_steals (const BenchContender *self)
{
  return self->engine == &bench_engine_fork_join || self->engine == &bench_engine_fork_join_for
         || bench_iris_is_pool (self);
}

static void
add_stealing (BenchResult *result,
              const BenchOptions *options,
              guint can,
              const char *name,
              const Stealing *stealing,
              const BenchSeries *base)
{
  BenchOptions own = *options;
  char *loads[N_MEASURES];
  BenchCase what = { .load = name,
                     .n_items = stealing->n_tasks,
                     .run = run_stealing,
                     .base = base,
                     .data = bench_result_own (result, g_memdup2 (stealing, sizeof *stealing),
                                               g_free) };

  if (own.only == NULL)
    own.only = (char **) crossed;
  for (guint i = 0; i < N_MEASURES; i++)
    {
      loads[i] = g_strdup_printf ("%s, %s", name, measure_names[i]);
      what.extras[i] = (BenchExtra){ loads[i], measure_units[i] };
    }
  bench_contenders_add (result, &own, can, has_steals, &what);
  for (guint i = 0; i < N_MEASURES; i++)
    g_free (loads[i]);
}

static gboolean
add_kernel (BenchResult *result,
            const BenchOptions *options,
            const Kernel *kernel,
            GArray *latest,
            GError **error)
{
  const BenchSolved *solved = solve (kernel, result, options, error);
  Stealing stealing = { bench_solved_run_contender, solved, 0, latest };
  BenchCase plain = {
    .load = kernel->name, .workers = 1, .run = bench_solved_run_plain, .data = solved
  };
  const BenchSeries *base;

  if (solved == NULL)
    return FALSE;
  plain.n_items = stealing.n_tasks = bench_solved_count_tiles (solved);
  base = bench_result_add (result, &plain, "plain", BENCH_PLAIN, NULL);
  add_stealing (result, options, BENCH_CAN_PHASES, kernel->name, &stealing, base);

  return TRUE;
}

/* --- what goes with the overhead -------------------------------------------------------------- */

typedef struct
{
  const GArray *latest;
  Measure measure;
} Correlation;

/* The rank of one of them; equal ones have the mean of their ranks. */
static gdouble
rank_of (const GArray *latest, guint at, Measure measure)
{
  gdouble value = g_array_index (latest, Latest, at).measures[measure], rank = 0;

  for (guint i = 0; i < latest->len; i++)
    {
      gdouble other = g_array_index (latest, Latest, i).measures[measure];

      rank += other < value ? 1 : other == value ? 0.5 : 0;
    }

  return rank;
}

/* Spearman's rank correlation with the overhead, in percent, over the latest runs of all. */
static gboolean
run_correlation (const BenchRun *run, gdouble *samples, GError **error)
{
  const Correlation *self = run->load;
  gdouble mean = self->latest->len / 2.0, both = 0, mine = 0, other = 0;

  for (guint i = 0; i < self->latest->len; i++)
    {
      gdouble a = rank_of (self->latest, i, self->measure) - mean;
      gdouble b = rank_of (self->latest, i, STEAL_OVERHEAD) - mean;

      both += a * b;
      mine += a * a;
      other += b * b;
    }
  samples[0] = mine > 0 && other > 0 ? 100 * both / sqrt (mine * other) : 0;

  return TRUE;
}

#define CORRELATION "correlation with steal overhead"

static void
add_correlations (BenchResult *result, const GArray *latest)
{
  for (Measure i = STEALS_PER_TASK; i <= STEAL_RATE; i++)
    {
      Correlation correlation = { latest, i };
      BenchCase what = { .load = CORRELATION,
                         .unit = BENCH_PERCENT,
                         .show = BENCH_SHOW_SAMPLE,
                         .relation = BENCH_NOT_COMPARED,
                         .run = run_correlation,
                         .data = &correlation,
                         .size = sizeof correlation };

      bench_result_add (result, &what, measure_names[i], BENCH_IRIS, NULL);
    }
}

static gboolean
plan_steals (BenchResult *result, const BenchOptions *options, GError **error)
{
  GArray *latest = bench_result_own (result, g_array_new (FALSE, FALSE, sizeof (Latest)),
                                     (GDestroyNotify) g_array_unref);
  guint *n = bench_result_own (result, g_new (guint, 1), g_free);
  guint outer = options->quick ? 30 : 1000;
  BenchSpray spray = { .producers = 1,
                       .outer = bench_choose (options, options->outer, outer, 1),
                       .inner = bench_choose (options, options->inner, outer, 1) };
  Stealing fib = { bench_fib_run, n, 0, latest };
  Stealing recursive = { run_spray, NULL, (guint64) spray.outer * (spray.inner + 1), latest };

  *n = options->quick ? MIN (bench_fib_choose (options), 12) : bench_fib_choose (options);
  fib.n_tasks = bench_fib_count_tasks (*n);
  recursive.load = bench_result_own (result, g_memdup2 (&spray, sizeof spray), g_free);
  bench_result_set_title (result,
                          "time and steals: tiles of a row (jacobi), of 16 x 16 (lud), of 4 "
                          "rows (heat), fib (%u), and items that make items",
                          *n);
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
    if (!add_kernel (result, options, &kernels[i], latest, error))
      return FALSE;
  add_stealing (result, options, BENCH_CAN_FIB, "fib", &fib, NULL);
  add_stealing (result, options, BENCH_CAN_INSIDE, "recursive", &recursive, NULL);
  add_correlations (result, latest);

  return TRUE;
}

/* The charts have no numbers that could be read. */
#define CHART(kernel, measure)                                                    \
  {                                                                               \
    kernel ": " measure " (a chart)", kernel ", " measure, "fork-join", NAN, NAN, \
        .is_sample = TRUE                                                         \
  }
#define CHARTS(kernel) \
  CHART (kernel, "steals per task"), CHART (kernel, "steal rate"), CHART (kernel, "steal overhead")

static const BenchPublished steals_published[] = {
  CHARTS ("jacobi"),
  CHARTS ("lud"),
  CHARTS ("heat"),
  { "steal rate goes with steal overhead", CORRELATION, "steal rate", NAN, NAN, .is_sample = TRUE },
  { "steals per task do not", CORRELATION, "steals per task", NAN, NAN, .is_sample = TRUE },
  { "jacobi with return barriers: speed unchanged; ours: split deque, steal one", "jacobi",
    "work-stealing:deque=split,steal=one", NAN, NAN,
    .base = "work-stealing:deque=chase-lev,steal=one" },
  { "both techniques, left open; ours: split deque, steal half", "jacobi",
    "work-stealing:deque=split,steal=half", NAN, NAN,
    .base = "work-stealing:deque=chase-lev,steal=one" },
  { NULL }
};

static const BenchFigure steals_figure = {
  .row = "C2 C3 C4 C5",
  .title = "steals per task, steal rate and steal overhead",
  .source = source,
  .machine = machine,
  .differs = "a split deque stands for return barriers; the talk has charts without numbers; sizes "
             "and tiles "
             "are ours, for it names none",
  .published = steals_published,
};

const BenchWorkload bench_workload_steals = {
  .name = "steals",
  .summary = "fine grain on all workers: steals, and what they cost",
  .suite = BENCH_SUITE_PAPER,
  .item = "task",
  .figure = &steals_figure,
  .plan = plan_steals,
};
