/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of irisd's cluster: listing, draining and removing them, and the cluster's streams.
 */
#include "iris-client-private.h"

#include <iris-client/connection/iris-client-call-private.h>

/**
 * iris_client_get_nodes_async:
 *
 * Asks for the nodes of the cluster, as this irisd sees them.
 */
void
iris_client_get_nodes_async (IrisClient *self,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_NODES,
                                      .done = iris_client_value_done,
                                      .read = iris_client_nodes_read,
                                      .destroy = (GDestroyNotify) g_variant_unref },
                   iris_client_get_nodes_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_nodes_finish:
 *
 * The nodes in the order of their names, and what this irisd is among them, by the names that
 * doc/protocol.md gives to the parts of NODES_REPLY: a dictionary, "a{sv}", whose "nodes" is an
 * array of dictionaries. Its "state" is 0 if irisd is configured for no cluster.
 *
 * Returns: (transfer full): the nodes, or %NULL
 */
GVariant *
iris_client_get_nodes_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_drain_node_async:
 * @node: the name of a node
 * @drained: whether it takes no more items of others; %FALSE: it takes some again
 *
 * Drains a node of the cluster, or lets it take items again. It stays so when its irisd is started
 * again. For operators.
 */
void
iris_client_drain_node_async (IrisClient *self,
                              const char *node,
                              gboolean drained,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  g_return_if_fail (node != NULL);

  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_NODE,
                                      .done = iris_client_number_done,
                                      .message = g_strdup (node),
                                      .drained = drained },
                   iris_client_drain_node_async, cancellable, callback, user_data);
}

/**
 * iris_client_drain_node_finish:
 * @changed: (out) (optional): whether anything had to be changed
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_CLUSTER, %IRIS_CLIENT_ERROR_NO_SUCH_NODE,
 * %IRIS_CLIENT_ERROR_NOT_PERMITTED, and %IRIS_CLIENT_ERROR_BUSY while irisd is not in the cluster.
 *
 * Returns: whether the cluster knows it
 */
gboolean
iris_client_drain_node_finish (IrisClient *self,
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
 * iris_client_remove_node_async:
 * @node: the name of a node that is gone
 *
 * Removes a node of the cluster that does not come back. For operators.
 */
void
iris_client_remove_node_async (IrisClient *self,
                               const char *node,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  g_return_if_fail (node != NULL);

  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_NODE,
                                      .done = iris_client_number_done,
                                      .message = g_strdup (node),
                                      .removes = TRUE },
                   iris_client_remove_node_async, cancellable, callback, user_data);
}

/**
 * iris_client_remove_node_finish:
 * @changed: (out) (optional): whether it was not removed before
 *
 * Errors: as of iris_client_drain_node_finish(), and %IRIS_CLIENT_ERROR_BAD_ARGUMENT for a node
 * that is here.
 *
 * Returns: whether the cluster knows it
 */
gboolean
iris_client_remove_node_finish (IrisClient *self,
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
 * iris_client_check_cluster_async:
 * @make: whether what is missing is made
 *
 * Has irisd compare the streams and consumers of its cluster with what they ought to be. Nothing
 * that is there is changed. For operators.
 */
void
iris_client_check_cluster_async (IrisClient *self,
                                 gboolean make,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  iris_client_ask (
      self,
      &(IrisClientCall){ .type = make ? IRIS_WIRE_CLUSTER_INIT : IRIS_WIRE_CLUSTER_CHECK,
                         .done = iris_client_value_done,
                         .read = iris_client_message_read,
                         .destroy = g_free },
      iris_client_check_cluster_async, cancellable, callback, user_data);
}

/**
 * iris_client_check_cluster_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_CLUSTER, %IRIS_CLIENT_ERROR_NOT_PERMITTED, and
 * %IRIS_CLIENT_ERROR_BUSY if the servers cannot be asked.
 *
 * Returns: (transfer full): lines, each with one of "made ", "fault: ", "notice: ", "server: " and
 *   "promise: " in front; %NULL on error
 */
char *
iris_client_check_cluster_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}
