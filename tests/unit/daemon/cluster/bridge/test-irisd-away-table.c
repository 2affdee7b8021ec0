/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that are in the cluster: whatever comes in whatever order, each has one answer, and it is
 * that of its end.
 */
#include "core-test-run.h"
#include "core-test-util.h"
#include "every-order.h"
#include "daemon/cluster/bridge/irisd-away-table.h"

#include <string.h>

/* Events of a run. Deeper ones found nothing more, and take minutes. A sanitizer makes these take
 * minutes, too. */
#define DEPTH (CORE_TEST_FACTOR > 1 ? 6 : 8)

typedef enum
{
  END_NONE,
  END_RESULT,
  END_CANCEL,
} End;

/* irisd, the stream and a host, as far as one item goes. */
typedef struct
{
  IrisdAwayTable *table;
  gint64 now;
  guint8 id[IRIS_WIRE_ID_SIZE];

  guint8 lease[IRIS_WIRE_ID_SIZE];
  gboolean leased; /* irisd counts on an answer */
  gboolean over;   /* irisd has its end, or has cancelled it */
  gboolean cancelled;
  guint n_leases;
  guint n_answers;

  IrisdAwayItem *publishing;
  gboolean silent; /* what is published is answered at once: there is no answer */
  guint n_published;
  gboolean stored; /* the stream has its message */
  gboolean was_stored;
  End end;
  gboolean hinted;
  guint n_looks;
  guint n_claims;
  guint n_claimed;
  guint n_withdrawn;
  guint n_forgotten;
  guint n_made;
  guint n_refused;
  guint n_checks;
  guint n_lost;
} World;

static void
on_publish (IrisdAwayItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->publishing == NULL);
  REQUIRE (!world->cancelled);
  REQUIRE (!world->over);
  world->n_published++;
  if (world->silent)
    irisd_away_table_published (world->table, item, IRISD_AWAY_SILENT, 0, world->now);
  else
    world->publishing = item;
}

static void
on_look (IrisdAwayItem *item, gpointer data)
{
  ((World *) data)->n_looks++;
}

static void
on_extend (IrisdAwayItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (item->leased);
  REQUIRE (world->leased);
  REQUIRE (memcmp (item->lease, world->lease, sizeof item->lease) == 0);
}

static void
answer (World *world, IrisdAwayItem *item)
{
  REQUIRE (item->leased && world->leased && !world->over);
  REQUIRE (memcmp (item->lease, world->lease, sizeof item->lease) == 0);
  world->n_answers++;
  world->leased = FALSE;
  world->over = TRUE;
}

static void
on_refuse (IrisdAwayItem *item, gpointer data)
{
  World *world = data;

  world->n_refused++;
  answer (world, item);
}

static void
on_claim (IrisdAwayItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->cancelled);
  world->n_claims++;
  world->n_claimed++;
}

static void
on_withdraw (IrisdAwayItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (world->cancelled);
  REQUIRE (world->end != END_NONE); /* only after the cancel was written */
  world->n_withdrawn++;
}

static void
on_forget (IrisdAwayItem *item, gpointer data)
{
  ((World *) data)->n_forgotten++;
}

static void
on_check (IrisdAwayItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (item->state == IRISD_AWAY_OUT && item->leased);
  world->n_checks++;
}

/* irisd leases it again. */
static void
on_lost (IrisdAwayItem *item, gpointer data)
{
  World *world = data;

  REQUIRE (item->leased && world->leased && !world->over);
  REQUIRE (!world->stored && world->end == END_NONE);
  world->n_lost++;
  world->leased = FALSE;
}

static const IrisdAwayFuncs funcs = {
  on_publish, on_look, on_extend, on_refuse, on_claim, on_withdraw, on_forget, on_check, on_lost,
};

static const IrisdAwayRules rules = {
  .extend_us = 20 * G_USEC_PER_SEC,
  .look_us = 2 * G_USEC_PER_SEC,
  .orphan_us = 300 * G_USEC_PER_SEC,
  .check_us = G_USEC_PER_SEC,
  .window = 2,
};

