/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moving a thread that sleeps. How and when: iris-lock-migration-private.h.
 */
#include "iris/task/lock/iris-lock-migration-private.h"

#include <string.h>
#include <unistd.h>

/* By processor: the process in which a thread is on its way there. */
static _Atomic pid_t arriving[CPU_SETSIZE];

/* What this thread's affinity was when it was looked at last. */
static __thread struct
{
  cpu_set_t own;
  bool is_all; /* that may be used */
} known;

void
iris_lock_migration_init (IrisLockMigration *self)
{
  /* Not kept: a child's only thread has another id than its copy in the parent. */
  self->thread = gettid ();
  self->is_moved = false;
}

static bool
claim_processor (int processor)
{
  pid_t seen = atomic_load_explicit (&arriving[processor], memory_order_relaxed), mine = getpid ();

  /* Relaxed: it counts to one, and guards nothing. */
  return seen != mine
         && atomic_compare_exchange_strong_explicit (&arriving[processor], &seen, mine,
                                                     memory_order_relaxed, memory_order_relaxed);
}

static void
leave_processor (int processor)
{
  atomic_store_explicit (&arriving[processor], 0, memory_order_relaxed);
}

bool
iris_lock_migration_begin (IrisLockMigration *self)
{
  int processor = sched_getcpu ();
  cpu_set_t there;

  if (processor < 0 || processor >= CPU_SETSIZE || !claim_processor (processor))
    return false;

  CPU_ZERO (&there);
  CPU_SET (processor, &there);
  self->processor = processor;
  if (sched_getaffinity (self->thread, sizeof self->own, &self->own) != 0
      || !CPU_ISSET (processor, &self->own) || CPU_EQUAL (&there, &self->own)
      || sched_setaffinity (self->thread, sizeof there, &there) != 0)
    {
      leave_processor (processor);
      return false;
    }
  self->is_moved = true;

  return true;
}

/* The caller may use all processors that there are. */
static bool
widen (cpu_set_t *is)
{
  cpu_set_t all;

  memset (&all, 0xff, sizeof all);

  return sched_setaffinity (0, sizeof all, &all) == 0 && sched_getaffinity (0, sizeof *is, is) == 0;
}

static void
give_back (const cpu_set_t *own)
{
  cpu_set_t all;

  if (CPU_EQUAL (&known.own, own))
    {
      memset (&all, 0xff, sizeof all);
      sched_setaffinity (0, sizeof all, known.is_all ? &all : own);
      return;
    }
  known.is_all = widen (&all) && CPU_EQUAL (&all, own);
  known.own = *own;
  if (!known.is_all)
    sched_setaffinity (0, sizeof *own, own);
}

/* The affinity @is neither narrowed nor the thread's own: by the program, or by the kernel? */
static void
keep_or_give_back (const IrisLockMigration *self, const cpu_set_t *is)
{
  cpu_set_t all;

  if (widen (&all) && !CPU_ISSET (self->processor, &all))
    give_back (&self->own);
  else
    sched_setaffinity (0, sizeof *is, is);
}

void
iris_lock_migration_end (IrisLockMigration *self)
{
  cpu_set_t there, is;

  if (!self->is_moved)
    return;
  leave_processor (self->processor);
  CPU_ZERO (&there);
  CPU_SET (self->processor, &there);
  if (sched_getaffinity (0, sizeof is, &is) != 0 || CPU_EQUAL (&is, &there)
      || CPU_EQUAL (&is, &self->own))
    give_back (&self->own);
  else
    keep_or_give_back (self, &is);
  self->is_moved = false;
}
