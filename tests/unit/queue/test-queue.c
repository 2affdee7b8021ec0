/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What every IrisQueue does, asked of each: the default one, the lock-free one, and one that a
 * program brings.
 */
#include "core-test-run.h"

#include <iris/iris.h>

#define N_WAITERS 3
/* Whether the waiters sleep already is left to chance. */
#define N_ROUNDS 20

/* --- a program's own queue: what it does not override must work all the same ------------------ */

#define OWN_TYPE_QUEUE (own_queue_get_type ())
G_DECLARE_FINAL_TYPE (OwnQueue, own_queue, OWN, QUEUE, IrisQueue)

struct _OwnQueue
{
  IrisQueue parent_instance;
  IrisQueue *inner;
};

G_DEFINE_FINAL_TYPE (OwnQueue, own_queue, IRIS_TYPE_QUEUE)

static gboolean
own_queue_push (IrisQueue *queue, gpointer item)
{
  return iris_queue_push (OWN_QUEUE (queue)->inner, item);
}

static gpointer
own_queue_timed_pop (IrisQueue *queue, gint64 timeout)
{
  return iris_queue_timed_pop (OWN_QUEUE (queue)->inner, timeout);
}

static gpointer
own_queue_timed_pop_or_close (IrisQueue *queue, gint64 timeout)
{
  return iris_queue_timed_pop_or_close (OWN_QUEUE (queue)->inner, timeout);
}

static void
own_queue_close (IrisQueue *queue)
{
  iris_queue_close (OWN_QUEUE (queue)->inner);
}

static guint
own_queue_get_length (IrisQueue *queue)
{
  return iris_queue_get_length (OWN_QUEUE (queue)->inner);
}

static gboolean
own_queue_is_closed (IrisQueue *queue)
{
  return iris_queue_is_closed (OWN_QUEUE (queue)->inner);
}

static void
own_queue_finalize (GObject *object)
{
  g_object_unref (OWN_QUEUE (object)->inner);
  G_OBJECT_CLASS (own_queue_parent_class)->finalize (object);
}

static void
own_queue_class_init (OwnQueueClass *klass)
{
  IrisQueueClass *queue_class = IRIS_QUEUE_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = own_queue_finalize;
  queue_class->push = own_queue_push;
  queue_class->timed_pop = own_queue_timed_pop;
  queue_class->timed_pop_or_close = own_queue_timed_pop_or_close;
  queue_class->close = own_queue_close;
  queue_class->get_length = own_queue_get_length;
  queue_class->is_closed = own_queue_is_closed;
}

static void
own_queue_init (OwnQueue *self)
{
  self->inner = iris_queue_new ();
}

static IrisQueue *
own_queue_new (void)
{
  return g_object_new (OWN_TYPE_QUEUE, NULL);
}

/* --- the tests -------------------------------------------------------------------------------- */

static IrisQueue *(*const makers[]) (void) = { iris_queue_new, iris_lfqueue_new, own_queue_new };

static int items[8];

LOOP_TEST (the_oldest_comes_first, 0, 3)
{
  g_autoptr (IrisQueue) queue = makers[_i % 3]();

  ck_assert_uint_eq (iris_queue_get_length (queue), 0);
  for (guint i = 0; i < 8; i++)
    {
      ck_assert (iris_queue_push (queue, &items[i]));
      ck_assert_uint_eq (iris_queue_get_length (queue), i + 1);
    }
  ck_assert_ptr_eq (iris_queue_pop (queue), &items[0]);
  ck_assert_ptr_eq (iris_queue_try_pop (queue), &items[1]);
  ck_assert_ptr_eq (iris_queue_timed_pop (queue, 0), &items[2]);
  ck_assert_ptr_eq (iris_queue_timed_pop (queue, G_MAXINT64), &items[3]);
  ck_assert_ptr_eq (iris_queue_timed_pop (queue, -1), &items[4]);
  ck_assert_ptr_eq (iris_queue_try_pop_or_close (queue), &items[5]);
  ck_assert_ptr_eq (iris_queue_timed_pop_or_close (queue, 0), &items[6]);
  ck_assert_ptr_eq (iris_queue_timed_pop_or_close (queue, -1), &items[7]);
  ck_assert (!iris_queue_is_closed (queue));
  ck_assert_ptr_null (iris_queue_try_pop (queue));
}

LOOP_TEST (a_closed_queue_refuses_and_drains, 0, 3)
{
  g_autoptr (IrisQueue) queue = makers[_i % 3]();

  ck_assert (iris_queue_push (queue, &items[0]));
  ck_assert (iris_queue_push (queue, &items[1]));
  iris_queue_close (queue);
  iris_queue_close (queue);
  ck_assert (iris_queue_is_closed (queue));
  ck_assert (!iris_queue_push (queue, &items[2]));
  ck_assert_uint_eq (iris_queue_get_length (queue), 2);
  ck_assert_ptr_eq (iris_queue_pop (queue), &items[0]);
  ck_assert_ptr_eq (iris_queue_try_pop_or_close (queue), &items[1]);
  ck_assert_ptr_null (iris_queue_pop (queue));
  ck_assert_ptr_null (iris_queue_timed_pop (queue, -1));
  ck_assert_ptr_null (iris_queue_timed_pop_or_close (queue, -1));
  ck_assert_ptr_null (iris_queue_try_pop (queue));
}

