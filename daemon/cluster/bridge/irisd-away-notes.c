/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisd tells of items of this node that are to go to other nodes later: items that wait for
 * their time, and the next runs of schedules.
 */
#include "irisd-away-private.h"

#include "irisd-away-message.h"

#include "daemon/cluster/policy/irisd-item-route.h"

#include <string.h>

/* With these begin the keys of runs. */
#define SCHEDULE_KEY "schedule/"

/* An item that was edited, or accepted by an irisd of before, may have longer ones. */
static gboolean
check_names (const IrisWireMessage *submit, GError **error)
{
  if (submit->service.len + submit->hint_name.len <= IRISD_ITEM_MOST_NAMES)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "the names of its service and place have more than %d bytes; shorten them",
               IRISD_ITEM_MOST_NAMES);
  return FALSE;
}

/* Fills @message, and @submit with what is in it; they borrow from @lease. */
gboolean
irisd_away_read_lease (IrisdAway *self,
                       const IrisWireMessage *lease,
                       IrisdWorkMessage *message,
                       IrisWireMessage *submit,
                       GError **error)
{
  const IrisdBridgeShared *shared = self->shared;
  gint64 now_ms = g_get_real_time () / 1000;

  *message = (IrisdWorkMessage){
    .kind = IRISD_WORK_MESSAGE_ITEM,
    .type = IRIS_WIRE_SUBMIT,
    .owner = lease->for_owner,
    .made_ms = now_ms,
    .begin_ms = lease->deadline_ms > 0 ? now_ms + (gint64) MIN (lease->deadline_ms, G_MAXINT32) : 0,
    .tries = lease->retries,
    .home = { shared->node, strlen (shared->node) },
    .key_name = lease->key_name,
    .header = { (const guint8 *) lease->header.data, lease->header.len },
    .body = lease->body,
  };

  memcpy (message->item, lease->cluster_item, sizeof message->item);
  return irisd_work_message_open (message, submit, error) && check_names (submit, error);
}

/* What irisd would lease now, if it did. */
static void
fill_lease (const IrisdLaterNote *note, IrisWireMessage *lease)
{
  gsize size;
  const char *header = g_bytes_get_data (note->header, &size);

  iris_wire_message_init (lease, IRIS_WIRE_LEASE, NULL);
  iris_wire_message_set_cluster_item (lease, note->cluster_item);
  iris_wire_message_set_string (lease, IRIS_WIRE_KEY_HEADER, header, (gssize) size);
  iris_wire_message_set_uint (lease, IRIS_WIRE_KEY_FOR_OWNER, (guint64) note->owner);
  iris_wire_message_set_uint (lease, IRIS_WIRE_KEY_RETRIES, note->retries);
  if (note->key_name != NULL)
    iris_wire_message_set_string (lease, IRIS_WIRE_KEY_KEY_NAME, note->key_name, -1);
  if (note->deadline_ms > 0)
    iris_wire_message_set_uint (lease, IRIS_WIRE_KEY_DEADLINE_MS, note->deadline_ms);
  iris_wire_message_set_body (lease, zmq_msg_data ((zmq_msg_t *) &note->body),
                              zmq_msg_size ((zmq_msg_t *) &note->body));
}

/* An item that is too large for a message waits here alone: bodies are not stored for so long. */
static void
keep_copy (IrisdAway *self, const IrisdLaterNote *note)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage lease, submit;
  IrisdWorkMessage message;
  guint8 *bytes = NULL;
  gsize size;

  fill_lease (note, &lease);
  if (irisd_away_read_lease (self, &lease, &message, &submit, &error)
      && irisd_bridge_fits (self->shared, irisd_work_message_get_size (&message)))
    bytes = irisd_work_message_encode (&message, self->shared->secret, &size, &error);
  if (bytes != NULL)
    irisd_later_keep (self->later, note->cluster_item, irisd_away_make_subject (&submit), bytes,
                      size, note->due_ms);
}

/* Takes @note. */
void
irisd_away_take_note (IrisdAway *self, IrisdLaterNote *note)
{
  if (note->kind == IRISD_LATER_NOTE_KEEP)
    keep_copy (self, note);
  else if (note->kind == IRISD_LATER_NOTE_RECALL)
    irisd_later_recall (self->later, note->cluster_item);
  else
    irisd_later_drop (self->later, note->cluster_item);
  irisd_later_note_free (note);
}

/* --- schedules -------------------------------------------------------------------------------- */

/* Whether the item of @submit is a run of a schedule, of which the cluster may have a copy. The
 * schedule of one that was here before may be gone. */
gboolean
irisd_away_is_run (IrisdAway *self, const IrisdAwayRecord *data, const IrisWireMessage *submit)
{
  const gsize n = strlen (SCHEDULE_KEY);

  if (data->large)
    return FALSE;
  return irisd_chains_find (self->chains, data->item->item) != IRISD_CHAIN_OTHER
         || (data->before && submit->key.len > n
             && memcmp (submit->key.data, SCHEDULE_KEY, n) == 0);
}

/* The deadline of a run counts from when it begins, late as a copy may be. */
static gint64
get_deadline_ms (const IrisdLaterNote *run)
{
  return run->deadline_ms > 0
             ? (gint64) (run->due_ms + IRISD_LATER_GRACE_MS + MIN (run->deadline_ms, G_MAXINT32))
             : 0;
}

/* A run that is too large for a message waits here alone. */
static void
keep_next (IrisdAway *self, const IrisdChainNote *note)
{
  IrisWireMessage lease, submit;
  IrisdWorkMessage message;
  guint8 *bytes = NULL;
  gsize size;

  fill_lease (note->run, &lease);
  if (irisd_away_read_lease (self, &lease, &message, &submit, NULL))
    {
      message.chain = (IrisWireFrame){ g_bytes_get_data (note->packed, NULL),
                                       g_bytes_get_size (note->packed) };
      message.begin_ms = get_deadline_ms (note->run);
      if (irisd_bridge_fits (self->shared, irisd_work_message_get_size (&message)))
        bytes = irisd_work_message_encode (&message, self->shared->secret, &size, NULL);
    }
  if (bytes != NULL)
    irisd_chains_keep (self->chains, note, irisd_away_make_subject (&submit), bytes, size);
  else
    irisd_chains_drop (self->chains, note->chain);
}

/* Takes @note. */
void
irisd_away_take_chain (IrisdAway *self, IrisdChainNote *note)
{
  if (note->kind == IRISD_CHAIN_NOTE_ASK)
    {
      irisd_chains_ask (self->chains, note);
      return;
    }
  if (note->kind == IRISD_CHAIN_NOTE_KEEP)
    keep_next (self, note);
  else if (note->kind == IRISD_CHAIN_NOTE_DROP)
    irisd_chains_drop (self->chains, note->chain);
  else
    irisd_chains_drop_others (self->chains);
  irisd_chain_note_return (note);
}

/* The nodes are known. */
void
irisd_away_set_ready (IrisdAway *self)
{
  irisd_chains_set_ready (self->chains);
}
