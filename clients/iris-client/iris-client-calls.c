/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a program can ask of irisd, and change in it: each call as a pair of functions.
 *
 * A call is a GTask whose source object is the client, so the client lives while anything is under
 * way. iris_client_ask() makes one from what it says, and it ends by a value that is read from the
 * answer or by a number; the pairs themselves are only their documentation. The task's own look at
 * its GCancellable is switched off: an item that finished although it was being cancelled gives its
 * result.
 */
#include "iris-client-private.h"

#include <iris-client/answer/iris-client-answer-private.h>
#include <iris-client/base/iris-client-error-private.h>
#include <iris-client/request/iris-request-private.h>

/* Whether the caller is where the client belongs. */
gboolean
iris_client_in_context (IrisClient *self)
{
  GMainContext *here = g_main_context_get_thread_default ();

  return self->settings.context == (here != NULL ? here : g_main_context_default ());
}

/* The task behind @call, which is over now. */
GTask *
iris_client_call_take_task (IrisClientCall *call)
{
  GTask *task = call->owner;
  IrisClient *self = g_task_get_source_object (task);

  iris_client_watches_remove (self->watches, call);
  if (call->type == IRIS_WIRE_SUBMIT)
    self->outstanding--;
  return task;
}

void
iris_client_return_error (GTask *task, IrisClientCall *call, const GError *error)
{
  /* A cancelled GCancellable gives GIO's own error. */
  if (call->cancelled && error->domain == IRIS_CLIENT_ERROR
      && (error->code == IRIS_CLIENT_ERROR_CANCELLED || error->code == IRIS_CLIENT_ERROR_BUSY))
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_CANCELLED, "%s", error->message);
  else
    g_task_return_error (task, g_error_copy (error));
}

void
iris_client_return_unreadable (GTask *task, const GError *error)
{
  g_task_return_new_error (
      task, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_PROTOCOL,
      "irisd's answer cannot be read: %s; use a client and an irisd of the same release",
      error->message);
}

void
iris_client_value_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);
  g_autoptr (GError) local = NULL;
  gpointer value = NULL;

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else if ((value = call->read (answer, &local)) == NULL)
    iris_client_return_unreadable (task, local);
  else
    g_task_return_pointer (task, value, call->destroy);
}

void
iris_client_number_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else if (answer == NULL)
    g_task_return_int (task, 0);
  else
    g_task_return_int (task, call->type == IRIS_WIRE_CANCEL || call->type == IRIS_WIRE_FOLLOW
                                 ? answer->state
                             : call->type == IRIS_WIRE_AGAIN ? (gssize) answer->item
                                                             : answer->count);
}

static gboolean
is_about_items (const IrisClientCall *call)
{
  switch (call->type)
    {
    case IRIS_WIRE_CANCEL:
      return call->item != 0;
    case IRIS_WIRE_FETCH:
    case IRIS_WIRE_SHOW:
    case IRIS_WIRE_LIST:
    case IRIS_WIRE_KICK:
    case IRIS_WIRE_BURY:
    case IRIS_WIRE_SUSPEND:
    case IRIS_WIRE_RESUME:
    case IRIS_WIRE_EDIT:
    case IRIS_WIRE_AGAIN:
    case IRIS_WIRE_FOLLOW:
      return TRUE;
    default:
      return FALSE;
    }
}

static IrisClientCall *
begin_call (IrisClient *self,
            const IrisClientCall *what,
            gpointer tag,
            GCancellable *cancellable,
            GAsyncReadyCallback callback,
            gpointer user_data)
{
  GTask *task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, tag);
  g_task_set_check_cancellable (task, FALSE);
  IrisClientCall *call = iris_client_call_new (what, self->settings.next_serial++, task);
  if (self->asked_node != NULL && is_about_items (call))
    call->node = g_strdup (self->asked_node);
  return call;
}

