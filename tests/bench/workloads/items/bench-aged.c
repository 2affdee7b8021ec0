/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Aged memory: what a burst of live items leaves behind.
 *
 * Each sample comes from a process of its own, because only a fresh one has fresh memory: this
 * program runs itself, with one contender, and reads what it says. That process measures items from
 * outside, items that items make, and (iris's own) messages; then comes the burst; then, when the
 * memory has come back or a while has passed, all is measured again.
 *
 * The burst: all threads are held by an item each while the items pile up. When they are let go,
 * half of the items make another one, so that what is freed and what is taken mix. In between as
 * many messages (of iris's) or blocks of 64 bytes (for the others) as there were items are freed in
 * random order.
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workload.h"

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define BURST 1000000

/* Of the burst; and how many runs a figure is the median of. */
#define PART 5
#define RUNS 5

/* How long memory may take to come back, and to be within a fifth of what it was. */
#define MOST_MS  1500
#define LOOK_MS  20
#define MAX_RSS  1.2
#define CHILD    "IRIS_BENCH_AGED"
#define MOST_OUT 4096

typedef enum
{
  PUSH_FRESH,
  PUSH_AGED,
  INSIDE_FRESH,
  INSIDE_AGED,
  MESSAGES_FRESH,
  MESSAGES_AGED,
  RSS_BEFORE,
  RSS_PEAK,
  RSS_AFTER,
  N_FIGURES,
} Figure;

/* Of a contender; its trials share the runs. */
typedef struct
{
  guint items;
  guint n_runs;
  gdouble figures[N_FIGURES];
} Process;

/* What a trial shows of it. */
typedef struct
{
  Process *process;
  Figure first, second;
  guint n_runs;
} View;

/* --- in the process of its own ---------------------------------------------------------------- */

typedef struct
{
  const BenchEngine *engine;
  gpointer handle;
  atomic_uint n_held, n_made, n_left;
  BenchGate go;
} Burst;

typedef struct Mark Mark;

struct Mark
{
  Burst *burst;
  gboolean holds;
  Mark *makes; /* every other time; or NULL */
};

static gdouble
read_rss (void)
{
  g_autofree char *text = NULL;
  char *behind_size = NULL;

  if (!g_file_get_contents ("/proc/self/statm", &text, NULL, NULL))
    return 0;
  g_ascii_strtoull (text, &behind_size, 10);

  return (gdouble) g_ascii_strtoull (behind_size, NULL, 10) * (gdouble) sysconf (_SC_PAGESIZE);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gdouble *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

static gboolean
median_of_runs (const BenchRun *run, gboolean messages, gdouble *median, GError **error)
{
  gdouble samples[RUNS];

  for (guint i = 0; i < RUNS; i++)
    {
      gboolean good = messages ? bench_spray_run_messages (run, &samples[i], error)
                               : bench_contender_spray (run->contender, run->load, run->workers,
                                                        &samples[i], error);

      if (!good)
        return FALSE;
    }
  qsort (samples, RUNS, sizeof samples[0], compare);
  *median = samples[RUNS / 2];

  return TRUE;
}

static BenchSpray
spray_inside (guint items)
{
  guint edge = 1;

  while ((edge + 1) * (edge + 2) <= items / PART)
    edge++;

  return (BenchSpray){ .producers = 1, .outer = edge, .inner = edge };
}

static gboolean
measure (const BenchRun *run, guint items, guint aged, gdouble *figures, GError **error)
{
  BenchSpray push = { .producers = 1, .outer = items / PART }, inside = spray_inside (items);
  BenchRun outside = { run->contender, run->workers, &push };
  BenchRun within = { run->contender, run->workers, &inside };

  if (!median_of_runs (&outside, FALSE, &figures[PUSH_FRESH + aged], error))
    return FALSE;
  if ((run->contender->can & BENCH_CAN_INSIDE)
      && !median_of_runs (&within, FALSE, &figures[INSIDE_FRESH + aged], error))
    return FALSE;

  return !bench_iris_is_pool (run->contender)
         || median_of_runs (&within, TRUE, &figures[MESSAGES_FRESH + aged], error);
}

static void
run_mark (gpointer data)
{
  const Mark *mark = data;
  Burst *self = mark->burst;

  if (mark->holds)
    {
      atomic_fetch_add_explicit (&self->n_held, 1, memory_order_relaxed);
      bench_gate_wait (&self->go);
    }
  else if (mark->makes != NULL
           && atomic_fetch_add_explicit (&self->n_made, 1, memory_order_relaxed) % 2)
    {
      self->engine->push (self->handle, mark->makes);
    }
  bench_count_one ();
  atomic_fetch_sub_explicit (&self->n_left, 1, memory_order_release);
}

/* As many as the burst has, freed in random order. */
static void
age_by_hand (guint items, gboolean messages)
{
  g_autofree gpointer *all = g_new0 (gpointer, items);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);

  for (guint i = 0; i < items; i++)
    all[i] = messages ? (gpointer) iris_message_new_sunk (1) : g_malloc (64);
  for (guint i = items - 1; i > 0; i--)
    {
      guint j = (guint) g_rand_int_range (random, 0, (gint32) i + 1);
      gpointer one = all[i];

      all[i] = all[j];
      all[j] = one;
    }
  for (guint i = 0; i < items; i++)
    if (messages)
      iris_message_unref (all[i]);
    else
      g_free (all[i]);
}

static void
pile_up (Burst *self, const BenchRun *run, Mark *marks, guint items, gdouble *figures)
{
  atomic_init (&self->n_left, run->workers + items + items / 2);
  for (guint i = 0; i < run->workers; i++)
    self->engine->push (self->handle, &marks[0]);
  while (atomic_load_explicit (&self->n_held, memory_order_relaxed) < run->workers)
    sched_yield ();
  for (guint i = 0; i < items; i++)
    self->engine->push (self->handle, &marks[1]);
  figures[RSS_PEAK] = read_rss ();
  bench_gate_open (&self->go);
  age_by_hand (items, bench_iris_is_pool (run->contender));
  while (atomic_load_explicit (&self->n_left, memory_order_acquire) != 0)
    sched_yield ();
}

static gboolean
burst (const BenchRun *run, guint items, gdouble *figures, GError **error)
{
  Burst self = { .engine = run->contender->engine };
  Mark marks[] = { { &self, TRUE, NULL }, { &self, FALSE, &marks[2] }, { &self, FALSE, NULL } };
  guint n_all = run->workers + items + items / 2;

  self.handle = bench_contender_open (run->contender, run->workers, run_mark, error);
  if (self.handle == NULL)
    return FALSE;
  bench_gate_init (&self.go);
  bench_counts_reset ();
  figures[RSS_BEFORE] = read_rss ();
  pile_up (&self, run, marks, items, figures);
  for (guint ms = 0; ms < MOST_MS; ms += LOOK_MS)
    {
      figures[RSS_AFTER] = read_rss ();
      if (figures[RSS_AFTER] <= MAX_RSS * figures[RSS_BEFORE])
        break;
      poll (NULL, 0, LOOK_MS);
    }
  self.engine->close (self.handle);
  bench_gate_clear (&self.go);

  return bench_counts_check (n_all, 0, error);
}

/* Says the figures on standard output, and ends the process. */
static void G_GNUC_NORETURN
be_the_process (const BenchRun *run, guint items)
{
  gdouble figures[N_FIGURES] = { 0 };
  g_autoptr (GError) error = NULL;

  if (measure (run, items, 0, figures, &error) && burst (run, items, figures, &error)
      && measure (run, items, 1, figures, &error))
    for (guint i = 0; i < N_FIGURES; i++)
      printf ("%.9g\n", figures[i]);
  else
    fprintf (stderr, "%s\n", error->message);
  fflush (stdout);
  _exit (error == NULL ? 0 : 1);
}

/* --- here ---------------------------------------------------------------------------------------
 */

static gboolean
parse_figures (const char *text, gdouble *figures)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  if (g_strv_length (lines) != N_FIGURES + 1)
    return FALSE;
  for (guint i = 0; i < N_FIGURES; i++)
    figures[i] = g_ascii_strtod (lines[i], NULL);

  return TRUE;
}

static gboolean
run_process (const BenchRun *run, Process *process, GError **error)
{
  g_autofree char *workers = g_strdup_printf ("%u", run->workers);
  g_autofree char *items = g_strdup_printf ("%u", process->items);
  g_autofree char *places = g_strdup_printf (
      "--places=%s", run->contender->places != NULL ? run->contender->places : "");
  const char *argv[] = { "/proc/self/exe",
                         "aged",
                         "--workers",
                         workers,
                         "--items",
                         items,
                         "--only",
                         run->contender->name,
                         run->contender->places != NULL ? places : NULL,
                         NULL };
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), CHILD, "1", TRUE);
  g_autofree char *out = NULL, *err = NULL;
  gint status;

  if (!g_spawn_sync (NULL, (char **) argv, environment, G_SPAWN_DEFAULT, NULL, NULL, &out, &err,
                     &status, error))
    return FALSE;
  if (g_spawn_check_wait_status (status, NULL) && parse_figures (out, process->figures))
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT, "the process of its own failed: %s",
               g_strstrip (err));

  return FALSE;
}

