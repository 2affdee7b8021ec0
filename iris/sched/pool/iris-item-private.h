/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Making, running and cancelling work items.
 */
#pragma once

#include "iris/base/memory/iris-slab-private.h"
#include "iris/sched/pool/iris-item.h"

/* In IrisItem.flags, beside IrisItemFlags: an item that was just run here and has more to do.
 * Others come first: where workers take their newest item first it goes behind all that they have.
 */
#define IRIS_ITEM_BEHIND ((guint32) 1 << 7)

static inline IrisItem *
iris_item_new (IrisCallback func, gpointer data, GDestroyNotify notify, gint place, guint flags)
{
  IrisSlab *home;
  IrisItem *self = iris_slab_alloc (IRIS_SLAB_ITEM, &home);

  self->func = func;
  self->data = data;
  self->notify = notify;
  self->home = home;
  self->place = place;
  self->flags = flags;

  return self;
}

/* Runs the item and settles it. An item that is embedded elsewhere may be gone when its function
 * returns; one that came from a slab is freed here, before its function runs, while its line is in
 * the cache and so that what the function queues can take its place. */
static inline void
iris_item_run (IrisItem *self)
{
  IrisCallback func = self->func;
  gpointer data = self->data;
  GDestroyNotify notify = self->notify;
  IrisSlab *home = self->home;

  if (home == NULL)
    {
      func (data);
      return;
    }
  iris_slab_free (IRIS_SLAB_ITEM, home, self);
  func (data);
  if (notify != NULL)
    notify (data);
}

static inline void
iris_item_cancel (IrisItem *self)
{
  gpointer data = self->data;
  GDestroyNotify notify = self->notify;

  if (self->home != NULL)
    iris_slab_free (IRIS_SLAB_ITEM, self->home, self);
  if (notify != NULL)
    notify (data);
}
