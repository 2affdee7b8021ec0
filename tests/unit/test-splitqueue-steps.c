/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The split deque with a thief stopped before each of its atomic accesses while the owner goes
 * on, and the other way about: nothing lost, nothing twice, no wish forgotten.
 *
 * Every schedule is derived from a seed that a failure prints. Built once more with positions
 * that a reclaim does not renumber, the same schedules must find an item that came twice.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "step.h"

#ifdef PLANT_NO_RENUMBERING
#define IRIS_SPLITQUEUE_LAP(capacity) UINT64_C (0)
#endif
#include <iris/base/iris-random-private.h>
#include <iris/queue/iris-splitqueue-private.h>

#define N_SEEDS   3000
#define MAX_ITEMS 64
#define MAX_STEPS 64
#define MAX_STEAL 8

static IrisSplitQueue queue;
static IrisRandom seeded;
static unsigned char n_given[MAX_ITEMS]; /* an item is a pointer to its counter */
static int n_pushed;
static int n_strange; /* what a broken deque makes up */
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
  ck_assert (iris_splitqueue_push (&queue, &n_given[n_pushed]));
  n_pushed++;
}

static void
owner_operation (void)
{
  switch (iris_random_below (&seeded, 8))
    {
    case 0:
    case 1:
    case 2:
      give (iris_splitqueue_take (&queue));
      break;
    case 3:
    case 4:
      push_one ();
      break;
    case 5:
      give (iris_splitqueue_take_oldest (&queue));
      break;
    case 6:
      iris_splitqueue_expose (&queue, 1 + iris_random_below (&seeded, 4));
      break;
    default:
      iris_splitqueue_offer (&queue);
    }
}

