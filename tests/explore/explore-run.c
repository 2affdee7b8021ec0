/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One interleaving: the threads, the points at which they are switched, and how it ends.
 *
 * There is no scheduler loop. The thread that reaches a switch point asks explore_choose() who
 * goes on, and jumps there itself; so going on with the same thread costs no jump. A thread that
 * was put aside in front of an operation does that operation when it is chosen again, without
 * asking once more.
 *
 * Steps are numbered by arrivals at switch points, whether or not a choice is offered there, so
 * that a written schedule means the same under any bounds.
 */
#include "explore-private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STATES 32

typedef struct
{
  void *memory;
  void *copy; /* at the start; of a thread-local: one for each thread */
  size_t size;
} State;

Explore explore;

static State states[MAX_STATES], locals[MAX_STATES];
static unsigned n_states, n_locals;

static void
state_add (State *list, unsigned *n, void *memory, size_t size, unsigned copies)
{
  State *state = &list[(*n)++];

  if (*n > MAX_STATES)
    {
      fprintf (stderr, "explore: more than %d variables to restore\n", MAX_STATES);
      exit (2);
    }
  state->memory = memory;
  state->size = size;
  state->copy = calloc (copies, size);
}

void
explore_state (void *memory, size_t size)
{
  state_add (states, &n_states, memory, size, 1);
  memcpy (states[n_states - 1].copy, memory, size);
}

void
explore_thread_local (void *memory, size_t size)
{
  state_add (locals, &n_locals, memory, size, EXPLORE_MAX_THREADS + 1);
}

static void
states_restore (void)
{
  for (unsigned i = 0; i < n_states; i++)
    memcpy (states[i].memory, states[i].copy, states[i].size);
  for (unsigned i = 0; i < n_locals; i++)
    {
      memset (locals[i].copy, 0, locals[i].size * (EXPLORE_MAX_THREADS + 1));
      memset (locals[i].memory, 0, locals[i].size);
    }
}

bool
explore_is_thread_local (const char *address)
{
  for (unsigned i = 0; i < n_locals; i++)
    {
      const char *start = locals[i].memory;

      if (address >= start && address < start + locals[i].size)
        return true;
    }

  return false;
}

static void
jump (Thread *to)
{
  Thread *from = explore.current;

  for (unsigned i = 0; i < n_locals; i++)
    {
      State *local = &locals[i];

      memcpy ((char *) local->copy + from->index * local->size, local->memory, local->size);
      memcpy (local->memory, (char *) local->copy + to->index * local->size, local->size);
    }
  explore.current = to;
  explore_fiber_switch (&from->fiber, &to->fiber);
}

void
explore_trace (const char *format, ...)
{
  va_list args;

  if (!explore.tracing)
    return;
  printf ("#   ");
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  printf ("\n");
}

void
explore_note (const char *format, ...)
{
  char text[200];
  va_list args;

  if (!explore.tracing)
    return;
  va_start (args, format);
  vsnprintf (text, sizeof text, format, args);
  va_end (args);
  if (explore.running)
    explore_trace ("      | thread %u: %s", explore.current->index, text);
  else
    explore_trace ("      | %s", text);
}

void
explore_fail (const char *format, ...)
{
  va_list args;

  if (!explore.failed)
    {
      va_start (args, format);
      vsnprintf (explore.message, sizeof explore.message, format, args);
      va_end (args);
    }
  explore.failed = true;
  if (explore.current->index != MAIN_THREAD)
    jump (&explore.threads[MAIN_THREAD]);
  longjmp (explore.escape, 1);
}

static bool
can_go_on (const Thread *thread)
{
  switch (thread->state)
    {
    case THREAD_READY:
      return true;
    case THREAD_LOCKING:
      return explore_get (thread->wanted, 4) == 0 || explore_is_pending (thread->wanted);
    case THREAD_SLEEPING:
    case THREAD_ENDED:
    default:
      return false;
    }
}

/* Those besides @self that can go on, from the one behind it on. */
static unsigned
list_others (const Thread *self, unsigned values[])
{
  unsigned n_threads = explore.scenario->n_threads;
  unsigned n = 0;

  for (unsigned i = 1, at = self->index; i < n_threads; i++)
    {
      at = at + 1 < n_threads ? at + 1 : 0;
      if (can_go_on (&explore.threads[at]))
        values[n++] = at;
    }

  return n;
}

static void
next_step (Thread *self)
{
  self->step = ++explore.step;
  if (explore.step > EXPLORE_MAX_STEPS)
    explore_fail ("no end after %d steps: thread %u turns in a circle", EXPLORE_MAX_STEPS,
                  self->index);
}

static bool
within_both (void)
{
  return explore.n_preemptions + explore.n_delays < explore.max_together;
}

/* Whether the bounds allow one more. */
bool
explore_may_preempt (void)
{
  return explore.search != SEARCH_ALL
         || (explore.n_preemptions < explore.max_preemptions && within_both ());
}

bool
explore_may_delay (void)
{
  return explore.search != SEARCH_ALL || (explore.n_delays < explore.max_delays && within_both ());
}

/* @self can go on; another thread may be preferred, if the bound allows it. */
static void
maybe_preempt (Thread *self)
{
  unsigned values[EXPLORE_MAX_THREADS];
  unsigned n, chosen;

  if (!explore_may_preempt ())
    return;
  values[0] = self->index;
  n = list_others (self, values + 1);
  if (n == 0)
    return;
  chosen = explore_choose (CHOICE_SWITCH, self->step, 0, values, n + 1);
  if (chosen != self->index)
    {
      explore.n_preemptions++;
      jump (&explore.threads[chosen]);
    }
}

