/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of SCHEDULES_REPLY: schedules, when they are due, and how their last runs ended.
 */
#include "iris-wire-schedules.h"

#include "iris-wire-record-private.h"

#define FIELD(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWireScheduleInfo, key, kind, member, text)

static const IrisWireRecordField schedule_fields[] = {
  FIELD (0, STRING, name, "name"),
  FIELD (1, UINT64, owner, "owner"),
  FIELD (2, STRING, calendar, "calendar"),
  FIELD (3, UINT64, every_ms, "every-ms"),
  FIELD (4, STRING, zone, "zone"),
  FIELD (5, UINT64, jitter_ms, "jitter-ms"),
  FIELD (6, UINT32, missed, "missed"),
  FIELD (7, UINT32, overlap, "overlap"),
  FIELD (8, BOOLEAN, suspended, "suspended"),
  FIELD (9, UINT64, next_ms, "next-ms"),
  FIELD (10, UINT64, last_ms, "last-ms"),
  FIELD (11, UINT64, item, "item"),
  FIELD (12, UINT32, state, "state"),
  FIELD (13, UINT64, runs, "runs"),
  FIELD (14, UINT64, skipped, "skipped"),
  FIELD (15, STRING, service, "service"),
  FIELD (16, TEXTS, args, "args"),
  FIELD (17, UINT32, exit_code, "exit-code"),
  FIELD (18, STRING, node, "node"),
  FIELD (19, BOOLEAN, any_node, "any-node"),
  FIELD (20, STRING, place, "place"),
  FIELD (21, BOOLEAN, strict, "strict"),
};

static const IrisWireRecord schedule_record = IRIS_WIRE_RECORD (IrisWireScheduleInfo,
                                                                schedule_fields);

IRIS_WIRE_DEFINE_LIST_BODY (IrisWireSchedules,
                            schedules,
                            "SCHEDULES_REPLY",
                            schedule_record,
                            schedules)

GVariant *
iris_wire_schedules_to_variant (const IrisWireSchedules *self)
{
  GVariantBuilder builder;

  g_return_val_if_fail (self != NULL, NULL);

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < self->n_schedules; i++)
    g_variant_builder_add_value (
        &builder, iris_wire_record_to_variant (&schedule_record, &self->schedules[i]));
  return g_variant_builder_end (&builder);
}
