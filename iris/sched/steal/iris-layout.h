/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the items of work-stealing places wait.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

/**
 * IrisDeal:
 * @IRIS_DEAL_OWN: an item without a hint stays with the worker that queues it
 * @IRIS_DEAL_ROUND_ROBIN: an item without a hint goes to the places in turn
 *
 * Where an item goes that has no place hint and is queued by a worker of the scheduler. Items from
 * outside are always dealt in turn.
 */
typedef enum
{
  IRIS_DEAL_OWN,
  IRIS_DEAL_ROUND_ROBIN,
} IrisDeal;

/**
 * IrisLayout:
 * @IRIS_LAYOUT_WORKERS: a deque for each worker, an inbox for each place; an item with a hint waits
 *   in the inbox of that place
 * @IRIS_LAYOUT_AFFINITY: as above, but an item with a hint that a worker of another place queues
 *   waits twice, on that worker's deque and in the affinity queue of the place it has affinity
 *   for, and runs at the one that comes to it first
 * @IRIS_LAYOUT_SHARED: one deque for all workers of a place, under a lock, as LASSI had it; the
 *   baseline
 * @IRIS_LAYOUT_MAILBOXES: as %IRIS_LAYOUT_AFFINITY, with a mailbox for each worker instead of an
 *   affinity queue for each place
 *
 * Where the items of work-stealing places wait.
 */
typedef enum
{
  IRIS_LAYOUT_WORKERS,
  IRIS_LAYOUT_AFFINITY,
  IRIS_LAYOUT_SHARED,
  IRIS_LAYOUT_MAILBOXES,
} IrisLayout;

#define IRIS_TYPE_LAYOUT (iris_layout_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_layout_get_type (void);

#define IRIS_TYPE_DEAL (iris_deal_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_deal_get_type (void);

G_END_DECLS
