/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Any of the deques behind one set of calls, for the public face and for comparisons. A scheduler
 * that is not compared calls its deque directly.
 *
 * Who may call what: push, take, take_oldest, poll, offer, expose and has_private the owner alone;
 * steal, force and get_length any thread; init and clear while no other thread looks. Items are
 * pointers other than NULL. The arguments why it is safe are in the headers of the kinds.
 *
 * The kind is chosen once, so the branch on it is predicted.
 *
 * Only the split deque has a private part. For the others everything is public at once, and
 * exposing and forcing do nothing.
 *
 * push says no when a bounded kind is full or a growing one gets no memory; the caller then puts
 * the item elsewhere.
 */
#pragma once

#include "iris/queue/compare/iris-abpqueue-private.h"
#include "iris/queue/iris-deque-kind.h"
#include "iris/queue/compare/iris-halfqueue-private.h"
#include "iris/queue/compare/iris-idemqueue-private.h"
#include "iris/queue/compare/iris-locked-deque-private.h"
#include "iris/queue/deque/iris-splitqueue-private.h"
#include "iris/queue/deque/iris-wsqueue-private.h"

typedef struct
{
  union
  {
    IrisWSQueue chase_lev;
    IrisSplitQueue split;
    IrisABPQueue abp;
    IrisHalfQueue half;
    IrisLockedDeque locked;
    IrisIdemQueue idempotent;
  };
  IrisDequeKind kind;
} IrisDequeCore;

/* Whether push may say no although there is memory. */
static inline bool
iris_deque_kind_is_bounded (IrisDequeKind kind)
{
  return kind == IRIS_DEQUE_ABP || kind == IRIS_DEQUE_IDEMPOTENT;
}

/* Whether an item may be given out more than once. */
static inline bool
iris_deque_kind_may_repeat (IrisDequeKind kind)
{
  return kind == IRIS_DEQUE_IDEMPOTENT;
}

/* @capacity is where a growing kind starts and where a bounded one ends. @pool is for the arrays
 * of the growing kinds, or NULL. @start is the first position or stamp, which is 0 but in tests
 * that cross limits. False as for the kinds. */
static inline bool
iris_deque_core_init_full (IrisDequeCore *self,
                           IrisDequeKind kind,
                           IrisArrayPool *pool,
                           uint64_t capacity,
                           uint64_t start)
{
  self->kind = kind;
  switch (kind)
    {
    case IRIS_DEQUE_CHASE_LEV:
      return iris_wsqueue_init_full (&self->chase_lev, pool, capacity, start);
    case IRIS_DEQUE_SPLIT:
      return iris_splitqueue_init_full (&self->split, pool, capacity, start);
    case IRIS_DEQUE_ABP:
      return iris_abpqueue_init_full (&self->abp, capacity, start);
    case IRIS_DEQUE_STEAL_HALF:
      return iris_halfqueue_init_full (&self->half, pool, capacity, start);
    case IRIS_DEQUE_LOCKED:
      return iris_locked_deque_init_full (&self->locked, pool, capacity, start);
    case IRIS_DEQUE_IDEMPOTENT:
      return iris_idemqueue_init_full (&self->idempotent, capacity, start);
    }

  return false;
}

/* With the capacity that fits the kind. */
static inline bool
iris_deque_core_init (IrisDequeCore *self, IrisDequeKind kind, IrisArrayPool *pool)
{
  static const uint64_t capacities[] = {
    [IRIS_DEQUE_CHASE_LEV] = IRIS_WSQUEUE_MIN_CAPACITY,
    [IRIS_DEQUE_SPLIT] = IRIS_SPLITQUEUE_MIN_CAPACITY,
    [IRIS_DEQUE_ABP] = IRIS_ABPQUEUE_DEFAULT_CAPACITY,
    [IRIS_DEQUE_STEAL_HALF] = IRIS_HALFQUEUE_MIN_CAPACITY,
    [IRIS_DEQUE_LOCKED] = IRIS_LOCKED_DEQUE_MIN_CAPACITY,
    [IRIS_DEQUE_IDEMPOTENT] = IRIS_IDEMQUEUE_DEFAULT_CAPACITY,
  };

  return iris_deque_core_init_full (self, kind, pool, capacities[kind], 0);
}

