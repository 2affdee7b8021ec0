/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of the next runs of a schedule: in whatever order a home, two hosts and the servers act,
 * no run is made twice, and the schedule goes on without its home.
 */
#include "core-test-run.h"
#include "core-test-util.h"
#include "daemon/cluster/bridge/irisd-chain-step.h"
#include "every-order.h"

#include <string.h>

#define MOST_RUNS 64
#define FIRST     2 /* the time of the first run; each later one is due one later */
#define N_HOSTS   2

#define MOST_MESSAGES 1024

typedef struct
{
  IrisdChainStep step;
  guint64 run; /* 0: none */
} Host;

typedef struct
{
  /* the servers */
  guint64 last;
  guint64 head; /* the sequence of the head; 0: there is none */
  guint64 head_ms;
  guint64 copy; /* likewise of the copy */
  guint64 copy_ms;
  gboolean due[MOST_RUNS];
  gboolean ended[MOST_RUNS];
  gboolean remembered[MOST_MESSAGES]; /* by the head's sequence */
  guint made[MOST_RUNS];
  guint64 latest; /* that became due */
  /* the nodes */
  IrisdChainStep home;
  guint64 next; /* of which the home has had a copy kept */
  guint64 run;  /* that the home makes; 0: none */
  gboolean dropped;
  Host hosts[N_HOSTS];
} World;

typedef enum
{
  FIRE,
  MOVE,    /* the home begins to make the run whose copy it had kept */
  PUBLISH, /* that run */
  DROP,
  HOME,
  HOME_SILENT,
  HOST_0,
  HOST_0_SILENT,
  HOST_1,
  HOST_1_SILENT,
  DELIVER, /* what is due, or is delivered again */
  N_EVENTS,
} Event;

static IrisdChainStep *
get_step (World *world, Event event)
{
  return event <= HOME_SILENT ? &world->home : &world->hosts[event >= HOST_1].step;
}

static IrisdChainAnswer
store_head (World *world, const IrisdChainStep *step)
{
  if (world->head != step->head)
    return IRISD_CHAIN_NO;
  world->head = ++world->last;
  world->head_ms = step->wish == IRISD_CHAIN_KEEP ? step->due_ms : IRISD_CHAIN_EMPTY;
  return IRISD_CHAIN_YES;
}

/* The id of its message is of the run and the head, and each head has one run. */
static IrisdChainAnswer
store_copy (World *world, const IrisdChainStep *step)
{
  if (world->remembered[step->head])
    return IRISD_CHAIN_BEFORE;
  if (step->copy > 0 ? world->copy != step->copy : world->head != step->head)
    return IRISD_CHAIN_NO;
  world->remembered[step->head] = TRUE;
  world->copy = ++world->last;
  world->copy_ms = step->due_ms;
  return IRISD_CHAIN_YES;
}

static IrisdChainAnswer
is_there (gboolean there)
{
  return there ? IRISD_CHAIN_YES : IRISD_CHAIN_NO;
}

/* The servers are asked what a step wants. */
static void
act (World *world, IrisdChainStep *step, gboolean silent)
{
  IrisdChainAnswer answer;

  REQUIRE (world->last + 1 < MOST_MESSAGES);
  switch (step->action)
    {
    case IRISD_CHAIN_ASK_HEAD:
      answer = silent ? IRISD_CHAIN_SILENT : is_there (world->head > 0);
      irisd_chain_step_head (step, answer, world->head, world->head_ms);
      break;
    case IRISD_CHAIN_PUT_HEAD:
      answer = store_head (world, step);
      irisd_chain_step_put_head (step, silent ? IRISD_CHAIN_SILENT : answer, world->head);
      break;
    case IRISD_CHAIN_ASK_COPY:
      answer = silent ? IRISD_CHAIN_SILENT : is_there (world->copy > 0);
      irisd_chain_step_copy (step, answer, world->copy, world->copy_ms);
      break;
    case IRISD_CHAIN_ASK_DUE:
      answer = silent ? IRISD_CHAIN_SILENT : is_there (world->due[step->due_ms]);
      irisd_chain_step_made (step, answer);
      break;
    case IRISD_CHAIN_ASK_END:
      answer = silent ? IRISD_CHAIN_SILENT : is_there (world->ended[step->due_ms]);
      irisd_chain_step_made (step, answer);
      break;
    case IRISD_CHAIN_PUT_COPY:
      answer = store_copy (world, step);
      irisd_chain_step_put_copy (step, silent ? IRISD_CHAIN_SILENT : answer, world->copy);
      break;
    case IRISD_CHAIN_REMOVE:
      world->copy = 0;
      irisd_chain_step_removed (step, silent ? IRISD_CHAIN_SILENT : IRISD_CHAIN_YES);
      break;
    case IRISD_CHAIN_PAUSE:
      irisd_chain_step_resume (step);
      break;
    default:
      REQUIRE (FALSE);
    }
}

