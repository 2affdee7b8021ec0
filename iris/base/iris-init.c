/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Initialisation: what the first use of the library does anyway.
 */
#include "iris/base/iris-init.h"

#include "iris/base/iris-debug-private.h"

/**
 * iris_init:
 *
 * Reads `IRIS_DEBUG` and prepares what all threads share.
 *
 * No program need call it: everything in the library does that when it is first needed. It is there
 * for programs of iris 0.3, and for those that change their environment or their permissions soon
 * after they start. May be called again, from any thread.
 */
void
iris_init (void)
{
  iris_debug_init ();
  iris_fence_init ();
}
