/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Named queues of irisd: making, changing, removing and listing them.
 */
#include "iris-client-private.h"

#include <iris-client/connection/iris-client-call-private.h>

/**
 * iris_client_set_queue_async:
 * @name: the name of a queue, of 1 to 64 bytes
 * @settings: (nullable): the keys of QUEUE in doc/protocol.md that are to be set, by their names,
 * an "a{sv}": "queue-limit" and "priority" ("u"), "suspended" ("b"); a floating reference is
 * consumed
 *
 * Makes a named queue, or changes the one of that name: what is left out stays. For operators.
 */
void
iris_client_set_queue_async (IrisClient *self,
                             const char *name,
                             GVariant *settings,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  g_return_if_fail (name != NULL);
  g_return_if_fail (settings == NULL || g_variant_is_of_type (settings, G_VARIANT_TYPE_VARDICT));

  iris_client_ask (
      self,
      &(IrisClientCall){ .type = IRIS_WIRE_QUEUE,
                         .done = iris_client_number_done,
                         .message = g_strdup (name),
                         .settings = g_variant_ref_sink (
                             settings != NULL ? settings : g_variant_new ("a{sv}", NULL)) },
      iris_client_set_queue_async, cancellable, callback, user_data);
}

/**
 * iris_client_set_queue_finish:
 * @changed: (out) (optional): whether anything had to be changed
 *
 * Errors: %IRIS_CLIENT_ERROR_BAD_ARGUMENT for a name that cannot be, too many queues, or a queue
 * that is to be removed and has items; %IRIS_CLIENT_ERROR_NOT_PERMITTED,
 * %IRIS_CLIENT_ERROR_JOURNAL_FAILED.
 *
 * Returns: whether it holds, and is on the disk if irisd has a journal
 */
gboolean
iris_client_set_queue_finish (IrisClient *self,
                              GAsyncResult *result,
                              gboolean *changed,
                              GError **error)
{
  guint count = 0;
  gboolean ok = iris_client_finish_number (self, result, &count, error);

  if (changed != NULL)
    *changed = count > 0;
  return ok;
}

/**
 * iris_client_remove_queue_async:
 * @name: the name of a queue
 *
 * Removes a named queue that has no items. For operators.
 */
void
iris_client_remove_queue_async (IrisClient *self,
                                const char *name,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  GVariantDict settings;

  g_variant_dict_init (&settings, NULL);
  g_variant_dict_insert (&settings, "remove", "b", TRUE);
  iris_client_set_queue_async (self, name, g_variant_dict_end (&settings), cancellable, callback,
                               user_data);
}

/**
 * iris_client_remove_queue_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM if there is no such queue,
 * %IRIS_CLIENT_ERROR_BAD_ARGUMENT if it has items.
 *
 * Returns: whether it is removed
 */
gboolean
iris_client_remove_queue_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_number (self, result, NULL, error);
}

/**
 * iris_client_get_queues_async:
 *
 * Asks for the named queues.
 */
void
iris_client_get_queues_async (IrisClient *self,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_QUEUES,
                                      .done = iris_client_value_done,
                                      .read = iris_client_queues_read,
                                      .destroy = (GDestroyNotify) g_variant_unref },
                   iris_client_get_queues_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_queues_finish:
 *
 * The queues in the order of their names, by the names that doc/protocol.md gives to the parts of
 * QUEUES_REPLY: an array of dictionaries, "aa{sv}".
 *
 * Returns: (transfer full): the queues, or %NULL
 */
GVariant *
iris_client_get_queues_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}
