/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine: simulated threads as fibers, the order of events, and waiting. The design is in
 * sim-private.h.
 *
 * A fiber is entered once with setcontext(); from then on _setjmp() and _longjmp() switch, which
 * make no system call. What waits has no event; its events of before are known by an older
 * generation, and passed over.
 */
#include "tests/bench/sim/sim-private.h"

#include <string.h>
#include <sys/mman.h>

#define STACK_SIZE ((size_t) 64 * 1024)
#define N_BUCKETS  4096

typedef struct
{
  uint64_t at;
  unsigned fiber;
  unsigned generation;
} Event;

typedef struct
{
  void *variable;
  size_t size;
} Local;

SimEngine sim_engine;

static GPtrArray *fibers;
static Event *events; /* a heap: the earliest first */
static unsigned n_events, max_events;
static SimFiber *first_waiting[N_BUCKETS], *last_waiting[N_BUCKETS];
static Local locals[SIM_MAX_LOCALS];
static unsigned n_locals;
static ucontext_t start;
static jmp_buf outside;
static GSList *spare_stacks;
static uint64_t quantum;

/* --- events ----------------------------------------------------------------------------------- */

static bool
is_earlier (const Event *a, const Event *b)
{
  return a->at != b->at ? a->at < b->at : a->fiber < b->fiber;
}

static void
update_horizon (void)
{
  sim_engine.horizon = n_events > 0 && events[0].at < UINT64_MAX - quantum ? events[0].at + quantum
                                                                           : UINT64_MAX;
}

static void
push_event (SimFiber *fiber, uint64_t at)
{
  const Event event = { at, fiber->index, ++fiber->generation };
  unsigned i = n_events++;

  if (n_events > max_events)
    {
      max_events = 2 * n_events + 64;
      events = g_renew (Event, events, max_events);
    }
  for (; i > 0 && is_earlier (&event, &events[(i - 1) / 2]); i = (i - 1) / 2)
    events[i] = events[(i - 1) / 2];
  events[i] = event;
  update_horizon ();
}

static Event
pop_event (void)
{
  const Event first = events[0], last = events[--n_events];
  unsigned i = 0;

  for (;;)
    {
      unsigned child = 2 * i + 1;

      if (child + 1 < n_events && is_earlier (&events[child + 1], &events[child]))
        child++;
      if (child >= n_events || !is_earlier (&events[child], &last))
        break;
      events[i] = events[child];
      i = child;
    }
  events[i] = last;

  return first;
}

/* The fiber whose turn it is; NULL when none has an event. */
static SimFiber *
next_fiber (void)
{
  while (n_events > 0)
    {
      const Event event = pop_event ();
      SimFiber *fiber = g_ptr_array_index (fibers, event.fiber);

      if (event.generation != fiber->generation || fiber->has_ended)
        continue;
      update_horizon ();
      fiber->now = MAX (fiber->now, event.at);
      return fiber;
    }

  return NULL;
}

/* --- fibers ----------------------------------------------------------------------------------- */

static void take_out_waiting (SimFiber *fiber);

static void
save_locals (SimFiber *fiber)
{
  char *to = fiber->locals;

  for (unsigned i = 0; i < n_locals; to += locals[i++].size)
    memcpy (to, locals[i].variable, locals[i].size);
}

static void
restore_locals (const SimFiber *fiber)
{
  const char *from = fiber->locals;

  for (unsigned i = 0; i < n_locals; from += locals[i++].size)
    memcpy (locals[i].variable, from, locals[i].size);
}

static void
fiber_main (void)
{
  SimFiber *self = sim_engine.current;

  self->body (self->data);
  self->has_ended = true;
  sim_engine.n_running--;
  while (sim_wake_one (self, self->now + sim_engine.cost[SIM_COST_end]))
    ;
  sim_wait (NULL, UINT64_MAX);
}

/* By the end of its time, or by a waker, which took it out. */
static void
end_wait (SimFiber *fiber)
{
  if (!fiber->is_waiting)
    return;
  if (fiber->waits_for != NULL)
    take_out_waiting (fiber);
  fiber->is_waiting = false;
  sim_engine.n_running++;
  fiber->n_heavy = sim_engine.n_heavy;
}

static void __attribute__ ((noreturn)) enter (SimFiber *fiber)
{
  sim_engine.current = fiber;
  end_wait (fiber);
  restore_locals (fiber);
  if (fiber->has_started)
    _longjmp (fiber->at, 1);
  fiber->has_started = true;
  getcontext (&start);
  start.uc_stack.ss_sp = fiber->stack;
  start.uc_stack.ss_size = STACK_SIZE;
  start.uc_link = NULL;
  makecontext (&start, fiber_main, 0);
  setcontext (&start);
  g_assert_not_reached ();
}

/* Saves the current one, and goes on with the next. */
static void
go_on (void)
{
  SimFiber *self = sim_engine.current, *next = next_fiber ();

  if (next == self)
    {
      end_wait (self);
      return;
    }
  save_locals (self);
  if (_setjmp (self->at) != 0)
    return;
  if (next == NULL)
    _longjmp (outside, 1);
  enter (next);
}

