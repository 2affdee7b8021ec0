/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A histogram: how many times were of which length, in buckets of powers of two.
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* Bucket i has lengths below 2^(i+10) nanoseconds that the one before it has not: the first those
 * below a microsecond or so, the last all from 18 minutes on. As STATISTICS_REPLY tells them. */
#define IRISD_HISTOGRAM_BUCKETS 32

/* One thread adds, any thread reads. */
typedef struct
{
  _Atomic guint64 buckets[IRISD_HISTOGRAM_BUCKETS];
  _Atomic guint64 sum_ns;
} IrisdHistogram;

/* What a histogram, or several together, had when it was read. */
typedef struct
{
  guint64 buckets[IRISD_HISTOGRAM_BUCKETS];
  guint64 sum_ns;
} IrisdHistogramSum;

guint irisd_histogram_get_bucket (gint64 ns);
void irisd_histogram_add (IrisdHistogram *self, gint64 ns);
void irisd_histogram_read (const IrisdHistogram *self, IrisdHistogramSum *sum);
guint64 irisd_histogram_sum_count (const IrisdHistogramSum *self);

/* Adds to a counter that only the calling thread changes, so load and store need not be one step.
 * Relaxed: nothing else depends on a counter. */
static inline void
irisd_count (_Atomic guint64 *counter, gint64 change)
{
  guint64 now = atomic_load_explicit (counter, memory_order_relaxed);
  atomic_store_explicit (counter, now + (guint64) change, memory_order_relaxed);
}

static inline guint64
irisd_count_get (const _Atomic guint64 *counter)
{
  return atomic_load_explicit (counter, memory_order_relaxed);
}

G_END_DECLS
