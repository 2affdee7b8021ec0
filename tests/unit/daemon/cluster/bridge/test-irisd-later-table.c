/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of items that wait: whatever is wished and answered in whatever order, the servers are
 * asked one thing at a time, and in the end the last wish is met.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-later-table.h"

#include <string.h>

#define AGAIN_US 1000

#define REQUIRE(condition) ck_assert_msg (condition, "%s", #condition)

typedef enum
{
  ASKED_NOTHING,
  ASKED_KEEP,
  ASKED_PURGE,
  ASKED_CLAIM,
} Asked;

/* One item, and the server that has its copy or not. */
typedef struct
{
  IrisdLaterTable *table;
  guint8 id[IRIS_WIRE_ID_SIZE];
  IrisdLaterItem *item; /* that is asked about */
  Asked asked;
  gint64 now;
  guint64 copy; /* the sequence of the one that is there, or 0 */
  guint64 last;
  gboolean fired;
  guint n_claims;
  guint n_forgotten;
} World;

static void
note (World *world, IrisdLaterItem *item, Asked asked)
{
  REQUIRE (world->asked == ASKED_NOTHING);
  REQUIRE (memcmp (item->item, world->id, sizeof world->id) == 0);
  world->item = item;
  world->asked = asked;
}

static void
on_keep (IrisdLaterItem *item, gpointer data)
{
  note (data, item, ASKED_KEEP);
}

static void
on_purge (IrisdLaterItem *item, gpointer data)
{
  note (data, item, ASKED_PURGE);
}

static void
on_claim (IrisdLaterItem *item, gpointer data)
{
  /* A copy that waits was removed before. */
  REQUIRE (((World *) data)->copy == 0);
  note (data, item, ASKED_CLAIM);
}

static void
on_forget (IrisdLaterItem *item, gpointer data)
{
  ((World *) data)->n_forgotten++;
}

static const IrisdLaterFuncs funcs = { on_keep, on_purge, on_claim, on_forget };

static void
world_init (World *world)
{
  memset (world, 0, sizeof *world);
  memset (world->id, 5, sizeof world->id);
  world->table = irisd_later_table_new (AGAIN_US, &funcs, world);
}

static void
wish (World *world, IrisdLaterWish what)
{
  irisd_later_table_wish (world->table, irisd_later_table_get (world->table, world->id), what,
                          world->now);
}

static void
answer_keep (World *world, gboolean well)
{
  const guint64 expected = world->item->sequence;
  IrisdLaterVerdict verdict = IRISD_LATER_SILENT;

  if (well && expected > 0 && expected != world->copy)
    verdict = IRISD_LATER_FIRED;
  else if (well)
    {
      verdict = IRISD_LATER_KEPT;
      world->copy = ++world->last;
    }
  irisd_later_table_kept (world->table, world->item, verdict,
                          verdict == IRISD_LATER_KEPT ? world->copy : 0, world->now);
}

/* The server does what it was asked, and says so, or not. */
static void
answer (World *world, gboolean well)
{
  const Asked asked = world->asked;
  const gboolean removed = world->copy > 0;

  world->asked = ASKED_NOTHING;
  if (asked == ASKED_KEEP)
    answer_keep (world, well);
  else if (asked == ASKED_PURGE)
    {
      world->copy = 0;
      irisd_later_table_purged (world->table, world->item, well, removed, world->now);
    }
  else if (asked == ASKED_CLAIM)
    {
      world->n_claims += well;
      irisd_later_table_claimed (world->table, world->item, well, world->now);
    }
}

static void
tick (World *world)
{
  world->now += AGAIN_US;
  irisd_later_table_tick (world->table, world->now);
}

/* All goes well from now on. */
static void
settle (World *world)
{
  for (guint i = 0; i < 8; i++)
    {
      answer (world, TRUE);
      tick (world);
    }
  REQUIRE (world->asked == ASKED_NOTHING);
}

static void
world_clear (World *world)
{
  const guint left = irisd_later_table_get_size (world->table);
  const guint before = world->n_forgotten;

  irisd_later_table_free (world->table);
  ck_assert_uint_eq (world->n_forgotten, before + left);
}

TEST (a_copy_is_kept_and_taken)
{
  World world;
  guint64 sequence;

  world_init (&world);
  ck_assert_int_eq (irisd_later_table_take (world.table, world.id, &sequence), IRISD_LATER_NONE);
  wish (&world, IRISD_LATER_KEEP);
  ck_assert_int_eq (irisd_later_table_take (world.table, world.id, &sequence), IRISD_LATER_BUSY);
  answer (&world, TRUE);
  ck_assert_int_eq (irisd_later_table_take (world.table, world.id, &sequence), IRISD_LATER_WAITED);
  ck_assert_uint_eq (sequence, world.copy);
  ck_assert_uint_eq (world.n_forgotten, 1);
  world_clear (&world);
}