LOOP_TEST (pop_or_close_closes_an_empty_queue, 0, 3)
{
  g_autoptr (IrisQueue) queue = makers[_i % 3]();
  g_autoptr (IrisQueue) other = makers[_i % 3]();

  ck_assert_ptr_null (iris_queue_try_pop_or_close (queue));
  ck_assert (iris_queue_is_closed (queue));
  ck_assert (!iris_queue_push (queue, &items[0]));

  ck_assert_ptr_null (iris_queue_timed_pop (other, 1000));
  ck_assert (!iris_queue_is_closed (other));
  ck_assert_ptr_null (iris_queue_timed_pop_or_close (other, 1000));
  ck_assert (iris_queue_is_closed (other));
}

static gpointer
pop_one (gpointer queue)
{
  return iris_queue_pop (queue);
}

LOOP_TEST (closing_wakes_all_waiting_threads, 0, 3 * N_ROUNDS)
{
  g_autoptr (IrisQueue) queue = makers[_i % 3]();
  GThread *waiters[N_WAITERS];

  for (int i = 0; i < N_WAITERS; i++)
    waiters[i] = g_thread_new ("waiter", pop_one, queue);
  iris_queue_close (queue);
  for (int i = 0; i < N_WAITERS; i++)
    ck_assert_ptr_null (g_thread_join (waiters[i]));
}

static gpointer
pop_or_close (gpointer queue)
{
  return iris_queue_timed_pop_or_close (queue, 2000);
}

LOOP_TEST (a_wait_that_closes_wakes_all_others, 0, 3)
{
  g_autoptr (IrisQueue) queue = makers[_i % 3]();
  GThread *waiters[N_WAITERS];

  for (int i = 0; i < N_WAITERS; i++)
    waiters[i] = g_thread_new ("waiter", pop_one, queue);
  ck_assert_ptr_null (pop_or_close (queue));
  for (int i = 0; i < N_WAITERS; i++)
    ck_assert_ptr_null (g_thread_join (waiters[i]));
  ck_assert (iris_queue_is_closed (queue));
}

LOOP_TEST (a_push_wakes_one_waiting_thread, 0, 3 * N_ROUNDS)
{
  g_autoptr (IrisQueue) queue = makers[_i % 3]();
  GThread *waiters[N_WAITERS];
  guint seen = 0;

  for (int i = 0; i < N_WAITERS; i++)
    waiters[i] = g_thread_new ("waiter", pop_one, queue);
  for (int i = 0; i < N_WAITERS; i++)
    ck_assert (iris_queue_push (queue, &items[i]));
  for (int i = 0; i < N_WAITERS; i++)
    {
      int *item = g_thread_join (waiters[i]);

      ck_assert_ptr_nonnull (item);
      seen |= 1u << (item - items);
    }
  ck_assert_uint_eq (seen, (1u << N_WAITERS) - 1);
}

LOOP_TEST (what_is_left_in_a_queue_is_the_programs, 0, 3)
{
  g_autoptr (IrisQueue) queue = makers[_i % 3]();

  ck_assert (iris_queue_push (queue, &items[0]));
}

/* Many pushes race with one that closes when it finds the queue empty: what was accepted is in the
 * queue, and nothing is accepted after. */
static gpointer
push_until_refused (gpointer queue)
{
  guint n = 0;

  while (iris_queue_push (queue, items))
    n++;

  return GUINT_TO_POINTER (n);
}

LOOP_TEST (nothing_is_accepted_and_then_lost_by_closing, 0, 3)
{
  for (int round = 0; round < 50; round++)
    {
      g_autoptr (IrisQueue) queue = makers[_i % 3]();
      GThread *one = g_thread_new ("one", push_until_refused, queue);
      GThread *two = g_thread_new ("two", push_until_refused, queue);
      guint accepted, taken = 0;

      while (taken < 100 && iris_queue_try_pop_or_close (queue) != NULL)
        taken++;
      iris_queue_close (queue);
      accepted = GPOINTER_TO_UINT (g_thread_join (one)) + GPOINTER_TO_UINT (g_thread_join (two));
      ck_assert_uint_eq (iris_queue_get_length (queue), accepted - taken);
      while (iris_queue_pop (queue) != NULL)
        taken++;
      ck_assert_uint_eq (taken, accepted);
    }
}

TEST_MAIN ("queue", NULL, NULL)
