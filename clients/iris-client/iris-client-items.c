/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a program can ask about items that irisd keeps, and change in them.
 *
 * irisd looks at a bounded number of items for one LIST, so an answer may hold none although others
 * follow; then the next one is asked for here. A caller sees an empty page only at the end.
 */
#include "iris-client-private.h"

#include <iris-client/answer/iris-client-answer-private.h>
#include <iris-client/base/iris-client-error-private.h>

/**
 * iris_client_fetch_async:
 * @item: the number of a persistent item, as [struct@IrisClient.Result] has it
 * @wait_ms: how long to wait for its end, in milliseconds; %G_MAXUINT64 for as long as it takes
 *
 * Asks how an item ended that irisd keeps: one of this user, or, for an operator, any. Another
 * user's does not exist for this one. irisd deletes a fetched item, unless it has a key;
 * [method@IrisClient.Client.show_async] waits without fetching.
 */
void
iris_client_fetch_async (IrisClient *self,
                         guint64 item,
                         guint64 wait_ms,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_FETCH,
                                      .done = iris_client_value_done,
                                      .read = iris_result_read,
                                      .destroy = (GDestroyNotify) iris_result_unref,
                                      .item = item,
                                      .wait_ms = wait_ms },
                   iris_client_fetch_async, cancellable, callback, user_data);
}

/**
 * iris_client_fetch_finish:
 *
 * Errors: those that the item ended with, %IRIS_CLIENT_ERROR_NO_SUCH_ITEM,
 * %IRIS_CLIENT_ERROR_PENDING if it has not ended in time, %IRIS_CLIENT_ERROR_NOT_DURABLE.
 *
 * Returns: (transfer full): what came of the item, or %NULL
 */
IrisResult *
iris_client_fetch_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_show_async:
 * @item: the number of a persistent item
 * @wait_ms: how long to wait for its end, in milliseconds; 0 to be told at once
 *
 * Asks what irisd knows about an item that it keeps.
 */
void
iris_client_show_async (IrisClient *self,
                        guint64 item,
                        guint64 wait_ms,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_SHOW,
                                      .done = iris_client_value_done,
                                      .read = iris_client_item_read,
                                      .destroy = (GDestroyNotify) iris_client_item_unref,
                                      .item = item,
                                      .wait_ms = wait_ms },
                   iris_client_show_async, cancellable, callback, user_data);
}

/**
 * iris_client_show_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_NOT_DURABLE.
 *
 * Returns: (transfer full): the item, or %NULL
 */
IrisClientItem *
iris_client_show_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_follow_async:
 * @item: the number of a persistent item
 * @offset: how much of its output is passed over
 * @output: (scope notified) (closure output_data) (destroy output_destroy): called for each part
 *   of the output, from the beginning, as it comes
 * @output_data: for that function
 * @output_destroy: frees that, when the call has ended
 *
 * Follows what a command writes, until it ends. Any number of programs may, each at its own speed;
 * the command waits for none. Cancelling ends the call and not the item.
 */
void
iris_client_follow_async (IrisClient *self,
                          guint64 item,
                          guint64 offset,
                          IrisClientOutputFunc output,
                          gpointer output_data,
                          GDestroyNotify output_destroy,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_FOLLOW,
                                      .done = iris_client_number_done,
                                      .item = item,
                                      .offset = offset,
                                      .output = output,
                                      .output_data = { output_data, output_destroy } },
                   iris_client_follow_async, cancellable, callback, user_data);
}

/**
 * iris_client_follow_finish:
 * @state: (out) (optional): how the item ended
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_NOT_DURABLE.
 *
 * Returns: whether the item was followed to its end
 */
gboolean
iris_client_follow_finish (IrisClient *self,
                           GAsyncResult *result,
                           IrisClientItemState *state,
                           GError **error)
{
  guint number = 0;
  gboolean well = iris_client_finish_number (self, result, &number, error);

  if (state != NULL)
    *state = (IrisClientItemState) number;
  return well;
}

static void list_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error);

/* Takes over the task. */
static void
ask_for_page (IrisClient *self, GTask *task, IrisClientQuery *query)
{
  IrisClientCall what = { .type = IRIS_WIRE_LIST,
                          .done = list_done,
                          .node = g_strdup (self->asked_node),
                          .query = iris_client_query_ref (query) };

  query->asked = TRUE;
  iris_client_take_call (self, iris_client_call_new (&what, self->settings.next_serial++, task),
                         g_task_get_cancellable (task));
}