static void
world_init (World *world)
{
  memset (world, 0, sizeof *world);
  memset (world->id, 7, sizeof world->id);
  world->table = irisd_away_table_new (&rules, &funcs, world);
}

static void
lease (World *world)
{
  gboolean known;

  world->n_leases++;
  memset (world->lease, (int) world->n_leases, sizeof world->lease);
  world->leased = TRUE;
  IrisdAwayItem *item = irisd_away_table_lease (world->table, world->id, world->lease,
                                                world->n_leases > 1, world->now, &known);
  REQUIRE (item != NULL);
  if (!known)
    {
      world->n_made++;
      irisd_away_table_start (world->table, item, world->now);
    }
}

/* The bridge has the end of the item before it. */
static void
take_end (World *world)
{
  IrisdAwayItem *item = irisd_away_table_find (world->table, world->id);

  if (item == NULL || item->state == IRISD_AWAY_CLAIMING)
    return;
  if (item->leased)
    answer (world, item);
  irisd_away_table_end (world->table, item, world->now);
}

static void
take_look (World *world, gboolean sure)
{
  world->n_looks--;
  if (sure && world->end != END_NONE)
    take_end (world);
  else
    irisd_away_table_looked (world->table, world->id, sure, world->now);
}

static void
take_claim (World *world, gboolean sure)
{
  world->n_claims--;
  if (sure && world->end == END_NONE)
    world->end = END_CANCEL;
  irisd_away_table_claimed (world->table, world->id, sure, world->now);
}

static void
take_verdict (World *world, IrisdAwayVerdict verdict, gboolean stored)
{
  IrisdAwayItem *item = world->publishing;

  world->publishing = NULL;
  world->stored = world->stored || stored;
  world->was_stored = world->was_stored || stored;
  irisd_away_table_published (world->table, item, verdict, stored ? 5 : 0, world->now);
}

/* The places of the message are asked before the end is. */
static void
take_check (World *world)
{
  IrisdAwayItem *item = irisd_away_table_find (world->table, world->id);

  world->n_checks--;
  if (item == NULL)
    return;
  if (!world->stored && world->end != END_NONE)
    take_end (world);
  else
    irisd_away_table_checked (world->table, item, world->stored, world->now);
}

static void
cancel (World *world)
{
  IrisdAwayItem *item = irisd_away_table_find_lease (world->table, world->lease);

  REQUIRE (item != NULL);
  world->leased = FALSE;
  world->over = world->cancelled = TRUE;
  irisd_away_table_cancel (world->table, item, world->now);
}

static void
lapse (World *world, gboolean all)
{
  IrisdAwayItem *item = irisd_away_table_find_lease (world->table, world->lease);

  REQUIRE (item != NULL);
  world->leased = FALSE;
  if (all)
    irisd_away_table_unlease_all (world->table, world->now);
  else
    irisd_away_table_unlease (world->table, item, world->now);
}

static void
run_host (World *world)
{
  world->end = END_RESULT;
  world->hinted = TRUE;
  world->stored = FALSE; /* it is acknowledged */
}

static void
pass_time (World *world)
{
  gint64 next = irisd_away_table_tick (world->table, world->now);

  if (next != G_MAXINT64 && next > world->now)
    world->now = next;
  irisd_away_table_tick (world->table, world->now);
}

enum
{
  LEASE,
  STORED,
  STORED_BEFORE,
  FULL,
  IN_FLIGHT,
  SILENT,
  SILENT_STORED,
  REFUSED,
  RUN,
  VANISH, /* its message is deleted by hand */
  CHECKED,
  HINT,
  LOOKED,
  LOOKED_UNSURE,
  CLAIMED,
  CLAIMED_UNSURE,
  CANCEL,
  LAPSE,
  DISCONNECT,
  TIME,
  N_EVENTS,
};

