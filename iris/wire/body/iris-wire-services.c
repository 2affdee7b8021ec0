/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bodies of SERVICES_REPLY, READY and WORKERS_REPLY.
 */
#include "iris-wire-services.h"

#include "iris-wire-record-private.h"

static const IrisWireRecordField service_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireService, 0, STRING, name, "name"),
  IRIS_WIRE_RECORD_FIELD (IrisWireService, 1, STRING, summary, "summary"),
};

static const IrisWireRecord service_record = IRIS_WIRE_RECORD (IrisWireService, service_fields);

IRIS_WIRE_DEFINE_LIST_BODY (IrisWireServices, services, "SERVICES_REPLY", service_record, services)

#define FIELD(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWireWorker, key, kind, member, text)

static const IrisWireRecordField worker_fields[] = {
  FIELD (0, STRING, name, "name"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireWorker, 1, LIST, services, &service_record),
  IRIS_WIRE_RECORD_ARRAY (IrisWireWorker, 2, NUMBERS, places, NULL),
  FIELD (3, UINT32, capacity, "capacity"),
  FIELD (4, UINT32, leased, "leased"),
  FIELD (5, UINT64, done, "done"),
  FIELD (6, UINT64, failed, "failed"),
  FIELD (7, UINT64, lost, "lost"),
  FIELD (8, UINT64, silent_ms, "silent-ms"),
};

static const IrisWireRecord worker_record = IRIS_WIRE_RECORD (IrisWireWorker, worker_fields);

IRIS_WIRE_DEFINE_LIST_BODY (IrisWireWorkers, workers, "WORKERS_REPLY", worker_record, workers)