/* The trial of a contender that comes first in a round runs the process for all of them. */
static gboolean
run_aged (const BenchRun *run, gdouble *samples, GError **error)
{
  View *view = (View *) run->load;
  Process *process = view->process;

  if (g_getenv (CHILD) != NULL)
    be_the_process (run, process->items);
  if (++view->n_runs > process->n_runs)
    {
      if (!run_process (run, process, error))
        return FALSE;
      process->n_runs++;
    }
  samples[0] = process->figures[view->first];
  samples[1] = process->figures[view->second];

  return TRUE;
}

typedef struct
{
  const char *before, *after; /* loads; after: compared with before */
  Figure first, second;
  guint can;
  gboolean pools; /* only iris's */
  gboolean bytes;
} Row;

static const Row rows[] = {
  { "push, fresh", "push, aged", PUSH_FRESH, PUSH_AGED, BENCH_CAN_OUTSIDE, FALSE, FALSE },
  { "items from items, fresh", "items from items, aged", INSIDE_FRESH, INSIDE_AGED,
    BENCH_CAN_OUTSIDE | BENCH_CAN_INSIDE, FALSE, FALSE },
  { "messages, fresh", "messages, aged", MESSAGES_FRESH, MESSAGES_AGED, BENCH_CAN_OUTSIDE, TRUE,
    FALSE },
  { "memory before", "memory after", RSS_BEFORE, RSS_AFTER, BENCH_CAN_OUTSIDE, FALSE, TRUE },
  { "memory at the peak", NULL, RSS_PEAK, RSS_PEAK, BENCH_CAN_OUTSIDE, FALSE, TRUE },
};

