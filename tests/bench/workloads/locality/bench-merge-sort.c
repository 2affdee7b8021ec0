/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LASSI's Merge Sort: sorters that each make and sort a part of the numbers, and a tree of mergers
 * above them; an interval each, with an edge from each half to its merger.
 *
 * Numbers lie in two buffers, and a merger reads from the one and writes to the other. Every run
 * sorts other numbers: of an interval that did not run, the numbers of the last run would be left.
 */
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/locality/bench-placement.h"

#include <stdlib.h>
#include <string.h>

#define NUMBERS       4194304
#define SORTERS       8192 /* a worker */
#define SHORT         16   /* numbers that are sorted by insertion */
#define QUICK_NUMBERS 20000
#define QUICK_SORTERS 50

typedef struct
{
  IrisPlaces *places;
  gsize n;
  guint n_sorters;
  guint32 *buffers[2];
  guint64 run; /* counts runs; part of the numbers' seeds */
  gboolean compares;
} MergeSort;

typedef struct
{
  const BenchPlacement *placement;
  MergeSort *sort;
} Load;

/* A sorter or merger: of the numbers from begin to end, in that buffer. */
typedef struct
{
  const MergeSort *sort;
  gsize begin, middle, end;
  guint buffer;
} Part;

typedef struct
{
  BenchIntervals intervals;
  const MergeSort *sort;
  const BenchPlacement *placement;
  Part *parts;
  guint n_parts;
} Run;

/* --- the numbers ------------------------------------------------------------------------------ */

static void
fill (const MergeSort *self, gsize begin, gsize end, guint32 *numbers)
{
  guint64 x = (self->run * 0x9e3779b97f4a7c15 + begin + 1) * 0xbf58476d1ce4e5b9 | 1;

  for (gsize i = begin; i < end; i++)
    {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      numbers[i - begin] = (guint32) (x >> 32);
    }
}

static void
insertion_sort (guint32 *numbers, gsize n)
{
  for (gsize i = 1; i < n; i++)
    {
      guint32 number = numbers[i];
      gsize j = i;

      for (; j > 0 && numbers[j - 1] > number; j--)
        numbers[j] = numbers[j - 1];
      numbers[j] = number;
    }
}

/* Which of two random numbers is smaller no processor foresees; so there is no branch on it. */
static void
merge (const guint32 *left,
       gsize n_left,
       const guint32 *right,
       gsize n_right,
       guint32 *restrict into)
{
  const guint32 *left_end = left + n_left, *right_end = right + n_right;

  while (left < left_end && right < right_end)
    {
      guint32 a = *left, b = *right;
      gboolean is_left = a <= b;

      *into++ = is_left ? a : b;
      left += is_left;
      right += !is_left;
    }
  memcpy (into, left, (gsize) (left_end - left) * sizeof *into);
  memcpy (into + (left_end - left), right, (gsize) (right_end - right) * sizeof *into);
}

/* Both hold the same numbers at first. */
static void
sort_into (guint32 *into, guint32 *from, gsize n)
{
  gsize half = n / 2;

  if (n <= SHORT)
    {
      insertion_sort (into, n);
      return;
    }
  sort_into (from, into, half);
  sort_into (from + half, into + half, n - half);
  merge (from, half, from + half, n - half, into);
}

/* --- intervals -------------------------------------------------------------------------------- */

static gboolean
run_sorter (IrisInterval *interval, gpointer data, GError **error)
{
  const Part *self = data;
  guint32 *into = self->sort->buffers[self->buffer] + self->begin;
  guint32 *from = self->sort->buffers[!self->buffer] + self->begin;
  gsize n = self->end - self->begin;

  fill (self->sort, self->begin, self->end, into);
  memcpy (from, into, n * sizeof *from);
  sort_into (into, from, n);

  return TRUE;
}

static gboolean
run_merger (IrisInterval *interval, gpointer data, GError **error)
{
  const Part *self = data;
  const guint32 *from = self->sort->buffers[!self->buffer];

  merge (from + self->begin, self->middle - self->begin, from + self->middle,
         self->end - self->middle, self->sort->buffers[self->buffer] + self->begin);

  return TRUE;
}

