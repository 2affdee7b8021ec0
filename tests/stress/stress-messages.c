/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages under load: through every arrangement of arbiter, scheduler and places each message is
 * handled once, and handlers that exclude each other never meet.
 *
 * A joint is a way to join ports to handlers; a new arbiter is a row more in the table of joints.
 * Messages are posted by several threads at once and by handlers; some are posted twice, and must
 * be handled twice. Each has a byte of its own, in which its handlings are counted.
 *
 * With IRIS_SOAK in the environment a row has ten million messages, and says what it did.
 */
#include "arrangement.h"

#include <sched.h>

#define N_PRODUCERS 3
#define TREE        100 /* one in so many posts so many others */
#define WINDOW      10000
#define MAX_PORTS   4

typedef struct
{
  const char *name;
  guint n_ports;
  void (*open) (IrisScheduler *scheduler, guint n_places);
  /* What goes on meanwhile, again and again until everything was posted; or NULL. */
  void (*disturb) (void);
  /* When everything was posted. */
  void (*settle) (void);
  /* The ports whose handlers run alone, as bits; what a scheduler of one worker does by nature is
   * added. */
  guint exclusive;
  /* Handlers do not post: senders may have to wait, and a worker must not. */
  bool from_outside;
} Joint;

static struct
{
  const Joint *joint;
  IrisPort *ports[MAX_PORTS];
  IrisReceiver *receivers[2];
  IrisActor *actor; /* in place of ports, or NULL */
  guint exclusive;
  guint n_alone; /* plain: of exclusive handlers, so that a sanitizer sees two at once */
  guint n_outer;
  guint n_ids;
  _Atomic guint8 *flags;
  _Atomic gint n_concurrent; /* handlers that run now */
  _Atomic gint n_exclusive;
  _Atomic bool all_posted;
  _Atomic guint n_gone; /* handlers whose data was notified */
} load;

/* --- handling --------------------------------------------------------------------------------- */

static bool
goes_twice (guint id)
{
  return id % 7 == 3;
}

static void
post_to (guint number, IrisMessage *message)
{
  if (load.actor != NULL)
    iris_actor_post (load.actor, message);
  else
    iris_port_post (load.ports[number % load.joint->n_ports], message);
}

static void
post (guint id)
{
  IrisMessage *message = iris_message_new ((gint) id);

  if (!goes_twice (id))
    {
      post_to (id, message);
      return;
    }
  iris_message_ref_sink (message);
  post_to (id, message);
  post_to (id + 1, message);
  iris_message_unref (message);
}

static void
enter (bool exclusive)
{
  if (atomic_fetch_add (exclusive ? &load.n_exclusive : &load.n_concurrent, 1) != 0 && exclusive)
    ck_abort_msg ("two exclusive handlers run at once");
  if (atomic_load (exclusive ? &load.n_concurrent : &load.n_exclusive) != 0)
    ck_abort_msg ("an exclusive handler runs beside others");
}

static void
leave (bool exclusive)
{
  atomic_fetch_sub (exclusive ? &load.n_exclusive : &load.n_concurrent, 1);
}

static void
handle (IrisMessage *message, gpointer data)
{
  guint id = (guint) message->what;
  bool exclusive = (load.exclusive & (1u << GPOINTER_TO_UINT (data))) != 0;
  guint8 before;

  if (id >= load.n_ids)
    ck_abort_msg ("message %u was never posted", id);
  enter (exclusive);
  if (exclusive)
    load.n_alone++;
  before = atomic_fetch_add_explicit (&load.flags[id], 1, memory_order_relaxed);
  if (before >= (goes_twice (id) ? 2 : 1))
    ck_abort_msg ("message %u was handled once too often", id);
  if (before == 0 && !load.joint->from_outside && id < load.n_outer && id % TREE == 0)
    for (guint i = 0; i < TREE; i++)
      post (load.n_outer + id + i);
  leave (exclusive);
}

static void
gone (gpointer data)
{
  atomic_fetch_add (&load.n_gone, 1);
}

/* --- joints ----------------------------------------------------------------------------------- */

/* Port i gets handler i. */
static void
open_receive (IrisScheduler *scheduler, guint n_places)
{
  for (guint i = 0; i < load.joint->n_ports; i++)
    iris_arbiter_receive (scheduler, load.ports[i], handle, GUINT_TO_POINTER (i), gone);
}

static void
open_at_places (IrisScheduler *scheduler, guint n_places)
{
  for (guint i = 0; i < load.joint->n_ports; i++)
    {
      IrisReceiver *receiver = iris_arbiter_receive (scheduler, load.ports[i], handle,
                                                     GUINT_TO_POINTER (i), gone);

      if (n_places > 0)
        iris_receiver_set_place (receiver, (gint) (i % n_places),
                                 i % 2 == 0 ? IRIS_ITEM_NONE : IRIS_ITEM_STRICT);
    }
}

static void
open_replaced (IrisScheduler *scheduler, guint n_places)
{
  for (guint i = 0; i < 2; i++)
    load.receivers[i] = iris_receiver_new (scheduler, handle, GUINT_TO_POINTER (0), gone);
  iris_port_set_receiver (load.ports[0], load.receivers[0]);
}

static void
replace (void)
{
  iris_port_set_receiver (load.ports[0], load.receivers[1]);
  iris_port_set_receiver (load.ports[0], NULL);
  sched_yield ();
  iris_port_set_receiver (load.ports[0], load.receivers[0]);
}

static void
settle_replaced (void)
{
  iris_port_set_receiver (load.ports[0], load.receivers[0]);
}

static void
open_exclusive (IrisScheduler *scheduler, guint n_places)
{
  iris_arbiter_receive_exclusive (scheduler, load.ports[0], handle, GUINT_TO_POINTER (0), gone);
}

