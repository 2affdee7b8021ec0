/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the user said on the command line.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"

/* As GOption takes it. */
typedef struct
{
  gint rounds, outer, inner, items, producers, size, steps, tile, seed;
  gdouble scale, work, seconds;
  gboolean no_peers, json, csv, quick, summary, version;
  char **only;
  char *workers, *counters, *variants, *places, *irisd, *costs, *chart, *output, *report, *child;
} BenchArguments;

/* Takes the options out of argv. */
gboolean bench_arguments_parse (BenchArguments *self, int *argc, char ***argv, GError **error);
void bench_arguments_clear (BenchArguments *self);

/* The options that they come to, and the numbers of workers: an array of guint, one at least. */
gboolean bench_arguments_choose (const BenchArguments *self,
                                 gboolean is_paper,
                                 BenchOptions *options,
                                 GArray *workers,
                                 GError **error);
