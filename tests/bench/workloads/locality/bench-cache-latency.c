/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an access costs in each cache: why placement pays on a machine, or why not.
 *
 * A chase goes along a list of cache lines in a random order, so that each access waits for the one
 * before. A stream reads the same lines in order, as a prefetcher likes it. Both alone, and while
 * the neighbour core does the same with as much memory of its own: what they share shows as the
 * difference.
 */
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/locality/bench-caches.h"
#include "tests/bench/workloads/locality/bench-lines.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ACCESSES 400000 /* of a run, in whole rounds of the list where it is short */
#define LARGEST  ((gdouble) (1 << 30) / 4)
#define SMALLEST ((gdouble) (1 << 20))
#define QUICK    ((gdouble) (2 << 20))
#define N_CORES  2

typedef struct
{
  IrisPlaces *places; /* a core each */
  BenchLines *lines[N_CORES];
} Cores;

typedef struct
{
  const char *name;
  gboolean streams;
  gboolean beside;
} How;

static const How hows[] = {
  { "chase", FALSE, FALSE },
  { "chase, neighbour too", FALSE, TRUE },
  { "stream", TRUE, FALSE },
  { "stream, neighbour too", TRUE, TRUE },
};

typedef struct
{
  Cores *cores;
  const How *how;
  gsize n_lines;
  guint64 n_accesses;
} Load;

typedef struct
{
  const Load *load;
  guint core;
  atomic_bool *ready; /* of the neighbour */
  atomic_bool *done;
  gdouble seconds;
  gboolean is_wrong;
} Part;

/* So many accesses; FALSE: they did not lead where they had to. */
static gboolean
go (const Load *load, const BenchLines *lines, BenchSum expected, guint64 n)
{
  gboolean good = TRUE;
  guint32 line = 0;

  if (!load->how->streams)
    {
      line = bench_lines_chase (lines, 0, n);
      /* The list is a cycle: only after whole rounds is it back. */
      return (line == 0) == (n % lines->n == 0);
    }
  for (guint64 i = 0; i < n; i += lines->n)
    {
      BenchSum sum = bench_lines_in_order (lines);

      good = good && sum.sum == expected.sum && sum.product == expected.product;
    }

  return good;
}

static gpointer
work (gpointer data)
{
  Part *self = data;
  const Load *load = self->load;
  BenchLines *lines = load->cores->lines[self->core];
  BenchSum expected = bench_lines_expect (lines);
  gint64 begin;

  iris_place_bind_current_thread (iris_places_get_place (load->cores->places, self->core), 0, NULL);
  self->is_wrong = !go (load, lines, expected, lines->n);
  if (self->core > 0)
    {
      atomic_store_explicit (self->ready, true, memory_order_release);
      while (!atomic_load_explicit (self->done, memory_order_relaxed))
        self->is_wrong |= !go (load, lines, expected, MIN (load->n_accesses, lines->n));
      return NULL;
    }
  while (!atomic_load_explicit (self->ready, memory_order_acquire))
    sched_yield ();
  begin = bench_now ();
  self->is_wrong |= !go (load, lines, expected, load->n_accesses);
  self->seconds = bench_seconds_since (begin);
  atomic_store_explicit (self->done, true, memory_order_relaxed);

  return NULL;
}

static gboolean
run_load (const BenchRun *what, gdouble *samples, GError **error)
{
  const Load *load = what->load;
  guint n = load->how->beside ? 2 : 1;
  atomic_bool ready = !load->how->beside, done = false;
  Part parts[N_CORES];
  GThread *threads[N_CORES];
  gboolean is_wrong = FALSE;

  for (guint i = 0; i < n; i++)
    {
      BenchLines *lines = load->cores->lines[i];

      /* Loads follow each other by their size. */
      if (lines->n != load->n_lines)
        bench_lines_fill (lines, load->n_lines, i + 1);
      parts[i] = (Part){ load, i, &ready, &done, 0, FALSE };
    }
  for (guint i = 0; i < n; i++)
    threads[i] = g_thread_new ("core", work, &parts[i]);
  for (guint i = 0; i < n; i++)
    {
      g_thread_join (threads[i]);
      is_wrong |= parts[i].is_wrong;
    }
  samples[0] = parts[0].seconds;
  if (is_wrong)
    g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                         "the accesses did not lead through all lines of the memory");

  return !is_wrong;
}

