/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of STATUS_REPLY: the daemon's counters, and each place's.
 */
#include "iris-wire-status.h"

#include "iris-wire-record-private.h"

#define PLACE_FIELD(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatus, key, kind, member, text)

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

#define FIELD(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWireStatus, key, kind, member, text)

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
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatus, 12, LIST, places, &place_record),
  FIELD (20, BOOLEAN, ready, "ready"),
  FIELD (21, STRING, journal, "journal"),
  FIELD (22, STRING, journal_says, "journal-says"),
  FIELD (23, UINT64, persistent, "persistent"),
  FIELD (24, UINT64, damaged, "damaged"),
  FIELD (110, UINT64, held_back, "held-back"),
  FIELD (120, UINT64, persistent_ended, "persistent-ended"),
};

static const IrisWireRecord record = IRIS_WIRE_RECORD (IrisWireStatus, fields);

IRIS_WIRE_DEFINE_BODY (IrisWireStatus, status, "STATUS_REPLY", record)
