/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of QUEUES_REPLY: named queues, their rules, and how many items they have.
 */
#include "iris-wire-queues.h"

#include "iris-wire-record-private.h"

#define FIELD(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWireQueueInfo, key, kind, member, text)

static const IrisWireRecordField queue_fields[] = {
  FIELD (0, STRING, name, "name"),         FIELD (1, UINT32, limit, "limit"),
  FIELD (2, UINT32, priority, "priority"), FIELD (3, BOOLEAN, suspended, "suspended"),
  FIELD (4, UINT64, running, "running"),   FIELD (5, UINT64, waiting, "waiting"),
};

static const IrisWireRecord queue_record = IRIS_WIRE_RECORD (IrisWireQueueInfo, queue_fields);

IRIS_WIRE_DEFINE_LIST_BODY (IrisWireQueues, queues, "QUEUES_REPLY", queue_record, queues)

GVariant *
iris_wire_queues_to_variant (const IrisWireQueues *self)
{
  GVariantBuilder builder;

  g_return_val_if_fail (self != NULL, NULL);

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < self->n_queues; i++)
    g_variant_builder_add_value (&builder,
                                 iris_wire_record_to_variant (&queue_record, &self->queues[i]));
  return g_variant_builder_end (&builder);
}
