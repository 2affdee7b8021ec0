/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The machine on which a figure was measured, and what about it makes figures doubtful.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Above this mean of the last minute the machine is said to have had other work. */
#define BENCH_BUSY_LOAD 0.5

typedef struct
{
  char *description;
  gdouble load[3]; /* means of the last 1, 5 and 15 minutes, at the start; -1: unknown */
  gboolean is_busy;
  guint n_processors; /* on which this process may run */
  guint n_cores;      /* of which these are; hyper-threads of one core share it */
  char *governor;     /* of the frequency, of all processors; or NULL */
  gdouble slowest;    /* the fastest processor's frequency in MHz, at the end of each round; NAN */
  gdouble fastest;
  gdouble others;      /* percent of the processors' time that other processes took; NAN: unknown */
  gdouble stolen;      /* and other machines of the same host */
  GPtrArray *warnings; /* of char *, once it was judged */
  struct _BenchWatch *watch;
} BenchMachine;

/* @root is where /proc and /sys are: "" but in tests. */
BenchMachine *bench_machine_new (const char *root);
void bench_machine_free (BenchMachine *self);
/* Behind each round: how fast do the processors run? */
void bench_machine_look (gpointer self);
/* Once all is measured, with as many workers at most. */
void bench_machine_judge (BenchMachine *self, guint most_workers);
void bench_machine_warn (BenchMachine *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
