/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fork-join stack where it leaves the short way. The argument is in iris-fork-stack-private.h.
 */
#include "iris/queue/deque/iris-fork-stack-private.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MASK ((1u << IRIS_FORK_BITS) - 1)
#ifndef IRIS_FORK_CHANGE
#define IRIS_FORK_CHANGE ((uint64_t) 1 << 32)
#endif
#define PER_CHUNK 64 /* a page of slots */
#define MAX_FORCE 64 /* at most so many tasks are forced at once */

_Static_assert(sizeof (IrisForkJoin) == IRIS_CACHE_LINE, "a slot is a cache line");
_Static_assert(IRIS_FORK_STACK_CAPACITY <= MASK, "positions fit into the word");

/* What becomes of a slot; with 0 its task was not stolen, or has not ended. */
enum
{
  STATE_AWAITED = 1, /* its owner sleeps */
  STATE_DONE = 2,
};

static inline unsigned
word_top (uint64_t word)
{
  return (unsigned) word & MASK;
}

static inline unsigned
word_split (uint64_t word)
{
  return ((unsigned) word >> IRIS_FORK_BITS) & MASK;
}

/* The word that follows @word. */
static inline uint64_t
word_next (uint64_t word, uint32_t flags, unsigned split, unsigned top)
{
  uint64_t changes = (word & ~(uint64_t) UINT32_MAX) + IRIS_FORK_CHANGE;

  return changes | flags | (word & IRIS_FORK_SLOW) | split << IRIS_FORK_BITS | top;
}

static inline IrisForkStack *
stack_of (const IrisForkJoin *slot)
{
  return (IrisForkStack *) slot->ends; /* its first member */
}

static inline IrisForkStack *
stack_of_edge (const IrisForkJoin *slot)
{
  return (IrisForkStack *) ((char *) slot->ends - offsetof (IrisForkStack, edge));
}

static inline unsigned
index_of (IrisForkStack *self, const IrisForkJoin *slot)
{
  return (unsigned) (slot - self->slots);
}

static inline unsigned
get_bottom (IrisForkStack *self)
{
  return index_of (self, iris_fork_load (&self->ends.bottom, memory_order_acquire));
}

/* Where the private part begins: while FORCED is set, nothing is public. */
static inline unsigned
private_from (uint64_t word)
{
  return word & IRIS_FORK_FORCED ? word_top (word) : word_split (word);
}

/* Prepares the next slots, and behind them the edge. */
static void
prepare (IrisForkStack *self)
{
  unsigned n = self->n_ready;
  unsigned end = self->capacity - n < PER_CHUNK ? self->capacity : n + PER_CHUNK;

  for (; n < end; n++)
    {
      self->slots[n].ends = &self->ends;
      self->slots[n].bound = (n + 1) << IRIS_FORK_BITS;
      self->slots[n].state = 0;
      self->slots[n].thief = NULL;
    }
  for (unsigned i = 0; i < 2; i++)
    {
      self->slots[end + i].ends = &self->edge;
      self->slots[end + i].bound = 0;
    }
  self->n_ready = end;
}

/* With a @capacity of 0 every fork is a call. False when there is no memory. */
bool
iris_fork_stack_init (IrisForkStack *self, unsigned capacity)
{
  iris_fence_init ();
  memset (self, 0, sizeof *self);
  /* Two at the edge; and an even number of lines. */
  self->slots = aligned_alloc (IRIS_CACHE_PAIR, ((capacity + 3) & ~1u) * sizeof *self->slots);
  if (self->slots == NULL)
    return false;
  self->capacity = capacity;
#ifndef IRIS_FORK_EXPLORED
  self->slow = iris_fence_is_asymmetric ? 0 : IRIS_FORK_SLOW;
#endif
  iris_fork_store (&self->ends.bottom, self->slots, memory_order_relaxed);
  iris_fork_store (&self->edge.bottom, self->slots, memory_order_relaxed);
  iris_fork_store (&self->ends.word, IRIS_FORK_ASKED | self->slow, memory_order_relaxed);
  iris_fork_store (&self->edge.word, IRIS_FORK_EDGE, memory_order_relaxed);
  prepare (self);

  return true;
}

void
iris_fork_stack_clear (IrisForkStack *self)
{
  free (self->slots);
  self->slots = NULL;
}

/* --- sleeping --- */

