/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the lock-less list. 1: two threads that push against one that
 * takes all, twice. 2: the way of a slab: a node that its owner wrote is given to another thread,
 * written there and handed back, and its owner writes it again; while a third hands back another.
 */
#include "genmc.h"

#include "iris/base/memory/iris-llist-private.h"

static IrisLlist list;

static IrisLlistNode *
node_of (int i)
{
  return (IrisLlistNode *) (void *) &things[i].link;
}

static Thing *
thing_of (IrisLlistNode *node)
{
  return (Thing *) (void *) ((char *) node - offsetof (Thing, link));
}

static void
push (int i)
{
  thing_fill (i);
  iris_llist_push (&list, node_of (i));
}

#if SCENARIO == 1
/* The chain is at most as long as there are things. */
static void
take_all (void)
{
  IrisLlistNode *node = iris_llist_take_all (&list);

  for (int i = 0; i < N_THINGS && node != NULL; i++)
    {
      IrisLlistNode *next = node->next;

      thing_take (thing_of (node));
      node = next;
    }
  assert (node == NULL);
}

static void *
push_two (void *data)
{
  (void) data;
  push (0);
  push (1);

  return NULL;
}

static void *
push_one (void *data)
{
  (void) data;
  push (2);

  return NULL;
}

static void *
take_twice (void *data)
{
  (void) data;
  take_all ();
  take_all ();

  return NULL;
}
#else
static _Atomic (Thing *) given;

static void *
own (void *data)
{
  IrisLlistNode *node;

  (void) data;
  thing_fill (0);
  atomic_store_explicit (&given, &things[0], memory_order_release);
  node = iris_llist_take_all (&list);
  /* The first only: it is ours again, to write. */
  if (node != NULL)
    thing_of (node)->payload = 17;

  return NULL;
}

static void *
use_and_hand_back (void *data)
{
  Thing *thing = atomic_load_explicit (&given, memory_order_acquire);

  (void) data;
  if (thing != NULL)
    {
      thing->payload++;
      iris_llist_push (&list, (IrisLlistNode *) (void *) &thing->link);
    }

  return NULL;
}

static void *
hand_back_another (void *data)
{
  (void) data;
  push (1);

  return NULL;
}
#endif

int
main (void)
{
  atomic_init (&list.head, NULL);
#if SCENARIO == 1
  GENMC_RUN (push_two, push_one, take_twice);
  take_all ();
  for (int i = 0; i < 3; i++)
    assert (thing_is_taken (i));
#else
  GENMC_RUN (own, use_and_hand_back, hand_back_another);
#endif

  return 0;
}
