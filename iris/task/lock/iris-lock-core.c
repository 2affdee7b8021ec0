/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock's sleeping half. The protocol and why it is correct: iris-lock-core-private.h.
 */
#include "iris/task/lock/iris-lock-core-private.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The half of the word with the bits. */
static void *
lock_core_futex (IrisLockCore *self)
{
  char *word = (char *) &self->word;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word += sizeof (uintptr_t) - 4;
#endif
  return word;
}

static void
futex_wait (void *word, uint32_t expected)
{
  syscall (SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void
futex_wake (void *word)
{
  syscall (SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The heir, which is about to sleep, maybe once more: a thread that is moved must be settled before
 * a holder moves it again. Unless ASLEEP is set from before: then it is the holder's. */
static void
settle (IrisLockCore *self, IrisLockNode *node)
{
  if (node->is_movable
      && !(atomic_load_explicit (&self->word, memory_order_acquire) & IRIS_LOCK_ASLEEP))
    self->mover->moved (node);
}

/* The heir. Takes the lock when it is free; true. Otherwise false, with the word that says so. */
static bool
take_as_heir (IrisLockCore *self, uintptr_t *word)
{
  *word = atomic_load_explicit (&self->word, memory_order_relaxed);
  while ((*word & IRIS_LOCK_HELD) == 0)
    if (atomic_compare_exchange_weak_explicit (&self->word, word,
                                               (*word & ~IRIS_LOCK_RESERVED) | IRIS_LOCK_HELD,
                                               memory_order_acquire, memory_order_relaxed))
      return true;

  return false;
}

/* The heir. Sleeps while the word is @word, and its owner knows that a thread sleeps. */
static void
sleep_as_heir (IrisLockCore *self, uintptr_t word)
{
  uintptr_t asleep = word | IRIS_LOCK_ASLEEP;

  /* Release: what a mover shares is the holder's from here. */
  if (word != asleep
      && !atomic_compare_exchange_strong_explicit (&self->word, &word, asleep, memory_order_release,
                                                   memory_order_relaxed))
    return;
  futex_wait (lock_core_futex (self), (uint32_t) asleep);
}

/* For a thread whose @node was queued: returns when it holds the lock. */
void
iris_lock_core_wait (IrisLockCore *self, IrisLockNode *node)
{
  uintptr_t word;

  while (atomic_load_explicit (&node->heir, memory_order_acquire) == 0)
    futex_wait (&node->heir, 0);
  /* It has not slept on the word yet, so ASLEEP cannot be set. */
  if (node->is_movable)
    self->mover->moved (node);

  for (int spins = 0; !take_as_heir (self, &word);)
    if (spins < IRIS_LOCK_SPINS)
      {
        spins++;
        iris_cpu_relax ();
      }
    else
      {
        settle (self, node);
        sleep_as_heir (self, word);
      }

  /* No heir's but this one's, and it has the lock: whatever was shared is its own. */
  if (node->is_movable)
    self->mover->moved (node);
  self->first = node->next;
  self->overtaken = 0;
}

/* Holder. Lets the lock go; @heir, which is first in line, will take it. */
void
iris_lock_core_yield (IrisLockCore *self, IrisLockNode *heir)
{
  uintptr_t word = atomic_load_explicit (&self->word, memory_order_acquire);
  bool is_new = atomic_load_explicit (&heir->heir, memory_order_relaxed) == 0;
  bool may_move = heir->is_movable;
  uintptr_t reserved = 0;

  if (is_new)
    {
      if (may_move)
        self->mover->moves (heir);
      may_move = false;
      atomic_store_explicit (&heir->heir, 1, memory_order_release);
    }
  else if (++self->overtaken >= IRIS_LOCK_OVERTAKES)
    reserved = IRIS_LOCK_RESERVED;

  do
    if (may_move && (word & IRIS_LOCK_ASLEEP))
      {
        self->mover->moves (heir);
        may_move = false;
      }
  while (!atomic_compare_exchange_weak_explicit (
      &self->word, &word, (word & ~(IRIS_LOCK_HELD | IRIS_LOCK_ASLEEP)) | reserved,
      memory_order_release, memory_order_acquire));
  if (is_new)
    futex_wake (&heir->heir);
  /* A new heir too: it may have seen that it is one, and gone to sleep, before the swap. */
  if (word & IRIS_LOCK_ASLEEP)
    futex_wake (lock_core_futex (self));
}
