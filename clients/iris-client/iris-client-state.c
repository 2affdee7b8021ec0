/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a program can ask its client itself, and take back from it.
 */
#include "iris-client-private.h"
#include "iris-client-place-private.h"

/**
 * iris_client_is_connected:
 *
 * Tells whether the client is connected at this moment.
 *
 * Returns: whether irisd has told its places, and was not lost since
 */
gboolean
iris_client_is_connected (IrisClient *self)
{
  g_return_val_if_fail (IRIS_IS_CLIENT (self), FALSE);

  return self->places != NULL;
}

/**
 * iris_client_get_endpoint:
 *
 * Gets the endpoint to which the client connects.
 *
 * Returns: (transfer none) (nullable): the endpoint of irisd's front door, or %NULL if no directory
 *   was given and the environment names none
 */
const char *
iris_client_get_endpoint (IrisClient *self)
{
  g_return_val_if_fail (IRIS_IS_CLIENT (self), NULL);

  return self->endpoint;
}

/**
 * iris_client_get_places:
 *
 * Gets the places of the machine, as irisd told them when the client was connected.
 *
 * Returns: (transfer container) (element-type IrisClientPlace) (nullable): the places of the
 * machine, or %NULL if the client is not connected
 */
GPtrArray *
iris_client_get_places (IrisClient *self)
{
  g_return_val_if_fail (IRIS_IS_CLIENT (self), NULL);

  return self->places != NULL ? iris_client_places_copy (self->places) : NULL;
}

/**
 * iris_client_get_busy_reason:
 *
 * Tells what irisd has no room for, while it refuses what the client sends.
 *
 * Returns: (transfer none) (nullable): a sentence with the limit and its value; %NULL if irisd
 * takes what is sent
 */
const char *
iris_client_get_busy_reason (IrisClient *self)
{
  GHashTableIter iter;
  gpointer channel;

  g_return_val_if_fail (IRIS_IS_CLIENT (self), NULL);

  if (self->front != NULL && self->front->busy_reason != NULL)
    return self->front->busy_reason;
  g_hash_table_iter_init (&iter, self->channels);
  while (g_hash_table_iter_next (&iter, NULL, &channel))
    if (((IrisClientChannel *) channel)->busy_reason != NULL)
      return ((IrisClientChannel *) channel)->busy_reason;
  return NULL;
}

static void
take_items (GQueue *from, GPtrArray *to)
{
  for (GList *link = from->head, *next; link != NULL; link = next)
    {
      IrisClientCall *call = link->data;

      next = link->next;
      if (call->type != IRIS_WIRE_SUBMIT)
        continue;
      g_queue_unlink (from, link);
      g_ptr_array_add (to, call);
    }
}

/**
 * iris_client_withdraw_unsent:
 *
 * Ends all items that irisd does not have, because they wait for credit or for room, with
 * %G_IO_ERROR_CANCELLED. Those that were sent and not refused go on, so that a program that is
 * interrupted can wait for them to be accepted and need not wait for room.
 *
 * Returns: how many items were withdrawn
 */
guint
iris_client_withdraw_unsent (IrisClient *self)
{
  g_autoptr (GPtrArray) calls = g_ptr_array_new ();
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                  "the item was withdrawn before irisd took it");
  GHashTableIter iter;
  gpointer channel;

  g_return_val_if_fail (IRIS_IS_CLIENT (self), 0);

  take_items (&self->unrouted, calls);
  if (self->front != NULL)
    take_items (&self->front->waiting, calls);
  g_hash_table_iter_init (&iter, self->channels);
  while (g_hash_table_iter_next (&iter, NULL, &channel))
    take_items (&((IrisClientChannel *) channel)->waiting, calls);
  for (guint i = 0; i < calls->len; i++)
    {
      IrisClientCall *call = g_ptr_array_index (calls, i);

      call->channel = NULL;
      iris_client_call_finish (call, NULL, error);
    }
  return calls->len;
}
