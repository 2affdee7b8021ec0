/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Serves items of irisd from the main loop of a GLib program: the object. What it does is in
 * iris-worker-process-session.c.
 */
#include "iris-worker-process-private.h"

#include <string.h>

/**
 * IrisWorkerProcess:
 *
 * A program that does items of irisd: it names services, and is leased the items that name them.
 *
 * A worker belongs to the main context that was the thread's default when it began to run: its
 * handlers are called there, and may answer a lease later. It starts no thread of its own.
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (IrisWorkerProcess, iris_worker_process, G_TYPE_OBJECT)

enum
{
  PROP_ADDRESS = 1,
  PROP_NAME,
  PROP_CAPACITY,
  PROP_PLACE,
  PROP_KEEP_LEASES,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
service_free (gpointer data)
{
  IrisWorkerProcessService *self = data;

  if (self->destroy != NULL)
    self->destroy (self->user_data);
  g_free (self->name);
  g_free (self->summary);
  g_free (self);
}

static guint
id_hash (gconstpointer id)
{
  guint64 number;

  memcpy (&number, (const guint8 *) id + 8, sizeof number);
  return g_int64_hash (&number);
}

static gboolean
id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

static void
iris_worker_process_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  IrisWorkerProcess *self = IRIS_WORKER_PROCESS (object);

  switch (id)
    {
    case PROP_ADDRESS:
      self->address = g_value_dup_string (value);
      break;
    case PROP_NAME:
      g_free (self->name);
      self->name = g_value_dup_string (value);
      break;
    case PROP_CAPACITY:
      self->capacity = g_value_get_uint (value);
      break;
    case PROP_PLACE:
      self->place = g_value_get_int (value);
      break;
    case PROP_KEEP_LEASES:
      self->renew_leases = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
iris_worker_process_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  IrisWorkerProcess *self = IRIS_WORKER_PROCESS (object);

  switch (id)
    {
    case PROP_ADDRESS:
      g_value_set_string (value, self->address);
      break;
    case PROP_NAME:
      g_value_set_string (value, self->name);
      break;
    case PROP_CAPACITY:
      g_value_set_uint (value, self->capacity);
      break;
    case PROP_PLACE:
      g_value_set_int (value, self->place);
      break;
    case PROP_KEEP_LEASES:
      g_value_set_boolean (value, self->renew_leases);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
iris_worker_process_finalize (GObject *object)
{
  IrisWorkerProcess *self = IRIS_WORKER_PROCESS (object);

  /* A running worker is held by its task, so nothing is connected and nothing leased. */
  g_hash_table_unref (self->leases);
  g_ptr_array_unref (self->services);
  iris_wire_encoder_clear (&self->encoder);
  g_main_context_unref (self->context);
  g_free (self->address);
  g_free (self->name);
  G_OBJECT_CLASS (iris_worker_process_parent_class)->finalize (object);
}