TEST (what_is_not_answered_is_asked_again)
{
  World world;
  guint64 sequence;

  world_init (&world);
  wish (&world, IRISD_LATER_KEEP);
  answer (&world, FALSE);
  ck_assert_int_eq (world.asked, ASKED_NOTHING);
  tick (&world);
  ck_assert_int_eq (world.asked, ASKED_KEEP);
  answer (&world, FALSE);
  ck_assert_int_eq (irisd_later_table_take (world.table, world.id, &sequence), IRISD_LATER_UNSURE);
  ck_assert_int_eq (irisd_later_table_tick (world.table, world.now), G_MAXINT64);
  world_clear (&world);
}

TEST (a_table_that_is_shut_asks_for_nothing_until_it_opens)
{
  World world;

  world_init (&world);
  wish (&world, IRISD_LATER_KEEP);
  irisd_later_table_set_shut (world.table, TRUE);
  answer (&world, FALSE);
  ck_assert_int_eq (irisd_later_table_tick (world.table, 10 * AGAIN_US), G_MAXINT64);
  wish (&world, IRISD_LATER_RECALL);
  wish (&world, IRISD_LATER_KEEP);
  ck_assert_int_eq (world.asked, ASKED_NOTHING);

  irisd_later_table_set_shut (world.table, FALSE);
  ck_assert_int_eq (irisd_later_table_tick (world.table, 0), G_MAXINT64);
  ck_assert_int_eq (world.asked, ASKED_KEEP);
  settle (&world);
  ck_assert_uint_gt (world.copy, 0);
  world_clear (&world);
}

TEST (what_the_servers_refuse_is_not_asked_again)
{
  World world;

  world_init (&world);
  wish (&world, IRISD_LATER_KEEP);
  world.asked = ASKED_NOTHING;
  irisd_later_table_kept (world.table, world.item, IRISD_LATER_REFUSED, 0, world.now);
  tick (&world);
  ck_assert_int_eq (world.asked, ASKED_NOTHING);
  world_clear (&world);
}

TEST (an_end_is_written_only_if_there_was_no_copy)
{
  for (guint there = 0; there < 2; there++)
    {
      World world;

      world_init (&world);
      if (there)
        {
          wish (&world, IRISD_LATER_KEEP);
          answer (&world, TRUE);
        }
      wish (&world, IRISD_LATER_DROP);
      settle (&world);
      ck_assert_uint_eq (world.n_claims, !there);
      ck_assert_uint_eq (irisd_later_table_get_size (world.table), 0);
      world_clear (&world);
    }
}

TEST (one_that_was_recalled_needs_no_end)
{
  World world;

  world_init (&world);
  wish (&world, IRISD_LATER_KEEP);
  answer (&world, TRUE);
  wish (&world, IRISD_LATER_RECALL);
  settle (&world);
  ck_assert_uint_eq (world.copy, 0);
  wish (&world, IRISD_LATER_DROP);
  settle (&world);
  ck_assert_uint_eq (world.n_claims, 0);
  ck_assert_uint_eq (irisd_later_table_get_size (world.table), 0);
  world_clear (&world);
}

/* What may happen; the last is that the copy becomes an item by itself. */
enum
{
  KEEP,
  RECALL,
  WELL,
  SILENT,
  TICK,
  FIRE,
  N_EVENTS
};

static void
happen (World *world, guint event)
{
  switch (event)
    {
    case KEEP:
    case RECALL:
      wish (world, event == KEEP ? IRISD_LATER_KEEP : IRISD_LATER_RECALL);
      break;
    case WELL:
    case SILENT:
      answer (world, event == WELL);
      break;
    case TICK:
      tick (world);
      break;
    default:
      world->fired = world->fired || world->copy > 0;
      world->copy = 0;
      break;
    }
}

#define N_STEPS 6

TEST (in_each_order_the_last_wish_is_met)
{
  guint n_orders = 1;

  for (guint i = 0; i < N_STEPS; i++)
    n_orders *= N_EVENTS;
  for (guint order = 0; order < n_orders; order++)
    for (guint last = IRISD_LATER_KEEP; last <= IRISD_LATER_DROP; last++)
      {
        World world;
        guint64 sequence;

        world_init (&world);
        for (guint i = 0, rest = order; i < N_STEPS; i++, rest /= N_EVENTS)
          happen (&world, rest % N_EVENTS);
        wish (&world, (IrisdLaterWish) last);
        settle (&world);
        if (last == IRISD_LATER_KEEP && !world.fired)
          REQUIRE (world.copy > 0);
        if (last != IRISD_LATER_KEEP)
          REQUIRE (world.copy == 0);
        /* One that may be an item does not go without an end. */
        if (last == IRISD_LATER_DROP)
          {
            REQUIRE (irisd_later_table_get_size (world.table) == 0);
            REQUIRE (world.n_claims <= 1);
          }
        else
          {
            IrisdLaterFound found = irisd_later_table_take (world.table, world.id, &sequence);
            REQUIRE (found == IRISD_LATER_WAITED || found == IRISD_LATER_UNSURE);
            REQUIRE (found != IRISD_LATER_WAITED || sequence == world.copy);
          }
        world_clear (&world);
      }
}

TEST_MAIN ("irisd-later-table", NULL, NULL)
