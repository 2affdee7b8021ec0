/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steal policy: from whom an idle worker takes, how much, and when it leaves it.
 */
#pragma once

#include <iris/sched/stats/iris-steal-verdict.h>
#include <glib-object.h>

G_BEGIN_DECLS

/**
 * IrisStealOrder:
 * @IRIS_STEAL_ORDER_DISTANCE: the nearest places first, from a random one on among equally near
 * @IRIS_STEAL_ORDER_RANDOM: all other places alike, from a random one on
 *
 * The order in which a worker looks at other places. Its siblings of the same place always come
 * before that, from a random one on.
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
 */
typedef enum
{
  IRIS_STEAL_REFUSAL_COSTLY,
  IRIS_STEAL_REFUSAL_NOTHING,
} IrisStealRefusal;

/**
 * IRIS_STEAL_DEFAULT_CAP:
 *
 * Most items of one steal, by default: enough to pay for it, few enough not to keep the victim's
 * oldest items away from other thieves.
 */
#define IRIS_STEAL_DEFAULT_CAP 64

/**
 * IRIS_STEAL_DEFAULT_MOVE_COST:
 *
 * What a steal costs by default, in nanoseconds for each unit of distance.
 */
#define IRIS_STEAL_DEFAULT_MOVE_COST 200

/**
 * IRIS_STEAL_DEFAULT_BANDWIDTH:
 *
 * How fast a worker reads memory that is near, by default, in bytes a microsecond.
 */
#define IRIS_STEAL_DEFAULT_BANDWIDTH 10000

/**
 * IRIS_STEAL_DEFAULT_MAX_DELAY:
 *
 * For how long a place is refused at most, by default, in microseconds.
 */
#define IRIS_STEAL_DEFAULT_MAX_DELAY 100000

/**
 * IRIS_STEAL_POLICY_ERROR:
 *
 * The error domain of iris_steal_policy_parse().
 */
#define IRIS_STEAL_POLICY_ERROR (iris_steal_policy_error_quark ())

/**
 * IrisStealPolicyError:
 * @IRIS_STEAL_POLICY_ERROR_UNKNOWN: a word names nothing that a policy has
 * @IRIS_STEAL_POLICY_ERROR_VALUE: a value is no number, or out of range
 *
 * Error codes of %IRIS_STEAL_POLICY_ERROR.
 */
typedef enum
{
  IRIS_STEAL_POLICY_ERROR_UNKNOWN,
  IRIS_STEAL_POLICY_ERROR_VALUE,
} IrisStealPolicyError;

#define IRIS_TYPE_STEAL_ORDER (iris_steal_order_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_steal_order_get_type (void);

#define IRIS_TYPE_STEAL_AMOUNT (iris_steal_amount_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_steal_amount_get_type (void);

#define IRIS_TYPE_STEAL_REFUSAL (iris_steal_refusal_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_steal_refusal_get_type (void);

#define IRIS_TYPE_STEAL_POLICY (iris_steal_policy_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisStealPolicy, iris_steal_policy, IRIS, STEAL_POLICY, GObject)

#define IRIS_TYPE_STEAL_POLICY_ERROR (iris_steal_policy_error_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_steal_policy_error_get_type (void);
IRIS_AVAILABLE_IN_ALL GQuark iris_steal_policy_error_quark (void);
IRIS_AVAILABLE_IN_ALL IrisStealPolicy *
iris_steal_policy_new (IrisStealOrder order, IrisStealAmount amount, guint cap);
IRIS_AVAILABLE_IN_ALL IrisStealPolicy *iris_steal_policy_parse (const char *words, GError **error);

G_END_DECLS