/**
 * iris_client_set_asked_node:
 * @node: (nullable): the name of a node of irisd's cluster, or %NULL for irisd itself
 *
 * From now on calls that ask about items by their numbers, list, or change them are about the items
 * of that node: fetch, show, list, kick, bury, cancel, suspend, resume, edit, follow and submit
 * again.
 * Others stay about irisd itself. To fetch an end from another node deletes nothing there.
 *
 * Those calls fail with %IRIS_CLIENT_ERROR_NODE_AWAY if that node does not answer.
 */
void
iris_client_set_asked_node (IrisClient *self, const char *node)
{
  g_return_if_fail (IRIS_IS_CLIENT (self));

  g_free (self->asked_node);
  self->asked_node = g_strdup (node);
}

void
iris_client_ask (IrisClient *self,
                 const IrisClientCall *what,
                 gpointer tag,
                 GCancellable *cancellable,
                 GAsyncReadyCallback callback,
                 gpointer user_data)
{
  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));

  iris_client_take_call (self, begin_call (self, what, tag, cancellable, callback, user_data),
                         cancellable);
}

gpointer
iris_client_finish_pointer (IrisClient *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

gboolean
iris_client_finish_number (IrisClient *self, GAsyncResult *result, guint *number, GError **error)
{
  GError *local = NULL;
  gssize value;

  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  value = g_task_propagate_int (G_TASK (result), &local);
  if (number != NULL)
    *number = local == NULL ? (guint) value : 0;
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, local);
  return FALSE;
}

/**
 * iris_client_connect_async:
 *
 * Connects, says HELLO and asks for the places. Other calls do this by themselves; connecting first
 * tells early whether irisd is there.
 */
void
iris_client_connect_async (IrisClient *self,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_HELLO, .done = iris_client_number_done },
                   iris_client_connect_async, cancellable, callback, user_data);
}

/**
 * iris_client_connect_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_NOT_CONNECTED where no irisd listens, %IRIS_CLIENT_ERROR_TIMED_OUT
 * where one listens and does not answer, %IRIS_CLIENT_ERROR_VERSION, %IRIS_CLIENT_ERROR_BUSY if
 * irisd has as many clients as it takes, and %G_IO_ERROR_CANCELLED.
 *
 * Returns: whether the client is connected
 */
gboolean
iris_client_connect_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_number (self, result, NULL, error);
}

/**
 * iris_client_submit_async:
 * @request: the work item; from now on it must not be changed
 * @cancellable: (nullable): to cancel the item
 * @callback: called when the item has ended
 *
 * Sends a work item. Any number of items may be submitted in a row, up to
 * [property@IrisClient.Client:max-outstanding]: those that irisd has no room for wait in the
 * client.
 *
 * Triggering @cancellable takes back an item that was not sent. Of an item that was, irisd is told
 * that it is not wanted any more; the call then ends as the item ends, with %G_IO_ERROR_CANCELLED
 * or, if it was too late, with its result.
 */
void
iris_client_submit_async (IrisClient *self,
                          IrisRequest *request,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  guint8 id[IRIS_WIRE_ID_SIZE];
  IrisClientCall what = { .type = IRIS_WIRE_SUBMIT,
                          .done = iris_client_value_done,
                          .read = iris_result_read,
                          .destroy = (GDestroyNotify) iris_result_unref };
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (request != NULL);
  g_return_if_fail (iris_client_in_context (self));

  what.request = iris_request_ref (request);
  what.size = request->payload != NULL ? g_bytes_get_size (request->payload) : 0;
  call = begin_call (self, &what, iris_client_submit_async, cancellable, callback, user_data);
  iris_client_id_write (id, self->settings.prefix, call->serial);
  iris_request_seal (request, id);
  if (self->outstanding++ < self->max_outstanding)
    iris_client_take_call (self, call, cancellable);
  else
    {
      g_autoptr (GError) error = g_error_new (
          IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_QUEUE_FULL,
          "%u items are under way, which is the limit max-outstanding; wait for some "
          "to end, or raise the client's property of that name",
          self->max_outstanding);

      iris_client_call_finish (call, NULL, error);
    }
}

