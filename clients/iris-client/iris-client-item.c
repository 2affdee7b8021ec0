/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work items that irisd keeps: how they ended, where they are.
 */
#include "iris-client-private.h"
#include "iris-client-error-private.h"
#include "iris-client-item-private.h"
#include "iris-result-private.h"

G_DEFINE_BOXED_TYPE (IrisClientItem, iris_client_item, iris_client_item_ref, iris_client_item_unref)

/**
 * iris_client_item_ref:
 *
 * Adds a reference. Safe from any thread.
 *
 * Returns: (transfer full): @self
 */
IrisClientItem *
iris_client_item_ref (IrisClientItem *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

static void
iris_client_item_clear (gpointer data)
{
  IrisClientItem *self = data;

  g_free (self->state_name);
  g_free (self->durability);
  g_free (self->service);
  g_free (self->key);
  g_free (self->error_name);
  g_free (self->message);
  g_strfreev (self->args);
}

/**
 * iris_client_item_unref:
 * @self: (transfer full): an item
 *
 * Drops a reference. Safe from any thread.
 */
void
iris_client_item_unref (IrisClientItem *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release_full (self, iris_client_item_clear);
}

IrisClientItem *
iris_client_item_new_from_wire (const IrisWirePersistentItem *item)
{
  IrisClientItem *self = g_atomic_rc_box_new0 (IrisClientItem);

  self->number = item->item;
  self->state = item->state;
  self->state_name = g_strdup (iris_wire_state_name (item->state));
  self->durability = g_strdup (iris_wire_class_name (item->klass));
  self->service = g_strdup (item->service);
  self->key = g_strdup (item->key);
  self->attempts = item->attempts;
  self->bytes = item->bytes;
  self->accepted_ms = item->accepted_ms;
  self->ended_ms = item->ended_ms;
  self->expires_ms = item->expires_ms;
  self->error_name = g_strdup (item->code != 0 ? iris_wire_error_name (item->code) : "");
  self->message = g_strdup (item->message);
  self->owner = item->owner;
  self->due_ms = item->due_ms;
  self->started_ms = item->started_ms;
  self->place = item->place <= G_MAXINT ? (int) item->place : -1;
  self->crashes = item->crashes;
  self->args = item->args != NULL ? g_strdupv (item->args) : g_new0 (char *, 1);
  return self;
}

static void
fetch_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else
    g_task_return_pointer (task, iris_result_new_from_wire (answer),
                           (GDestroyNotify) iris_result_unref);
}

static void
show_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);
  g_autoptr (IrisWirePersistentList) persistent = NULL;
  g_autoptr (GError) local = NULL;

  if (error == NULL)
    persistent = iris_wire_persistent_list_decode (answer->body, NULL, &local);
  if (persistent != NULL && persistent->n_items != 1)
    g_set_error_literal (&local, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_MALFORMED,
                         "it does not hold one item");
  if (error != NULL)
    iris_client_return_error (task, call, error);
  else if (local != NULL)
    iris_client_return_unreadable (task, local);
  else
    g_task_return_pointer (task, iris_client_item_new_from_wire (&persistent->items[0]),
                           (GDestroyNotify) iris_client_item_unref);
}

/**
 * iris_client_fetch_async:
 * @item: the number of a persistent item, as [struct@IrisClient.Result] has it
 * @wait_ms: how long to wait for its end, in milliseconds; %G_MAXUINT64 for as long as it takes
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
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
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));

  call = iris_client_begin_call (self, IRIS_WIRE_FETCH, fetch_done, iris_client_fetch_async,
                                 cancellable, callback, user_data);
  call->item = item;
  call->wait_ms = wait_ms;
  iris_client_take_call (self, call, cancellable);
}

/**
 * iris_client_fetch_finish:
 * @result: what the callback was given
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
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
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
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));

  call = iris_client_begin_call (self, IRIS_WIRE_SHOW, show_done, iris_client_show_async,
                                 cancellable, callback, user_data);
  call->item = item;
  call->wait_ms = wait_ms;
  iris_client_take_call (self, call, cancellable);
}

/**
 * iris_client_show_finish:
 * @result: what the callback was given
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
