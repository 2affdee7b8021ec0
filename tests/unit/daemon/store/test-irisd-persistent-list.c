/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lists of persistent items: bounded work for each, and each item once.
 */
#include "core-test-run.h"
#include "daemon/store/irisd-persistent-list.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_ITEMS (3 * IRISD_LIST_MOST_LOOKED_AT + 7)

static IrisdPersistentTable table;

/* Every thousandth is of another service. */
static void
set_up (void)
{
  irisd_persistent_table_init (&table);
  for (guint64 i = 1; i <= N_ITEMS; i++)
    {
      const IrisdRecord record = {
        .item = i,
        .state = IRIS_WIRE_STATE_QUEUED,
        .klass = IRIS_WIRE_CLASS_RELAXED,
        .service = i % 1000 == 0 ? (IrisWireString){ "rare", 4 } : (IrisWireString){ "echo", 4 },
      };
      irisd_persistent_table_add (
          &table,
          irisd_persistent_item_new (&record, TAILQ_LAST (&table.all, _IrisdPersistentItems)));
    }
}

static void
tear_down (void)
{
  irisd_persistent_table_clear (&table);
}

/* All pages of one question. Returns how many items there are. */
static guint
walk (IrisdPersistentFilter *filter, guint *n_pages)
{
  guint64 before = 0;
  guint n = 0;
  *n_pages = 0;
  do
    {
      g_autoptr (IrisWirePersistentList)
          page = irisd_persistent_table_list (&table, filter, &filter->after);
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

LOOP_TEST (pages_hold_each_item_once, 0, 2)
{
  guint n_pages;
  IrisdPersistentFilter filter = { .view = IRISD_VIEW_ALL, .limit = 4096, .descending = _i };
  ck_assert_uint_eq (walk (&filter, &n_pages), N_ITEMS);
  ck_assert_uint_eq (n_pages, (N_ITEMS + 4095) / 4096);
}

LOOP_TEST (a_rare_item_costs_no_more_than_a_bounded_look, 0, 2)
{
  guint n_pages;
  IrisdPersistentFilter filter = {
    .view = IRISD_VIEW_ALL, .limit = 4096, .descending = _i, .service = (char *) "rare"
  };
  ck_assert_uint_eq (walk (&filter, &n_pages), N_ITEMS / 1000);
  ck_assert_uint_eq (n_pages,
                     (N_ITEMS + IRISD_LIST_MOST_LOOKED_AT - 1) / IRISD_LIST_MOST_LOOKED_AT);
}

LOOP_TEST (a_list_goes_on_behind_an_item_that_has_gone, 0, 2)
{
  guint64 next;
  IrisdPersistentFilter filter = {
    .view = IRISD_VIEW_ALL, .limit = 1, .after = 5, .descending = _i
  };
  IrisdPersistentItem *gone = irisd_persistent_table_lookup (&table, 5);
  irisd_persistent_table_remove (&table, gone);
  irisd_persistent_item_free (gone);
  g_autoptr (IrisWirePersistentList) page = irisd_persistent_table_list (&table, &filter, &next);
  ck_assert_uint_eq (page->n_items, 1);
  ck_assert_uint_eq (page->items[0].item, filter.descending ? 4 : 6);
  ck_assert_uint_eq (next, page->items[0].item);
}

/* Worker processes may call their services as they like, so names must not pile up. */
TEST (items_of_a_service_share_its_name)
{
  IrisdPersistentItem *first = irisd_persistent_table_lookup (&table, 1);
  IrisdPersistentItem *second = irisd_persistent_table_lookup (&table, 2);
  ck_assert_ptr_eq (first->service, second->service);
  ck_assert_str_eq (first->service, "echo");
}

/* Two users may use the same key. */
LOOP_TEST (a_user_sees_that_users_items_and_keys, 0, 2)
{
  const IrisdRecord mine = { .item = N_ITEMS + 1,
                             .owner = 1000,
                             .klass = 1,
                             .state = IRIS_WIRE_STATE_QUEUED,
                             .service = { "echo", 4 },
                             .key = { "key", 3 } };
  IrisdRecord theirs = mine;
  theirs.item++;
  theirs.owner = 1001;
  irisd_persistent_table_add (&table, irisd_persistent_item_new (&mine, NULL));
  irisd_persistent_table_add (&table, irisd_persistent_item_new (&theirs, NULL));
  for (guint i = 0; i < 2; i++)
    {
      guint64 next;
      IrisdPersistentFilter filter = { .view = 1000 + i, .limit = 10, .descending = _i };
      IrisdPersistentItem *persistent = irisd_persistent_table_lookup (&table, mine.item + i);
      ck_assert_ptr_eq (irisd_persistent_table_lookup_key (&table, persistent), persistent);
      g_autoptr (IrisWirePersistentList)
          page = irisd_persistent_table_list (&table, &filter, &next);
      ck_assert_uint_eq (page->n_items, 1);
      ck_assert_uint_eq (page->items[0].item, mine.item + i);
      ck_assert_uint_eq (page->items[0].owner, 1000 + i);
      ck_assert_uint_eq (next, 0);
      /* A list that continues behind another user's item shows nothing of that item. */
      filter.after = filter.descending ? N_ITEMS + 10 : 1;
      g_autoptr (IrisWirePersistentList)
          again = irisd_persistent_table_list (&table, &filter, &next);
      ck_assert_uint_eq (again->n_items, 1);
    }
}

/* The first release had the first part of a row's head alone. */
TEST (a_row_that_names_no_owner_is_that_of_irisds_own_user)
{
  enum
  {
    FIRST = 48,
    SECOND = 24,
    CLASS_AT = 40,
    HAS_SECOND = 0x80
  };
  const IrisdRecord record = { .item = 7,
                               .owner = 1000,
                               .klass = IRIS_WIRE_CLASS_DURABLE,
                               .state = IRIS_WIRE_STATE_QUEUED,
                               .type = IRIS_WIRE_SUBMIT,
                               .service = { "echo", 4 },
                               .key = { "key", 3 } };
  gsize size = irisd_record_get_head_size (&record);
  g_autofree guint8 *head = g_malloc (size);
  irisd_record_pack_head (&record, head);
  ck_assert_uint_eq (head[CLASS_AT], IRIS_WIRE_CLASS_DURABLE | HAS_SECOND);
  head[CLASS_AT] = IRIS_WIRE_CLASS_DURABLE;
  memmove (head + FIRST, head + FIRST + SECOND, size - FIRST - SECOND);
  const IrisdRow row = {
    .id = 7, .state = IRIS_WIRE_STATE_QUEUED, .head = head, .head_size = size - SECOND
  };
  IrisdRecord old;
  ck_assert (irisd_record_unpack (&old, &row));
  ck_assert_int_eq (old.owner, IRISD_OWNER_UNKNOWN);
  ck_assert_uint_eq (old.key.len, 3);
  IrisdPersistentItem *persistent = irisd_persistent_item_new (&old, NULL);
  ck_assert_int_eq (persistent->owner, (gint64) geteuid ());
  irisd_persistent_item_free (persistent);
}

TEST_MAIN ("irisd-persistent-list", set_up, tear_down)
