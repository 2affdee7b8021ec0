/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The clock of the statistics, and a stopwatch that others may read while it runs.
 *
 * A stopwatch has one writer, its worker, and any number of readers. It is one word, so a reader
 * never sees a half-done start or stop: the lowest bit says whether it runs; the rest is the time
 * gathered so far, less the moment of the start while it runs. Starting subtracts the moment,
 * stopping adds it, and a reader of a running one adds its own. All of it modulo 2^63 ns, 292
 * years.
 *
 * The load is an acquire and the store a release, so that the reader's clock is read after the
 * start that it saw; the time is then never less than what was read before.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <time.h>

typedef _Atomic uint64_t IrisStopwatch;

/* Nanoseconds of CLOCK_MONOTONIC: some 25 ns, no system call where the kernel offers a vDSO. */
static inline int64_t
iris_clock_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);

  return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline bool
iris_stopwatch_runs (const IrisStopwatch *self)
{
  return atomic_load_explicit ((IrisStopwatch *) self, memory_order_relaxed) & 1;
}

/* The caller is the writer, and the stopwatch stands. */
static inline void
iris_stopwatch_start (IrisStopwatch *self, int64_t now_ns)
{
  uint64_t word = atomic_load_explicit (self, memory_order_relaxed);

  atomic_store_explicit (self, (word - ((uint64_t) now_ns << 1)) | 1, memory_order_release);
}

/* The caller is the writer, and the stopwatch runs. */
static inline void
iris_stopwatch_stop (IrisStopwatch *self, int64_t now_ns)
{
  uint64_t word = atomic_load_explicit (self, memory_order_relaxed);

  atomic_store_explicit (self, (word & ~(uint64_t) 1) + ((uint64_t) now_ns << 1),
                         memory_order_release);
}

/* Any thread: nanoseconds gathered until now. */
static inline uint64_t
iris_stopwatch_get (const IrisStopwatch *self)
{
  uint64_t word = atomic_load_explicit ((IrisStopwatch *) self, memory_order_acquire);

  if (word & 1)
    word += (uint64_t) iris_clock_ns () << 1;

  return word >> 1;
}
