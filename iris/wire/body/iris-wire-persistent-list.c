/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of LIST_REPLY and SHOW_REPLY: items that irisd keeps.
 */
#include "iris-wire-persistent-list.h"

#include "iris-wire-record-private.h"

#define ITEM_FIELD(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWirePersistentItem, key, kind, member, text)

static const IrisWireRecordField item_fields[] = {
  ITEM_FIELD (0, UINT64, item, "item"),
  ITEM_FIELD (1, UINT32, state, "state"),
  ITEM_FIELD (2, UINT32, klass, "class"),
  ITEM_FIELD (3, STRING, service, "service"),
  ITEM_FIELD (4, STRING, key, "key"),
  ITEM_FIELD (5, UINT64, bytes, "bytes"),
  ITEM_FIELD (6, UINT32, attempts, "attempts"),
  ITEM_FIELD (7, UINT64, accepted_ms, "accepted-ms"),
  ITEM_FIELD (8, UINT64, ended_ms, "ended-ms"),
  ITEM_FIELD (9, UINT64, expires_ms, "expires-ms"),
  ITEM_FIELD (10, UINT32, code, "code"),
  ITEM_FIELD (11, STRING, message, "message"),
  ITEM_FIELD (20, UINT64, owner, "owner"),
  ITEM_FIELD (21, UINT64, due_ms, "due-ms"),
  ITEM_FIELD (22, UINT64, started_ms, "started-ms"),
  ITEM_FIELD (23, UINT32, place, "place"),
  ITEM_FIELD (24, UINT32, crashes, "crashes"),
  ITEM_FIELD (25, TEXTS, args, "args"),
  ITEM_FIELD (26, STRING, traceparent, "traceparent"),
  ITEM_FIELD (31, STRING, owner_name, "owner-name"),
  ITEM_FIELD (32, STRING, node, "node"),
  ITEM_FIELD (33, UINT32, exit_code, "exit-code"),
};

static const IrisWireRecord item_record = IRIS_WIRE_RECORD (IrisWirePersistentItem, item_fields);

IRIS_WIRE_DEFINE_LIST_BODY (IrisWirePersistentList,
                            persistent_list,
                            "LIST_REPLY",
                            item_record,
                            items)

const char *
iris_wire_state_name (guint state)
{
  static const char *const names[] = {
    [IRIS_WIRE_STATE_QUEUED] = "queued",       [IRIS_WIRE_STATE_RUNNING] = "running",
    [IRIS_WIRE_STATE_DONE] = "done",           [IRIS_WIRE_STATE_FAILED] = "failed",
    [IRIS_WIRE_STATE_CANCELLED] = "cancelled", [IRIS_WIRE_STATE_DELAYED] = "delayed",
    [IRIS_WIRE_STATE_LEASED] = "leased",       [IRIS_WIRE_STATE_BURIED] = "buried",
    [IRIS_WIRE_STATE_SUSPENDED] = "suspended",
  };

  return state < G_N_ELEMENTS (names) && names[state] != NULL ? names[state] : "unknown";
}

const char *
iris_wire_class_name (guint klass)
{
  static const char *const names[] = {
    [IRIS_WIRE_CLASS_VOLATILE] = "volatile",
    [IRIS_WIRE_CLASS_RELAXED] = "relaxed",
    [IRIS_WIRE_CLASS_DURABLE] = "durable",
  };

  return klass < G_N_ELEMENTS (names) ? names[klass] : "unknown";
}
