/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journey whose steps are counted, and the ways to cut one short; for test-cancel-steps.c.
 */
#pragma once

#include "step-scheduler.h"
#include <iris/base/iris-atomic-private.h>

#define NEVER G_MAXUINT

typedef struct Trip Trip;
typedef void (*TripEnd) (Trip *self);

struct Trip
{
  IrisScheduler *scheduler;
  TripEnd end; /* what is done to the journey, and before which step */
  guint at;
  guint n; /* steps passed */
  guint n_made;
  _Atomic guint n_freed; /* the timer's thread frees as well */
  /* What a journey has; dropped by its end, or when it is over. */
  IrisPort *ports[3];
  IrisReceiver *receivers[3];
  IrisInterval *intervals[4];
  IrisActor *actor;
  IrisTimer *timer;
  IrisService *service;
  IrisProcess *processes[2];
  GCancellable *cancellable;
};

/* The one that is under way. */
extern Trip *trip;

void trip_step (void);
void trip_run_all (void);
void trip_freed (gpointer data);
gpointer trip_made (void);
IrisMessage *trip_message (gint what);
void end_not_at_all (Trip *self);
void end_shut_down (Trip *self);
void end_drop_ports (Trip *self);
void end_destroy_receivers (Trip *self);
void end_destroy_first (Trip *self);
void end_pause (Trip *self);
void end_cancel_call (Trip *self);
void end_cancel_first_interval (Trip *self);
void end_cancel_second_interval (Trip *self);
void end_cancel_child (Trip *self);
void end_cancel_intervals (Trip *self);
void end_give_actor_up (Trip *self);
void end_cancel_timer (Trip *self);
void end_drop_timer (Trip *self);
void end_stop_service (Trip *self);
void end_drop_service (Trip *self);
void end_cancel_head (Trip *self);
void end_cancel_tail (Trip *self);
