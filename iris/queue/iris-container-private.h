/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the public faces of the containers have in common: aligned memory and a reference count.
 *
 * The count's last decrement acquires what all others released, so that the thread that frees a
 * container sees everything that was done to it.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/base/iris-ref-private.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Zeros, aligned to a pair of cache lines; for free(). Aborts when there is none. */
static inline gpointer
iris_container_alloc (gsize size)
{
  gpointer memory = aligned_alloc (IRIS_CACHE_PAIR,
                                   (size + IRIS_CACHE_PAIR - 1) & ~(gsize) (IRIS_CACHE_PAIR - 1));

  if (memory == NULL)
    g_error ("iris: out of memory for a container of %" G_GSIZE_FORMAT " bytes", size);

  return memset (memory, 0, size);
}

static inline void
iris_container_ref (_Atomic gint *n_refs)
{
  atomic_fetch_add_explicit (n_refs, 1, memory_order_relaxed);
}

/* Whether the caller is to free. */
static inline gboolean
iris_container_unref (_Atomic gint *n_refs)
{
  return atomic_fetch_sub_explicit (n_refs, 1, memory_order_acq_rel) == 1;
}
