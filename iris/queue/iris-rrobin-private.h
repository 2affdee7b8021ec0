/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The round-robin ring's core: members that are offered something in turn.
 *
 * Who may call what: append, remove, enter, next and leave any thread, also one that is inside;
 * init and clear while no other thread looks.
 *
 * How it works: the members are in an array that never changes. append and remove make another,
 * under a lock, and publish it. A reader enters, which gives it the array of that moment; what it
 * goes through is that array, whatever others do meanwhile: no thread is left out or met twice.
 * After remove has returned, only readers that entered before can still meet the member.
 *
 * Which member's turn it is: the turns are counted by one unsigned counter; a turn is the counter
 * modulo the number of members of the array that is read. When the counter wraps (after 2^64
 * turns) the order jumps once.
 *
 * Why no array is freed while it is read: enter counts itself in (n_inside + 1), then loads the
 * array. A writer publishes the new array, then looks whether any thread is inside. These four are
 * sequentially consistent, so either the writer sees the reader, or the reader sees the new array
 * (Dekker). An old array is retired when the new one was published, and freed by a thread that
 * holds the lock and sees no thread inside: the thread that enters later finds none of those
 * retired.
 *
 * Who frees: append and remove after each change, and a reader that leaves last and sees something
 * retired. Both may find a newcomer inside and leave it to the next; so old arrays wait for a
 * moment at which no thread is inside, at the latest for clear.
 *
 * Orders: leaving is a release, and the thread that frees acquires the count: what was read is
 * read.
 *
 * Source: copy on write with deferred reclamation, after read-copy update (P. McKenney,
 * J. Slingwine, PDCS 1998), with one counter in place of grace periods.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct IrisRRobinArray IrisRRobinArray;

struct IrisRRobinArray
{
  IrisRRobinArray *older; /* in the list of the retired */
  size_t n;
  void *members[];
};

typedef struct
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t turn;
  _Atomic uint32_t n_inside;
  alignas (IRIS_CACHE_PAIR) _Atomic (IrisRRobinArray *) array; /* NULL: no members */
  _Atomic (IrisRRobinArray *) retired;                         /* changed under the lock */
  pthread_mutex_t lock;
} IrisRRobinCore;

/* @turn is 0 but in tests that cross its limit. */
static inline void
iris_rrobin_core_init (IrisRRobinCore *self, uint64_t turn)
{
  atomic_init (&self->turn, turn);
  atomic_init (&self->n_inside, 0);
  atomic_init (&self->array, NULL);
  atomic_init (&self->retired, NULL);
  pthread_mutex_init (&self->lock, NULL);
}

/* Under the lock. */
static inline void
iris_rrobin_core_free_retired (IrisRRobinCore *self)
{
  IrisRRobinArray *array = atomic_load_explicit (&self->retired, memory_order_relaxed);

  atomic_store_explicit (&self->retired, NULL, memory_order_relaxed);
  while (array != NULL)
    {
      IrisRRobinArray *older = array->older;

      free (array);
      array = older;
    }
}

static inline void
iris_rrobin_core_clear (IrisRRobinCore *self)
{
  iris_rrobin_core_free_retired (self);
  free (atomic_load_explicit (&self->array, memory_order_relaxed));
  pthread_mutex_destroy (&self->lock);
}

/* The members of this moment, NULL when there are none; valid until iris_rrobin_core_leave(). */
static inline const IrisRRobinArray *
iris_rrobin_core_enter (IrisRRobinCore *self)
{
  atomic_fetch_add_explicit (&self->n_inside, 1, memory_order_seq_cst);

  return atomic_load_explicit (&self->array, memory_order_seq_cst);
}

static inline void
iris_rrobin_core_leave (IrisRRobinCore *self)
{
  if (atomic_fetch_sub_explicit (&self->n_inside, 1, memory_order_seq_cst) != 1
      || iris_likely (atomic_load_explicit (&self->retired, memory_order_relaxed) == NULL))
    return;

  pthread_mutex_lock (&self->lock);
  if (atomic_load_explicit (&self->n_inside, memory_order_seq_cst) == 0)
    iris_rrobin_core_free_retired (self);
  pthread_mutex_unlock (&self->lock);
}

/* The place in @array of the member whose turn it is. */
static inline size_t
iris_rrobin_core_next (IrisRRobinCore *self, const IrisRRobinArray *array)
{
  return (size_t) (atomic_fetch_add_explicit (&self->turn, 1, memory_order_relaxed) % array->n);
}

/* Under the lock. */
static inline void
iris_rrobin_core_replace (IrisRRobinCore *self, IrisRRobinArray *old, IrisRRobinArray *array)
{
  atomic_store_explicit (&self->array, array, memory_order_seq_cst);
  if (old != NULL)
    {
      old->older = atomic_load_explicit (&self->retired, memory_order_relaxed);
      atomic_store_explicit (&self->retired, old, memory_order_relaxed);
    }
  if (atomic_load_explicit (&self->n_inside, memory_order_seq_cst) == 0)
    iris_rrobin_core_free_retired (self);
}

static inline IrisRRobinArray *
iris_rrobin_array_new (size_t n)
{
  IrisRRobinArray *self = NULL;

  if (n <= (SIZE_MAX - sizeof *self) / sizeof self->members[0])
    self = malloc (sizeof *self + n * sizeof self->members[0]);
  if (self != NULL)
    self->n = n;

  return self;
}

/* False, and nothing changed, when there would be more than @max members, or is no memory. */
static inline bool
iris_rrobin_core_append (IrisRRobinCore *self, void *member, size_t max)
{
  IrisRRobinArray *old, *array = NULL;
  size_t n;

  pthread_mutex_lock (&self->lock);
  old = atomic_load_explicit (&self->array, memory_order_relaxed);
  n = old != NULL ? old->n : 0;
  if (n < max)
    array = iris_rrobin_array_new (n + 1);
  if (array != NULL)
    {
      for (size_t i = 0; i < n; i++)
        array->members[i] = old->members[i];
      array->members[n] = member;
      iris_rrobin_core_replace (self, old, array);
    }
  pthread_mutex_unlock (&self->lock);

  return array != NULL;
}

/* Under the lock. */
static inline bool
iris_rrobin_core_remove_at (IrisRRobinCore *self, IrisRRobinArray *old, size_t at)
{
  IrisRRobinArray *array = NULL;

  if (old->n > 1)
    {
      array = iris_rrobin_array_new (old->n - 1);
      if (array == NULL)
        return false;
      for (size_t i = 0; i < array->n; i++)
        array->members[i] = old->members[i < at ? i : i + 1];
    }
  iris_rrobin_core_replace (self, old, array);

  return true;
}

typedef enum
{
  IRIS_RROBIN_REMOVED,
  IRIS_RROBIN_NOT_FOUND,
  IRIS_RROBIN_NO_MEMORY,
} IrisRRobinRemove;

/* Takes out the first occurrence of @member. */
static inline IrisRRobinRemove
iris_rrobin_core_remove (IrisRRobinCore *self, const void *member)
{
  IrisRRobinRemove result = IRIS_RROBIN_NOT_FOUND;
  IrisRRobinArray *array;

  pthread_mutex_lock (&self->lock);
  array = atomic_load_explicit (&self->array, memory_order_relaxed);
  for (size_t i = 0; array != NULL && i < array->n; i++)
    if (array->members[i] == member)
      {
        result = iris_rrobin_core_remove_at (self, array, i) ? IRIS_RROBIN_REMOVED
                                                             : IRIS_RROBIN_NO_MEMORY;
        break;
      }
  pthread_mutex_unlock (&self->lock);

  return result;
}