/**
 * iris_client_submit_finish:
 *
 * Errors: any of #IrisClientError, and %G_IO_ERROR_CANCELLED. iris_client_error_get_place() tells
 * where an item that failed had run.
 *
 * Returns: (transfer full): what came of the item, or %NULL
 */
IrisResult *
iris_client_submit_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_get_services_async:
 *
 * Asks which services irisd offers.
 */
void
iris_client_get_services_async (IrisClient *self,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_SERVICES,
                                      .done = iris_client_value_done,
                                      .read = iris_client_services_read,
                                      .destroy = (GDestroyNotify) g_ptr_array_unref },
                   iris_client_get_services_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_services_finish:
 *
 * Returns: (transfer container) (element-type IrisClientService): the services, or %NULL
 */
GPtrArray *
iris_client_get_services_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_get_workers_async:
 *
 * Asks which worker processes serve items.
 */
void
iris_client_get_workers_async (IrisClient *self,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_WORKERS,
                                      .done = iris_client_value_done,
                                      .read = iris_client_workers_read,
                                      .destroy = (GDestroyNotify) g_ptr_array_unref },
                   iris_client_get_workers_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_workers_finish:
 *
 * Returns: (transfer full) (element-type IrisClientWorker): the worker processes, or %NULL
 */
GPtrArray *
iris_client_get_workers_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_get_status_async:
 *
 * Asks for irisd's state and counters.
 */
void
iris_client_get_status_async (IrisClient *self,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_STATUS,
                                      .done = iris_client_value_done,
                                      .read = iris_client_status_read,
                                      .destroy = (GDestroyNotify) iris_client_status_unref },
                   iris_client_get_status_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_status_finish:
 *
 * Returns: (transfer full): the state, or %NULL
 */
IrisClientStatus *
iris_client_get_status_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_get_statistics_async:
 * @sections: which: bit 0 the daemon, 1 places, 2 steals, 3 services, 4 limits, 5 the journal, 6
 *   worker processes; 0: all
 *
 * Asks for all that irisd counts.
 */
void
iris_client_get_statistics_async (IrisClient *self,
                                  guint sections,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_STATISTICS,
                                      .wanted = sections,
                                      .done = iris_client_value_done,
                                      .read = iris_client_statistics_read,
                                      .destroy = (GDestroyNotify) g_variant_unref },
                   iris_client_get_statistics_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_statistics_finish:
 *
 * The statistics by the names that doc/protocol.md gives them: a dictionary "a{sv}" whose
 * sections are arrays of such dictionaries.
 *
 * Returns: (transfer full): the statistics, or %NULL
 */
GVariant *
iris_client_get_statistics_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

static gpointer
read_bytes (const IrisWireMessage *answer, GError **error)
{
  return g_bytes_new (answer->body.data, answer->body.size);
}

/**
 * iris_client_trace_async:
 * @duration_ms: how long irisd notes what its workers do, in milliseconds, from 1 to 600000
 *
 * Asks for a time line of what irisd's workers do from now on. Only operators may.
 */
void
iris_client_trace_async (IrisClient *self,
                         guint64 duration_ms,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_TRACE,
                                      .wait_ms = duration_ms,
                                      .done = iris_client_value_done,
                                      .read = read_bytes,
                                      .destroy = (GDestroyNotify) g_bytes_unref },
                   iris_client_trace_async, cancellable, callback, user_data);
}

/**
 * iris_client_trace_finish:
 *
 * The time line, in the trace event format: JSON that Perfetto (ui.perfetto.dev) shows.
 *
 * Returns: (transfer full): the text, or %NULL
 */
GBytes *
iris_client_trace_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_get_spans_async:
 * @from: the number of the first that is wanted; 0 for the oldest that irisd still has
 * @count: at most so many; 0 for as many as irisd tells at once
 *
 * Asks for items that have ended and belong to distributed traces that are to be recorded. Only
 * operators may.
 */
