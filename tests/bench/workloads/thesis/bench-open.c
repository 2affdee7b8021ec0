/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the thesis left open, as experiments: refused steals, other processes, footprints, and data
 * placed with the work. (Sizes beyond this machine are simulated: bench-sizes.c.)
 *
 * Every run has a fresh scheduler of places, one for each core where that goes, and checks that
 * each item ran and what it computed.
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOURCE    "Th. Weibel, An Advanced Scheduler for Intervals, ETH Zürich 2010, open questions"
#define LEFT_OPEN "none: the thesis left it open"

/* Two series of each run: its time, and what its statistics say. */
typedef struct
{
  const char *steal;   /* policy */
  gboolean contention; /* watch other processes */
  gboolean one_place;  /* for all workers, or no worker of a place could leave */
  gboolean burns;      /* a process of ours burns a processor meanwhile */
  guint n, each;
  BenchWork work;
  gsize bytes;
  guint how; /* the experiment's own */
} Open;

static IrisPlaces *
places_new (guint workers, gboolean one)
{
  IrisPlaces *places = NULL;

  if (one)
    return iris_places_new_unbound (1, workers);
  places = iris_places_new_full (NULL, "core", workers, IRIS_BIND_PLACE, NULL);

  return places != NULL ? places : iris_places_new_unbound (workers, 1);
}

static IrisScheduler *
scheduler_new (const Open *self, guint workers, GError **error)
{
  g_autoptr (IrisPlaces) places = places_new (workers, self->one_place);
  g_autoptr (IrisStealPolicy) policy = iris_steal_policy_parse (self->steal, error);
  g_autoptr (IrisScheduler) scheduler = NULL;

  if (policy == NULL)
    return NULL;
  scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "steal-policy", policy,
                            "contention", self->contention, NULL);
  bench_counts_reset ();

  return bench_iris_start (scheduler, error) ? g_steal_pointer (&scheduler) : NULL;
}

static guint
n_places_of (IrisScheduler *scheduler)
{
  return iris_places_get_n_places (
      iris_place_scheduler_get_places (IRIS_PLACE_SCHEDULER (scheduler)));
}

static void
add (BenchResult *result,
     const char *load,
     const char *second,
     BenchUnit unit,
     const char *name,
     BenchRunFunc run,
     const Open *data,
     guint64 n_items)
{
  const BenchCase what = { .load = load,
                           .second = second,
                           .second_unit = unit,
                           .n_items = n_items,
                           .run = run,
                           .data = data,
                           .size = sizeof *data };

  BenchSeries *shown;

  bench_result_add (result, &what, name, BENCH_IRIS, NULL);
  /* What the statistics say is not faster or slower. */
  shown = g_ptr_array_index (result->series, result->series->len - 1);
  if (unit != BENCH_SECONDS)
    bench_series_compare (shown, NULL, BENCH_NOT_COMPARED);
}

/* --- (c) counter-productive steals ------------------------------------------------------------ */

typedef struct
{
  IrisScheduler *scheduler;
  const Open *open;
  guint n_left; /* batches */
} Batches;

/* A few short items at a time: they are done before a thief would have them. */
static void
batch_run (gpointer data)
{
  Batches *self = data;

  bench_count_one ();
  for (guint i = 0; i < self->open->each; i++)
    iris_scheduler_queue (self->scheduler, bench_item_run, (gpointer) &self->open->work, NULL);
  if (--self->n_left > 0)
    iris_scheduler_queue (self->scheduler, batch_run, self, NULL);
}

