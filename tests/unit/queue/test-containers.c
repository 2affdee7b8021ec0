/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The public faces of stack, free list, MPSC queue, ring and round-robin ring.
 */
#include "core-test-run.h"

#include <string.h>

#include <iris/iris.h>

#define N_ITEMS 20

static int items[N_ITEMS];

TEST (a_container_lives_until_its_last_reference)
{
  GType types[] = { IRIS_TYPE_STACK, IRIS_TYPE_FREE_LIST, IRIS_TYPE_MPSC, IRIS_TYPE_RING,
                    IRIS_TYPE_RROBIN };
  gpointer containers[] = { iris_stack_new (), iris_free_list_new (8), iris_mpsc_new (),
                            iris_ring_new (8), iris_rrobin_new (0) };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      gpointer again = g_boxed_copy (types[i], containers[i]);

      ck_assert_ptr_eq (again, containers[i]);
      g_boxed_free (types[i], again);
      g_boxed_free (types[i], containers[i]);
    }
}

TEST (a_stack_gives_the_newest_first)
{
  g_autoptr (IrisStack) stack = iris_stack_new ();

  ck_assert (iris_stack_is_empty (stack));
  for (int i = 0; i < N_ITEMS; i++)
    iris_stack_push (stack, &items[i]);
  ck_assert (!iris_stack_is_empty (stack));
  for (int i = N_ITEMS; i-- > 0;)
    ck_assert_ptr_eq (iris_stack_pop (stack), &items[i]);
  ck_assert_ptr_null (iris_stack_pop (stack));
}

TEST (blocks_do_not_overlap_and_come_again)
{
  const gsize sizes[] = { 0, 1, 8, 13, 100 };

  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++)
    {
      g_autoptr (IrisFreeList) list = iris_free_list_new (sizes[k]);
      guchar *blocks[200];

      for (int i = 0; i < 200; i++)
        {
          blocks[i] = iris_free_list_get (list);
          ck_assert_uint_eq ((guintptr) blocks[i] % G_ALIGNOF (max_align_t), 0);
          memset (blocks[i], i, sizes[k]);
        }
      for (int i = 0; i < 200; i++)
        for (gsize byte = 0; byte < sizes[k]; byte++)
          ck_assert_uint_eq (blocks[i][byte], (guchar) i);
      iris_free_list_put (list, blocks[7]);
      ck_assert_ptr_eq (iris_free_list_get (list), blocks[7]);
    }
}

TEST (one_sender_is_told_that_the_owner_rests)
{
  g_autoptr (IrisMpsc) mpsc = iris_mpsc_new ();

  for (int round = 0; round < 3; round++)
    {
      ck_assert (iris_mpsc_is_empty (mpsc));
      ck_assert (iris_mpsc_push (mpsc, &items[0]));
      for (int i = 1; i < N_ITEMS; i++)
        ck_assert (!iris_mpsc_push (mpsc, &items[i]));
      ck_assert (!iris_mpsc_is_empty (mpsc));
      ck_assert (!iris_mpsc_rest (mpsc));
      for (int i = 0; i < N_ITEMS; i++)
        ck_assert_ptr_eq (iris_mpsc_pop (mpsc), &items[i]);
      ck_assert_ptr_null (iris_mpsc_pop (mpsc));
      ck_assert (iris_mpsc_is_empty (mpsc));
      ck_assert (iris_mpsc_rest (mpsc));
    }
}

TEST (an_owner_that_does_not_rest_is_not_called)
{
  g_autoptr (IrisMpsc) mpsc = iris_mpsc_new ();

  ck_assert (iris_mpsc_push (mpsc, &items[0]));
  ck_assert_ptr_eq (iris_mpsc_pop (mpsc), &items[0]);
  ck_assert (!iris_mpsc_push (mpsc, &items[1]));
  ck_assert (!iris_mpsc_rest (mpsc));
}

TEST (a_ring_of_any_capacity_takes_more_than_that)
{
  const guint capacities[] = { 1, 2, 3, 5, 8 };

  for (guint k = 0; k < G_N_ELEMENTS (capacities); k++)
    {
      g_autoptr (IrisRing) ring = iris_ring_new (capacities[k]);

      ck_assert_uint_ge (iris_ring_get_capacity (ring), capacities[k]);
      for (int i = 0; i < N_ITEMS; i++)
        iris_ring_push (ring, &items[i]);
      ck_assert_uint_eq (iris_ring_get_length (ring), N_ITEMS);
      for (int i = 0; i < N_ITEMS; i++)
        ck_assert_ptr_eq (iris_ring_pop (ring), &items[i]);
      ck_assert_ptr_null (iris_ring_pop (ring));
      iris_ring_push (ring, &items[0]);
    }
}

