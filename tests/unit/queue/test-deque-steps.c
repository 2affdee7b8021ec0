/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every kind of deque with a thief stopped before each of its atomic accesses while the owner
 * goes on, and the other way about: nothing lost, nothing twice, no wish forgotten.
 *
 * Two deques share a pool, so that an array that one has given up serves the other while the
 * thief still reads it. Every schedule is derived from a seed, which a failure prints. The file is
 * built once more with plants: what keeps an old view of a deque from being believed is taken
 * out, and the same schedules must then find a fault in each kind.
 */
#include "core-test-util.h"
#include "step.h"

#include <stdio.h>

#ifdef PLANTED
#define IRIS_ARRAY_LAP(capacity)  ((capacity) &0)
#define IRIS_ABPQUEUE_STAMP_STEP  0
#define IRIS_IDEMQUEUE_STAMP_STEP 0
#endif
#include <iris/base/iris-random-private.h>
#include <iris/queue/iris-deque-private.h>

/* One thread has no races to find: the sanitizers get a sample. */
#define N_SEEDS   (CORE_TEST_FACTOR == 1 ? 2500 : 250)
#define MAX_ITEMS 96
#define MAX_STEPS 80
#define MAX_STEAL 8
#define BUDGET    20000

static IrisArrayPool pool;
static IrisDequeCore queue, neighbour;
static IrisRandom seeded;
static unsigned char n_given[MAX_ITEMS]; /* an item is a pointer to its counter */
static int n_pushed;
static int n_strange; /* what a broken deque makes up */
static bool forces;   /* thieves that find all private force it open */
static int nested_at; /* where the owner's last operation in turn stops for another thief */

static void
give (void *item)
{
  uintptr_t at = (uintptr_t) item - (uintptr_t) n_given;

  if (item == NULL)
    return;
  if (at < (uintptr_t) n_pushed)
    n_given[at]++;
  else
    n_strange++;
}

static void
push_one (void)
{
  if (n_pushed == MAX_ITEMS)
    return;
  /* Counted before, because a thief may have it before the push returns. */
  n_pushed++;
  if (!iris_deque_core_push (&queue, &n_given[n_pushed - 1]))
    n_pushed--;
}

static void
push_several (uint32_t n)
{
  while (n-- > 0)
    push_one ();
}

static void
take_several (uint32_t n)
{
  while (n-- > 0)
    give (iris_deque_core_take (&queue));
}

/* Grows into what others gave up, writes to it, and gives it up again. */
static void
disturb_pool (void)
{
  for (int i = 0; i < 40; i++)
    iris_deque_core_push (&neighbour, &seeded);
  while (iris_deque_core_take (&neighbour) != NULL)
    ;
}

static void
owner_operation (void)
{
  switch (iris_random_below (&seeded, 12))
    {
    case 0:
    case 1:
    case 2:
    case 3:
      take_several (1);
      break;
    case 4:
    case 5:
    case 6:
      push_one ();
      break;
    case 7:
      give (iris_deque_core_take_oldest (&queue));
      break;
    case 8:
      iris_deque_core_expose (&queue, 1 + iris_random_below (&seeded, 4));
      break;
    case 9:
      iris_deque_core_offer (&queue);
      break;
    case 10:
      push_several (8);
      disturb_pool ();
      break;
    default:
      take_several (10);
      disturb_pool ();
    }
}

static IrisStealResult
thief_operation (void)
{
  void *items[MAX_STEAL];
  uint64_t n;
  uint64_t max = 1 + iris_random_below (&seeded, MAX_STEAL);
  IrisStealResult result = iris_deque_core_steal (&queue, items, max, &n);

  if (result == IRIS_STEAL_PRIVATE && forces && iris_deque_core_force (&queue))
    result = iris_deque_core_steal (&queue, items, max, &n);
  for (uint64_t i = 0; i < n; i++)
    give (items[i]);

  return result;
}

static void
steal_hook (void *data)
{
  thief_operation ();
}

/* Several operations of the owner, of which the last stops for a second thief. */
static void
owner_hook (void *data)
{
  unsigned n = 1 + iris_random_below (&seeded, 6);

  while (--n > 0)
    owner_operation ();
  step_arm (nested_at, steal_hook, NULL);
  owner_operation ();
  step_disarm ();
}