static gboolean
run_refused (const BenchRun *run, gdouble *samples, GError **error)
{
  const Open *open = run->load;
  g_autoptr (IrisScheduler) scheduler = scheduler_new (open, run->workers, error);
  g_autoptr (IrisStats) stats = NULL;
  Batches batches = { scheduler, open, open->n };
  guint64 n_leaves = (guint64) open->n * open->each, refused;
  gint64 begin;

  if (scheduler == NULL)
    return FALSE;
  begin = bench_now ();
  iris_scheduler_queue (scheduler, batch_run, &batches, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  samples[0] = bench_seconds_since (begin);
  stats = iris_scheduler_get_stats (scheduler);
  refused = stats->total.refused_backlog + stats->total.refused_distance
            + stats->total.refused_size;
  samples[1] = (gdouble) refused * 100 / (gdouble) MAX (refused + stats->total.steals, 1);

  return bench_counts_check (n_leaves + open->n, n_leaves * open->work.result, error);
}

static gboolean
plan_refused (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const struct
  {
    const char *load, *refused;
    guint batches, each;
    gdouble microseconds;
  } loads[] = {
    { "1 item of nothing at a time", "1 item of nothing: refused", 100000, 1, 0 },
    { "4 items of 0.2 µs at a time", "4 items of 0.2 µs: refused", 40000, 4, 0.2 },
    { "32 items of 0.2 µs at a time", "32 items of 0.2 µs: refused", 5000, 32, 0.2 },
    { "1000 items of 20 µs at a time", "1000 items of 20 µs: refused", 2, 1000, 20 },
  };
  /* Nothing is refused; what a move costs by default; as if it cost 10 and 100 times as much. */
  static const char *const policies[] = { "nothing", "costly", "move-cost=2000",
                                          "move-cost=20000" };

  bench_result_set_title (result, "(c) one worker makes a few items at a time: the others leave "
                                  "them, or steal; refused of all places with work that they met");
  for (guint i = 0; i < G_N_ELEMENTS (loads); i++)
    for (guint j = 0; j < G_N_ELEMENTS (policies); j++)
      {
        const Open open = { .steal = policies[j],
                            .n = bench_is_quick (options) ? MIN (loads[i].batches, 50)
                                                          : loads[i].batches,
                            .each = loads[i].each,
                            .work = bench_work_new (loads[i].microseconds) };

        add (result, loads[i].load, loads[i].refused, BENCH_PERCENT, policies[j], run_refused,
             &open, (guint64) open.n * (open.each + 1));
      }

  return TRUE;
}

/* --- (d) other processes ---------------------------------------------------------------------- */

/* A process that only runs, until it is killed, or this one ends. */
static pid_t
burner_start (GError **error)
{
  pid_t parent = getpid (), pid = fork ();

  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      while (getppid () == parent)
        ;
      _exit (0);
    }
  if (pid < 0)
    g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                 "a process to compete with cannot be started: %s", g_strerror (errno));

  return pid;
}

static void
burner_stop (pid_t pid)
{
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
}

/* Phases: each waits for its slowest item, which is the one whose worker has no processor. */
typedef struct
{
  IrisScheduler *scheduler;
  const Open *open;
  guint n_phases;
  guint n_left; /* atomic: items of the phase */
} Phases;

static void phase_begin (Phases *self);

static void
phase_item_run (gpointer data)
{
  Phases *self = data;

  bench_item_run ((gpointer) &self->open->work);
  if (g_atomic_int_dec_and_test ((gint *) &self->n_left) && --self->n_phases > 0)
    phase_begin (self);
}

static void
phase_begin (Phases *self)
{
  g_atomic_int_set ((gint *) &self->n_left, (gint) self->open->each);
  for (guint i = 0; i < self->open->each; i++)
    iris_scheduler_queue (self->scheduler, phase_item_run, self, NULL);
}

