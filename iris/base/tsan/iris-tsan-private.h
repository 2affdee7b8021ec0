/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What ThreadSanitizer must be told about libraries that were built without it.
 *
 * A library that is not instrumented orders things in ways that the sanitizer does not see. Where
 * iris relies on that, it says so here: what precedes iris_tsan_release() is ordered before what
 * follows iris_tsan_acquire() of the same address. For GLib iris-tsan-glib.c does this once and for
 * all; by hand it is for what is handed through another library, such as memory that libzmq frees
 * in a thread of its own. Nothing but the work of a foreign library may be annotated.
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