static void
open_bounded (IrisScheduler *scheduler, guint n_places)
{
  iris_port_set_limit (load.ports[0], 100, IRIS_PORT_FULL_WAIT);
  open_exclusive (scheduler, n_places);
}

static void
open_actor (IrisScheduler *scheduler, guint n_places)
{
  load.actor = iris_actor_new (scheduler, handle, GUINT_TO_POINTER (0), gone);
}

/* Port 0 excludes everything, port 1 excludes port 0. */
static void
open_coordinated (IrisScheduler *scheduler, guint n_places)
{
  IrisReceiver *receivers[2];

  for (guint i = 0; i < 2; i++)
    receivers[i] = iris_arbiter_receive (scheduler, load.ports[i], handle, GUINT_TO_POINTER (i),
                                         gone);
  iris_arbiter_coordinate (receivers[0], receivers[1], NULL);
}

static const Joint joints[] = {
  { "receive", 1, open_receive, NULL, NULL, 0, false },
  { "receive at places", 4, open_at_places, NULL, NULL, 0, false },
  { "receivers replaced", 1, open_replaced, replace, settle_replaced, 0, false },
  { "receive exclusive", 1, open_exclusive, NULL, NULL, 1, false },
  { "senders wait", 1, open_bounded, NULL, NULL, 1, true },
  { "actor", 1, open_actor, NULL, NULL, 1, false },
  { "coordinate", 2, open_coordinated, NULL, NULL, 1, false },
};

/* --- a row ------------------------------------------------------------------------------------ */

typedef struct
{
  pthread_t thread;
  guint first;
} Producer;

static void *
produce (void *data)
{
  const Producer *self = data;

  for (guint id = self->first; id < load.n_outer; id += N_PRODUCERS)
    {
      post (id);
      if (id >= self->first + WINDOW)
        while (atomic_load_explicit (&load.flags[id - WINDOW / N_PRODUCERS * N_PRODUCERS],
                                     memory_order_relaxed)
               == 0)
          sched_yield ();
    }

  return NULL;
}

static void *
disturb (void *data)
{
  while (!atomic_load (&load.all_posted))
    {
      load.joint->disturb ();
      sched_yield ();
    }

  return NULL;
}

static void
post_all (void)
{
  Producer producers[N_PRODUCERS];
  pthread_t disturber = 0;

  atomic_store (&load.all_posted, false);
  if (load.joint->disturb != NULL)
    ck_assert_int_eq (pthread_create (&disturber, NULL, disturb, NULL), 0);
  for (guint i = 0; i < N_PRODUCERS; i++)
    {
      producers[i].first = i;
      ck_assert_int_eq (pthread_create (&producers[i].thread, NULL, produce, &producers[i]), 0);
    }
  for (guint i = 0; i < N_PRODUCERS; i++)
    pthread_join (producers[i].thread, NULL);
  atomic_store (&load.all_posted, true);
  if (load.joint->disturb != NULL)
    pthread_join (disturber, NULL);
  if (load.joint->settle != NULL)
    load.joint->settle ();
}

static void
check (const char *name)
{
  for (guint id = 0; id < load.n_ids; id++)
    {
      guint8 found = atomic_load_explicit (&load.flags[id], memory_order_relaxed);

      if (found != (goes_twice (id) ? 2 : 1))
        ck_abort_msg ("%s: message %u was handled %u times", name, id, found);
    }
  g_clear_pointer ((gpointer *) &load.flags, g_free);
}

static void
play (const Joint *joint, const Arrangement *arrangement, guint n)
{
  g_autofree char *name = arrangement_dup_name (arrangement);
  gint64 since = g_get_monotonic_time ();
  guint n_handlers = joint->disturb != NULL ? 2 : joint->n_ports;
  Stage stage;

  stage_open (&stage, arrangement);
  load.joint = joint;
  load.exclusive = iris_scheduler_get_n_workers (stage.scheduler) == 1 ? ~0u : joint->exclusive;
  load.n_ids = 2 * ((n / 2 + TREE - 1) / TREE * TREE);
  load.n_outer = joint->from_outside ? load.n_ids : load.n_ids / 2;
  load.flags = g_malloc0 (load.n_ids);
  atomic_store (&load.n_gone, 0);
  for (guint i = 0; i < joint->n_ports; i++)
    load.ports[i] = iris_port_new ();
  joint->open (stage.scheduler, stage.n_places);

  post_all ();
  stage_end (&stage, IRIS_SHUTDOWN_DRAIN);
  core_test_check_stats (stage.scheduler);
  for (guint i = 0; i < joint->n_ports; i++)
    g_clear_object (&load.ports[i]);
  for (guint i = 0; i < 2; i++)
    g_clear_object (&load.receivers[i]);
  g_clear_pointer (&load.actor, iris_actor_unref);
  ck_assert_uint_eq (atomic_load (&load.n_gone), n_handlers);
  stage_free (&stage);
  check (name);
  if (g_getenv ("IRIS_SOAK") != NULL)
    g_printerr ("%-20s %-58s %9u messages, none lost, none twice, %6.2f s\n", joint->name, name,
                load.n_ids, (double) (g_get_monotonic_time () - since) / G_USEC_PER_SEC);
}

LOOP_TEST (each_message_is_handled_once, 0, (int) (G_N_ELEMENTS (joints) * arrangement_count ()))
{
  guint n_arrangements = arrangement_count ();
  Arrangement arrangement = arrangement_get ((guint) _i % n_arrangements);

  play (&joints[(guint) _i / n_arrangements], &arrangement, stage_choose_n (12500, 10000000));
}

TEST_MAIN ("messages", NULL, NULL)