void
explore_switch_point (const void *word, bool writes)
{
  Thread *self = explore.current;

  next_step (self);
  if (explore_word_touch (word, self->index, writes) || explore.search != SEARCH_ALL)
    maybe_preempt (self);
}

void
explore_switch_point_fence (bool drains)
{
  Thread *self = explore.current;

  next_step (self);
  if (drains || explore.search != SEARCH_ALL)
    maybe_preempt (self);
}

static void
describe_stuck (void)
{
  char text[sizeof explore.message] = "deadlock:";

  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    {
      Thread *thread = &explore.threads[i];
      size_t length = strlen (text);

      if (thread->state != THREAD_ENDED)
        snprintf (text + length, sizeof text - length, " thread %u waits %s %s in %s;", i,
                  thread->state == THREAD_LOCKING ? "for the lock" : "in the futex",
                  thread->waits_for, thread->waits_in);
    }
  text[strlen (text) - 1] = '\0';
  explore_fail ("%s", text);
}

/* No thread can go on: the end, or a deadlock. */
static void
end_run (void)
{
  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    if (explore.threads[i].state == THREAD_LOCKING
        || (explore.threads[i].state == THREAD_SLEEPING && !explore.scenario->may_sleep))
      describe_stuck ();
  jump (&explore.threads[MAIN_THREAD]);
}

/* @self cannot go on, and comes back when it can. */
static void
leave (Thread *self)
{
  unsigned values[EXPLORE_MAX_THREADS + 1];
  unsigned n = list_others (self, values);

  if (n == 0 && explore_drain_all ())
    n = list_others (self, values);
  if (n == 0 && can_go_on (self))
    return;
  if (n == 0)
    end_run ();
  else
    jump (&explore.threads[n == 1 ? values[0]
                                  : explore_choose (CHOICE_SWITCH, self->step, 0, values, n)]);
}

/* The caller waits for @word: for the lock there to be free, or for a wake-up. */
void
explore_block (ThreadState state, char *word, const char *what, const char *where)
{
  Thread *self = explore.current;

  self->state = state;
  self->wanted = word;
  self->waits_for = what;
  self->waits_in = where;
  next_step (self);
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: waits for %s", self->step, self->index, where, what);
  leave (self);
  self->state = THREAD_READY;
}

/* The caller waits for what others do, so others go on. Any but the next in turn counts as a
 * preemption: otherwise two waiting threads could be left to each other for ever. */
int
explore_yield (const char *where)
{
  Thread *self = explore.current;
  unsigned values[EXPLORE_MAX_THREADS];
  unsigned n, chosen;

  if (!explore.running)
    return 0;
  next_step (self);
  explore_drain_old ();
  n = list_others (self, values);
  if (n == 0)
    {
      explore_drain_all ();
      return 0;
    }
  if (!explore_may_preempt ())
    n = 1;
  chosen = n == 1 ? values[0] : explore_choose (CHOICE_SWITCH, self->step, 0, values, n);
  explore.n_preemptions += chosen != values[0];
  if (explore.tracing)
    explore_trace ("%4u  | thread %u: %s: lets others go on", self->step, self->index, where);
  jump (&explore.threads[chosen]);

  return 0;
}

static void
thread_main (void)
{
  for (;;)
    {
      Thread *self = explore.current;

      explore.scenario->thread (self->index);
      explore_sync_end_thread (self);
      self->state = THREAD_ENDED;
      next_step (self);
      if (explore.tracing)
        explore_trace ("%4u  | thread %u ends", self->step, self->index);
      leave (self);
    }
}

/* Behind a failure no fiber is where it can go on: the one that failed was left in the middle, be
 * its thread at its end or not. */
static void
threads_reset (bool after_failure)
{
  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    {
      Thread *thread = &explore.threads[i];
      bool reusable = !after_failure && thread->fiber.started && thread->state == THREAD_ENDED;

      thread->index = i;
      thread->state = THREAD_READY;
      thread->n_buffered = 0;
      thread->fenced = false;
      thread->step = 0;
      memset (thread->values, 0, sizeof thread->values);
      memset (&thread->clock, 0, sizeof thread->clock);
      memset (&thread->to_acquire, 0, sizeof thread->to_acquire);
      memset (&thread->released, 0, sizeof thread->released);
      thread->clock.at[i] = 1;
      if (!reusable)
        explore_fiber_prepare (&thread->fiber, thread_main);
    }
  explore.threads[MAIN_THREAD].index = MAIN_THREAD;
  explore.threads[MAIN_THREAD].fiber.started = true;
  explore.current = &explore.threads[MAIN_THREAD];
}

static void
run_threads (void)
{
  unsigned values[EXPLORE_MAX_THREADS];
  unsigned n = explore.scenario->n_threads;

  for (unsigned i = 0; i < n; i++)
    values[i] = i;
  explore.running = true;
  jump (&explore.threads[explore_choose (CHOICE_SWITCH, 0, 0, values, n)]);
  explore.running = false;
}

/* One interleaving, by the choices that explore_choose() makes. Returns whether it was right. */
bool
explore_run (void)
{
  bool after_failure = explore.failed;

  explore.running = false;
  explore.failed = false;
  explore.step = 0;
  explore.n_preemptions = 0;
  explore.n_delays = 0;
  explore_arena_reset ();
  explore_race_begin_run ();
  explore_search_begin_run ();
  explore_sync_reset ();
  states_restore ();
  threads_reset (after_failure);

  if (setjmp (explore.escape) == 0)
    {
      explore.scenario->setup ();
      run_threads ();
      if (!explore.failed)
        {
          explore_drain_all ();
          explore.scenario->check ();
        }
    }
  explore.running = false;

  return !explore.failed;
}