static void
list_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);
  IrisClientQuery *query = call->query;
  g_autoptr (GPtrArray) items = NULL;
  g_autoptr (GError) local = NULL;

  query->asked = FALSE;
  if (error != NULL)
    {
      iris_client_return_error (task, call, error);
      return;
    }
  items = iris_client_items_read (answer, &local);
  if (items == NULL)
    {
      iris_client_return_unreadable (task, local);
      return;
    }
  query->ended = !iris_wire_message_has (answer, IRIS_WIRE_KEY_ITEM);
  if (!query->ended)
    query->position = answer->item;
  if (items->len == 0 && !query->ended)
    {
      IrisClient *self = g_task_get_source_object (task);

      ask_for_page (self, g_steal_pointer (&task), query);
    }
  else
    g_task_return_pointer (task, g_steal_pointer (&items), (GDestroyNotify) g_ptr_array_unref);
}

/**
 * iris_client_list_next_async:
 * @query: which items; it remembers how far the list has come, and must not be changed or used
 * again until this call has ended
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
    g_task_return_pointer (task, g_ptr_array_new (), (GDestroyNotify) g_ptr_array_unref);
  else
    ask_for_page (self, g_steal_pointer (&task), query);
}

/**
 * iris_client_list_next_finish:
 *
 * Returns: (transfer full) (element-type IrisClientItem): the items, in the order of their numbers;
 *   none at the end of the list; or %NULL
 */
GPtrArray *
iris_client_list_next_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_cancel_item_async:
 * @item: the number of an item, from 1
 * @cancellable: (nullable): to stop waiting for irisd's answer
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
  g_return_if_fail (item > 0);

  iris_client_ask (
      self,
      &(IrisClientCall){ .type = IRIS_WIRE_CANCEL, .done = iris_client_number_done, .item = item },
      iris_client_cancel_item_async, cancellable, callback, user_data);
}

/**
 * iris_client_cancel_item_finish:
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

/**
 * iris_client_kick_async:
 * @item: the number of a persistent item, or 0 for all in a state
 * @state: with @item 0, %IRIS_CLIENT_ITEM_BURIED or %IRIS_CLIENT_ITEM_DELAYED; else not looked at
 * @count: with @item 0, at most so many; 0 for as many as irisd changes at once
 *
 * Has buried items queued anew, with all their tries, or delayed ones at once. To kick all in a
 * state, ask again until nothing was changed. For irisd's owner.
 */
void
iris_client_kick_async (IrisClient *self,
                        guint64 item,
                        IrisClientItemState state,
                        guint count,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  g_return_if_fail (item != 0 || state == IRIS_CLIENT_ITEM_BURIED
                    || state == IRIS_CLIENT_ITEM_DELAYED);

  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_KICK,
                                      .done = iris_client_number_done,
                                      .item = item,
                                      .wanted = item == 0 ? state : 0,
                                      .count = item == 0 ? count : 0 },
                   iris_client_kick_async, cancellable, callback, user_data);
}

/**
 * iris_client_kick_finish:
 * @changed: (out) (optional): how many items were kicked; 0 if the item is queued already
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_BAD_ARGUMENT for an item that runs
 * or has ended, %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether it is as it was asked for
 */
gboolean
iris_client_kick_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error)
{
  return iris_client_finish_number (self, result, changed, error);
}

/**
 * iris_client_bury_async:
 * @item: the number of a persistent item that waits
 * @reason: (nullable): why, for a person
 *
 * Sets an item aside: it is kept as it is, and does not run until it is kicked. For irisd's owner.
 */
void
iris_client_bury_async (IrisClient *self,
                        guint64 item,
                        const char *reason,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_BURY,
                                      .done = iris_client_number_done,
                                      .item = item,
                                      .message = g_strdup (reason) },
                   iris_client_bury_async, cancellable, callback, user_data);
}

/**
 * iris_client_bury_finish:
 * @changed: (out) (optional): 1, or 0 if it was buried already
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_BAD_ARGUMENT for an item that runs
 * or has ended, %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether it is as it was asked for
 */
gboolean
iris_client_bury_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error)
{
  return iris_client_finish_number (self, result, changed, error);
}

/**
 * iris_client_suspend_async:
 * @item: the number of an item that waits, or of a command that runs
 * @reason: (nullable): why, for a person
 *
 * Has an item wait until it is resumed, or stops the processes of a command: its time limits do not
 * count meanwhile. A persistent item stays suspended when irisd is started again.
 */
