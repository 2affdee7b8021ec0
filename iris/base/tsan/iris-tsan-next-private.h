/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For the functions of GLib that iris defines anew under ThreadSanitizer (iris-tsan-glib.c says
 * why): how they call the original.
 */
#pragma once

#include "iris/base/tsan/iris-tsan-private.h"

#ifdef IRIS_THREAD_SANITIZER

#include <dlfcn.h>
#include <glib.h>

/* The original of the function that the caller replaces, looked up once. */
#define NEXT(name)                                                                    \
  ({                                                                                  \
    static _Atomic gpointer next_;                                                    \
    if (!atomic_load_explicit (&next_, memory_order_relaxed))                         \
      atomic_store_explicit (&next_, dlsym (RTLD_NEXT, #name), memory_order_relaxed); \
    (__typeof__ (&name)) atomic_load_explicit (&next_, memory_order_relaxed);         \
  })

#endif
