/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of MAP_REPLY: a list of places.
 */
#include "iris-wire-map.h"

#include "iris-wire-record-private.h"

#define FIELD(key, kind, member)                                                           \
  {                                                                                        \
#member, key, IRIS_WIRE_RECORD_##kind, G_STRUCT_OFFSET(IrisWirePlace, member), 0, NULL \
  }

static const IrisWireRecordField place_fields[] = {
  FIELD (0, UINT32, id),
  FIELD (1, STRING, name),
  FIELD (2, STRING, cpus),
  FIELD (3, STRING, endpoint),
  FIELD (4, UINT32, workers),
  FIELD (5, STRING, nodes),
  FIELD (6, BOOLEAN, bound),
  { "distances", 7, IRIS_WIRE_RECORD_NUMBERS, G_STRUCT_OFFSET (IrisWirePlace, distances),
    G_STRUCT_OFFSET (IrisWirePlace, n_distances), NULL },
};

static const IrisWireRecord place_record = IRIS_WIRE_RECORD (IrisWirePlace, place_fields);

static const IrisWireRecordField fields[] = {
  { "places", 0, IRIS_WIRE_RECORD_LIST, G_STRUCT_OFFSET (IrisWireMap, places),
    G_STRUCT_OFFSET (IrisWireMap, n_places), &place_record },
};

static const IrisWireRecord record = IRIS_WIRE_RECORD (IrisWireMap, fields);

IrisWireMap *
iris_wire_map_new (guint n_places)
{
  IrisWireMap *self = g_new0 (IrisWireMap, 1);

  self->n_places = n_places;
  self->places = g_new0 (IrisWirePlace, n_places);
  return self;
}

IrisWireMap *
iris_wire_map_copy (const IrisWireMap *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  IrisWireMap *copy = g_memdup2 (self, sizeof *self);
  iris_wire_record_own (&record, copy);
  return copy;
}

void
iris_wire_map_free (IrisWireMap *self)
{
  if (self == NULL)
    return;
  iris_wire_record_clear (&record, self);
  g_free (self);
}

GBytes *
iris_wire_map_encode (const IrisWireMap *self, const IrisWireLimits *limits, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return iris_wire_record_encode (&record, fields, self, "MAP_REPLY", limits, error);
}

IrisWireMap *
iris_wire_map_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error)
{
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  g_autoptr (IrisWireMap) self = g_new0 (IrisWireMap, 1);
  if (!iris_wire_record_decode (&record, fields, self, "MAP_REPLY", body, limits, error))
    return NULL;
  return g_steal_pointer (&self);
}
