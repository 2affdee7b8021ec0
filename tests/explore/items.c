/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of scenarios: made once, taken once, whole.
 *
 * The book-keeping is the oracle's and no part of what is explored: this file is compiled without
 * the explorer's header and without its watch on plain memory. It is exact because everything
 * between two switch points happens at once.
 */
#include "items.h"

#include <string.h>

static Item items[MAX_ITEMS];
static unsigned n_taken[MAX_ITEMS];
static unsigned n_items;

void
items_reset (void)
{
  memset (items, 0, sizeof items);
  memset (n_taken, 0, sizeof n_taken);
  n_items = 0;
}

unsigned
items_count (void)
{
  return n_items;
}

bool
item_was_taken (unsigned number)
{
  return n_taken[number] > 0;
}

Item *
items_make (void)
{
  Item *item = &items[n_items];

  explore_assert (n_items < MAX_ITEMS, "the scenario makes more than %d items", MAX_ITEMS);
  item->number = n_items++;
  explore_note ("item %u is made", item->number);

  return item;
}

void
items_note_taken (unsigned number, const char *how)
{
  explore_note ("item %u is had by %s", number, how);
  explore_assert (number < n_items, "%s gives what is no item", how);
  n_taken[number]++;
  explore_assert (n_taken[number] == 1, "item %u is taken twice, at last by %s", number, how);
}

void
items_note_again (unsigned number)
{
  explore_note ("item %u is made again", number);
  n_taken[number]--;
}

void
items_check_all_taken (void)
{
  for (unsigned i = 0; i < n_items; i++)
    explore_assert (n_taken[i] == 1, "item %u is lost", i);
}
