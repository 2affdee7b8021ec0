/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a look at a victim ended.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

/**
 * IrisStealVerdict:
 * @IRIS_STEAL_VERDICT_TAKEN: something was taken
 * @IRIS_STEAL_VERDICT_EMPTY: there was nothing
 * @IRIS_STEAL_VERDICT_LOST: another thread was quicker
 * @IRIS_STEAL_VERDICT_BACKLOG: refused: the backlog drains sooner than even the nearest move
 * @IRIS_STEAL_VERDICT_SIZE: refused for the memory that the items declare (iris_item_set_footprint)
 * @IRIS_STEAL_VERDICT_DISTANCE: refused for the distance; from a nearer place it would be worth it
 * @IRIS_STEAL_VERDICT_APART: refused, because the thief's place has an item already that is to be
 *   kept apart from others of its kind (%IRIS_ITEM_KEEP_APART)
 *
 * How a look at a victim ended. Each is counted; see iris_counters_get_verdict().
 */
typedef enum
{
  IRIS_STEAL_VERDICT_TAKEN,
  IRIS_STEAL_VERDICT_EMPTY,
  IRIS_STEAL_VERDICT_LOST,
  IRIS_STEAL_VERDICT_BACKLOG,
  IRIS_STEAL_VERDICT_SIZE,
  IRIS_STEAL_VERDICT_DISTANCE,
  IRIS_STEAL_VERDICT_APART,
} IrisStealVerdict;

#define IRIS_TYPE_STEAL_VERDICT (iris_steal_verdict_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_steal_verdict_get_type (void);

G_END_DECLS
