/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What ThreadSanitizer must be told about libraries that were built without it.
 *
 * GLib's locks are futexes inside a library that is not instrumented, so the sanitizer does not
 * see that they order anything. Where iris relies on such a lock, it says so here: what precedes
 * iris_tsan_release() is ordered before what follows iris_tsan_acquire() of the same address.
 * Nothing but a lock of a foreign library may be annotated.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#ifdef IRIS_THREAD_SANITIZER
extern void __tsan_acquire (void *addr);
extern void __tsan_release (void *addr);
#define iris_tsan_acquire(addr) __tsan_acquire ((void *) (addr))
#define iris_tsan_release(addr) __tsan_release ((void *) (addr))
#else
#define iris_tsan_acquire(addr) ((void) (addr))
#define iris_tsan_release(addr) ((void) (addr))
#endif