/* A run was made: published by its home, or come due. */
static void
make (World *world, guint64 run)
{
  REQUIRE (run > 0 && run < MOST_RUNS);
  world->made[run]++;
  REQUIRE (world->made[run] == 1);
}

/* A host that has stored the next copy runs what it has, and stores the end. */
static void
finish (World *world, Host *host)
{
  if (host->run == 0 || host->step.action != IRISD_CHAIN_DONE)
    return;
  world->due[host->run] = FALSE;
  world->ended[host->run] = TRUE;
  host->run = 0;
}

static Host *
find_free (World *world)
{
  for (guint i = 0; i < N_HOSTS; i++)
    if (world->hosts[i].run == 0)
      return &world->hosts[i];
  return NULL;
}

/* The earliest run that has no end. */
static guint64
find_due (const World *world)
{
  for (guint64 run = 1; run < MOST_RUNS; run++)
    if (world->due[run])
      return run;
  return 0;
}

static void
publish (World *world)
{
  const guint64 run = world->run;
  const IrisdChainFound found = irisd_chain_step_find (&world->home, run);

  if (found == IRISD_CHAIN_BUSY)
    return;
  /* One that was due has a name of its own, so the home takes that. */
  if (found == IRISD_CHAIN_SURE || (!world->due[run] && !world->ended[run]))
    {
      make (world, run);
      world->ended[run] = TRUE;
    }
  world->run = 0;
}

static gboolean
can_happen (World *world, Event event)
{
  switch (event)
    {
    case FIRE:
      return world->copy > 0;
    case MOVE:
      return !world->dropped && world->run == 0;
    case PUBLISH:
      return world->run > 0 && world->home.action == IRISD_CHAIN_DONE;
    case DROP:
      return !world->dropped && world->run == 0;
    case DELIVER:
      return find_due (world) > 0 && find_free (world) != NULL;
    case HOME:
      return world->home.action != IRISD_CHAIN_DONE;
    case HOME_SILENT:
      return world->home.action < IRISD_CHAIN_PAUSE;
    default:
      return world->hosts[event >= HOST_1].run > 0
             && (event == HOST_0 || event == HOST_1
                 || get_step (world, event)->action < IRISD_CHAIN_PAUSE);
    }
}

static void
happen (World *world, Event event)
{
  Host *host;

  switch (event)
    {
    case FIRE:
      make (world, world->copy_ms);
      world->due[world->copy_ms] = TRUE;
      world->latest = MAX (world->latest, world->copy_ms);
      world->copy = 0;
      break;
    case MOVE:
      world->run = world->next++;
      irisd_chain_step_wish (&world->home, IRISD_CHAIN_KEEP, world->next);
      break;
    case PUBLISH:
      publish (world);
      break;
    case DROP:
      world->dropped = TRUE;
      irisd_chain_step_wish (&world->home, IRISD_CHAIN_DROP, 0);
      break;
    case DELIVER:
      host = find_free (world);
      host->run = find_due (world);
      irisd_chain_step_init (&host->step, host->run);
      irisd_chain_step_wish (&host->step, IRISD_CHAIN_KEEP, host->run + 1);
      break;
    default:
      act (world, get_step (world, event),
           event == HOME_SILENT || event == HOST_0_SILENT || event == HOST_1_SILENT);
      break;
    }
  for (guint i = 0; i < N_HOSTS; i++)
    finish (world, &world->hosts[i]);
}

static void
world_init (World *world)
{
  memset (world, 0, sizeof *world);
  irisd_chain_step_init (&world->home, 0);
  for (guint i = 0; i < N_HOSTS; i++)
    irisd_chain_step_init (&world->hosts[i].step, 1);
  world->next = FIRST;
  irisd_chain_step_wish (&world->home, IRISD_CHAIN_KEEP, FIRST);
  while (world->home.action != IRISD_CHAIN_DONE)
    act (world, &world->home, FALSE);
}

