/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Starvation: an item that queues itself for ever does not keep others waiting for ever.
 */
#include "core-test-util.h"

#include <iris/sched/iris-scheduler-private.h>

#include <stdlib.h>

static CoreTestGate blocked = CORE_TEST_GATE_INIT, release = CORE_TEST_GATE_INIT;

static void
setup (void)
{
  core_test_gate_close (&blocked);
  core_test_gate_close (&release);
}

static void
block (void)
{
  core_test_gate_add (&blocked, 1);
  core_test_gate_wait (&release, 1);
}

/* One worker, and an item that queues itself again for ever. Inside its 1000th run another thread
 * queues the item that waits, so that the runs in between can be counted. */
typedef struct
{
  IrisScheduler *scheduler;
  int n_runs;    /* of the busy one */
  int queued_at; /* how many of them when the waiting one was queued */
  int waited;
  bool own; /* queued by the worker itself: the oldest of its deque */
  bool done;
} Busy;

static void
run_waiting (gpointer data)
{
  Busy *self = data;

  self->waited = self->n_runs - self->queued_at;
  self->done = true;
}

static void
run_busy (gpointer data)
{
  Busy *self = data;

  if (++self->n_runs == 1000)
    {
      self->queued_at = self->n_runs;
      if (self->own)
        iris_scheduler_queue (self->scheduler, run_waiting, self, NULL);
      else
        block ();
    }
  if (!self->done)
    iris_scheduler_queue (self->scheduler, run_busy, self, NULL);
}

static const CoreTestKind lonely[] = {
  { "default", 0, 1, IRIS_DEAL_OWN, iris_scheduler_new_full },
  { "lock-free", 0, 1, IRIS_DEAL_OWN, iris_lfscheduler_new_full },
  { "work-stealing", 0, 1, IRIS_DEAL_OWN, iris_wsscheduler_new_full },
  { "1 place of 1", 1, 1, IRIS_DEAL_OWN, NULL },
  { "1 place of 1, dealt", 1, 1, IRIS_DEAL_ROUND_ROBIN, NULL },
};

LOOP_TEST (an_item_that_queues_itself_for_ever_does_not_starve_others, 0, 2 * G_N_ELEMENTS (lonely))
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&lonely[_i / 2]);
  Busy busy = { .scheduler = scheduler, .own = _i % 2 == 1 };

  iris_scheduler_queue (scheduler, run_busy, &busy, NULL);
  if (!busy.own)
    {
      core_test_gate_wait (&blocked, 1);
      iris_scheduler_queue (scheduler, run_waiting, &busy, NULL);
      core_test_gate_add (&release, 1);
    }
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert (busy.done);
  /* The deque never held more than the two items. */
  ck_assert_int_le (busy.waited, IRIS_FAIRNESS_SOURCES * (IRIS_FAIRNESS_INTERVAL + 1 + 2));
}

TEST_MAIN ("starvation", setup, NULL)
