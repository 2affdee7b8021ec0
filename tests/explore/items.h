/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that scenarios send through the structures they explore, and what must be true of them.
 *
 * An item has a payload that one thread writes before it puts the item somewhere and another reads
 * after it took it: plain memory, so that a missing release or acquire in between is a data race.
 */
#pragma once

#include "explore.h"

#define MAX_ITEMS 16

typedef struct Item Item;

struct Item
{
  Item *next;       /* for structures that link them */
  unsigned number;  /* in the order in which they were made */
  unsigned payload; /* what the taker must see */
};

/* In setup(). */
void items_reset (void);

/* How many there are. */
unsigned items_count (void);
bool item_was_taken (unsigned number);

/* In check(). */
void items_check_all_taken (void);

/* The parts that touch no memory that is watched. */
Item *items_make (void);
void items_note_again (unsigned number);
void items_note_taken (unsigned number, const char *how);

/* A new item, as its producer fills it. */
static inline Item *
item_new (void)
{
  Item *item = items_make ();

  item->payload = ~item->number;

  return item;
}

/* The thread that took @item notes that, and how; it may be gone at once. */
static inline unsigned
item_taken (Item *item, const char *how)
{
  unsigned number = item->number;

  items_note_taken (number, how);
  explore_assert (item->payload == ~number, "item %u reaches %s torn", number, how);
  item->payload = 0;

  return number;
}

/* The thread that took @item renews it under its old number, to send it once more. */
static inline void
item_again (Item *item)
{
  items_note_again (item->number);
  item->payload = ~item->number;
}
