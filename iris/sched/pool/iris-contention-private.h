/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contention with other processes: seen, and answered by fewer workers.
 *
 * Where others use the processors too, workers wait in the kernel's run queue, and each switch
 * costs both sides their caches. The controller of a pool looks at its workers while they are busy,
 * takes one out when they have waited too much for a while, and brings one back when they have not
 * waited for a longer while.
 *
 * Three parts: the probe reads what the kernel says, as differences since the last look; the
 * decider turns a series of such samples into decisions, and is a pure function of it; the
 * controller is a thread that feeds one from the other every IRIS_CONTENTION_INTERVAL_MS, and tells
 * the pool (iris_active_workers_hold_one(), iris_active_workers_unhold_one()), which counts.
 *
 * It judges the first of these that the kernel gives:
 *   delay     of the time in which the workers wanted to run, the share that they waited for a
 *             processor (/proc/self/task/TID/schedstat);
 *   switches  how often they were taken off a processor against their will, for each second of
 *             running (nonvoluntary_ctxt_switches in /proc/self/task/TID/status);
 *   pressure  the share of time in which some task of the system waited for a processor
 *             (/proc/pressure/cpu). That may be any process, hence it comes last.
 * A file that is missing is named once, and the rest is used. One of a worker that has ended is not
 * missing: the worker takes its number back at its end, and what is left of the race between the
 * two is told by whether the controller has the file of itself.
 *
 * Hysteresis: the level above which a sample counts as contended is five times the one below which
 * it counts as calm; what lies between counts as neither. A decision needs a row of samples that
 * agree, and some samples pass after each before the next is thought of, so that its effect can be
 * seen. If a worker that was brought back has to go again soon, the next one is brought back only
 * after twice as many calm samples: under a competitor that stays, decisions become rare.
 *
 * Idle: when all workers sleep, so does the controller, without a timeout; a worker that was taken
 * out stays out until there is work to judge by. A worker that was woken looks whether to rouse it:
 * the controller announces that it is idle, heavy fence, looks at the parking lot once more; the
 * worker was counted as awake, light fence, looks for the announcement.
 */
#pragma once

#include "iris/sched/pool/iris-worker-pool-private.h"

#define IRIS_CONTENTION_INTERVAL_MS 100

/* Of a thousand, for delay and pressure; a second, for switches. */
#define IRIS_CONTENTION_SHARE_HIGH    250
#define IRIS_CONTENTION_SHARE_LOW     50
#define IRIS_CONTENTION_SWITCHES_HIGH 100
#define IRIS_CONTENTION_SWITCHES_LOW  20

/* A sample in which the workers wanted less of a processor than this, of a thousand, says nothing.
 */
#define IRIS_CONTENTION_MIN_USE 100

/* In samples. */
#define IRIS_CONTENTION_OUT_AFTER      3   /* contended ones in a row that take a worker out */
#define IRIS_CONTENTION_BACK_AFTER     10  /* calm ones in a row that bring one back, at first */
#define IRIS_CONTENTION_BACK_AFTER_MAX 640 /* and at most */
#define IRIS_CONTENTION_DWELL          5   /* after each decision */
#define IRIS_CONTENTION_TRIAL          30 /* in which a worker that came back must not have to go */

/* At most so many workers are looked at. */
#define IRIS_CONTENTION_MAX_WATCHED 32

typedef enum
{
  IRIS_CONTENTION_STAY,
  IRIS_CONTENTION_OUT,
  IRIS_CONTENTION_BACK,
} IrisContentionVerdict;

typedef enum
{
  IRIS_CONTENTION_BY_NOTHING, /* no judgement is possible */
  IRIS_CONTENTION_BY_DELAY,
  IRIS_CONTENTION_BY_SWITCHES,
  IRIS_CONTENTION_BY_PRESSURE,
} IrisContentionReason;

/* What happened since the last look; sums over the workers that are watched. */
typedef struct
{
  guint64 elapsed_ns;
  guint64 running_ns;
  guint64 waiting_ns;
  guint64 n_switches;
  guint64 pressure_ns;
  bool has_delay; /* running_ns and waiting_ns */
  bool has_switches;
  bool has_pressure;
} IrisContentionSample;

typedef struct
{
  guint n_contended; /* in a row */
  guint n_calm;      /* in a row */
  guint n_dwell;     /* still to pass */
  guint n_trial;     /* left of it */
  guint back_after;
  IrisContentionReason reason; /* of the last verdict but STAY */
} IrisContentionDecider;

typedef struct
{
  gint tid;
  guint64 running_ns;
  guint64 waiting_ns;
  guint64 n_switches;
  bool has_ended; /* since its number was read */
} IrisContentionWatched;

typedef struct
{
  const char *proc; /* where the files are */
  gint64 at_us;     /* of the last look; 0: none yet */
  guint64 pressure_us;
  IrisContentionWatched watched[IRIS_CONTENTION_MAX_WATCHED];
  bool no_delay, no_switches, no_pressure; /* the file is missing, and that was said */
} IrisContentionProbe;

void iris_contention_decider_init (IrisContentionDecider *self);
IrisContentionVerdict iris_contention_decide (IrisContentionDecider *self,
                                              const IrisContentionSample *sample,
                                              bool may_take,
                                              bool may_bring_back);

void iris_contention_probe_init (IrisContentionProbe *self, const char *proc);
bool iris_contention_probe_look (IrisContentionProbe *self,
                                 const gint *tids,
                                 guint n_tids,
                                 gint64 now_us,
                                 IrisContentionSample *sample);
bool iris_contention_probe_is_blind (const IrisContentionProbe *self);

IrisContention *iris_contention_new (IrisWorkerPool *pool, const char *proc);
void iris_contention_start (IrisContention *self);
void iris_contention_stop (IrisContention *self);
void iris_contention_free (IrisContention *self);
void iris_contention_rouse (IrisContention *self);
bool iris_contention_is_idle (IrisContention *self);
