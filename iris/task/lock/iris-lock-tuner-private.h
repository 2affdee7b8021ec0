/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tuner: which of two ways to hand a lock on is faster, found out while it is used.
 *
 * Who may call what: everything the holder of the lock that is tuned; get the fields that are
 * atomic any thread.
 *
 * How it works: a round of trials, hot and plain in turn, IRIS_LOCK_TRIAL_LENGTH hand-overs each.
 * It measures how long a hand-over occupies the lock, with the critical section behind
 * it: from the release that hands over until the next release. The clock stands while no thread
 * waits, so that what a lock costs that is seldom contended is not mixed up with how seldom that
 * is. The medians of the trials are compared; the new way must be faster by a part in
 * IRIS_LOCK_MARGIN. A round ends early when one way is at least twice as slow in both of its first
 * two trials.
 *
 * For threads that are woken a hand-over is a wake-up, and other threads may take the lock before
 * the one that was woken. What counts is the time for each time that the lock was held, with or
 * without a waiter: the number of these is an argument. That the program runs less beside the lock,
 * because its threads crowd one processor, shows too. Such trials differ more than those of items,
 * so moving threads must be faster by a part in IRIS_LOCK_MARGIN_TO_MOVE.
 *
 * What it costs: the next round begins when IRIS_LOCK_SETTLED_NS have passed and at least
 * IRIS_LOCK_SHARE times as long as the last round was longer than it would have been with the
 * better way alone. So trying the worse way costs at most one part in IRIS_LOCK_SHARE of the time
 * behind the first round, however bad it is. Settled, the clock is read once in IRIS_LOCK_GLANCE
 * hand-overs.
 *
 * The clock is an argument, so that a test can be the clock.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#define IRIS_LOCK_TRIALS       5 /* of each way in a round; odd, for the median */
#define IRIS_LOCK_TRIAL_LENGTH 64
#define IRIS_LOCK_MARGIN       32
#define IRIS_LOCK_SHARE        64
#define IRIS_LOCK_SETTLED_NS   ((int64_t) 10 * 1000 * 1000)
#define IRIS_LOCK_GLANCE       256

/* Of a trial of threads that are woken: wake-ups, and time, at least. */
#define IRIS_LOCK_TRIAL_WAKE_UPS 64
#define IRIS_LOCK_TRIAL_NS       ((int64_t) 200 * 1000)
#define IRIS_LOCK_MARGIN_TO_MOVE 8

typedef enum
{
  IRIS_LOCK_WAY_PLAIN,
  IRIS_LOCK_WAY_HOT,
} IrisLockWay;

typedef struct
{
  IrisLockWay way;    /* of the next hand-over */
  IrisLockWay better; /* what the last round found */
  bool trying;
  bool running;    /* the clock runs */
  bool wakes;      /* threads: see above */
  unsigned trial;  /* of this round; odd ones try what is not better */
  unsigned left;   /* hand-overs, until the trial ends or the clock is looked at */
  int64_t began;   /* when the clock began to run */
  int64_t elapsed; /* before that, in this trial */
  uint64_t held;   /* wakes: how often the lock had been held when the trial began */
  int64_t until;   /* settled until then */
  int64_t spent[2][IRIS_LOCK_TRIALS];   /* by way: how long the trial took */
  int64_t samples[2][IRIS_LOCK_TRIALS]; /* by way: for IRIS_LOCK_TRIAL_LENGTH times held */

  /* For others to read. */
  _Atomic uint64_t ns[2]; /* by way: the median for a hand-over, of the last round */
  _Atomic uint64_t rounds;
  _Atomic uint64_t switches;
  _Atomic uint32_t choice; /* better, published */
} IrisLockTuner;

typedef int64_t (*IrisLockClock) (void);

void iris_lock_tuner_init (IrisLockTuner *self, bool wakes);
void iris_lock_tuner_turn (IrisLockTuner *self, IrisLockClock clock, uint64_t held);
void iris_lock_tuner_stop (IrisLockTuner *self, IrisLockClock clock);

/* At each hand-over: the way to do it. @held: how often the lock has been held; of no use but for
 * threads that are woken. */
static inline IrisLockWay
iris_lock_tuner_next (IrisLockTuner *self, IrisLockClock clock, uint64_t held)
{
  if (iris_unlikely (self->left == 0 || (self->trying && !self->running)))
    iris_lock_tuner_turn (self, clock, held);
  self->left--;

  return self->way;
}

/* At each release that no thread waits for. */
static inline void
iris_lock_tuner_pause (IrisLockTuner *self, IrisLockClock clock)
{
  if (iris_unlikely (self->running))
    iris_lock_tuner_stop (self, clock);
}
