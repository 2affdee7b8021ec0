/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Named queues: limit, order, pause, removal, and that under load no turn is lost.
 */
#include "core-test-run.h"
#include "daemon/exec/item/irisd-named-queues.h"

#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>

#define N_THREADS 4
#define N_ROUNDS  3000
#define LIMIT     3

static IrisdNamedQueues queues;
static const IrisWireString name = { "q", 1 };

static IrisdQueueTurn *
change (gboolean exists, guint32 limit, gboolean suspended)
{
  const IrisdQueueRules rules = { exists, limit, 5, suspended };
  IrisdQueueTurn *next = NULL;
  ck_assert (irisd_named_queues_change (&queues, "q", &rules, 1, &next, NULL));
  return next;
}

static void
set_up (void)
{
  irisd_named_queues_init (&queues);
  ck_assert_ptr_null (irisd_named_queues_open (&queues));
  ck_assert_ptr_null (change (TRUE, 1, FALSE));
}

static void
tear_down (void)
{
  irisd_named_queues_clear (&queues);
}

TEST (turns_go_by_priority_and_number)
{
  IrisdNamedQueue *queue = irisd_named_queues_join (&queues, &name, NULL);
  IrisdQueueTurn turns[4] = { 0 };
  ck_assert (irisd_named_queues_enter (&queues, queue, &turns[0], 5, 1, FALSE));
  ck_assert (!irisd_named_queues_enter (&queues, queue, &turns[1], 5, 3, FALSE));
  ck_assert (!irisd_named_queues_enter (&queues, queue, &turns[2], 5, 2, FALSE));
  ck_assert (!irisd_named_queues_enter (&queues, queue, &turns[3], 6, 4, FALSE));
  ck_assert (irisd_named_queues_leave (&queues, &turns[0]) == &turns[3]);
  ck_assert (irisd_named_queues_withdraw (&queues, &turns[2]));
  ck_assert (!irisd_named_queues_withdraw (&queues, &turns[3]));
  ck_assert (irisd_named_queues_leave (&queues, &turns[3]) == &turns[1]);
  ck_assert_ptr_null (irisd_named_queues_leave (&queues, &turns[1]));
  ck_assert_ptr_null (irisd_named_queues_leave (&queues, &turns[1]));
  irisd_named_queues_part (&queues, queue);
}

TEST (a_change_gives_turns_and_takes_none)
{
  IrisdNamedQueue *queue = irisd_named_queues_join (&queues, &name, NULL);
  IrisdQueueTurn turns[3] = { 0 }, *next;
  IrisdQueueRules gone = { 0 };
  ck_assert_ptr_null (change (TRUE, 0, TRUE));
  for (guint i = 0; i < 3; i++)
    ck_assert (!irisd_named_queues_enter (&queues, queue, &turns[i], 5, i, FALSE));
  next = change (TRUE, 2, FALSE);
  ck_assert (next == &turns[0] && next->next == &turns[1] && turns[1].next == NULL);
  ck_assert_ptr_null (change (TRUE, 1, FALSE));
  ck_assert_ptr_null (irisd_named_queues_leave (&queues, &turns[0]));
  ck_assert (irisd_named_queues_leave (&queues, &turns[1]) == &turns[2]);
  ck_assert (!irisd_named_queues_change (&queues, "q", &gone, 1, &next, NULL));
  ck_assert_ptr_null (irisd_named_queues_leave (&queues, &turns[2]));
  irisd_named_queues_part (&queues, queue);
  ck_assert (irisd_named_queues_change (&queues, "q", &gone, 1, &next, NULL));
  ck_assert_ptr_null (irisd_named_queues_join (&queues, &name, NULL));
}

static _Atomic int n_inside, n_over, n_run;

/* Like an item that has got its turn: it may be on any thread. */
static void
run_all (IrisdQueueTurn *next)
{
  while (next != NULL)
    {
      IrisdQueueTurn *turn = next, **tail = &next;
      next = turn->next;
      if (atomic_fetch_add_explicit (&n_inside, 1, memory_order_relaxed) >= LIMIT)
        atomic_fetch_add_explicit (&n_over, 1, memory_order_relaxed);
      atomic_fetch_add_explicit (&n_run, 1, memory_order_relaxed);
      atomic_fetch_sub_explicit (&n_inside, 1, memory_order_relaxed);
      while (*tail != NULL)
        tail = &(*tail)->next;
      *tail = irisd_named_queues_leave (&queues, turn);
    }
}

static gpointer
come_and_go (gpointer data)
{
  IrisdQueueTurn *turns = data;
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      IrisdNamedQueue *queue = irisd_named_queues_join (&queues, &name, NULL);
      turns[i].next = NULL;
      if (irisd_named_queues_enter (&queues, queue, &turns[i], i % 3, i, FALSE))
        run_all (&turns[i]);
      else if (i % 5 == 0 && irisd_named_queues_withdraw (&queues, &turns[i]))
        atomic_fetch_add_explicit (&n_run, 1, memory_order_relaxed);
      if (i % 100 == 0)
        run_all (change (TRUE, LIMIT, i % 200 == 0));
      irisd_named_queues_part (&queues, queue);
    }
  return NULL;
}

TEST (under_load_no_turn_is_lost_and_no_limit_is_passed)
{
  GThread *threads[N_THREADS];
  IrisdQueueTurn *turns[N_THREADS];
  ck_assert_ptr_null (change (TRUE, LIMIT, FALSE));
  for (guint i = 0; i < N_THREADS; i++)
    {
      turns[i] = g_new0 (IrisdQueueTurn, N_ROUNDS);
      threads[i] = g_thread_new ("queue", come_and_go, turns[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  run_all (change (TRUE, LIMIT, FALSE));
  ck_assert_int_eq (n_over, 0);
  ck_assert_int_eq (n_run, N_THREADS * N_ROUNDS);
  g_autoptr (IrisWireQueues) list = irisd_named_queues_list (&queues);
  ck_assert_uint_eq (list->n_queues, 1);
  ck_assert_uint_eq (list->queues[0].running, 0);
  ck_assert_uint_eq (list->queues[0].waiting, 0);
  for (guint i = 0; i < N_THREADS; i++)
    g_free (turns[i]);
}

TEST_MAIN ("irisd-named-queues", set_up, tear_down)
