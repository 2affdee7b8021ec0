/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory as the explored threads see it: words, store buffers and fences.
 *
 * A store goes to memory at once, unless the explorer chose to delay it. Then it waits in its
 * thread's buffer, in which only that thread sees it. Let out are
 *   - all stores of a thread, oldest first, at its full fence, read-modify-write, sequentially
 *     consistent store or futex call, and at any thread's heavy fence;
 *   - those to a word, and under TSO the ones in front of them, before another thread's access to
 *     that word, if the explorer so chooses;
 *   - all of a thread when threads have waited more than MAX_AGE times while one was delayed;
 *   - all of all threads when no thread can go on otherwise, and at the end.
 *
 * Clocks: a release publishes the thread's clock with the word, an acquire of the word learns it;
 * see explore-race.c. Each release moves the thread's own clock on, so that what follows it is not
 * covered by it.
 */
#include "explore-private.h"

#include <stdatomic.h>
#include <string.h>

static bool
is_acquire (int order)
{
  return order == memory_order_acquire || order == memory_order_consume
         || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

static bool
is_release (int order)
{
  return order == memory_order_release || order == memory_order_acq_rel
         || order == memory_order_seq_cst;
}

uint64_t
explore_get (const void *word, unsigned size)
{
  uint64_t value = 0;

  /* Each is one instruction; a copy of any size is a call. */
  switch (size)
    {
    case 1:
      return *(const uint8_t *) word;
    case 4:
      memcpy (&value, word, 4);
      return value;
    case 8:
      memcpy (&value, word, 8);
      return value;
    default:
      memcpy (&value, word, size);
      return value;
    }
}

static void
set (void *word, unsigned size, uint64_t value)
{
  switch (size)
    {
    case 1:
      memcpy (word, &value, 1);
      break;
    case 4:
      memcpy (word, &value, 4);
      break;
    case 8:
      memcpy (word, &value, 8);
      break;
    default:
      memcpy (word, &value, size);
      break;
    }
}

/* What a release of @self at this moment hands on. */
static Clock
clock_release (Thread *self)
{
  Clock clock = self->clock;

  self->clock.at[self->index]++;

  return clock;
}

static void
acquire (Thread *self, const char *word, int order)
{
  explore_word_acquire (word, is_acquire (order) ? &self->clock : &self->to_acquire);
}

static void
write_to (Thread *by, const Store *store)
{
  set (store->word, store->size, store->value);
  explore_word_stored (store->word, by->index, store->release, &store->clock);
}

/* A store arrives in memory. */
static void
arrive (Thread *of, unsigned i)
{
  Store store = of->buffer[i];

  memmove (&of->buffer[i], &of->buffer[i + 1], (of->n_buffered - i - 1) * sizeof store);
  of->n_buffered--;
  write_to (of, &store);
  if (explore.tracing)
    explore_trace ("      | thread %u: %s = %#llx comes out of the buffer", of->index, store.what,
                   (unsigned long long) store.value);
}

void
explore_drain (Thread *thread)
{
  while (thread->n_buffered > 0)
    arrive (thread, 0);
}

/* Returns whether there was anything. */
bool
explore_drain_all (void)
{
  bool any = false;

  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    {
      any |= explore.threads[i].n_buffered > 0;
      explore_drain (&explore.threads[i]);
    }

  return any;
}

/* A thread waits, so time passes. */
void
explore_drain_old (void)
{
  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    {
      Thread *thread = &explore.threads[i];

      for (unsigned j = 0; j < thread->n_buffered; j++)
        thread->buffer[j].age++;
      if (thread->n_buffered > 0 && thread->buffer[0].age > MAX_AGE)
        explore_drain (thread);
    }
}

static unsigned
count_pending (const Thread *thread, const char *word)
{
  unsigned n = 0;

  for (unsigned i = 0; i < thread->n_buffered; i++)
    n += thread->buffer[i].word == word;

  return n;
}

bool
explore_is_pending (const char *word)
{
  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    if (count_pending (&explore.threads[i], word) > 0)
      return true;

  return false;
}

/* The oldest store of @thread to @word, with those that it may not overtake. */
static void
let_one_out (Thread *thread, const char *word)
{
  unsigned i = 0;

  while (thread->buffer[i].word != word)
    i++;
  if (explore.model == MODEL_PSO && !thread->buffer[i].in_order)
    {
      arrive (thread, i);
      return;
    }
  for (unsigned j = 0; j <= i; j++)
    arrive (thread, 0);
}

/* Every store of @thread to @word. */
void
explore_let_out (Thread *thread, const char *word)
{
  while (count_pending (thread, word) > 0)
    let_one_out (thread, word);
}

/* In front of an access of @self to @word: the explorer chooses which of the others' delayed
 * stores to it arrive first. */
static void
offer (Thread *self, const char *word)
{
  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    {
      Thread *other = &explore.threads[i];
      unsigned values[MAX_BUFFER + 1];
      unsigned n;

      if (other->n_buffered == 0 || other == self)
        continue;
      n = count_pending (other, word);
      if (n == 0)
        continue;
      for (unsigned j = 0; j <= n; j++)
        values[j] = n - j;
      n = explore_choose (CHOICE_FLUSH, self->step, i, values, n + 1);
      while (n-- > 0)
        let_one_out (other, word);
    }
}

static Store *
find_own (Thread *self, const char *word)
{
  for (unsigned i = self->n_buffered; i > 0; i--)
    if (self->buffer[i - 1].word == word)
      return &self->buffer[i - 1];

  return NULL;
}

void
explore_init (void *word, unsigned size, uint64_t value)
{
  set (word, size, value);
}

uint64_t
explore_load (const void *word, unsigned size, int order, const char *what, const char *where)
{
  Thread *self = explore.current;
  uint64_t value;
  Store *own;

  if (!explore.running)
    return explore_get (word, size);

  explore_switch_point (word, false);
  explore_arena_check (word, where);
  own = find_own (self, word);
  if (own != NULL)
    {
      value = own->value;
    }
  else
    {
      offer (self, word);
      value = explore_get (word, size);
      acquire (self, word, order);
    }
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: load %s: %#llx%s", self->step, self->index, where, what,
                   (unsigned long long) value, own != NULL ? " (its own, not out yet)" : "");

  return value;
}

