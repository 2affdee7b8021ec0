/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The eventcount's sleeping half. The protocol and why it is correct: iris-eventcount-private.h.
 */
#include "iris/base/sync/iris-eventcount-private.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof (_Atomic uint64_t) == 8, "a half of the word is the futex");

/* The half that counts the called. */
static void *
eventcount_futex (IrisEventcount *self)
{
  char *word = (char *) &self->word;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word += 4;
#endif
  return word;
}

void
iris_eventcount_wake (IrisEventcount *self, bool all)
{
  uint32_t n = iris_eventcount_call (self, all);

  if (n != 0)
    syscall (SYS_futex, eventcount_futex (self), FUTEX_WAKE_PRIVATE,
             n > INT_MAX ? INT_MAX : (int) n, NULL, NULL, 0);
}

/* Sleeps while no thread is called; false when the deadline has passed. */
static bool
eventcount_sleep (IrisEventcount *self, int64_t deadline)
{
  struct timespec at = { deadline / 1000000, deadline % 1000000 * 1000 };
  bool forever = deadline == IRIS_EVENTCOUNT_FOREVER;
  long rc = syscall (SYS_futex, eventcount_futex (self), FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0,
                     forever ? NULL : &at, NULL, FUTEX_BITSET_MATCH_ANY);

  return rc == 0 || errno != ETIMEDOUT;
}

/* After iris_eventcount_prepare(). True when the caller was called; false when @deadline
 * (microseconds of CLOCK_MONOTONIC) came first. In both cases it waits no more. */
bool
iris_eventcount_wait (IrisEventcount *self, int64_t deadline)
{
  if (deadline < 0)
    deadline = 0;
  while (!iris_eventcount_answer (self))
    if (!eventcount_sleep (self, deadline))
      {
        iris_eventcount_cancel (self);
        return false;
      }

  return true;
}
