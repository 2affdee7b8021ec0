/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the sources of the pool find in place of threads, clocks and GLib's memory; included behind
 * their headers and in front of them. All is made small: one round of search, inboxes of two, no
 * stopwatches, which order nothing.
 */
#pragma once

#undef IRIS_SEARCH_ROUNDS
#define IRIS_SEARCH_ROUNDS 1
#undef IRIS_SEARCH_PATIENCE
#define IRIS_SEARCH_PATIENCE 1
#undef IRIS_INBOX_CAPACITY
#define IRIS_INBOX_CAPACITY 2
#undef iris_cpu_relax
#define iris_cpu_relax()                          ((void) 0)
#define iris_stopwatch_start(watch, now_ns)       ((void) (now_ns))
#define iris_stopwatch_stop(watch, now_ns)        ((void) (now_ns))
#define iris_worker_note_search_begins(worker)    false
#define iris_worker_note_search_ends(worker)      ((void) 0)
#define g_get_monotonic_time()                    1
#define g_thread_new(name, func, data)            thread_start (name, func, data)
#define g_thread_try_new(name, func, data, error) thread_start (name, func, data)
#define g_thread_join                             thread_join
#undef pthread_cond_init
#define pthread_cond_init(cond, attr) ((void) (cond))
#define pthread_cond_destroy(cond)    ((void) (cond))
#define pthread_cond_broadcast(cond)  ((void) (cond))
#define pthread_cond_wait(cond, lock) cond_wait (lock)
#define gettid()                      1
#define iris_clock_ns()               1
#undef g_new
#define g_new(type, n) ((type *) explore_malloc (sizeof (type) * (n)))
#undef g_new0
#define g_new0(type, n) ((type *) explore_calloc (n, sizeof (type)))
#undef g_object_ref
#define g_object_ref(object) (object)

static GThread *thread_start (const char *name, gpointer (*func) (gpointer), gpointer data);
static gpointer thread_join (GThread *thread);

/* A condition is looked at again and again, which is more than the one that waits for it needs. */
static inline void
cond_wait (pthread_mutex_t *lock)
{
  pthread_mutex_unlock (lock);
  sched_yield ();
  pthread_mutex_lock (lock);
}