static void
enqueue (Thread *self, const Store *store)
{
  if (self->n_buffered == MAX_BUFFER)
    explore_drain (self);
  self->buffer[self->n_buffered++] = *store;
}

/* Whether the store goes into the buffer: because it may not overtake what is there, or because
 * the explorer chose so. */
static bool
must_wait (Thread *self, const Store *store)
{
  static const unsigned no_yes[] = { 0, 1 };

  if (self->n_buffered > 0
      && (explore.model == MODEL_TSO || store->in_order || find_own (self, store->word) != NULL))
    return true;
  if (explore.model == MODEL_SC)
    return false;
  if (!explore_may_delay ()
      || (!explore_word_touch (store->word, self->index, true) && explore.search == SEARCH_ALL))
    return false;

  if (explore_choose (CHOICE_DELAY, self->step, 0, no_yes, 2) == 0)
    return false;
  explore.n_delays++;

  return true;
}

void
explore_store (void *word,
               unsigned size,
               uint64_t value,
               int order,
               const char *what,
               const char *where)
{
  Thread *self = explore.current;
  Store store = { .word = word, .size = size, .value = value, .what = what };
  bool waits = false;

  if (!explore.running)
    {
      set (word, size, value);
      return;
    }

  explore_switch_point (word, true);
  explore_arena_check (word, where);
  store.release = is_release (order);
  store.clock = store.release ? clock_release (self) : self->released;
  /* Behind a release fence a store waits for all that is in front of it. */
  self->fenced &= self->n_buffered > 0;
  store.in_order = store.release || self->fenced;
  if (order == memory_order_seq_cst)
    explore_drain (self);
  else
    waits = must_wait (self, &store);
  if (waits)
    {
      enqueue (self, &store);
    }
  else
    {
      offer (self, word);
      write_to (self, &store);
    }
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: store %s = %#llx%s", self->step, self->index, where, what,
                   (unsigned long long) value, waits ? " (into its buffer)" : "");
}

