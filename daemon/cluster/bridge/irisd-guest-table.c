/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of other nodes that were delivered to this one, and what is to be done with each next.
 *
 * Invariants, which the test checks after each event:
 *
 * * An item is acknowledged only after an end of it was stored or found, or another message of it
 * was stored, at most once, and is never given back after that.
 * * An item is handed to irisd only while irisd does not have it.
 * * One publish, of an end or of the message, at most is without an answer.
 */
#include "irisd-guest-table.h"

#include <string.h>

/* The first and the longest pause before an item is handed to a busy irisd again. */
#define BUSY_FIRST_MS 20
#define BUSY_MOST_MS  2000

/* Likewise before an end is published again. */
#define LATER_FIRST_US 100000
#define LATER_MOST_US  2000000

/* An end that the stream said to be there is looked for so often, as a replica may be behind. */
#define MOST_READS 3

struct _IrisdGuestTable
{
  IrisdGuestRules rules;
  const IrisdGuestFuncs *funcs;
  gpointer user_data;
  GHashTable *items;    /* by id */
  GHashTable *requests; /* those RUNNING, by request id */
  GQueue renewals;
  GQueue looking; /* LOOKING and READING: asked now, and again after a while */
  GQueue pausing; /* WAITING, and ENDING and LEAVING when the stream wants it later; in no order */
  GQueue leaving; /* LEAVING, until no consumer delivers any more */
  GQueue done;    /* DONE, but in flight */
  gboolean closed;
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

IrisdGuestTable *
irisd_guest_table_new (const IrisdGuestRules *rules,
                       const IrisdGuestFuncs *funcs,
                       gpointer user_data)
{
  IrisdGuestTable *self = g_new0 (IrisdGuestTable, 1);

  self->rules = *rules;
  self->funcs = funcs;
  self->user_data = user_data;
  self->items = g_hash_table_new (id_hash, id_equal);
  self->requests = g_hash_table_new (id_hash, id_equal);
  return self;
}

static void
free_item (IrisdGuestTable *self, IrisdGuestItem *item)
{
  self->funcs->forget (item, self->user_data);
  g_free (item->ack);
  g_free (item);
}

/* No answer of the stream may come after this. What is not acknowledged is delivered again. */
void
irisd_guest_table_free (IrisdGuestTable *self)
{
  GHashTableIter iter;
  gpointer item;

  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &item))
    free_item (self, item);
  while ((item = g_queue_peek_head (&self->done)) != NULL)
    {
      g_queue_unlink (&self->done, &((IrisdGuestItem *) item)->link);
      free_item (self, item);
    }
  g_hash_table_unref (self->items);
  g_hash_table_unref (self->requests);
  g_free (self);
}

static void
leave_queue (IrisdGuestItem *item)
{
  if (item->queue == NULL)
    return;
  g_queue_unlink (item->queue, &item->link);
  item->queue = NULL;
}

static void
enter_queue (IrisdGuestItem *item, GQueue *queue, gint64 due)
{
  leave_queue (item);
  item->due = due;
  item->queue = queue;
  item->link.data = item;
  g_queue_push_tail_link (queue, &item->link);
}

static void
set_state (IrisdGuestTable *self, IrisdGuestItem *item, IrisdGuestState state)
{
  if (item->state == IRISD_GUEST_RUNNING && state != IRISD_GUEST_RUNNING)
    g_hash_table_remove (self->requests, item->request);
  leave_queue (item);
  item->state = state;
}

static void
remove_item (IrisdGuestTable *self, IrisdGuestItem *item)
{
  set_state (self, item, IRISD_GUEST_DONE);
  g_hash_table_remove (self->items, item->item);
  g_queue_unlink (&self->renewals, &item->renew_link);
  if (item->in_flight)
    enter_queue (item, &self->done, G_MAXINT64);
  else
    free_item (self, item);
}

static void
give_back (IrisdGuestTable *self, IrisdGuestItem *item, guint64 delay_ms)
{
  self->funcs->give_back (item, delay_ms, self->user_data);
  remove_item (self, item);
}

static void
acknowledge (IrisdGuestTable *self, IrisdGuestItem *item)
{
  self->funcs->acknowledge (item, self->user_data);
  remove_item (self, item);
}

