/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of MAP_REPLY: a list of places.
 */
#include "iris-wire-map.h"

#include "iris-wire-record-private.h"

#define FIELD(key, kind, member) IRIS_WIRE_RECORD_FIELD (IrisWirePlace, key, kind, member, #member)

static const IrisWireRecordField place_fields[] = {
  FIELD (0, UINT32, id),      FIELD (1, STRING, name),
  FIELD (2, STRING, cpus),    FIELD (3, STRING, endpoint),
  FIELD (4, UINT32, workers), FIELD (5, STRING, nodes),
  FIELD (6, BOOLEAN, bound),  IRIS_WIRE_RECORD_ARRAY (IrisWirePlace, 7, NUMBERS, distances, NULL),
};

static const IrisWireRecord place_record = IRIS_WIRE_RECORD (IrisWirePlace, place_fields);

IRIS_WIRE_DEFINE_LIST_BODY (IrisWireMap, map, "MAP_REPLY", place_record, places)