static uint64_t
apply (ExploreRmw op, uint64_t old, uint64_t operand)
{
  switch (op)
    {
    case EXPLORE_EXCHANGE:
      return operand;
    case EXPLORE_ADD:
      return old + operand;
    case EXPLORE_SUB:
      return old - operand;
    case EXPLORE_OR:
      return old | operand;
    case EXPLORE_AND:
      return old & operand;
    case EXPLORE_XOR:
    default:
      return old ^ operand;
    }
}

/* In front of a read-modify-write: what must be in memory before it. */
static void
settle (Thread *self, const char *word, int order)
{
  if (explore.model == MODEL_PSO && !is_release (order))
    explore_let_out (self, word);
  else
    explore_drain (self);
  offer (self, word);
}

/* The clocks of a read-modify-write. */
static void
rmw_clocks (Thread *self, const char *word, int order)
{
  Clock clock;

  acquire (self, word, order);
  clock = is_release (order) ? clock_release (self) : self->released;
  explore_word_changed (word, self->index, &clock);
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
  static const char *const names[] = { "exchange", "add", "subtract", "or", "and", "exclusive or" };
  Thread *self = explore.current;
  uint64_t old;

  if (!explore.running)
    {
      old = explore_get (word, size);
      set (word, size, apply (op, old, operand));
      return old;
    }

  explore_switch_point (word, true);
  explore_arena_check (word, where);
  settle (self, word, order);
  old = explore_get (word, size);
  set (word, size, apply (op, old, operand));
  rmw_clocks (self, word, order);
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: %s %s, %#llx: was %#llx", self->step, self->index, where,
                   names[op], what, (unsigned long long) operand, (unsigned long long) old);

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
  Thread *self = explore.current;
  uint64_t old, wanted = *expected;

  if (explore.running)
    {
      explore_switch_point (word, true);
      explore_arena_check (word, where);
      settle (self, word, success);
    }
  old = explore_get (word, size);
  *expected = old;
  if (explore.tracing && explore.running)
    explore_trace ("%4u  | thread %u: %s: swap %s, %#llx for %#llx: %s", self->step, self->index,
                   where, what, (unsigned long long) wanted, (unsigned long long) desired,
                   old == wanted ? "done" : "refused");
  if (old != wanted)
    {
      if (explore.running)
        acquire (self, word, failure);
      return false;
    }
  set (word, size, desired);
  if (explore.running)
    rmw_clocks (self, word, success);

  return true;
}

/* C11's fence: edges, and a drain if it is the strongest. */
void
explore_fence (int order, const char *where)
{
  Thread *self = explore.current;

  if (!explore.running)
    return;
  if (order == memory_order_seq_cst)
    explore_fence_full (where);
  if (is_acquire (order))
    explore_clock_join (&self->clock, &self->to_acquire);
  if (is_release (order))
    {
      self->released = clock_release (self);
      self->fenced = true;
    }
}

void
explore_fence_full (const char *where)
{
  Thread *self = explore.current;

  if (!explore.running)
    return;
  explore_switch_point_fence (self->n_buffered > 0);
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: full fence", self->step, self->index, where);
  explore_drain (self);
}

/* Each of the other threads passes a full fence at some moment of this call. */
void
explore_fence_heavy (const char *where)
{
  Thread *self = explore.current;
  bool any = false;

  if (!explore.running)
    return;
  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    any |= explore.threads[i].n_buffered > 0;
  explore_switch_point_fence (any);
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: heavy fence", self->step, self->index, where);
  explore_drain (self);
  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    {
      Thread *other = &explore.threads[i];

      if (other == self || other->n_buffered == 0)
        continue;
      explore_drain (other);
    }
}

/* Orders the compiler only; the other side pays. */
void
explore_fence_light (const char *where)
{
}
