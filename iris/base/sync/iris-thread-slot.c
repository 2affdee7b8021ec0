/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Thread slots: handing them out and taking them back.
 */
#include "iris/base/sync/iris-thread-slot-private.h"

#include "iris/base/iris-fork-private.h"

#include <pthread.h>

__thread unsigned iris_thread_slot_plus_one;

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t slots_taken; /* a bit for each */
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static bool have_exit_key;

_Static_assert(IRIS_THREAD_SLOTS == 32, "the slots are the bits of a 32-bit word");

static void
slot_release (void *value)
{
  unsigned slot = (unsigned) (uintptr_t) value - 1;

  iris_thread_slot_plus_one = 0;
  pthread_mutex_lock (&slots_lock);
  slots_taken &= ~((uint32_t) 1 << slot);
  pthread_mutex_unlock (&slots_lock);
}

static void
exit_key_create (void)
{
  have_exit_key = pthread_key_create (&exit_key, slot_release) == 0;
  iris_fork_guard (&slots_lock);
}

unsigned
iris_thread_slot_acquire (void)
{
  unsigned slot = IRIS_THREAD_SLOTS;

  pthread_once (&exit_key_once, exit_key_create);
  pthread_mutex_lock (&slots_lock);
  if (have_exit_key && slots_taken != UINT32_MAX)
    {
      slot = (unsigned) __builtin_ctz (~slots_taken);
      /* A slot that could not be given back at the thread's end must not be taken. */
      if (pthread_setspecific (exit_key, (void *) (uintptr_t) (slot + 1)) == 0)
        slots_taken |= (uint32_t) 1 << slot;
      else
        slot = IRIS_THREAD_SLOTS;
    }
  pthread_mutex_unlock (&slots_lock);
  iris_thread_slot_plus_one = slot + 1;

  return slot;
}
