/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Java Grande Forum's kernels come to the published values, however they are split, and their
 * checks find what did not run.
 */
#include <check.h>
#include <stdlib.h>

#include "core-test-run.h"
#include "tests/bench/workloads/grande/bench-grande.h"
#include "tests/bench/workloads/grande/bench-java-random.h"

#include <string.h>

/* Each with a scale of size A at which a value is published and a run is short. */
static const struct
{
  const BenchGrandeKernel *kernel;
  gdouble scale;
} kernels[] = {
  { &bench_grande_crypt, 0.1 },   { &bench_grande_lufact, 1 },
  { &bench_grande_moldyn, 1 },    { &bench_grande_montecarlo, 0.2 },
  { &bench_grande_raytracer, 1 }, { &bench_grande_series, 0.001 },
  { &bench_grande_sor, 1 },       { &bench_grande_sparse, 1 },
};

static void
run (const BenchGrandeKernel *kernel, gpointer problem)
{
  kernel->restart (problem);
  for (guint phase = 0; phase < kernel->n_phases (problem); phase++)
    for (guint tile = kernel->n_tiles (problem, phase); tile > 0; tile--)
      kernel->tile (problem, phase, tile - 1);
}

static gpointer
create (const BenchGrandeKernel *kernel, gdouble scale, guint parts)
{
  const BenchGrandeSize size = { .letter = 'A', .scale = scale, .parts = parts };

  return kernel->create (&size);
}

static void
assert_right (const BenchGrandeKernel *kernel, gpointer problem)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (kernel->check (problem, &error), "%s: %s", kernel->name,
                 error != NULL ? error->message : "no error");
}

/* What a Java program prints for the seed 42. */
TEST (random_numbers_are_those_of_java)
{
  BenchJavaRandom random = bench_java_random (42);

  ck_assert_int_eq (bench_java_random_int (&random), -1170105035);
  ck_assert_int_eq (bench_java_random_int (&random), 234785527);
  random = bench_java_random (42);
  ck_assert_double_eq (bench_java_random_double (&random), 0.7275636800328681);
  random = bench_java_random (42);
  ck_assert_double_eq_tol (bench_java_random_normal (&random), 1.1419053154730547, 1e-15);
  ck_assert_double_eq_tol (bench_java_random_normal (&random), 0.9194079489827879, 1e-15);
}

TEST (a_number_that_is_none_is_not_as_expected)
{
  g_autoptr (GError) error = NULL;

  ck_assert (bench_grande_expect ("it", 1.5, 1, 0.5, NULL));
  ck_assert (!bench_grande_expect ("it", 1.5, 1, 0.4, NULL));
  ck_assert (!bench_grande_expect ("it", NAN, 1, 0.5, &error));
  ck_assert (g_error_matches (error, BENCH_ERROR, BENCH_ERROR_RESULT));
}

TEST (kernels_come_to_the_published_values)
{
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
    {
      const BenchGrandeKernel *kernel = kernels[i].kernel;
      gpointer problem = create (kernel, kernels[i].scale, 8);

      run (kernel, problem);
      assert_right (kernel, problem);
      kernel->free (problem);
    }
}

/* Tiles of a phase run last to first here: none needs another of its phase. */
TEST (splits_and_orders_come_to_the_same_bytes)
{
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
    {
      const BenchGrandeKernel *kernel = kernels[i].kernel;
      gpointer whole = create (kernel, 0.02, 1), split = create (kernel, 0.02, 28);
      gsize n_whole, n_split;
      gconstpointer bytes, same;

      run (kernel, whole);
      run (kernel, split);
      assert_right (kernel, whole);
      assert_right (kernel, split);
      if (kernel->result != NULL)
        {
          bytes = kernel->result (whole, &n_whole);
          same = kernel->result (split, &n_split);
          ck_assert_uint_eq (n_whole, n_split);
          ck_assert_msg (memcmp (bytes, same, n_whole) == 0, "%s", kernel->name);
        }
      kernel->free (whole);
      kernel->free (split);
    }
}

TEST (a_kernel_that_did_not_run_is_found)
{
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
    {
      const BenchGrandeKernel *kernel = kernels[i].kernel;
      gpointer problem = create (kernel, 0.02, 4);

      run (kernel, problem);
      kernel->restart (problem);
      ck_assert_msg (!kernel->check (problem, NULL), "%s", kernel->name);
      kernel->free (problem);
    }
}

TEST (a_tile_that_was_left_out_is_found)
{
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
    {
      const BenchGrandeKernel *kernel = kernels[i].kernel;
      gpointer problem = create (kernel, 0.02, 4);
      guint last = kernel->n_phases (problem) - 1;

      kernel->restart (problem);
      for (guint phase = 0; phase <= last; phase++)
        for (guint tile = phase == last ? 1 : 0; tile < kernel->n_tiles (problem, phase); tile++)
          kernel->tile (problem, phase, tile);
      ck_assert_msg (!kernel->check (problem, NULL), "%s", kernel->name);
      kernel->free (problem);
    }
}

TEST_MAIN ("grande", NULL, NULL)