static void
iris_worker_process_class_init (IrisWorkerProcessClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  object_class->set_property = iris_worker_process_set_property;
  object_class->get_property = iris_worker_process_get_property;
  object_class->finalize = iris_worker_process_finalize;

  /**
   * IrisWorkerProcess:address:
   *
   * Where irisd is: an endpoint, the directory of its sockets, or %NULL for the usual one.
   *
   * Since: 0.1
   */
  properties[PROP_ADDRESS] = g_param_spec_string ("address", NULL, NULL, NULL,
                                                  flags | G_PARAM_CONSTRUCT_ONLY);
  /**
   * IrisWorkerProcess:name:
   *
   * As `irisctl workers` shows it; %NULL for the program's name and process id. Set it before the
   * worker runs.
   *
   * Since: 0.1
   */
  properties[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, flags);
  /**
   * IrisWorkerProcess:capacity:
   *
   * How many items it takes at once. Set it before the worker runs.
   *
   * Since: 0.1
   */
  properties[PROP_CAPACITY] = g_param_spec_uint ("capacity", NULL, NULL, 1, G_MAXUINT, 1,
                                                 flags | G_PARAM_CONSTRUCT);
  /**
   * IrisWorkerProcess:place:
   *
   * The id of the place that it works at, or -1: then it is that of the socket, if it has one. Set
   * it before the worker runs.
   *
   * Since: 0.1
   */
  properties[PROP_PLACE] = g_param_spec_int ("place", NULL, NULL, -1, G_MAXINT, -1,
                                             flags | G_PARAM_CONSTRUCT);
  /**
   * IrisWorkerProcess:renew-leases:
   *
   * Whether leases are extended as long as they are not answered. If not, an item that takes longer
   * than a lease goes to another worker unless [method@IrisClient.Lease.extend] is called in time.
   *
   * Since: 0.1
   */
  properties[PROP_KEEP_LEASES] = g_param_spec_boolean ("renew-leases", NULL, NULL, TRUE,
                                                       flags | G_PARAM_CONSTRUCT);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_worker_process_init (IrisWorkerProcess *self)
{
  self->context = g_main_context_ref_thread_default ();
  self->services = g_ptr_array_new_with_free_func (service_free);
  self->leases = g_hash_table_new (id_hash, id_equal);
  self->pause_ms = IRIS_WORKER_PROCESS_FIRST_PAUSE_MS;
  iris_wire_encoder_init (&self->encoder, NULL);
  g_queue_init (&self->outbox);
  g_queue_init (&self->answers);
}

/**
 * iris_worker_process_new:
 * @endpoint_or_dir: (nullable): where irisd is, see [property@IrisClient.WorkerProcess:address]
 *
 * Makes a worker that belongs to the thread-default context. It does nothing before it is run.
 *
 * Returns: (transfer full): a worker
 *
 * Since: 0.1
 */
IrisWorkerProcess *
iris_worker_process_new (const char *endpoint_or_dir)
{
  return g_object_new (IRIS_TYPE_WORKER_PROCESS, "address", endpoint_or_dir, NULL);
}

/**
 * iris_worker_process_add_service:
 * @self: a worker that does not run
 * @name: how items name it
 * @summary: (nullable): one line for people
 * @func: (scope notified) (closure user_data) (destroy destroy): does the items
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data with the worker
 *
 * Adds a service.
 *
 * Since: 0.1
 */
void
iris_worker_process_add_service (IrisWorkerProcess *self,
                                 const char *name,
                                 const char *summary,
                                 IrisWorkerProcessFunc func,
                                 gpointer user_data,
                                 GDestroyNotify destroy)
{
  IrisWorkerProcessService *service;

  g_return_if_fail (IRIS_IS_WORKER_PROCESS (self));
  g_return_if_fail (self->run == NULL);
  g_return_if_fail (name != NULL && *name != '\0');
  g_return_if_fail (func != NULL);
  g_return_if_fail (iris_worker_process_find_service (self, name) == NULL);

  service = g_new0 (IrisWorkerProcessService, 1);
  service->name = g_strdup (name);
  service->summary = g_strdup (summary);
  service->func = func;
  service->user_data = user_data;
  service->destroy = destroy;
  g_ptr_array_add (self->services, service);
}

static gboolean
on_cancelled (GCancellable *cancellable, gpointer data)
{
  iris_worker_process_drain (data);
  return G_SOURCE_REMOVE;
}

/**
 * iris_worker_process_run_async:
 * @self: a worker that does not run
 * @cancellable: (nullable): ends it
 * @callback: called when it has ended
 * @user_data: for @callback
 *
 * Serves items until @cancellable is cancelled: then it takes no more, waits until those that it
 * has were answered, and ends well. When there is no irisd, or it goes, the worker waits for one to
 * come.
 *
 * Since: 0.1
 */
void
iris_worker_process_run_async (IrisWorkerProcess *self,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  g_return_if_fail (IRIS_IS_WORKER_PROCESS (self));
  g_return_if_fail (self->run == NULL);
  g_return_if_fail (self->services->len > 0);

  self->run = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (self->run, iris_worker_process_run_async);
  g_task_set_check_cancellable (self->run, FALSE);
  self->draining = FALSE;
  memset (self->last_ping, 0xff, sizeof self->last_ping);
  self->pause_ms = IRIS_WORKER_PROCESS_FIRST_PAUSE_MS;
  if (cancellable != NULL)
    {
      self->cancel_source = g_cancellable_source_new (cancellable);
      g_source_set_callback (self->cancel_source, G_SOURCE_FUNC (on_cancelled), self, NULL);
      g_source_attach (self->cancel_source, self->context);
    }
  iris_worker_process_connect (self);
}

/**
 * iris_worker_process_run_finish:
 * @self: a worker
 * @result: what the callback was given
 * @error: return location for an error of the domain %IRIS_CLIENT_ERROR
 *
 * Ends what iris_worker_process_run_async() began.
 *
 * Returns: whether it ended because it was cancelled; otherwise irisd refuses it
 *
 * Since: 0.1
 */
gboolean
iris_worker_process_run_finish (IrisWorkerProcess *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * iris_worker_process_is_serving:
 * @self: a worker
 *
 * Tells whether irisd knows the worker, and leases it items.
 *
 * Returns: whether irisd knows it, and leases it items
 *
 * Since: 0.1
 */
gboolean
iris_worker_process_is_serving (IrisWorkerProcess *self)
{
  g_return_val_if_fail (IRIS_IS_WORKER_PROCESS (self), FALSE);

  return self->state == IRIS_WORKER_PROCESS_SERVING && !self->draining;
}