static void
look (IrisdGuestTable *self, IrisdGuestItem *item, IrisdGuestState state, gint64 now)
{
  set_state (self, item, state);
  enter_queue (item, &self->looking, now + self->rules.look_us);
  self->funcs->look (item, self->user_data);
}

static void
publish (IrisdGuestTable *self, IrisdGuestItem *item)
{
  set_state (self, item, IRISD_GUEST_ENDING);
  item->in_flight = TRUE;
  self->funcs->publish (item, self->user_data);
}

/* The pause before the stream is asked once more. */
static gint64
get_later_us (IrisdGuestItem *item)
{
  const guint n = item->n_later++;

  return MIN ((gint64) LATER_FIRST_US << MIN (n, 10), LATER_MOST_US);
}

static void
put_anew (IrisdGuestTable *self, IrisdGuestItem *item)
{
  leave_queue (item);
  item->in_flight = TRUE;
  self->funcs->put_anew (item, self->user_data);
}

static void
leave (IrisdGuestTable *self, IrisdGuestItem *item)
{
  item->n_later = 0;
  set_state (self, item, IRISD_GUEST_LEAVING);
  if (self->closed)
    put_anew (self, item);
  else
    enter_queue (item, &self->leaving, G_MAXINT64);
}

static void
submit (IrisdGuestTable *self, IrisdGuestItem *item)
{
  if (self->closed)
    {
      leave (self, item);
      return;
    }
  if (item->wants_body)
    {
      set_state (self, item, IRISD_GUEST_FETCHING);
      self->funcs->fetch (item, self->user_data);
      return;
    }
  set_state (self, item, IRISD_GUEST_RUNNING);
  if (!self->funcs->submit (item, self->user_data))
    {
      /* Its request id may be that of before. */
      item->state = IRISD_GUEST_WAITING;
      give_back (self, item, 0);
      return;
    }
  g_hash_table_insert (self->requests, item->request, item);
}

/* A consumer has delivered an item. Of a new one the owner sets `data` and calls
 * irisd_guest_table_start(); one that is @known goes on as it was, with the new delivery. If that
 * is of another message, which has another `sequence`, the owner gives that one back. */
IrisdGuestItem *
irisd_guest_table_deliver (IrisdGuestTable *self,
                           const guint8 *id,
                           const char *ack,
                           guint64 sequence,
                           guint64 n_tries,
                           gint64 now,
                           gboolean *known)
{
  IrisdGuestItem *item = g_hash_table_lookup (self->items, id);

  *known = item != NULL;
  if (item != NULL && item->sequence != sequence)
    return item;
  if (item != NULL)
    {
      g_free (item->ack);
      item->ack = g_strdup (ack);
      return item;
    }
  item = g_new0 (IrisdGuestItem, 1);
  memcpy (item->item, id, IRIS_WIRE_ID_SIZE);
  item->ack = g_strdup (ack);
  item->sequence = sequence;
  item->n_tries = n_tries;
  item->state = IRISD_GUEST_WAITING;
  g_hash_table_insert (self->items, item->item, item);
  item->renew_due = now + self->rules.renew_us;
  item->renew_link.data = item;
  g_queue_push_tail_link (&self->renewals, &item->renew_link);
  return item;
}

/* Begins with a new item. It may be given back at once. */
void
irisd_guest_table_start (IrisdGuestTable *self, IrisdGuestItem *item, gint64 now)
{
  if (!self->closed && (item->n_tries > 1 || item->unsure))
    look (self, item, IRISD_GUEST_LOOKING, now);
  else
    submit (self, item);
}

IrisdGuestItem *
irisd_guest_table_find (IrisdGuestTable *self, const guint8 *item)
{
  return g_hash_table_lookup (self->items, item);
}

/* Only those that irisd has. */
IrisdGuestItem *
irisd_guest_table_find_request (IrisdGuestTable *self, const guint8 *request)
{
  return g_hash_table_lookup (self->requests, request);
}

/* The stream has an end of the item (which the owner has kept, to tell it), or has none; or, if not
 * @sure, it did not say. */
