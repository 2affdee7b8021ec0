/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The random numbers of java.util.Random, whose documentation prescribes them: a linear
 * congruential generator of 48 bits (D. E. Knuth, The Art of Computer Programming, volume 2,
 * section 3.2.1), and the polar method for normal ones (the same, section 3.4.1).
 */
#pragma once

#include <glib.h>
#include <math.h>

typedef struct
{
  guint64 state;
  gdouble spare; /* normal numbers come in pairs */
  gboolean has_spare;
} BenchJavaRandom;

#define BENCH_JAVA_FACTOR G_GUINT64_CONSTANT (0x5deece66d)
#define BENCH_JAVA_MASK   ((G_GUINT64_CONSTANT (1) << 48) - 1)

static inline BenchJavaRandom
bench_java_random (gint64 seed)
{
  return (BenchJavaRandom){ .state = ((guint64) seed ^ BENCH_JAVA_FACTOR) & BENCH_JAVA_MASK };
}

/* The highest bits of the next state. */
static inline guint32
bench_java_random_bits (BenchJavaRandom *self, guint bits)
{
  self->state = (self->state * BENCH_JAVA_FACTOR + 0xb) & BENCH_JAVA_MASK;

  return (guint32) (self->state >> (48 - bits));
}

static inline gint32
bench_java_random_int (BenchJavaRandom *self)
{
  return (gint32) bench_java_random_bits (self, 32);
}

/* In [0, 1). */
static inline gdouble
bench_java_random_double (BenchJavaRandom *self)
{
  guint64 high = bench_java_random_bits (self, 26);

  return (gdouble) ((high << 27) + bench_java_random_bits (self, 27)) * 0x1p-53;
}

static inline gdouble
bench_java_random_normal (BenchJavaRandom *self)
{
  gdouble x, y, square, factor;

  self->has_spare = !self->has_spare;
  if (!self->has_spare)
    return self->spare;
  do
    {
      x = 2 * bench_java_random_double (self) - 1;
      y = 2 * bench_java_random_double (self) - 1;
      square = x * x + y * y;
    }
  while (square >= 1 || square <= 0);
  factor = sqrt (-2 * log (square) / square);
  self->spare = y * factor;

  return x * factor;
}
