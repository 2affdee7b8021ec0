/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The worker processes that serve items beside irisd.
 */
#include "iris-client-worker-private.h"

G_DEFINE_BOXED_TYPE (IrisClientWorker,
                     iris_client_worker,
                     iris_client_worker_ref,
                     iris_client_worker_unref)

/**
 * iris_client_worker_ref:
 *
 * Adds a reference. Safe from any thread.
 *
 * Returns: (transfer full): @self
 */
IrisClientWorker *
iris_client_worker_ref (IrisClientWorker *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

static void
iris_client_worker_clear (gpointer data)
{
  IrisClientWorker *self = data;

  g_free (self->name);
  g_strfreev (self->services);
}

/**
 * iris_client_worker_unref:
 * @self: (transfer full): a worker process
 *
 * Drops a reference. Safe from any thread.
 */
void
iris_client_worker_unref (IrisClientWorker *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release_full (self, iris_client_worker_clear);
}

static IrisClientWorker *
iris_client_worker_new_from_wire (const IrisWireWorker *wire)
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

GPtrArray *
iris_client_workers_new_from_wire (const IrisWireWorkers *workers)
{
  GPtrArray *array = g_ptr_array_new_full (workers->n_workers,
                                           (GDestroyNotify) iris_client_worker_unref);

  for (guint i = 0; i < workers->n_workers; i++)
    g_ptr_array_add (array, iris_client_worker_new_from_wire (&workers->workers[i]));
  return array;
}
