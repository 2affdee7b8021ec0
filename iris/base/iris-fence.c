/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The heavy side of the asymmetric fence; the argument is in iris-atomic-private.h.
 */
#include "iris/base/iris-atomic-private.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

bool iris_fence_is_asymmetric;

/* Once at first, and again in each child process. */
void
iris_fence_register (void)
{
  /* Only the kernel's consent to a real barrier switches the light side off. */
  iris_fence_is_asymmetric =
      syscall (SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0
      && syscall (SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* Must have returned before any thread uses either fence on shared data. */
void
iris_fence_init (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, iris_fence_register);
}

void
iris_fence_heavy (void)
{
  iris_fence_full ();
  if (iris_fence_is_asymmetric)
    syscall (SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  iris_fence_full ();
}
