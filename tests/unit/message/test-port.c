/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ports and receivers: every message is handled once, on every scheduler, and no receiver
 * is freed too early.
 */
#include "core-test-util.h"

#include <stdatomic.h>

#define N_INNER (CORE_TEST_FACTOR > 1 ? 50 : 1000)
#define N_SWAPS (CORE_TEST_FACTOR > 1 ? 100 : 1000)
#define N_OUTER 1000

enum
{
  OUTER = 1,
  INNER,
};

typedef struct
{
  IrisPort *port;
  GMutex lock;
  GCond changed;
  gboolean open; /* a gate for handlers */
  guint n_in;    /* handlers at the gate */
  _Atomic guint n_outer, n_inner, n_notified;
} Fixture;

static Fixture f;

static void
setup (void)
{
  f.port = iris_port_new ();
  f.open = TRUE;
  f.n_in = 0;
  atomic_store (&f.n_outer, 0);
  atomic_store (&f.n_inner, 0);
  atomic_store (&f.n_notified, 0);
}

static void
teardown (void)
{
  g_clear_object (&f.port);
}

static void
notified (gpointer data)
{
  ck_assert_ptr_eq (data, &f);
  atomic_fetch_add (&f.n_notified, 1);
}

static void
handle_recursive (IrisMessage *message, gpointer data)
{
  /* Check's own assertions write to a file, passed or not: too slow for a million calls. */
  if (data != &f)
    ck_abort_msg ("the handler got another receiver's data");
  if (message->what == INNER)
    {
      atomic_fetch_add_explicit (&f.n_inner, 1, memory_order_relaxed);
      return;
    }
  atomic_fetch_add_explicit (&f.n_outer, 1, memory_order_relaxed);
  for (guint i = 0; i < N_INNER; i++)
    iris_port_post (f.port, iris_message_new (INNER));
}

/* What a handler posts to its own pool: one message that takes the short way, and each of those
 * that must not. */
enum
{
  KINDS,
  PLAIN,
  KEPT,
  LARGE,
  AGAIN,
  PLACED,
  N_KINDS,
};

static struct
{
  IrisReceiver *receiver;
  IrisMessage *kept;
  _Atomic guint n[N_KINDS];
} kinds;

static void
handle_kinds (IrisMessage *message, gpointer data)
{
  guint n = atomic_fetch_add (&kinds.n[message->what], 1);
  IrisMessage *large;

  if (message->what == AGAIN && n == 0)
    iris_port_post (f.port, message); /* its own item is in use */
  if (message->what != KINDS)
    return;

  iris_port_post (f.port, iris_message_new (PLAIN));
  kinds.kept = iris_message_ref_sink (iris_message_new (KEPT));
  iris_port_post (f.port, kinds.kept);
  large = iris_message_new (LARGE);
  iris_message_set_footprint (large, 1 << 20, TRUE);
  iris_port_post (f.port, large);
  iris_port_post (f.port, iris_message_new (AGAIN));
  iris_receiver_set_place (kinds.receiver, 0, IRIS_ITEM_STRICT);
  iris_port_post (f.port, iris_message_new (PLACED));
}

LOOP_TEST (what_a_handler_posts_is_handled_once_whatever_way_it_takes, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);

  for (guint i = 0; i < N_KINDS; i++)
    atomic_store (&kinds.n[i], 0);
  kinds.receiver = iris_arbiter_receive (scheduler, f.port, handle_kinds, &f, notified);
  iris_port_post (f.port, iris_message_new (KINDS));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_object_unref (scheduler);
  for (guint i = 0; i < N_KINDS; i++)
    ck_assert_uint_eq (atomic_load (&kinds.n[i]), i == AGAIN ? 2 : 1);
  iris_message_unref (kinds.kept);
}

LOOP_TEST (the_recursive_program_runs_on_every_scheduler, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);

  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  for (guint i = 0; i < N_OUTER; i++)
    iris_port_post (f.port, iris_message_new (OUTER));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);

  ck_assert_uint_eq (atomic_load (&f.n_outer), N_OUTER);
  ck_assert_uint_eq (atomic_load (&f.n_inner), N_OUTER * N_INNER);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 0);
  g_clear_object (&f.port);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 1);
  g_object_unref (scheduler);
}