/* All that is under way comes to an end, but no copy becomes due. */
static void
settle (World *world)
{
  for (guint i = 0; i < 1000; i++)
    {
      gboolean idle = TRUE;

      for (Event event = PUBLISH; event < N_EVENTS; event++)
        if (event != DROP && event != HOME_SILENT && event != HOST_0_SILENT
            && event != HOST_1_SILENT && can_happen (world, event)
            && !(event == PUBLISH
                 && irisd_chain_step_find (&world->home, world->run) == IRISD_CHAIN_BUSY))
          {
            happen (world, event);
            idle = FALSE;
          }
      if (idle)
        return;
    }
  REQUIRE (FALSE);
}

static void
check_end (World *world)
{
  settle (world);
  if (world->dropped)
    REQUIRE (world->copy == 0);
  else
    REQUIRE (world->copy > 0 && world->copy_ms > world->latest);
}

static guint
list_events (World *world, Event *possible)
{
  guint n = 0;

  for (Event event = 0; event < N_EVENTS; event++)
    if (can_happen (world, event))
      possible[n++] = event;
  return n;
}

#define DEPTH 10

TEST (in_each_order_no_run_is_made_twice_and_the_schedule_goes_on)
{
  EveryOrder order = { 0 };
  guint n_orders = 0;

  do
    {
      World world;

      world_init (&world);
      for (guint i = 0; i < DEPTH; i++)
        {
          Event possible[N_EVENTS];
          const guint n = list_events (&world, possible);

          if (n == 0)
            break;
          happen (&world, possible[every_order_choose (&order, n)]);
        }
      check_end (&world);
      n_orders++;
    }
  while (every_order_next (&order));
  REQUIRE (n_orders > 10000);
}

/* The same, longer, by lot. A home that is slow is one that is down now and then. */
TEST (by_lot_no_run_is_made_twice_and_the_schedule_goes_on)
{
  g_autoptr (GRand) lot = g_rand_new_with_seed (7);

  for (guint i = 0; i < (guint) CORE_TEST_LOAD (200000); i++)
    {
      World world;
      const gboolean slow = g_rand_boolean (lot);

      world_init (&world);
      for (guint j = 0; j < 80 && world.next < MOST_RUNS - 20 && world.latest < MOST_RUNS - 20; j++)
        {
          Event possible[N_EVENTS];
          const guint n = list_events (&world, possible);
          if (n == 0)
            break;
          const Event event = possible[g_rand_int_range (lot, 0, (gint32) n)];

          if (event == DROP && g_rand_int_range (lot, 0, 20) > 0)
            continue;
          if (slow && (event == MOVE || event == HOME) && g_rand_int_range (lot, 0, 8) > 0)
            continue;
          happen (&world, event);
        }
      check_end (&world);
    }
}

/* The home has come back, and finds what the hosts have stored. */
TEST (a_head_at_a_later_run_is_left)
{
  IrisdChainStep home;

  irisd_chain_step_init (&home, 0);
  ck_assert_int_eq (irisd_chain_step_wish (&home, IRISD_CHAIN_LOOK, 0), IRISD_CHAIN_ASK_HEAD);
  ck_assert_int_eq (irisd_chain_step_head (&home, IRISD_CHAIN_YES, 7, 1000), IRISD_CHAIN_DONE);
  ck_assert_int_eq (irisd_chain_step_find (&home, 1000), IRISD_CHAIN_BUSY);
  ck_assert_int_eq (irisd_chain_step_find (&home, 900), IRISD_CHAIN_UNSURE);
  ck_assert_int_eq (irisd_chain_step_wish (&home, IRISD_CHAIN_KEEP, 900), IRISD_CHAIN_DONE);
  ck_assert_int_eq (irisd_chain_step_wish (&home, IRISD_CHAIN_KEEP, 1000), IRISD_CHAIN_PUT_HEAD);
  ck_assert_uint_eq (home.head, 7);
}

