/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Locks, futexes, and what threads keep for themselves.
 *
 * A lock is the first four bytes of a pthread_mutex_t: 0, or the number of its holder plus one.
 * Taking it is a read-modify-write with acquire; giving it back is a store with release, which may
 * be delayed like any other: a program may not rely on more.
 */
#include "explore-private.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#define MAX_LOCKS 64

/* Locks that an interleaving may have left locked. */
static char *locks[MAX_LOCKS];
static unsigned n_locks;

static void (*destroys[MAX_KEYS]) (void *);
static unsigned n_keys;

void
explore_sync_reset (void)
{
  for (unsigned i = 0; i < n_locks; i++)
    memset (locks[i], 0, 4);
  n_locks = 0;
  n_keys = 0;
}

static void
remember (char *lock)
{
  for (unsigned i = 0; i < n_locks; i++)
    if (locks[i] == lock)
      return;
  if (n_locks == MAX_LOCKS)
    explore_fail ("the scenario has more than %d locks", MAX_LOCKS);
  locks[n_locks++] = lock;
}

int
explore_mutex_init (pthread_mutex_t *mutex)
{
  memset (mutex, 0, sizeof (pthread_mutex_t));

  return 0;
}

/* Held by a thread whose giving back is still in its buffer: it is not. */
static bool
is_held (char *lock)
{
  for (unsigned i = 0; i < explore.scenario->n_threads && explore_get (lock, 4) != 0; i++)
    explore_let_out (&explore.threads[i], lock);

  return explore_get (lock, 4) != 0;
}

int
explore_mutex_trylock (pthread_mutex_t *mutex, const char *what, const char *where)
{
  char *lock = (char *) mutex;
  uint64_t expected = 0;

  remember (lock);

  return explore_cas (lock, 4, &expected, explore.current->index + 1, memory_order_acquire,
                      memory_order_relaxed, what, where)
             ? 0
             : EBUSY;
}

int
explore_mutex_lock (pthread_mutex_t *mutex, const char *what, const char *where)
{
  Thread *self = explore.current;
  char *lock = (char *) mutex;

  if (!explore.running)
    return 0;
  explore_switch_point (lock, true);
  explore_arena_check (lock, where);
  remember (lock);
  if (explore_get (lock, 4) == self->index + 1 && !explore_is_pending (lock))
    explore_fail ("thread %u waits in %s for the lock %s, which it holds", self->index, where,
                  what);
  explore_drain (self);
  while (is_held (lock))
    explore_block (THREAD_LOCKING, lock, what, where);
  memcpy (lock, &(uint32_t){ self->index + 1 }, 4);
  explore_word_acquire (lock, &self->clock);
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: locks %s", self->step, self->index, where, what);

  return 0;
}

int
explore_mutex_unlock (pthread_mutex_t *mutex, const char *what, const char *where)
{
  Thread *self = explore.current;

  if (!explore.running)
    return 0;
  if (explore_get (mutex, 4) != self->index + 1)
    explore_fail ("thread %u gives back in %s the lock %s, which it does not hold", self->index,
                  where, what);
  explore_store (mutex, 4, 0, memory_order_release, what, where);

  return 0;
}

static long
futex_wait (const char *where, char *word, uint32_t expected)
{
  Thread *self = explore.current;
  uint64_t value;

  value = explore_rmw (word, 4, EXPLORE_ADD, 0, memory_order_seq_cst, "the futex", where);
  if (value != expected)
    {
      errno = EAGAIN;
      return -1;
    }
  explore_block (THREAD_SLEEPING, word, "its wake-up", where);
  if (explore.tracing)
    explore_trace ("      | thread %u: %s: wakes", self->index, where);

  return 0;
}

static long
futex_wake (const char *where, char *word, uint32_t n)
{
  Thread *self = explore.current;
  uint32_t woken = 0;

  explore_switch_point (word, true);
  explore_arena_check (word, where);
  explore_drain (self);
  for (unsigned i = 0; i < explore.scenario->n_threads && woken < n; i++)
    {
      Thread *thread = &explore.threads[i];

      if (thread->state != THREAD_SLEEPING || thread->wanted != word)
        continue;
      thread->state = THREAD_READY;
      woken++;
    }
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: futex wake: %u woken", self->step, self->index, where,
                   woken);

  return woken;
}

/* The futex and the fence of membarrier(2). */
long
explore_syscall (const char *where, long number, ...)
{
  va_list args;
  char *word;
  int operation;
  uint32_t value;
  const void *timeout;

  if (number == SYS_membarrier)
    {
      explore_fence_heavy (where);
      return 0;
    }
  if (number != SYS_futex)
    explore_fail ("%s makes system call %ld, which the explorer does not know", where, number);

  va_start (args, number);
  word = va_arg (args, char *);
  operation = va_arg (args, int) & FUTEX_CMD_MASK;
  value = va_arg (args, uint32_t);
  timeout = va_arg (args, const void *);
  va_end (args);
  if (!explore.running)
    return 0;
  /* A time runs out when it likes. Whatever happens while it runs is what happens to a thread that
   * is not let run. */
  if (operation == FUTEX_WAIT && timeout != NULL)
    {
      explore_yield (where);
      errno = ETIMEDOUT;
      return -1;
    }
  if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)
    return futex_wait (where, word, value);
  if (operation == FUTEX_WAKE)
    return futex_wake (where, word, value);
  explore_fail ("%s does something with a futex that the explorer does not know", where);
}

int
explore_once (pthread_once_t *once, void (*func) (void))
{
  static const pthread_once_t fresh = PTHREAD_ONCE_INIT;
  Thread *self = explore.current;

  if (memcmp (once, &fresh, sizeof fresh) == 0)
    {
      memset (once, 0xff, sizeof *once);
      func ();
      if (explore.running)
        {
          explore_word_changed (once, self->index, &self->clock);
          self->clock.at[self->index]++;
        }
    }
  else if (explore.running)
    {
      explore_word_acquire (once, &self->clock);
    }

  return 0;
}

int
explore_key_create (pthread_key_t *key, void (*destroy) (void *))
{
  if (n_keys == MAX_KEYS)
    return EAGAIN;
  destroys[n_keys] = destroy;
  *key = n_keys++;

  return 0;
}

int
explore_setspecific (pthread_key_t key, const void *value)
{
  explore.current->values[key] = (void *) value;

  return 0;
}

void *
explore_getspecific (pthread_key_t key)
{
  return explore.current->values[key];
}

/* As the C library does when a thread ends. */
void
explore_sync_end_thread (Thread *thread)
{
  for (unsigned i = 0; i < n_keys; i++)
    {
      void *value = thread->values[i];

      thread->values[i] = NULL;
      if (value != NULL && destroys[i] != NULL)
        destroys[i](value);
    }
}
