/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ends of items of this node that were away: read, with the results that are too large for a
 * message, and told to irisd.
 */
#include "irisd-away-private.h"
#include "irisd-stored-body.h"

#include "daemon/base/irisd-log.h"

#include <string.h>

/* How long an item waits here when there is no room for its body. */
#define PUT_OFF_MS 2000

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

/* Keys of an end that go into DONE, and into FAIL. */
#define RUN_KEYS \
  (K (PLACE) | K (WORKER) | K (QUEUE_NS) | K (RUN_NS) | K (BYTES) | K (EXIT_STATUS) | K (SIGNAL))
#define DONE_KEYS (RUN_KEYS | K (CONTENT_TYPE) | K (STDOUT_LENGTH) | K (TRUNCATED))
#define FAIL_KEYS (RUN_KEYS | K (CODE) | K (MESSAGE))

/* Something has changed, by which something may be due earlier. */
void
irisd_away_hurry (IrisdAway *self)
{
  irisd_bridge_timer_hurry (self->timer, g_get_monotonic_time () + G_USEC_PER_SEC / 20);
}

void
irisd_away_fail_lease (IrisdAway *self,
                       const guint8 *lease,
                       IrisWireError code,
                       const char *message)
{
  IrisWireMessage fail;

  iris_wire_message_init (&fail, IRIS_WIRE_FAIL, lease);
  iris_wire_message_set_string (&fail, IRIS_WIRE_KEY_MESSAGE, message, -1);
  iris_wire_message_set_uint (&fail, IRIS_WIRE_KEY_CODE, code);
  irisd_bridge_link_send (self->link, &fail);
}

/* irisd leases it again after a while. */
void
irisd_away_put_off_lease (IrisdAway *self, const guint8 *lease, const char *message)
{
  IrisWireMessage fail;

  iris_wire_message_init (&fail, IRIS_WIRE_FAIL, lease);
  iris_wire_message_set_string (&fail, IRIS_WIRE_KEY_MESSAGE, message, -1);
  iris_wire_message_set_boolean (&fail, IRIS_WIRE_KEY_AGAIN, TRUE);
  iris_wire_message_set_uint (&fail, IRIS_WIRE_KEY_RETRY_AFTER_MS, PUT_OFF_MS);
  irisd_bridge_link_send (self->link, &fail);
}

static void
answer (IrisdAway *self, const guint8 *lease, const IrisdWorkMessage *end, IrisWireMessage *message)
{
  gboolean well = message->type == IRIS_WIRE_RESULT;

  message->type = well ? IRIS_WIRE_DONE : IRIS_WIRE_FAIL;
  memcpy (message->request_id, lease, IRIS_WIRE_ID_SIZE);
  message->present &= well ? DONE_KEYS : FAIL_KEYS;
  if (!well)
    message->body = (IrisWireFrame){ 0 };
  if (end->node.len > 0)
    iris_wire_message_set_string (message, IRIS_WIRE_KEY_NODE, end->node.data,
                                  (gssize) end->node.len);
  if (end->tries > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ATTEMPTS, end->tries);
  irisd_bridge_link_send (self->link, message);
}

/* Reads an end of an item of this node. */
static gboolean
read_end (IrisdAway *self,
          gconstpointer data,
          gsize size,
          IrisdWorkMessage *end,
          IrisWireMessage *message,
          GError **error)
{
  if (!irisd_work_message_decode (end, data, size, self->shared->secret, error)
      || !irisd_work_message_open (end, message, error))
    return FALSE;
  if (end->kind == IRISD_WORK_MESSAGE_END && end->home.len == strlen (self->shared->node)
      && memcmp (end->home.data, self->shared->node, end->home.len) == 0)
    return TRUE;
  g_set_error_literal (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_FOREIGN,
                       "it is no end of an item of this node");
  return FALSE;
}

char *
irisd_away_get_body_owner (IrisdAway *self, const guint8 *item)
{
  const IrisWireString home = { self->shared->node, strlen (self->shared->node) };

  return irisd_stored_body_get_owner (&home, item);
}

/* The item has an end. What is stored of it goes when irisd has recorded that. */
static void
finish_item (IrisdAway *self, IrisdAwayItem *item, gboolean stored)
{
  const IrisdAwayRecord *data = item->data;

  if (item->leased && (stored || data->large))
    {
      g_autofree char *owner = irisd_away_get_body_owner (self, item->item);
      irisd_ended_bodies_add (self->ended, owner, data->number);
    }
  irisd_away_table_end (self->table, item, g_get_monotonic_time ());
}

/* An end cannot be told. The item cannot get another one. */
static void
fail_item (IrisdAway *self, IrisdAwayItem *item, IrisWireError code, const char *why)
{
  irisd_log (IRISD_LOG_WARNING, "%s", why);
  if (item->leased)
    irisd_away_fail_lease (self, item->lease, code, why);
  finish_item (self, item, TRUE);
}

