/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LASSI's Block Matrix Multiplication: the product of two matrices is eight products of their
 * quadrants, at the same time, and then four sums; and so on, down to matrices that one interval
 * multiplies.
 *
 * Of the two products that a sum takes, the one is made where the sum is to be, the other in memory
 * of its own. That is kept from run to run, since giving it by the kernel costs more than the sums;
 * the run that warms up touches it first, so it lies near the places of the best placement. Before
 * each further run one number of each block is made no number: no product and no sum can be left
 * out without a trace.
 */
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/locality/bench-blocks.h"
#include "tests/bench/workloads/locality/bench-caches.h"
#include "tests/bench/workloads/locality/bench-placement.h"
#include "tests/bench/workloads/numeric/bench-numeric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE       2048
#define BLOCKS     3 /* of a product: two factors and what they make */
#define QUICK_SIZE (4 * BENCH_BLOCK)
#define TOLERANCE  1e-9
#define HUGE_PAGE  ((gsize) 2 << 20)

typedef struct
{
  IrisPlaces *places;
  guint n, leaf;
  gdouble *left, *right, *product;
  gdouble *rest;  /* the other products, of all levels */
  gsize n_rest;   /* numbers there */
  guint n_tasks;  /* products and sums of a run */
  guint run;      /* counts runs */
  gdouble *plain; /* what the plain product is; NULL: it is checked by chance */
} BlockMatrix;

typedef struct
{
  const BenchPlacement *placement;
  BlockMatrix *matrix;
} Load;

/* What an interval does. */
typedef struct
{
  gdouble *into;
  const gdouble *left, *right; /* right is NULL: a sum */
  guint n;
} Task;

typedef struct
{
  BenchIntervals intervals;
  const BlockMatrix *matrix;
  const BenchPlacement *placement;
  Task *tasks;
  guint n_tasks;
  gdouble *rest; /* what is left of it */
} Run;

/* Products whose end a sum waits for: one, or the four sums of a product of quadrants. */
typedef struct
{
  IrisInterval *last[4];
  guint n;
} Ends;

/* --- intervals -------------------------------------------------------------------------------- */

static gboolean
run_task (IrisInterval *interval, gpointer data, GError **error)
{
  const Task *self = data;

  if (self->right != NULL)
    bench_blocks_multiply (self->into, self->left, self->right, self->n);
  else
    bench_blocks_add (self->into, self->left, self->n);

  return TRUE;
}

/* The quadrants 0 and 3 of the whole belong to the first half of the places, 1 and 2 to the second:
 * in it, to each place in turn. Scattered, every product and every sum goes to the next place. */
static guint
place_of (const Run *run, guint quadrant)
{
  guint n = run->intervals.n_places, half = n / 2, turn = run->n_tasks;

  if (run->placement->placed == BENCH_PLACED_WORST)
    return turn % n;

  return quadrant == 0 || quadrant == 3 ? turn % half : half + turn % (n - half);
}

static IrisInterval *
add_task (Run *run, Task task, guint quadrant)
{
  guint place = place_of (run, quadrant);
  Task *one = &run->tasks[run->n_tasks++];

  *one = task;

  return bench_intervals_add (&run->intervals, task.right != NULL ? "product" : "sum", run_task,
                              one, place);
}

/* into = left * right. @quadrant is that of the whole to which it belongs; 4: it is the whole. */
static Ends
add_product (Run *run, Task task, guint quadrant)
{
  guint half = task.n / 2;
  gdouble *others = run->rest;
  Ends ends = { { NULL }, 0 };

  if (task.n <= run->matrix->leaf)
    {
      ends.last[ends.n++] = add_task (run, task, quadrant);
      return ends;
    }
  run->rest += (gsize) task.n * task.n;
  for (guint i = 0; i < 4; i++)
    {
      gdouble *into[2] = { bench_quadrant (task.into, task.n, i),
                           bench_quadrant (others, task.n, i) };
      guint belongs = quadrant < 4 ? quadrant : i;
      Ends halves[2];
      IrisInterval *sum;

      for (guint k = 0; k < 2; k++)
        {
          const gdouble *left = task.left + (gsize) (i / 2 * 2 + k) * half * half;
          const gdouble *right = task.right + (gsize) (2 * k + i % 2) * half * half;

          halves[k] = add_product (run, (Task){ into[k], left, right, half }, belongs);
        }
      sum = add_task (run, (Task){ into[0], into[1], NULL, half }, belongs);
      for (guint k = 0; k < 2; k++)
        for (guint j = 0; j < halves[k].n; j++)
          bench_intervals_after (sum, halves[k].last[j]);
      ends.last[ends.n++] = sum;
    }

  return ends;
}

