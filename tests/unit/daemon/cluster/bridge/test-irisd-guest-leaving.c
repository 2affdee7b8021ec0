/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of other nodes when irisd ends in order: their messages are put into the stream anew.
 * Whatever comes in whatever order, also crashes, the stream has a message of each item that has no
 * end. Of each message there is one new one at most, so a crash leaves one more at most.
 */
#include "core-test-run.h"
#include "core-test-util.h"
#include "every-order.h"
#include "daemon/cluster/bridge/irisd-guest-table.h"

#include <string.h>

/* Events of a run. */
#define DEPTH (CORE_TEST_FACTOR > 1 ? 6 : 8)

#define MOST_MESSAGES 32

typedef struct
{
  gboolean there;     /* in the stream, and not acknowledged */
  gboolean delivered; /* to this process, and not answered */
  guint n_delivered;
  gboolean own; /* of the item's own subject: it was put anew */
  guint anew;   /* what was stored in its place, with its id; 0: nothing */
} Message;

/* The streams, irisd and other nodes, as far as one item goes. */
typedef struct
{
  IrisdGuestTable *table;
  gint64 now;
  guint8 id[IRIS_WIRE_ID_SIZE];
  Message messages[MOST_MESSAGES + 1]; /* by number */
  guint n_messages;
  gboolean ending; /* irisd does not take it any more, */
  gboolean closed; /* and nothing is delivered any more */
  gboolean running;
  guint8 request[IRIS_WIRE_ID_SIZE];
  guint n_requests;
  IrisdGuestItem *publishing; /* its end, or */
  IrisdGuestItem *anew;       /* its message */
  guint n_looks;
  gboolean ended;
  guint n_told;
  guint n_processes; /* that have ended */
  guint n_handed_over;
  guint n_given_back;
} World;

static guint
count_there (const World *world)
{
  guint n = 0;

  for (guint i = 1; i <= world->n_messages; i++)
    n += world->messages[i].there;
  return n;
}

static Message *
get_message (World *world, const IrisdGuestItem *item)
{
  Message *message = &world->messages[item->sequence];

  REQUIRE (message->there && message->delivered);
  return message;
}

static void
on_look (IrisdGuestItem *item, gpointer data)
{
  ((World *) data)->n_looks++;
}

static void
on_fetch (IrisdGuestItem *item, gpointer data)
{
  g_assert_not_reached ();
}

static gboolean
on_submit (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (!world->running && !world->closed);
  world->n_requests++;
  memset (world->request, (int) world->n_requests, sizeof world->request);
  memcpy (item->request, world->request, sizeof world->request);
  world->running = TRUE;
  return TRUE;
}

static void
on_stop (IrisdGuestItem *item, gpointer data)
{
}

static void
on_publish (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (!world->running && world->publishing == NULL && world->anew == NULL);
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
  get_message (world, item)->there = FALSE;
}

static void
on_put_anew (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->closed);
  REQUIRE (!world->running && world->publishing == NULL && world->anew == NULL);
  world->anew = item;
}

static void
on_hand_over (IrisdGuestItem *item, gpointer data)
{
  World *world = data;

  get_message (world, item)->there = FALSE;
  world->n_handed_over++;
}

static void
on_give_back (IrisdGuestItem *item, guint64 delay_ms, gpointer data)
{
  World *world = data;

  get_message (world, item)->delivered = FALSE;
  world->n_given_back++;
}

static void
on_renew (IrisdGuestItem *item, gpointer data)
{
  get_message (data, item);
}

static void
on_forget (IrisdGuestItem *item, gpointer data)
{
}

static const IrisdGuestFuncs funcs = {
  on_look,        on_fetch,    on_submit,    on_stop,      on_publish, on_tell,
  on_acknowledge, on_put_anew, on_hand_over, on_give_back, on_renew,   on_forget,
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
  world->n_messages = 1;
  world->messages[1].there = TRUE;
  world->table = irisd_guest_table_new (&rules, &funcs, world);
}

