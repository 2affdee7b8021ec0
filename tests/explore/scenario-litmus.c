/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The explorer, tried on programs whose outcomes are known: it runs all orders, it finds what store
 * buffers and weak orders bring about, and nothing that they do not.
 *
 * LITMUS_SC and LITMUS_PSO say under which model the program is to be run: what is expected is not
 * the same. The names of the litmus tests are the usual ones (SB, MP, 2+2W, ...).
 */
#include "iris/base/iris-atomic-private.h"

#include "explore.h"

#if defined(LITMUS_SC)
#define IN_TSO(text) NULL
#define IN_PSO(text) NULL
#elif defined(LITMUS_PSO)
#define IN_TSO(text) text
#define IN_PSO(text) text
#else
#define IN_TSO(text) text
#define IN_PSO(text) NULL
#endif

static _Atomic int x, y;
static int r[2];
static int data; /* watched */
static int *block;
static pthread_mutex_t locks[2];

static void
setup (void)
{
  atomic_init (&x, 0);
  atomic_init (&y, 0);
  r[0] = r[1] = -1;
  data = 0;
  block = malloc (sizeof *block);
  pthread_mutex_init (&locks[0], NULL);
  pthread_mutex_init (&locks[1], NULL);
}

EXPLORE_UNWATCHED static void
result (unsigned self, int value)
{
  r[self] = value;
}

static void
check_nothing (void)
{
}

/* Three steps each: there are 20 orders, and each is run. */

static unsigned char orders[64];
static unsigned order, n_steps;

static void
setup_orders (void)
{
  setup ();
  order = n_steps = 0;
}

EXPLORE_UNWATCHED static void
note_step (unsigned self)
{
  order |= self << n_steps++;
}

static void
three_steps (unsigned self)
{
  for (unsigned i = 0; i < 3; i++)
    {
      atomic_fetch_add_explicit (&x, 1, memory_order_relaxed);
      note_step (self);
    }
}

static void
check_orders (void)
{
  orders[order] = 1;
}

static void
check_all_orders (void)
{
  unsigned n = 0;

  for (unsigned i = 0; i < 64; i++)
    n += orders[i];
  explore_assert (n == 20, "of 20 orders %u were run", n);
}

/* SB: each stores, and looks at the other's. */

static void
sb (unsigned self)
{
  atomic_store_explicit (self == 0 ? &x : &y, 1, memory_order_release);
  result (self, atomic_load_explicit (self == 0 ? &y : &x, memory_order_acquire));
}

static void
sb_fenced (unsigned self)
{
  atomic_store_explicit (self == 0 ? &x : &y, 1, memory_order_relaxed);
  iris_fence_full ();
  result (self, atomic_load_explicit (self == 0 ? &y : &x, memory_order_relaxed));
}

static void
sb_half_fenced (unsigned self)
{
  atomic_store_explicit (self == 0 ? &x : &y, 1, memory_order_relaxed);
  if (self == 0)
    iris_fence_full ();
  result (self, atomic_load_explicit (self == 0 ? &y : &x, memory_order_relaxed));
}

static void
sb_asymmetric (unsigned self)
{
  atomic_store_explicit (self == 0 ? &x : &y, 1, memory_order_relaxed);
  if (self == 0)
    iris_fence_heavy ();
  else
    iris_fence_light ();
  result (self, atomic_load_explicit (self == 0 ? &y : &x, memory_order_relaxed));
}

static void
sb_exchanged (unsigned self)
{
  atomic_exchange_explicit (self == 0 ? &x : &y, 1, memory_order_seq_cst);
  result (self, atomic_load_explicit (self == 0 ? &y : &x, memory_order_seq_cst));
}

static void
check_sb (void)
{
  explore_assert (r[0] == 1 || r[1] == 1, "both saw nothing");
}

/* MP: one stores twice, the other looks in the opposite order. */

static void
mp (unsigned self)
{
  if (self == 0)
    {
      atomic_store_explicit (&x, 1, memory_order_relaxed);
      atomic_store_explicit (&y, 1, memory_order_relaxed);
    }
  else
    {
      result (0, atomic_load_explicit (&y, memory_order_relaxed));
      result (1, atomic_load_explicit (&x, memory_order_relaxed));
    }
}

static void
mp_released (unsigned self)
{
  if (self == 0)
    {
      atomic_store_explicit (&x, 1, memory_order_relaxed);
      atomic_store_explicit (&y, 1, memory_order_release);
    }
  else
    {
      mp (self);
    }
}

static void
mp_behind_fence (unsigned self)
{
  if (self == 0)
    {
      atomic_store_explicit (&x, 1, memory_order_relaxed);
      atomic_thread_fence (memory_order_release);
      atomic_store_explicit (&y, 1, memory_order_relaxed);
    }
  else
    {
      mp (self);
    }
}

static void
check_mp (void)
{
  explore_assert (r[0] != 1 || r[1] == 1, "the second store was seen, and not the first");
}