LOOP_TEST (messages_wait_in_a_port_without_a_receiver, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);

  for (guint i = 0; i < 10; i++)
    iris_port_post (f.port, iris_message_new (INNER));
  ck_assert_uint_eq (iris_port_get_queue_length (f.port), 10);
  ck_assert (!iris_port_has_receiver (f.port));
  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  ck_assert_uint_eq (iris_port_get_queue_length (f.port), 0);
  ck_assert (iris_port_has_receiver (f.port));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&f.n_inner), 10);
  g_object_unref (scheduler);
}

TEST (a_port_that_goes_drops_what_waits_in_it)
{
  IrisMessage *message = iris_message_ref_sink (iris_message_new (INNER));

  iris_port_post (f.port, message);
  g_clear_object (&f.port);
  /* Its reference is back, so this one is the last; a leak checker sees to the rest. */
  iris_message_unref (message);
}

static void
handle_at_gate (IrisMessage *message, gpointer data)
{
  g_mutex_lock (&f.lock);
  f.n_in++;
  g_cond_broadcast (&f.changed);
  while (!f.open)
    g_cond_wait (&f.changed, &f.lock);
  g_mutex_unlock (&f.lock);
  atomic_fetch_add (&f.n_inner, 1);
}

static void
wait_for_handlers (guint n)
{
  g_mutex_lock (&f.lock);
  while (f.n_in < n)
    g_cond_wait (&f.changed, &f.lock);
  g_mutex_unlock (&f.lock);
}

static gpointer
open_gate (gpointer data)
{
  g_mutex_lock (&f.lock);
  f.open = TRUE;
  g_cond_broadcast (&f.changed);
  g_mutex_unlock (&f.lock);
  return NULL;
}

TEST (destroying_a_receiver_waits_for_its_handler_and_drops_the_rest)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (1, 1);
  IrisReceiver *receiver;
  GThread *opener;

  f.open = FALSE;
  receiver = iris_arbiter_receive (scheduler, f.port, handle_at_gate, &f, notified);
  for (guint i = 0; i < 10; i++)
    iris_port_post (f.port, iris_message_new (INNER));
  wait_for_handlers (1);
  opener = g_thread_new ("opener", open_gate, NULL);
  iris_receiver_destroy (receiver, FALSE);
  /* At least the one at the gate; the gate may have opened before the rest were dropped. */
  ck_assert_uint_ge (atomic_load (&f.n_inner), 1);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 1);
  g_thread_join (opener);

  iris_port_post (f.port, iris_message_new (INNER));
  ck_assert_uint_eq (iris_port_get_queue_length (f.port), 1);
}

static void
destroy_in_handler (IrisMessage *message, gpointer data)
{
  g_autoptr (IrisReceiver) receiver = iris_port_dup_receiver (f.port);

  iris_receiver_destroy (receiver, TRUE);
  atomic_fetch_add (&f.n_inner, 1);
}

LOOP_TEST (a_handler_may_destroy_its_own_receiver, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);

  iris_arbiter_receive (scheduler, f.port, destroy_in_handler, &f, notified);
  iris_port_post (f.port, iris_message_new (INNER));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&f.n_inner), 1);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 1);
  ck_assert (!iris_port_has_receiver (f.port));
  g_object_unref (scheduler);
}

LOOP_TEST (a_cancelled_scheduler_lets_the_receiver_go, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);
  GThread *opener;

  f.open = FALSE;
  iris_arbiter_receive (scheduler, f.port, handle_at_gate, &f, notified);
  for (guint i = 0; i < 100; i++)
    iris_port_post (f.port, iris_message_new (INNER));
  wait_for_handlers (1);
  opener = g_thread_new ("opener", open_gate, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  g_thread_join (opener);
  g_clear_object (&f.port);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 1);
  g_object_unref (scheduler);
}

LOOP_TEST (one_message_can_be_under_way_several_times, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);
  IrisMessage *message = iris_message_ref_sink (iris_message_new (INNER));

  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  for (guint i = 0; i < 1000; i++)
    iris_port_post (f.port, message);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&f.n_inner), 1000);
  iris_message_unref (message);
  g_object_unref (scheduler);
}

static gpointer
post_many (gpointer data)
{
  for (guint i = 0; i < N_SWAPS * 10; i++)
    iris_port_post (f.port, iris_message_new (INNER));
  return NULL;
}

