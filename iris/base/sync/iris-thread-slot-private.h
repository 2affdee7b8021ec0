/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Thread slots: a small number for each thread, so that it can have a counter of its own.
 *
 * The first IRIS_THREAD_SLOTS threads that ask get a slot to themselves; a thread that ends gives
 * its slot back. All others share the slot IRIS_THREAD_SLOTS, and must use atomic additions there.
 * A slot changes hands under a lock, so its next owner sees what the last one wrote.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#define IRIS_THREAD_SLOTS 32

/* One more than the slot; 0: not asked for yet. */
extern __thread unsigned iris_thread_slot_plus_one;

unsigned iris_thread_slot_acquire (void);

static inline unsigned
iris_thread_slot (void)
{
  unsigned plus_one = iris_thread_slot_plus_one;

  return iris_likely (plus_one != 0) ? plus_one - 1 : iris_thread_slot_acquire ();
}