static gboolean
run_contention (const BenchRun *run, gdouble *samples, GError **error)
{
  const Open *open = run->load;
  g_autoptr (IrisScheduler) scheduler = scheduler_new (open, run->workers, error);
  Phases phases = { scheduler, open, open->n, 0 };
  guint64 n_items = (guint64) open->n * open->each;
  g_autoptr (IrisStats) stats = NULL;
  pid_t burner = 0;
  gint64 begin;

  if (scheduler == NULL || (open->burns && (burner = burner_start (error)) < 0))
    return FALSE;
  if (open->how > 0)
    iris_scheduler_set_n_active (scheduler, MAX (run->workers - open->how, 1));
  begin = bench_now ();
  phase_begin (&phases);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  samples[0] = bench_seconds_since (begin);
  if (burner > 0)
    burner_stop (burner);
  stats = iris_scheduler_get_stats (scheduler);
  samples[1] = (gdouble) stats->active_workers.contention_out / samples[0];

  return bench_counts_check (n_items, n_items * open->work.result, error);
}

static gboolean
plan_contention (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const struct
  {
    const char *name;
    gboolean burns, contention;
    guint fewer;
  } contenders[] = { { "alone", FALSE, FALSE, 0 },
                     { "alone, watching", FALSE, TRUE, 0 },
                     { "beside", TRUE, FALSE, 0 },
                     { "beside, watching", TRUE, TRUE, 0 },
                     { "beside, one worker fewer", TRUE, FALSE, 1 } };

  bench_result_set_title (result, "(d) phases of items of 100 µs, alone and beside a process that "
                                  "burns a processor; and how often a worker was taken out");
  for (guint each = 2; each <= 64; each *= 32)
    for (guint i = 0; i < G_N_ELEMENTS (contenders); i++)
      {
        guint n_items = bench_is_quick (options) ? 200 : 5000 * options->workers;
        const Open open = { .steal = "distance",
                            .contention = contenders[i].contention,
                            .one_place = TRUE,
                            .burns = contenders[i].burns,
                            .how = contenders[i].fewer,
                            .each = each * options->workers,
                            .n = MAX (n_items / (each * options->workers), 1),
                            .work = bench_work_new (100) };
        g_autofree char *load = g_strdup_printf ("%u items a worker and phase", each);
        g_autofree char *out = g_strdup_printf ("%u items a phase: taken out", each);

        add (result, load, out, BENCH_PER_SECOND, contenders[i].name, run_contention, &open,
             (guint64) open.n * open.each);
      }

  return TRUE;
}

/* --- (f) footprints, and (b) data with the work ----------------------------------------------- */

static guint64
sweep (guint64 *words, gsize n)
{
  guint64 sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += words[i];

  return sum;
}

/* A large array, through which items go one after the other. */
typedef struct
{
  IrisScheduler *scheduler;
  const Open *open;
  guint64 *words;
  gsize n;
  guint n_left;
  guint64 sum;
  gint place;
  IrisItemFlags flags;
  guint64 footprint;
} Chain;

static void chain_queue (Chain *self);

static void
chain_run (gpointer data)
{
  Chain *self = data;

  bench_count_one ();
  self->sum += sweep (self->words, self->n);
  if (--self->n_left > 0)
    chain_queue (self);
}

static void
chain_queue (Chain *self)
{
  iris_scheduler_queue_sized (self->scheduler, self->place, self->flags, self->footprint, chain_run,
                              self, NULL);
}

static gboolean
chains_check (const Chain *chains, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      guint64 expected = (guint64) chains[i].open->each * chains[i].n * (i + 1);

      if (chains[i].sum != expected)
        {
          g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                       "array %u sums up to %" G_GUINT64_FORMAT " instead of %" G_GUINT64_FORMAT, i,
                       chains[i].sum, expected);
          return FALSE;
        }
    }

  return bench_counts_check ((guint64) n * chains->open->each, 0, error);
}

static gdouble
chains_time (Chain *chains, guint n, IrisScheduler *scheduler)
{
  gint64 begin = bench_now ();

  for (guint i = 0; i < n; i++)
    chain_queue (&chains[i]);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);

  return bench_seconds_since (begin);
}

enum
{
  IGNORANT,
  DECLARED,
  APART,
};