void
irisd_guest_table_looked (IrisdGuestTable *self,
                          const guint8 *id,
                          gboolean found,
                          gboolean sure,
                          gint64 now)
{
  IrisdGuestItem *item = g_hash_table_lookup (self->items, id);

  if (item == NULL || !sure
      || (item->state != IRISD_GUEST_LOOKING && item->state != IRISD_GUEST_READING))
    return;
  if (found)
    {
      self->funcs->tell (item, self->user_data);
      acknowledge (self, item);
    }
  else if (item->state == IRISD_GUEST_LOOKING)
    submit (self, item);
  else if (++item->n_reads >= MOST_READS)
    {
      /* A leader refuses an end also while another one is only under way to its replicas, and loses
       * that one if it is no leader any more. */
      item->n_reads = 0;
      publish (self, item);
    }
}

static void
pause_item (IrisdGuestTable *self, IrisdGuestItem *item, guint64 least_ms, gint64 now)
{
  if (self->closed)
    {
      leave (self, item);
      return;
    }
  guint64 pause = MIN ((guint64) BUSY_FIRST_MS << MIN (item->n_busy, 10), BUSY_MOST_MS);

  item->n_busy++;
  set_state (self, item, IRISD_GUEST_WAITING);
  enter_queue (item, &self->pausing, now + (gint64) MAX (pause, least_ms) * 1000);
}

/* The owner has the body of the item, or if not @found could not read it now. */
void
irisd_guest_table_fetched (IrisdGuestTable *self, IrisdGuestItem *item, gboolean found, gint64 now)
{
  item->wants_body = item->wants_body && !found;
  if (item->state != IRISD_GUEST_FETCHING)
    return;
  if (found)
    submit (self, item);
  else
    pause_item (self, item, 0, now);
}

/* irisd had no room. */
void
irisd_guest_table_busy (IrisdGuestTable *self,
                        IrisdGuestItem *item,
                        guint64 retry_after_ms,
                        gint64 now)
{
  g_return_if_fail (item->state == IRISD_GUEST_RUNNING);

  pause_item (self, item, retry_after_ms, now);
}

/* The item has ended here, in whatever way; the owner has its end. */
void
irisd_guest_table_end (IrisdGuestTable *self, IrisdGuestItem *item, gint64 now)
{
  g_return_if_fail (!item->in_flight);

  publish (self, item);
}

/* The item has failed and may be tried again, by any node. */
void
irisd_guest_table_retry (IrisdGuestTable *self, IrisdGuestItem *item, guint64 delay_ms)
{
  give_back (self, item, delay_ms);
}

/* irisd ends, and does not have the item any more, or never had it. This delivery is no try. */
void
irisd_guest_table_leave (IrisdGuestTable *self, IrisdGuestItem *item)
{
  g_return_if_fail (!item->in_flight);

  leave (self, item);
}

/* irisd ends, and nothing is delivered any more. */
void
irisd_guest_table_close (IrisdGuestTable *self)
{
  g_autoptr (GPtrArray) items = irisd_guest_table_list (self);

  if (self->closed)
    return;
  self->closed = TRUE;
  for (guint i = 0; i < items->len; i++)
    {
      IrisdGuestItem *item = g_ptr_array_index (items, i);

      if (item->state == IRISD_GUEST_LEAVING)
        put_anew (self, item);
      else if (item->state == IRISD_GUEST_LOOKING || item->state == IRISD_GUEST_WAITING
               || item->state == IRISD_GUEST_FETCHING)
        leave (self, item);
    }
}

/* The stream of items has answered, or did not in time. */
void
irisd_guest_table_put_anew (IrisdGuestTable *self,
                            IrisdGuestItem *item,
                            IrisdGuestVerdict verdict,
                            gint64 now)
{
  g_return_if_fail (item->in_flight);

  item->in_flight = FALSE;
  if (item->state == IRISD_GUEST_DONE)
    {
      leave_queue (item);
      free_item (self, item);
    }
  else if (verdict == IRISD_GUEST_STORED)
    {
      self->funcs->hand_over (item, self->user_data);
      remove_item (self, item);
    }
  else if (verdict == IRISD_GUEST_LATER)
    enter_queue (item, &self->pausing, now + get_later_us (item));
  else
    give_back (self, item, 0);
}

/* Another node has the item by a later delivery. An answer to this one might count as one to that,
 * so there is none. */
void
irisd_guest_table_drop (IrisdGuestTable *self, IrisdGuestItem *item)
{
  remove_item (self, item);
}

