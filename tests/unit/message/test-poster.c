/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Posting while the receiver goes: what the post still touches stays until it has returned, and it
 * does not wait for the end of a scheduler.
 */
#include "core-test-util.h"

#include <iris/sched/iris-scheduler-private.h>

/* A scheduler so fast that an item has run, and whatever it does not keep is gone, before the call
 * that queues it returns. */
G_DECLARE_FINAL_TYPE (FastScheduler, fast_scheduler, FAST, SCHEDULER, IrisScheduler)

struct _FastScheduler
{
  IrisScheduler parent_instance;

  IrisPort *port; /* unowned: left without a receiver once an item has run */
};

G_DEFINE_FINAL_TYPE (FastScheduler, fast_scheduler, IRIS_TYPE_SCHEDULER)

static gboolean is_queueing, ended_while_queueing, ended_while_waiting;
static guint n_ended, n_handled, n_notified;

static void
fast_queue_item (IrisScheduler *scheduler, IrisItem *item)
{
  FastScheduler *self = FAST_SCHEDULER (scheduler);

  is_queueing = TRUE;
  iris_item_settle (item, TRUE);
  iris_port_set_receiver (self->port, NULL);
  is_queueing = FALSE;
}

static void
fast_shutdown (IrisScheduler *scheduler, IrisShutdown how)
{
}

static void
fast_scheduler_finalize (GObject *object)
{
  n_ended++;
  ended_while_queueing |= is_queueing;
  ended_while_waiting |= iris_scheduler_may_wait ();

  G_OBJECT_CLASS (fast_scheduler_parent_class)->finalize (object);
}

static void
fast_scheduler_class_init (FastSchedulerClass *klass)
{
  IRIS_SCHEDULER_CLASS (klass)->queue_item = fast_queue_item;
  IRIS_SCHEDULER_CLASS (klass)->shutdown = fast_shutdown;
  G_OBJECT_CLASS (klass)->finalize = fast_scheduler_finalize;
}

static void
fast_scheduler_init (FastScheduler *self)
{
}

static void
handle (IrisMessage *message, gpointer data)
{
  n_handled++;
}

static void
notified (gpointer data)
{
  n_notified++;
}

/* The ways to a scheduler. */
static void
receive_plainly (IrisScheduler *scheduler, IrisPort *port)
{
  iris_arbiter_receive (scheduler, port, handle, NULL, notified);
}

static void
receive_exclusively (IrisScheduler *scheduler, IrisPort *port)
{
  iris_arbiter_receive_exclusive (scheduler, port, handle, NULL, notified);
}

static void
receive_coordinated (IrisScheduler *scheduler, IrisPort *port)
{
  iris_arbiter_coordinate (iris_arbiter_receive (scheduler, port, handle, NULL, notified), NULL,
                           NULL);
}

static void
receive_teardown (IrisScheduler *scheduler, IrisPort *port)
{
  iris_arbiter_coordinate (NULL, NULL,
                           iris_arbiter_receive (scheduler, port, handle, NULL, notified));
}

static void
receive_bounded (IrisScheduler *scheduler, IrisPort *port)
{
  iris_port_set_limit (port, 3, IRIS_PORT_FULL_FAIL);
  iris_arbiter_receive (scheduler, port, handle, NULL, notified);
}

static void (*const ways[]) (IrisScheduler *, IrisPort *) = {
  receive_plainly, receive_exclusively, receive_coordinated, receive_teardown, receive_bounded,
};

LOOP_TEST (a_scheduler_does_not_end_while_a_post_queues_to_it, 0, G_N_ELEMENTS (ways))
{
  g_autoptr (IrisPort) port = iris_port_new ();
  FastScheduler *scheduler = g_object_new (fast_scheduler_get_type (), NULL);

  n_ended = n_handled = n_notified = 0;
  ended_while_queueing = ended_while_waiting = FALSE;
  scheduler->port = port;
  ways[_i](IRIS_SCHEDULER (scheduler), port);
  g_object_unref (scheduler);
  ck_assert_uint_eq (n_ended, 0);

  iris_port_post (port, iris_message_new (1));
  ck_assert_uint_eq (n_handled, 1);
  ck_assert_uint_eq (n_notified, 1);
  ck_assert_uint_eq (n_ended, 1);
  ck_assert (!ended_while_queueing);
  ck_assert (!ended_while_waiting);
  ck_assert (iris_scheduler_may_wait ());
}

#define N_POSTERS 2
#define N_ROUNDS  (400 / CORE_TEST_FACTOR)

static IrisPort *swapped;
static _Atomic guint n_posted, n_arrived;
static _Atomic bool is_over;

static void
count_arrival (IrisMessage *message, gpointer data)
{
  atomic_fetch_add (&n_arrived, 1);
}

static gpointer
post_until_over (gpointer data)
{
  while (!atomic_load (&is_over))
    {
      atomic_fetch_add (&n_posted, 1);
      iris_port_post (swapped, iris_message_new (1));
    }

  return NULL;
}

/* The receiver that is replaced has the last reference to its scheduler. */
TEST (posters_outlive_receivers_that_go_with_their_schedulers)
{
  GThread *posters[N_POSTERS];

  swapped = iris_port_new ();
  atomic_store (&is_over, false);
  for (guint i = 0; i < N_POSTERS; i++)
    posters[i] = g_thread_new ("poster", post_until_over, NULL);
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (1, 1);
      IrisReceiver *receiver = iris_receiver_new (scheduler, count_arrival, NULL, NULL);
      guint before = atomic_load (&n_arrived);

      if (i % 2 == 1)
        iris_arbiter_coordinate (receiver, NULL, NULL);
      iris_port_set_receiver (swapped, receiver);
      g_object_unref (receiver);
      while (atomic_load (&n_arrived) == before)
        g_thread_yield ();
    }
  atomic_store (&is_over, true);
  for (guint i = 0; i < N_POSTERS; i++)
    g_thread_join (posters[i]);
  iris_port_set_receiver (swapped, NULL);
  while (atomic_load (&n_arrived) < atomic_load (&n_posted))
    g_thread_yield ();
  g_object_unref (swapped);
}

TEST_MAIN ("poster", NULL, NULL)