/* --- the check -------------------------------------------------------------------------------- */

static gboolean
check_plain (const BlockMatrix *self, GError **error)
{
  for (gsize i = 0; i < (gsize) self->n * self->n; i++)
    if (!(fabs (self->product[i] - self->plain[i]) <= TOLERANCE * self->n))
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                     "number %" G_GSIZE_FORMAT " is %.17g, of the plain product %.17g", i,
                     self->product[i], self->plain[i]);
        return FALSE;
      }

  return TRUE;
}

/* Freivalds (1977): left * (right * x) is product * x, for a random vector. Of all wrong products
 * only those pass that are right along this vector. */
static gboolean
check_by_chance (const BlockMatrix *self, GError **error)
{
  guint n = self->n;
  g_autofree gdouble *x = g_new (gdouble, n), *right = g_new (gdouble, n);
  g_autofree gdouble *expected = g_new (gdouble, n), *found = g_new (gdouble, n);

  bench_fill_random (x, n);
  bench_blocks_apply (self->right, n, x, right);
  bench_blocks_apply (self->left, n, right, expected);
  bench_blocks_apply (self->product, n, x, found);
  for (guint i = 0; i < n; i++)
    if (!(fabs (found[i] - expected[i]) <= TOLERANCE * n))
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                     "row %u of the product comes to %.17g along a random vector, not to %.17g", i,
                     found[i], expected[i]);
        return FALSE;
      }

  return TRUE;
}

static void
spoil (gdouble *numbers, gsize n)
{
  for (gsize i = 0; i < n; i += (gsize) BENCH_BLOCK * BENCH_BLOCK)
    numbers[i] = NAN;
}

static gboolean
run_matrix (const BenchRun *what, gdouble *samples, GError **error)
{
  const Load *load = what->load;
  BlockMatrix *matrix = load->matrix;
  Run run = { .matrix = matrix, .placement = load->placement, .rest = matrix->rest };
  Task whole = { matrix->product, matrix->left, matrix->right, matrix->n };
  gboolean good;

  if (matrix->run++ > 0)
    {
      spoil (matrix->product, (gsize) matrix->n * matrix->n);
      spoil (matrix->rest, matrix->n_rest);
    }
  if (!bench_intervals_open (&run.intervals, matrix->places, load->placement, error))
    return FALSE;
  run.tasks = g_new (Task, matrix->n_tasks);
  add_product (&run, whole, 4);
  good = bench_intervals_run (&run.intervals, samples, error)
         && (matrix->plain != NULL ? check_plain (matrix, error) : check_by_chance (matrix, error));
  bench_intervals_close (&run.intervals);
  g_free (run.tasks);

  return good;
}

/* --- the workload ----------------------------------------------------------------------------- */

