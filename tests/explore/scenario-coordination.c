/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The coordination, explored: exclusive items run alone, the teardown last, and all that was
 * accepted runs.
 *
 * PLANT_NO_HOLD starts a concurrent item without looking at the running ones.
 */
#include "iris/message/port/iris-coordination-private.h"

#ifdef PLANT_NO_HOLD

static IrisSubmit
planted_submit (IrisCoordination *self, IrisCoordinate kind, IrisLlistNode *node)
{
  IrisSubmit result = IRIS_SUBMIT_START;

  if (kind != IRIS_COORDINATE_CONCURRENT)
    return iris_coordination_submit (self, kind, node);
  pthread_mutex_lock (&self->lock);
  self->n_running++;
  pthread_mutex_unlock (&self->lock);

  return result;
}

#define iris_coordination_submit planted_submit
#endif

#include "explore.h"
#include "items.h"

static IrisCoordination coordination;
static unsigned n_alone, n_together;
static bool torn_down;
static _Atomic unsigned step; /* so that others can come in the middle of a handler */

static void
setup (void)
{
  items_reset ();
  n_alone = n_together = 0;
  torn_down = false;
  atomic_init (&step, 0);
  iris_coordination_init (&coordination);
}

EXPLORE_UNWATCHED static void
note_begin (IrisCoordinate kind)
{
  explore_assert (!torn_down, "something runs after the teardown");
  explore_assert (n_alone == 0, "something runs beside an exclusive item");
  if (kind == IRIS_COORDINATE_CONCURRENT)
    {
      n_together++;
      return;
    }
  explore_assert (n_together == 0, "an exclusive item runs beside a concurrent one");
  n_alone++;
  torn_down = kind == IRIS_COORDINATE_TEARDOWN;
}

EXPLORE_UNWATCHED static void
note_end (IrisCoordinate kind)
{
  if (kind == IRIS_COORDINATE_CONCURRENT)
    n_together--;
  else
    n_alone--;
}

static void start (IrisCoordinate kind, IrisLlistNode *node);

static void
run (IrisCoordinate kind, IrisLlistNode *node)
{
  note_begin (kind);
  atomic_fetch_add_explicit (&step, 1, memory_order_relaxed);
  item_taken ((Item *) node, "run");
  note_end (kind);
}

/* As the arbiter does, but on this thread. */
static void
start (IrisCoordinate kind, IrisLlistNode *node)
{
  IrisLlistNode *next = NULL, *more = NULL;
  IrisCoordinate then;

  if (kind == IRIS_COORDINATE_CONCURRENT)
    more = node->next;
  run (kind, node);
  if (kind == IRIS_COORDINATE_EXCLUSIVE)
    while ((node = iris_coordination_next (&coordination)) != NULL)
      run (kind, node);
  then = iris_coordination_finish (&coordination, false, &next);
  if (more != NULL)
    start (IRIS_COORDINATE_CONCURRENT, more);
  if (then != IRIS_COORDINATE_NOTHING)
    start (then, next);
}

static void
submit (IrisCoordinate kind)
{
  Item *item = item_new ();

  item->next = NULL;
  switch (iris_coordination_submit (&coordination, kind, (IrisLlistNode *) item))
    {
    case IRIS_SUBMIT_START:
      start (kind, (IrisLlistNode *) item);
      break;
    case IRIS_SUBMIT_REFUSED:
      item_taken (item, "refusal");
      break;
    default:
      break;
    }
}

static void
readers_and_writers (unsigned self)
{
  submit (IRIS_COORDINATE_CONCURRENT);
  submit (IRIS_COORDINATE_EXCLUSIVE);
}

static void
with_teardown (unsigned self)
{
  submit (self == 0 ? IRIS_COORDINATE_CONCURRENT : IRIS_COORDINATE_EXCLUSIVE);
  if (self == 0)
    submit (IRIS_COORDINATE_TEARDOWN);
}

static void
check (void)
{
  items_check_all_taken ();
}

#ifdef PLANT_NO_HOLD
#define FAILS       "exclusive"
#define N_SCENARIOS 1
#else
#define FAILS       NULL
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
  { "coordination/readers-and-writers", 2, setup, readers_and_writers, check, .fails = FAILS },
  { "coordination/teardown", 3, setup, with_teardown, check, .delays = 1, .together = 3 },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, N_SCENARIOS);
}