SimFiber *
sim_fiber_new (unsigned processor, void (*body) (void *data), void *data)
{
  SimFiber *self = g_new0 (SimFiber, 1);

  self->index = fibers->len;
  self->processor = processor;
  self->body = body;
  self->data = data;
  self->now = sim_engine.current != NULL ? sim_engine.current->now : 0;
  self->n_heavy = sim_engine.n_heavy;
  self->cache = sim_memory_cache (self->index);
  if (spare_stacks != NULL)
    {
      self->stack = spare_stacks->data;
      spare_stacks = g_slist_delete_link (spare_stacks, spare_stacks);
    }
  else
    {
      self->stack = mmap (NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (self->stack == MAP_FAILED)
        g_error ("the simulator has no memory for the stack of a worker");
    }
  g_ptr_array_add (fibers, self);
  sim_engine.n_running++;
  push_event (self, self->now);

  return self;
}

static void
fiber_free (gpointer data)
{
  SimFiber *self = data;

  spare_stacks = g_slist_prepend (spare_stacks, self->stack);
  g_free (self);
}

/* In front of an access to what others see: whose clock is behind goes first. */
void
sim_give_way (void)
{
  SimFiber *self = sim_engine.current;

  self->now += (sim_engine.n_heavy - self->n_heavy) * sim_engine.cost[SIM_COST_interrupt];
  self->n_heavy = sim_engine.n_heavy;
  push_event (self, self->now);
  go_on ();
}

/* Goes on when no other fiber has anything to do, at the time of the latest. */
void
sim_settle (void)
{
  SimFiber *self = sim_engine.current;

  push_event (self, UINT64_MAX - 1);
  self->now = 0;
  go_on ();
  self->now = 0;
  for (guint i = 0; i < fibers->len; i++)
    {
      const SimFiber *other = g_ptr_array_index (fibers, i);

      if (other != self)
        self->now = MAX (self->now, other->now);
    }
  self->n_heavy = sim_engine.n_heavy;
}

void
sim_spend (uint64_t picoseconds)
{
  SimFiber *self = sim_engine.current;

  if (self != NULL)
    self->now += picoseconds;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static unsigned
bucket_of (const void *what)
{
  return (unsigned) (((uintptr_t) what >> 4) * 0x9e3779b1u % N_BUCKETS);
}

static void
take_out_waiting (SimFiber *fiber)
{
  unsigned bucket = bucket_of (fiber->waits_for);
  SimFiber *before = NULL;

  for (SimFiber *i = first_waiting[bucket]; i != fiber; i = i->next_waiting)
    before = i;
  if (before != NULL)
    before->next_waiting = fiber->next_waiting;
  else
    first_waiting[bucket] = fiber->next_waiting;
  if (last_waiting[bucket] == fiber)
    last_waiting[bucket] = before;
  fiber->waits_for = NULL;
  fiber->next_waiting = NULL;
}

/* Until it is woken; false after @at_most picoseconds. */
bool
sim_wait (const void *what, uint64_t at_most)
{
  SimFiber *self = sim_engine.current;

  self->is_waiting = true;
  self->was_woken = false;
  self->waits_for = what;
  self->generation++;
  if (!self->has_ended)
    sim_engine.n_running--;
  if (what != NULL)
    {
      unsigned bucket = bucket_of (what);

      if (last_waiting[bucket] != NULL)
        last_waiting[bucket]->next_waiting = self;
      else
        first_waiting[bucket] = self;
      last_waiting[bucket] = self;
    }
  if (at_most != UINT64_MAX)
    push_event (self, self->now + at_most);
  go_on ();

  return self->was_woken;
}

/* The one that has waited longest goes on at that time. False if none waits. */
bool
sim_wake_one (const void *what, uint64_t at)
{
  SimFiber *fiber = first_waiting[bucket_of (what)];

  while (fiber != NULL && fiber->waits_for != what)
    fiber = fiber->next_waiting;
  if (fiber == NULL)
    return false;
  take_out_waiting (fiber);
  fiber->was_woken = true;
  push_event (fiber, MAX (fiber->now, at));

  return true;
}

/* --- runs ------------------------------------------------------------------------------------- */

/* A variable that each simulated thread has for itself. */
void
sim_engine_local (void *variable, size_t size)
{
  for (unsigned i = 0; i < n_locals; i++)
    if (locals[i].variable == variable)
      return;
  g_assert (n_locals < SIM_MAX_LOCALS);
  locals[n_locals++] = (Local){ variable, size };
}

bool
sim_engine_init (const SimMachine *machine, const SimCosts *costs, GError **error)
{
  memset (&sim_engine, 0, sizeof sim_engine);
  if (!sim_memory_init (error))
    return false;
  sim_engine.machine = machine;
  for (unsigned i = 0; i < SIM_N_COSTS; i++)
    sim_engine.cost[i] = (uint64_t) (costs->values[i] * 1000);
  for (unsigned i = 0; i < SIM_N_LEVELS; i++)
    sim_engine.line_cost[i] = sim_engine.cost[SIM_COST_line_core + i];
  /* As long as a line is on its way, what others do with it cannot be seen anyway. Of many
   * processors each is looked at less often; doc/decisions/ says what that changes. */
  quantum = sim_engine.line_cost[SIM_CACHE] / 2 * MAX (1, sim_machine_n_processors (machine) / 64);
  fibers = g_ptr_array_new_with_free_func (fiber_free);
  n_events = 0;
  memset (first_waiting, 0, sizeof first_waiting);
  memset (last_waiting, 0, sizeof last_waiting);

  return true;
}

void
sim_engine_clear (void)
{
  g_clear_pointer (&fibers, g_ptr_array_unref);
  sim_memory_clear ();
}

/* Until no fiber has anything to do. False if some of them wait for ever. */
bool
sim_engine_run (void)
{
  SimFiber *first;

  if (_setjmp (outside) == 0)
    {
      first = next_fiber ();
      if (first != NULL)
        enter (first);
    }
  sim_engine.current = NULL;
  for (unsigned i = 0; i < n_locals; i++)
    memset (locals[i].variable, 0, locals[i].size);
  for (guint i = 0; i < fibers->len; i++)
    if (!((const SimFiber *) g_ptr_array_index (fibers, i))->has_ended)
      return false;

  return true;
}
