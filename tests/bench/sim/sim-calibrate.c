/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What things cost on this machine: `iris-bench calibrate FILE`.
 *
 * Each is the least of many tries, because whatever disturbs makes a try slower. What this machine
 * cannot show keeps its usual value, and is not marked as measured.
 *
 * The cost of an access stands for the instructions around it, too. It is what makes the simulated
 * time of one worker with items of nothing the real one; nothing else is fitted.
 */
#include "tests/bench/sim/sim.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 200
#define MIB   ((gsize) 1 << 20)

typedef struct
{
  _Alignas(128) _Atomic guint32 turn;
  _Alignas(128) _Atomic guint32 word;
  _Alignas(128) _Atomic bool stop;
  gint64 woken_at;
  gdouble *numbers;
  gsize n;
} Shared;

/* --- on one processor ------------------------------------------------------------------------- */

static void
do_rmw (Shared *self)
{
  atomic_fetch_add_explicit (&self->word, 1, memory_order_seq_cst);
}

static void
do_pause (Shared *self)
{
#if defined(__x86_64__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__)
  __asm__ volatile("yield" ::: "memory");
#endif
}

static void
do_clock (Shared *self)
{
  bench_now ();
}

static void
do_yield (Shared *self)
{
  sched_yield ();
}

/* A wait for what is there already. */
static void
do_sleep (Shared *self)
{
  syscall (SYS_futex, &self->word, FUTEX_WAIT_PRIVATE,
           atomic_load_explicit (&self->word, memory_order_relaxed) + 1, NULL, NULL, 0);
}

