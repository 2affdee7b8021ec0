/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stamped pointers: a reference and a counter of its changes, swapped as one word.
 *
 * What it is for
 * --------------
 * A compare-and-swap asks whether a word has the value that was read before, not whether it was
 * left alone. Where a node may leave a structure and come back in between, a bare pointer cannot
 * tell the two apart (the ABA problem). Here the word carries a stamp that moves with each change
 * that could be mistaken, so that a word that was changed and changed back differs.
 *
 * The form
 * --------
 * 32 bits of index and 32 bits of stamp in one 64-bit word. The index names a node of an arena
 * (iris-arena-private.h) whose nodes never move and are never given back while the structure
 * lives: the stamp makes the swap fail, the arena makes the reads before it harmless. Index 0 is
 * nothing, so that a structure of zeros is empty.
 *
 * A stamp and an index are types apart from pointers and numbers: IrisStamped is a value,
 * IrisStampedCell a shared place that holds one, and neither converts to anything by accident.
 *
 * Who may call what: everything here any thread.
 *
 * Orders: reading a cell is an acquire, every change is a release and an acquire. So the thread
 * that reads an index sees the node as it was when it was put there, with no need to reason about
 * release sequences.
 *
 * When the stamp wraps
 * --------------------
 * The stamp has 2^32 values. To be fooled, a thread must be stopped between reading a cell and
 * swapping it while the others make an exact multiple of 2^32 stamped changes, and the same node
 * must be back. Popping and pushing back the nodes of a LIFO, with nothing in between, makes 93
 * million stamped changes a second on an AMD EPYC with two processors (gcc 12 -O2, median of 4
 * runs; one thread 92, two together 91), so the stamp wraps after 46 s at the earliest, some
 * thousand time slices. A 16-bit stamp in the unused bits of a pointer would wrap within 0.7 ms,
 * less than one time slice; the two low bits of an aligned pointer within 43 ns.
 *
 * Why no 128-bit form: a 64-bit pointer beside a 64-bit stamp needs cmpxchg16b, for which the
 * compiler wants -mcx16 and even then calls into libatomic; its halves are read apart, which is a
 * race to ThreadSanitizer, or by a compare-and-swap, which makes every reader a writer; and no
 * model checker at hand takes it. What it would buy, nodes from anywhere, is what the arena makes
 * unnecessary: memory that may be given back is not safe to read with any stamp.
 *
 * Source: the counted pointers of IBM System/370 Principles of Operation, appendix A ("multi-
 * programming and multiprocessing examples"); R. K. Treiber (1986).
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

/* How far a change moves the stamp. Tests set it to 0 to see that they find what that breaks. */
#ifndef IRIS_STAMPED_STEP
#define IRIS_STAMPED_STEP 1u
#endif

#define IRIS_INDEX_NONE ((uint32_t) 0)

typedef struct
{
  uint64_t word; /* stamp << 32 | index */
} IrisStamped;

typedef struct
{
  _Atomic uint64_t word;
} IrisStampedCell;

static inline IrisStamped
iris_stamped (uint32_t index, uint32_t stamp)
{
  return (IrisStamped){ (uint64_t) stamp << 32 | index };
}

static inline uint32_t
iris_stamped_index (IrisStamped self)
{
  return (uint32_t) self.word;
}

static inline uint32_t
iris_stamped_stamp (IrisStamped self)
{
  return (uint32_t) (self.word >> 32);
}

static inline bool
iris_stamped_equal (IrisStamped a, IrisStamped b)
{
  return a.word == b.word;
}

/* @index under the stamp that follows that of @self. */
static inline IrisStamped
iris_stamped_next (IrisStamped self, uint32_t index)
{
  return iris_stamped (index, iris_stamped_stamp (self) + IRIS_STAMPED_STEP);
}

/* @index under the stamp of @self, for a change that cannot be mistaken. */
static inline IrisStamped
iris_stamped_same (IrisStamped self, uint32_t index)
{
  return iris_stamped (index, iris_stamped_stamp (self));
}

/* While no other thread looks. */
static inline void
iris_stamped_init (IrisStampedCell *cell, IrisStamped value)
{
  atomic_init (&cell->word, value.word);
}

static inline IrisStamped
iris_stamped_load (IrisStampedCell *cell)
{
  return (IrisStamped){ atomic_load_explicit (&cell->word, memory_order_acquire) };
}

/* By the one thread that may change the cell at this time. */
static inline void
iris_stamped_store (IrisStampedCell *cell, IrisStamped value)
{
  atomic_store_explicit (&cell->word, value.word, memory_order_release);
}

/* From @expected to @desired; when it fails, @expected becomes what the cell holds. */
static inline bool
iris_stamped_swap (IrisStampedCell *cell, IrisStamped *expected, IrisStamped desired)
{
  return atomic_compare_exchange_strong_explicit (&cell->word, &expected->word, desired.word,
                                                  memory_order_acq_rel, memory_order_acquire);
}
