/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A program that floods irisd with items, or with commands that sleep.
 */
#pragma once

#include <glib.h>

typedef struct _BenchFlood BenchFlood;

/* The program; returns an exit status when it cannot go on. */
int bench_flood_run (const char *endpoint, guint batch);
int bench_sleepers_run (const char *endpoint, guint n);

BenchFlood *bench_flood_start (const char *endpoint, guint batch, GError **error);
BenchFlood *bench_sleepers_start (const char *endpoint, guint n, GError **error);
gboolean bench_flood_stop (BenchFlood *self, GError **error);
