/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The coordination arbiter: exclusive ones alone, concurrent ones together, the teardown once and
 * last; no receiver starves, and no accepted message is lost.
 */
#include "core-test-util.h"

#include <stdatomic.h>

#include <iris/message/port/iris-coordination-private.h>

#define N_EACH    (CORE_TEST_FACTOR > 1 ? 2000 : 20000)
#define N_POSTERS 4
typedef struct
{
  IrisPort *exclusive, *concurrent, *teardown;
  _Atomic gint n_inside_exclusive, n_inside_concurrent;
  _Atomic guint n_exclusive, n_concurrent, n_teardown, n_broken, n_notified;
  GMutex lock;
  GCond changed;
  guint n_at_gate;
  gboolean open;
} Fixture;

static Fixture f;

static void
setup (void)
{
  f = (Fixture){ iris_port_new (), iris_port_new (), iris_port_new (), .open = TRUE };
}

static void
clear (void)
{
  g_clear_object (&f.exclusive);
  g_clear_object (&f.concurrent);
  g_clear_object (&f.teardown);
}

static void
notified (gpointer data)
{
  atomic_fetch_add (&f.n_notified, 1);
}

static void
broken_unless (gboolean good)
{
  if (!good)
    atomic_fetch_add (&f.n_broken, 1);
}

static void
handle_exclusive (IrisMessage *message, gpointer data)
{
  broken_unless (atomic_fetch_add (&f.n_inside_exclusive, 1) == 0);
  broken_unless (atomic_load (&f.n_inside_concurrent) == 0);
  broken_unless (atomic_load (&f.n_teardown) == 0);
  atomic_fetch_add (&f.n_exclusive, 1);
  atomic_fetch_sub (&f.n_inside_exclusive, 1);
}

static void
handle_concurrent (IrisMessage *message, gpointer data)
{
  atomic_fetch_add (&f.n_inside_concurrent, 1);
  broken_unless (atomic_load (&f.n_inside_exclusive) == 0);
  broken_unless (atomic_load (&f.n_teardown) == 0);
  atomic_fetch_add (&f.n_concurrent, 1);
  atomic_fetch_sub (&f.n_inside_concurrent, 1);
}

static void
handle_teardown (IrisMessage *message, gpointer data)
{
  broken_unless (atomic_load (&f.n_inside_concurrent) == 0);
  broken_unless (atomic_load (&f.n_inside_exclusive) == 0);
  atomic_fetch_add (&f.n_teardown, 1);
}

static IrisArbiter *
coordinate (IrisScheduler *scheduler)
{
  return iris_arbiter_coordinate (
      iris_arbiter_receive (scheduler, f.exclusive, handle_exclusive, NULL, notified),
      iris_arbiter_receive (scheduler, f.concurrent, handle_concurrent, NULL, notified),
      iris_arbiter_receive (scheduler, f.teardown, handle_teardown, NULL, notified));
}

static gpointer
post_both (gpointer data)
{
  for (guint i = 0; i < N_EACH; i++)
    iris_port_post (i % 4 == 0 ? f.exclusive : f.concurrent, iris_message_new (0));

  return NULL;
}

LOOP_TEST (all_run_once_and_exclusive_ones_alone, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);
  GThread *threads[N_POSTERS];

  coordinate (scheduler);
  for (guint i = 0; i < N_POSTERS; i++)
    threads[i] = g_thread_new ("poster", post_both, NULL);
  for (guint i = 0; i < N_POSTERS; i++)
    g_thread_join (threads[i]);
  iris_port_post (f.teardown, iris_message_new (0));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);

  ck_assert_uint_eq (atomic_load (&f.n_exclusive), N_POSTERS * N_EACH / 4);
  ck_assert_uint_eq (atomic_load (&f.n_concurrent), N_POSTERS * N_EACH / 4 * 3);
  ck_assert_uint_eq (atomic_load (&f.n_teardown), 1);
  ck_assert_uint_eq (atomic_load (&f.n_broken), 0);
  /* The receivers have left their ports, and nothing else holds them. */
  ck_assert_uint_eq (atomic_load (&f.n_notified), 3);
  g_object_unref (scheduler);
}