static gboolean
can_happen (World *world, guint event)
{
  switch (event)
    {
    case LEASE:
      return !world->leased && !world->over;
    case STORED:
    case FULL:
    case IN_FLIGHT:
    case SILENT:
    case SILENT_STORED:
      return world->publishing != NULL;
    case STORED_BEFORE:
      return world->publishing != NULL && world->was_stored;
    case REFUSED:
      return world->publishing != NULL && !world->was_stored;
    case RUN: /* perhaps a host had it already when it vanished */
      return world->was_stored && world->end == END_NONE;
    case VANISH:
      return world->stored && world->end == END_NONE;
    case CHECKED:
      return world->n_checks > 0;
    case HINT:
      return world->hinted;
    case LOOKED:
    case LOOKED_UNSURE:
      return world->n_looks > 0;
    case CLAIMED:
    case CLAIMED_UNSURE:
      return world->n_claims > 0;
    case CANCEL:
    case LAPSE:
    case DISCONNECT:
      return world->leased;
    default:
      return TRUE;
    }
}

static void
take_answer (World *world, guint event)
{
  switch (event)
    {
    case STORED:
      take_verdict (world, IRISD_AWAY_STORED, TRUE);
      break;
    case STORED_BEFORE:
      take_verdict (world, IRISD_AWAY_STORED_BEFORE, FALSE);
      break;
    case FULL:
      take_verdict (world, IRISD_AWAY_FULL, FALSE);
      break;
    case IN_FLIGHT:
      take_verdict (world, IRISD_AWAY_IN_FLIGHT, FALSE);
      break;
    case SILENT_STORED:
      world->stored = world->was_stored = TRUE;
      take_verdict (world, IRISD_AWAY_SILENT, FALSE);
      break;
    case SILENT:
      take_verdict (world, IRISD_AWAY_SILENT, FALSE);
      break;
    default:
      take_verdict (world, IRISD_AWAY_REFUSED, FALSE);
      break;
    }
}

static void
happen (World *world, guint event)
{
  switch (event)
    {
    case LEASE:
      lease (world);
      break;
    case STORED:
    case STORED_BEFORE:
    case FULL:
    case IN_FLIGHT:
    case SILENT:
    case SILENT_STORED:
    case REFUSED:
      take_answer (world, event);
      break;
    case RUN:
      run_host (world);
      break;
    case VANISH:
      world->stored = FALSE;
      break;
    case CHECKED:
      take_check (world);
      break;
    case HINT:
      world->hinted = FALSE;
      take_end (world);
      break;
    case LOOKED:
    case LOOKED_UNSURE:
      take_look (world, event == LOOKED);
      break;
    case CLAIMED:
    case CLAIMED_UNSURE:
      take_claim (world, event == CLAIMED);
      break;
    case CANCEL:
      cancel (world);
      break;
    case LAPSE:
      lapse (world, FALSE);
      break;
    case DISCONNECT:
      lapse (world, TRUE);
      break;
    default:
      pass_time (world);
      break;
    }
}

static void
check (World *world)
{
  guint size = irisd_away_table_get_size (world->table);

  REQUIRE (world->n_answers <= 1);
  REQUIRE (size <= 1);
  /* What irisd counts on is known. */
  if (world->leased)
    REQUIRE (irisd_away_table_find_lease (world->table, world->lease) != NULL);
  if (world->n_answers > world->n_refused)
    REQUIRE (world->end == END_RESULT);
}

/* From here on all goes well. */
static void
settle (World *world)
{
  for (guint i = 0; i < 200; i++)
    {
      if (world->publishing != NULL)
        happen (world, STORED);
      else if (world->n_claims > 0)
        happen (world, CLAIMED);
      else if (!world->leased && !world->over)
        happen (world, LEASE);
      else if (world->n_looks > 0)
        happen (world, LOOKED);
      else if (world->n_checks > 0)
        happen (world, CHECKED);
      else if (world->stored && world->end == END_NONE)
        {
          run_host (world);
          world->hinted = FALSE; /* the message is lost */
        }
      else if (irisd_away_table_get_size (world->table) > 0)
        pass_time (world);
      else
        break;
      check (world);
    }
  REQUIRE (irisd_away_table_get_size (world->table) == 0);
  REQUIRE (world->over);
  REQUIRE (world->n_answers == (world->cancelled ? 0 : 1));
  /* The cancel of what may run elsewhere is written, and then it is taken out. */
  if (world->cancelled && world->n_published > 0)
    {
      REQUIRE (world->n_claimed > 0);
      REQUIRE (world->n_withdrawn == 1);
    }
}

