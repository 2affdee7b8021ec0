/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The services of worker processes that are known, with or without a worker.
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

#include <string.h>

/* Returns whether @item's service is known; @space is the name space tried first; @patient: the
 * item waits for a worker without a limit. */
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

/* Makes the service @name known, because a client waits for it. Returns whether it is known now;
 * else too many services have had no worker yet. */
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
                 "cannot wait for a worker: more services have none than total-worker-services "
                 "(%" G_GUINT64_FORMAT "); start their workers, or raise it with [limits] "
                 "total-worker-services",
                 self->core->config->limits.total_worker_services);
  return room;
}

/* Makes the service of a recovered item known, so that the item may wait for a worker process. */
void
irisd_worker_processes_expect (IrisdWorkerProcesses *self, gint64 space, const IrisWireString *name)
{
  g_autofree char *text = iris_wire_string_dup (name);
  gint64 now = irisd_worker_processes_lock (self);
  irisd_leases_expect (self->leases, space, text, FALSE, now);
  irisd_worker_processes_unlock (self);
}

/* Makes the services known that have a group in the configuration and that irisd does not run
 * itself. No gateway may use the table yet. */
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