void
iris_client_get_spans_async (IrisClient *self,
                             guint64 from,
                             guint count,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_SPANS,
                                      .item = from,
                                      .count = count,
                                      .done = iris_client_value_done,
                                      .read = iris_client_spans_read,
                                      .destroy = (GDestroyNotify) g_variant_unref },
                   iris_client_get_spans_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_spans_finish:
 * @next: (out) (optional): where to go on from
 *
 * The spans, oldest first, by the names that doc/protocol.md gives to the parts of SPANS_REPLY: an
 * array of dictionaries, "aa{sv}".
 *
 * Returns: (transfer full): the spans, or %NULL
 */
GVariant *
iris_client_get_spans_finish (IrisClient *self, GAsyncResult *result, guint64 *next, GError **error)
{
  g_autoptr (GVariant) both = iris_client_finish_pointer (self, result, error);
  GVariant *spans = NULL;
  guint64 behind = 0;

  if (both == NULL)
    return NULL;
  g_variant_get (both, "(t@aa{sv})", &behind, &spans);
  if (next != NULL)
    *next = behind;
  return spans;
}

/**
 * iris_client_get_keys_async:
 *
 * Asks for the keys of clients over TCP, as irisd has last read them, and their use. Only operators
 * may.
 */
void
iris_client_get_keys_async (IrisClient *self,
                            GCancellable *cancellable,
                            GAsyncReadyCallback callback,
                            gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_KEYS,
                                      .done = iris_client_value_done,
                                      .read = iris_client_keys_read,
                                      .destroy = (GDestroyNotify) g_variant_unref },
                   iris_client_get_keys_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_keys_finish:
 * @dir: (out) (optional) (nullable) (type filename) (transfer full): the folder that irisd read
 *   them from; %NULL if it takes no keys
 *
 * The keys in the order of their names, by the names that doc/protocol.md gives to the parts of
 * KEYS_REPLY: an array of dictionaries, "aa{sv}".
 *
 * Returns: (transfer full): the keys, or %NULL
 */
GVariant *
iris_client_get_keys_finish (IrisClient *self, GAsyncResult *result, char **dir, GError **error)
{
  g_autoptr (GVariant) both = iris_client_finish_pointer (self, result, error);
  g_autofree char *path = NULL;
  GVariant *keys = NULL;

  if (both == NULL)
    return NULL;
  g_variant_get (both, "(m^ay@aa{sv})", &path, &keys);
  if (dir != NULL)
    *dir = g_steal_pointer (&path);
  return keys;
}

/**
 * iris_client_get_encoded_statistics_async:
 * @sections: as for [method@IrisClient.Client.get_statistics_async]
 *
 * Asks for all that irisd counts, as irisd sends it: for programs that ask often and decode it
 * themselves.
 */
void
iris_client_get_encoded_statistics_async (IrisClient *self,
                                          guint sections,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_STATISTICS,
                                      .wanted = sections,
                                      .done = iris_client_value_done,
                                      .read = iris_client_encoded_statistics_read,
                                      .destroy = (GDestroyNotify) g_bytes_unref },
                   iris_client_get_encoded_statistics_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_encoded_statistics_finish:
 *
 * Returns: (transfer full): the body of STATISTICS_REPLY, as doc/protocol.md describes it, or %NULL
 */
GBytes *
iris_client_get_encoded_statistics_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_cancel_async:
 * @id: the id of an item, as [method@IrisClient.Request.get_id] gives it
 * @cancellable: (nullable): to stop waiting for irisd's answer
 *
 * Asks irisd to cancel an item that any client of the same user submitted. To cancel an item of
 * this client, trigger the #GCancellable that it was submitted with.
 */
void
iris_client_cancel_async (IrisClient *self,
                          const char *id,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  IrisClientCall what = { .type = IRIS_WIRE_CANCEL, .done = iris_client_number_done };
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (id != NULL);
  g_return_if_fail (iris_client_in_context (self));

  call = begin_call (self, &what, iris_client_cancel_async, cancellable, callback, user_data);
  if (iris_client_id_parse (id, call->target))
    iris_client_take_call (self, call, cancellable);
  else
    {
      g_autoptr (GError) error = g_error_new (IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BAD_ARGUMENT,
                                              "“%s” is no id: an id is 32 hexadecimal digits", id);

      iris_client_call_finish (call, NULL, error);
    }
}

