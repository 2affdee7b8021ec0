/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stored bodies of items that have ended; see irisd-ended-bodies.h.
 *
 * What is forgotten, because the connection to irisd is gone, ends by its age.
 */
#include "irisd-ended-bodies.h"

#include "irisd-stored-body.h"

#include <string.h>

/* How long irisd waits for the end of the item before it answers without. */
#define WAIT_MS 30000

/* Questions at once: fewer than irisd takes of a client. */
#define MOST_ASKED 4

struct _IrisdEndedBodies
{
  const IrisdBridgeShared *shared;
  IrisdBridgeLink *link;
  GHashTable *asked; /* Asked, by its id */
  GQueue waiting;    /* Asked */
};

typedef struct
{
  guint8 id[IRIS_WIRE_ID_SIZE]; /* of the SHOW; first */
  char *owner;
  guint64 item;
} Asked;

static guint
id_hash (gconstpointer id)
{
  guint64 words[2];

  memcpy (words, id, sizeof words);
  return (guint) (words[0] ^ words[0] >> 32 ^ words[1]);
}

static gboolean
id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

static void
asked_free (gpointer data)
{
  Asked *asked = data;

  g_free (asked->owner);
  g_free (asked);
}

IrisdEndedBodies *
irisd_ended_bodies_new (const IrisdBridgeShared *shared, IrisdBridgeLink *link)
{
  IrisdEndedBodies *self = g_new0 (IrisdEndedBodies, 1);

  self->shared = shared;
  self->link = link;
  self->asked = g_hash_table_new_full (id_hash, id_equal, NULL, asked_free);
  return self;
}

void
irisd_ended_bodies_free (IrisdEndedBodies *self)
{
  irisd_ended_bodies_forget (self);
  g_hash_table_unref (self->asked);
  g_free (self);
}

static GList *
waiting_new (const char *owner, guint64 item)
{
  Asked *asked = g_new0 (Asked, 1);

  asked->owner = g_strdup (owner);
  asked->item = item;
  return g_list_append (NULL, asked);
}

static void
ask (IrisdEndedBodies *self)
{
  IrisWireMessage show;

  while (self->waiting.length > 0 && g_hash_table_size (self->asked) < MOST_ASKED)
    {
      Asked *asked = self->waiting.head->data;

      iris_wire_message_init (&show, IRIS_WIRE_SHOW, NULL);
      irisd_bridge_link_new_id (self->link, show.request_id);
      iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_ITEM, asked->item);
      iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_WAIT_MS, WAIT_MS);
      if (!irisd_bridge_link_send (self->link, &show))
        return;
      g_queue_pop_head (&self->waiting);
      memcpy (asked->id, show.request_id, sizeof asked->id);
      g_hash_table_insert (self->asked, asked->id, asked);
    }
}

/* An end of @item, which owns what is stored for @owner, was sent to irisd. A @item without a
 * number is lost with irisd anyway. */
void
irisd_ended_bodies_add (IrisdEndedBodies *self, const char *owner, guint64 item)
{
  if (item == 0)
    {
      irisd_stored_body_remove_all (self->shared, owner);
      return;
    }
  g_queue_push_tail_link (&self->waiting, waiting_new (owner, item));
  ask (self);
}

/* Whether the SHOW_REPLY says that the item will not be leased again as it was. */
static gboolean
is_over (const IrisWireMessage *reply)
{
  g_autoptr (IrisWirePersistentList)
      list = iris_wire_persistent_list_decode (reply->body, NULL, NULL);

  if (list == NULL || list->n_items == 0)
    return FALSE;
  switch (list->items[0].state)
    {
    case IRIS_WIRE_STATE_DONE:
    case IRIS_WIRE_STATE_FAILED:
    case IRIS_WIRE_STATE_CANCELLED:
    case IRIS_WIRE_STATE_BURIED:
      return TRUE;
    default:
      return FALSE;
    }
}

/* Whether there is nothing by which the item could be leased again: it was volatile, or its client
 * has acknowledged the end. Any other error says nothing about the end. */
static gboolean
is_gone (const IrisWireMessage *error)
{
  return error->code == IRIS_WIRE_ERROR_NO_SUCH_ITEM || error->code == IRIS_WIRE_ERROR_NOT_DURABLE;
}

/* @answer is a SHOW_REPLY, ERROR or BUSY of irisd. Returns whether it was for this. */
gboolean
irisd_ended_bodies_take (IrisdEndedBodies *self, const IrisWireMessage *answer)
{
  const Asked *asked = g_hash_table_lookup (self->asked, answer->request_id);

  if (asked == NULL)
    return FALSE;
  if (answer->type == IRIS_WIRE_ERROR_REPLY
          ? is_gone (answer)
          : answer->type == IRIS_WIRE_SHOW_REPLY && is_over (answer))
    irisd_stored_body_remove_all (self->shared, asked->owner);
  else if (answer->type != IRIS_WIRE_ERROR_REPLY)
    g_queue_push_tail_link (&self->waiting, waiting_new (asked->owner, asked->item));
  g_hash_table_remove (self->asked, answer->request_id);
  ask (self);
  return TRUE;
}

/* No answer comes any more. */
void
irisd_ended_bodies_forget (IrisdEndedBodies *self)
{
  g_hash_table_remove_all (self->asked);
  g_queue_clear_full (&self->waiting, asked_free);
}
