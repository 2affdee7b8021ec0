/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An array of integers that is also a list of its cache lines.
 *
 * The memory lies in huge pages where the kernel gives them: else the addresses' translation, which
 * has caches of its own, and the chance by which small pages share a cache's sets are measured too.
 */
#include "tests/bench/workloads/locality/bench-lines.h"
#include "tests/bench/measure/bench-measure.h"

#include <sys/mman.h>

#define HUGE_PAGE ((gsize) 2 << 20)

BenchLines *
bench_lines_new (const IrisPlace *place, gsize bytes, GError **error)
{
  g_autofree BenchLines *self = g_new0 (BenchLines, 1);
  gsize wanted = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

  self->place = place;
  self->size = wanted + HUGE_PAGE;
  self->memory = iris_place_alloc (place, self->size);
  if (self->memory == NULL)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                   "cannot allocate an array: %" G_GSIZE_FORMAT
                   " bytes are not available; choose a smaller --scale",
                   self->size);
      return NULL;
    }
  self->bytes = (char *) (((guintptr) self->memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
  self->n_most = MAX (bytes / BENCH_LINE, 1);
  /* A wish: without huge pages the result is the same. */
  madvise (self->bytes, wanted, MADV_HUGEPAGE);

  return g_steal_pointer (&self);
}

void
bench_lines_free (BenchLines *self)
{
  iris_place_free (self->place, self->memory, self->size);
  g_free (self);
}

static inline guint32 *
line_at (const BenchLines *self, gsize index)
{
  return (guint32 *) (self->bytes + index * BENCH_LINE);
}

/* Sattolo's shuffle (1986): all lines are one cycle. While it runs, the first word of a line is the
 * line that follows it. */
static void
link_lines (BenchLines *self, GRand *rand)
{
  for (gsize i = 0; i < self->n; i++)
    *line_at (self, i) = (guint32) i;
  for (gsize i = self->n - 1; i > 0; i--)
    {
      gsize j = (gsize) g_rand_int_range (rand, 0, (gint32) i);
      guint32 other = *line_at (self, j);

      *line_at (self, j) = *line_at (self, i);
      *line_at (self, i) = other;
    }
  for (gsize i = 0; i < self->n; i++)
    *line_at (self, i) = *line_at (self, i) * BENCH_LINE + 1;
}

void
bench_lines_fill (BenchLines *self, gsize n, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint32 x = seed | 1;

  self->n = MIN (n, self->n_most);
  for (gsize i = 0; i < self->n * BENCH_LINE_WORDS; i++)
    {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
      line_at (self, 0)[i] = x | 1;
    }
  link_lines (self, rand);
}

BenchSum
bench_lines_expect (const BenchLines *self)
{
  const guint32 *words = line_at (self, 0);
  BenchSum result = { 0, 1 };

  for (gsize i = 0; i < self->n * BENCH_LINE_WORDS; i++)
    result = bench_sum_add (result, (BenchSum){ words[i], words[i] });

  return result;
}

/* --- the passes ------------------------------------------------------------------------------- */

/* Sixteen sums and products side by side, a line's: as many as the widest vectors hold, so that the
 * memory is the limit, not the arithmetic. */
static inline __attribute__ ((always_inline)) BenchSum
pass (const char *bytes, gsize n, gboolean linked)
{
  guint32 sums[BENCH_LINE_WORDS], products[BENCH_LINE_WORDS];
  BenchSum result = { 0, 1 };
  gsize offset = 0;

  for (guint j = 0; j < BENCH_LINE_WORDS; j++)
    {
      sums[j] = 0;
      products[j] = 1;
    }
  for (gsize i = 0; i < n; i++)
    {
      const guint32 *words = (const guint32 *) (bytes + offset);

      for (guint j = 0; j < BENCH_LINE_WORDS; j++)
        {
          sums[j] += words[j];
          products[j] *= words[j];
        }
      offset = linked ? words[0] - 1 : offset + BENCH_LINE;
    }
  for (guint j = 0; j < BENCH_LINE_WORDS; j++)
    result = bench_sum_add (result, (BenchSum){ sums[j], products[j] });

  return result;
}

/* Begins a cache line, as a kernel of the numeric workloads does. */
#define PASSES(name, ...)                                                                         \
  __VA_ARGS__ G_NO_INLINE                                                                         \
      __attribute__ ((aligned (64))) static BenchSum in_order_##name (const char *bytes, gsize n) \
  {                                                                                               \
    return pass (bytes, n, FALSE);                                                                \
  }                                                                                               \
  __VA_ARGS__ G_NO_INLINE                                                                         \
      __attribute__ ((aligned (64))) static BenchSum linked_##name (const char *bytes, gsize n)   \
  {                                                                                               \
    return pass (bytes, n, TRUE);                                                                 \
  }

PASSES (plain, )
#ifdef __x86_64__
PASSES (avx2, __attribute__ ((target ("avx2"))))
PASSES (avx512, __attribute__ ((target ("avx512f"))))
#endif

BenchSum
bench_lines_in_order (const BenchLines *self)
{
#ifdef __x86_64__
  if (__builtin_cpu_supports ("avx512f"))
    return in_order_avx512 (self->bytes, self->n);
  if (__builtin_cpu_supports ("avx2"))
    return in_order_avx2 (self->bytes, self->n);
#endif
  return in_order_plain (self->bytes, self->n);
}

BenchSum
bench_lines_linked (const BenchLines *self)
{
#ifdef __x86_64__
  if (__builtin_cpu_supports ("avx512f"))
    return linked_avx512 (self->bytes, self->n);
  if (__builtin_cpu_supports ("avx2"))
    return linked_avx2 (self->bytes, self->n);
#endif
  return linked_plain (self->bytes, self->n);
}

guint32
bench_lines_chase (const BenchLines *self, guint32 from, gsize steps)
{
  gsize offset = (gsize) from * BENCH_LINE;

  for (gsize i = 0; i < steps; i++)
    offset = *(const guint32 *) (self->bytes + offset) - 1;

  return (guint32) (offset / BENCH_LINE);
}