static void
deliver (World *world, guint number)
{
  Message *message = &world->messages[number];
  g_autofree char *ack = g_strdup_printf ("%u", number);
  gboolean known;

  message->n_delivered++;
  message->delivered = TRUE;
  IrisdGuestItem *item = irisd_guest_table_deliver (world->table, world->id, ack, number,
                                                    message->n_delivered + message->own, world->now,
                                                    &known);
  if (!known)
    irisd_guest_table_start (world->table, item, world->now);
  else
    message->delivered = item->sequence == number;
}

/* Another irisd begins, with what the stream has. */
static void
begin_anew (World *world)
{
  irisd_guest_table_free (world->table);
  for (guint i = 1; i <= world->n_messages; i++)
    world->messages[i].delivered = FALSE;
  world->ending = world->closed = world->running = FALSE;
  world->publishing = world->anew = NULL;
  world->n_looks = 0;
  world->n_processes++;
  world->table = irisd_guest_table_new (&rules, &funcs, world);
}

/* What the stream does with the message that is put anew: by its id first, then by what its subject
 * has. Returns whether there is one in its place. */
static gboolean
store_anew (World *world)
{
  const guint number = (guint) world->anew->sequence;
  Message *old = &world->messages[number];
  guint last = 0;

  if (old->anew > 0)
    return TRUE;
  for (guint i = 1; i <= world->n_messages; i++)
    if (world->messages[i].there && world->messages[i].own)
      last = i;
  if (last != (old->own ? number : 0))
    return FALSE;
  g_assert (world->n_messages < MOST_MESSAGES);
  old->anew = ++world->n_messages;
  world->messages[old->anew] = (Message){ .there = TRUE, .own = TRUE };
  return TRUE;
}

static void
take_anew (World *world, IrisdGuestVerdict verdict)
{
  IrisdGuestItem *item = world->anew;

  world->anew = NULL;
  irisd_guest_table_put_anew (world->table, item, verdict, world->now);
}

static void
pass_time (World *world)
{
  gint64 next = irisd_guest_table_tick (world->table, world->now);

  if (next != G_MAXINT64 && next > world->now)
    world->now = next;
  irisd_guest_table_tick (world->table, world->now);
}

static guint
find_waiting (const World *world, gboolean first)
{
  guint found = 0;

  for (guint i = 1; i <= world->n_messages; i++)
    if (world->messages[i].there && !world->messages[i].delivered && (found == 0 || !first))
      found = i;
  return found;
}

enum
{
  DELIVER,
  DELIVER_LAST,
  END,
  BUSY,
  GIVE_UP, /* irisd ends, and has not ended the item */
  CLOSE,
  STORED,
  LOOKED,
  ANEW_STORED,
  ANEW_LATER,
  ANEW_LATER_STORED,
  ANEW_REFUSED,
  CRASH,
  QUIT,
  FORGET_IDS, /* two minutes have passed */
  TIME,
  N_EVENTS,
};

static gboolean
can_happen (World *world, guint event)
{
  switch (event)
    {
    case DELIVER:
      return !world->closed && find_waiting (world, TRUE) > 0;
    case DELIVER_LAST:
      return !world->closed && find_waiting (world, FALSE) != find_waiting (world, TRUE);
    case END:
    case BUSY:
    case GIVE_UP:
      return world->running;
    case CLOSE:
      return !world->closed;
    case STORED:
      return world->publishing != NULL;
    case LOOKED:
      return world->n_looks > 0;
    case ANEW_STORED:
    case ANEW_LATER:
    case ANEW_LATER_STORED:
    case ANEW_REFUSED:
      return world->anew != NULL;
    case FORGET_IDS:
      return world->n_messages > 1;
    default:
      return TRUE;
    }
}

