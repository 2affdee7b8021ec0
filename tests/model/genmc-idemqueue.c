/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the idempotent deque gives every item at least once.
 */
#include "genmc-deque.h"

#include "iris/queue/compare/iris-idemqueue-private.h"

static IrisIdemQueue queue;
static _Atomic int n_given[3]; /* twice is no race here */

static void
give (void *item)
{
  Thing *thing = item;

  if (thing == NULL)
    return;
  assert (thing->value == (int) (thing - things) + 1);
  atomic_fetch_add_explicit (&n_given[thing - things], 1, memory_order_relaxed);
}

static void *
thief (void *unused)
{
  void *items[2];
  uint64_t n;

  iris_idemqueue_steal (&queue, items, 2, &n);
  for (uint64_t i = 0; i < n; i++)
    give (items[i]);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_idemqueue_init_full (&queue, 2, 0));
  for (int i = 0; i < 3; i++)
    atomic_store_explicit (&n_given[i], 0, memory_order_relaxed);
  iris_idemqueue_push (&queue, thing_make (0));
  pthread_create (&first, NULL, thief, NULL);
  pthread_create (&second, NULL, thief, NULL);

  iris_idemqueue_push (&queue, thing_make (1));
  give (iris_idemqueue_take (&queue));
  iris_idemqueue_push (&queue, thing_make (2));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 3; i++)
    give (iris_idemqueue_take (&queue));
  for (int i = 0; i < 3; i++)
    assert (atomic_load_explicit (&n_given[i], memory_order_relaxed) >= 1);
  iris_idemqueue_clear (&queue);
}
