/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What ThreadSanitizer must be told; nothing at all in every other build.
 *
 * Two things happen behind its back. It does not understand memory fences, and it does not see
 * into libraries that were compiled without it (GLib, libzmq). iris_fence() takes care of the
 * first, iris-tsan.c of GLib, and the two macros are for a hand-over through any other library:
 *
 *     IRIS_TSAN_RELEASE (message);          what this thread wrote so far ...
 *     zmq_msg_send (...);
 *                                           (in the thread that received it)
 *     IRIS_TSAN_ACQUIRE (message);          ... is seen from here on
 *
 * They claim a happens-before edge that the library really makes. Never use them to silence a
 * report about iris's own synchronisation: that report is the reason to run the sanitizer.
 */
#pragma once

#include <stdatomic.h>

#ifdef __SANITIZE_THREAD__
#define IRIS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IRIS_TSAN 1
#endif
#endif

#ifdef IRIS_TSAN

#include <sanitizer/tsan_interface.h>

#define IRIS_TSAN_RELEASE(address) __tsan_release ((void *) (address))
#define IRIS_TSAN_ACQUIRE(address) __tsan_acquire ((void *) (address))

extern _Atomic int iris_tsan_fence;

#else

#define IRIS_TSAN_RELEASE(address) ((void) (address))
#define IRIS_TSAN_ACQUIRE(address) ((void) (address))

#endif

/*
 * A C11 fence. For the sanitizer it is a read-modify-write of one variable that all fences share:
 * if a store after fence A is seen by a load before fence B, then A precedes B in that variable's
 * order, so A's read-modify-write happens before B's. The emulation orders more than the fence does
 * (never less), and leaves one pattern open: a release fence that pairs with an acquire *load*
 * needs a store with release order after it.
 */
static inline void
iris_fence (memory_order order)
{
#ifdef IRIS_TSAN
  (void) order;
  atomic_fetch_add_explicit (&iris_tsan_fence, 0, memory_order_seq_cst);
#else
  atomic_thread_fence (order);
#endif
}