static void
reset (IrisDequeKind kind, uint64_t capacity, uint64_t start)
{
  step_disarm ();
  step.budget = BUDGET;
  n_pushed = 0;
  n_strange = 0;
  for (int i = 0; i < MAX_ITEMS; i++)
    n_given[i] = 0;
  iris_array_pool_init (&pool);
  ck_assert (iris_deque_core_init_full (&queue, kind, &pool, capacity, start));
  ck_assert (iris_deque_core_init_full (&neighbour, kind, &pool, 2, 0));
}

/* Bounded kinds with four slots, growing ones from two; in every second run just before the end
 * of the numbers. */
static void
begin (IrisDequeKind kind, unsigned seed)
{
  unsigned n;

  iris_random_seed (&seeded, seed);
  forces = seed % 4 < 2;
  reset (kind, iris_deque_kind_is_bounded (kind) ? 4 : 2,
         seed % 2 == 0 ? 0 : UINT64_MAX - seed % 16);
  push_several (iris_random_below (&seeded, 8));
  iris_deque_core_expose (&queue, iris_random_below (&seeded, 8));
  n = iris_random_below (&seeded, 4);
  while (n-- > 0)
    owner_operation ();
}

/* Empties the deque; says whether every item was given once. */
static bool
end (void)
{
  bool right = n_strange == 0;

  take_several (2 * MAX_ITEMS); /* a broken deque may give for ever */
  for (int i = 0; i < n_pushed; i++)
    right = right && n_given[i] > 0 && (n_given[i] == 1 || iris_deque_kind_may_repeat (queue.kind));
  iris_deque_core_clear (&queue);
  iris_deque_core_clear (&neighbour);
  iris_array_pool_clear (&pool);

  return right && n_strange == 0;
}

typedef bool (*Run) (IrisDequeKind kind, unsigned seed, int at, bool *right);

/* One thief stopped at step @at; false when it has fewer steps. */
static bool
stop_a_thief (IrisDequeKind kind, unsigned seed, int at, bool *right)
{
  bool stopped;

  begin (kind, seed);
  step_arm (at, owner_hook, NULL);
  thief_operation ();
  stopped = step_disarm ();
  *right = end ();

  return stopped;
}

#ifndef PLANTED
/* The owner stopped at step @at of a sequence of operations for a thief. */
static bool
stop_the_owner (IrisDequeKind kind, unsigned seed, int at, bool *right)
{
  bool stopped;

  begin (kind, seed);
  step_arm (at, steal_hook, NULL);
  for (int i = 0; i < 4; i++)
    owner_operation ();
  stopped = step_disarm ();
  thief_operation ();
  *right = end ();

  return stopped;
}
#endif

static bool
runs_right (Run run, IrisDequeKind kind, unsigned seed, int at, bool *more)
{
  bool right = false;

  if (setjmp (step.escape) == 0)
    *more = run (kind, seed, at, &right);

  return right;
}

/* Stops at the first: a broken deque may do anything next. */
static bool
find_wrong (Run run, IrisDequeKind kind)
{
  for (unsigned seed = 0; seed < N_SEEDS; seed++)
    {
      bool more = true;

      nested_at = (int) (seed % 12);
      for (int at = 0; more && at < MAX_STEPS; at++)
        if (!runs_right (run, kind, seed, at, &more))
          {
            printf ("# kind %d is wrong with seed %u at step %d\n", kind, seed, at);
            return true;
          }
    }

  return false;
}

#ifdef PLANTED

START_TEST (without_its_guard_a_deque_goes_wrong)
{
  /* A lock needs no guard. */
  if (_i != IRIS_DEQUE_LOCKED)
    ck_assert (find_wrong (stop_a_thief, (IrisDequeKind) _i));
}
END_TEST

#else

/* A thief that holds the lock does not let the owner in, so it cannot be stopped for it. */
START_TEST (a_thief_stopped_anywhere_takes_nothing_twice)
{
  if (_i != IRIS_DEQUE_LOCKED)
    ck_assert (!find_wrong (stop_a_thief, (IrisDequeKind) _i));
}
END_TEST

START_TEST (an_owner_stopped_anywhere_loses_nothing)
{
  if (_i != IRIS_DEQUE_LOCKED)
    ck_assert (!find_wrong (stop_the_owner, (IrisDequeKind) _i));
}
END_TEST