/* --- the round-robin ring --------------------------------------------------------------------- */

typedef struct
{
  int met[N_ITEMS];
  int n;
  int accepts; /* -1: all decline; N_ITEMS: all accept */
} Met;

static gboolean
offer (gpointer member, gpointer data)
{
  Met *met = data;
  int who = (int) ((int *) member - items);

  met->met[met->n++] = who;

  return met->accepts == N_ITEMS || met->accepts == who;
}

static gboolean
meet (IrisRRobin *rrobin, gpointer member, gpointer data)
{
  offer (member, data);

  return TRUE;
}

static int
next_turn (IrisRRobin *rrobin)
{
  Met met = { .accepts = N_ITEMS };

  ck_assert (iris_rrobin_apply (rrobin, offer, &met));
  ck_assert_int_eq (met.n, 1);

  return met.met[0];
}

TEST (each_member_gets_a_turn_before_one_gets_two)
{
  g_autoptr (IrisRRobin) rrobin = iris_rrobin_new (0);

  for (int i = 0; i < 3; i++)
    ck_assert (iris_rrobin_append (rrobin, &items[i]));
  ck_assert_uint_eq (iris_rrobin_get_length (rrobin), 3);
  for (int i = 0; i < 9; i++)
    ck_assert_int_eq (next_turn (rrobin), i % 3);
}

/* An index modulo anything but the number of members meets a hole here. */
TEST (a_member_that_left_leaves_no_hole)
{
  g_autoptr (IrisRRobin) rrobin = iris_rrobin_new (8);
  Met met = { .accepts = -1 };

  iris_rrobin_append (rrobin, &items[0]);
  iris_rrobin_append (rrobin, &items[1]);
  ck_assert (iris_rrobin_remove (rrobin, &items[0]));
  ck_assert (!iris_rrobin_remove (rrobin, &items[0]));
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq (next_turn (rrobin), 1);
  iris_rrobin_foreach (rrobin, meet, &met);
  ck_assert_int_eq (met.n, 1);
  ck_assert_int_eq (met.met[0], 1);
}

TEST (a_member_that_declines_passes_the_offer_on_once_around)
{
  g_autoptr (IrisRRobin) rrobin = iris_rrobin_new (0);
  Met none = { .accepts = -1 }, second = { .accepts = 2 }, empty = { .accepts = N_ITEMS };

  ck_assert (!iris_rrobin_apply (rrobin, offer, &empty));
  ck_assert_int_eq (empty.n, 0);

  for (int i = 0; i < 4; i++)
    iris_rrobin_append (rrobin, &items[i]);
  ck_assert (!iris_rrobin_apply (rrobin, offer, &none));
  ck_assert_int_eq (none.n, 4);
  ck_assert (iris_rrobin_apply (rrobin, offer, &second));
  ck_assert_int_eq (second.n, 2);
  ck_assert_int_eq (second.met[0], 1);
  ck_assert_int_eq (second.met[1], 2);
}

TEST (a_full_ring_takes_no_member_until_one_leaves)
{
  g_autoptr (IrisRRobin) rrobin = iris_rrobin_new (2);

  ck_assert (iris_rrobin_append (rrobin, &items[0]));
  ck_assert (iris_rrobin_append (rrobin, &items[1]));
  ck_assert (!iris_rrobin_append (rrobin, &items[2]));
  ck_assert (iris_rrobin_remove (rrobin, &items[1]));
  ck_assert (iris_rrobin_append (rrobin, &items[2]));
}

static gboolean
leave_and_bring_another (IrisRRobin *rrobin, gpointer member, gpointer data)
{
  guint *n_met = data;

  ck_assert (iris_rrobin_remove (rrobin, member));
  ck_assert (iris_rrobin_append (rrobin, &items[N_ITEMS - 1]));
  ++*n_met;

  return *n_met < 3;
}

TEST (members_may_come_and_go_while_they_are_met)
{
  g_autoptr (IrisRRobin) rrobin = iris_rrobin_new (0);
  guint n_met = 0;

  for (int i = 0; i < 4; i++)
    iris_rrobin_append (rrobin, &items[i]);
  iris_rrobin_foreach (rrobin, leave_and_bring_another, &n_met);
  ck_assert_uint_eq (n_met, 3);
  ck_assert_uint_eq (iris_rrobin_get_length (rrobin), 4);
  ck_assert (iris_rrobin_remove (rrobin, &items[3]));
}

TEST_MAIN ("containers", NULL, NULL)
