/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work items that irisd keeps: which there are, and cancelling them by their numbers.
 *
 * irisd looks at a bounded number of items for one LIST, so an answer may hold none although others
 * follow; then the next one is asked for here. A caller sees an empty page only at the end.
 */
#include "iris-client-private.h"
#include "iris-client-error-private.h"
#include "iris-client-item-private.h"

static void list_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error);

/* Takes over the task. */
static void
ask (IrisClient *self, GTask *task, IrisClientQuery *query)
{
  IrisClientCall *call = iris_client_call_new (IRIS_WIRE_LIST, self->settings.next_serial++,
                                               list_done, task);

  call->query = iris_client_query_ref (query);
  query->asked = TRUE;
  iris_client_take_call (self, call, g_task_get_cancellable (task));
}

static void
return_page (GTask *task, const IrisWirePersistentList *persistent)
{
  guint n = persistent != NULL ? persistent->n_items : 0;
  GPtrArray *list = g_ptr_array_new_full (n, (GDestroyNotify) iris_client_item_unref);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (list, iris_client_item_new_from_wire (&persistent->items[i]));
  g_task_return_pointer (task, list, (GDestroyNotify) g_ptr_array_unref);
}

static void
list_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);
  IrisClientQuery *query = call->query;
  g_autoptr (IrisWirePersistentList) persistent = NULL;
  g_autoptr (GError) local = NULL;

  query->asked = FALSE;
  if (error != NULL)
    {
      iris_client_return_error (task, call, error);
      return;
    }
  persistent = iris_wire_persistent_list_decode (answer->body, NULL, &local);
  if (persistent == NULL)
    {
      iris_client_return_unreadable (task, local);
      return;
    }
  query->ended = !iris_wire_message_has (answer, IRIS_WIRE_KEY_ITEM);
  if (!query->ended)
    query->position = answer->item;
  if (persistent->n_items == 0 && !query->ended)
    {
      IrisClient *self = g_task_get_source_object (task);

      ask (self, g_steal_pointer (&task), query);
    }
  else
    return_page (task, persistent);
}

/**
 * iris_client_list_next_async:
 * @query: which items; it remembers how far the list has come, and must not be changed or used
 * again until this call has ended
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Asks for the next page of a list. Items that come and go meanwhile may be in it or not; none
 * comes twice.
 */
void
iris_client_list_next_async (IrisClient *self,
                             IrisClientQuery *query,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (query != NULL && !query->asked);
  g_return_if_fail (iris_client_in_context (self));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, iris_client_list_next_async);
  g_task_set_check_cancellable (task, FALSE);
  if (query->ended)
    return_page (task, NULL);
  else
    ask (self, g_steal_pointer (&task), query);
}

/**
 * iris_client_list_next_finish:
 * @result: what the callback was given
 *
 * Returns: (transfer full) (element-type IrisClientItem): the items, in the order of their numbers;
 *   none at the end of the list; or %NULL
 */
GPtrArray *
iris_client_list_next_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
cancel_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else
    g_task_return_int (task, (gssize) answer->state);
}

/**
 * iris_client_cancel_item_async:
 * @item: the number of an item, from 1
 * @cancellable: (nullable): to stop waiting for irisd's answer
 * @callback: called when done
 * @user_data: for @callback
 *
 * Asks irisd to cancel an item by its number, of this client or of another: one that waits does not
 * run, one that runs is asked to stop.
 */
void
iris_client_cancel_item_async (IrisClient *self,
                               guint64 item,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (item > 0);
  g_return_if_fail (iris_client_in_context (self));

  call = iris_client_begin_call (self, IRIS_WIRE_CANCEL, cancel_done, iris_client_cancel_item_async,
                                 cancellable, callback, user_data);
  call->item = item;
  iris_client_take_call (self, call, cancellable);
}

/**
 * iris_client_cancel_item_finish:
 * @result: what the callback was given
 * @was_running: (out) (optional): whether the item was running and was asked to stop; otherwise it
 *   was still queued and will not run
 *
 * Errors: %IRIS_CLIENT_ERROR_NOT_FOUND if no such item is under way,
 * %IRIS_CLIENT_ERROR_NOT_PERMITTED if it is another user's and this user is no operator of irisd.
 *
 * Returns: whether irisd found the item
 */
gboolean
iris_client_cancel_item_finish (IrisClient *self,
                                GAsyncResult *result,
                                gboolean *was_running,
                                GError **error)
{
  return iris_client_cancel_finish (self, result, was_running, error);
}