LOOP_TEST (changing_the_receiver_under_load_loses_no_message, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);
  GThread *posters[2];

  for (guint i = 0; i < 2; i++)
    posters[i] = g_thread_new ("poster", post_many, NULL);
  for (guint i = 0; i < N_SWAPS; i++)
    {
      iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
      if (i % 3 == 0)
        iris_port_set_receiver (f.port, NULL);
    }
  for (guint i = 0; i < 2; i++)
    g_thread_join (posters[i]);
  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);

  ck_assert_uint_eq (atomic_load (&f.n_inner), 2 * N_SWAPS * 10);
  g_clear_object (&f.port);
  ck_assert_uint_eq (atomic_load (&f.n_notified), N_SWAPS + 1);
  g_object_unref (scheduler);
}

static void
note_place (IrisMessage *message, gpointer data)
{
  ck_assert_int_eq (iris_worker_get_place (iris_worker_current ()), 1);
  atomic_fetch_add (&f.n_inner, 1);
}

TEST (a_strict_receiver_handles_at_its_place_alone)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make_class (3);
  IrisReceiver *receiver = iris_arbiter_receive (scheduler, f.port, note_place, &f, NULL);

  iris_receiver_set_place (receiver, 1, IRIS_ITEM_STRICT);
  for (guint i = 0; i < 1000; i++)
    iris_port_post (f.port, iris_message_new (INNER));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&f.n_inner), 1000);
}

LOOP_TEST (a_paused_port_keeps_messages_until_it_is_resumed, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);
  IrisReceiver *receiver;

  iris_port_pause (f.port);
  ck_assert (!iris_port_is_paused (f.port));
  receiver = iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  iris_port_pause (f.port);
  iris_port_pause (f.port);
  ck_assert (iris_port_is_paused (f.port) && iris_port_has_receiver (f.port));
  ck_assert_ptr_eq (iris_port_get_receiver (f.port), receiver);
  for (guint i = 0; i < 10; i++)
    iris_port_post (f.port, iris_message_new (INNER));
  ck_assert_uint_eq (iris_port_get_queue_length (f.port), 10);
  iris_port_resume (f.port);
  iris_port_resume (f.port);
  ck_assert (!iris_port_is_paused (f.port));
  ck_assert_uint_eq (iris_port_get_queue_length (f.port), 0);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&f.n_inner), 10);
  g_object_unref (scheduler);
}

LOOP_TEST (a_paused_receiver_goes_like_any_other, 0, CORE_TEST_N_CLASSES)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make_class (_i);
  IrisReceiver *receiver;

  /* Destroyed. */
  receiver = iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  iris_port_pause (f.port);
  iris_receiver_destroy (receiver, FALSE);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 1);
  ck_assert (!iris_port_is_paused (f.port) && !iris_port_has_receiver (f.port));
  /* Replaced, which resumes. */
  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  iris_port_pause (f.port);
  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 2);
  ck_assert (!iris_port_is_paused (f.port));
  /* Parted. */
  iris_port_pause (f.port);
  iris_port_set_receiver (f.port, NULL);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 3);
  /* With its port. */
  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  iris_port_pause (f.port);
  iris_port_post (f.port, iris_message_new (INNER));
  g_clear_object (&f.port);
  ck_assert_uint_eq (atomic_load (&f.n_notified), 4);
  ck_assert_uint_eq (atomic_load (&f.n_inner), 0);
}

LOOP_TEST (a_bounded_port_is_paused_too, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);

  iris_port_set_limit (f.port, 3, IRIS_PORT_FULL_FAIL);
  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  iris_port_pause (f.port);
  for (guint i = 0; i < 3; i++)
    ck_assert (iris_port_try_post (f.port, iris_message_new (INNER), NULL));
  ck_assert (!iris_port_try_post (f.port, iris_message_new (INNER), NULL));
  iris_port_resume (f.port);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&f.n_inner), 3);
  g_object_unref (scheduler);
}

LOOP_TEST (pausing_under_load_loses_no_message, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);
  GThread *posters[2];

  iris_arbiter_receive (scheduler, f.port, handle_recursive, &f, notified);
  for (guint i = 0; i < 2; i++)
    posters[i] = g_thread_new ("poster", post_many, NULL);
  for (guint i = 0; i < N_SWAPS; i++)
    {
      iris_port_pause (f.port);
      ck_assert_ptr_nonnull (iris_port_get_receiver (f.port));
      iris_port_resume (f.port);
    }
  for (guint i = 0; i < 2; i++)
    g_thread_join (posters[i]);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&f.n_inner), 2 * N_SWAPS * 10);
  g_object_unref (scheduler);
}

TEST_MAIN ("port", setup, teardown)