static void
cores_free (gpointer data)
{
  Cores *self = data;

  for (guint i = 0; i < N_CORES; i++)
    g_clear_pointer (&self->lines[i], bench_lines_free);
  g_clear_object (&self->places);
  g_free (self);
}

static gboolean
cores_open (Cores *self, gsize largest, GError **error)
{
  g_autoptr (IrisTopology) topology = iris_topology_new (error);
  guint n_places;

  if (topology == NULL)
    return FALSE;
  self->places = iris_places_new_full (topology, "core", 0, IRIS_BIND_CPU, NULL);
  /* hwloc may know no cores, but always knows the machine. */
  if (self->places == NULL)
    self->places = iris_places_new_full (topology, "machine", 1, IRIS_BIND_PLACE, error);
  n_places = self->places != NULL ? iris_places_get_n_places (self->places) : 0;
  for (guint i = 0; i < MIN (n_places, N_CORES); i++)
    {
      self->lines[i] = bench_lines_new (iris_places_get_place (self->places, i), largest, error);
      if (self->lines[i] == NULL)
        return FALSE;
    }

  return self->places != NULL;
}

static void
add_size (BenchResult *result,
          const BenchOptions *options,
          Cores *cores,
          const char *name,
          gsize bytes)
{
  Load load = { cores, NULL, MAX (bytes / BENCH_LINE, 2), 0 };
  guint accesses = bench_choose (options, options->items, ACCESSES, 1000);
  BenchCase what = { .load = name,
                     .x = (gdouble) bytes / 1024,
                     .relation = BENCH_OVERHEAD,
                     .run = run_load,
                     .size = sizeof load };

  for (guint i = 0; i < G_N_ELEMENTS (hows); i++)
    {
      /* Whole rounds: a stream has no others. */
      guint64 rounds = MAX (accesses / load.n_lines, 1);

      load.how = &hows[i];
      load.n_accesses = load.how->streams ? rounds * load.n_lines : MAX (accesses, 1);
      what.n_items = load.n_accesses;
      what.data = &load;
      if ((!load.how->beside || cores->lines[1] != NULL)
          && bench_is_wanted (options, load.how->name, BENCH_IRIS))
        bench_result_add (result, &what, load.how->name, BENCH_IRIS, NULL);
    }
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const gdouble shares[] = { 0.25, 0.5, 0.75, 1, 2, 4 };
  gdouble largest = options->quick ? QUICK : CLAMP (LARGEST * options->scale, SMALLEST, LARGEST);
  Cores *cores = bench_result_own (result, g_new0 (Cores, 1), cores_free);
  BenchCache caches[BENCH_MAX_CACHES];
  guint n = bench_caches_list (caches);

  if (!cores_open (cores, (gsize) largest, error))
    return FALSE;
  bench_result_set_title (
      result,
      "lists of cache lines, 0.25 to 4 times as large as each cache, %.0f MiB at "
      "most; %s",
      largest / (1 << 20),
      cores->lines[1] != NULL ? "alone, and while the neighbour core does the same"
                              : "there is no neighbour core");
  add_size (result, options, cores, "4 KiB", 4096);
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < G_N_ELEMENTS (shares); j++)
      {
        gdouble bytes = (gdouble) caches[i].size * shares[j];
        g_autofree char *name = g_strdup_printf ("%g x %s", shares[j], caches[i].name);

        if (bytes <= largest)
          add_size (result, options, cores, name, (gsize) bytes);
      }
  return TRUE;
}

static gboolean
check (const BenchOptions *options, GError **error)
{
  const char *names[G_N_ELEMENTS (hows) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (hows); i++)
    names[i] = hows[i].name;

  return bench_check_chosen (options, "cache-latency", names, error);
}

const BenchWorkload bench_workload_cache_latency = {
  .name = "cache-latency",
  .summary = "nanoseconds for a line of each cache, alone and not",
  .suite = BENCH_SUITE_PAPER,
  .item = "access",
  .x_label = "memory, KiB",
  .plan = plan,
  .figure =
      &(const BenchFigure){
          .row = "B9 B10 B11 B12",
          .title = "What a cache is worth on this machine",
          .source =
              "none: it explains the figures of LASSI's locality benchmarks as they come out here",
          .machine = "-",
          .differs =
              "It is not published. A bad placement can cost no more than a line from beyond a "
              "place's cache takes longer than one from it: by a stream for loads in order, by a "
              "chase for linked ones; and only where a pass finds the array gone, which at once is "
              "about 1 of 100.",
          .published = &(const BenchPublished){ NULL } },
  .check = check,
};
