/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Actors and exclusive receivers: one message at a time, in order, once; freed when no thread can
 * post to them.
 */
#include "core-test-util.h"

#include "iris/message/iris-turn-private.h"

#include <stdatomic.h>

#define N_EACH    (CORE_TEST_FACTOR > 1 ? 2000 : 20000)
#define N_POSTERS 4

enum
{
  ACTOR,
  PORT,
  COORDINATED,
  N_FACES,
};

/* What handles one at a time, in one of its three faces. */
typedef struct
{
  IrisActor *actor;
  IrisPort *port;
} Serial;

static Serial
serial_new (int face,
            IrisScheduler *scheduler,
            IrisMessageHandler handler,
            gpointer data,
            GDestroyNotify notify)
{
  Serial self = { NULL, NULL };

  if (face == ACTOR)
    {
      self.actor = iris_actor_new (scheduler, handler, data, notify);
      return self;
    }
  self.port = iris_port_new ();
  if (face == PORT)
    iris_arbiter_receive_exclusive (scheduler, self.port, handler, data, notify);
  else
    iris_arbiter_coordinate (iris_arbiter_receive (scheduler, self.port, handler, data, notify),
                             NULL, NULL);
  return self;
}

static void
serial_post (Serial *self, IrisMessage *message)
{
  if (self->actor != NULL)
    iris_actor_post (self->actor, message);
  else
    iris_port_post (self->port, message);
}

static void
serial_clear (Serial *self)
{
  g_clear_pointer (&self->actor, iris_actor_unref);
  g_clear_object (&self->port);
}

typedef struct
{
  Serial serial;
  _Atomic guint inside;
  guint n_handled; /* plain: the handler is alone, and a sanitizer sees if it is not */
  guint n_wrong;
  gint latest[N_POSTERS];
  _Atomic guint n_notified;
} Record;

static void
notified (gpointer data)
{
  atomic_fetch_add (&((Record *) data)->n_notified, 1);
}

static void
keep_record (IrisMessage *message, gpointer data)
{
  Record *record = data;
  gint poster = message->what % N_POSTERS, number = message->what / N_POSTERS;

  if (atomic_fetch_add (&record->inside, 1) != 0 || number != record->latest[poster] + 1)
    record->n_wrong++;
  record->latest[poster] = number;
  record->n_handled++;
  atomic_fetch_sub (&record->inside, 1);
}

typedef struct
{
  Record *record;
  gint index;
} Poster;

static gpointer
post_numbers (gpointer data)
{
  Poster *poster = data;

  for (gint i = 0; i < N_EACH; i++)
    serial_post (&poster->record->serial, iris_message_new (i * N_POSTERS + poster->index));

  return NULL;
}

LOOP_TEST (every_message_is_handled_once_alone_and_in_its_sender_s_order,
           0,
           N_FACES *CORE_TEST_N_CLASSES)
{
  int face = _i / CORE_TEST_N_CLASSES;
  IrisScheduler *scheduler = core_test_make_class (_i % CORE_TEST_N_CLASSES);
  Record record = { .latest = { -1, -1, -1, -1 } };
  GThread *threads[N_POSTERS];
  Poster posters[N_POSTERS];

  record.serial = serial_new (face, scheduler, keep_record, &record, notified);
  for (gint i = 0; i < N_POSTERS; i++)
    {
      posters[i] = (Poster){ &record, i };
      threads[i] = g_thread_new ("poster", post_numbers, &posters[i]);
    }
  for (gint i = 0; i < N_POSTERS; i++)
    g_thread_join (threads[i]);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (record.n_handled, N_POSTERS * N_EACH);
  ck_assert_uint_eq (record.n_wrong, 0);
  ck_assert_uint_eq (atomic_load (&record.n_notified), 0);
  serial_clear (&record.serial);
  ck_assert_uint_eq (atomic_load (&record.n_notified), 1);
  g_object_unref (scheduler);
}

LOOP_TEST (an_actor_that_was_given_up_handles_what_was_posted_and_goes,
           0,
           N_FACES *CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i % CORE_TEST_N_CLASSES);
  Record record = { .latest = { -1, -1, -1, -1 } };

  record.serial = serial_new (_i / CORE_TEST_N_CLASSES, scheduler, keep_record, &record, notified);
  for (gint i = 0; i < 1000; i++)
    serial_post (&record.serial, iris_message_new (i * N_POSTERS));
  serial_clear (&record.serial);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (record.n_handled, 1000);
  ck_assert_uint_eq (atomic_load (&record.n_notified), 1);
  g_object_unref (scheduler);
}

static void
count_payload (gpointer data)
{
  atomic_fetch_add ((_Atomic guint *) data, 1);
}

static IrisMessage *
new_counted (_Atomic guint *n_freed)
{
  IrisMessage *message = iris_message_new (1);

  iris_message_set_pointer_full (message, "payload", n_freed, count_payload);

  return message;
}

static void
ignore (IrisMessage *message, gpointer data)
{
}

LOOP_TEST (a_cancelled_scheduler_drops_the_mail_and_lets_the_actor_go,
           0,
           N_FACES *CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i % CORE_TEST_N_CLASSES);
  _Atomic guint n_freed = 0;
  Record record = { .n_handled = 0 };

  record.serial = serial_new (_i / CORE_TEST_N_CLASSES, scheduler, ignore, &record, notified);
  for (guint i = 0; i < 1000; i++)
    serial_post (&record.serial, new_counted (&n_freed));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  ck_assert_uint_eq (atomic_load (&n_freed), 1000);
  /* At a scheduler that is no more, messages is dropped at once. */
  serial_post (&record.serial, new_counted (&n_freed));
  ck_assert_uint_eq (atomic_load (&n_freed), 1001);
  serial_clear (&record.serial);
  ck_assert_uint_eq (atomic_load (&record.n_notified), 1);
  g_object_unref (scheduler);
}