LOOP_TEST (a_teardown_in_the_middle_loses_nothing, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);
  GThread *threads[N_POSTERS];
  guint n;

  coordinate (scheduler);
  for (guint i = 0; i < N_POSTERS; i++)
    threads[i] = g_thread_new ("poster", post_both, NULL);
  iris_port_post (f.teardown, iris_message_new (0));
  iris_port_post (f.teardown, iris_message_new (0));
  for (guint i = 0; i < N_POSTERS; i++)
    g_thread_join (threads[i]);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);

  n = atomic_load (&f.n_exclusive) + atomic_load (&f.n_concurrent);
  n += iris_port_get_queue_length (f.exclusive) + iris_port_get_queue_length (f.concurrent);
  ck_assert_uint_eq (n, N_POSTERS * N_EACH);
  ck_assert_uint_eq (atomic_load (&f.n_teardown), 1);
  ck_assert_uint_eq (iris_port_get_queue_length (f.teardown), 1);
  ck_assert_uint_eq (atomic_load (&f.n_broken), 0);
  ck_assert (!iris_port_has_receiver (f.exclusive));
  ck_assert (!iris_port_has_receiver (f.concurrent));
  ck_assert (!iris_port_has_receiver (f.teardown));
  g_object_unref (scheduler);
}

static void
handle_at_gate (IrisMessage *message, gpointer data)
{
  g_mutex_lock (&f.lock);
  f.n_at_gate++;
  g_cond_broadcast (&f.changed);
  while (!f.open)
    g_cond_wait (&f.changed, &f.lock);
  g_mutex_unlock (&f.lock);
}

static void
wait_at_gate (guint n)
{
  g_mutex_lock (&f.lock);
  while (f.n_at_gate < n)
    g_cond_wait (&f.changed, &f.lock);
  g_mutex_unlock (&f.lock);
}

static void
open_gate (void)
{
  g_mutex_lock (&f.lock);
  f.open = TRUE;
  g_cond_broadcast (&f.changed);
  g_mutex_unlock (&f.lock);
}

LOOP_TEST (concurrent_ones_run_at_the_same_time, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);

  f.open = FALSE;
  iris_arbiter_coordinate (
      NULL, iris_arbiter_receive (scheduler, f.concurrent, handle_at_gate, NULL, NULL), NULL);
  for (guint i = 0; i < 2; i++)
    iris_port_post (f.concurrent, iris_message_new (0));
  wait_at_gate (2);
  open_gate ();
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_object_unref (scheduler);
}

/* The stall of iris 0.3: an exclusive message waits for a concurrent one when the teardown comes.
 */
LOOP_TEST (a_teardown_behind_an_exclusive_one_that_waits_still_comes, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);

  f.open = FALSE;
  iris_arbiter_coordinate (
      iris_arbiter_receive (scheduler, f.exclusive, handle_exclusive, NULL, NULL),
      iris_arbiter_receive (scheduler, f.concurrent, handle_at_gate, NULL, NULL),
      iris_arbiter_receive (scheduler, f.teardown, handle_teardown, NULL, NULL));
  iris_port_post (f.concurrent, iris_message_new (0));
  wait_at_gate (1);
  iris_port_post (f.exclusive, iris_message_new (0));
  iris_port_post (f.teardown, iris_message_new (0));
  ck_assert_uint_eq (atomic_load (&f.n_exclusive), 0);
  open_gate ();
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&f.n_exclusive), 1);
  ck_assert_uint_eq (atomic_load (&f.n_teardown), 1);
  ck_assert_uint_eq (atomic_load (&f.n_broken), 0);
  g_object_unref (scheduler);
}

