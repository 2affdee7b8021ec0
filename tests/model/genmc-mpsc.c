/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the MPSC queue. A sender that is told so becomes the owner for a
 * few looks; an owner that is not at rest by then leaves the rest to the end. 1: two senders of one
 * and two items. 2: three senders of one.
 */
#include "genmc.h"

#include "iris/queue/iris-mpsc-private.h"

#define N_SENT 3

static IrisMpscCore queue;
static IrisMpscNode stub, nodes[N_SENT];
static int n_received;    /* the owner's; plain: two owners are a data race */
static atomic_int n_busy; /* owners that did not come to rest */

static void
receive (void)
{
  for (int i = 0; i < N_SENT; i++)
    {
      IrisMpscNode *spent;
      Thing *thing = iris_mpsc_core_pop (&queue, &spent);

      if (thing == NULL)
        break;
      thing_take (thing);
      n_received++;
      /* The spent node is the owner's. */
      spent->item = NULL;
    }
}

static void
send (int i)
{
  thing_fill (i);
  nodes[i].item = &things[i];
  if (!iris_mpsc_core_push (&queue, &nodes[i]))
    return;
  receive ();
  if (!iris_mpsc_core_rest (&queue))
    atomic_fetch_add_explicit (&n_busy, 1, memory_order_relaxed);
}

static void *
send_one (void *data)
{
  (void) data;
  send (0);

  return NULL;
}

static void *
send_another (void *data)
{
  (void) data;
  send (1);
#if SCENARIO == 1
  send (2);
#endif

  return NULL;
}

#if SCENARIO == 2
static void *
send_a_third (void *data)
{
  (void) data;
  send (2);

  return NULL;
}
#endif

int
main (void)
{
  iris_mpsc_core_init (&queue, &stub);
#if SCENARIO == 1
  GENMC_RUN (send_one, send_another);
#else
  GENMC_RUN (send_one, send_another, send_a_third);
#endif
  /* No owner has to come unless a sender was told to become one. */
  assert (atomic_load_explicit (&n_busy, memory_order_relaxed) <= 1);
  if (atomic_load_explicit (&n_busy, memory_order_relaxed) == 0)
    assert (n_received == N_SENT && iris_mpsc_core_is_empty (&queue));
  receive ();
  assert (n_received == N_SENT);
  assert (iris_mpsc_core_rest (&queue));

  return 0;
}
