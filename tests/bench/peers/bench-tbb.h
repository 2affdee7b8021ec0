/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What bench-tbb.cpp offers to C: oneTBB's own way to run each load.
 */
#pragma once

#include "tests/bench/peers/bench-contender.h"

G_BEGIN_DECLS

gdouble bench_tbb_spray_run (const BenchSpray *spray, guint workers);
gdouble bench_tbb_spray_for (const BenchSpray *spray, guint workers);
gdouble bench_tbb_spray_enqueue (const BenchSpray *spray, guint workers);
gdouble bench_tbb_phases (const BenchPhases *phases, guint workers);
gdouble bench_tbb_fib (guint n, guint workers, guint64 *value);

typedef struct BenchTbbArena BenchTbbArena;

BenchTbbArena *bench_tbb_arena_new (guint workers, BenchFunc func);
void bench_tbb_arena_push (BenchTbbArena *self, gpointer data);
void bench_tbb_arena_free (BenchTbbArena *self);

G_END_DECLS
