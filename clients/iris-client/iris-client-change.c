/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a program can change: items that wait or are buried, and places.
 *
 * All of it is for irisd's owner.
 */
#include "iris-client-private.h"

static void
change_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else
    g_task_return_int (task, (gssize) answer->count);
}

static gboolean
finish_change (IrisClient *self, GAsyncResult *result, guint *changed, GError **error)
{
  g_autoptr (GError) local = NULL;
  gssize count;

  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  count = g_task_propagate_int (G_TASK (result), &local);
  if (changed != NULL)
    *changed = local == NULL ? (guint) count : 0;
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

/**
 * iris_client_kick_async:
 * @item: the number of a persistent item, or 0 for all in a state
 * @state: with @item 0, %IRIS_CLIENT_ITEM_BURIED or %IRIS_CLIENT_ITEM_DELAYED; else not looked at
 * @count: with @item 0, at most so many; 0 for as many as irisd changes at once
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Has buried items queued anew, with all their tries, or delayed ones at once. To kick all in a
 * state, ask again until nothing was changed.
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
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));
  g_return_if_fail (item != 0 || state == IRIS_CLIENT_ITEM_BURIED
                    || state == IRIS_CLIENT_ITEM_DELAYED);

  call = iris_client_begin_call (self, IRIS_WIRE_KICK, change_done, iris_client_kick_async,
                                 cancellable, callback, user_data);
  call->item = item;
  call->wanted = item == 0 ? state : 0;
  call->count = item == 0 ? count : 0;
  iris_client_take_call (self, call, cancellable);
}

/**
 * iris_client_kick_finish:
 * @result: what the callback was given
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
  return finish_change (self, result, changed, error);
}

/**
 * iris_client_bury_async:
 * @item: the number of a persistent item that waits
 * @reason: (nullable): why, for a person
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Sets an item aside: it is kept as it is, and does not run until it is kicked.
 */
void
iris_client_bury_async (IrisClient *self,
                        guint64 item,
                        const char *reason,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));

  call = iris_client_begin_call (self, IRIS_WIRE_BURY, change_done, iris_client_bury_async,
                                 cancellable, callback, user_data);
  call->item = item;
  call->message = g_strdup (reason);
  iris_client_take_call (self, call, cancellable);
}

/**
 * iris_client_bury_finish:
 * @result: what the callback was given
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
  return finish_change (self, result, changed, error);
}

/**
 * iris_client_drain_async:
 * @place: the id of a place
 * @drained: whether it is to take no items, or to take some again
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Has a place end what it has and take no more, until it is resumed or irisd is started again.
 */
void
iris_client_drain_async (IrisClient *self,
                         int place,
                         gboolean drained,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));
  g_return_if_fail (place >= 0);

  call = iris_client_begin_call (self, IRIS_WIRE_DRAIN, change_done, iris_client_drain_async,
                                 cancellable, callback, user_data);
  call->changed_place = place;
  call->drained = !!drained;
  iris_client_take_call (self, call, cancellable);
}

/**
 * iris_client_drain_finish:
 * @result: what the callback was given
 * @changed: (out) (optional): 1, or 0 if that was so already
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_PLACE, %IRIS_CLIENT_ERROR_BAD_ARGUMENT if no other place takes
 * items or the scheduler knows no places, %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether it is as it was asked for
 */
gboolean
iris_client_drain_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error)
{
  return finish_change (self, result, changed, error);
}

/**
 * iris_client_set_workers_async:
 * @place: the id of a place
 * @workers: how many of its workers are to take part, from 1
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Changes how many workers of a place take part, until irisd is started again.
 */
void
iris_client_set_workers_async (IrisClient *self,
                               int place,
                               guint workers,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));
  g_return_if_fail (place >= 0 && workers > 0);

  call = iris_client_begin_call (self, IRIS_WIRE_SET_WORKERS, change_done,
                                 iris_client_set_workers_async, cancellable, callback, user_data);
  call->changed_place = place;
  call->count = workers;
  iris_client_take_call (self, call, cancellable);
}

/**
 * iris_client_set_workers_finish:
 * @result: what the callback was given
 * @changed: (out) (optional): 1, or 0 if it were so many already
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_PLACE, %IRIS_CLIENT_ERROR_TOO_LARGE for more workers than the
 * place has, %IRIS_CLIENT_ERROR_BAD_ARGUMENT if the scheduler knows no places,
 * %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether it is as it was asked for
 */
gboolean
iris_client_set_workers_finish (IrisClient *self,
                                GAsyncResult *result,
                                guint *changed,
                                GError **error)
{
  return finish_change (self, result, changed, error);
}