/* Calls the function of the kind and returns what it returns. */
#define IRIS_DEQUE_CALL(function, ...)                                     \
  if (iris_likely (self->kind == IRIS_DEQUE_CHASE_LEV))                    \
    return iris_wsqueue_##function (&self->chase_lev, ##__VA_ARGS__);      \
  if (iris_likely (self->kind == IRIS_DEQUE_SPLIT))                        \
    return iris_splitqueue_##function (&self->split, ##__VA_ARGS__);       \
  switch ((int) self->kind)                                                \
    {                                                                      \
    case IRIS_DEQUE_ABP:                                                   \
      return iris_abpqueue_##function (&self->abp, ##__VA_ARGS__);         \
    case IRIS_DEQUE_STEAL_HALF:                                            \
      return iris_halfqueue_##function (&self->half, ##__VA_ARGS__);       \
    case IRIS_DEQUE_LOCKED:                                                \
      return iris_locked_deque_##function (&self->locked, ##__VA_ARGS__);  \
    default:                                                               \
      return iris_idemqueue_##function (&self->idempotent, ##__VA_ARGS__); \
    }

static inline void
iris_deque_core_clear (IrisDequeCore *self)
{
  IRIS_DEQUE_CALL (clear)
}

/* Owner. */
static inline bool
iris_deque_core_push (IrisDequeCore *self, void *item)
{
  IRIS_DEQUE_CALL (push, item)
}

/* Owner. The newest item, or NULL. */
static inline void *
iris_deque_core_take (IrisDequeCore *self)
{
  IRIS_DEQUE_CALL (take)
}

/* Owner. The oldest item, or NULL. */
static inline void *
iris_deque_core_take_oldest (IrisDequeCore *self)
{
  IRIS_DEQUE_CALL (take_oldest)
}

/* Any thread. How many items there are; already wrong when it returns. */
static inline uint64_t
iris_deque_core_get_length (IrisDequeCore *self)
{
  IRIS_DEQUE_CALL (get_length)
}

/* Whether one steal may give several items. */
static inline bool
iris_deque_kind_steals_many (IrisDequeKind kind)
{
  return kind != IRIS_DEQUE_CHASE_LEV && kind != IRIS_DEQUE_ABP;
}

/* Any thread. Up to @max items, and up to half (rounded up) of what may be stolen, into @items,
 * oldest first. @n is how many, 0 unless the result is TAKEN. Kinds that give one item for one
 * swap give one here; asking again is the caller's choice. */
static inline IrisStealResult
iris_deque_core_steal (IrisDequeCore *self, void **items, uint64_t max, uint64_t *n)
{
  IrisStealResult result;

  switch ((int) self->kind)
    {
    case IRIS_DEQUE_SPLIT:
      return iris_splitqueue_steal (&self->split, items, max, n);
    case IRIS_DEQUE_STEAL_HALF:
      return iris_halfqueue_steal (&self->half, items, max, n);
    case IRIS_DEQUE_LOCKED:
      return iris_locked_deque_steal (&self->locked, items, max, n);
    case IRIS_DEQUE_IDEMPOTENT:
      return iris_idemqueue_steal (&self->idempotent, items, max, n);
    case IRIS_DEQUE_ABP:
      result = iris_abpqueue_steal (&self->abp, items);
      break;
    default:
      result = iris_wsqueue_steal (&self->chase_lev, items);
    }
  *n = result == IRIS_STEAL_TAKEN;

  return result;
}

/* Any thread. How many of them may be stolen now. */
static inline uint64_t
iris_deque_core_get_public_length (IrisDequeCore *self)
{
  return self->kind == IRIS_DEQUE_SPLIT ? iris_splitqueue_get_public_length (&self->split)
                                        : iris_deque_core_get_length (self);
}

/* Owner. Exposes up to @n items, says how many. */
static inline uint64_t
iris_deque_core_expose (IrisDequeCore *self, uint64_t n)
{
  return self->kind == IRIS_DEQUE_SPLIT ? iris_splitqueue_expose (&self->split, n) : 0;
}

/* Owner. Exposes half of the private items if none is public, says how many. */
static inline uint64_t
iris_deque_core_offer (IrisDequeCore *self)
{
  return self->kind == IRIS_DEQUE_SPLIT ? iris_splitqueue_offer (&self->split) : 0;
}

/* Any thread that met IRIS_STEAL_PRIVATE again and again. Exposes half of what is private without
 * the owner, at the price of a heavy fence; whether something is public now by its doing. */
static inline bool
iris_deque_core_force (IrisDequeCore *self)
{
  return self->kind == IRIS_DEQUE_SPLIT && iris_splitqueue_force (&self->split);
}
