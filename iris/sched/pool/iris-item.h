/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work item: what a scheduler queues and a worker runs.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * IRIS_PLACE_ANY:
 *
 * The place hint of an item that has none.
 */
#define IRIS_PLACE_ANY (-1)

/**
 * IrisCallback:
 * @data: (closure): what was queued with the function
 *
 * The work of an item. It runs once, on one worker of the scheduler.
 */
typedef void (*IrisCallback) (gpointer data);

/**
 * IrisItemFlags:
 * @IRIS_ITEM_NONE: an ordinary item; its place is a preference
 * @IRIS_ITEM_STRICT: the item runs at its place or not at all
 * @IRIS_ITEM_KEEP_APART: the item shares nothing with others of this kind, and its declared
 *   footprint (iris_item_set_footprint()) would drive theirs from the cache. If it names no place
 *   and its footprint is larger than a worker's share of a place's cache, it goes to the place with
 *   the least declared footprint in flight; and an idle place that has such an item in flight
 *   leaves that of another place alone for as long as it may (see #IrisStealPolicy)
 *
 * What a scheduler may do with an item.
 */
typedef enum
{
  IRIS_ITEM_NONE = 0,
  IRIS_ITEM_STRICT = 1 << 0,
  IRIS_ITEM_KEEP_APART = 1 << 1,
} IrisItemFlags;

typedef struct _IrisItem IrisItem;

/**
 * IrisItem:
 *
 * A work item, one cache line. Either the scheduler made it (iris_scheduler_queue()), or it is
 * embedded in a larger structure and was prepared by iris_item_init().
 *
 * An item that the scheduler made runs @func and then @notify; a cancelled one runs @notify alone.
 * An embedded item belongs to the code that embeds it: exactly one of @func and @notify is
 * called, with
 * @data, and from that call on the scheduler does not touch the item, so either may free it.
 */
struct _IrisItem
{
  /*< private >*/
  IrisCallback func;
  gpointer data;
  GDestroyNotify notify;
  IrisItem *next;   /* link of whichever list holds the item */
  gpointer home;    /* slab of an item that the scheduler made; NULL: embedded */
  gint32 place;     /* hint, or IRIS_PLACE_ANY */
  guint32 flags;    /* IrisItemFlags; the upper bits are the schedulers' */
  gint64 queued_ns; /* when it was queued, for the sampled ones; otherwise 0 */
  gpointer context; /* for the code that embeds the item */
};

#ifndef __GI_SCANNER__
G_STATIC_ASSERT (sizeof (IrisItem) == 64);
#endif

IRIS_AVAILABLE_IN_ALL void
iris_item_init (IrisItem *item, IrisCallback func, gpointer data, GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_item_set_place (IrisItem *item, gint place, IrisItemFlags flags);
IRIS_AVAILABLE_IN_ALL void iris_item_set_footprint (IrisItem *item, guint64 bytes);
IRIS_AVAILABLE_IN_ALL guint64 iris_item_get_footprint (const IrisItem *item);
IRIS_AVAILABLE_IN_ALL void iris_item_settle (IrisItem *item, gboolean run);

G_END_DECLS
