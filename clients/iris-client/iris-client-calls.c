/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a program can ask of irisd: each call as a pair of functions.
 *
 * A call is a GTask whose source object is the client, so the client lives while anything is under
 * way. What asks without saying more is ask(), and what gives a pointer ends by
 * iris_client_finish_pointer(); the pairs themselves are only their documentation. The task's own
 * look at its GCancellable is switched off: an item that finished although it was being cancelled
 * gives its result.
 */
#include "iris-client-private.h"
#include "iris-client-error-private.h"
#include "iris-client-status-private.h"
#include "iris-client-worker-private.h"
#include "iris-request-private.h"
#include "iris-result-private.h"

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

static void
connect_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else
    g_task_return_boolean (task, TRUE);
}

static void
submit_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else
    g_task_return_pointer (task, iris_result_new_from_wire (answer),
                           (GDestroyNotify) iris_result_unref);
}

/* Reads an answer's body into what the user is given, or says why it cannot be read. */
typedef gpointer (*BodyReader) (IrisWireFrame body, GError **error);

static void
answer_done (IrisClientCall *call,
             const IrisWireMessage *answer,
             const GError *error,
             BodyReader read,
             GDestroyNotify destroy)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);
  g_autoptr (GError) local = NULL;
  gpointer value = NULL;

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else if ((value = read (answer->body, &local)) == NULL)
    iris_client_return_unreadable (task, local);
  else
    g_task_return_pointer (task, value, destroy);
}

static gpointer
read_services (IrisWireFrame body, GError **error)
{
  g_autoptr (IrisWireServices) services = iris_wire_services_decode (body, NULL, error);

  return services != NULL ? iris_client_services_new_from_wire (services) : NULL;
}

static gpointer
read_workers (IrisWireFrame body, GError **error)
{
  g_autoptr (IrisWireWorkers) workers = iris_wire_workers_decode (body, NULL, error);

  return workers != NULL ? iris_client_workers_new_from_wire (workers) : NULL;
}

static gpointer
read_status (IrisWireFrame body, GError **error)
{
  g_autoptr (IrisWireStatus) status = iris_wire_status_decode (body, NULL, error);

  return status != NULL ? iris_client_status_new_from_wire (status) : NULL;
}

static void
services_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  answer_done (call, answer, error, read_services, (GDestroyNotify) g_ptr_array_unref);
}

static void
workers_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  answer_done (call, answer, error, read_workers, (GDestroyNotify) g_ptr_array_unref);
}

static void
status_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  answer_done (call, answer, error, read_status, (GDestroyNotify) iris_client_status_unref);
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

IrisClientCall *
iris_client_begin_call (IrisClient *self,
                        IrisWireType type,
                        IrisClientCallDone done,
                        gpointer tag,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  GTask *task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, tag);
  g_task_set_check_cancellable (task, FALSE);
  return iris_client_call_new (type, self->settings.next_serial++, done, task);
}

/* A whole call that says no more than what it is. */
static void
ask (IrisClient *self,
     IrisWireType type,
     IrisClientCallDone done,
     gpointer tag,
     GCancellable *cancellable,
     GAsyncReadyCallback callback,
     gpointer user_data)
{
  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));

  iris_client_take_call (
      self, iris_client_begin_call (self, type, done, tag, cancellable, callback, user_data),
      cancellable);
}

gpointer
iris_client_finish_pointer (IrisClient *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * iris_client_connect_async:
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
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
  ask (self, IRIS_WIRE_HELLO, connect_done, iris_client_connect_async, cancellable, callback,
       user_data);
}

/**
 * iris_client_connect_finish:
 * @result: what the callback was given
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
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * iris_client_submit_async:
 * @request: the work item; from now on it must not be changed
 * @cancellable: (nullable): to cancel the item
 * @callback: called when the item has ended
 * @user_data: for @callback
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
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (request != NULL);
  g_return_if_fail (iris_client_in_context (self));

  call = iris_client_begin_call (self, IRIS_WIRE_SUBMIT, submit_done, iris_client_submit_async,
                                 cancellable, callback, user_data);
  call->request = iris_request_ref (request);
  call->size = request->payload != NULL ? g_bytes_get_size (request->payload) : 0;
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
 * @result: what the callback was given
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
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Asks which services irisd offers.
 */
void
iris_client_get_services_async (IrisClient *self,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  ask (self, IRIS_WIRE_SERVICES, services_done, iris_client_get_services_async, cancellable,
       callback, user_data);
}

/**
 * iris_client_get_services_finish:
 * @result: what the callback was given
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
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Asks which worker processes serve items.
 */
void
iris_client_get_workers_async (IrisClient *self,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  ask (self, IRIS_WIRE_WORKERS, workers_done, iris_client_get_workers_async, cancellable, callback,
       user_data);
}

/**
 * iris_client_get_workers_finish:
 * @result: what the callback was given
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
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Asks for irisd's state and counters.
 */
void
iris_client_get_status_async (IrisClient *self,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  ask (self, IRIS_WIRE_STATUS, status_done, iris_client_get_status_async, cancellable, callback,
       user_data);
}

/**
 * iris_client_get_status_finish:
 * @result: what the callback was given
 *
 * Returns: (transfer full): the state, or %NULL
 */
IrisClientStatus *
iris_client_get_status_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}

/**
 * iris_client_cancel_async:
 * @id: the id of an item, as [method@IrisClient.Request.get_id] gives it
 * @cancellable: (nullable): to stop waiting for irisd's answer
 * @callback: called when done
 * @user_data: for @callback
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
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (id != NULL);
  g_return_if_fail (iris_client_in_context (self));

  call = iris_client_begin_call (self, IRIS_WIRE_CANCEL, cancel_done, iris_client_cancel_async,
                                 cancellable, callback, user_data);
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
 * @result: what the callback was given
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
  g_autoptr (GError) local = NULL;
  gssize state;

  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  state = g_task_propagate_int (G_TASK (result), &local);
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (was_running != NULL)
    *was_running = state == IRIS_WIRE_STATE_RUNNING;
  return TRUE;
}