static void
do_heavy (Shared *self)
{
  syscall (SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* Nanoseconds a call. */
static gdouble
least (Shared *shared, void (*call) (Shared *), guint n)
{
  gdouble best = G_MAXDOUBLE;

  for (guint i = 0; i < TRIES; i++)
    {
      gint64 begin = bench_now ();

      for (guint j = 0; j < n; j++)
        call (shared);
      best = MIN (best, (gdouble) (bench_now () - begin) / n);
    }

  return best;
}

/* Bytes a nanosecond. */
static gdouble
touch_fastest (gsize size, gboolean writes)
{
  gsize n = size / sizeof (gdouble);
  g_autofree gdouble *numbers = g_new0 (gdouble, n);
  gint64 best = G_MAXINT64;

  for (gsize i = 0; i < n; i += 512)
    numbers[i] = 1;
  for (guint i = 0; i < 20; i++)
    {
      gint64 begin = bench_now ();

      sim_real_touch (numbers, n, writes);
      best = MIN (best, bench_now () - begin);
    }

  return (gdouble) size / (gdouble) best;
}

/* A chase through what the first cache cannot hold, and the next one can: nanoseconds a line. */
static gdouble
measure_next_cache (void)
{
  const guint n = 256 * 1024 / 64, step = 64 / sizeof (guint);
  g_autofree guint *lines = g_new0 (guint, (gsize) n * step);
  g_autofree guint *order = g_new (guint, n);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  gint64 best = G_MAXINT64;
  guint at = 0;

  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n - 1; i > 0; i--)
    {
      guint other = (guint) g_rand_int_range (random, 0, (gint32) i), kept = order[i];

      order[i] = order[other];
      order[other] = kept;
    }
  for (guint i = 0; i < n; i++)
    lines[order[i] * step] = order[(i + 1) % n] * step;
  for (guint i = 0; i < TRIES; i++)
    {
      gint64 begin = bench_now ();

      for (guint j = 0; j < n; j++)
        at = lines[at];
      best = MIN (best, bench_now () - begin);
    }
  __asm__ volatile("" : : "r"(at));

  return (gdouble) best / n;
}

/* --- between two ------------------------------------------------------------------------------ */

/* Waits as workers do: a loop without pauses delays the other processor of a core. */
static void
answer (Shared *self, guint mine)
{
  while (atomic_load_explicit (&self->turn, memory_order_acquire) != mine)
    {
      if (atomic_load_explicit (&self->stop, memory_order_relaxed))
        return;
      do_pause (self);
    }
}

/* Binds the caller to one of the processors that it may use; @before, or NULL, is where it may run
 * afterwards. */
static void
bind_to (guint nth, cpu_set_t *before)
{
  cpu_set_t all, one;

  if (sched_getaffinity (0, sizeof all, &all) != 0)
    return;
  if (before != NULL)
    *before = all;
  CPU_ZERO (&one);
  for (guint cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET (cpu, &all) && nth-- == 0)
      {
        CPU_SET (cpu, &one);
        sched_setaffinity (0, sizeof one, &one);
        return;
      }
}

static gpointer
ping (gpointer data)
{
  Shared *self = data;

  bind_to (1, NULL);
  while (!atomic_load_explicit (&self->stop, memory_order_relaxed))
    {
      answer (self, 1);
      atomic_store_explicit (&self->turn, 0, memory_order_release);
    }

  return NULL;
}

/* There and back the line is taken and fetched twice. */
static gdouble
measure_line (void)
{
  Shared shared = { 0 };
  g_autoptr (GThread) thread = g_thread_new ("ping", ping, &shared);
  gdouble best = G_MAXDOUBLE;
  cpu_set_t before;

  bind_to (0, &before);
  for (guint i = 0; i < 10 * TRIES; i++)
    {
      gint64 begin = bench_now ();

      for (guint j = 0; j < 100; j++)
        {
          atomic_store_explicit (&shared.turn, 1, memory_order_release);
          answer (&shared, 0);
        }
      best = MIN (best, (gdouble) (bench_now () - begin) / 100);
    }
  atomic_store_explicit (&shared.stop, true, memory_order_relaxed);
  g_thread_join (g_steal_pointer (&thread));
  sched_setaffinity (0, sizeof before, &before);

  return best / 4;
}

static gpointer
write_in_turn (gpointer data)
{
  Shared *self = data;

  bind_to (1, NULL);
  while (!atomic_load_explicit (&self->stop, memory_order_relaxed))
    {
      answer (self, 1);
      sim_real_touch (self->numbers, self->n, TRUE);
      atomic_store_explicit (&self->turn, 0, memory_order_release);
    }

  return NULL;
}

/* Bytes a nanosecond of what the other one has just written, written as well. */
static gdouble
measure_other (void)
{
  const gsize size = MIB / 8;
  g_autofree gdouble *numbers = g_new0 (gdouble, size / sizeof (gdouble));
  Shared shared = { .numbers = numbers, .n = size / sizeof (gdouble) };
  g_autoptr (GThread) thread = g_thread_new ("write", write_in_turn, &shared);
  gint64 best = G_MAXINT64;
  cpu_set_t before;

  bind_to (0, &before);
  for (guint i = 0; i < TRIES; i++)
    {
      gint64 begin;

      atomic_store_explicit (&shared.turn, 1, memory_order_release);
      answer (&shared, 0);
      begin = bench_now ();
      sim_real_touch (numbers, shared.n, TRUE);
      best = MIN (best, bench_now () - begin);
    }
  atomic_store_explicit (&shared.stop, true, memory_order_relaxed);
  g_thread_join (g_steal_pointer (&thread));
  sched_setaffinity (0, sizeof before, &before);

  return (gdouble) size / (gdouble) best;
}

static gpointer
spin (gpointer data)
{
  Shared *self = data;

  bind_to (1, NULL);
  while (!atomic_load_explicit (&self->stop, memory_order_relaxed))
    atomic_fetch_add_explicit (&self->turn, 1, memory_order_relaxed);

  return NULL;
}

/* How often the other one has counted in 100 µs, in which it is interrupted or not; and by how many
 * calls. */
static gdouble
count_speed (Shared *self, gboolean interrupts, guint *n_calls)
{
  guint32 first = atomic_load_explicit (&self->turn, memory_order_relaxed);
  gint64 begin = bench_now (), now;

  *n_calls = 0;
  do
    {
      if (interrupts)
        {
          do_heavy (self);
          ++*n_calls;
        }
      now = bench_now ();
    }
  while (now - begin < 100000);

  return (gdouble) (atomic_load_explicit (&self->turn, memory_order_relaxed) - first)
         / (gdouble) (now - begin);
}

/* With a thread at work on the other processor, which the kernel interrupts only while it runs: a
 * try in which it did not would be the quickest, so these are medians. FALSE: it never ran beside
 * this one. */
static gboolean
measure_heavy (gdouble *heavy, gdouble *interrupt)
{
  Shared shared = { 0 };
  g_autoptr (GThread) thread = NULL;
  g_autoptr (GArray) calls = g_array_new (FALSE, FALSE, sizeof (gdouble));
  g_autoptr (GArray) free_speeds = g_array_new (FALSE, FALSE, sizeof (gdouble));
  g_autoptr (GArray) speeds = g_array_new (FALSE, FALSE, sizeof (gdouble));
  cpu_set_t before;

  /* It would inherit what this one is bound to. */
  thread = g_thread_new ("spin", spin, &shared);
  bind_to (0, &before);
  while (atomic_load_explicit (&shared.turn, memory_order_relaxed) == 0)
    sched_yield ();
  for (guint i = 0; i < TRIES; i++)
    {
      guint n_calls;
      gdouble speed = count_speed (&shared, i % 2 == 1, &n_calls), call;

      if (speed <= 0)
        continue;
      g_array_append_val (i % 2 == 1 ? speeds : free_speeds, speed);
      call = 100000.0 / MAX (n_calls, 1);
      if (i % 2 == 1)
        g_array_append_val (calls, call);
    }
  atomic_store_explicit (&shared.stop, true, memory_order_relaxed);
  g_thread_join (g_steal_pointer (&thread));
  sched_setaffinity (0, sizeof before, &before);
  if (speeds->len == 0 || free_speeds->len == 0)
    return FALSE;
  *heavy = bench_quantile (calls, 0.5);
  *interrupt = *heavy * (1 - bench_quantile (speeds, 0.5) / bench_quantile (free_speeds, 0.5));
  *interrupt = CLAMP (*interrupt, 0, *heavy);

  return TRUE;
}

static gpointer
sleep_and_tell (gpointer data)
{
  Shared *self = data;

  bind_to (1, NULL);
  while (!atomic_load_explicit (&self->stop, memory_order_acquire))
    {
      syscall (SYS_futex, &self->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
      if (atomic_load_explicit (&self->word, memory_order_acquire) == 0)
        continue;
      self->woken_at = bench_now ();
      atomic_store_explicit (&self->word, 0, memory_order_relaxed);
      atomic_store_explicit (&self->turn, 1, memory_order_release);
    }

  return NULL;
}

/* What waking costs the waker, and how long it takes: quartiles, because a thread seldom wakes as
 * quickly as it can. */
static void
measure_wake (gdouble *call, gdouble *wake)
{
  Shared shared = { 0 };
  g_autoptr (GThread) thread = g_thread_new ("sleep", sleep_and_tell, &shared);
  g_autoptr (GArray) calls = g_array_new (FALSE, FALSE, sizeof (gdouble));
  g_autoptr (GArray) wakes = g_array_new (FALSE, FALSE, sizeof (gdouble));
  cpu_set_t before;

  bind_to (0, &before);
  for (guint i = 0; i < TRIES; i++)
    {
      gdouble called, woken;
      gint64 begin;

      if (!bench_wait_asleep (NULL, NULL, NULL))
        break;
      atomic_store_explicit (&shared.word, 1, memory_order_release);
      begin = bench_now ();
      if (syscall (SYS_futex, &shared.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 1)
        {
          atomic_store_explicit (&shared.word, 0, memory_order_relaxed);
          continue;
        }
      called = (gdouble) (bench_now () - begin);
      while (atomic_load_explicit (&shared.turn, memory_order_acquire) == 0)
        ;
      atomic_store_explicit (&shared.turn, 0, memory_order_relaxed);
      woken = (gdouble) (shared.woken_at - begin);
      g_array_append_val (calls, called);
      g_array_append_val (wakes, woken);
    }
  atomic_store_explicit (&shared.stop, true, memory_order_release);
  atomic_store_explicit (&shared.word, 1, memory_order_release);
  syscall (SYS_futex, &shared.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  g_thread_join (g_steal_pointer (&thread));
  sched_setaffinity (0, sizeof before, &before);
  *call = bench_quantile (calls, 0.25);
  *wake = bench_quantile (wakes, 0.25);
}

static gpointer
end_and_tell (gpointer data)
{
  *(gint64 *) data = bench_now ();

  return NULL;
}

static gdouble
measure_end (void)
{
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; i < TRIES; i++)
    {
      gint64 ended = 0;
      g_autoptr (GThread) thread = g_thread_new ("end", end_and_tell, &ended);
      gdouble took;

      g_thread_join (g_steal_pointer (&thread));
      took = (gdouble) (bench_now () - ended);
      g_array_append_val (ends, took);
    }

  return bench_quantile (ends, 0.25);
}

/* --- an access -------------------------------------------------------------------------------- */

static gboolean
simulate (const SimMachine *machine,
          SimCosts costs,
          gdouble access,
          SimLoad *load,
          gdouble *seconds,
          GError **error)
{
  const SimSetup setup = { machine, &costs, sim_policy_find ("core"), 1, 1, TRUE };
  SimOutcome outcome;

  costs.values[SIM_COST_access] = access;
  if (!sim_run (&setup, load, &outcome, error))
    return FALSE;
  *seconds = outcome.drained;

  return TRUE;
}

/* The simulated time grows with it in a straight line. */
static gboolean
fit_access (SimCosts *self, GError **error)
{
  const SimLoadSpec spec = { .kind = SIM_FIB, .n = 23 };
  g_autoptr (SimLoad) load = sim_load_new (&spec);
  g_autoptr (SimMachine) machine = sim_machine_new ("core:1 pu:1", error);
  gdouble real = G_MAXDOUBLE, low, high;

  for (guint i = 0; machine != NULL && i < 50; i++)
    {
      SimOutcome outcome;

      if (!sim_run_really (sim_policy_find ("core"), 1, load, &outcome, error))
        return FALSE;
      real = MIN (real, outcome.drained);
    }
  if (machine == NULL || !simulate (machine, *self, 0.1, load, &low, error)
      || !simulate (machine, *self, 1.1, load, &high, error))
    return FALSE;
  sim_costs_set (self, SIM_COST_access, MAX (0.1 + (real - low) / (high - low), 0.01));

  return TRUE;
}

static void
measure_two (SimCosts *self)
{
  gdouble heavy, interrupt, call, wake;

  sim_costs_set (self, SIM_COST_line_cache, measure_line ());
  sim_costs_set (self, SIM_COST_read_other, measure_other () * self->values[SIM_COST_writes]);
  if (measure_heavy (&heavy, &interrupt))
    {
      sim_costs_set (self, SIM_COST_heavy, heavy);
      sim_costs_set (self, SIM_COST_interrupt, interrupt);
    }
  measure_wake (&call, &wake);
  sim_costs_set (self, SIM_COST_wake_call, call);
  sim_costs_set (self, SIM_COST_wake, wake);
}

static gboolean
measure_all (SimCosts *self, GError **error)
{
  Shared shared = { 0 };

  sim_costs_init (self);
  syscall (SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  sim_costs_set (self, SIM_COST_rmw, least (&shared, do_rmw, 1000));
  sim_costs_set (self, SIM_COST_line_core, measure_next_cache ());
  sim_costs_set (self, SIM_COST_pause, least (&shared, do_pause, 1000));
  sim_costs_set (self, SIM_COST_clock, least (&shared, do_clock, 1000));
  sim_costs_set (self, SIM_COST_yield, least (&shared, do_yield, 10));
  sim_costs_set (self, SIM_COST_sleep, least (&shared, do_sleep, 10));
  sim_costs_set (self, SIM_COST_end, measure_end ());
  sim_costs_set (self, SIM_COST_read_core, touch_fastest (MIB / 4, FALSE));
  sim_costs_set (self, SIM_COST_read_cache, touch_fastest (8 * MIB, FALSE));
  sim_costs_set (self, SIM_COST_read_near, touch_fastest (256 * MIB, FALSE));
  self->values[SIM_COST_read_far] = self->values[SIM_COST_read_near] / 2;
  sim_costs_set (self, SIM_COST_writes,
                 self->values[SIM_COST_read_core] / touch_fastest (MIB / 4, TRUE));

  sim_costs_set (self, SIM_COST_heavy_alone, least (&shared, do_heavy, 20));
  if (g_get_num_processors () > 1)
    measure_two (self);

  return fit_access (self, error);
}

gboolean
sim_costs_measure (SimCosts *self, GError **error)
{
  int before = sim_real_hurry ();
  gboolean good = measure_all (self, error);

  sim_real_slow_down (before);

  return good;
}
