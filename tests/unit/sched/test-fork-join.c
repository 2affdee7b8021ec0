/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fork and join: results are right, each task runs once, waiting runs other work, an idle worker
 * gets at forked tasks, and the C stack stays as deep as plain recursion makes it.
 */
#include <check.h>
#include <iris/iris.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <iris/queue/deque/iris-fork-stack-private.h>

#if defined(IRIS_THREAD_SANITIZER) || defined(IRIS_ADDRESS_SANITIZER)
#define ROUNDS 10
#define FIB    16
#define N_FLAT 50000
#define CHAIN  500
#else
#define ROUNDS 100
#define FIB    23
#define N_FLAT 1000000
#define CHAIN  2000
#endif

static const guint pools[] = { 1, 2, 3, 4, 8 };

/* --- results ------------------------------------------------------------------------------------
 */

IRIS_FORKABLE_1 (guint64, fib, guint);

static guint64
fib (IrisForkJoin *fj, guint n)
{
  IrisForkTask left = { 0 };
  guint64 right;

  if (n < 2)
    return n;
  fib_fork (&fj, &left, n - 1);
  right = fib (fj, n - 2);

  return fib_join (&fj, &left) + right;
}

static guint64
fib_by_sum (guint n)
{
  guint64 a = 0, b = 1;

  for (guint i = 0; i < n; i++)
    {
      guint64 next = a + b;

      a = b;
      b = next;
    }

  return a;
}

static void
run_fib (IrisForkJoin *fj, gpointer data)
{
  guint64 *value = data;

  *value = fib (fj, (guint) *value);
}

static guint64
fib_on (IrisScheduler *scheduler, guint n)
{
  guint64 value = n;

  ck_assert (iris_fork_join_run (scheduler, run_fib, &value));

  return value;
}

/* One fork for each row's column; all joined in reverse order. */
#define MAX_QUEENS 8

IRIS_FORKABLE_4 (guint, queens, guint, guint, guint, guint);

static guint
queens (IrisForkJoin *fj, guint row, guint columns, guint left, guint right)
{
  IrisForkTask tasks[MAX_QUEENS] = { 0 };
  guint n = 0, sum = 0;

  if (row == MAX_QUEENS)
    return 1;
  for (guint free = ((1u << MAX_QUEENS) - 1) & ~(columns | left | right); free != 0;
       free &= free - 1)
    {
      guint here = free & -free;

      queens_fork (&fj, &tasks[n++], row + 1, columns | here, (left | here) << 1,
                   (right | here) >> 1);
    }
  while (n > 0)
    sum += queens_join (&fj, &tasks[--n]);

  return sum;
}

static void
run_queens (IrisForkJoin *fj, gpointer data)
{
  *(guint *) data = queens (fj, 0, 0, 0, 0);
}

START_TEST (results_are_those_of_plain_calls)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, pools[_i]);
  guint n = 0;

  for (guint i = 0; i < 10; i++)
    {
      ck_assert_uint_eq (fib_on (scheduler, FIB), fib_by_sum (FIB));
      ck_assert (iris_fork_join_run (scheduler, run_queens, &n));
      ck_assert_uint_eq (n, 92);
    }
}
END_TEST

START_TEST (forks_are_calls_where_no_worker_could_steal_them)
{
  IrisScheduler *schedulers[] = { iris_scheduler_new_full (0, 2),
                                  iris_lfscheduler_new_full (0, 2) };
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (IrisScheduler) main_scheduler = iris_gmainscheduler_new (context);

  ck_assert_uint_eq (fib (iris_fork_join_begin (), 15), fib_by_sum (15));
  for (guint i = 0; i < G_N_ELEMENTS (schedulers); i++)
    {
      ck_assert_uint_eq (fib_on (schedulers[i], 15), fib_by_sum (15));
      g_object_unref (schedulers[i]);
    }
  /* The thread that owns the context cannot wait for it. */
  ck_assert (g_main_context_acquire (context));
  ck_assert_uint_eq (fib_on (main_scheduler, 15), fib_by_sum (15));
  g_main_context_release (context);
}
END_TEST

/* --- trees in which every node must be met once -------------------------------------------------
 */

#define MAX_NODES 20000

static _Atomic guint8 met[MAX_NODES];
static _Atomic guint n_met;

static guint
next_random (guint x)
{
  x ^= x << 13;
  x ^= x >> 17;

  return x ^ (x << 5);
}

/* Nodes [begin, end): the first is this one's, the others are split at random among up to four. */
IRIS_FORKABLE_VOID_3 (tree, guint, guint, guint);

