/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The eventcount: tokens are neither lost nor left behind, and no waiter sleeps past its call.
 */
#include "core-test-run.h"

#include <glib.h>

#include <iris/base/sync/iris-eventcount-private.h>

#ifdef IRIS_THREAD_SANITIZER
#define ROUNDS 2000
#else
#define ROUNDS 50000
#endif

static IrisEventcount count;

static uint64_t
word (void)
{
  return atomic_load (&count.word);
}

static void
setup (void)
{
  iris_eventcount_init (&count);
}

TEST (a_notification_without_a_waiter_leaves_no_token)
{
  iris_eventcount_notify_one (&count);
  iris_eventcount_notify_all (&count);
  ck_assert_uint_eq (word (), 0);
}

TEST (a_waiter_that_was_called_before_it_sleeps_does_not_sleep)
{
  iris_eventcount_prepare (&count);
  iris_eventcount_notify_one (&count);
  ck_assert_uint_eq (word (), IRIS_EVENTCOUNT_CALLED);
  ck_assert (iris_eventcount_wait (&count, IRIS_EVENTCOUNT_FOREVER));
  ck_assert_uint_eq (word (), 0);
}

TEST (one_call_is_for_one_and_no_sleeper_is_called_twice)
{
  iris_eventcount_prepare (&count);
  iris_eventcount_prepare (&count);
  iris_eventcount_notify_one (&count);
  ck_assert_uint_eq (word (), IRIS_EVENTCOUNT_WAITING + IRIS_EVENTCOUNT_CALLED);
  iris_eventcount_notify_all (&count);
  ck_assert_uint_eq (word (), 2 * IRIS_EVENTCOUNT_CALLED);
  iris_eventcount_notify_one (&count);
  ck_assert_uint_eq (word (), 2 * IRIS_EVENTCOUNT_CALLED);
}

/* The call is for the one that stays. */
TEST (a_waiter_that_cancels_leaves_the_token_to_a_sleeper)
{
  iris_eventcount_prepare (&count);
  iris_eventcount_prepare (&count);
  iris_eventcount_notify_one (&count);
  iris_eventcount_cancel (&count);
  ck_assert_uint_eq (word (), IRIS_EVENTCOUNT_CALLED);
  ck_assert (iris_eventcount_wait (&count, IRIS_EVENTCOUNT_FOREVER));
}

TEST (the_last_waiter_to_cancel_leaves_no_token_behind)
{
  iris_eventcount_prepare (&count);
  iris_eventcount_notify_one (&count);
  iris_eventcount_cancel (&count);
  ck_assert_uint_eq (word (), 0);
}

TEST (a_deadline_that_has_passed_ends_the_wait)
{
  iris_eventcount_prepare (&count);
  ck_assert (!iris_eventcount_wait (&count, -1));
  iris_eventcount_prepare (&count);
  ck_assert (!iris_eventcount_wait (&count, g_get_monotonic_time () + 1000));
  ck_assert_uint_eq (word (), 0);
}

/* Two threads hand one ball to and fro; each sleeps, at an eventcount of its own, until it has it.
 * One lost call, and the test does not end. */
static _Atomic int ball;
static IrisEventcount players[2];

static void
wait_for_ball (int mine)
{
  while (atomic_load_explicit (&ball, memory_order_acquire) != mine)
    {
      iris_eventcount_prepare (&players[mine]);
      if (atomic_load_explicit (&ball, memory_order_acquire) == mine)
        {
          iris_eventcount_cancel (&players[mine]);
          return;
        }
      if (!iris_eventcount_wait (&players[mine], IRIS_EVENTCOUNT_FOREVER))
        ck_abort_msg ("for ever has passed");
    }
}

static gpointer
play (gpointer data)
{
  int mine = GPOINTER_TO_INT (data);

  for (int i = 0; i < ROUNDS; i++)
    {
      wait_for_ball (mine);
      atomic_store_explicit (&ball, 1 - mine, memory_order_release);
      iris_eventcount_notify_one (&players[1 - mine]);
    }

  return NULL;
}

TEST (no_call_is_lost_between_two_players)
{
  GThread *other;

  atomic_store (&ball, 0);
  iris_eventcount_init (&players[0]);
  iris_eventcount_init (&players[1]);
  other = g_thread_new ("player", play, GINT_TO_POINTER (1));
  play (GINT_TO_POINTER (0));
  g_thread_join (other);
  ck_assert_uint_eq (atomic_load (&players[0].word), 0);
  ck_assert_uint_eq (atomic_load (&players[1].word), 0);
}

TEST_MAIN ("eventcount", setup, NULL)
