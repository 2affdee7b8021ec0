/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long a turn of an actor, or of an exclusive receiver, may be.
 *
 * A batch that was set is kept to. Otherwise a turn is over after IRIS_ACTOR_BATCH messages, but
 * goes on with those that had come when the actor last looked, up to IRIS_ACTOR_BATCH_MOST messages
 * or for IRIS_TURN_NS, whichever is longer. Several that send to one each have a turn for every
 * turn of that one. With a fixed batch, what it has grows until they are done, and is handled when
 * it has long left the caches; with a fixed number of messages it still does, if handling one takes
 * no longer than sending it. So messages that are handled quickly are counted by the clock, which
 * is read once in IRIS_ACTOR_BATCH_MOST.
 */
#pragma once

#include "iris/base/iris-clock-private.h"

#include <glib.h>
#include <stdbool.h>

#define IRIS_ACTOR_BATCH_MOST 1024
#define IRIS_TURN_NS          1000000

typedef struct
{
  guint n; /* handled */
  guint least;
  bool is_fixed;
  gint64 until_ns; /* 0: no more than the least was handled yet */
} IrisTurn;

/* @batch is 0 where none was set. */
static inline IrisTurn
iris_turn_begin (guint batch, guint usual)
{
  return (IrisTurn){ .least = batch != 0 ? batch : usual, .is_fixed = batch != 0 };
}

/* Whether a turn beyond the least has time left, which begins with the first call. */
static inline bool
iris_turn_has_time (IrisTurn *self)
{
  gint64 now = iris_clock_ns ();

  if (self->until_ns == 0)
    self->until_ns = now + IRIS_TURN_NS;

  return now < self->until_ns;
}

/* A message was handled and there is another; @had_come says that no look was needed for it. */
static inline bool
iris_turn_goes_on (IrisTurn *self, bool had_come)
{
  self->n++;
  if (self->n < self->least)
    return true;
  if (!had_come || self->is_fixed)
    return false;
  if (self->until_ns != 0 && self->n % IRIS_ACTOR_BATCH_MOST != 0)
    return true;

  return iris_turn_has_time (self);
}