static guint64
count_items (const Row *row, guint items)
{
  BenchSpray inside = spray_inside (items);

  if (row->bytes)
    return 0;

  return row->first == PUSH_FRESH ? items / PART
                                  : (guint64) inside.outer * ((guint64) inside.inner + 1);
}

static void
add_row (BenchResult *result, const Row *row, BenchContender *contender, Process *process)
{
  guint64 n_items = count_items (row, process->items);
  View *view = bench_result_own (result, g_new0 (View, 1), g_free);
  BenchRun run = { contender, result->workers, view };
  BenchSeries *series[2] = { NULL, NULL };
  const char *loads[] = { row->before, row->after };

  *view = (View){ .process = process, .first = row->first, .second = row->second };
  for (guint i = 0; i < 2 && loads[i] != NULL; i++)
    {
      series[i] = bench_result_add_series (result, bench_series_new (loads[i], contender->name,
                                                                     contender->engine->kind,
                                                                     result->workers, n_items));
      series[i]->unit = row->bytes ? BENCH_BYTES : BENCH_SECONDS;
      series[i]->show = row->bytes ? BENCH_SHOW_SAMPLE : BENCH_SHOW_PER_ITEM;
      series[i]->relation = BENCH_NOT_COMPARED;
    }
  if (series[1] != NULL)
    bench_series_compare (series[1], series[0], BENCH_OVERHEAD);
  bench_result_add_trial (result, run_aged, &run, series[0], series[1]);
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint items = bench_choose (options, options->items, BURST, 100);
  g_autoptr (GPtrArray) contenders = bench_contenders (options, BENCH_CAN_OUTSIDE);

  bench_result_set_title (result, "in processes of their own, before and after %u live items",
                          items);
  while (contenders->len > 0)
    {
      BenchContender *contender = bench_result_own (result, g_ptr_array_steal_index (contenders, 0),
                                                    (GDestroyNotify) bench_contender_free);
      Process *process = bench_result_own (result, g_new0 (Process, 1), g_free);

      process->items = items;
      /* It must be able to hold what is pushed, and a thread for each worker. */
      if (contender->engine->open == NULL || (contender->can & BENCH_CAN_INSIDE) == 0)
        continue;
      for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
        if ((contender->can & rows[i].can) == rows[i].can
            && (!rows[i].pools || bench_iris_is_pool (contender)))
          add_row (result, &rows[i], contender, process);
    }

  return TRUE;
}

const BenchWorkload bench_workload_aged = {
  .name = "aged",
  .summary = "speed and memory before and after a million live items",
  .max_rounds = 3, /* each is a process */
  .plan = plan,
};
