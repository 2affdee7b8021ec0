/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steal policy: from whom an idle worker takes, how much, and when it leaves it.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

/**
 * IrisStealOrder:
 * @IRIS_STEAL_ORDER_DISTANCE: the nearest places first, from a random one on among equally near
 * @IRIS_STEAL_ORDER_RANDOM: all other places alike, from a random one on
 *
 * The order in which a worker looks at other places. Its siblings of the same place always come
 * before that, from a random one on.
 *
 * Since: 0.1
 */
typedef enum
{
  IRIS_STEAL_ORDER_DISTANCE,
  IRIS_STEAL_ORDER_RANDOM,
} IrisStealOrder;

/**
 * IrisStealAmount:
 * @IRIS_STEAL_AMOUNT_CAPPED: half of what the victim has, at most a cap
 * @IRIS_STEAL_AMOUNT_HALF: half of what the victim has
 * @IRIS_STEAL_AMOUNT_ONE: one item
 *
 * How many items one steal takes from a worker's deque; from the inbox of a place it is always one.
 *
 * Half is from D. Hendler and N. Shavit, "Non-Blocking Steal-Half Work Queues" (PODC 2002): the
 * load of two workers evens out in one steal. The cap keeps a thief from laying hold of more than
 * pays for the steal.
 *
 * Since: 0.1
 */
typedef enum
{
  IRIS_STEAL_AMOUNT_CAPPED,
  IRIS_STEAL_AMOUNT_HALF,
  IRIS_STEAL_AMOUNT_ONE,
} IrisStealAmount;

/**
 * IrisStealRefusal:
 * @IRIS_STEAL_REFUSAL_COSTLY: a place is left alone as long as its backlog is expected to drain
 *   sooner than a move costs
 * @IRIS_STEAL_REFUSAL_NOTHING: whatever is found is taken
 *
 * What an idle worker refuses to take from another place.
 *
 * Since: 0.1
 */
typedef enum
{
  IRIS_STEAL_REFUSAL_COSTLY,
  IRIS_STEAL_REFUSAL_NOTHING,
} IrisStealRefusal;

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
 *
 * Since: 0.1
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

/**
 * IRIS_STEAL_DEFAULT_CAP:
 *
 * Most items of one steal, by default: enough to pay for it, few enough not to keep the victim's
 * oldest items away from other thieves.
 *
 * Since: 0.1
 */
#define IRIS_STEAL_DEFAULT_CAP 64

/**
 * IRIS_STEAL_DEFAULT_MOVE_COST:
 *
 * What a steal costs by default, in nanoseconds for each unit of distance.
 *
 * Since: 0.1
 */
#define IRIS_STEAL_DEFAULT_MOVE_COST 200

/**
 * IRIS_STEAL_DEFAULT_BANDWIDTH:
 *
 * How fast a worker reads memory that is near, by default, in bytes a microsecond.
 *
 * Since: 0.1
 */
#define IRIS_STEAL_DEFAULT_BANDWIDTH 10000

/**
 * IRIS_STEAL_DEFAULT_MAX_DELAY:
 *
 * For how long a place is refused at most, by default, in microseconds.
 *
 * Since: 0.1
 */
#define IRIS_STEAL_DEFAULT_MAX_DELAY 100000

/**
 * IRIS_STEAL_POLICY_ERROR:
 *
 * The error domain of iris_steal_policy_parse().
 *
 * Since: 0.1
 */
#define IRIS_STEAL_POLICY_ERROR (iris_steal_policy_error_quark ())

/**
 * IrisStealPolicyError:
 * @IRIS_STEAL_POLICY_ERROR_UNKNOWN: a word names nothing that a policy has
 * @IRIS_STEAL_POLICY_ERROR_VALUE: a value is no number, or out of range
 *
 * Error codes of %IRIS_STEAL_POLICY_ERROR.
 *
 * Since: 0.1
 */
typedef enum
{
  IRIS_STEAL_POLICY_ERROR_UNKNOWN,
  IRIS_STEAL_POLICY_ERROR_VALUE,
} IrisStealPolicyError;

#define IRIS_TYPE_STEAL_ORDER (iris_steal_order_get_type ())
IRIS_AVAILABLE_IN_ALL
GType iris_steal_order_get_type (void);

#define IRIS_TYPE_STEAL_AMOUNT (iris_steal_amount_get_type ())
IRIS_AVAILABLE_IN_ALL
GType iris_steal_amount_get_type (void);

#define IRIS_TYPE_STEAL_REFUSAL (iris_steal_refusal_get_type ())
IRIS_AVAILABLE_IN_ALL
GType iris_steal_refusal_get_type (void);

#define IRIS_TYPE_STEAL_VERDICT (iris_steal_verdict_get_type ())
IRIS_AVAILABLE_IN_ALL
GType iris_steal_verdict_get_type (void);

#define IRIS_TYPE_STEAL_POLICY (iris_steal_policy_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisStealPolicy, iris_steal_policy, IRIS, STEAL_POLICY, GObject)

#define IRIS_TYPE_STEAL_POLICY_ERROR (iris_steal_policy_error_get_type ())
IRIS_AVAILABLE_IN_ALL
GType iris_steal_policy_error_get_type (void);
IRIS_AVAILABLE_IN_ALL
GQuark iris_steal_policy_error_quark (void);
IRIS_AVAILABLE_IN_ALL
IrisStealPolicy *iris_steal_policy_new (IrisStealOrder order, IrisStealAmount amount, guint cap);
IRIS_AVAILABLE_IN_ALL
IrisStealPolicy *iris_steal_policy_parse (const char *words, GError **error);

G_END_DECLS
