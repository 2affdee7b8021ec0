/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of WORKERS_REPLY: a list of worker processes.
 */
#include "iris-wire-workers.h"

#include "iris-wire-record-private.h"

static const IrisWireRecordField service_fields[] = {
  { "name", 0, IRIS_WIRE_RECORD_STRING, G_STRUCT_OFFSET (IrisWireService, name), 0, NULL },
  { "summary", 1, IRIS_WIRE_RECORD_STRING, G_STRUCT_OFFSET (IrisWireService, summary), 0, NULL },
};

static const IrisWireRecord service_record = IRIS_WIRE_RECORD (IrisWireService, service_fields);

#define FIELD(member, text, key, kind)                                                    \
  {                                                                                       \
    text, key, IRIS_WIRE_RECORD_##kind, G_STRUCT_OFFSET (IrisWireWorker, member), 0, NULL \
  }

static const IrisWireRecordField worker_fields[] = {
  FIELD (name, "name", 0, STRING),
  { "services", 1, IRIS_WIRE_RECORD_LIST, G_STRUCT_OFFSET (IrisWireWorker, services),
    G_STRUCT_OFFSET (IrisWireWorker, n_services), &service_record },
  { "places", 2, IRIS_WIRE_RECORD_NUMBERS, G_STRUCT_OFFSET (IrisWireWorker, places),
    G_STRUCT_OFFSET (IrisWireWorker, n_places), NULL },
  FIELD (capacity, "capacity", 3, UINT32),
  FIELD (leased, "leased", 4, UINT32),
  FIELD (done, "done", 5, UINT64),
  FIELD (failed, "failed", 6, UINT64),
  FIELD (lost, "lost", 7, UINT64),
  FIELD (silent_ms, "silent-ms", 8, UINT64),
};

static const IrisWireRecord worker_record = IRIS_WIRE_RECORD (IrisWireWorker, worker_fields);

static const IrisWireRecordField fields[] = {
  { "workers", 0, IRIS_WIRE_RECORD_LIST, G_STRUCT_OFFSET (IrisWireWorkers, workers),
    G_STRUCT_OFFSET (IrisWireWorkers, n_workers), &worker_record },
};

static const IrisWireRecord record = IRIS_WIRE_RECORD (IrisWireWorkers, fields);

IrisWireWorkers *
iris_wire_workers_new (guint n_workers)
{
  IrisWireWorkers *self = g_new0 (IrisWireWorkers, 1);

  self->n_workers = n_workers;
  self->workers = g_new0 (IrisWireWorker, n_workers);
  return self;
}

IrisWireWorkers *
iris_wire_workers_copy (const IrisWireWorkers *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  IrisWireWorkers *copy = g_memdup2 (self, sizeof *self);
  iris_wire_record_own (&record, copy);
  return copy;
}

void
iris_wire_workers_free (IrisWireWorkers *self)
{
  if (self == NULL)
    return;
  iris_wire_record_clear (&record, self);
  g_free (self);
}

GBytes *
iris_wire_workers_encode (const IrisWireWorkers *self, const IrisWireLimits *limits, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return iris_wire_record_encode (&record, fields, self, "WORKERS_REPLY", limits, error);
}

IrisWireWorkers *
iris_wire_workers_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error)
{
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  g_autoptr (IrisWireWorkers) self = g_new0 (IrisWireWorkers, 1);
  if (!iris_wire_record_decode (&record, fields, self, "WORKERS_REPLY", body, limits, error))
    return NULL;
  return g_steal_pointer (&self);
}
