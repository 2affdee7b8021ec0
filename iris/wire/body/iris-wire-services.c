/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of SERVICES_REPLY: a list of services.
 */
#include "iris-wire-services.h"

#include "iris-wire-record-private.h"

static const IrisWireRecordField service_fields[] = {
  { "name", 0, IRIS_WIRE_RECORD_STRING, G_STRUCT_OFFSET (IrisWireService, name), 0, NULL },
  { "summary", 1, IRIS_WIRE_RECORD_STRING, G_STRUCT_OFFSET (IrisWireService, summary), 0, NULL },
};

static const IrisWireRecord service_record = IRIS_WIRE_RECORD (IrisWireService, service_fields);

static const IrisWireRecordField fields[] = {
  { "services", 0, IRIS_WIRE_RECORD_LIST, G_STRUCT_OFFSET (IrisWireServices, services),
    G_STRUCT_OFFSET (IrisWireServices, n_services), &service_record },
};

static const IrisWireRecord record = IRIS_WIRE_RECORD (IrisWireServices, fields);

IrisWireServices *
iris_wire_services_new (guint n_services)
{
  IrisWireServices *self = g_new0 (IrisWireServices, 1);

  self->n_services = n_services;
  self->services = g_new0 (IrisWireService, n_services);
  return self;
}

IrisWireServices *
iris_wire_services_copy (const IrisWireServices *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  IrisWireServices *copy = g_memdup2 (self, sizeof *self);
  iris_wire_record_own (&record, copy);
  return copy;
}

void
iris_wire_services_free (IrisWireServices *self)
{
  if (self == NULL)
    return;
  iris_wire_record_clear (&record, self);
  g_free (self);
}

GBytes *
iris_wire_services_encode (const IrisWireServices *self,
                           const IrisWireLimits *limits,
                           GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return iris_wire_record_encode (&record, fields, self, "SERVICES_REPLY", limits, error);
}

IrisWireServices *
iris_wire_services_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error)
{
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  g_autoptr (IrisWireServices) self = g_new0 (IrisWireServices, 1);
  if (!iris_wire_record_decode (&record, fields, self, "SERVICES_REPLY", body, limits, error))
    return NULL;
  return g_steal_pointer (&self);
}
