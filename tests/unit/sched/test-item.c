/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work items: what is called, how often, in which order, and whose the memory is meanwhile.
 */
#include "core-test-util.h"

#include <iris/sched/pool/iris-item-private.h>

#include <stdlib.h>
#include <string.h>

typedef struct
{
  IrisItem item;
  int n_run, n_notified;
  int run_at, notified_at; /* position among the calls */
  int n_calls;
} Work;

static void
run (gpointer data)
{
  Work *work = data;

  work->n_run++;
  work->run_at = ++work->n_calls;
}

static void
notify (gpointer data)
{
  Work *work = data;

  work->n_notified++;
  work->notified_at = ++work->n_calls;
}

TEST (a_made_item_is_run_and_then_notified)
{
  Work work = { 0 };

  iris_item_run (iris_item_new (run, &work, notify, IRIS_PLACE_ANY, IRIS_ITEM_NONE));
  ck_assert_int_eq (work.n_run, 1);
  ck_assert_int_eq (work.n_notified, 1);
  ck_assert_int_eq (work.run_at, 1);
  ck_assert_int_eq (work.notified_at, 2);
}

TEST (a_made_item_that_is_cancelled_is_notified_alone)
{
  Work work = { 0 };

  iris_item_cancel (iris_item_new (run, &work, notify, IRIS_PLACE_ANY, IRIS_ITEM_NONE));
  ck_assert_int_eq (work.n_run, 0);
  ck_assert_int_eq (work.n_notified, 1);
}

TEST (an_embedded_item_gets_one_call)
{
  Work work = { 0 };

  iris_item_init (&work.item, run, &work, notify);
  iris_item_run (&work.item);
  ck_assert_int_eq (work.n_run, 1);
  ck_assert_int_eq (work.n_notified, 0);
  iris_item_cancel (&work.item);
  ck_assert_int_eq (work.n_run, 1);
  ck_assert_int_eq (work.n_notified, 1);
}

TEST (without_a_notify_nothing_is_called)
{
  Work work = { 0 };

  iris_item_cancel (iris_item_new (run, &work, NULL, IRIS_PLACE_ANY, IRIS_ITEM_NONE));
  iris_item_run (iris_item_new (run, &work, NULL, IRIS_PLACE_ANY, IRIS_ITEM_NONE));
  iris_item_init (&work.item, run, &work, NULL);
  iris_item_cancel (&work.item);
  ck_assert_int_eq (work.n_run, 1);
  ck_assert_int_eq (work.n_notified, 0);
}

static int n_freed;

static void
free_and_count (gpointer data)
{
  memset (data, 0xff, sizeof (IrisItem));
  free (data);
  n_freed++;
}

/* What is read or called after the call is 0xff, or the sanitizer's. */
TEST (an_embedded_item_may_be_freed_by_its_call)
{
  IrisItem *item = malloc (sizeof *item);

  n_freed = 0;
  iris_item_init (item, free_and_count, item, free_and_count);
  iris_item_run (item);
  ck_assert_int_eq (n_freed, 1);
  item = malloc (sizeof *item);
  iris_item_init (item, free_and_count, item, free_and_count);
  iris_item_cancel (item);
  ck_assert_int_eq (n_freed, 2);
}

static void
make_another (gpointer data)
{
  IrisItem **made = data;

  *made = iris_item_new (run, NULL, NULL, IRIS_PLACE_ANY, IRIS_ITEM_NONE);
}

TEST (what_an_item_makes_may_take_its_place)
{
  IrisItem *made = NULL;
  IrisItem *item = iris_item_new (make_another, &made, NULL, IRIS_PLACE_ANY, IRIS_ITEM_NONE);
  IrisSlab *home = item->home;

  iris_item_run (item);
  ck_assert_ptr_eq (made, item);
  iris_slab_free (IRIS_SLAB_ITEM, home, made);
}

TEST (an_item_starts_without_a_hint_and_keeps_the_one_it_gets)
{
  IrisItem item;

  memset (&item, 0xff, sizeof item);
  iris_item_init (&item, run, NULL, NULL);
  ck_assert_int_eq (item.place, IRIS_PLACE_ANY);
  ck_assert_uint_eq (item.flags, IRIS_ITEM_NONE);
  ck_assert_ptr_null (item.home);
  ck_assert_int_eq (item.queued_ns, 0);
  iris_item_set_place (&item, 3, IRIS_ITEM_STRICT);
  ck_assert_int_eq (item.place, 3);
  ck_assert_uint_eq (item.flags, IRIS_ITEM_STRICT);
}

TEST_MAIN ("item", NULL, NULL)