LOOP_TEST (one_message_can_wait_in_a_mailbox_several_times, 0, N_FACES *CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i % CORE_TEST_N_CLASSES);
  _Atomic guint n_freed = 0;
  IrisMessage *message = iris_message_ref_sink (new_counted (&n_freed));
  Record record = { .latest = { -1 } };

  record.serial = serial_new (_i / CORE_TEST_N_CLASSES, scheduler, keep_record, &record, NULL);
  for (guint i = 0; i < 1000; i++)
    serial_post (&record.serial, message);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (record.n_handled, 1000);
  ck_assert_uint_eq (atomic_load (&n_freed), 0);
  iris_message_unref (message);
  ck_assert_uint_eq (atomic_load (&n_freed), 1);
  serial_clear (&record.serial);
  g_object_unref (scheduler);
}

static void
post_to_myself (IrisMessage *message, gpointer data)
{
  Record *record = data;

  record->n_handled++;
  if (message->what > 0)
    iris_actor_post (iris_actor_current (), iris_message_new (message->what - 1));
}

LOOP_TEST (an_actor_may_post_to_itself_when_no_other_reference_is_left, 0, CORE_TEST_N_CLASSES)
{
  IrisScheduler *scheduler = core_test_make_class (_i);
  Record record = { .n_handled = 0 };
  IrisActor *actor = iris_actor_new (scheduler, post_to_myself, &record, notified);

  ck_assert_ptr_null (iris_actor_current ());
  iris_actor_post (actor, iris_message_new (999));
  iris_actor_unref (actor);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (record.n_handled, 1000);
  ck_assert_uint_eq (atomic_load (&record.n_notified), 1);
  g_object_unref (scheduler);
}

/* A busy one posts to itself for ever; another must get its turn beside it, on the one worker. */
typedef struct
{
  Serial serial;
  _Atomic gboolean stop;
} Busy;

static void
go_on (IrisMessage *message, gpointer data)
{
  Busy *busy = data;

  if (!atomic_load (&busy->stop))
    serial_post (&busy->serial, iris_message_new (0));
}

static void
stop (gpointer data)
{
  atomic_store (&((Busy *) data)->stop, TRUE);
}

LOOP_TEST (a_busy_actor_does_not_keep_others_from_the_worker, 0, 2 * N_FACES)
{
  IrisScheduler *scheduler = _i % 2 == 0 ? iris_scheduler_new_full (1, 1)
                                         : iris_wsscheduler_new_full (1, 1);
  Busy busy = { .stop = FALSE };

  busy.serial = serial_new (_i / 2, scheduler, go_on, &busy, NULL);
  serial_post (&busy.serial, iris_message_new (0));
  iris_scheduler_queue (scheduler, stop, &busy, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert (atomic_load (&busy.stop));
  serial_clear (&busy.serial);
  g_object_unref (scheduler);
}

TEST (the_batch_can_be_set)
{
  g_autoptr (IrisActor) actor = iris_actor_new (NULL, ignore, NULL, NULL);
  g_autoptr (IrisReceiver) receiver = iris_receiver_new (NULL, ignore, NULL, NULL);

  ck_assert_uint_eq (iris_actor_get_batch (actor), IRIS_ACTOR_BATCH);
  iris_actor_set_batch (actor, 1);
  ck_assert_uint_eq (iris_actor_get_batch (actor), 1);
  ck_assert_uint_eq (iris_receiver_get_batch (receiver), IRIS_ACTOR_BATCH);
  iris_receiver_set_batch (receiver, 7);
  ck_assert_uint_eq (iris_receiver_get_batch (receiver), 7);
}

/* How many messages a turn handles whose messages all came before it looked. */
static guint
take_turn (IrisTurn *turn, guint most)
{
  guint n = 1;

  while (n < most && iris_turn_goes_on (turn, true))
    n++;

  return n;
}

TEST (a_turn_of_slow_messages_ends_after_so_many_and_one_of_quick_ones_by_the_clock)
{
  IrisTurn turn = iris_turn_begin (0, IRIS_ACTOR_BATCH);

  turn.until_ns = 1; /* is over */
  ck_assert_uint_eq (take_turn (&turn, G_MAXUINT), IRIS_ACTOR_BATCH_MOST);
  turn = iris_turn_begin (0, IRIS_ACTOR_BATCH);
  turn.until_ns = G_MAXINT64;
  ck_assert_uint_eq (take_turn (&turn, 10 * IRIS_ACTOR_BATCH_MOST), 10 * IRIS_ACTOR_BATCH_MOST);
  turn.until_ns = 1;
  ck_assert_uint_le (take_turn (&turn, G_MAXUINT), IRIS_ACTOR_BATCH_MOST);

  turn = iris_turn_begin (7, IRIS_ACTOR_BATCH);
  ck_assert_uint_eq (take_turn (&turn, G_MAXUINT), 7);
  turn = iris_turn_begin (0, IRIS_ACTOR_BATCH);
  for (guint i = 1; i < IRIS_ACTOR_BATCH; i++)
    ck_assert (iris_turn_goes_on (&turn, false));
  ck_assert (!iris_turn_goes_on (&turn, false));
  ck_assert_int_eq (turn.until_ns, 0); /* no clock for short turns */
}

TEST (actors_are_boxed)
{
  g_autoptr (IrisActor) actor = iris_actor_new (NULL, ignore, NULL, NULL);
  IrisActor *again = g_boxed_copy (IRIS_TYPE_ACTOR, actor);

  ck_assert_ptr_eq (again, actor);
  g_boxed_free (IRIS_TYPE_ACTOR, again);
}

TEST_MAIN ("actor", NULL, NULL)
