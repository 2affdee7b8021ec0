/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the free list. 1: two threads that take and give back what is
 * there. 2: two threads that need fresh memory at the same time.
 */
#include "genmc.h"

#include "iris/queue/stamped/iris-free-list-private.h"

typedef struct
{
  IrisLifoNode link;
  int owner; /* plain: two owners are a data race */
} Node;

static IrisFreeListCore list;

static uint32_t
own (int me)
{
  bool fresh;
  uint32_t index = iris_free_list_core_get (&list, &fresh);
  Node *node;

  assert (index != IRIS_INDEX_NONE);
  node = iris_free_list_core_at (&list, index);
  node->owner = me;

  return index;
}

static void
disown (int me, uint32_t index)
{
  Node *node = iris_free_list_core_at (&list, index);

  assert (node->owner == me);
  iris_free_list_core_put (&list, index);
}

static void *
one_by_one (void *data)
{
  (void) data;
  disown (1, own (1));
  disown (1, own (1));

  return NULL;
}

static void *
two_at_once (void *data)
{
  uint32_t one = own (2), two = own (2);

  (void) data;
  assert (one != two);
  disown (2, one);
  disown (2, two);

  return NULL;
}

int
main (void)
{
  iris_free_list_core_init (&list, sizeof (Node), UINT32_MAX);
#if SCENARIO == 1
  uint32_t one = own (0), two = own (0), three = own (0);

  disown (0, one);
  disown (0, two);
  disown (0, three);
#endif
  GENMC_RUN (one_by_one, two_at_once);
  assert (atomic_load_explicit (&list.arena.n_used, memory_order_relaxed) <= 3);
  iris_free_list_core_clear (&list);

  return 0;
}
