/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The coordination: which of an arbiter's messages may run at this moment.
 *
 * How to use it
 * -------------
 * Poster:  submit each message as a node. IRIS_SUBMIT_START: it may run at once, the caller starts
 * it. IRIS_SUBMIT_WAIT: it waits here. IRIS_SUBMIT_REFUSED: the teardown came first. Runner:  when
 * a started message has run, finish says which ones start next, and the caller starts them.
 * Exclusive messages come as a turn: the first is handed out, and the runner asks next for more, up
 * to its bound, before it finishes.
 *
 * Who may call what: submit any thread; next and finish the thread that ran what was started.
 *
 * Invariant: at each moment nothing runs, or any number of concurrent messages, or one exclusive
 * turn, or the teardown. While nothing runs nothing waits. After the teardown was submitted nothing
 * is accepted, and it runs when nothing else is left: once, and last.
 *
 * No thread starves. An exclusive message that waits holds back all concurrent ones that come
 * behind it, so it waits for those that run and for the exclusive ones before it, and, if it is
 * behind a turn's bound, for one group of concurrent ones between two turns. A concurrent message
 * waits for one exclusive turn, that is, for at most `bound` exclusive messages, and then goes with
 * all others that wait, whatever else waits.
 *
 * The lock is short: every section is a handful of loads and stores and touches no memory but this
 * structure and one link; nothing is called under it, and a message that waits is itself the
 * waiter. `turn` is the exclusive turn's alone while it runs, so that most exclusive messages cost
 * the runner no lock.
 *
 * Source: the coordination arbiter of the Concurrency and Coordination Runtime (G.
 * Chrysanthakopoulos, S. Singh, "An Asynchronous Messaging Library for C#", SCOOL 2005), by way of
 * iris 0.3; that readers and writers take turns by groups is phase fairness (B. Brandenburg, J.
 * Anderson, ECRTS 2009).
 */
#pragma once

#include "iris/base/memory/iris-llist-private.h"

#include <pthread.h>

typedef enum
{
  IRIS_COORDINATE_EXCLUSIVE,
  IRIS_COORDINATE_CONCURRENT,
  IRIS_COORDINATE_TEARDOWN,
  IRIS_COORDINATE_NOTHING, /* for finish alone */
} IrisCoordinate;

typedef enum
{
  IRIS_SUBMIT_WAIT,
  IRIS_SUBMIT_START,
  IRIS_SUBMIT_REFUSED,
} IrisSubmit;

typedef struct
{
  IrisLlistNode *first;
  IrisLlistNode *last;
  size_t length;
} IrisWaiting;

typedef struct
{
  pthread_mutex_t lock;
  IrisWaiting waiting[3]; /* by IrisCoordinate; oldest first */
  size_t n_running;       /* concurrent messages, or 1 */
  bool exclusive;         /* what runs is exclusive */
  bool closed;            /* the teardown was submitted */
  IrisLlistNode *turn;    /* what the exclusive turn has taken and not run */
} IrisCoordination;

static inline void
iris_coordination_init (IrisCoordination *self)
{
  *self = (IrisCoordination){ .n_running = 0 };
  pthread_mutex_init (&self->lock, NULL);
}

static inline void
iris_coordination_clear (IrisCoordination *self)
{
  pthread_mutex_destroy (&self->lock);
}

static inline void
iris_waiting_push (IrisWaiting *self, IrisLlistNode *node)
{
  node->next = NULL;
  if (self->first == NULL)
    self->first = node;
  else
    self->last->next = node;
  self->last = node;
  self->length++;
}

static inline IrisLlistNode *
iris_waiting_take_all (IrisWaiting *self)
{
  IrisLlistNode *first = self->first;

  self->first = NULL;
  self->length = 0;

  return first;
}

static inline bool
iris_coordination_may_start (const IrisCoordination *self, IrisCoordinate kind)
{
  if (self->n_running == 0)
    return true;

  return kind == IRIS_COORDINATE_CONCURRENT && !self->exclusive && self->turn == NULL
         && self->waiting[IRIS_COORDINATE_EXCLUSIVE].first == NULL;
}

/* Any thread. */
static inline IrisSubmit
iris_coordination_submit (IrisCoordination *self, IrisCoordinate kind, IrisLlistNode *node)
{
  IrisSubmit result = IRIS_SUBMIT_WAIT;

  pthread_mutex_lock (&self->lock);
  if (self->closed)
    {
      result = IRIS_SUBMIT_REFUSED;
    }
  else
    {
      self->closed = kind == IRIS_COORDINATE_TEARDOWN;
      if (iris_coordination_may_start (self, kind))
        {
          self->n_running++;
          self->exclusive = kind != IRIS_COORDINATE_CONCURRENT;
          result = IRIS_SUBMIT_START;
        }
      else
        {
          iris_waiting_push (&self->waiting[kind], node);
        }
    }
  pthread_mutex_unlock (&self->lock);

  return result;
}

/* Under the lock, with nothing running. */
static inline IrisCoordinate
iris_coordination_choose (IrisCoordination *self, bool concurrent_first, IrisLlistNode **start)
{
  IrisWaiting *waiting = self->waiting;

  self->exclusive = false;
  if (self->turn == NULL)
    self->turn = iris_waiting_take_all (&waiting[IRIS_COORDINATE_EXCLUSIVE]);
  if (waiting[IRIS_COORDINATE_CONCURRENT].first != NULL && (concurrent_first || self->turn == NULL))
    {
      self->n_running = waiting[IRIS_COORDINATE_CONCURRENT].length;
      *start = iris_waiting_take_all (&waiting[IRIS_COORDINATE_CONCURRENT]);
      return IRIS_COORDINATE_CONCURRENT;
    }
  *start = self->turn != NULL ? self->turn
                              : iris_waiting_take_all (&waiting[IRIS_COORDINATE_TEARDOWN]);
  if (*start == NULL)
    return IRIS_COORDINATE_NOTHING;
  self->n_running = 1;
  self->exclusive = true;
  if (self->turn == NULL)
    return IRIS_COORDINATE_TEARDOWN;
  self->turn = (*start)->next;

  return IRIS_COORDINATE_EXCLUSIVE;
}

/* The thread that ran it. What is to be started now, as one node, or, for
 * IRIS_COORDINATE_CONCURRENT, as a chain. @spent: an exclusive turn that was stopped by its bound.
 */
static inline IrisCoordinate
iris_coordination_finish (IrisCoordination *self, bool spent, IrisLlistNode **start)
{
  IrisCoordinate kind = IRIS_COORDINATE_NOTHING;

  pthread_mutex_lock (&self->lock);
  if (--self->n_running == 0)
    kind = iris_coordination_choose (self, spent, start);
  pthread_mutex_unlock (&self->lock);

  return kind;
}

/* The runner of the exclusive turn: the next of what it has taken, or NULL. */
static inline IrisLlistNode *
iris_coordination_next (IrisCoordination *self)
{
  IrisLlistNode *node = self->turn;

  if (node != NULL)
    self->turn = node->next;

  return node;
}
