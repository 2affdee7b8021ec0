/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the sources of the worker pool find in place of threads, clocks, places and traces; included
 * in front of them. Public functions that they define are renamed, so that iris-bench goes on to
 * call those of the library.
 */
#pragma once

/* Public names that the sources define, or call and find here: before any header of theirs. */
#define iris_worker_current            sim_worker_current
#define iris_worker_get_index          sim_worker_get_index
#define iris_worker_get_place          sim_worker_get_place
#define iris_worker_begin_blocking     sim_worker_begin_blocking
#define iris_worker_end_blocking       sim_worker_end_blocking
#define iris_places_get_n_places       sim_iris_places_get_n_places
#define iris_places_get_place          sim_iris_places_get_place
#define iris_places_get_distance       sim_iris_places_get_distance
#define iris_place_get_n_workers       sim_iris_place_get_n_workers
#define iris_place_get_cache_size      sim_iris_place_get_cache_size
#define iris_place_is_bound            sim_iris_place_is_bound
#define iris_place_bind_current_thread sim_iris_place_bind_current_thread

#include "tests/bench/sim/sim-machine-private.h"
#include "tests/bench/sim/sim-private.h"

#include <glib-object.h>
#include <pthread.h>
#include <string.h>

#include "iris/base/iris-clock-private.h"

/* Behind the headers that define them. */
#define iris_clock_ns sim_clock_ns
#undef iris_cpu_relax
#define iris_cpu_relax()                          sim_pay (SIM_COST_pause)
#define g_get_monotonic_time()                    (sim_clock_ns () / 1000)
#define g_thread_new(name, func, data)            ((void) (name), sim_thread_new (func, data))
#define g_thread_try_new(name, func, data, error) ((void) (name), sim_thread_new (func, data))
#define g_thread_join(thread)                     sim_thread_join (thread)
#define gettid()                                  1
#undef pthread_cond_init
#define pthread_cond_init(cond, attr)          ((void) (cond))
#define pthread_cond_destroy(cond)             ((void) (cond))
#define pthread_cond_broadcast(cond)           ((void) (cond))
#define pthread_cond_wait(cond, lock)          sim_cond_wait (lock)
#define pthread_atfork(prepare, parent, child) ((void) (child), 0)
#undef g_object_ref
#define g_object_ref(object) (object)
#undef g_object_unref
#define g_object_unref(object) ((void) (object))

static inline int64_t
sim_clock_ns (void)
{
  if (sim_engine.current == NULL)
    return 1;
  sim_pay (SIM_COST_clock);

  return (int64_t) (sim_engine.current->now / 1000) + 1;
}

GThread *sim_thread_new (gpointer (*func) (gpointer), gpointer worker);
gpointer sim_thread_join (GThread *thread);

/* A condition is looked at again and again, which is more than its waiter needs. */
static inline void
sim_cond_wait (pthread_mutex_t *lock)
{
  pthread_mutex_unlock (lock);
  sched_yield ();
  pthread_mutex_lock (lock);
}
