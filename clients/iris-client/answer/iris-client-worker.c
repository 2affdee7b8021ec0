/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The worker processes that serve items beside irisd.
 */
#include "iris-client-answer-private.h"

#include <iris-client/base/iris-client-counted-private.h>

static void
iris_client_worker_clear (IrisClientWorker *self)
{
  g_free (self->name);
  g_strfreev (self->services);
}

/**
 * iris_client_worker_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_client_worker_unref:
 * @self: (transfer full): a worker process
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisClientWorker, iris_client_worker)

static IrisClientWorker *
worker_new (const IrisWireWorker *wire)
{
  IrisClientWorker *self = g_atomic_rc_box_new0 (IrisClientWorker);

  self->name = g_strdup (wire->name);
  self->services = g_new0 (char *, wire->n_services + 1);
  for (guint i = 0; i < wire->n_services; i++)
    self->services[i] = g_strdup (wire->services[i].name);
  self->place = wire->n_places > 0 ? (int) MIN (wire->places[0], G_MAXINT) : -1;
  self->capacity = wire->capacity;
  self->leased = wire->leased;
  self->done = wire->done;
  self->failed = wire->failed;
  self->lost = wire->lost;
  self->silent_ms = wire->silent_ms;
  return self;
}

gpointer
iris_client_workers_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWireWorkers) workers = iris_wire_workers_decode (answer->body, NULL, error);
  GPtrArray *list;

  if (workers == NULL)
    return NULL;
  list = g_ptr_array_new_full (workers->n_workers, (GDestroyNotify) iris_client_worker_unref);
  for (guint i = 0; i < workers->n_workers; i++)
    g_ptr_array_add (list, worker_new (&workers->workers[i]));
  return list;
}
