/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of STATUS_REPLY: the daemon's counters, and each place's.
 */
#include "iris-wire-status.h"

#include "iris-wire-record-private.h"

#define PLACE_FIELD(key, kind, member, text)                                                   \
  {                                                                                            \
    text, key, IRIS_WIRE_RECORD_##kind, G_STRUCT_OFFSET (IrisWirePlaceStatus, member), 0, NULL \
  }

static const IrisWireRecordField place_fields[] = {
  PLACE_FIELD (0, UINT32, id, "id"),
  PLACE_FIELD (1, STRING, name, "name"),
  PLACE_FIELD (2, UINT64, hinted, "hinted"),
  PLACE_FIELD (3, UINT64, executed, "executed"),
  PLACE_FIELD (4, UINT64, stolen_in, "stolen-in"),
  PLACE_FIELD (5, UINT64, stolen_out, "stolen-out"),
  PLACE_FIELD (6, UINT64, bytes, "bytes"),
  PLACE_FIELD (7, UINT64, busy_ns, "busy-ns"),
  PLACE_FIELD (8, UINT32, workers, "workers"),
  PLACE_FIELD (9, BOOLEAN, drained, "drained"),
  PLACE_FIELD (10, UINT32, active, "active"),
  PLACE_FIELD (11, UINT64, backlog, "backlog"),
};

static const IrisWireRecord place_record = IRIS_WIRE_RECORD (IrisWirePlaceStatus, place_fields);

#define FIELD(key, kind, member, text)                                                    \
  {                                                                                       \
    text, key, IRIS_WIRE_RECORD_##kind, G_STRUCT_OFFSET (IrisWireStatus, member), 0, NULL \
  }

static const IrisWireRecordField fields[] = {
  FIELD (0, STRING, version, "version"),
  FIELD (1, UINT32, pid, "pid"),
  FIELD (2, UINT64, uptime_ms, "uptime-ms"),
  FIELD (3, STRING, scheduler, "scheduler"),
  FIELD (4, BOOLEAN, draining, "draining"),
  FIELD (5, UINT64, peers, "peers"),
  FIELD (6, UINT64, in_flight, "in-flight"),
  FIELD (7, UINT64, accepted, "accepted"),
  FIELD (8, UINT64, ended, "ended"),
  FIELD (9, UINT64, failed, "failed"),
  FIELD (10, UINT64, malformed, "malformed"),
  FIELD (11, UINT64, refused, "refused"),
  { "places", 12, IRIS_WIRE_RECORD_LIST, G_STRUCT_OFFSET (IrisWireStatus, places),
    G_STRUCT_OFFSET (IrisWireStatus, n_places), &place_record },
  FIELD (20, BOOLEAN, ready, "ready"),
  FIELD (21, STRING, journal, "journal"),
  FIELD (22, STRING, journal_says, "journal-says"),
  FIELD (23, UINT64, persistent, "persistent"),
  FIELD (24, UINT64, damaged, "damaged"),
  FIELD (110, UINT64, held_back, "held-back"),
  FIELD (120, UINT64, persistent_ended, "persistent-ended"),
};

static const IrisWireRecord record = IRIS_WIRE_RECORD (IrisWireStatus, fields);

IrisWireStatus *
iris_wire_status_new (guint n_places)
{
  IrisWireStatus *self = g_new0 (IrisWireStatus, 1);

  self->n_places = n_places;
  self->places = g_new0 (IrisWirePlaceStatus, n_places);
  return self;
}

IrisWireStatus *
iris_wire_status_copy (const IrisWireStatus *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  IrisWireStatus *copy = g_memdup2 (self, sizeof *self);
  iris_wire_record_own (&record, copy);
  return copy;
}

void
iris_wire_status_free (IrisWireStatus *self)
{
  if (self == NULL)
    return;
  iris_wire_record_clear (&record, self);
  g_free (self);
}

GBytes *
iris_wire_status_encode (const IrisWireStatus *self, const IrisWireLimits *limits, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return iris_wire_record_encode (&record, NULL, self, "STATUS_REPLY", limits, error);
}

IrisWireStatus *
iris_wire_status_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error)
{
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  g_autoptr (IrisWireStatus) self = g_new0 (IrisWireStatus, 1);
  if (!iris_wire_record_decode (&record, NULL, self, "STATUS_REPLY", body, limits, error))
    return NULL;
  return g_steal_pointer (&self);
}