static gboolean
run_footprint (const BenchRun *run, gdouble *samples, GError **error)
{
  const Open *open = run->load;
  g_autoptr (IrisScheduler) scheduler = scheduler_new (open, run->workers, error);
  g_autofree Chain *chains = g_new0 (Chain, open->n);
  g_autoptr (IrisStats) stats = NULL;
  gboolean good;

  if (scheduler == NULL)
    return FALSE;
  for (guint i = 0; i < open->n; i++)
    {
      chains[i] = (Chain){ .scheduler = scheduler,
                           .open = open,
                           .words = g_new (guint64, open->bytes / 8),
                           .n = open->bytes / 8,
                           .n_left = open->each,
                           .place = IRIS_PLACE_ANY,
                           .flags = open->how == APART ? IRIS_ITEM_KEEP_APART : IRIS_ITEM_NONE,
                           .footprint = open->how == IGNORANT ? 0 : open->bytes };
      for (gsize j = 0; j < chains[i].n; j++)
        chains[i].words[j] = i + 1;
    }
  samples[0] = chains_time (chains, open->n, scheduler);
  stats = iris_scheduler_get_stats (scheduler);
  samples[1] = (gdouble) (stats->total.stolen_in + stats->total.stolen_inside) * 100
               / ((gdouble) open->n * open->each);
  good = chains_check (chains, open->n, error);
  for (guint i = 0; i < open->n; i++)
    g_free (chains[i].words);

  return good;
}

static gboolean
plan_footprint (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const char *const names[] = { "ignorant", "declared", "kept apart" };
  g_autoptr (IrisPlaces) places = places_new (options->workers, FALSE);
  gsize cache = iris_place_get_cache_size (iris_places_get_place (places, 0));
  gsize bytes = MAX (cache, 1 << 20) / 4 * 3;

  bench_result_set_title (result,
                          "(f) arrays of %.2f MiB, three quarters of a place's cache, through each "
                          "of which items go one after the other; and the items that were stolen",
                          (gdouble) bytes / (1 << 20));
  for (guint a_worker = 1; a_worker <= 2; a_worker++)
    for (guint how = IGNORANT; how <= APART; how++)
      {
        const Open open = { .steal = "distance",
                            .n = a_worker * options->workers,
                            .each = bench_is_quick (options) ? 20 : 100,
                            .bytes = bytes,
                            .how = how };
        g_autofree char *load = g_strdup_printf ("%u array%s a worker", a_worker,
                                                 a_worker > 1 ? "s" : "");
        g_autofree char *stolen = g_strdup_printf ("%s: stolen", load);

        add (result, load, stolen, BENCH_PERCENT, names[how], run_footprint, &open,
             (guint64) open.n * open.each);
      }

  return TRUE;
}

enum
{
  ONE_THREAD,
  FIRST_TOUCH,
  PLACE_MEMORY,
};

/* Memory for the data of a place, filled with its number + 1. */
static guint64 *
data_new (IrisScheduler *scheduler, guint place, gsize bytes, guint how, GError **error)
{
  IrisPlaces *places = iris_place_scheduler_get_places (IRIS_PLACE_SCHEDULER (scheduler));
  const IrisPlace *at = iris_places_get_place (places, place);
  g_autofree guint64 *from = NULL;
  guint64 *words;

  if (how == PLACE_MEMORY)
    {
      words = iris_place_alloc (at, bytes);
      for (gsize i = 0; i < bytes / 8; i++)
        words[i] = place + 1;
      return words;
    }
  from = g_new (guint64, bytes / 8);
  for (gsize i = 0; i < bytes / 8; i++)
    from[i] = place + 1;
  if (how == ONE_THREAD)
    return g_steal_pointer (&from);
  words = g_malloc (bytes);
  if (iris_scheduler_first_touch (scheduler, (gint) place, words, from, bytes, error))
    return words;
  g_free (words);

  return NULL;
}