static void
tree (IrisForkJoin *fj, guint begin, guint end, guint seed)
{
  IrisForkTask tasks[4] = { 0 };
  guint n = 0;

  atomic_fetch_add_explicit (&met[begin++], 1, memory_order_relaxed);
  atomic_fetch_add_explicit (&n_met, 1, memory_order_relaxed);
  while (begin < end)
    {
      guint length = n < 4 ? 1 + seed % (end - begin) : end - begin;

      seed = next_random (seed);
      if (n < 4 && seed % 3 != 0)
        tree_fork (&fj, &tasks[n++], begin, begin + length, seed);
      else
        tree (fj, begin, begin + length, seed);
      begin += length;
    }
  while (n > 0)
    tree_join (&fj, &tasks[--n]);
}

static void
run_tree (IrisForkJoin *fj, gpointer data)
{
  tree (fj, 0, MAX_NODES, GPOINTER_TO_UINT (data));
  ck_assert_uint_eq (atomic_load (&n_met), MAX_NODES);
}

/* Without an assertion of Check's for each, which notes those that it passes. */
static void
expect_met_from (guint first)
{
  for (guint i = 0; i < MAX_NODES; i++)
    if (met[i] != (i >= first))
      ck_abort_msg ("number %u was met %u times", i, met[i]);
}

START_TEST (every_task_runs_once_and_before_its_join)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, pools[_i]);

  for (guint round = 1; round <= ROUNDS; round++)
    {
      memset (met, 0, sizeof met);
      atomic_store (&n_met, 0);
      ck_assert (iris_fork_join_run (scheduler, run_tree, GUINT_TO_POINTER (round * 7919)));
      expect_met_from (0);
    }
}
END_TEST

static void
mark_range (IrisForkJoin *fj, gsize begin, gsize end, gpointer data)
{
  if (begin >= end || end - begin > *(gsize *) data)
    ck_abort_msg ("a range from %zu to %zu", begin, end);
  for (gsize i = begin; i < end; i++)
    atomic_fetch_add_explicit (&met[i], 1, memory_order_relaxed);
}

static void
run_for (IrisForkJoin *fj, gpointer data)
{
  iris_fork_join_for (fj, 3, MAX_NODES, *(gsize *) data, mark_range, data);
  iris_fork_join_for (fj, 5, 5, 1, mark_range, data);
  iris_fork_join_for (fj, 6, 5, 1, mark_range, data);
}

START_TEST (a_range_is_covered_once)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, pools[_i]);

  for (gsize grain = 1; grain < 2 * MAX_NODES; grain = 3 * grain + 1)
    {
      memset (met, 0, sizeof met);
      ck_assert (iris_fork_join_run (scheduler, run_for, &grain));
      expect_met_from (3);
    }
}
END_TEST

/* --- thieves ------------------------------------------------------------------------------------
 */

static _Atomic guint n_done;

static void
be_done (IrisForkJoin *fj, gpointer data)
{
  ck_assert_ptr_ne (iris_worker_current (), data);
  atomic_fetch_add_explicit (&n_done, 1, memory_order_relaxed);
}

/* Having forked, it neither forks nor joins until others have run it all. */
static void
wait_for_thieves (IrisForkJoin *fj, gpointer data)
{
  IrisForkTask tasks[5] = { 0 };

  atomic_store (&n_done, 0);
  for (guint i = 0; i < 5; i++)
    fj = iris_fork_join_fork (fj, &tasks[i], be_done, iris_worker_current ());
  while (atomic_load (&n_done) < 5)
    g_thread_yield ();
  for (guint i = 5; i > 0; i--)
    fj = iris_fork_join_join (fj, &tasks[i - 1]);
}

START_TEST (thieves_get_all_that_a_busy_owner_has_forked)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, pools[_i]);
  g_autoptr (IrisStats) stats = NULL;

  for (guint i = 0; i < ROUNDS; i++)
    ck_assert (iris_fork_join_run (scheduler, wait_for_thieves, NULL));
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_ge (stats->total.stolen_inside, 5 * ROUNDS);
}
END_TEST

/* The worker that begins the range waits in each of its first parts until the others have done
 * three times as many: more than one steal brings, so it must have shared again what was left. */
#define N_PARTS  64
#define N_WAITED 12

typedef struct
{
  IrisWorker *owner;
  guint n_own;
  _Atomic guint n_others;
} Parts;

