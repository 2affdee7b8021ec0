/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Crypt: IDEA (X. Lai, J. L. Massey, "A Proposal for a New Block Encryption Standard", 1990)
 * encrypts 3,000,000 bytes (B: 20,000,000) and decrypts them. A phase each; a tile is a range of
 * blocks of 8 bytes. The text that comes out must be the one that went in, and the cipher's
 * published example must come out too.
 */
#include "tests/bench/workloads/grande/bench-grande.h"
#include "tests/bench/workloads/grande/bench-java-random.h"

#include <string.h>

#define N_ROUNDS 8
#define N_KEYS   (6 * N_ROUNDS + 4)
#define WORDS    4 /* of 16 bits, in a block */
#define KEY      8 /* words of a user's key */

typedef struct
{
  guint n; /* blocks */
  guint parts;
  guint16 encrypt[N_KEYS], decrypt[N_KEYS];
  guint16 *plain, *cipher, *back;
} Crypt;

/* Modulo 65537, where 0 stands for 65536; that is -1, so a product with it is 1 - the other. */
static inline guint16
multiply (guint16 a, guint16 b)
{
  guint32 product = (guint32) a * b;
  guint16 low = (guint16) product, high = (guint16) (product >> 16);

  if (product != 0)
    return (guint16) (low - high + (low < high));

  return (guint16) (1 - a - b);
}

/* The inverse of that: a to the power of 65537 - 2. */
static guint16
invert (guint16 a)
{
  guint16 result = 1;

  for (guint power = 65535; power != 0; power >>= 1)
    {
      if (power & 1)
        result = multiply (result, a);
      a = multiply (a, a);
    }

  return result;
}

static inline void
crypt_block (const guint16 *key, const guint16 *from, guint16 *to)
{
  guint16 a = from[0], b = from[1], c = from[2], d = from[3];

  for (guint round = 0; round < N_ROUNDS; round++, key += 6)
    {
      guint16 left, right, middle;

      a = multiply (a, key[0]);
      b = (guint16) (b + key[1]);
      c = (guint16) (c + key[2]);
      d = multiply (d, key[3]);
      left = multiply (a ^ c, key[4]);
      right = multiply ((guint16) ((b ^ d) + left), key[5]);
      left = (guint16) (left + right);
      a ^= right;
      d ^= left;
      middle = b ^ left;
      b = c ^ right;
      c = middle;
    }
  to[0] = multiply (a, key[0]);
  to[1] = (guint16) (c + key[1]);
  to[2] = (guint16) (b + key[2]);
  to[3] = multiply (d, key[3]);
}

/* The user's key of 128 bits, over and over, each time rotated by 25 bits more. */
static void
make_keys (const guint16 *user, guint16 *encrypt, guint16 *decrypt)
{
  for (guint i = 0; i < N_KEYS; i++)
    {
      guint at = i / KEY * 25 + i % KEY * 16;
      guint16 first = user[at / 16 % KEY], second = user[(at / 16 + 1) % KEY];

      encrypt[i] = (guint16) ((((guint32) first << 16 | second) << at % 16) >> 16);
    }
  for (guint round = 0; round <= N_ROUNDS; round++)
    {
      const guint16 *from = encrypt + 6 * (N_ROUNDS - round);
      gboolean swapped = round > 0 && round < N_ROUNDS;
      guint16 *to = decrypt + 6 * round;

      to[0] = invert (from[0]);
      to[1] = (guint16) -from[swapped ? 2 : 1];
      to[2] = (guint16) -from[swapped ? 1 : 2];
      to[3] = invert (from[3]);
      if (round < N_ROUNDS)
        memcpy (to + 4, from - 2, 2 * sizeof *to);
    }
}

static guint
crypt_n_phases (gpointer problem)
{
  return 2;
}

static guint
crypt_n_tiles (gpointer problem, guint phase)
{
  const Crypt *self = problem;

  return self->parts;
}

static void
crypt_tile (gpointer problem, guint phase, guint tile)
{
  Crypt *self = problem;
  guint first = bench_grande_first (self->n, tile, self->parts);
  guint end = bench_grande_first (self->n, tile + 1, self->parts);
  const guint16 *key = phase == 0 ? self->encrypt : self->decrypt;
  const guint16 *from = phase == 0 ? self->plain : self->cipher;
  guint16 *to = phase == 0 ? self->cipher : self->back;

  for (gsize i = first; i < end; i++)
    crypt_block (key, from + WORDS * i, to + WORDS * i);
}

static void
crypt_restart (gpointer problem)
{
  Crypt *self = problem;
  gsize size = self->n * (gsize) WORDS * sizeof *self->cipher;

  memset (self->cipher, 0, size);
  memset (self->back, 0, size);
}

static gpointer
crypt_create (const BenchGrandeSize *size)
{
  BenchJavaRandom random = bench_java_random (136506717);
  Crypt *self = g_new0 (Crypt, 1);
  guint16 user[KEY];

  self->n = bench_grande_scale (size, 375000, 2500000, 16);
  self->parts = MIN (size->parts, self->n);
  for (guint i = 0; i < KEY; i++)
    user[i] = (guint16) bench_java_random_int (&random);
  make_keys (user, self->encrypt, self->decrypt);
  self->plain = g_new (guint16, WORDS * (gsize) self->n);
  self->cipher = g_new (guint16, WORDS * (gsize) self->n);
  self->back = g_new (guint16, WORDS * (gsize) self->n);
  for (gsize i = 0; i < WORDS * (gsize) self->n; i++)
    self->plain[i] = (guint16) bench_java_random_int (&random);

  return self;
}

static void
crypt_free (gpointer problem)
{
  Crypt *self = problem;

  g_free (self->plain);
  g_free (self->cipher);
  g_free (self->back);
  g_free (self);
}

static gconstpointer
crypt_result (gpointer problem, gsize *size)
{
  const Crypt *self = problem;

  *size = self->n * (gsize) WORDS * sizeof *self->cipher;

  return self->cipher;
}

/* The example in the description of the cipher. */
static gboolean
check_example (GError **error)
{
  static const guint16 user[KEY] = { 1, 2, 3, 4, 5, 6, 7, 8 }, from[WORDS] = { 0, 1, 2, 3 };
  static const guint16 expected[WORDS] = { 0x11fb, 0xed2b, 0x0198, 0x6de5 };
  guint16 encrypt[N_KEYS], decrypt[N_KEYS], to[WORDS];

  make_keys (user, encrypt, decrypt);
  crypt_block (encrypt, from, to);
  for (guint i = 0; i < WORDS; i++)
    if (!bench_grande_expect ("a word of the cipher's example", to[i], expected[i], 0, error))
      return FALSE;

  return TRUE;
}

static gboolean
crypt_check (gpointer problem, GError **error)
{
  const Crypt *self = problem;

  if (!check_example (error))
    return FALSE;
  for (gsize i = 0; i < WORDS * (gsize) self->n; i++)
    if (self->back[i] != self->plain[i])
      return bench_grande_expect ("a word of the decrypted text", self->back[i], self->plain[i], 0,
                                  error);

  return TRUE;
}

const BenchGrandeKernel bench_grande_crypt = {
  .name = "crypt",
  .create = crypt_create,
  .free = crypt_free,
  .restart = crypt_restart,
  .n_phases = crypt_n_phases,
  .n_tiles = crypt_n_tiles,
  .tile = crypt_tile,
  .result = crypt_result,
  .check = crypt_check,
};