void
iris_client_suspend_async (IrisClient *self,
                           guint64 item,
                           const char *reason,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_SUSPEND,
                                      .done = iris_client_number_done,
                                      .item = item,
                                      .message = g_strdup (reason) },
                   iris_client_suspend_async, cancellable, callback, user_data);
}

/**
 * iris_client_suspend_finish:
 * @changed: (out) (optional): 1, or 0 if it was suspended already
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_BAD_ARGUMENT for an item that has
 * ended or cannot be stopped, %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether it is as it was asked for
 */
gboolean
iris_client_suspend_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error)
{
  return iris_client_finish_number (self, result, changed, error);
}

/**
 * iris_client_resume_async:
 * @item: the number of a suspended item
 *
 * Lets a suspended item go on.
 */
void
iris_client_resume_async (IrisClient *self,
                          guint64 item,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  iris_client_ask (
      self,
      &(IrisClientCall){ .type = IRIS_WIRE_RESUME, .done = iris_client_number_done, .item = item },
      iris_client_resume_async, cancellable, callback, user_data);
}

/**
 * iris_client_resume_finish:
 * @changed: (out) (optional): 1, or 0 if it was not suspended
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_BAD_ARGUMENT for an item that has
 * ended, %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether it is as it was asked for
 */
gboolean
iris_client_resume_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error)
{
  return iris_client_finish_number (self, result, changed, error);
}

/**
 * iris_client_edit_async:
 * @item: the number of a persistent item that waits
 * @changes: what is to be different: arguments, place, time, priority, retries, limits of time,
 *   deadline, how long its end is kept, and whether it is buried when it fails
 *
 * Changes an item that waits. What was not set in @changes stays as it is, and so do the item's
 * service, payload and key, whatever @changes has. A delay and a deadline count from now; a delay
 * of 0 takes back delay and time of day.
 */
void
iris_client_edit_async (IrisClient *self,
                        guint64 item,
                        IrisRequest *changes,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  g_return_if_fail (changes != NULL);

  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_EDIT,
                                      .done = iris_client_number_done,
                                      .item = item,
                                      .place = -1,
                                      .request = iris_request_ref (changes) },
                   iris_client_edit_async, cancellable, callback, user_data);
}

/**
 * iris_client_edit_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_BAD_ARGUMENT for an item that runs,
 * has ended or is volatile, and for changes that do not fit it, %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether it is as it was asked for
 */
gboolean
iris_client_edit_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_number (self, result, NULL, error);
}

/**
 * iris_client_again_async:
 * @item: the number of a persistent item, which may have ended
 * @changes: (nullable): a delay or time, a priority and a key, if they are to be other ones
 *
 * Submits an item once more as it was submitted, as a new one that is detached and belongs to the
 * user who asks. It has no key unless @changes has one.
 */
void
iris_client_again_async (IrisClient *self,
                         guint64 item,
                         IrisRequest *changes,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  iris_client_ask (
      self,
      &(IrisClientCall){ .type = IRIS_WIRE_AGAIN,
                         .done = iris_client_number_done,
                         .item = item,
                         .place = -1,
                         .request = changes != NULL ? iris_request_ref (changes) : NULL },
      iris_client_again_async, cancellable, callback, user_data);
}

/**
 * iris_client_again_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_BAD_ARGUMENT for an item of which
 * irisd did not keep what was submitted, and all those of [method@Client.submit_finish].
 *
 * Returns: the number of the new item, or 0
 */
guint64
iris_client_again_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), 0);

  gssize number = g_task_propagate_int (G_TASK (result), error);

  return number > 0 ? (guint64) number : 0;
}

/**
 * iris_client_export_item_async:
 * @item: the number of a persistent item that has not ended
 *
 * Asks with what an item was submitted, payload and all: to look at one that is buried, or to
 * submit it elsewhere.
 */
void
iris_client_export_item_async (IrisClient *self,
                               guint64 item,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_SHOW,
                                      .done = iris_client_value_done,
                                      .read = iris_client_exported_item_read,
                                      .destroy = (GDestroyNotify) g_variant_unref,
                                      .item = item,
                                      .whole = TRUE },
                   iris_client_export_item_async, cancellable, callback, user_data);
}

/**
 * iris_client_export_item_finish:
 *
 * The dictionary (`a{sv}`) has the options with which the item was submitted, under the names that
 * the protocol has for it (`service`, `retries`, ...), and its `payload` as bytes. Strings that are
 * not UTF-8, and the elements of lists, are bytes too.
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_BAD_ARGUMENT if it has ended.
 *
 * Returns: (transfer full): a dictionary, or %NULL
 */
GVariant *
iris_client_export_item_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}