/* Every order of what can happen to one item, and then its end. */
TEST (an_item_has_one_answer_whatever_comes_in_whatever_order)
{
  EveryOrder order = { .depth = 0 };
  guint n_runs = 0;

  do
    {
      World world;

      world_init (&world);
      lease (&world);
      for (guint i = 0; i < DEPTH; i++)
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
      irisd_away_table_free (world.table);
      REQUIRE (world.n_made == world.n_forgotten);
      n_runs++;
    }
  while (every_order_next (&order));
  REQUIRE (n_runs > CORE_TEST_LOAD (10000));
}

/* An item that was leased before may have ended: it is not published before that was looked up. */
TEST (an_item_that_was_leased_before_is_looked_for_first)
{
  World world;

  world_init (&world);
  world.n_leases = 1;
  lease (&world);
  REQUIRE (world.n_published == 0);
  REQUIRE (world.n_looks == 1);
  world.end = END_RESULT;
  take_look (&world, TRUE);
  REQUIRE (world.n_published == 0);
  REQUIRE (world.n_answers == 1);
  irisd_away_table_free (world.table);
}

TEST (a_full_stream_closes_the_gate_until_a_probe_gets_through)
{
  World world;
  guint8 id[IRIS_WIRE_ID_SIZE] = { 1 }, other[IRIS_WIRE_ID_SIZE] = { 2 };
  gboolean known;

  world_init (&world);
  lease (&world);
  take_verdict (&world, IRISD_AWAY_FULL, FALSE);
  REQUIRE (irisd_away_table_get_gate (world.table) == IRISD_AWAY_GATE_FULL);
  REQUIRE (irisd_away_table_get_held (world.table) == 1);

  /* What comes meanwhile waits behind it. */
  IrisdAwayItem *second = irisd_away_table_lease (world.table, id, other, FALSE, world.now, &known);
  irisd_away_table_start (world.table, second, world.now);
  REQUIRE (world.n_published == 1);
  REQUIRE (irisd_away_table_get_held (world.table) == 2);

  world.now = irisd_away_table_tick (world.table, world.now);
  REQUIRE (world.now > 0);
  irisd_away_table_tick (world.table, world.now);
  REQUIRE (world.n_published == 2);
  REQUIRE (world.publishing == irisd_away_table_find (world.table, world.id));
  IrisdAwayItem *probe = world.publishing;
  world.publishing = NULL;
  irisd_away_table_published (world.table, probe, IRISD_AWAY_STORED, 1, world.now);
  REQUIRE (irisd_away_table_get_gate (world.table) == IRISD_AWAY_GATE_OPEN);
  REQUIRE (world.publishing == second);
  REQUIRE (irisd_away_table_get_held (world.table) == 0);
  irisd_away_table_free (world.table);
}

/* It is held again meanwhile, first in line. */
TEST (a_publication_that_is_answered_at_once_closes_the_gate)
{
  World world;
  gboolean known;

  world_init (&world);
  world.silent = TRUE;
  irisd_away_table_set_shut (world.table, TRUE, world.now);
  for (guint8 i = 0; i < 3; i++)
    {
      guint8 id[IRIS_WIRE_ID_SIZE] = { 1, i }, other[IRIS_WIRE_ID_SIZE] = { 2, i };
      IrisdAwayItem *item = irisd_away_table_lease (world.table, id, other, FALSE, world.now,
                                                    &known);
      irisd_away_table_start (world.table, item, world.now);
    }
  REQUIRE (world.n_published == 0);
  irisd_away_table_set_shut (world.table, FALSE, world.now);
  REQUIRE (world.n_published == 1);
  REQUIRE (irisd_away_table_get_gate (world.table) == IRISD_AWAY_GATE_NO_QUORUM);
  REQUIRE (irisd_away_table_get_held (world.table) == 3);
  irisd_away_table_free (world.table);
}