static IrisdGuestItem *
take_from_irisd (World *world)
{
  IrisdGuestItem *item = irisd_guest_table_find_request (world->table, world->request);

  REQUIRE (item != NULL && world->running);
  world->running = FALSE;
  return item;
}

static void
take_end (World *world)
{
  IrisdGuestItem *item = world->publishing;
  const gboolean first = !world->ended;

  world->publishing = NULL;
  world->ended = TRUE;
  irisd_guest_table_published (world->table, item,
                               first ? IRISD_GUEST_STORED : IRISD_GUEST_OTHER_END, world->now);
}

static void
happen (World *world, guint event)
{
  switch (event)
    {
    case DELIVER:
    case DELIVER_LAST:
      deliver (world, find_waiting (world, event == DELIVER));
      break;
    case END:
      irisd_guest_table_end (world->table, take_from_irisd (world), world->now);
      break;
    case BUSY:
      irisd_guest_table_busy (world->table, take_from_irisd (world), 0, world->now);
      break;
    case GIVE_UP:
      world->ending = TRUE;
      irisd_guest_table_leave (world->table, take_from_irisd (world));
      break;
    case CLOSE:
      world->ending = world->closed = TRUE;
      irisd_guest_table_close (world->table);
      break;
    case STORED:
      take_end (world);
      break;
    case LOOKED:
      world->n_looks--;
      irisd_guest_table_looked (world->table, world->id, world->ended, TRUE, world->now);
      break;
    case ANEW_STORED:
      take_anew (world, store_anew (world) ? IRISD_GUEST_STORED : IRISD_GUEST_REFUSED);
      break;
    case ANEW_LATER:
    case ANEW_LATER_STORED:
      if (event == ANEW_LATER_STORED)
        store_anew (world);
      take_anew (world, IRISD_GUEST_LATER);
      break;
    case ANEW_REFUSED:
      take_anew (world, IRISD_GUEST_REFUSED);
      break;
    case CRASH:
      begin_anew (world);
      break;
    case QUIT:
      world->running = FALSE;
      irisd_guest_table_give_all_back (world->table, TRUE);
      begin_anew (world);
      break;
    case FORGET_IDS:
      for (guint i = 1; i <= world->n_messages; i++)
        world->messages[i].anew = 0;
      break;
    default:
      pass_time (world);
      break;
    }
}

static void
happen_checked (World *world, guint event)
{
  happen (world, event);
  REQUIRE (world->ended || count_there (world) > 0);
  REQUIRE (count_there (world) <= 2 + world->n_processes);
}

/* From here on all goes well. */
static void
settle (World *world)
{
  if (world->ending)
    happen_checked (world, QUIT);
  for (guint i = 0; i < 200 && count_there (world) > 0; i++)
    {
      if (world->publishing != NULL)
        happen_checked (world, STORED);
      else if (world->n_looks > 0)
        happen_checked (world, LOOKED);
      else if (world->running)
        happen_checked (world, END);
      else if (irisd_guest_table_get_size (world->table) == 0)
        happen_checked (world, DELIVER);
      else
        pass_time (world);
    }
  REQUIRE (count_there (world) == 0);
  REQUIRE (world->ended);
}

TEST (an_item_without_an_end_has_a_message_whatever_comes)
{
  EveryOrder order = { .depth = 0 };
  guint n_runs = 0;

  do
    {
      World world;

      world_init (&world);
      deliver (&world, 1);
      for (guint i = 0; i < DEPTH; i++)
        {
          guint possible[N_EVENTS];
          guint n = 0;

          for (guint event = 0; event < N_EVENTS; event++)
            if (can_happen (&world, event))
              possible[n++] = event;
          happen_checked (&world, possible[every_order_choose (&order, n)]);
        }
      settle (&world);
      irisd_guest_table_free (world.table);
      n_runs++;
    }
  while (every_order_next (&order));
  REQUIRE (n_runs > CORE_TEST_LOAD (10000));
}