static void
run_part (IrisForkJoin *fj, gsize begin, gsize end, gpointer data)
{
  Parts *self = data;

  ck_assert_uint_eq (end - begin, 1);
  if (iris_worker_current () != self->owner)
    atomic_fetch_add (&self->n_others, 1);
  else if (++self->n_own <= N_WAITED)
    while (atomic_load (&self->n_others) < 3 * self->n_own)
      g_thread_yield ();
}

static void
run_parts (IrisForkJoin *fj, gpointer data)
{
  Parts parts = { .owner = iris_worker_current () };

  iris_fork_join_for (fj, 0, N_PARTS, 1, run_part, &parts);
  ck_assert_uint_eq (parts.n_own + atomic_load (&parts.n_others), N_PARTS);
}

START_TEST (a_range_is_shared_again_when_a_worker_asks)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, pools[_i]);

  for (guint i = 0; i < ROUNDS; i++)
    ck_assert (iris_fork_join_run (scheduler, run_parts, NULL));
}
END_TEST

typedef struct
{
  guint n_calls;
  gsize next;
} Loop;

static void
follow (IrisForkJoin *fj, gsize begin, gsize end, gpointer data)
{
  Loop *self = data;

  self->n_calls++;
  ck_assert_uint_ge (begin, self->next);
  self->next = end;
}

/* One fork keeps what is asked for ready; the first half of the range, at least, is a loop. */
static void
run_loop (IrisForkJoin *fj, gpointer data)
{
  Loop loop = { 0 };

  iris_fork_join_for (fj, 0, 1000, 10, follow, &loop);
  ck_assert_uint_eq (loop.next, 1000);
  ck_assert_uint_ge (loop.n_calls, 100);
  ck_assert_uint_le (loop.n_calls, 110);
}

START_TEST (a_range_that_no_worker_wants_is_a_loop)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, 1);

  ck_assert (iris_fork_join_run (scheduler, run_loop, NULL));
}
END_TEST

/* The thief of @first ends it only when the joining owner has run the task that it forked. */
static _Atomic (IrisWorker *) joining;

static void
run_by_joiner (IrisForkJoin *fj, gpointer data)
{
  atomic_store (&joining, iris_worker_current ());
}

static void
first (IrisForkJoin *fj, gpointer data)
{
  IrisForkTask task = { 0 };

  atomic_fetch_add (&n_done, 1);
  fj = iris_fork_join_fork (fj, &task, run_by_joiner, NULL);
  while (atomic_load (&joining) == NULL)
    g_thread_yield ();
  fj = iris_fork_join_join (fj, &task);
}

static void
join_first (IrisForkJoin *fj, gpointer data)
{
  IrisForkTask task = { 0 };

  atomic_store (&n_done, 0);
  atomic_store (&joining, NULL);
  fj = iris_fork_join_fork (fj, &task, first, NULL);
  while (atomic_load (&n_done) == 0)
    g_thread_yield ();
  fj = iris_fork_join_join (fj, &task);
  ck_assert_ptr_eq (atomic_load (&joining), iris_worker_current ());
}

START_TEST (waiting_runs_what_the_thief_has_forked)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, 2);

  for (guint i = 0; i < ROUNDS; i++)
    ck_assert (iris_fork_join_run (scheduler, join_first, NULL));
}
END_TEST

/* Both steals of a round: that of the idle worker, and that of the one that joins. */
START_TEST (steals_of_a_join_are_counted)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, 2);
  g_autoptr (IrisStats) stats = NULL;

  for (guint i = 0; i < ROUNDS; i++)
    ck_assert (iris_fork_join_run (scheduler, join_first, NULL));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.steals, 2 * ROUNDS);
  ck_assert_uint_eq (stats->total.stolen_inside, 2 * ROUNDS);
  ck_assert_uint_ge (stats->total.steal_tries, 2 * ROUNDS);
  ck_assert_uint_eq (stats->total.executed, 3 * ROUNDS);
  ck_assert_uint_eq (stats->total.queued, 3 * ROUNDS);
}
END_TEST

typedef struct
{
  IrisScheduler *scheduler;
  guint64 searched_ns;
} Search;

static guint64
get_searching (const Search *self)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (self->scheduler);

  return stats->workers[iris_worker_get_index (iris_worker_current ())].searching_ns;
}

/* The worker runs one item all the time, so it searches in the join alone. */
static void
join_and_look (IrisForkJoin *fj, gpointer data)
{
  Search *self = data;
  guint64 before = get_searching (self);

  join_first (fj, NULL);
  self->searched_ns += get_searching (self) - before;
}

