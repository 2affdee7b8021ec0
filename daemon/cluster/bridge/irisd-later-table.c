/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items of this node that wait for their time, of which the cluster keeps a copy.
 *
 * Invariants, which the test checks after each event:
 *
 * * An item that is busy is asked of once, and is not among those that are tried again.
 * * One that is neither busy nor tried again has its wish, or cannot have it.
 */
#include "irisd-later-table.h"

#include <string.h>

struct _IrisdLaterTable
{
  gint64 again_us;
  const IrisdLaterFuncs *funcs;
  gpointer user_data;
  GHashTable *items; /* by id */
  GQueue again;      /* the first is due first: all wait equally long, or until it opens */
  gboolean shut;     /* nothing is asked */
};

static guint
id_hash (gconstpointer id)
{
  guint64 words[2];

  memcpy (words, id, sizeof words);
  words[0] ^= words[1] * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (guint) (words[0] ^ words[0] >> 32);
}

static gboolean
id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

/* What was not decided is asked again after @again_us. */
IrisdLaterTable *
irisd_later_table_new (gint64 again_us, const IrisdLaterFuncs *funcs, gpointer user_data)
{
  IrisdLaterTable *self = g_new0 (IrisdLaterTable, 1);

  self->again_us = again_us;
  self->funcs = funcs;
  self->user_data = user_data;
  self->items = g_hash_table_new (id_hash, id_equal);
  return self;
}

static void
leave_queue (IrisdLaterTable *self, IrisdLaterItem *item)
{
  if (item->waits)
    g_queue_unlink (&self->again, &item->link);
  item->waits = FALSE;
}

static void
free_item (IrisdLaterTable *self, IrisdLaterItem *item)
{
  self->funcs->forget (item, self->user_data);
  g_free (item);
}

static void
remove_item (IrisdLaterTable *self, IrisdLaterItem *item)
{
  leave_queue (self, item);
  g_hash_table_remove (self->items, item->item);
  free_item (self, item);
}

/* No answer of the servers may come after this. */
void
irisd_later_table_free (IrisdLaterTable *self)
{
  GHashTableIter iter;
  gpointer item;

  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &item))
    free_item (self, item);
  g_hash_table_unref (self->items);
  g_free (self);
}

static void
begin (IrisdLaterTable *self, IrisdLaterItem *item)
{
  leave_queue (self, item);
  if (self->shut)
    {
      item->due = 0;
      item->waits = TRUE;
      item->link.data = item;
      g_queue_push_head_link (&self->again, &item->link);
      return;
    }
  item->busy = TRUE;
  item->changed = FALSE;
  if (item->wish == IRISD_LATER_KEEP)
    {
      item->purged = item->removed = FALSE;
      self->funcs->keep (item, self->user_data);
    }
  else if (item->purged)
    self->funcs->claim (item, self->user_data);
  else
    self->funcs->purge (item, self->user_data);
}

/* Does what the wish needs now. May free @item. */
static void
go_on (IrisdLaterTable *self, IrisdLaterItem *item)
{
  if (item->wish == IRISD_LATER_DROP && item->removed)
    remove_item (self, item);
  else if (item->wish != IRISD_LATER_RECALL || !item->purged)
    begin (self, item);
}

static void
put_off (IrisdLaterTable *self, IrisdLaterItem *item, gint64 now)
{
  item->due = now + self->again_us;
  item->waits = TRUE;
  item->link.data = item;
  g_queue_push_tail_link (&self->again, &item->link);
}

/* Returns the item, which is new if nothing was wished of it; a wish follows. */
IrisdLaterItem *
irisd_later_table_get (IrisdLaterTable *self, const guint8 *id)
{
  IrisdLaterItem *item = g_hash_table_lookup (self->items, id);

  if (item != NULL)
    return item;
  item = g_new0 (IrisdLaterItem, 1);
  memcpy (item->item, id, IRIS_WIRE_ID_SIZE);
  g_hash_table_insert (self->items, item->item, item);
  return item;
}

/* May free @item. */
void
irisd_later_table_wish (IrisdLaterTable *self,
                        IrisdLaterItem *item,
                        IrisdLaterWish wish,
                        gint64 now)
{
  item->wish = wish;
  item->changed = TRUE;
  if (!item->busy)
    go_on (self, item);
}

/* The servers have answered a `keep`, or did not in time. */
void
irisd_later_table_kept (IrisdLaterTable *self,
                        IrisdLaterItem *item,
                        IrisdLaterVerdict verdict,
                        guint64 sequence,
                        gint64 now)
{
  item->busy = FALSE;
  if (verdict != IRISD_LATER_REFUSED)
    item->sequence = verdict == IRISD_LATER_KEPT ? sequence : 0;
  if (item->changed)
    go_on (self, item);
  else if (verdict == IRISD_LATER_SILENT)
    put_off (self, item, now);
}

/* The servers have answered a `purge`; or, if not @sure, they did not say. */
void
irisd_later_table_purged (IrisdLaterTable *self,
                          IrisdLaterItem *item,
                          gboolean sure,
                          gboolean removed,
                          gint64 now)
{
  item->busy = FALSE;
  item->sequence = 0;
  item->purged = sure;
  item->removed = sure && removed;
  if (!sure && !item->changed)
    put_off (self, item, now);
  else
    go_on (self, item);
}

/* The cancel is written as the item's end, or another end was there; or, if not @sure, the servers
 * did not say. */
void
irisd_later_table_claimed (IrisdLaterTable *self, IrisdLaterItem *item, gboolean sure, gint64 now)
{
  item->busy = FALSE;
  if (sure)
    remove_item (self, item);
  else
    put_off (self, item, now);
}

/* irisd leases the item: what happens to its copy is no longer decided here, unless it is BUSY. */
IrisdLaterFound
irisd_later_table_take (IrisdLaterTable *self, const guint8 *id, guint64 *sequence)
{
  IrisdLaterItem *item = g_hash_table_lookup (self->items, id);

  *sequence = item != NULL ? item->sequence : 0;
  if (item == NULL)
    return IRISD_LATER_NONE;
  if (item->busy)
    return IRISD_LATER_BUSY;
  remove_item (self, item);
  return *sequence > 0 ? IRISD_LATER_WAITED : IRISD_LATER_UNSURE;
}

/* While it is shut, wishes wait. */
void
irisd_later_table_set_shut (IrisdLaterTable *self, gboolean shut)
{
  self->shut = shut;
}

/* Asks again what is due. Returns when it is to be called next, or G_MAXINT64. */
gint64
irisd_later_table_tick (IrisdLaterTable *self, gint64 now)
{
  IrisdLaterItem *item;

  if (self->shut)
    return G_MAXINT64;
  while ((item = g_queue_peek_head (&self->again)) != NULL && item->due <= now)
    begin (self, item);
  return item != NULL ? item->due : G_MAXINT64;
}

guint
irisd_later_table_get_size (const IrisdLaterTable *self)
{
  return g_hash_table_size (self->items);
}