/* Huge pages where the kernel gives them; no thread has touched them if they are many. */
static gdouble *
numbers_new (gsize n)
{
  gsize size = (n * sizeof (gdouble) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  gdouble *numbers = aligned_alloc (HUGE_PAGE, size);

  if (numbers == NULL)
    g_error ("out of memory");
  madvise (numbers, size, MADV_HUGEPAGE);

  return numbers;
}

static void
matrix_free (gpointer data)
{
  BlockMatrix *self = data;

  g_clear_object (&self->places);
  free (self->left);
  free (self->right);
  free (self->product);
  free (self->rest);
  g_free (self->plain);
  g_free (self);
}

static void
multiply_plainly (BlockMatrix *self)
{
  guint n = self->n;

  self->plain = g_new0 (gdouble, (gsize) n * n);
  for (guint row = 0; row < n; row++)
    for (guint column = 0; column < n; column++)
      for (guint k = 0; k < n; k++)
        self->plain[bench_blocks_index (n, row, column)] +=
            self->left[bench_blocks_index (n, row, k)]
            * self->right[bench_blocks_index (n, k, column)];
}

/* Of a product of this size: the memory and the intervals that it takes. */
static void
count (BlockMatrix *self, guint n)
{
  for (guint64 products = 1; n > self->leaf; n /= 2, products *= 8)
    {
      self->n_rest += products * n * n;
      self->n_tasks += (guint) products * 4;
      if (n / 2 <= self->leaf)
        self->n_tasks += (guint) products * 8;
    }
  self->n_tasks = MAX (self->n_tasks, 1);
}

/* The next of BENCH_BLOCK times a power of two. */
static guint
round_up (guint n)
{
  guint size = BENCH_BLOCK;

  while (size < n)
    size *= 2;

  return size;
}

/* What one interval multiplies: as much as fits a place's cache. Of more, a product would leave
 * nothing there that the next product, or the sum, could find, wherever they run. */
static guint
choose_leaf (IrisPlaces *places, guint n)
{
  guint64 cache = bench_caches_of_places (places);
  guint leaf = BENCH_BLOCK;

  if (cache == 0)
    cache = BENCH_CACHE_ASSUMED;
  while (leaf < n / 4 && BLOCKS * sizeof (gdouble) * 4 * leaf * leaf <= cache)
    leaf *= 2;

  return leaf;
}

static BlockMatrix *
matrix_new (BenchResult *result, const BenchOptions *options, IrisPlaces *places)
{
  BlockMatrix *self = bench_result_own (result, g_new0 (BlockMatrix, 1), matrix_free);
  gsize area;

  self->places = places;
  self->n = round_up (options->quick ? QUICK_SIZE : bench_choose (options, options->size, SIZE, 1));
  self->leaf = options->tile != 0 ? round_up (options->tile) : choose_leaf (places, self->n);
  count (self, self->n);
  area = (gsize) self->n * self->n;
  self->left = numbers_new (area);
  self->right = numbers_new (area);
  self->product = numbers_new (area);
  self->rest = numbers_new (MAX (self->n_rest, 1));
  bench_fill_random (self->right, area);
  /* The generator has one sequence: the one matrix has it backwards. */
  for (gsize i = 0; i < area; i++)
    self->left[i] = self->right[area - 1 - i];
  if (self->n <= QUICK_SIZE)
    multiply_plainly (self);

  return self;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  IrisPlaces *places = bench_placements_places (options, result->name, error);
  g_autofree char *described = NULL, *part = NULL;
  BlockMatrix *self;

  if (places == NULL)
    return FALSE;
  self = matrix_new (result, options, places);
  described = bench_placements_describe (places);
  part = self->n != SIZE
             ? g_strdup_printf (" (%g times the published edge)", (gdouble) self->n / SIZE)
             : g_strdup ("");
  bench_result_set_title (
      result, "two matrices of %u x %u%s, an interval multiplies %u x %u; checked %s; %s", self->n,
      self->n, part, self->leaf, self->leaf,
      self->plain != NULL ? "against a plain product" : "by Freivalds' method", described);
  bench_placements_add (result, options,
                        BENCH_PLACEMENT_BEST | BENCH_PLACEMENT_WORST | BENCH_PLACEMENT_IGNORANT
                            | BENCH_PLACEMENT_BEST_STRICT | BENCH_PLACEMENT_WORST_STRICT
                            | BENCH_PLACEMENT_IGNORANT_DEALT,
                        &(const BenchCase){ .load = "product",
                                            .n_items = self->n_tasks,
                                            .relation = BENCH_OVERHEAD,
                                            .run = run_matrix,
                                            .data = &(const Load){ NULL, self },
                                            .size = sizeof (Load) });

  return TRUE;
}

static const BenchPublished published[] = {
  { "worst over best", "product", "worst", 7, 7 },
  { "ignorant over best", "product", "ignorant", NAN, NAN },
  BENCH_HITS ("worst", "product", 1.02, 1.02),
  BENCH_MISSES ("worst", "product", 1.06, 1.06),
  { NULL },
};

const BenchWorkload bench_workload_block_matrix = {
  .name = "block-matrix",
  .summary = "a product of matrices by quadrants, with good hints and bad",
  .suite = BENCH_SUITE_PAPER,
  .item = "interval",
  .plan = plan,
  .figure =
      &(const BenchFigure){
          .row = "B12 B14",
          .title = "Block Matrix Multiplication: Performance",
          .source =
              "Th. Weibel, An Advanced Scheduler for Intervals, ETH Zurich, 2010, Performance "
              "Evaluation, Locality Benchmarks",
          .machine =
              "two Intel Nehalem processors of 4 cores, an L3 cache of 8 MB each, HotSpot 1.6",
          .differs =
              "Percent that a placement takes longer than the best one. Quadrants lie in one "
              "piece, down to blocks of 64 x 64; worst means that products and sums go to the "
              "places in turn. The three blocks of a product fit a place's cache: those of "
              "larger products (--tile) leave nothing there that a hint could bring the next "
              "interval to. Intervals and edges are made before the clock starts.",
          .published = published },
  .check = bench_placements_check,
};
