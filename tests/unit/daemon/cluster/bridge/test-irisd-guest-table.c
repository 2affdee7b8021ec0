/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of other nodes: whatever comes in whatever order, an item is acknowledged once, after its
 * end was stored, and is given back otherwise.
 */
#include "core-test-run.h"
#include "core-test-util.h"
#include "every-order.h"
#include "daemon/cluster/bridge/irisd-guest-table.h"

#include <string.h>

/* Events of a run. A sanitizer makes this many take minutes. */
#define DEPTH (CORE_TEST_FACTOR > 1 ? 6 : 8)

/* The stream, irisd and other nodes, as far as one item goes. */
typedef struct
{
  IrisdGuestTable *table;
  gint64 now;
  guint8 id[IRIS_WIRE_ID_SIZE];

  gboolean in_stream;   /* not acknowledged */
  gboolean outstanding; /* delivered here, and not answered */
  guint n_delivered;
  gboolean unsure; /* whether it was delivered before */
  guint n_made;
  guint n_forgotten;

  gboolean connected;
  gboolean running; /* irisd has it */
  guint8 request[IRIS_WIRE_ID_SIZE];
  guint n_requests;
  guint n_stops;
  gboolean large;    /* its body is in the store of bodies */
  gboolean fetching; /* asked for it, without an answer */
  gboolean fetched;

  gboolean ended; /* an end is stored */
  gboolean ours;
  IrisdGuestItem *publishing;
  guint n_looks;
  guint n_told;
  guint n_acknowledged;
} World;

static void
on_look (IrisdGuestItem *item, gpointer data)
{
  ((World *) data)->n_looks++;
}

static void
on_fetch (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->large && !world->fetched);
  world->fetching = TRUE;
}

static gboolean
on_submit (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (!world->running);
  REQUIRE (!world->large || world->fetched);
  if (!world->connected)
    return FALSE;
  world->n_requests++;
  memset (world->request, (int) world->n_requests, sizeof world->request);
  memcpy (item->request, world->request, sizeof world->request);
  world->running = TRUE;
  return TRUE;
}

static void
on_stop (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->running);
  world->n_stops++;
}

static void
on_publish (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->publishing == NULL);
  REQUIRE (!world->running);
  world->publishing = item;
}

static void
on_tell (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->ended);
  world->n_told++;
}

static void
on_acknowledge (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->ended);
  REQUIRE (world->outstanding);
  world->outstanding = FALSE;
  world->in_stream = FALSE;
  world->n_acknowledged++;
}

static void
on_give_back (IrisdGuestItem *item, guint64 delay_ms, gpointer data)
{
  World *world = data;

  REQUIRE (world->outstanding);
  world->outstanding = FALSE;
}

static void
on_renew (IrisdGuestItem *item, gpointer data)
{
  REQUIRE (((World *) data)->outstanding);
}

static void
on_forget (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  world->n_forgotten++;
  world->fetching = world->fetched = FALSE; /* the transfer is cancelled, the body freed */
}

/* test-irisd-guest-leaving.c has what happens when irisd ends. */
static void
on_leave (IrisdGuestItem *item, gpointer data)
{
  REQUIRE (FALSE);
}

static const IrisdGuestFuncs funcs = {
  on_look,        on_fetch, on_submit, on_stop,      on_publish, on_tell,
  on_acknowledge, on_leave, on_leave,  on_give_back, on_renew,   on_forget,
};

static const IrisdGuestRules rules = {
  .renew_us = 20 * G_USEC_PER_SEC,
  .look_us = 2 * G_USEC_PER_SEC,
};

static void
world_init (World *world)
{
  memset (world, 0, sizeof *world);
  memset (world->id, 7, sizeof world->id);
  world->in_stream = world->connected = TRUE;
  world->table = irisd_guest_table_new (&rules, &funcs, world);
}

static void
deliver (World *world)
{
  gboolean known;

  world->n_delivered++;
  world->outstanding = TRUE;
  IrisdGuestItem *item = irisd_guest_table_deliver (world->table, world->id, "ack", 1,
                                                    world->n_delivered, world->now, &known);
  if (!known)
    {
      world->n_made++;
      item->wants_body = world->large;
      item->unsure = world->unsure;
      irisd_guest_table_start (world->table, item, world->now);
    }
}

static IrisdGuestItem *
get_running (World *world)
{
  IrisdGuestItem *item = irisd_guest_table_find_request (world->table, world->request);

  REQUIRE (item != NULL);
  return item;
}

static void
take_verdict (World *world, IrisdGuestVerdict verdict, gboolean stored)
{
  IrisdGuestItem *item = world->publishing;

  world->publishing = NULL;
  if (stored)
    {
      REQUIRE (!world->ended);
      world->ended = world->ours = TRUE;
    }
  irisd_guest_table_published (world->table, item, verdict, world->now);
}

static void
pass_time (World *world)
{
  gint64 next = irisd_guest_table_tick (world->table, world->now);

  if (next != G_MAXINT64 && next > world->now)
    world->now = next;
  irisd_guest_table_tick (world->table, world->now);
}