START_TEST (a_join_that_waits_searches)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, 2);
  Search search = { scheduler, 0 };

  for (guint i = 0; i < ROUNDS; i++)
    ck_assert (iris_fork_join_run (scheduler, join_and_look, &search));
  ck_assert_uint_gt (search.searched_ns, 0);
}
END_TEST

static void
sleep_through (IrisForkJoin *fj, gpointer data)
{
  gint64 end = g_get_monotonic_time () + 2000;

  atomic_fetch_add (&n_done, 1);
  while (g_get_monotonic_time () < end)
    g_thread_yield ();
}

static void
join_sleeper (IrisForkJoin *fj, gpointer data)
{
  IrisForkTask task = { 0 };

  atomic_store (&n_done, 0);
  fj = iris_fork_join_fork (fj, &task, sleep_through, NULL);
  while (atomic_load (&n_done) == 0)
    g_thread_yield ();
  fj = iris_fork_join_join (fj, &task);
}

START_TEST (a_join_that_sleeps_is_woken_by_the_end)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, 2);

  for (guint i = 0; i < ROUNDS; i++)
    ck_assert (iris_fork_join_run (scheduler, join_sleeper, NULL));
}
END_TEST

/* --- depth --------------------------------------------------------------------------------------
 */

/* N_FLAT is more than a stack holds. */
static void
count_one (IrisForkJoin *fj, gpointer data)
{
  atomic_fetch_add_explicit (&n_done, 1, memory_order_relaxed);
}

static void
fork_many (IrisForkJoin *fj, gpointer data)
{
  IrisForkTask *tasks = g_new (IrisForkTask, N_FLAT);
  IrisForkJoin *before = fj;

  atomic_store (&n_done, 0);
  for (guint i = 0; i < N_FLAT; i++)
    fj = iris_fork_join_fork (fj, &tasks[i], count_one, NULL);
  ck_assert_uint_eq (fib (fj, 12), fib_by_sum (12));
  for (guint i = N_FLAT; i > 0; i--)
    fj = iris_fork_join_join (fj, &tasks[i - 1]);
  ck_assert_uint_eq (atomic_load (&n_done), N_FLAT);
  ck_assert_ptr_eq (fj, before);
  g_free (tasks);
}

START_TEST (a_million_forks_in_a_row_are_no_more_than_a_stack_holds)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, pools[_i]);

  ck_assert (iris_fork_join_run (scheduler, fork_many, NULL));
  ck_assert_uint_eq (fib_on (scheduler, 15), fib_by_sum (15));
}
END_TEST

/* How deep the C stack is, from where the thread's outermost task began. */
static __thread char *outermost;
static _Atomic gsize deepest;

static __attribute__ ((noinline)) void
note_depth (void)
{
  char *here = __builtin_frame_address (0);
  gsize depth, before = atomic_load_explicit (&deepest, memory_order_relaxed);

  if (outermost == NULL || here > outermost)
    outermost = here;
  depth = (gsize) (outermost - here);
  while (depth > before && !atomic_compare_exchange_weak (&deepest, &before, depth))
    ;
}

/* Each forks the next and waits until a thief takes it: with two workers each task of the chain
 * is run by the one that waits for the one before it. */
IRIS_FORKABLE_2 (guint, chain, guint, gboolean);

static _Atomic guint reached;

static guint
chain (IrisForkJoin *fj, guint n, gboolean wait)
{
  IrisForkTask task = { 0 };

  note_depth ();
  atomic_store (&reached, n);
  if (n == 0)
    return 0;
  chain_fork (&fj, &task, n - 1, wait);
  while (wait && n % 2 == 0 && atomic_load (&reached) >= n)
    g_thread_yield ();

  return 1 + chain_join (&fj, &task);
}

static void
run_chain (IrisForkJoin *fj, gpointer data)
{
  ck_assert_uint_eq (chain (fj, CHAIN, data != NULL), CHAIN);
}

START_TEST (waiting_makes_no_stack_deeper_than_plain_recursion_and_its_waits)
{
  g_autoptr (IrisScheduler) alone = iris_wsscheduler_new_full (0, 1);
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, pools[_i]);
  gsize plain;

  atomic_store (&deepest, 0);
  ck_assert (iris_fork_join_run (alone, run_chain, NULL));
  plain = atomic_load (&deepest);
  atomic_store (&deepest, 0);
  ck_assert (iris_fork_join_run (scheduler, run_chain, scheduler));