TEST (a_lost_message_about_an_end_delays_it_and_no_more)
{
  World world;
  gint64 begun;

  world_init (&world);
  lease (&world);
  take_verdict (&world, IRISD_AWAY_STORED, TRUE);
  run_host (&world);
  world.hinted = FALSE;
  begun = world.now;
  while (world.n_looks == 0)
    pass_time (&world);
  REQUIRE (world.now - begun <= 2 * G_USEC_PER_SEC);
  take_look (&world, TRUE);
  REQUIRE (world.n_answers == 1);
  irisd_away_table_free (world.table);
}

TEST (a_lease_is_extended_as_long_as_the_item_is_away)
{
  World world;
  guint n_looks;

  world_init (&world);
  lease (&world);
  take_verdict (&world, IRISD_AWAY_STORED, TRUE);
  while (world.now < 300 * G_USEC_PER_SEC)
    {
      pass_time (&world);
      while (world.n_checks > 0)
        take_check (&world);
    }
  /* 2, 4, 8, 16 and then each 30 s. */
  n_looks = world.n_looks;
  REQUIRE (n_looks >= 12);
  REQUIRE (n_looks <= 16);
  irisd_away_table_free (world.table);
}

static void
pass_time_until (World *world, const guint *count, guint least)
{
  while (*count < least)
    pass_time (world);
}

/* It has neither message nor end: a second check, then a look, and it is published again. */
TEST (an_item_that_the_stream_has_lost_is_published_again)
{
  World world;

  world_init (&world);
  lease (&world);
  happen (&world, STORED);
  happen (&world, VANISH);
  pass_time_until (&world, &world.n_checks, 1);
  happen (&world, CHECKED);
  REQUIRE (world.n_lost == 0);
  pass_time_until (&world, &world.n_checks, 1);
  world.n_looks = 0;
  happen (&world, CHECKED);
  REQUIRE (world.n_lost == 1);
  REQUIRE (irisd_away_table_get_size (world.table) == 1);

  happen (&world, LEASE);
  REQUIRE (world.n_published == 1);
  REQUIRE (world.n_looks == 1);
  happen (&world, LOOKED);
  REQUIRE (world.n_published == 2);
  happen (&world, STORED);
  happen (&world, RUN);
  happen (&world, HINT);
  REQUIRE (world.n_answers == 1);
  irisd_away_table_free (world.table);
  REQUIRE (world.n_made == world.n_forgotten);
}

/* A host put it anew between two checks, or a server was behind: the count begins anew. */
TEST (an_item_that_one_check_does_not_find_is_not_lost)
{
  World world;

  world_init (&world);
  lease (&world);
  happen (&world, STORED);
  for (guint i = 0; i < 6; i++)
    {
      world.stored = i % 2 == 1;
      pass_time_until (&world, &world.n_checks, 1);
      happen (&world, CHECKED);
    }
  REQUIRE (world.n_lost == 0);
  irisd_away_table_free (world.table);
}

/* Its end came into the stream before its message was acknowledged, and the word was lost. */
TEST (a_check_that_finds_the_end_tells_it)
{
  World world;

  world_init (&world);
  lease (&world);
  happen (&world, STORED);
  happen (&world, RUN);
  pass_time_until (&world, &world.n_checks, 1);
  happen (&world, CHECKED);
  REQUIRE (world.n_answers == 1);
  REQUIRE (world.n_lost == 0);
  irisd_away_table_free (world.table);
}

static void
put_out (World *world, guint number)
{
  guint8 id[IRIS_WIRE_ID_SIZE] = { 1 }, other[IRIS_WIRE_ID_SIZE] = { 2 };
  gboolean known;

  memcpy (id + 1, &number, sizeof number);
  memcpy (other + 1, &number, sizeof number);
  IrisdAwayItem *item = irisd_away_table_lease (world->table, id, other, FALSE, world->now, &known);
  irisd_away_table_start (world->table, item, world->now);
  REQUIRE (world->publishing == item);
  world->publishing = NULL;
  irisd_away_table_published (world->table, item, IRISD_AWAY_STORED, number, world->now);
}