enum
{
  DELIVER,
  DELIVER_AGAIN,
  END,
  RETRY,
  BUSY,
  STORED,
  OTHER_END,
  LATER,
  LATER_STORED,
  LOOKED,
  LOOKED_UNSURE,
  END_ELSEWHERE,
  CANCEL,
  FETCHED,
  FETCHED_LATER,
  FETCHED_DAMAGED,
  DISCONNECT,
  TIME,
  N_EVENTS,
};

static gboolean
can_happen (World *world, guint event)
{
  switch (event)
    {
    case DELIVER:
      return world->in_stream && !world->outstanding;
    case DELIVER_AGAIN: /* its time was over: the process had been stopped */
      return world->in_stream && world->outstanding;
    case END:
    case RETRY:
    case BUSY:
      return world->running;
    case STORED:
    case LATER_STORED:
      return world->publishing != NULL && !world->ended;
    case OTHER_END: /* or one was under way, which its leader then lost */
    case LATER:
      return world->publishing != NULL;
    case LOOKED:
    case LOOKED_UNSURE:
      return world->n_looks > 0;
    case END_ELSEWHERE:
      return !world->ended;
    case CANCEL:
      return irisd_guest_table_get_size (world->table) > 0;
    case FETCHED:
    case FETCHED_LATER:
    case FETCHED_DAMAGED:
      return world->fetching;
    case DISCONNECT:
      return world->connected;
    default:
      return TRUE;
    }
}

static void
take_body (World *world, guint event)
{
  IrisdGuestItem *item = irisd_guest_table_find (world->table, world->id);

  world->fetching = FALSE;
  world->fetched = event == FETCHED;
  if (event == FETCHED_DAMAGED)
    irisd_guest_table_end (world->table, item, world->now);
  else
    irisd_guest_table_fetched (world->table, item, event == FETCHED, world->now);
}

static void
happen (World *world, guint event)
{
  IrisdGuestItem *item;

  switch (event)
    {
    case DELIVER:
    case DELIVER_AGAIN:
      deliver (world);
      break;
    case END:
      item = get_running (world);
      world->running = FALSE;
      irisd_guest_table_end (world->table, item, world->now);
      break;
    case RETRY:
      item = get_running (world);
      world->running = FALSE;
      irisd_guest_table_retry (world->table, item, 100);
      break;
    case BUSY:
      item = get_running (world);
      world->running = FALSE;
      irisd_guest_table_busy (world->table, item, 0, world->now);
      break;
    case STORED:
      take_verdict (world, IRISD_GUEST_STORED, TRUE);
      break;
    case OTHER_END:
      take_verdict (world, IRISD_GUEST_OTHER_END, FALSE);
      break;
    case LATER:
    case LATER_STORED:
      take_verdict (world, IRISD_GUEST_LATER, event == LATER_STORED);
      break;
    case LOOKED:
    case LOOKED_UNSURE:
      world->n_looks--;
      irisd_guest_table_looked (world->table, world->id, world->ended, event == LOOKED, world->now);
      break;
    case END_ELSEWHERE:
      world->ended = TRUE;
      break;
    case CANCEL:
      irisd_guest_table_cancel (world->table, irisd_guest_table_find (world->table, world->id),
                                world->now);
      break;
    case FETCHED:
    case FETCHED_LATER:
    case FETCHED_DAMAGED:
      take_body (world, event);
      break;
    case DISCONNECT:
      world->connected = world->running = FALSE;
      irisd_guest_table_give_all_back (world->table, FALSE);
      break;
    default:
      pass_time (world);
      break;
    }
}

static void
check (World *world)
{
  REQUIRE (world->n_acknowledged <= 1);
  /* What was delivered is known until it is answered. */
  REQUIRE (irisd_guest_table_get_size (world->table) == (world->outstanding ? 1 : 0));
}

/* From here on all goes well. */
static void
settle (World *world)
{
  world->connected = TRUE;
  for (guint i = 0; i < 200 && (world->in_stream || world->publishing != NULL); i++)
    {
      if (world->publishing != NULL)
        happen (world, world->ended ? OTHER_END : STORED);
      else if (world->n_looks > 0)
        happen (world, LOOKED);
      else if (world->fetching)
        happen (world, FETCHED);
      else if (world->running)
        happen (world, END);
      else if (!world->outstanding)
        happen (world, DELIVER);
      else
        pass_time (world);
      check (world);
    }
  REQUIRE (!world->in_stream);
  REQUIRE (world->ended);
  REQUIRE (world->n_acknowledged == 1);
}

static guint
go_through_every_order (gboolean large, guint depth)
{
  EveryOrder order = { .depth = 0 };
  guint n_runs = 0;

  do
    {
      World world;

      world_init (&world);
      world.large = large;
      deliver (&world);
      for (guint i = 0; i < depth; i++)
        {
          guint possible[N_EVENTS];
          guint n = 0;

          for (guint event = 0; event < N_EVENTS; event++)
            if (can_happen (&world, event))
              possible[n++] = event;
          happen (&world, possible[every_order_choose (&order, n)]);
          check (&world);
        }
      settle (&world);
      irisd_guest_table_free (world.table);
      REQUIRE (world.n_made == world.n_forgotten);
      n_runs++;
    }
  while (every_order_next (&order));
  return n_runs;
}