/**
 * iris_client_cancel_finish:
 * @was_running: (out) (optional): whether the item was running and was asked to stop; otherwise it
 *   was still queued and will not run
 *
 * Errors: %IRIS_CLIENT_ERROR_NOT_FOUND if no such item is under way.
 *
 * Returns: whether irisd found the item
 */
gboolean
iris_client_cancel_finish (IrisClient *self,
                           GAsyncResult *result,
                           gboolean *was_running,
                           GError **error)
{
  guint state = 0;

  if (!iris_client_finish_number (self, result, &state, error))
    return FALSE;
  if (was_running != NULL)
    *was_running = state == IRIS_WIRE_STATE_RUNNING;
  return TRUE;
}

/**
 * iris_client_drain_async:
 * @place: the id of a place
 * @drained: whether it is to take no items, or to take some again
 *
 * Has a place end what it has and take no more, until it is resumed or irisd is started again. For
 * irisd's owner.
 */
void
iris_client_drain_async (IrisClient *self,
                         int place,
                         gboolean drained,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  g_return_if_fail (place >= 0);

  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_DRAIN,
                                      .done = iris_client_number_done,
                                      .changed_place = place,
                                      .drained = !!drained },
                   iris_client_drain_async, cancellable, callback, user_data);
}

/**
 * iris_client_drain_finish:
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
  return iris_client_finish_number (self, result, changed, error);
}

/**
 * iris_client_reload_async:
 *
 * Has irisd read its configuration and its keys again: all that can change while it runs, or, if
 * there is a mistake, nothing. For operators.
 */
void
iris_client_reload_async (IrisClient *self,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_RELOAD,
                                      .done = iris_client_value_done,
                                      .read = iris_client_message_read,
                                      .destroy = g_free },
                   iris_client_reload_async, cancellable, callback, user_data);
}

/**
 * iris_client_reload_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_BAD_ARGUMENT for a mistake in the configuration, with file and line;
 * %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: (transfer full): a line for each setting that changed or that needs irisd started again,
 *   without a newline at the end; %NULL on error
 */
char *
iris_client_reload_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_backup_async:
 * @path: (type filename): an absolute path of irisd's machine, where there is nothing yet
 *
 * Has irisd copy its journal to a new directory while it goes on. For irisd's owner.
 */
void
iris_client_backup_async (IrisClient *self,
                          const char *path,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_BACKUP,
                                      .done = iris_client_number_done,
                                      .message = g_strdup (path) },
                   iris_client_backup_async, cancellable, callback, user_data);
}

/**
 * iris_client_backup_finish:
 * @n_items: (out) (optional): how many items the copy has
 *
 * Errors: %IRIS_CLIENT_ERROR_BAD_ARGUMENT if there is something at the path or it cannot be
 * written, %IRIS_CLIENT_ERROR_JOURNAL_FAILED, %IRIS_CLIENT_ERROR_NOT_DURABLE,
 * %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether the copy is on the disk, and was found whole
 */
gboolean
iris_client_backup_finish (IrisClient *self, GAsyncResult *result, guint *n_items, GError **error)
{
  return iris_client_finish_number (self, result, n_items, error);
}

/**
 * iris_client_set_workers_async:
 * @place: the id of a place
 * @workers: how many of its workers are to take part, from 1
 *
 * Changes how many workers of a place take part, until irisd is started again. For irisd's owner.
 */
void
iris_client_set_workers_async (IrisClient *self,
                               int place,
                               guint workers,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  g_return_if_fail (place >= 0 && workers > 0);

  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_SET_WORKERS,
                                      .done = iris_client_number_done,
                                      .changed_place = place,
                                      .count = workers },
                   iris_client_set_workers_async, cancellable, callback, user_data);
}

/**
 * iris_client_set_workers_finish:
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
  return iris_client_finish_number (self, result, changed, error);
}
