/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lists of kept items: bounded work for each, and each item once.
 */
#include "core-test-run.h"
#include "daemon/irisd-kept-list.h"

#include <check.h>
#include <stdlib.h>

#define N_ITEMS (3 * IRISD_LIST_MOST_LOOKED_AT + 7)

static IrisdKeptTable table;

/* Every thousandth is of another service. */
static void
set_up (void)
{
  irisd_kept_table_init (&table);
  for (guint64 i = 1; i <= N_ITEMS; i++)
    {
      const IrisdRecord record = {
        .item = i,
        .state = IRIS_WIRE_STATE_QUEUED,
        .klass = IRIS_WIRE_CLASS_RELAXED,
        .service = i % 1000 == 0 ? (IrisWireString){ "rare", 4 } : (IrisWireString){ "echo", 4 },
      };
      irisd_kept_table_add (&table, irisd_kept_new (&record, table.last));
    }
}

static void
tear_down (void)
{
  irisd_kept_table_clear (&table);
}

/* All pages of one question. Returns how many items there are. */
static guint
walk (IrisdKeptFilter *filter, guint *n_pages)
{
  guint64 before = 0;
  guint n = 0;
  *n_pages = 0;
  do
    {
      g_autoptr (IrisWireKept) page = irisd_kept_table_list (&table, filter, &filter->after);
      ck_assert_uint_le (page->n_items, filter->limit);
      for (guint i = 0; i < page->n_items; i++)
        {
          guint64 item = page->items[i].item;
          ck_assert (before == 0 || (filter->descending ? item < before : item > before));
          before = item;
        }
      n += page->n_items;
      ++*n_pages;
    }
  while (filter->after != 0);
  return n;
}

START_TEST (pages_hold_each_item_once)
{
  guint n_pages;
  IrisdKeptFilter filter = { .limit = 4096, .descending = _i };
  ck_assert_uint_eq (walk (&filter, &n_pages), N_ITEMS);
  ck_assert_uint_eq (n_pages, (N_ITEMS + 4095) / 4096);
}
END_TEST

START_TEST (a_rare_item_costs_no_more_than_a_bounded_look)
{
  guint n_pages;
  IrisdKeptFilter filter = { .limit = 4096, .descending = _i, .service = (char *) "rare" };
  ck_assert_uint_eq (walk (&filter, &n_pages), N_ITEMS / 1000);
  ck_assert_uint_eq (n_pages,
                     (N_ITEMS + IRISD_LIST_MOST_LOOKED_AT - 1) / IRISD_LIST_MOST_LOOKED_AT);
}
END_TEST

START_TEST (a_list_goes_on_behind_an_item_that_has_gone)
{
  guint64 next;
  IrisdKeptFilter filter = { .limit = 1, .after = 5, .descending = _i };
  IrisdKept *gone = irisd_kept_table_lookup (&table, 5);
  irisd_kept_table_remove (&table, gone);
  irisd_kept_free (gone);
  g_autoptr (IrisWireKept) page = irisd_kept_table_list (&table, &filter, &next);
  ck_assert_uint_eq (page->n_items, 1);
  ck_assert_uint_eq (page->items[0].item, filter.descending ? 4 : 6);
  ck_assert_uint_eq (next, page->items[0].item);
}
END_TEST

/* Worker processes may call their services as they like, so names must not pile up. */
START_TEST (items_of_a_service_share_its_name)
{
  IrisdKept *first = irisd_kept_table_lookup (&table, 1);
  IrisdKept *second = irisd_kept_table_lookup (&table, 2);
  ck_assert_ptr_eq (first->service, second->service);
  ck_assert_str_eq (first->service, "echo");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-kept-list");
  TCase *tcase = tcase_create ("irisd-kept-list");

  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_add_loop_test (tcase, pages_hold_each_item_once, 0, 2);
  tcase_add_loop_test (tcase, a_rare_item_costs_no_more_than_a_bounded_look, 0, 2);
  tcase_add_loop_test (tcase, a_list_goes_on_behind_an_item_that_has_gone, 0, 2);
  tcase_add_test (tcase, items_of_a_service_share_its_name);
  suite_add_tcase (suite, tcase);

  return core_test_run (suite);
}
