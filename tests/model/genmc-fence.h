/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The asymmetric fence for a model checker of C11, which knows no membarrier(2): a full fence on
 * both sides.
 */
#pragma once

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
