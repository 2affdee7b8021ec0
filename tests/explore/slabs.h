/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs in explored code, in place of their sources; meson.build makes the pages small.
 */
#pragma once

#include <string.h>

/* The system's zeros would look like contents. */
#define IRIS_PAGE_DISCARD(memory) explore_discard (memory, IRIS_PAGE_SIZE)

static __attribute__ ((no_sanitize ("thread"), noinline)) void
explore_discard (void *memory, size_t size)
{
  unsigned char *bytes = memory;

  for (size_t i = 0; i < size; i++)
    bytes[i] = 0xdd;
}

#include "iris/base/memory/iris-page-pool.c"
#include "iris/base/memory/iris-slab.c"

#include "explore.h"

/* For main(). */
static inline void
explore_slabs (void)
{
  explore_state (&page_pool, sizeof page_pool);
  explore_state (&idle_sets, sizeof idle_sets);
  explore_state (&known_sets, sizeof known_sets);
  explore_state (&n_slabs, sizeof n_slabs);
  explore_state (&exit_key, sizeof exit_key);
  explore_state (&exit_key_once, sizeof exit_key_once);
  explore_thread_local (iris_slab_mine, sizeof iris_slab_mine);
}

/* Scenarios of other structures need not take every step that a worker takes for slabs before it
 * sleeps. */
static inline uint64_t
explore_no_tidy (_Atomic uint32_t *bed)
{
  return 0;
}

static inline void
explore_no_leave (_Atomic uint32_t *bed)
{
}
