/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item does: it counts itself, and works for a calibrated time.
 *
 * Every contender calls the same functions. A thread counts on a cache line of its own, so counting
 * costs all of them the same nanosecond, and after the run the sums say whether every item ran.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef void (*BenchFunc) (gpointer data);

/* Busy work of a certain length. Its result is known, so that a contender cannot leave some of it
 * out. */
typedef struct
{
  guint64 steps;  /* 0: nothing but to count */
  guint64 result; /* what one item adds to the sum */
} BenchWork;

BenchWork bench_work_new (gdouble microseconds);

/* An item: data is a BenchWork. */
void bench_item_run (gpointer data);

/* Before and after a run. */
void bench_counts_reset (void);
void bench_count_one (void);
gboolean bench_counts_check (guint64 n_items, guint64 sum, GError **error);

/* Monotonic time in nanoseconds. */
gint64 bench_now (void);

G_END_DECLS