/* Until @end: how often @count was counted, and how often in one second at most. */
static guint
count_until (World *world, const guint *count, gint64 end, guint *most)
{
  const guint begun = *count;

  *most = 0;
  while (world->now < end)
    {
      const gint64 second = world->now + G_USEC_PER_SEC;
      const guint before = *count;

      for (gint64 next = world->now; next < second;)
        {
          world->now = next;
          next = MAX (irisd_away_table_tick (world->table, next), next + 1);
        }
      world->now = second;
      *most = MAX (*most, *count - before);
    }
  return *count - begun;
}

/* However many are out, and however often the connection is made anew. */
TEST (the_stream_is_asked_a_few_times_a_second)
{
  const gint64 seconds = 9; /* leases are extended later */
  World world;
  guint most;

  world_init (&world);
  for (guint i = 0; i < 200; i++)
    put_out (&world, i);
  REQUIRE (count_until (&world, &world.n_checks, seconds * G_USEC_PER_SEC, &most)
           >= 9 * (seconds - 1));
  REQUIRE (most <= 11);
  for (guint i = 0; i < 10; i++)
    irisd_away_table_look_at_all (world.table, world.now);
  count_until (&world, &world.n_checks, 2 * seconds * G_USEC_PER_SEC, &most);
  REQUIRE (most <= 11);
  irisd_away_table_free (world.table);
}

/* Servers drop requests of all nodes if one asks too much at once. */
TEST (the_ends_of_many_items_are_looked_for_one_after_the_other)
{
  const guint n = 15000;
  const gint64 seconds = 16; /* leases are extended later */
  World world;
  guint most;

  world_init (&world);
  for (guint i = 0; i < n; i++)
    put_out (&world, i);
  irisd_away_table_look_at_all (world.table, world.now);
  REQUIRE (count_until (&world, &world.n_looks, seconds * G_USEC_PER_SEC, &most) >= n);
  REQUIRE (most <= 1100);
  irisd_away_table_free (world.table);
}

/* As after a start of irisd, when all were leased before. None is passed over. */
TEST (many_items_that_were_leased_before_are_looked_for_one_after_the_other)
{
  const guint n = 5000;
  World world;
  guint most;

  world_init (&world);
  for (guint i = 0; i < n; i++)
    {
      guint8 id[IRIS_WIRE_ID_SIZE] = { 1 };
      gboolean known;
      memcpy (id + 1, &i, sizeof i);
      IrisdAwayItem *item = irisd_away_table_lease (world.table, id, id, TRUE, world.now, &known);
      irisd_away_table_start (world.table, item, world.now);
    }
  REQUIRE (world.n_looks <= 1000);
  count_until (&world, &world.n_looks, 5 * G_USEC_PER_SEC, &most);
  REQUIRE (most <= 1100);
  for (guint i = 0; i < n; i++)
    {
      guint8 id[IRIS_WIRE_ID_SIZE] = { 1 };
      memcpy (id + 1, &i, sizeof i);
      IrisdAwayItem *item = irisd_away_table_find (world.table, id);
      /* All but the first are asked again later only. */
      REQUIRE (item->state == IRISD_AWAY_LOOKING);
      irisd_away_table_end (world.table, item, world.now);
    }
  REQUIRE (irisd_away_table_get_size (world.table) == 0);
  irisd_away_table_free (world.table);
}

/* Servers that were away may have lost what they had; a connection that comes and goes costs no
 * more. */
TEST (a_connection_that_is_made_anew_makes_checks_due_once_in_a_while)
{
  const gint64 half = rules.check_us / 2;
  World world;

  world_init (&world);
  irisd_away_table_look_at_all (world.table, world.now);
  world.now += rules.check_us;
  put_out (&world, 1);
  irisd_away_table_look_at_all (world.table, world.now);
  irisd_away_table_tick (world.table, world.now);
  REQUIRE (world.n_checks == 1);
  world.now += half;
  irisd_away_table_look_at_all (world.table, world.now);
  irisd_away_table_tick (world.table, world.now);
  REQUIRE (world.n_checks == 1);
  irisd_away_table_free (world.table);
}

TEST_MAIN ("irisd-away-table", NULL, NULL)
