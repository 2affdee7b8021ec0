/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Square matrices in blocks.
 *
 * The product of two blocks keeps a tile of 4 rows and 2 vectors in registers while it goes along
 * the inner dimension, in the widest vectors that the processor has: so that the arithmetic is
 * quick enough for the memory to be felt.
 */
#include "tests/bench/workloads/locality/bench-blocks.h"

#include <string.h>

#define AREA ((gsize) BENCH_BLOCK * BENCH_BLOCK)
#define ROWS 4 /* of a tile */

/* c += a * b, of one block each. WIDTH: bytes of a vector. */
#define KERNEL(name, WIDTH, ...)                                                                   \
  typedef gdouble name##_vector __attribute__ ((vector_size (WIDTH), aligned (8), may_alias));     \
                                                                                                   \
  __VA_ARGS__ G_NO_INLINE __attribute__ ((aligned (64))) static void name (                        \
      gdouble *restrict c, const gdouble *restrict a, const gdouble *restrict b)                   \
  {                                                                                                \
    const guint width = WIDTH / sizeof (gdouble);                                                  \
                                                                                                   \
    for (guint column = 0; column < BENCH_BLOCK; column += 2 * width)                              \
      for (guint row = 0; row < BENCH_BLOCK; row += ROWS)                                          \
        {                                                                                          \
          name##_vector tile[ROWS][2];                                                             \
                                                                                                   \
          for (guint i = 0; i < ROWS; i++)                                                         \
            {                                                                                      \
              name##_vector *from = (name##_vector *) (c + (row + i) * BENCH_BLOCK + column);      \
                                                                                                   \
              tile[i][0] = from[0];                                                                \
              tile[i][1] = from[1];                                                                \
            }                                                                                      \
          for (guint k = 0; k < BENCH_BLOCK; k++)                                                  \
            {                                                                                      \
              const name##_vector *right = (const name##_vector *) (b + k * BENCH_BLOCK + column); \
                                                                                                   \
              for (guint i = 0; i < ROWS; i++)                                                     \
                {                                                                                  \
                  gdouble left = a[(row + i) * BENCH_BLOCK + k];                                   \
                                                                                                   \
                  tile[i][0] += left * right[0];                                                   \
                  tile[i][1] += left * right[1];                                                   \
                }                                                                                  \
            }                                                                                      \
          for (guint i = 0; i < ROWS; i++)                                                         \
            {                                                                                      \
              name##_vector *into = (name##_vector *) (c + (row + i) * BENCH_BLOCK + column);      \
                                                                                                   \
              into[0] = tile[i][0];                                                                \
              into[1] = tile[i][1];                                                                \
            }                                                                                      \
        }                                                                                          \
  }

KERNEL (multiply_plain, 16, )
#ifdef __x86_64__
KERNEL (multiply_avx2, 32, __attribute__ ((target ("avx2"))))
KERNEL (multiply_avx512, 64, __attribute__ ((target ("avx512f"))))
#endif

static void
multiply_block (gdouble *c, const gdouble *a, const gdouble *b)
{
#ifdef __x86_64__
  if (__builtin_cpu_supports ("avx512f"))
    {
      multiply_avx512 (c, a, b);
      return;
    }
  if (__builtin_cpu_supports ("avx2"))
    {
      multiply_avx2 (c, a, b);
      return;
    }
#endif
  multiply_plain (c, a, b);
}

/* product += left * right */
static void
accumulate (gdouble *product, const gdouble *left, const gdouble *right, guint n)
{
  gsize quarter = (gsize) n * n / 4;

  if (n == BENCH_BLOCK)
    {
      multiply_block (product, left, right);
      return;
    }
  for (guint row = 0; row < 2; row++)
    for (guint column = 0; column < 2; column++)
      for (guint k = 0; k < 2; k++)
        accumulate (product + (2 * row + column) * quarter, left + (2 * row + k) * quarter,
                    right + (2 * k + column) * quarter, n / 2);
}

void
bench_blocks_multiply (gdouble *product, const gdouble *left, const gdouble *right, guint n)
{
  memset (product, 0, (gsize) n * n * sizeof *product);
  accumulate (product, left, right, n);
}

void
bench_blocks_add (gdouble *restrict sum, const gdouble *restrict other, guint n)
{
  for (gsize i = 0; i < (gsize) n * n; i++)
    sum[i] += other[i];
}

gsize
bench_blocks_index (guint n, guint row, guint column)
{
  gsize at = 0;

  for (; n > BENCH_BLOCK; n /= 2)
    {
      guint half = n / 2, below = row >= half, beside = column >= half;

      at += (gsize) (2 * below + beside) * half * half;
      row -= below * half;
      column -= beside * half;
    }

  return at + (gsize) row * BENCH_BLOCK + column;
}

void
bench_blocks_apply (const gdouble *matrix, guint n, const gdouble *vector, gdouble *result)
{
  memset (result, 0, n * sizeof *result);
  for (guint row = 0; row < n; row++)
    for (guint column = 0; column < n; column += BENCH_BLOCK)
      {
        const gdouble *part = matrix + bench_blocks_index (n, row, column);

        for (guint i = 0; i < BENCH_BLOCK; i++)
          result[row] += part[i] * vector[column + i];
      }
}
