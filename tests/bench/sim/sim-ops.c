/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The simulator's side of explore-ops.h: what atomics, fences, locks and system calls of the
 * simulated code do, and what they cost. Between two switches of fibers nothing else runs, so
 * plain reads and writes do for all of them.
 */
#include "tests/bench/sim/sim-private.h"

#include "explore-ops.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

static uint64_t
get (const void *word, unsigned size)
{
  uint64_t value = 0;

  memcpy (&value, word, size);

  return value;
}

void
explore_init (void *word, unsigned size, uint64_t value)
{
  sim_access (word, size, SIM_STORE);
  memcpy (word, &value, size);
}

uint64_t
explore_load (const void *word, unsigned size, int order, const char *what, const char *where)
{
  sim_access (word, size, SIM_READ);

  return get (word, size);
}

void
explore_store (void *word,
               unsigned size,
               uint64_t value,
               int order,
               const char *what,
               const char *where)
{
  sim_access (word, size, SIM_STORE);
  memcpy (word, &value, size);
}

uint64_t
explore_rmw (void *word,
             unsigned size,
             ExploreRmw op,
             uint64_t operand,
             int order,
             const char *what,
             const char *where)
{
  uint64_t old, value = operand;

  sim_access (word, size, SIM_RMW);
  old = get (word, size);
  switch (op)
    {
    case EXPLORE_ADD:
      value = old + operand;
      break;
    case EXPLORE_SUB:
      value = old - operand;
      break;
    case EXPLORE_OR:
      value = old | operand;
      break;
    case EXPLORE_AND:
      value = old & operand;
      break;
    case EXPLORE_XOR:
      value = old ^ operand;
      break;
    case EXPLORE_EXCHANGE:
      break;
    }
  memcpy (word, &value, size);

  return old;
}

bool
explore_cas (void *word,
             unsigned size,
             uint64_t *expected,
             uint64_t desired,
             int success,
             int failure,
             const char *what,
             const char *where)
{
  uint64_t old;

  sim_access (word, size, SIM_RMW);
  old = get (word, size);
  if (old != *expected)
    {
      *expected = old;
      return false;
    }
  memcpy (word, &desired, size);

  return true;
}

void
explore_fence (int order, const char *where)
{
  sim_pay (SIM_COST_rmw);
}

void
explore_fence_full (const char *where)
{
  sim_pay (SIM_COST_rmw);
}

/* The kernel interrupts every processor at work, and waits for them. */
void
explore_fence_heavy (const char *where)
{
  if (sim_engine.current == NULL)
    return;
  sim_engine.counts.heavy++;
  sim_engine.n_heavy++;
  sim_engine.current->n_heavy++;
  sim_pay (sim_engine.n_running > 1 ? SIM_COST_heavy : SIM_COST_heavy_alone);
  if (sim_engine.n_running > 2)
    sim_spend ((sim_engine.n_running - 2) * sim_engine.cost[SIM_COST_heavy_each]);
}

void
explore_fence_light (const char *where)
{
}

int
explore_yield (const char *where)
{
  if (sim_engine.current == NULL)
    return 0;
  sim_pay (SIM_COST_yield);
  sim_give_way ();

  return 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

void *
explore_malloc (size_t size)
{
  return sim_allocate (16, size);
}

void *
explore_calloc (size_t n, size_t size)
{
  return sim_allocate (16, n * size);
}

void *
explore_aligned_alloc (size_t align, size_t size)
{
  return sim_allocate (align, size);
}

/* The sources that are simulated do not use it. */
void *
explore_realloc (void *memory, size_t size)
{
  g_error ("the simulator has no realloc()");
}

void
explore_free (void *memory, const char *where)
{
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* From the kernel: the waker pays for the call, the woken thread runs some time later. */
static bool
wake (const void *what)
{
  const SimFiber *self = sim_engine.current;

  if (self == NULL || !sim_wake_one (what, self->now + sim_engine.cost[SIM_COST_wake]))
    return false;
  sim_pay (SIM_COST_wake_call);

  return true;
}

static long
futex_wait (const uint32_t *word, uint32_t expected, const struct timespec *timeout)
{
  uint64_t at_most = UINT64_MAX;

  sim_pay (SIM_COST_sleep);
  sim_access (word, sizeof *word, SIM_READ);
  if (*word != expected)
    {
      errno = EAGAIN;
      return -1;
    }
  if (timeout != NULL)
    at_most = ((uint64_t) timeout->tv_sec * 1000000000 + (uint64_t) timeout->tv_nsec) * 1000;
  if (sim_wait (word, at_most))
    return 0;
  errno = ETIMEDOUT;

  return -1;
}

long
explore_syscall (const char *where, long number, ...)
{
  const uint32_t *word;
  const struct timespec *timeout;
  uint32_t value;
  va_list args;
  long n = 0;
  int op;

  g_assert (number == SYS_futex);
  va_start (args, number);
  word = va_arg (args, const uint32_t *);
  op = va_arg (args, int) & FUTEX_CMD_MASK;
  value = va_arg (args, uint32_t);
  timeout = va_arg (args, const struct timespec *);
  va_end (args);

  if (op == FUTEX_WAIT)
    return futex_wait (word, value, timeout);
  g_assert (op == FUTEX_WAKE);
  while (n < (long) value && wake (word))
    n++;

  return n;
}

/* A lock is a word, 1 if it is held. Who finds it held sleeps; who unlocks it wakes one, which
 * tries again. */
int
explore_mutex_init (pthread_mutex_t *mutex)
{
  memset (mutex, 0, sizeof *mutex);

  return 0;
}

int
explore_mutex_trylock (pthread_mutex_t *mutex, const char *what, const char *where)
{
  int *word = (int *) mutex;

  sim_access (word, sizeof *word, SIM_RMW);
  if (*word != 0)
    return EBUSY;
  *word = 1;

  return 0;
}

int
explore_mutex_lock (pthread_mutex_t *mutex, const char *what, const char *where)
{
  while (explore_mutex_trylock (mutex, what, where) != 0)
    {
      if (sim_engine.current == NULL)
        g_error ("a lock is held where only one thread is");
      sim_pay (SIM_COST_sleep);
      sim_wait (mutex, UINT64_MAX);
    }

  return 0;
}

int
explore_mutex_unlock (pthread_mutex_t *mutex, const char *what, const char *where)
{
  int *word = (int *) mutex;

  sim_access (word, sizeof *word, SIM_RMW);
  *word = 0;
  wake (mutex);

  return 0;
}

int
explore_once (pthread_once_t *once, void (*func) (void))
{
  if (*once == PTHREAD_ONCE_INIT)
    {
      *once = PTHREAD_ONCE_INIT + 1;
      func ();
    }

  return 0;
}

int
explore_key_create (pthread_key_t *key, void (*destroy) (void *))
{
  static unsigned n_keys;

  g_assert (n_keys < G_N_ELEMENTS (((SimFiber *) NULL)->specific));
  *key = n_keys++;

  return 0;
}

int
explore_setspecific (pthread_key_t key, const void *value)
{
  if (sim_engine.current != NULL)
    sim_engine.current->specific[key] = (void *) value;

  return 0;
}

void *
explore_getspecific (pthread_key_t key)
{
  return sim_engine.current != NULL ? sim_engine.current->specific[key] : NULL;
}