static void
wake (IrisForkStack *self)
{
  iris_fork_store (&self->token, 1, memory_order_release);
  syscall (SYS_futex, &self->token, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Owner, having made something public because it was asked to. */
static void
tell_sleepers (IrisForkStack *self)
{
  for (IrisForkRunning *running = self->running; running != NULL; running = running->outer)
    if (iris_fork_load (&running->slot->state, memory_order_relaxed) == STATE_AWAITED)
      wake (stack_of (running->slot));
  if (self->publish != NULL)
    self->publish (self);
}

/* --- thieves --- */

/* Any thread. Whether there is anything to steal, by force if need be. */
bool
iris_fork_stack_has_work (IrisForkStack *self)
{
  uint64_t word = iris_fork_load (&self->ends.word, memory_order_acquire);

  return word_top (word) != word_split (word) || get_bottom (self) > word_split (word);
}

/* Any thread. Sees to it that the owner lets know of its next fork, unless there is something
 * public. Says whether it asked; then the caller must look again behind a heavy fence. */
bool
iris_fork_stack_ask (IrisForkStack *self)
{
  uint64_t word = iris_fork_load (&self->ends.word, memory_order_acquire);

  do
    if ((word & IRIS_FORK_ASKED) || word_top (word) != word_split (word))
      return false;
  while (!iris_fork_swap (&self->ends.word, &word, word | IRIS_FORK_ASKED, memory_order_seq_cst));

  return true;
}

static bool
is_asked (IrisForkStack *self)
{
  return (iris_fork_load (&self->ends.word, memory_order_acquire) & IRIS_FORK_ASKED) != 0;
}

/* (b) and (c), for the thread that set FORCED or another. */
static void
settle (IrisForkStack *self, uint64_t word)
{
  unsigned top = word_top (word), split = word_split (word);

  iris_fence_heavy ();
  if (get_bottom (self) < split)
    split = top;
  /* ASKED stays: the owner must tell the sleepers. */
  iris_fork_swap (&self->ends.word, &word, word_next (word, word & IRIS_FORK_ASKED, split, top),
                  memory_order_acq_rel);
}

/* Makes half of what is private public without the owner. */
static void
force (IrisForkStack *self, uint64_t word)
{
  unsigned split = word_split (word);
  unsigned bottom = get_bottom (self);
  unsigned n = bottom > split ? (bottom - split + 1) / 2 : 0;
  uint64_t next;

  if (n == 0)
    return;
  next = word_next (word, IRIS_FORK_FORCED | (word & IRIS_FORK_ASKED),
                    split + (n < MAX_FORCE ? n : MAX_FORCE), word_top (word));
  if (iris_fork_swap (&self->ends.word, &word, next, memory_order_seq_cst))
    settle (self, next);
}

/* Any thread. The oldest task, or NULL; then it has asked for one. With @awaited only if that has
 * not ended, as the owner of @awaited must be: see (4). @by_force: what is private, too. */
IrisForkJoin *
iris_fork_stack_steal (IrisForkStack *self,
                       IrisForkStack *thief,
                       const IrisForkJoin *awaited,
                       bool by_force)
{
  uint64_t word = iris_fork_load (&self->ends.word, memory_order_acquire);
  IrisForkJoin *slot;

  if ((word & IRIS_FORK_FORCED) || word_top (word) == word_split (word))
    {
      if (!by_force)
        {
          iris_fork_stack_ask (self);
          return NULL;
        }
      if (word & IRIS_FORK_FORCED)
        settle (self, word);
      else
        force (self, word);
      word = iris_fork_load (&self->ends.word, memory_order_acquire);
      if ((word & IRIS_FORK_FORCED) || word_top (word) == word_split (word))
        return NULL;
    }
  if (awaited != NULL && iris_fork_load (&awaited->state, memory_order_acquire) == STATE_DONE)
    return NULL;
  if (!iris_fork_swap (
          &self->ends.word, &word,
          word_next (word, word & IRIS_FORK_ASKED, word_split (word), word_top (word) + 1),
          memory_order_acq_rel))
    return NULL;
  slot = &self->slots[word_top (word)];
  /* Release: the owner that sees it may steal from @thief. */
  iris_fork_store (&slot->thief, (void *) thief, memory_order_release);

  return slot;
}

/* The owner of @self runs what it has stolen. */
void
iris_fork_stack_run (IrisForkStack *self, IrisForkJoin *slot)
{
  IrisForkRunning running = { slot, self->running };
  IrisForkStack *owner = stack_of (slot);

  self->running = &running;
  slot->run (slot, iris_fork_stack_get_handle (self));
  self->running = running.outer;
  /* Release: the result. Behind it the slot is its owner's, but the owner's stack stays. */
  if (iris_fork_exchange (&slot->state, STATE_DONE, memory_order_acq_rel) == STATE_AWAITED)
    wake (owner);
}

/* --- the owner --- */

static void
note (IrisForkStack *self, IrisForkNote what, IrisForkStack *victim)
{
  if (self->note != NULL)
    self->note (self, what, victim);
}

static void
sleep_until_woken (IrisForkStack *self, IrisForkStack *thief)
{
  note (self, IRIS_FORK_SLEEPS, thief);
  while (iris_fork_load (&self->token, memory_order_acquire) == 0)
    syscall (SYS_futex, &self->token, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  note (self, IRIS_FORK_WAKES, thief);
}

/* Owner of @self, which waits for @slot. */
static void
sleep_for (IrisForkStack *self, IrisForkJoin *slot, IrisForkStack *thief)
{
  uint32_t state = 0;

  iris_fork_store (&self->token, 0, memory_order_relaxed);
  if (!iris_fork_swap (&slot->state, &state, STATE_AWAITED, memory_order_seq_cst))
    return;
  iris_fork_stack_ask (thief);
  iris_fence_heavy ();
  /* Not asked any more: the served thief may be gone, and the next fork would not be told. */
  if (!iris_fork_stack_has_work (thief) && is_asked (thief))
    sleep_until_woken (self, thief);
  state = STATE_AWAITED;
  iris_fork_swap (&slot->state, &state, 0, memory_order_acq_rel);
}

static bool
has_ended (IrisForkJoin *slot)
{
  return iris_fork_load (&slot->state, memory_order_acquire) == STATE_DONE;
}

/* A task of @thief, which has taken @slot, for its owner, which looks for the @spins-th time. */
static IrisForkJoin *
steal_back (IrisForkStack *self, IrisForkJoin *slot, IrisForkStack *thief, unsigned spins)
{
  if (thief == NULL)
    return NULL;

  return iris_fork_stack_steal (thief, self, slot,
                                spins % IRIS_FORK_STACK_PATIENCE == IRIS_FORK_STACK_PATIENCE - 1);
}

static void
await (IrisForkStack *self, IrisForkJoin *slot)
{
  if (has_ended (slot))
    return;
  note (self, IRIS_FORK_SEARCHES, NULL);
  for (unsigned spins = 0; !has_ended (slot);)
    {
      IrisForkStack *thief = iris_fork_load (&slot->thief, memory_order_acquire);
      IrisForkJoin *other = steal_back (self, slot, thief, spins);

      if (other != NULL)
        {
          note (self, IRIS_FORK_STOLE, thief);
          iris_fork_stack_run (self, other);
          note (self, IRIS_FORK_SEARCHES, NULL);
          spins = 0;
        }
      else if (++spins < IRIS_FORK_STACK_SPINS)
        {
          for (unsigned i = 0; i < 8 + spins; i++)
            iris_cpu_relax ();
        }
      else if (thief != NULL)
        {
          sleep_for (self, slot, thief);
          spins = 0;
        }
      else
        {
          sched_yield (); /* the thief is between two instructions */
        }
    }
  note (self, IRIS_FORK_ENDS, NULL);
}

/* Join of a stolen slot. While it waits the slot is in use, and other tasks go above it. */
static void
join_stolen (IrisForkStack *self, IrisForkJoin *slot)
{
  unsigned i = index_of (self, slot);
  uint64_t word;

  iris_fork_store (&self->ends.bottom, slot + 1, memory_order_release);
  await (self, slot);
  slot->thief = NULL;
  slot->state = 0;
  iris_fork_store (&self->ends.bottom, slot, memory_order_release);
  word = iris_fork_load (&self->ends.word, memory_order_acquire);
  while (!iris_fork_swap (&self->ends.word, &word, word_next (word, word & IRIS_FORK_ASKED, i, i),
                          memory_order_acq_rel))
    ;
}

/* The word that serves what is asked, with private tasks up to @bottom. */
static uint64_t
serve (uint64_t word, unsigned bottom)
{
  unsigned top = word_top (word), from = private_from (word);

  if (top != from) /* something is public, so no thread needs to ask */
    return word_next (word, 0, from, top);
  if (from >= bottom)
    return word_next (word, word & IRIS_FORK_ASKED, from, top);

  return word_next (word, 0, from + (bottom - from + 1) / 2, top);
}

/* The word, behind a store of bottom and the light fence. */
static inline uint64_t
get_word (IrisForkStack *self)
{
  if (self->slow)
    iris_fence_full ();

  return iris_fork_load (&self->ends.word, memory_order_acquire);
}

/* Serves thieves behind a fork or join. False, and @word is what it is now, if that changed. */
static bool
serve_thieves (IrisForkStack *self, uint64_t *word, unsigned bottom)
{
  uint64_t next;

  if (!(*word & (IRIS_FORK_ASKED | IRIS_FORK_FORCED)))
    return true;
  next = serve (*word, bottom);
  if (!iris_fork_swap (&self->ends.word, word, next, memory_order_acq_rel))
    return false;
  if ((*word & IRIS_FORK_ASKED) && !(next & IRIS_FORK_ASKED))
    tell_sleepers (self);

  return true;
}

static inline bool
is_edge (const IrisForkJoin *slot)
{
  return (iris_fork_load (&slot->ends->word, memory_order_relaxed) & IRIS_FORK_EDGE) != 0;
}

/* At the edge: the task runs now. The slots there hold arguments until it begins, so that those
 * of its own forks can take their place. */
static IrisForkJoin *
run_at_edge (IrisForkJoin *slot, IrisForkTask *task)
{
  slot->run (slot, slot);
  memcpy (task->words, slot->words, sizeof task->words);
  task->before = slot;

  return &stack_of_edge (slot)->slots[stack_of_edge (slot)->capacity + 1];
}

/**
 * iris_fork_stack_push_slowly: (skip)
 * @slot: the slot of the fork
 * @task: for the result, if the task runs at once
 *
 * What a fork does when a thread asks for tasks, or the stack is full. For the functions that
 * IRIS_FORKABLE_1() makes, not for programs.
 *
 * Returns: (transfer none): the handle after the fork
 */
IrisForkJoin *
iris_fork_stack_push_slowly (IrisForkJoin *slot, IrisForkTask *task)
{
  IrisForkStack *self;
  uint64_t word;

  if (is_edge (slot))
    {
      self = stack_of_edge (slot);
      if (self->n_ready == self->capacity)
        return run_at_edge (slot, task);
      prepare (self);
      iris_fork_store (&self->ends.bottom, slot + 1, memory_order_release);
      iris_fence_light ();
    }
  self = stack_of (slot);
  word = get_word (self);
  while (!serve_thieves (self, &word, index_of (self, slot) + 1))
    ;

  return slot + 1;
}

/* Owner. Whether the task in slot @i, which bottom is at, is its own; then no thread can steal it.
 */
static bool
take_back (IrisForkStack *self, unsigned i)
{
  uint64_t word = get_word (self);

  for (;;)
    {
      unsigned top = word_top (word), split = private_from (word);
      uint64_t next;

      if (top > i)
        return false;
      if (split <= i)
        {
          /* Who forces from now on finds the bottom lowered. */
          if (serve_thieves (self, &word, i))
            return true;
          continue;
        }
      next = word_next (word, word & IRIS_FORK_ASKED, top + (i - top) / 2, top);
      if (iris_fork_swap (&self->ends.word, &word, next, memory_order_acq_rel))
        return true;
    }
}

/**
 * iris_fork_stack_pop_slowly: (skip)
 * @slot: the slot of the fork that is joined
 * @task: where the result is, if the task ran at once
 *
 * What a join does when a thread asks for tasks, or has taken this one. For the functions that
 * IRIS_FORKABLE_1() makes, not for programs.
 *
 * Returns: (transfer none): the result, or %NULL if the caller is to run the task
 */
IrisForkPopped
iris_fork_stack_pop_slowly (IrisForkJoin *slot, IrisForkTask *task)
{
  IrisForkPopped popped = { NULL, slot };
  IrisForkStack *self;

  if (is_edge (slot))
    {
      popped.result = task->words;
      popped.fj = task->before;
      return popped;
    }
  self = stack_of (slot);
  if (!take_back (self, index_of (self, slot)))
    {
      join_stolen (self, slot);
      popped.result = slot->words;
    }

  return popped;
}