static IrisStealResult
thief_operation (void)
{
  void *items[MAX_STEAL];
  uint64_t n;
  uint64_t max = 1 + iris_random_below (&seeded, MAX_STEAL);
  IrisStealResult result = iris_splitqueue_steal (&queue, items, max, &n);

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
begin (unsigned seed)
{
  unsigned n;

  iris_random_seed (&seeded, seed);
  n_pushed = 0;
  n_strange = 0;
  for (int i = 0; i < MAX_ITEMS; i++)
    n_given[i] = 0;
  ck_assert (
      iris_splitqueue_init_full (&queue, NULL, 4, seed % 2 == 0 ? 0 : UINT64_MAX - seed % 16));
  n = iris_random_below (&seeded, 8);
  while (n-- > 0)
    push_one ();
  iris_splitqueue_expose (&queue, iris_random_below (&seeded, 8));
  n = iris_random_below (&seeded, 4);
  while (n-- > 0)
    owner_operation ();
}

/* Empties the deque; says whether every item was given once. */
static bool
end (void)
{
  bool right = n_strange == 0;
  void *item;
  int n_left = 2 * MAX_ITEMS; /* a broken deque may give for ever */

  while (n_left-- > 0 && (item = iris_splitqueue_take (&queue)) != NULL)
    give (item);
  for (int i = 0; i < n_pushed; i++)
    right = right && n_given[i] == 1;
  iris_splitqueue_clear (&queue);

  return right;
}

/* One thief stopped at step @at; false when it has fewer steps. */
static bool
stop_a_thief (unsigned seed, int at, bool *right)
{
  bool stopped;

  begin (seed);
  step_arm (at, owner_hook, NULL);
  thief_operation ();
  stopped = step_disarm ();
  *right = end ();

  return stopped;
}

/* The owner stopped at step @at of a sequence of operations for a thief. */
static bool __attribute__ ((unused)) stop_the_owner (unsigned seed, int at, bool *right)
{
  bool stopped;

  begin (seed);
  step_arm (at, steal_hook, NULL);
  for (int i = 0; i < 4; i++)
    owner_operation ();
  stopped = step_disarm ();
  thief_operation ();
  *right = end ();

  return stopped;
}

/* Stops at the first: what a broken deque does next is anybody's guess. */
static bool
find_wrong (bool (*run) (unsigned seed, int at, bool *right))
{
  for (unsigned seed = 0; seed < N_SEEDS; seed++)
    {
      bool more = true;

      nested_at = (int) (seed % 12);
      for (int at = 0; more && at < MAX_STEPS; at++)
        {
          bool right;

          more = run (seed, at, &right);
          if (!right)
            {
              printf ("# wrong at seed %u, step %d\n", seed, at);
              return true;
            }
        }
    }

  return false;
}

#ifdef PLANT_NO_RENUMBERING

START_TEST (without_renumbering_an_item_comes_twice)
{
  ck_assert (find_wrong (stop_a_thief));
}
END_TEST

#else

START_TEST (a_thief_stopped_anywhere_takes_nothing_twice)
{
  ck_assert (!find_wrong (stop_a_thief));
}
END_TEST

START_TEST (an_owner_stopped_anywhere_loses_nothing)
{
  ck_assert (!find_wrong (stop_the_owner));
}
END_TEST

/* Whatever the owner does while a thief asks: after its next look something is public, or has
 * been since the thief began, or there is nothing private. */
START_TEST (a_wish_is_never_lost)
{
  int n_wishes = 0;

  for (unsigned seed = 0; seed < N_SEEDS; seed++)
    {
      bool more = true;

      nested_at = -1;
      for (int at = 0; more && at < MAX_STEPS; at++)
        {
          IrisStealResult result;

          begin (seed);
          iris_splitqueue_collect_exposed (&queue);
          step_arm (at, owner_hook, NULL);
          result = thief_operation ();
          more = step_disarm ();
          if (result == IRIS_STEAL_PRIVATE)
            {
              n_wishes++;
              iris_splitqueue_poll (&queue);
              ck_assert_msg (iris_splitqueue_get_public_length (&queue) > 0
                                 || iris_splitqueue_collect_exposed (&queue) > 0
                                 || !iris_splitqueue_has_private (&queue),
                             "seed %u, step %d", seed, at);
            }
          end ();
        }
    }
  ck_assert_int_gt (n_wishes, 100);
}
END_TEST

/* The schedule that the renumbering is for, spelled out. */
static void
replace_what_is_public (void *data)
{
  give (iris_splitqueue_take (&queue));
  give (iris_splitqueue_take (&queue));
  push_one ();
  push_one ();
  iris_splitqueue_expose (&queue, 2);
}

START_TEST (what_was_replaced_under_a_thief_is_not_stolen)
{
  void *items[2];
  uint64_t n;

  for (int at = 0; at < 8; at++)
    {
      iris_splitqueue_init_full (&queue, NULL, 4, 0);
      n_pushed = 0;
      n_strange = 0;
      for (int i = 0; i < 4; i++)
        n_given[i] = 0;
      push_one ();
      push_one ();
      iris_splitqueue_expose (&queue, 2);
      step_arm (at, replace_what_is_public, NULL);
      iris_splitqueue_steal (&queue, items, 2, &n);
      if (!step_disarm ())
        replace_what_is_public (NULL);
      for (uint64_t i = 0; i < n; i++)
        give (items[i]);
      ck_assert (end ());
    }
}
END_TEST

#endif

int
main (void)
{
  Suite *suite = suite_create ("splitqueue-steps");
  TCase *stopped = tcase_create ("stopped");
  SRunner *runner;
  int n_failed;

  step_disarm ();
#ifdef PLANT_NO_RENUMBERING
  tcase_add_test (stopped, without_renumbering_an_item_comes_twice);
#else
  tcase_add_test (stopped, a_thief_stopped_anywhere_takes_nothing_twice);
  tcase_add_test (stopped, an_owner_stopped_anywhere_loses_nothing);
  tcase_add_test (stopped, a_wish_is_never_lost);
  tcase_add_test (stopped, what_was_replaced_under_a_thief_is_not_stolen);
#endif
  suite_add_tcase (suite, stopped);

  runner = srunner_create (suite);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_ENV);
  n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);

  return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