/* A thread sees its own stores at once, in their order. */
static void
own_stores (unsigned self)
{
  _Atomic int *word = self == 0 ? &x : &y;

  atomic_store_explicit (word, 1, memory_order_relaxed);
  atomic_store_explicit (word, 2, memory_order_relaxed);
  explore_assert (atomic_load_explicit (word, memory_order_relaxed) == 2, "its own store is gone");
  atomic_load_explicit (self == 0 ? &y : &x, memory_order_relaxed);
}

/* Stores of one thread to one word never arrive in another order. */
static void
coherence (unsigned self)
{
  int first, second;

  if (self == 0)
    {
      atomic_store_explicit (&x, 1, memory_order_relaxed);
      atomic_store_explicit (&x, 2, memory_order_relaxed);
      return;
    }
  first = atomic_load_explicit (&x, memory_order_relaxed);
  second = atomic_load_explicit (&x, memory_order_relaxed);
  explore_assert (second >= first, "a word went back");
}

/* Data handed over by a flag. */

static void
hand_over (unsigned self, int store, int load)
{
  if (self == 0)
    {
      data = 1;
      atomic_store_explicit (&x, 1, store);
    }
  else if (atomic_load_explicit (&x, load) == 1)
    {
      explore_assert (data == 1, "the flag was set, and not the data");
    }
}

static void
handed_over (unsigned self)
{
  hand_over (self, memory_order_release, memory_order_acquire);
}

static void
handed_over_no_release (unsigned self)
{
  hand_over (self, memory_order_relaxed, memory_order_acquire);
}

static void
handed_over_no_acquire (unsigned self)
{
  hand_over (self, memory_order_release, memory_order_relaxed);
}

/* The flag goes through a third thread's read-modify-write, which continues the release. */
static void
handed_on (unsigned self)
{
  if (self == 2)
    atomic_fetch_add_explicit (&x, 1, memory_order_relaxed);
  else if (self == 0)
    {
      data = 1;
      atomic_store_explicit (&x, 2, memory_order_release);
    }
  else if (atomic_load_explicit (&x, memory_order_acquire) >= 2)
    explore_assert (data == 1, "the flag was set, and not the data");
}

static void
under_lock (unsigned self)
{
  pthread_mutex_lock (&locks[0]);
  data++;
  pthread_mutex_unlock (&locks[0]);
}

static void
check_under_lock (void)
{
  explore_assert (data == 3, "of three additions under a lock there are %d", data);
}

/* What must be found. */

static void
lock_both (unsigned self)
{
  pthread_mutex_lock (&locks[self]);
  pthread_mutex_lock (&locks[1 - self]);
  pthread_mutex_unlock (&locks[1 - self]);
  pthread_mutex_unlock (&locks[self]);
}

static void
use_freed (unsigned self)
{
  if (self == 0)
    free (block);
  else
    *block = 1;
}

static void
spin_for_ever (unsigned self)
{
  while (atomic_load_explicit (&x, memory_order_relaxed) == 0)
    iris_cpu_relax ();
}

static const ExploreScenario scenarios[] = {
  { "litmus/orders", 2, setup_orders, three_steps, check_orders, .preemptions = 6 },
  { "litmus/all-orders-were-run", 2, setup_orders, three_steps, check_all_orders },
  { "litmus/SB", 2, setup, sb, check_sb, .fails = IN_TSO ("both saw nothing") },
  { "litmus/SB-fenced", 2, setup, sb_fenced, check_sb },
  { "litmus/SB-half-fenced", 2, setup, sb_half_fenced, check_sb,
    .fails = IN_TSO ("both saw nothing") },
  { "litmus/SB-asymmetric", 2, setup, sb_asymmetric, check_sb },
  { "litmus/SB-exchanged", 2, setup, sb_exchanged, check_sb },
  { "litmus/MP", 2, setup, mp, check_mp, .fails = IN_PSO ("and not the first") },
  { "litmus/MP-released", 2, setup, mp_released, check_mp },
  { "litmus/MP-behind-fence", 2, setup, mp_behind_fence, check_mp },
  { "litmus/own-stores", 2, setup, own_stores, check_nothing },
  { "litmus/coherence", 2, setup, coherence, check_nothing },
  { "litmus/handed-over", 2, setup, handed_over, check_nothing },
  { "litmus/handed-on", 3, setup, handed_on, check_nothing },
  { "litmus/under-lock", 3, setup, under_lock, check_under_lock },
#ifdef LITMUS_WATCHED
  { "litmus/no-release", 2, setup, handed_over_no_release, check_nothing, .fails = "data race" },
  { "litmus/no-acquire", 2, setup, handed_over_no_acquire, check_nothing, .fails = "data race" },
  { "litmus/use-freed", 2, setup, use_freed, check_nothing, .fails = "was freed" },
#endif
  { "litmus/lock-both", 2, setup, lock_both, check_nothing, .fails = "deadlock" },
  { "litmus/spin-for-ever", 2, setup, spin_for_ever, check_nothing, .fails = "in a circle" },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
