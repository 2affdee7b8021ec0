/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which services of worker processes are known, with or without a worker.
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

#include <string.h>

/**
 * irisd_worker_processes_knows:
 * @self: the shared table
 * @space: the name space that its service is looked for in first
 * @item: a SUBMIT message
 * @patient: whether the item waits however long there is no worker
 *
 * Returns: whether its service is known
 */
gboolean
irisd_worker_processes_knows (IrisdWorkerProcesses *self,
                              gint64 space,
                              const IrisWireMessage *item,
                              gboolean patient)
{
  g_autofree char *text = iris_wire_string_dup (&item->service);
  gint64 now = irisd_worker_processes_lock (self);
  gboolean known = irisd_leases_knows (self->leases, space, text, patient, now);
  irisd_worker_processes_unlock (self);
  return known;
}

/**
 * irisd_worker_processes_await:
 * @self: the shared table
 * @space: the name space that it is looked for in first
 * @name: a service that is not known, and that a client asks to wait for
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Returns: whether it is known now; else there are too many that had no worker yet
 */
gboolean
irisd_worker_processes_await (IrisdWorkerProcesses *self,
                              gint64 space,
                              const IrisWireString *name,
                              GError **error)
{
  g_autofree char *text = iris_wire_string_dup (name);
  gint64 now = irisd_worker_processes_lock (self);
  gboolean room = irisd_leases_has_room_to_expect (self->leases, space);
  if (room)
    irisd_leases_expect (self->leases, space, text, FALSE, now);
  irisd_worker_processes_unlock (self);
  if (!room)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
                 "items wait for more services without a worker than total-worker-services "
                 "(%" G_GUINT64_FORMAT "): start their workers, or raise it with [limits] "
                 "total-worker-services",
                 self->core->config->limits.total_worker_services);
  return room;
}

/**
 * irisd_worker_processes_expect:
 * @self: the shared table
 * @space: the name space that it is looked for in first
 * @name: the service of an item that survived irisd
 *
 * Lets its items wait for a worker process.
 */
void
irisd_worker_processes_expect (IrisdWorkerProcesses *self, gint64 space, const IrisWireString *name)
{
  g_autofree char *text = iris_wire_string_dup (name);
  gint64 now = irisd_worker_processes_lock (self);
  irisd_leases_expect (self->leases, space, text, FALSE, now);
  irisd_worker_processes_unlock (self);
}

/**
 * irisd_worker_processes_expect_configured:
 * @self: the shared table, which no gateway uses yet
 *
 * Makes the services known that have a group in the configuration, and that are not irisd's own.
 */
void
irisd_worker_processes_expect_configured (IrisdWorkerProcesses *self)
{
  GHashTableIter iter;
  gpointer name;
  g_hash_table_iter_init (&iter, self->core->config->service_rules);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      const IrisWireString service = { name, strlen (name) };
      if (irisd_services_lookup (self->core->services, &service) == NULL)
        irisd_leases_expect (self->leases, IRISD_SPACE_SHARED, name, TRUE, g_get_monotonic_time ());
    }
}
