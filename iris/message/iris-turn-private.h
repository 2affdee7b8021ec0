/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long a turn of an actor, or of an exclusive receiver, may be.
 *
 * A batch that was set is kept to. Otherwise a turn is over after IRIS_ACTOR_BATCH messages, but
 * goes on with those that had come when the actor last looked, up to IRIS_ACTOR_BATCH_MOST. Several
 * that send to one each have a turn for every turn of that one. With a fixed batch, what it has
 * grows until they are done, and is handled when it has long left the caches.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define IRIS_ACTOR_BATCH_MOST 1024

typedef struct
{
  guint n; /* handled */
  guint least;
  guint most;
} IrisTurn;

/* @batch is 0 where none was set. */
static inline IrisTurn
iris_turn_begin (guint batch, guint usual)
{
  return batch != 0 ? (IrisTurn){ 0, batch, batch } : (IrisTurn){ 0, usual, IRIS_ACTOR_BATCH_MOST };
}

/* A message was handled and there is another; @had_come says that no look was needed for it. */
static inline bool
iris_turn_goes_on (IrisTurn *self, bool had_come)
{
  self->n++;

  return self->n < self->least || (had_come && self->n < self->most);
}
