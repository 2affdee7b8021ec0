/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Square matrices in blocks: a quadrant of a matrix lies in one piece, and so do its own quadrants,
 * down to blocks of 64 x 64. Products and sums of such.
 */
#pragma once

#include <glib.h>

#define BENCH_BLOCK 64 /* rows and columns */

/* Quadrants, row by row: 0 1 / 2 3. */
static inline gdouble *
bench_quadrant (gdouble *matrix, guint n, guint quadrant)
{
  return matrix + (gsize) quadrant * (n / 2) * (n / 2);
}

/* Where an element lies in a matrix of n rows; n is BENCH_BLOCK times a power of two. */
gsize bench_blocks_index (guint n, guint row, guint column);

/* product = left * right, and sum += other; n as above. */
void bench_blocks_multiply (gdouble *product, const gdouble *left, const gdouble *right, guint n);
void bench_blocks_add (gdouble *sum, const gdouble *other, guint n);

/* result = matrix * vector */
void bench_blocks_apply (const gdouble *matrix, guint n, const gdouble *vector, gdouble *result);