/* Whatever the owner does while a thief asks: after its next look something is public, or the split
 * has moved since the thief began, or there is nothing private. */
START_TEST (a_wish_is_never_lost)
{
  static int n_wishes;

  ck_assert_int_eq (setjmp (step.escape), 0);
  for (unsigned seed = 0; seed < N_SEEDS; seed++)
    {
      bool more = true;

      nested_at = -1;
      for (int at = 0; more && at < MAX_STEPS; at++)
        {
          IrisStealResult result;

          uint64_t split;

          begin (IRIS_DEQUE_SPLIT, seed);
          forces = false;
          split = queue.split.own_split;
          step_arm (at, owner_hook, NULL);
          result = thief_operation ();
          more = step_disarm ();
          if (result == IRIS_STEAL_PRIVATE)
            {
              n_wishes++;
              iris_splitqueue_poll (&queue.split);
              ck_assert_msg (iris_deque_core_get_public_length (&queue) > 0
                                 || queue.split.own_split != split
                                 || !iris_splitqueue_has_private (&queue.split),
                             "seed %u, step %d", seed, at);
            }
          end ();
        }
    }
  ck_assert_int_gt (n_wishes, 100);
}
END_TEST

static void
replace_everything (void *data)
{
  take_several (2);
  push_several (2);
  iris_deque_core_expose (&queue, 2);
}

/* The schedule that renumbering and stamps are for, spelled out. */
START_TEST (what_was_replaced_under_a_thief_is_not_stolen)
{
  void *items[2];
  uint64_t n;

  if (_i == IRIS_DEQUE_LOCKED)
    return;
  ck_assert_int_eq (setjmp (step.escape), 0);
  for (int at = 0; at < 12; at++)
    {
      reset ((IrisDequeKind) _i, 4, 0);
      push_several (2);
      iris_deque_core_expose (&queue, 2);
      step_arm (at, replace_everything, NULL);
      iris_deque_core_steal (&queue, items, 2, &n);
      step_disarm ();
      for (uint64_t i = 0; i < n; i++)
        give (items[i]);
      ck_assert (end ());
    }
}
END_TEST

static void
take_hook (void *data)
{
  take_several (1);
}

/* At whatever step the owner wants the same last item as the thief. */
START_TEST (the_last_item_goes_to_one_of_two)
{
  if (_i == IRIS_DEQUE_LOCKED)
    return;
  ck_assert_int_eq (setjmp (step.escape), 0);
  for (int at = 0; at < 12; at++)
    {
      reset ((IrisDequeKind) _i, 4, 0);
      push_one ();
      iris_deque_core_expose (&queue, 1);
      step_arm (at, take_hook, NULL);
      thief_operation ();
      step_disarm ();
      ck_assert (end ());

      reset ((IrisDequeKind) _i, 4, 0);
      push_one ();
      iris_deque_core_expose (&queue, 1);
      step_arm (at, steal_hook, NULL);
      take_several (1);
      step_disarm ();
      ck_assert (end ());
    }
}
END_TEST

#endif

int
main (void)
{
  Suite *suite = suite_create ("deque-steps");
  TCase *stopped = tcase_create ("stopped");

  tcase_set_timeout (stopped, 200);
#ifdef PLANTED
  tcase_add_loop_test (stopped, without_its_guard_a_deque_goes_wrong, 0, IRIS_DEQUE_IDEMPOTENT + 1);
#else
  tcase_add_loop_test (stopped, a_thief_stopped_anywhere_takes_nothing_twice, 0,
                       IRIS_DEQUE_IDEMPOTENT + 1);
  tcase_add_loop_test (stopped, an_owner_stopped_anywhere_loses_nothing, 0,
                       IRIS_DEQUE_IDEMPOTENT + 1);
  tcase_add_test (stopped, a_wish_is_never_lost);
  tcase_add_loop_test (stopped, what_was_replaced_under_a_thief_is_not_stolen, 0,
                       IRIS_DEQUE_IDEMPOTENT + 1);
  tcase_add_loop_test (stopped, the_last_item_goes_to_one_of_two, 0, IRIS_DEQUE_IDEMPOTENT + 1);
#endif
  suite_add_tcase (suite, stopped);

  return core_test_run (suite);
}