TEST (an_item_is_acknowledged_once_and_after_its_end_whatever_comes)
{
  REQUIRE (go_through_every_order (FALSE, DEPTH) > CORE_TEST_LOAD (10000));
}

TEST (so_is_one_whose_body_is_fetched_first)
{
  REQUIRE (go_through_every_order (TRUE, DEPTH - 1) > CORE_TEST_LOAD (1000));
}

TEST (a_body_that_cannot_be_read_now_is_fetched_again)
{
  World world;

  world_init (&world);
  world.large = TRUE;
  deliver (&world);
  for (guint i = 0; i < 10; i++)
    {
      REQUIRE (world.fetching && world.n_requests == 0);
      happen (&world, FETCHED_LATER);
      while (!world.fetching)
        pass_time (&world);
    }
  happen (&world, FETCHED);
  REQUIRE (world.running);
  irisd_guest_table_free (world.table);
}

TEST (an_end_that_was_lost_under_way_is_published_again)
{
  World world;

  world_init (&world);
  deliver (&world);
  happen (&world, END);
  happen (&world, OTHER_END);
  while (world.publishing == NULL)
    {
      REQUIRE (world.in_stream);
      if (world.n_looks > 0)
        happen (&world, LOOKED);
      else
        pass_time (&world);
    }
  happen (&world, STORED);
  REQUIRE (world.n_acknowledged == 1);
  REQUIRE (world.n_told == 1);
  irisd_guest_table_free (world.table);
}

/* Its acknowledgement was lost: it does not run again. */
TEST (an_item_that_has_ended_and_comes_again_is_only_acknowledged)
{
  World world;

  world_init (&world);
  world.n_delivered = 1;
  world.ended = TRUE;
  deliver (&world);
  REQUIRE (world.n_requests == 0);
  happen (&world, LOOKED);
  REQUIRE (world.n_requests == 0);
  REQUIRE (world.n_acknowledged == 1);
  REQUIRE (world.n_told == 1);
  irisd_guest_table_free (world.table);
}

/* Who made a consumer again made it count deliveries from one. */
TEST (an_item_that_may_have_been_delivered_before_is_looked_for)
{
  World world;

  world_init (&world);
  world.unsure = TRUE;
  deliver (&world);
  REQUIRE (world.n_delivered == 1);
  REQUIRE (world.n_looks == 1);
  REQUIRE (world.n_requests == 0);
  world.ended = TRUE;
  happen (&world, LOOKED);
  REQUIRE (world.n_requests == 0);
  REQUIRE (world.n_acknowledged == 1);
  irisd_guest_table_free (world.table);
}

TEST (the_end_of_another_node_is_told_and_not_ours)
{
  World world;

  world_init (&world);
  deliver (&world);
  world.ended = TRUE;
  happen (&world, END);
  happen (&world, OTHER_END);
  REQUIRE (world.n_acknowledged == 0);
  happen (&world, LOOKED);
  REQUIRE (world.n_acknowledged == 1);
  REQUIRE (world.n_told == 1);
  REQUIRE (!world.ours);
  irisd_guest_table_free (world.table);
}

/* The cluster has no quorum while it ends. */
TEST (an_end_that_cannot_be_stored_waits_and_the_item_is_kept)
{
  World world;

  world_init (&world);
  deliver (&world);
  happen (&world, END);
  for (guint i = 0; i < 50; i++)
    {
      happen (&world, LATER);
      while (world.publishing == NULL)
        pass_time (&world);
    }
  REQUIRE (world.now > 60 * G_USEC_PER_SEC);
  REQUIRE (world.outstanding);
  happen (&world, STORED);
  REQUIRE (world.n_acknowledged == 1);
  irisd_guest_table_free (world.table);
}

/* Another node has it by a later delivery, to which an answer to this one would count. */
TEST (a_dropped_item_is_forgotten_without_an_answer)
{
  World world;

  world_init (&world);
  deliver (&world);
  irisd_guest_table_drop (world.table, get_running (&world));
  REQUIRE (irisd_guest_table_get_size (world.table) == 0);
  REQUIRE (irisd_guest_table_find (world.table, world.id) == NULL);
  REQUIRE (irisd_guest_table_find_request (world.table, world.request) == NULL);
  REQUIRE (world.n_made == 1 && world.n_forgotten == 1);
  REQUIRE (world.outstanding && world.n_acknowledged == 0);
  /* Nor is it renewed, nor stopped once more by what comes late. */
  world.outstanding = FALSE;
  pass_time (&world);
  REQUIRE (irisd_guest_table_tick (world.table, world.now) == G_MAXINT64);
  irisd_guest_table_looked (world.table, world.id, TRUE, TRUE, world.now);
  REQUIRE (world.n_told == 0 && world.n_stops == 0);
  /* It may come again. */
  world.running = FALSE;
  deliver (&world);
  REQUIRE (world.n_made == 2 && world.n_looks == 1);
  irisd_guest_table_free (world.table);
}

TEST_MAIN ("irisd-guest-table", NULL, NULL)