static void
on_result (IrisdObjectStatus status, const char *why, GBytes *body, gpointer user_data)
{
  IrisdAwayRecord *data = user_data;
  IrisdAway *self = data->away;
  g_autofree guint8 *bytes = g_steal_pointer (&data->end);
  IrisdWorkMessage end;
  IrisWireMessage message;

  data->transfer = NULL;
  /* Without a lease it cannot be told, and if the servers do not answer it is looked for again. */
  if (!data->item->leased || data->item->state == IRISD_AWAY_CLAIMING
      || status == IRISD_OBJECT_LATER)
    return;
  if (status != IRISD_OBJECT_DONE || !read_end (self, bytes, data->end_size, &end, &message, NULL))
    {
      g_autofree char *text = g_strdup_printf ("the result of the item in the cluster cannot be "
                                               "read: %s",
                                               why != NULL ? why : "its end is damaged");
      fail_item (self, data->item, IRIS_WIRE_ERROR_INTERNAL, text);
      return;
    }
  iris_wire_message_set_body (&message, g_bytes_get_data (body, NULL), g_bytes_get_size (body));
  answer (self, data->item->lease, &end, &message);
  self->counts.n_ended++;
  finish_item (self, data->item, TRUE);
}

/* The result of @end, which was read from @bytes, is in the store of large bodies. */
static void
read_result (IrisdAway *self,
             IrisdAwayItem *item,
             const IrisdWorkMessage *end,
             gconstpointer bytes,
             gsize size)
{
  IrisdAwayRecord *data = item->data;
  const IrisdObjectReference *reference = &end->reference;

  if (!item->leased || data->transfer != NULL)
    return; /* its end is looked for again */
  if (reference->size > self->max_body)
    {
      g_autofree char *why = g_strdup_printf (
          "the result has %" G_GUINT64_FORMAT " bytes, and the home of the item takes "
          "%" G_GUINT64_FORMAT ": raise [limits] max-body, or have the service write less",
          reference->size, self->max_body);
      fail_item (self, item, IRIS_WIRE_ERROR_TOO_LARGE, why);
      return;
    }
  g_autofree char *owner = irisd_away_get_body_owner (self, item->item);
  data->end = g_memdup2 (bytes, size);
  data->end_size = size;
  data->transfer = irisd_object_store_get (self->shared->bodies, owner, reference, on_result, data);
}

static void
end_item (IrisdAway *self,
          IrisdAwayItem *item,
          const IrisdWorkMessage *end,
          IrisWireMessage *message,
          gconstpointer bytes,
          gsize size)
{
  if (item->state == IRISD_AWAY_CLAIMING)
    return; /* the claim will find it */
  if (end->stored)
    {
      read_result (self, item, end, bytes, size);
      return;
    }
  if (item->leased)
    answer (self, item->lease, end, message);
  self->counts.n_ended++;
  finish_item (self, item, FALSE);
}

/* An end is there that no node of this cluster has written. The item cannot get another one. */
static void
end_unreadable (IrisdAway *self, IrisdAwayItem *item, const GError *error)
{
  g_autofree char *why = g_strdup_printf ("the end of the item in the cluster cannot be read: %s",
                                          error->message);

  fail_item (self, item, IRIS_WIRE_ERROR_INTERNAL, why);
}

/* @end was found where that of @item is to be. */
static gboolean
is_end_of (const IrisdWorkMessage *end, const IrisdAwayItem *item, GError **error)
{
  if (memcmp (end->item, item->item, sizeof end->item) == 0)
    return TRUE;
  g_set_error_literal (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_FORGED,
                       "it is that of another item");
  return FALSE;
}

/* @message is the end of @item, which was looked for. */
void
irisd_away_take_found (IrisdAway *self, IrisdAwayItem *item, const IrisdEngineMessage *message)
{
  static IrisdLogSite site;
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage end;
  IrisWireMessage opened;

  if (item->state == IRISD_AWAY_CLAIMING)
    return; /* the claim will find it */
  self->counts.n_found++;
  if (read_end (self, message->data, message->length, &end, &opened, &error)
      && is_end_of (&end, item, &error))
    end_item (self, item, &end, &opened, message->data, message->length);
  else if (g_error_matches (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_NEWER))
    irisd_log_limited (
        &site, IRISD_LOG_WARNING,
        "an item of this node has ended at one with a later irisd, and its end waits "
        "for this one to be as late: %s",
        error->message);
  else
    end_unreadable (self, item, error);
}

/* A host of this or another node has stored an end. What cannot be read is ignored: the stream has
 * the end. */
void
irisd_away_take_end (IrisdAway *self, gconstpointer data, gsize size)
{
  IrisdWorkMessage end;
  IrisWireMessage message;

  if (self->stopped || !read_end (self, data, size, &end, &message, NULL))
    return;
  IrisdAwayItem *item = irisd_away_table_find (self->table, end.item);
  if (item != NULL)
    end_item (self, item, &end, &message, data, size);
}
