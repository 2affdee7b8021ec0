/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An array of integers that is also a list of its cache lines, so that one memory can be visited in
 * order, as prefetchers like it, and from line to line, as they cannot.
 */
#pragma once

#include <glib.h>
#include <iris/iris.h>

/* Bytes of a line, and elements in it. */
#define BENCH_LINE       64
#define BENCH_LINE_WORDS (BENCH_LINE / sizeof (guint32))

/* All elements are odd, so that their product never becomes 0. The first one of a line is the
 * offset in bytes of the next line of the list, plus 1. */
typedef struct
{
  const IrisPlace *place; /* whose memory it is; unowned */
  gpointer memory;
  gsize size;   /* of the memory */
  char *bytes;  /* where the first line begins: a huge page, if there is one */
  gsize n_most; /* lines that there is room for */
  gsize n;      /* lines that are filled */
} BenchLines;

/* Sum and product of elements, modulo 2^32. */
typedef struct
{
  guint32 sum, product;
} BenchSum;

/* NULL and an error if there is not so much memory. */
BenchLines *bench_lines_new (const IrisPlace *place, gsize bytes, GError **error);
void bench_lines_free (BenchLines *self);

/* Fills the first lines with random numbers, and links them to a list in a random order. */
void bench_lines_fill (BenchLines *self, gsize n, guint32 seed);

/* The same in the plainest of ways: what the others must come to. */
BenchSum bench_lines_expect (const BenchLines *self);

/* Adds and multiplies all elements, lines in order or by the list. */
BenchSum bench_lines_in_order (const BenchLines *self);
BenchSum bench_lines_linked (const BenchLines *self);

/* So many steps along the list, from a line; returns where they lead. */
guint32 bench_lines_chase (const BenchLines *self, guint32 from, gsize steps);

static inline BenchSum
bench_sum_add (BenchSum a, BenchSum b)
{
  return (BenchSum){ a.sum + b.sum, a.product * b.product };
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchLines, bench_lines_free)