static gsize
begin_of_sorter (const MergeSort *self, guint sorter)
{
  return self->n * sorter / self->n_sorters;
}

/* Of the sorters from first to end: their tree, which leaves its numbers in that buffer. Its root,
 * and the place of it. */
static IrisInterval *
add_tree (Run *run, guint first, guint end, guint buffer, guint *place)
{
  const MergeSort *sort = run->sort;
  Part *part = &run->parts[run->n_parts++];
  guint middle = first + (end - first) / 2, other;
  IrisInterval *left, *right, *merger;

  *part = (Part){ sort, begin_of_sorter (sort, first), begin_of_sorter (sort, middle),
                  begin_of_sorter (sort, end), buffer };
  if (end - first == 1)
    {
      *place = (guint) ((guint64) first * run->intervals.n_places / sort->n_sorters);
      return bench_intervals_add (&run->intervals, "sorter", run_sorter, part, *place);
    }
  left = add_tree (run, first, middle, !buffer, place);
  right = add_tree (run, middle, end, !buffer, &other);
  /* At the place of its left half, or at another one. */
  if (run->placement->placed == BENCH_PLACED_WORST)
    *place = (*place + 1) % run->intervals.n_places;
  merger = bench_intervals_add (&run->intervals, "merger", run_merger, part, *place);
  bench_intervals_after (merger, left);
  bench_intervals_after (merger, right);

  return merger;
}

/* --- the check -------------------------------------------------------------------------------- */

static int
compare (gconstpointer a, gconstpointer b)
{
  guint32 left = *(const guint32 *) a, right = *(const guint32 *) b;

  return left < right ? -1 : left > right;
}

/* The numbers of this run once more, sorted by the C library. */
static gboolean
is_as_qsort (const MergeSort *self)
{
  g_autofree guint32 *numbers = g_new (guint32, self->n);

  for (guint i = 0; i < self->n_sorters; i++)
    fill (self, begin_of_sorter (self, i), begin_of_sorter (self, i + 1),
          numbers + begin_of_sorter (self, i));
  qsort (numbers, self->n, sizeof *numbers, compare);

  return memcmp (numbers, self->buffers[0], self->n * sizeof *numbers) == 0;
}

/* They ascend, and their sum and exclusive or are those of the numbers that were to be sorted. */
static gboolean
check_numbers (const MergeSort *self, GError **error)
{
  g_autofree guint32 *part = g_new (guint32, self->n / self->n_sorters + 1);
  const guint32 *sorted = self->buffers[0];
  guint64 sum = 0, bits = 0;
  gboolean ascends = TRUE;

  for (guint i = 0; i < self->n_sorters; i++)
    {
      gsize begin = begin_of_sorter (self, i), end = begin_of_sorter (self, i + 1);

      fill (self, begin, end, part);
      for (gsize j = begin; j < end; j++)
        {
          sum += (guint64) part[j - begin] - sorted[j];
          bits ^= (guint64) part[j - begin] ^ sorted[j];
          ascends = ascends && (j == 0 || sorted[j - 1] <= sorted[j]);
        }
    }
  if (ascends && sum == 0 && bits == 0 && (!self->compares || is_as_qsort (self)))
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT, "%s",
               !ascends                ? "the numbers are not sorted"
               : sum != 0 || bits != 0 ? "the sorted numbers are not those that were to be sorted"
                                       : "the C library's qsort comes to other numbers");

  return FALSE;
}

static gboolean
run_sort (const BenchRun *what, gdouble *samples, GError **error)
{
  const Load *load = what->load;
  MergeSort *sort = load->sort;
  Run run = { .sort = sort, .placement = load->placement };
  gboolean good = bench_intervals_open (&run.intervals, sort->places, load->placement, error);
  guint place;

  if (!good)
    return FALSE;
  sort->run++;
  run.parts = g_new (Part, 2 * sort->n_sorters);
  add_tree (&run, 0, sort->n_sorters, 0, &place);
  good = bench_intervals_run (&run.intervals, samples, error) && check_numbers (sort, error);
  bench_intervals_close (&run.intervals);
  g_free (run.parts);

  return good;
}

