/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A graph of intervals that note when they ran, for the tests of intervals.
 */
#pragma once

#include "core-test-util.h"

#include <iris/task/interval/iris-interval-private.h>

#include <gio/gio.h>

#define N_MAX 400

/* What the intervals of a test note. The clock is an atomic count. */
typedef struct
{
  guint number;
  _Atomic guint64 began; /* 0: it did not start */
  _Atomic guint64 ended;
  _Atomic guint dropped; /* how often notify was called */
  gint place;
  gboolean fails;
  IrisInterval *interval;
} Note;

extern Note notes[N_MAX];
extern IrisScheduler *scheduler;
extern IrisIntervalGraph *graph;
extern CoreTestGate is_open, entered; /* run_until_open() is in, and may go on */

/* A new graph; and its end: everything is gone, and no reference to graph or scheduler is left. */
void begin (void);
void end (void);

gboolean run (IrisInterval *interval, gpointer data, GError **error);
gboolean run_until_open (IrisInterval *interval, gpointer data, GError **error);
void drop (gpointer data);
IrisInterval *make (guint number);
IrisInterval *make_with (guint number, IrisIntervalFunc func);
void after (guint later, guint earlier);

/* The first n, last first. */
void schedule_all (guint n);

/* Waits for the graph. */
void check_states (guint n, const IrisIntervalState *expected);
