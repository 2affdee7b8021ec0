/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A histogram: how many times were of which length, in buckets of powers of two.
 *
 * It counts each time and samples none. Adding costs two additions to lines of the writer's own
 * cache. A reader sees the buckets one after the other while the writer goes on, so the sum of the
 * lengths may lack the latest or have one more.
 */
#include "daemon/base/irisd-histogram.h"

/* The power of two below which the lengths of the first bucket are. */
#define FIRST_END 10

/* A length that is not positive, as of a clock that was read twice in one tick, is in the first. */
guint
irisd_histogram_get_bucket (gint64 ns)
{
  guint bits = ns > 0 ? g_bit_storage ((gulong) ns) : 0;
  return MIN (MAX (bits, FIRST_END) - FIRST_END, IRISD_HISTOGRAM_BUCKETS - 1);
}

void
irisd_histogram_add (IrisdHistogram *self, gint64 ns)
{
  irisd_count (&self->buckets[irisd_histogram_get_bucket (ns)], 1);
  irisd_count (&self->sum_ns, MAX (ns, 0));
}

/* Adds what it has to @sum. */
void
irisd_histogram_read (const IrisdHistogram *self, IrisdHistogramSum *sum)
{
  for (guint i = 0; i < IRISD_HISTOGRAM_BUCKETS; i++)
    sum->buckets[i] += irisd_count_get (&self->buckets[i]);
  sum->sum_ns += irisd_count_get (&self->sum_ns);
}

/* Returns how many times it has. */
guint64
irisd_histogram_sum_count (const IrisdHistogramSum *self)
{
  guint64 n = 0;
  for (guint i = 0; i < IRISD_HISTOGRAM_BUCKETS; i++)
    n += self->buckets[i];
  return n;
}
