/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Random numbers for choosing victims: one word of state per thread, no lock.
 *
 * xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators,
 * scrambled", 2016). Good enough to spread thieves; not for secrets.
 */
#pragma once

#include <stdint.h>

typedef struct
{
  uint64_t state;
} IrisRandom;

static inline void
iris_random_seed (IrisRandom *self, uint64_t seed)
{
  /* Zero is the one state that the generator never leaves. */
  self->state = seed * 0x9e3779b97f4a7c15ULL | 1;
}

static inline uint32_t
iris_random_next (IrisRandom *self)
{
  uint64_t x = self->state;

  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  self->state = x;

  return (uint32_t) ((x * 0x2545f4914f6cdd1dULL) >> 32);
}

/* A number in [0, bound); bound must not be 0 (Lemire's multiplication, bias below 2^-32). */
static inline uint32_t
iris_random_below (IrisRandom *self, uint32_t bound)
{
  return (uint32_t) (((uint64_t) iris_random_next (self) * bound) >> 32);
}
