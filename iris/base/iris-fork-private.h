/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fork: what the library owes a child process, in which only the thread that forked goes on.
 *
 * Two things break in such a child. A lock that another thread held at that moment stays locked
 * for ever: the library's own static locks are therefore guarded, that is, held by the forking
 * thread while it forks. And what relied on other threads waits in vain: the thread that has
 * threads notes the generation in which they began, and can tell in the child that they stayed
 * behind.
 *
 * The generation is 1 in the first process and one more in each child. It is written only while a
 * child has one thread, so reading it needs no order.
 *
 * Who may call what: everything any thread. A guarded lock is static, and no thread forks or guards
 * while it holds one.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <pthread.h>

/* Locks that may be guarded. Slabs have ten, other files one each. */
#define IRIS_FORK_MAX_GUARDED 32

extern unsigned iris_fork_generation;

void iris_fork_guard (pthread_mutex_t *lock);