#if !defined(IRIS_THREAD_SANITIZER) && !defined(IRIS_ADDRESS_SANITIZER)
  /* At most a wait for each task. */
  ck_assert_uint_le (atomic_load (&deepest), plain + CHAIN * 400);
#endif
  ck_assert_uint_gt (plain, 0);
}
END_TEST

/* --- beside other things ------------------------------------------------------------------------
 */

static IrisScheduler *other;

static void
count_item (gpointer data)
{
  if (data != NULL)
    ck_assert_int_eq (iris_worker_get_place (iris_worker_current ()), GPOINTER_TO_INT (data) - 1);
  atomic_fetch_add_explicit (&n_done, 1, memory_order_relaxed);
}

static void
fork_beside_items (gpointer data)
{
  IrisScheduler *scheduler = data;
  guint64 value = 14;

  for (gint i = 0; i < 10; i++)
    iris_scheduler_queue_at (scheduler, i % 2, IRIS_ITEM_STRICT, count_item,
                             GINT_TO_POINTER (i % 2 + 1), NULL);
  ck_assert_uint_eq (fib (iris_fork_join_begin (), 14), fib_by_sum (14));
  ck_assert (iris_fork_join_run (scheduler, run_fib, &value));
  ck_assert_uint_eq (value, fib_by_sum (14));
  ck_assert_uint_eq (fib_on (other, 14), fib_by_sum (14));
  count_item (NULL);
}

START_TEST (forks_run_beside_strict_items_and_in_several_schedulers)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1 + (guint) _i);
  IrisScheduler *scheduler = iris_place_scheduler_new (places);
  g_autoptr (IrisStats) stats = NULL;

  other = iris_wsscheduler_new_full (0, 2);
  atomic_store (&n_done, 0);
  for (guint i = 0; i < ROUNDS; i++)
    iris_scheduler_queue (scheduler, fork_beside_items, scheduler, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&n_done), 11 * ROUNDS);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.queued, stats->total.executed);
  g_object_unref (other);
  g_object_unref (scheduler);
}
END_TEST

static _Atomic guint n_settled;

static void
fork_in_item (gpointer data)
{
  ck_assert_uint_eq (fib (iris_fork_join_begin (), 16), fib_by_sum (16));
}

static void
settle (gpointer data)
{
  atomic_fetch_add (&n_settled, 1);
}

START_TEST (cancelling_leaves_no_join_waiting)
{
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, 4);
      guint64 value = 3;

      atomic_store (&n_settled, 0);
      for (guint j = 0; j < 50; j++)
        iris_scheduler_queue (scheduler, fork_in_item, NULL, settle);
      iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
      ck_assert_uint_eq (atomic_load (&n_settled), 50);
      ck_assert (!iris_fork_join_run (scheduler, run_fib, &value));
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("fork-join");
  TCase *tcase = tcase_create ("fork-join");
  const int n = G_N_ELEMENTS (pools);
  SRunner *runner;
  int failed;

  tcase_set_timeout (tcase, 200);
  tcase_add_loop_test (tcase, results_are_those_of_plain_calls, 0, n);
  tcase_add_test (tcase, forks_are_calls_where_no_worker_could_steal_them);
  tcase_add_loop_test (tcase, every_task_runs_once_and_before_its_join, 0, n);
  tcase_add_loop_test (tcase, a_range_is_covered_once, 0, n);
  tcase_add_loop_test (tcase, thieves_get_all_that_a_busy_owner_has_forked, 1, n);
  tcase_add_loop_test (tcase, a_range_is_shared_again_when_a_worker_asks, 1, n);
  tcase_add_test (tcase, a_range_that_no_worker_wants_is_a_loop);
  tcase_add_test (tcase, waiting_runs_what_the_thief_has_forked);
  tcase_add_test (tcase, steals_of_a_join_are_counted);
  tcase_add_test (tcase, a_join_that_waits_searches);
  tcase_add_test (tcase, a_join_that_sleeps_is_woken_by_the_end);
  tcase_add_loop_test (tcase, a_million_forks_in_a_row_are_no_more_than_a_stack_holds, 0, n);
  tcase_add_loop_test (tcase, waiting_makes_no_stack_deeper_than_plain_recursion_and_its_waits, 1,
                       n);
  tcase_add_loop_test (tcase, forks_run_beside_strict_items_and_in_several_schedulers, 0, 2);
  tcase_add_test (tcase, cancelling_leaves_no_join_waiting);
  suite_add_tcase (suite, tcase);

  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);

  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