static void
data_free (IrisScheduler *scheduler, guint place, guint64 *words, gsize bytes, guint how)
{
  IrisPlaces *places = iris_place_scheduler_get_places (IRIS_PLACE_SCHEDULER (scheduler));

  if (how == PLACE_MEMORY)
    iris_place_free (iris_places_get_place (places, place), words, bytes);
  else
    g_free (words);
}

static gboolean
run_data (const BenchRun *run, gdouble *samples, GError **error)
{
  const Open *open = run->load;
  g_autoptr (IrisScheduler) scheduler = scheduler_new (open, run->workers, error);
  guint n = scheduler != NULL ? n_places_of (scheduler) : 0;
  g_autofree Chain *chains = g_new0 (Chain, n + 1);
  gint64 begin = bench_now ();
  gboolean good = n > 0;

  for (guint i = 0; i < n && good; i++)
    {
      chains[i] = (Chain){ .scheduler = scheduler,
                           .open = open,
                           .words = data_new (scheduler, i, open->bytes, open->how, error),
                           .n = open->bytes / 8,
                           .n_left = open->each,
                           .place = (gint) i,
                           .flags = IRIS_ITEM_STRICT };
      good = chains[i].words != NULL;
    }
  samples[1] = bench_seconds_since (begin);
  /* The items of first touch have run, and do not count themselves. */
  samples[0] = good ? chains_time (chains, n, scheduler) : 0;
  good = good && chains_check (chains, n, error);
  for (guint i = 0; i < n; i++)
    if (chains[i].words != NULL)
      data_free (scheduler, i, chains[i].words, open->bytes, open->how);

  return good;
}

static gboolean
plan_data (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const char *const names[] = { "one thread", "first touch", "place memory" };
  guint mebibytes = bench_is_quick (options) ? 4 : 64;

  bench_result_set_title (result,
                          "(b) data of %u MiB a place, swept by strict items of that place, "
                          "where one thread wrote it first, its own place did, or its "
                          "memory was bound; and making the data",
                          mebibytes);
  for (guint how = ONE_THREAD; how <= PLACE_MEMORY; how++)
    {
      const Open open = { .steal = "distance",
                          .each = bench_is_quick (options) ? 2 : 10,
                          .bytes = (gsize) mebibytes << 20,
                          .how = how };

      add (result, "sweeps", "making the data", BENCH_SECONDS, names[how], run_data, &open, 0);
    }

  return TRUE;
}

/* --- the table -------------------------------------------------------------------------------- */

static gboolean
check_any (const BenchOptions *options, GError **error)
{
  static const char *const names[] = { NULL };

  if (options->only == NULL)
    return TRUE;

  return bench_check_chosen (options, "this experiment", names, error);
}

#define EXPERIMENT(name_, letter, summary_, title_, differs_)   \
  const BenchWorkload bench_workload_##name_ = {                \
    .name = #name_,                                             \
    .summary = summary_,                                        \
    .suite = BENCH_SUITE_PAPER,                                 \
    .max_rounds = 3,                                            \
    .plan = plan_##name_,                                       \
    .check = check_any,                                         \
    .figure = &(const BenchFigure){ .row = "B15",               \
                                    .title = letter " " title_, \
                                    .source = SOURCE,           \
                                    .machine = LEFT_OPEN,       \
                                    .differs = differs_ },      \
  }

EXPERIMENT (refused,
            "(c)",
            "what refusing counter-productive steals costs and saves",
            "no counter-productive steals",
            "an experiment of ours: the thesis asks the question and has no figure");
EXPERIMENT (contention,
            "(d)",
            "beside a process that burns a processor",
            "detect contention, run fewer workers",
            "an experiment of ours: the thesis asks the question and has no figure");
EXPERIMENT (footprint,
            "(f)",
            "items with large footprints kept apart, or not",
            "tasks with large footprints kept apart",
            "an experiment of ours: the thesis asks the question and has no figure");
EXPERIMENT (data,
            "(b)",
            "first touch and memory of a place, or neither",
            "tasks and data placed together",
            "on a machine with one memory node all memory is equally near, and all ways are equal");
