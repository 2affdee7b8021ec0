/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For the explorer: no scenario forks.
 */
#pragma once

#include <pthread.h>

#define iris_fork_generation 1u

static inline void
iris_fork_guard (pthread_mutex_t *lock)
{
  (void) lock;
}
