/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The split deque under load: an owner that does everything it may, against thieves.
 *
 * Items are plain memory. Their giver writes them before the push and their taker after the take
 * or steal, so ThreadSanitizer sees it if the deque does not order the two, or gives one twice.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <iris/base/iris-random-private.h>
#include <iris/queue/iris-splitqueue-private.h>

#if defined(IRIS_THREAD_SANITIZER) || defined(IRIS_ADDRESS_SANITIZER)
#define N_ITEMS 200000
#else
#define N_ITEMS 1000000
#endif
#define N_THIEVES 3
#define MAX_STEAL 32

typedef struct
{
  uint32_t number;
  uint32_t n_given;
} Item;

typedef struct
{
  pthread_t thread;
  uint64_t seed;
  uint64_t n_taken;
  uint64_t n_wrong;
} Party;

static IrisSplitQueue queue;
static Item *items;
static _Atomic bool is_over;

static void
give (Party *self, void *item)
{
  Item *given = item;

  if (given->number != (uint32_t) (given - items))
    self->n_wrong++;
  given->n_given++;
  self->n_taken++;
}

static void *
thief_main (void *data)
{
  Party *self = data;
  IrisRandom random;

  iris_random_seed (&random, self->seed);
  for (;;)
    {
      bool last = atomic_load_explicit (&is_over, memory_order_acquire);
      void *stolen[MAX_STEAL];
      uint64_t n;
      IrisStealResult result;

      result = iris_splitqueue_steal (&queue, stolen, 1 + iris_random_below (&random, MAX_STEAL),
                                      &n);
      for (uint64_t i = 0; i < n; i++)
        give (self, stolen[i]);
      if (result == IRIS_STEAL_TAKEN)
        continue;
      if (last && iris_splitqueue_get_length (&queue) == 0)
        return NULL;
      for (int i = 0; i < 100; i++)
        iris_cpu_relax ();
      sched_yield ();
    }
}

static void
give_some (Party *self, void *(*take) (IrisSplitQueue *), uint32_t n)
{
  void *item;

  while (n-- > 0 && (item = take (&queue)) != NULL)
    give (self, item);
}

static void *
take (IrisSplitQueue *self)
{
  return iris_splitqueue_take (self);
}

static void *
take_oldest (IrisSplitQueue *self)
{
  return iris_splitqueue_take_oldest (self);
}

/* Bursts of up to @burst, with a take for all but a few of the pushes. */
static void
own (Party *self, uint32_t burst)
{
  IrisRandom random;
  uint32_t n_pushed = 0;

  iris_random_seed (&random, self->seed);
  while (n_pushed < N_ITEMS)
    {
      uint32_t n = 1 + iris_random_below (&random, burst);

      for (uint32_t i = 0; i < n && n_pushed < N_ITEMS; i++)
        {
          items[n_pushed].number = n_pushed;
          ck_assert (iris_splitqueue_push (&queue, &items[n_pushed]));
          n_pushed++;
        }
      switch (iris_random_below (&random, 6))
        {
        case 0:
          give_some (self, take_oldest, n / 4);
          break;
        case 1:
          iris_splitqueue_expose (&queue, n);
          break;
        case 2:
          iris_splitqueue_offer (&queue);
          break;
        default:
          break;
        }
      give_some (self, take, iris_random_below (&random, n + n / 4 + 1));
    }
  give_some (self, take, N_ITEMS / 2);
  iris_splitqueue_expose (&queue, N_ITEMS);
  atomic_store_explicit (&is_over, true, memory_order_release);
  while (iris_splitqueue_get_length (&queue) != 0)
    give_some (self, take, 1);
}

static void
expect_conservation (uint32_t burst)
{
  Party owner = { .seed = 17 };
  Party thieves[N_THIEVES];
  uint64_t n_taken;

  items = calloc (N_ITEMS, sizeof *items);
  ck_assert_ptr_nonnull (items);
  atomic_store (&is_over, false);
  ck_assert (iris_splitqueue_init_full (&queue, NULL, 4, UINT64_MAX - 1000));
  for (int i = 0; i < N_THIEVES; i++)
    {
      thieves[i] = (Party){ .seed = 18 + (uint64_t) i };
      ck_assert_int_eq (pthread_create (&thieves[i].thread, NULL, thief_main, &thieves[i]), 0);
    }
  own (&owner, burst);
  n_taken = owner.n_taken;
  ck_assert_uint_eq (owner.n_wrong, 0);
  for (int i = 0; i < N_THIEVES; i++)
    {
      pthread_join (thieves[i].thread, NULL);
      n_taken += thieves[i].n_taken;
      ck_assert_uint_eq (thieves[i].n_wrong, 0);
    }

  ck_assert_uint_eq (n_taken, N_ITEMS);
  for (uint32_t i = 0; i < N_ITEMS; i++)
    if (items[i].n_given != 1)
      ck_abort_msg ("item %u was given %u times", i, items[i].n_given);
  iris_splitqueue_clear (&queue);
  free (items);
}

START_TEST (a_nearly_empty_deque_loses_nothing)
{
  expect_conservation (3);
}
END_TEST

START_TEST (a_full_deque_loses_nothing)
{
  expect_conservation (1000);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("splitqueue-load");
  TCase *load = tcase_create ("load");
  SRunner *runner;
  int n_failed;

  tcase_set_timeout (load, 200);
  tcase_add_test (load, a_nearly_empty_deque_loses_nothing);
  tcase_add_test (load, a_full_deque_loses_nothing);
  suite_add_tcase (suite, load);

  runner = srunner_create (suite);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_ENV);
  n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);

  return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
