/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A DEALER and a ROUTER of ZeroMQ, without anything behind them.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"

typedef struct _BenchBare BenchBare;

/* The other side, in a process of its own; returns an exit status when it cannot go on. */
int bench_bare_echo (const char *endpoint);

BenchBare *bench_bare_new (const char *endpoint, GError **error);
gboolean bench_bare_round_trip (BenchBare *self, gsize size, GError **error);
void bench_bare_free (BenchBare *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchBare, bench_bare_free)
