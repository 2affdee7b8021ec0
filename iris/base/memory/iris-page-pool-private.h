/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The page pool: empty pages, for the slabs of all threads and sizes, and their way to the system.
 *
 * Who may call what: everything any thread. A slab's lock may be held, the pool's is taken inside.
 *
 * The page that became empty last is taken first. So the pages at the other end are those that the
 * program does not need: one that was empty for IRIS_PAGE_DELAY_NS gives its memory back to the
 * system, but for the newest IRIS_PAGE_RESERVE. A load that comes and goes faster than that finds
 * its pages where it left them. There is no thread for this. A give looks whether pages are
 * due, and so does a worker before it sleeps (iris_page_pool_tidy()); one of the sleeping workers
 * then sleeps only until the next page is due, while there are such. A give that finds pages of
 * which no thread takes care wakes the worker that went to sleep last; it goes back to sleep
 * without having looked for work. A worker that is given work meanwhile, or that was just on its
 * way to sleep, takes care of the pages when it sleeps next. Where no worker has slept, or the one
 * that did has ended, no thread may come at all: there the oldest empty page is due at once, while
 * more pages are empty than used.
 *
 * Only the memory goes back (madvise), never the addresses. A thread that was stopped at a bad
 * moment and looks at an object that was freed meanwhile finds an older state, zeros, or another
 * object: never a fault. Where that may happen, the structure's own argument says that it drops
 * what it read (iris-lifo-private.h, iris-array-pool-private.h). Headers are never given back, so
 * the header of any page can be looked at for as long as the process lives.
 */
#pragma once

#include "iris/base/memory/iris-page-private.h"

/* Long enough that bursts which follow each other within it keep their memory. */
#ifndef IRIS_PAGE_DELAY_NS
#define IRIS_PAGE_DELAY_NS 250000000
#endif

/* Empty pages that stay for good. */
#ifndef IRIS_PAGE_RESERVE
#define IRIS_PAGE_RESERVE 8
#endif

typedef struct
{
  uint64_t n_used;     /* by slabs */
  uint64_t n_resident; /* empty, with memory */
  uint64_t n_returned; /* empty, their memory is the system's */
} IrisPagePoolCounts;

void iris_page_pool_guard (void);
IrisPage *iris_page_pool_take (void);
void iris_page_pool_give (IrisPage *page);
uint64_t iris_page_pool_tidy (_Atomic uint32_t *bed);
void iris_page_pool_leave (_Atomic uint32_t *bed);
void iris_page_pool_count (IrisPagePoolCounts *counts);
