/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The whole of a process.
 *
 * How it works without waiting
 * ----------------------------
 * A process is an asynchronous task with a queue. There is one item of work at a time, the pump,
 * and only while there is something to do: a thread that enqueues, closes or cancels kicks, and a
 * kick queues the pump unless it is on its way. The pump works on a batch, and queues itself again
 * if more is left. A process that has nothing to do is nowhere, so it costs nothing.
 *
 * A stage whose sink is full stops its pump, and leaves a mark in the sink; the sink's pump kicks
 * it when half of what fits is left. It looks once more after leaving the mark, in case the sink
 * was emptied meanwhile, and whether it was cancelled. tests/model/process.pml checks that no kick
 * is lost. No thread waits in any of this, so stages may share one worker.
 *
 * References lead downstream, from a source to its sink; the way back is weak.
 */
#pragma once

#include "iris/task/iris-task-private.h"
#include "iris/task/iris-process.h"

/* How many items the pump works on before others have their turn. */
#define IRIS_PROCESS_BATCH 64

/* How often watchers are told: not more than 5 times a second. */
#define IRIS_PROCESS_WATCH_US (200 * G_TIME_SPAN_MILLISECOND)

typedef struct
{
  GMutex lock;
  GQueue queue; /* messages, a reference each */
  guint limit;
  guint processed;
  guint total; /* what was ever enqueued */
  bool running;
  bool pumping;
  bool closed;
  bool source_waits; /* for room here */
  IrisItem pump;

  IrisProcessFunc func;
  gpointer data;
  GDestroyNotify notify;
  GClosure *closure;

  IrisProcess *sink;
  GWeakRef source;
  float factor;      /* items for the sink by item */
  const char *title; /* interned, so it may be read without the lock */

  GPtrArray *watches;      /* ports */
  _Atomic guint n_watches; /* ever added */
  bool watches_told;       /* that it is over */
  gint64 told_us;          /* the pump's */
} IrisProcessPrivate;

IrisProcessPrivate *iris_process_get_private (IrisProcess *self);

/* --- iris-process.c --- */

/* --- iris-process-watch.c --- */

/* Now and then, from the pump. */
void iris_process_tell_watches (IrisProcess *self);
/* Once, when it is over. */
void iris_process_tell_watches_end (IrisProcess *self);
