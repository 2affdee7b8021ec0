/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * FFT: the transform of n = m * m complex numbers, and the inverse of that, in six steps each.
 *
 * The numbers are a matrix of m rows. Transpose; transform each row; multiply by the roots of unity
 * of n; transpose; transform each row; transpose. A part has rows of its own: it gathers them from
 * the columns of the matrix, in blocks, and goes on with them, so a transform is three phases.
 *
 * Source: D. H. Bailey, "FFTs in External or Hierarchical Memory", J. Supercomputing 4, 1990; the
 * rows are transformed by J. W. Cooley, J. W. Tukey, Math. Comp. 19, 1965.
 *
 * Check: the inverse gives the input, and of the transform some numbers are compared with the sum
 * that defines them.
 */
#include "tests/bench/workloads/splash/splash.h"

#define PUBLISHED (1u << 24)
#define USUAL     (1u << 20)
#define BLOCK     8u
#define SAMPLES   3
/* Errors of rounding grow as the logarithm of n; those of the plain sum are larger. */
#define TOLERANCE_INVERSE 1e-14
#define TOLERANCE_SUM     1e-12

typedef struct
{
  guint log_m, m, n;
  SplashComplex *input;
  SplashComplex *spectrum;
  SplashComplex *a, *b; /* between the steps */
  SplashComplex *roots; /* exp (-2 pi i k / n) */
} Fft;

static gpointer
fft_create (gdouble scale, char **size)
{
  Fft *self = g_new0 (Fft, 1);
  guint64 random = 2;
  g_autofree char *part = NULL;

  for (self->log_m = 4; (1u << 2 * (self->log_m + 1)) <= USUAL * scale; self->log_m++)
    ;
  self->m = 1u << self->log_m;
  self->n = self->m * self->m;
  part = splash_part_of_published (self->n, PUBLISHED);
  *size = g_strdup_printf ("%u points, %s", self->n, part);
  self->input = g_new (SplashComplex, self->n);
  self->spectrum = g_new (SplashComplex, self->n);
  self->a = g_new (SplashComplex, self->n);
  self->b = g_new (SplashComplex, self->n);
  self->roots = g_new (SplashComplex, self->n);
  for (guint i = 0; i < self->n; i++)
    {
      gdouble angle = -2 * G_PI * i / self->n;

      self->input[i].re = 2 * splash_random (&random) - 1;
      self->input[i].im = 2 * splash_random (&random) - 1;
      self->roots[i] = (SplashComplex){ cos (angle), sin (angle) };
    }

  return self;
}

static void
fft_destroy (gpointer data)
{
  Fft *self = data;

  g_free (self->input);
  g_free (self->spectrum);
  g_free (self->a);
  g_free (self->b);
  g_free (self->roots);
  g_free (self);
}

static guint
fft_start (gpointer data, SplashTeam *team)
{
  return 6;
}

/* exp (-+2 pi i k / n) */
static inline SplashComplex
root (const Fft *self, guint64 k, gboolean is_inverse)
{
  SplashComplex value = self->roots[k & (self->n - 1)];

  return is_inverse ? (SplashComplex){ value.re, -value.im } : value;
}

/* Rows first to end of @to are columns of @from. */
static void
gather (const Fft *self,
        const SplashComplex *from,
        SplashComplex *restrict to,
        guint first,
        guint end)
{
  guint m = self->m;

  for (guint i = first; i < end; i += BLOCK)
    for (guint j = 0; j < m; j += BLOCK)
      for (guint row = i; row < MIN (i + BLOCK, end); row++)
        for (guint column = j; column < j + BLOCK; column++)
          to[(gsize) row * m + column] = from[(gsize) column * m + row];
}

static void
reverse_bits (const Fft *self, SplashComplex *row)
{
  for (guint i = 0, j = 0; i < self->m; i++)
    {
      guint bit = self->m >> 1;

      if (i < j)
        {
          SplashComplex other = row[i];

          row[i] = row[j];
          row[j] = other;
        }
      /* j is i + 1 with its bits reversed. */
      for (; j & bit; bit >>= 1)
        j ^= bit;
      j |= bit;
    }
}

static void
transform_row (const Fft *self, SplashComplex *row, gboolean is_inverse)
{
  reverse_bits (self, row);
  for (guint half = 1; half < self->m; half *= 2)
    for (guint i = 0; i < half; i++)
      {
        SplashComplex w = root (self, (guint64) (self->n / (2 * half)) * i, is_inverse);

        for (guint j = i; j < self->m; j += 2 * half)
          {
            SplashComplex product = splash_cmul (w, row[j + half]);

            row[j + half] = splash_csub (row[j], product);
            row[j] = splash_cadd (row[j], product);
          }
      }
}

static void
fft_phase (gpointer data, SplashTeam *team, guint phase, guint part)
{
  const Fft *self = data;
  gboolean is_inverse = phase >= 3;
  SplashComplex *const from[] = { self->input, self->b, self->a, self->spectrum, self->b, self->a };
  SplashComplex *const to[] = { self->b, self->a, self->spectrum, self->b, self->a, self->b };
  guint first, end;

  splash_share (team, part, self->m, &first, &end);
  gather (self, from[phase], to[phase], first, end);
  for (guint i = first; phase % 3 < 2 && i < end; i++)
    {
      SplashComplex *row = to[phase] + (gsize) i * self->m;

      transform_row (self, row, is_inverse);
      for (guint j = 0; phase % 3 == 0 && j < self->m; j++)
        row[j] = splash_cmul (row[j], root (self, (guint64) i * j, is_inverse));
    }
}

static gdouble
distance (SplashComplex a, SplashComplex b)
{
  return hypot (a.re - b.re, a.im - b.im);
}

static gboolean
fft_check (gpointer data, GError **error)
{
  const Fft *self = data;

  for (guint i = 0; i < self->n; i++)
    {
      SplashComplex back = splash_cscaled (self->b[i], 1.0 / self->n);

      if (!(distance (back, self->input[i]) < TOLERANCE_INVERSE * 2 * self->log_m))
        return splash_wrong (error, "number %u is %g%+gi, the inverse of its transform %g%+gi", i,
                             self->input[i].re, self->input[i].im, back.re, back.im);
    }
  for (guint i = 0; i < SAMPLES; i++)
    {
      guint k = (guint) ((self->n - 1) * (0.3819 * i + 0.1)) | 1;
      SplashComplex sum = { 0, 0 };

      for (guint j = 0; j < self->n; j++)
        sum = splash_cadd (sum, splash_cmul (self->input[j], root (self, (guint64) j * k, FALSE)));
      if (!(distance (sum, self->spectrum[k]) < TOLERANCE_SUM * sqrt (self->n)))
        return splash_wrong (error, "number %u of the transform is %g%+gi, not %g%+gi", k,
                             self->spectrum[k].re, self->spectrum[k].im, sum.re, sum.im);
    }

  return TRUE;
}

const SplashProgram splash_fft = {
  .name = "fft",
  .create = fft_create,
  .destroy = fft_destroy,
  .start = fft_start,
  .phase = fft_phase,
  .check = fft_check,
};