LOOP_TEST (a_cancelled_scheduler_lets_all_go, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);

  coordinate (scheduler);
  for (guint i = 0; i < 1000; i++)
    iris_port_post (i % 3 == 0 ? f.exclusive : f.concurrent, iris_message_new (0));
  iris_port_post (f.teardown, iris_message_new (0));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  clear ();
  ck_assert_uint_eq (atomic_load (&f.n_notified), 3);
  g_object_unref (scheduler);
}

/* On the core, where each step is ours. */
#define N_NODES 8

static IrisLlistNode nodes[N_NODES];

TEST (an_exclusive_one_that_waits_holds_back_concurrent_ones)
{
  IrisCoordination c;
  IrisLlistNode *start = NULL;

  iris_coordination_init (&c);
  ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_CONCURRENT, &nodes[0]),
                    IRIS_SUBMIT_START);
  ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_EXCLUSIVE, &nodes[1]),
                    IRIS_SUBMIT_WAIT);
  ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_CONCURRENT, &nodes[2]),
                    IRIS_SUBMIT_WAIT);
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_EXCLUSIVE);
  ck_assert_ptr_eq (start, &nodes[1]);
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_CONCURRENT);
  ck_assert_ptr_eq (start, &nodes[2]);
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_NOTHING);
  iris_coordination_clear (&c);
}

TEST (a_turn_that_is_spent_lets_all_concurrent_ones_go_before_the_next)
{
  IrisCoordination c;
  IrisLlistNode *start = NULL;

  iris_coordination_init (&c);
  ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_EXCLUSIVE, &nodes[0]),
                    IRIS_SUBMIT_START);
  for (guint i = 1; i < 4; i++)
    ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_EXCLUSIVE, &nodes[i]),
                      IRIS_SUBMIT_WAIT);
  for (guint i = 4; i < 6; i++)
    ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_CONCURRENT, &nodes[i]),
                      IRIS_SUBMIT_WAIT);

  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_EXCLUSIVE);
  ck_assert_ptr_eq (start, &nodes[1]);
  ck_assert_ptr_eq (iris_coordination_next (&c), &nodes[2]);
  ck_assert_int_eq (iris_coordination_finish (&c, true, &start), IRIS_COORDINATE_CONCURRENT);
  ck_assert_ptr_eq (start, &nodes[4]);
  ck_assert_ptr_eq (start->next, &nodes[5]);
  /* What is left of the turn still holds back new messages. */
  ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_CONCURRENT, &nodes[6]),
                    IRIS_SUBMIT_WAIT);
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_NOTHING);
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_EXCLUSIVE);
  ck_assert_ptr_eq (start, &nodes[3]);
  ck_assert_ptr_null (iris_coordination_next (&c));
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_CONCURRENT);
  ck_assert_ptr_eq (start, &nodes[6]);
  iris_coordination_clear (&c);
}

TEST (the_teardown_is_last_and_closes_at_once)
{
  IrisCoordination c;
  IrisLlistNode *start = NULL;

  iris_coordination_init (&c);
  iris_coordination_submit (&c, IRIS_COORDINATE_EXCLUSIVE, &nodes[0]);
  ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_CONCURRENT, &nodes[1]),
                    IRIS_SUBMIT_WAIT);
  ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_TEARDOWN, &nodes[2]),
                    IRIS_SUBMIT_WAIT);
  for (guint kind = 0; kind < 3; kind++)
    ck_assert_int_eq (iris_coordination_submit (&c, (IrisCoordinate) kind, &nodes[3]),
                      IRIS_SUBMIT_REFUSED);
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_CONCURRENT);
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_TEARDOWN);
  ck_assert_ptr_eq (start, &nodes[2]);
  ck_assert_int_eq (iris_coordination_finish (&c, false, &start), IRIS_COORDINATE_NOTHING);
  ck_assert_int_eq (iris_coordination_submit (&c, IRIS_COORDINATE_EXCLUSIVE, &nodes[3]),
                    IRIS_SUBMIT_REFUSED);
  iris_coordination_clear (&c);
}

TEST_MAIN ("arbiter", setup, clear)