TEST (a_copy_that_its_home_has_replaced_was_never_due)
{
  IrisdChainStep home;

  irisd_chain_step_init (&home, 0);
  irisd_chain_step_wish (&home, IRISD_CHAIN_KEEP, 1000);
  ck_assert_int_eq (irisd_chain_step_head (&home, IRISD_CHAIN_NO, 0, 0), IRISD_CHAIN_PUT_HEAD);
  ck_assert_int_eq (irisd_chain_step_put_head (&home, IRISD_CHAIN_YES, 3), IRISD_CHAIN_ASK_COPY);
  ck_assert_int_eq (irisd_chain_step_copy (&home, IRISD_CHAIN_NO, 0, 0), IRISD_CHAIN_ASK_DUE);
  ck_assert_int_eq (irisd_chain_step_made (&home, IRISD_CHAIN_NO), IRISD_CHAIN_ASK_END);
  ck_assert_int_eq (irisd_chain_step_made (&home, IRISD_CHAIN_NO), IRISD_CHAIN_PUT_COPY);
  ck_assert_int_eq (irisd_chain_step_put_copy (&home, IRISD_CHAIN_YES, 4), IRISD_CHAIN_DONE);
  ck_assert_int_eq (irisd_chain_step_find (&home, 1000), IRISD_CHAIN_BUSY);
  ck_assert_int_eq (irisd_chain_step_wish (&home, IRISD_CHAIN_KEEP, 1100), IRISD_CHAIN_PUT_HEAD);
  ck_assert_int_eq (irisd_chain_step_put_head (&home, IRISD_CHAIN_YES, 5), IRISD_CHAIN_PUT_COPY);
  ck_assert_int_eq (irisd_chain_step_find (&home, 1000), IRISD_CHAIN_BUSY);
  ck_assert_int_eq (irisd_chain_step_put_copy (&home, IRISD_CHAIN_YES, 6), IRISD_CHAIN_DONE);
  ck_assert_int_eq (irisd_chain_step_find (&home, 1000), IRISD_CHAIN_SURE);
  ck_assert_int_eq (irisd_chain_step_find (&home, 900), IRISD_CHAIN_UNSURE);
}

TEST (a_wish_that_comes_meanwhile_is_met_afterwards)
{
  IrisdChainStep home;

  irisd_chain_step_init (&home, 0);
  irisd_chain_step_wish (&home, IRISD_CHAIN_KEEP, 1000);
  irisd_chain_step_head (&home, IRISD_CHAIN_NO, 0, 0);
  ck_assert_int_eq (irisd_chain_step_wish (&home, IRISD_CHAIN_DROP, 0), IRISD_CHAIN_NOTHING);
  ck_assert_int_eq (irisd_chain_step_put_head (&home, IRISD_CHAIN_YES, 3), IRISD_CHAIN_PUT_HEAD);
  ck_assert_uint_eq (home.head, 3);
  ck_assert_int_eq (irisd_chain_step_put_head (&home, IRISD_CHAIN_YES, 4), IRISD_CHAIN_REMOVE);
  ck_assert_int_eq (irisd_chain_step_removed (&home, IRISD_CHAIN_YES), IRISD_CHAIN_DONE);
  /* An empty head is not written again. */
  ck_assert_int_eq (irisd_chain_step_wish (&home, IRISD_CHAIN_DROP, 0), IRISD_CHAIN_REMOVE);
}

TEST (a_host_does_not_go_on_with_what_was_dropped)
{
  IrisdChainStep host;

  irisd_chain_step_init (&host, 1000);
  ck_assert_int_eq (irisd_chain_step_wish (&host, IRISD_CHAIN_KEEP, 1100), IRISD_CHAIN_ASK_HEAD);
  ck_assert_int_eq (irisd_chain_step_head (&host, IRISD_CHAIN_YES, 7, IRISD_CHAIN_EMPTY),
                    IRISD_CHAIN_DONE);
  irisd_chain_step_init (&host, 1000);
  irisd_chain_step_wish (&host, IRISD_CHAIN_KEEP, 1100);
  ck_assert_int_eq (irisd_chain_step_head (&host, IRISD_CHAIN_NO, 0, 0), IRISD_CHAIN_DONE);
}

TEST (without_the_stream_nothing_is_asked_again)
{
  IrisdChainStep home;

  irisd_chain_step_init (&home, 0);
  irisd_chain_step_wish (&home, IRISD_CHAIN_KEEP, 1000);
  ck_assert_int_eq (irisd_chain_step_head (&home, IRISD_CHAIN_NEVER, 0, 0), IRISD_CHAIN_DONE);
  ck_assert (home.failed);
  ck_assert_int_eq (irisd_chain_step_find (&home, 1000), IRISD_CHAIN_UNSURE);
}

TEST_MAIN ("irisd-chain-step", NULL, NULL)
