/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The asymmetric fence for a model checker of C11, which knows no membarrier(2): a full fence on
 * both sides.
 */
#pragma once

#ifdef GENMC
/* The checker takes a fence for the compiler as one for the processor, and knows no pause. */
#include <stdatomic.h>
#undef atomic_signal_fence
#define atomic_signal_fence(order) ((void) (order))
#define __builtin_ia32_pause()     ((void) 0)
#endif

#include "iris/base/iris-atomic-private.h"

bool iris_fence_is_asymmetric = false;

void
iris_fence_init (void)
{
}

void
iris_fence_heavy (void)
{
  iris_fence_full ();
}
