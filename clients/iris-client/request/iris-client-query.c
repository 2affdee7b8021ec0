/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which of the items that irisd keeps are to be listed.
 */
#include "iris-client-query-private.h"

#include <iris-client/base/iris-client-counted-private.h>

/**
 * iris_client_query_new:
 *
 * Makes a query for all items, in the order of their numbers.
 *
 * Returns: (transfer full): a query
 */
IrisClientQuery *
iris_client_query_new (void)
{
  return g_atomic_rc_box_new0 (IrisClientQuery);
}

static void
iris_client_query_clear (IrisClientQuery *self)
{
  g_free (self->service);
  g_free (self->queue);
  g_free (self->key_prefix);
}

/**
 * iris_client_query_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_client_query_unref:
 * @self: (transfer full): a query
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisClientQuery, iris_client_query)

/**
 * iris_client_query_add_state:
 * @state: a state, not %IRIS_CLIENT_ITEM_ANY
 *
 * Asks for items in that state. With several calls, for items in one of these states.
 */
void
iris_client_query_add_state (IrisClientQuery *self, IrisClientItemState state)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (state > IRIS_CLIENT_ITEM_ANY && state < 32);

  self->states |= 1U << state;
}

/**
 * iris_client_query_set_service:
 * @service: (nullable): only items of that service
 *
 * Asks only for items of one service.
 */
void
iris_client_query_set_service (IrisClientQuery *self, const char *service)
{
  g_return_if_fail (self != NULL);

  g_free (self->service);
  self->service = g_strdup (service);
}

/**
 * iris_client_query_set_queue:
 * @queue: (nullable): only items that name that queue
 *
 * Asks only for items of one named queue. irisd knows it of an item that has ended until it is
 * started again.
 */
void
iris_client_query_set_queue (IrisClientQuery *self, const char *queue)
{
  g_return_if_fail (self != NULL);

  g_free (self->queue);
  self->queue = g_strdup (queue);
}

/**
 * iris_client_query_set_durability:
 * @durability: only items of that class; %IRIS_DURABILITY_VOLATILE for all that are kept
 *
 * Asks only for items of one class.
 */
void
iris_client_query_set_durability (IrisClientQuery *self, IrisDurability durability)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (durability <= IRIS_DURABILITY_DURABLE);

  self->durability = durability;
}

/**
 * iris_client_query_set_key_prefix:
 * @prefix: (type filename) (nullable): only items whose key begins so
 *
 * Asks only for items that have a key, and whose key begins so.
 */
void
iris_client_query_set_key_prefix (IrisClientQuery *self, const char *prefix)
{
  g_return_if_fail (self != NULL);

  g_free (self->key_prefix);
  self->key_prefix = g_strdup (prefix);
}

/**
 * iris_client_query_set_accepted:
 * @since_ms: only items that were accepted then or later, in Unix time in milliseconds; 0 for all
 * @until_ms: only items that were accepted before, the same; 0 for all
 *
 * Asks only for items that were accepted within a time.
 */
void
iris_client_query_set_accepted (IrisClientQuery *self, guint64 since_ms, guint64 until_ms)
{
  g_return_if_fail (self != NULL);

  self->since_ms = since_ms;
  self->until_ms = until_ms;
}

/**
 * iris_client_query_set_descending:
 * @descending: whether the greatest number comes first, which is that of the newest item
 *
 * Says from which end the items are listed.
 */
void
iris_client_query_set_descending (IrisClientQuery *self, gboolean descending)
{
  g_return_if_fail (self != NULL);

  self->descending = descending;
}

/**
 * iris_client_query_set_with_args:
 * @with_args: whether the arguments of the items are listed
 *
 * Asks for the arguments of items that have not ended. irisd reads each from its journal for that,
 * so a long list costs more; those of an item with a payload of more than 64 KiB are left out.
 */
void
iris_client_query_set_with_args (IrisClientQuery *self, gboolean with_args)
{
  g_return_if_fail (self != NULL);

  self->with_args = with_args;
}

/**
 * iris_client_query_set_position:
 * @self: a query for which no answer is under way
 * @item: the number of an item; the next page begins behind it. 0 for the beginning
 *
 * Says where the next page begins, for a list that goes on where an earlier one ended.
 */
void
iris_client_query_set_position (IrisClientQuery *self, guint64 item)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (!self->asked);

  self->position = item;
  self->ended = FALSE;
}

/**
 * iris_client_query_set_page_size:
 * @count: at most so many items at once; 0 for as many as irisd tells at once
 *
 * Says how many items one answer may have, which bounds the memory of a page.
 */
void
iris_client_query_set_page_size (IrisClientQuery *self, guint count)
{
  g_return_if_fail (self != NULL);

  self->count = count;
}

/* @message borrows from @self. */
void
iris_client_query_fill (const IrisClientQuery *self, IrisWireMessage *message)
{
  if (self->position > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ITEM, self->position);
  if (self->count > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_COUNT, self->count);
  if (self->states != 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_STATES, self->states);
  if (self->service != NULL)
    iris_wire_message_set_string (message, IRIS_WIRE_KEY_SERVICE, self->service, -1);
  if (self->queue != NULL)
    iris_wire_message_set_string (message, IRIS_WIRE_KEY_QUEUE, self->queue, -1);
  if (self->durability != IRIS_DURABILITY_VOLATILE)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_CLASS, self->durability);
  if (self->key_prefix != NULL)
    iris_wire_message_set_string (message, IRIS_WIRE_KEY_KEY_PREFIX, self->key_prefix, -1);
  if (self->since_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_SINCE_MS, self->since_ms);
  if (self->until_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_UNTIL_MS, self->until_ms);
  if (self->descending)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_DESCENDING, TRUE);
  if (self->with_args)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_PAYLOAD, TRUE);
}
