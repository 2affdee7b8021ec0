/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a steal policy comes down to for the workers: a plain copy, made with the scheduler.
 */
#pragma once

#include "iris/sched/steal/iris-steal-policy.h"

typedef struct
{
  IrisStealOrder order;
  IrisStealAmount amount;
  guint cap;
  gboolean refuses;
  guint64 move_ns;      /* for each unit of distance */
  guint64 bandwidth;    /* bytes a microsecond */
  guint64 max_delay_ns; /* of a refusal */
} IrisStealRules;

#define IRIS_STEAL_RULES_DEFAULT                                                             \
  {                                                                                          \
    .order = IRIS_STEAL_ORDER_DISTANCE, .amount = IRIS_STEAL_AMOUNT_CAPPED,                  \
    .cap = IRIS_STEAL_DEFAULT_CAP, .refuses = TRUE, .move_ns = IRIS_STEAL_DEFAULT_MOVE_COST, \
    .bandwidth = IRIS_STEAL_DEFAULT_BANDWIDTH,                                               \
    .max_delay_ns = IRIS_STEAL_DEFAULT_MAX_DELAY * (guint64) 1000,                           \
  }

void iris_steal_policy_get_rules (IrisStealPolicy *self, IrisStealRules *rules);

/* How many items a thief may be given by one steal, of which a deque gives half of what it has, if
 * @batch is all that it has room for. */
static inline guint64
iris_steal_rules_most (const IrisStealRules *self, guint64 batch)
{
  if (self->amount == IRIS_STEAL_AMOUNT_ONE)
    return 1;

  return self->amount == IRIS_STEAL_AMOUNT_HALF ? batch : MIN (batch, self->cap);
}

/* How many items a thief wants of a deque with @length. Half is rounded up, because a single item
 * is worth a steal too. */
static inline guint64
iris_steal_rules_wants (const IrisStealRules *self, guint64 length)
{
  guint64 half = (length + 1) / 2;

  if (self->amount == IRIS_STEAL_AMOUNT_ONE)
    return 1;

  return self->amount == IRIS_STEAL_AMOUNT_HALF ? half : MIN (half, self->cap);
}
