/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Any of the deques behind one set of calls, so that a scheduler can be given one to choose.
 *
 * Who may call what: push, take, take_oldest, poll, offer, expose and has_private the owner alone;
 * steal, force and get_length any thread; init and clear while no other thread looks. Items are
 * pointers other than NULL. The arguments why it is safe are in the headers of the kinds.
 *
 * The kind is chosen once, so the branch on it is predicted. Chase and Lev's deque and the split
 * deque are asked for first and inlined; the others stand out of line, so that their code does not
 * crowd the registers of its callers.
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

typedef struct IrisDequeCore IrisDequeCore;

struct IrisDequeCore
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
};

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

static inline void
iris_deque_core_clear (IrisDequeCore *self)
{
  switch (self->kind)
    {
    case IRIS_DEQUE_CHASE_LEV:
      iris_wsqueue_clear (&self->chase_lev);
      break;
    case IRIS_DEQUE_SPLIT:
      iris_splitqueue_clear (&self->split);
      break;
    case IRIS_DEQUE_ABP:
      iris_abpqueue_clear (&self->abp);
      break;
    case IRIS_DEQUE_STEAL_HALF:
      iris_halfqueue_clear (&self->half);
      break;
    case IRIS_DEQUE_LOCKED:
      iris_locked_deque_clear (&self->locked);
      break;
    case IRIS_DEQUE_IDEMPOTENT:
      iris_idemqueue_clear (&self->idempotent);
      break;
    }
}

static __attribute__ ((noinline, unused)) bool
iris_deque_core_push_other (IrisDequeCore *self, void *item)
{
  switch (self->kind)
    {
    case IRIS_DEQUE_CHASE_LEV:
      return iris_wsqueue_push (&self->chase_lev, item);
    case IRIS_DEQUE_SPLIT:
      return iris_splitqueue_push (&self->split, item);
    case IRIS_DEQUE_ABP:
      return iris_abpqueue_push (&self->abp, item);
    case IRIS_DEQUE_STEAL_HALF:
      return iris_halfqueue_push (&self->half, item);
    case IRIS_DEQUE_LOCKED:
      return iris_locked_deque_push (&self->locked, item);
    case IRIS_DEQUE_IDEMPOTENT:
      return iris_idemqueue_push (&self->idempotent, item);
    }

  return false;
}

/* Owner. */
static inline bool
iris_deque_core_push (IrisDequeCore *self, void *item)
{
  if (iris_likely (self->kind == IRIS_DEQUE_CHASE_LEV))
    return iris_wsqueue_push (&self->chase_lev, item);
  if (iris_likely (self->kind == IRIS_DEQUE_SPLIT))
    return iris_splitqueue_push (&self->split, item);

  return iris_deque_core_push_other (self, item);
}

static __attribute__ ((noinline, unused)) void *
iris_deque_core_take_other (IrisDequeCore *self)
{
  switch (self->kind)
    {
    case IRIS_DEQUE_CHASE_LEV:
      return iris_wsqueue_take (&self->chase_lev);
    case IRIS_DEQUE_SPLIT:
      return iris_splitqueue_take (&self->split);
    case IRIS_DEQUE_ABP:
      return iris_abpqueue_take (&self->abp);
    case IRIS_DEQUE_STEAL_HALF:
      return iris_halfqueue_take (&self->half);
    case IRIS_DEQUE_LOCKED:
      return iris_locked_deque_take (&self->locked);
    case IRIS_DEQUE_IDEMPOTENT:
      return iris_idemqueue_take (&self->idempotent);
    }

  return NULL;
}

/* Owner. The newest item, or NULL. */
static inline void *
iris_deque_core_take (IrisDequeCore *self)
{
  if (iris_likely (self->kind == IRIS_DEQUE_CHASE_LEV))
    return iris_wsqueue_take (&self->chase_lev);
  if (iris_likely (self->kind == IRIS_DEQUE_SPLIT))
    return iris_splitqueue_take (&self->split);

  return iris_deque_core_take_other (self);
}

/* Owner. The oldest item, or NULL. */
static inline void *
iris_deque_core_take_oldest (IrisDequeCore *self)
{
  switch (self->kind)
    {
    case IRIS_DEQUE_CHASE_LEV:
      return iris_wsqueue_take_oldest (&self->chase_lev);
    case IRIS_DEQUE_SPLIT:
      return iris_splitqueue_take_oldest (&self->split);
    case IRIS_DEQUE_ABP:
      return iris_abpqueue_take_oldest (&self->abp);
    case IRIS_DEQUE_STEAL_HALF:
      return iris_halfqueue_take_oldest (&self->half);
    case IRIS_DEQUE_LOCKED:
      return iris_locked_deque_take_oldest (&self->locked);
    case IRIS_DEQUE_IDEMPOTENT:
      return iris_idemqueue_take_oldest (&self->idempotent);
    }

  return NULL;
}

/* Any thread. Up to @max items, and up to half (rounded up) of what may be stolen, into @items,
 * oldest first. @n is how many, 0 unless the result is TAKEN. Kinds that give one item for one
 * swap give one here; asking again is the caller's choice. */
static inline IrisStealResult
iris_deque_core_steal (IrisDequeCore *self, void **items, uint64_t max, uint64_t *n)
{
  IrisStealResult result = IRIS_STEAL_EMPTY;

  switch (self->kind)
    {
    case IRIS_DEQUE_CHASE_LEV:
      result = iris_wsqueue_steal (&self->chase_lev, items);
      break;
    case IRIS_DEQUE_SPLIT:
      return iris_splitqueue_steal (&self->split, items, max, n);
    case IRIS_DEQUE_ABP:
      result = iris_abpqueue_steal (&self->abp, items);
      break;
    case IRIS_DEQUE_STEAL_HALF:
      return iris_halfqueue_steal (&self->half, items, max, n);
    case IRIS_DEQUE_LOCKED:
      return iris_locked_deque_steal (&self->locked, items, max, n);
    case IRIS_DEQUE_IDEMPOTENT:
      return iris_idemqueue_steal (&self->idempotent, items, max, n);
    }
  *n = result == IRIS_STEAL_TAKEN;

  return result;
}

/* Any thread. How many items there are; already wrong when it returns. */
static inline uint64_t
iris_deque_core_get_length (IrisDequeCore *self)
{
  switch (self->kind)
    {
    case IRIS_DEQUE_CHASE_LEV:
      return (uint64_t) iris_wsqueue_get_length (&self->chase_lev);
    case IRIS_DEQUE_SPLIT:
      return iris_splitqueue_get_length (&self->split);
    case IRIS_DEQUE_ABP:
      return iris_abpqueue_get_length (&self->abp);
    case IRIS_DEQUE_STEAL_HALF:
      return iris_halfqueue_get_length (&self->half);
    case IRIS_DEQUE_LOCKED:
      return iris_locked_deque_get_length (&self->locked);
    case IRIS_DEQUE_IDEMPOTENT:
      return iris_idemqueue_get_length (&self->idempotent);
    }

  return 0;
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

/* Whether one steal may give several items. */
static inline bool
iris_deque_kind_steals_many (IrisDequeKind kind)
{
  return kind != IRIS_DEQUE_CHASE_LEV && kind != IRIS_DEQUE_ABP;
}