/* What was put anew before would be delivered here once more. */
TEST (a_message_is_put_anew_when_nothing_is_delivered_any_more)
{
  World world;

  world_init (&world);
  deliver (&world, 1);
  happen (&world, GIVE_UP);
  pass_time (&world);
  REQUIRE (world.anew == NULL && world.messages[1].delivered);
  happen (&world, CLOSE);
  REQUIRE (world.anew != NULL);
  happen (&world, ANEW_STORED);
  REQUIRE (world.n_handed_over == 1 && world.n_given_back == 0);
  REQUIRE (!world.messages[1].there && world.messages[2].there);
  REQUIRE (irisd_guest_table_get_size (world.table) == 0);
  /* Whether it has ended is looked for first. */
  happen (&world, QUIT);
  happen (&world, DELIVER);
  REQUIRE (world.n_looks == 1 && world.n_requests == 1);
  settle (&world);
  irisd_guest_table_free (world.table);
}

TEST (what_runs_when_nothing_is_delivered_any_more_may_still_end)
{
  World world;

  world_init (&world);
  deliver (&world, 1);
  happen (&world, CLOSE);
  REQUIRE (world.anew == NULL && world.running);
  happen (&world, END);
  happen_checked (&world, STORED);
  REQUIRE (world.n_told == 1 && world.n_messages == 1 && !world.messages[1].there);
  irisd_guest_table_free (world.table);
}

TEST (an_item_that_waits_for_room_is_put_anew_at_once)
{
  World world;

  world_init (&world);
  deliver (&world, 1);
  happen (&world, BUSY);
  happen (&world, CLOSE);
  REQUIRE (world.anew != NULL);
  happen (&world, ANEW_STORED);
  REQUIRE (world.n_handed_over == 1);
  irisd_guest_table_free (world.table);
}

/* While a leader is elected. */
TEST (an_answer_that_does_not_come_is_asked_for_again)
{
  World world;

  world_init (&world);
  deliver (&world, 1);
  happen (&world, GIVE_UP);
  happen (&world, CLOSE);
  for (guint i = 0; i < 5; i++)
    {
      happen (&world, ANEW_LATER_STORED);
      REQUIRE (world.anew == NULL);
      while (world.anew == NULL)
        pass_time (&world);
    }
  happen (&world, ANEW_STORED);
  REQUIRE (world.n_messages == 2 && count_there (&world) == 1);
  irisd_guest_table_free (world.table);
}

TEST (a_process_that_ends_gives_back_what_is_not_under_way)
{
  World world;

  world_init (&world);
  deliver (&world, 1);
  happen (&world, GIVE_UP);
  happen (&world, CLOSE);
  irisd_guest_table_give_all_back (world.table, TRUE);
  REQUIRE (world.n_given_back == 0);
  happen (&world, ANEW_LATER);
  /* The connection to irisd is gone; that to the stream is not. */
  irisd_guest_table_give_all_back (world.table, FALSE);
  REQUIRE (world.n_given_back == 0);
  irisd_guest_table_give_all_back (world.table, TRUE);
  REQUIRE (world.n_given_back == 1);
  irisd_guest_table_free (world.table);
}

/* It is left of a crash. To acknowledge it would leave the item to a message that may be another
 * node's. */
TEST (another_message_of_an_item_that_is_here_is_not_taken)
{
  World world;

  world_init (&world);
  deliver (&world, 1);
  world.n_messages = 2;
  world.messages[2] = (Message){ .there = TRUE, .own = TRUE };
  deliver (&world, 2);
  REQUIRE (!world.messages[2].delivered && world.messages[1].delivered);
  happen (&world, END);
  happen_checked (&world, STORED);
  REQUIRE (!world.messages[1].there && world.messages[2].there);
  settle (&world);
  REQUIRE (world.n_requests == 1);
  irisd_guest_table_free (world.table);
}

TEST_MAIN ("irisd-guest-leaving", NULL, NULL)