/* The stream of ends has answered, or did not in time. */
void
irisd_guest_table_published (IrisdGuestTable *self,
                             IrisdGuestItem *item,
                             IrisdGuestVerdict verdict,
                             gint64 now)
{
  g_return_if_fail (item->in_flight);

  item->in_flight = FALSE;
  if (item->state == IRISD_GUEST_DONE)
    {
      leave_queue (item);
      free_item (self, item);
      return;
    }
  switch (verdict)
    {
    case IRISD_GUEST_STORED:
      self->funcs->tell (item, self->user_data);
      acknowledge (self, item);
      break;
    case IRISD_GUEST_OTHER_END:
      look (self, item, IRISD_GUEST_READING, now);
      break;
    case IRISD_GUEST_LATER:
      enter_queue (item, &self->pausing, now + get_later_us (item));
      break;
    case IRISD_GUEST_REFUSED:
      give_back (self, item, LATER_MOST_US / 1000);
      break;
    }
}

/* Its home has cancelled it, and has written its end. */
void
irisd_guest_table_cancel (IrisdGuestTable *self, IrisdGuestItem *item, gint64 now)
{
  if (item->state == IRISD_GUEST_RUNNING)
    {
      if (!item->cancelled)
        self->funcs->stop (item, self->user_data);
      item->cancelled = TRUE;
    }
  else if (item->state == IRISD_GUEST_WAITING || item->state == IRISD_GUEST_FETCHING)
    /* No one has begun it. Whether the home did write the end is looked up, not believed. */
    look (self, item, IRISD_GUEST_LOOKING, now);
}

/* Returns: (transfer container): the items that were delivered and are not answered. */
GPtrArray *
irisd_guest_table_list (const IrisdGuestTable *self)
{
  GPtrArray *items = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer item;

  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &item))
    g_ptr_array_add (items, item);
  return items;
}

/* The connection to irisd is gone, and with it what ran, or, if @at_end, the process ends. What is
 * under way to a stream may still be stored, so that is not given back before its time is over. */
void
irisd_guest_table_give_all_back (IrisdGuestTable *self, gboolean at_end)
{
  g_autoptr (GPtrArray) items = irisd_guest_table_list (self);

  for (guint i = 0; i < items->len; i++)
    {
      IrisdGuestItem *item = g_ptr_array_index (items, i);

      if (item->state == IRISD_GUEST_LEAVING
              ? at_end && !item->in_flight
              : item->state != IRISD_GUEST_ENDING && item->state != IRISD_GUEST_READING)
        give_back (self, item, 0);
    }
}

static void
tick_pausing (IrisdGuestTable *self, gint64 now, gint64 *next)
{
  for (GList *l = self->pausing.head; l != NULL;)
    {
      IrisdGuestItem *item = l->data;

      l = l->next;
      if (item->due > now)
        *next = MIN (*next, item->due);
      else if (item->state == IRISD_GUEST_WAITING)
        submit (self, item);
      else if (item->state == IRISD_GUEST_LEAVING)
        put_anew (self, item);
      else
        publish (self, item);
    }
}

/* Does what is due. Returns when it is to be called next, or G_MAXINT64. */
gint64
irisd_guest_table_tick (IrisdGuestTable *self, gint64 now)
{
  gint64 next = G_MAXINT64;
  IrisdGuestItem *item;

  while ((item = g_queue_peek_head (&self->renewals)) != NULL && item->renew_due <= now)
    {
      g_queue_unlink (&self->renewals, &item->renew_link);
      item->renew_due = now + self->rules.renew_us;
      g_queue_push_tail_link (&self->renewals, &item->renew_link);
      self->funcs->renew (item, self->user_data);
    }
  while ((item = g_queue_peek_head (&self->looking)) != NULL && item->due <= now)
    look (self, item, item->state, now);
  tick_pausing (self, now, &next);

  if ((item = g_queue_peek_head (&self->renewals)) != NULL)
    next = MIN (next, item->renew_due);
  if ((item = g_queue_peek_head (&self->looking)) != NULL)
    next = MIN (next, item->due);
  return next;
}

/* Items that were delivered and are not answered. */
guint
irisd_guest_table_get_size (const IrisdGuestTable *self)
{
  return g_hash_table_size (self->items);
}