/* --- the workload ----------------------------------------------------------------------------- */

static void
sort_free (gpointer data)
{
  MergeSort *self = data;

  g_clear_object (&self->places);
  g_free (self->buffers[0]);
  g_free (self->buffers[1]);
  g_free (self);
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  IrisPlaces *places = bench_placements_places (options, result->name, error);
  MergeSort *self;
  g_autofree char *described = NULL, *part = NULL;
  guint per_worker;

  if (places == NULL)
    return FALSE;
  self = bench_result_own (result, g_new0 (MergeSort, 1), sort_free);
  self->places = places;
  self->compares = options->quick;
  self->n = options->quick ? QUICK_NUMBERS : bench_choose (options, options->items, NUMBERS, 64);
  per_worker = options->quick ? QUICK_SORTERS : bench_choose (options, options->tile, SORTERS, 1);
  self->n_sorters = (guint) MIN ((gsize) per_worker * iris_places_get_n_workers (places), self->n);
  for (guint i = 0; i < 2; i++)
    self->buffers[i] = g_new0 (guint32, self->n);
  described = bench_placements_describe (places);
  part = self->n != NUMBERS
             ? g_strdup_printf (", %.3g times the published ones", (gdouble) self->n / NUMBERS)
             : g_strdup ("");
  bench_result_set_title (result,
                          "%" G_GSIZE_FORMAT " random numbers of 32 bits%s, %u sorters a worker, "
                          "mergers above them; %s",
                          self->n, part, per_worker, described);
  bench_placements_add (result, options,
                        BENCH_PLACEMENT_BEST | BENCH_PLACEMENT_WORST | BENCH_PLACEMENT_IGNORANT
                            | BENCH_PLACEMENT_BEST_STRICT | BENCH_PLACEMENT_WORST_STRICT
                            | BENCH_PLACEMENT_IGNORANT_DEALT,
                        &(const BenchCase){ .load = "sort",
                                            .n_items = self->n,
                                            .relation = BENCH_OVERHEAD,
                                            .run = run_sort,
                                            .data = &(const Load){ NULL, self },
                                            .size = sizeof (Load) });

  return TRUE;
}

static const BenchPublished published[] = {
  { "worst over best", "sort", "worst", 10, 10 },
  { "ignorant over best", "sort", "ignorant", 10, 10 },
  { "ignorant as LASSI dealt over best", "sort", "ignorant, dealt", 10, 10 },
  BENCH_HITS ("worst", "sort", 1.02, 1.02),
  BENCH_MISSES ("worst", "sort", 1.07, 1.07),
  BENCH_HITS ("ignorant", "sort", 1.02, 1.02),
  BENCH_MISSES ("ignorant", "sort", 1.07, 1.07),
  { NULL },
};

const BenchWorkload bench_workload_merge_sort = {
  .name = "merge-sort",
  .summary = "sorters and a tree of mergers, with good hints and bad",
  .suite = BENCH_SUITE_PAPER,
  .item = "number",
  .plan = plan,
  .figure =
      &(const BenchFigure){
          .row = "B11 B14",
          .title = "Merge Sort: Performance",
          .source =
              "Th. Weibel, An Advanced Scheduler for Intervals, ETH Zurich, 2010, Performance "
              "Evaluation, Locality Benchmarks",
          .machine =
              "two Intel Nehalem processors of 4 cores, an L3 cache of 8 MB each, HotSpot 1.6",
          .differs =
              "Percent that a placement takes longer than the best one. Intervals and edges are "
              "made before the clock starts. Hints are soft, as LASSI's were, but for “best, "
              "strict” and “worst, strict”.",
          .published = published },
  .check = bench_placements_check,
};
