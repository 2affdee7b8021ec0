/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A thread that sleeps, moved to the processor of the thread that wakes it.
 *
 * Who may call what: init and end the thread that is moved; begin a thread that knows that the
 * other stays where it waits until the call is over, so that its id is its own. begin and end are
 * never called at the same time.
 *
 * How it works: begin notes the affinity of the thread and narrows it to the caller's processor, so
 * that the kernel wakes it there. end, the first thing that the thread does when it runs, gives it
 * back. Nothing of the program's runs in between: what the program sees, and what its new threads
 * and processes inherit, is the affinity that the program set.
 *
 * Load balancing comes first: at most one thread is on its way to a processor, by a word for each
 * processor that says so from begin to end. Further ones are woken where the kernel wants them. The
 * word holds the process: threads that were on their way while it forked are not in the child.
 *
 * What is given back
 * ------------------
 * The kernel says which processors a thread may use, not what was asked for: not those that are
 * offline, or outside of the cgroup's cpuset. So a thread that may use all that there are is given
 * all that there could be; it keeps pace with a cpuset that grows and a processor that comes. That
 * takes a look when a thread's affinity is met for the first time. Others are given back exactly
 * what was read. An affinity that was changed while the thread was on its way is left alone, unless
 * the change was the kernel's, which makes one up when the processor goes offline or out of the
 * cpuset. A change by another thread within the microsecond between reading and setting is lost:
 * the kernel has no call that does both.
 *
 * A thread whose affinity does not have the processor is not moved, nor one of which the affinity
 * cannot be read or set (more than CPU_SETSIZE processors, a filter of system calls, a deadline
 * thread): it is woken as ever. From begin to end the kernel cannot move it elsewhere: it waits for
 * that processor as long as its scheduler lets it wait. begin costs the waker about a microsecond,
 * end the thread another.
 *
 * Orders: begin happens before end and end before the next begin, by the lock for which the thread
 * waits (iris-lock-core-private.h).
 *
 * Source: the mark `cpu_lock`, set in the kernel when a futex is released: S. Sridharan et al.,
 * "Thread Migration to Improve Synchronization Performance", section 2.3.1.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <sched.h>
#include <sys/types.h>

typedef struct
{
  pid_t thread;
  int processor;
  bool is_moved;
  cpu_set_t own;
} IrisLockMigration;

void iris_lock_migration_init (IrisLockMigration *self);
/* Whether the thread will be woken at the caller's processor. */
bool iris_lock_migration_begin (IrisLockMigration *self);
void iris_lock_migration_end (IrisLockMigration *self);
