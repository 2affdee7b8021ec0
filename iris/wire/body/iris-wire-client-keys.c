/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of KEYS_REPLY: the keys of clients, and their use.
 */
#include "iris-wire-client-keys.h"

#include "iris-wire-record-private.h"

#define FIELD(key, kind, member, text) \
  IRIS_WIRE_RECORD_FIELD (IrisWireClientKey, key, kind, member, text)

static const IrisWireRecordField key_fields[] = {
  FIELD (0, STRING, name, "name"),        FIELD (1, STRING, public_key, "public"),
  FIELD (2, STRING, roles, "roles"),      FIELD (3, BOOLEAN, any_service, "any-service"),
  FIELD (4, TEXTS, services, "services"), FIELD (5, UINT64, rate, "rate"),
  FIELD (6, UINT64, owner, "owner"),      FIELD (7, UINT32, connections, "connections"),
  FIELD (8, UINT64, seen_ms, "seen-ms"),
};

static const IrisWireRecord key_record = IRIS_WIRE_RECORD (IrisWireClientKey, key_fields);

IRIS_WIRE_DEFINE_LIST_BODY (IrisWireClientKeys, client_keys, "KEYS_REPLY", key_record, keys)

GVariant *
iris_wire_client_keys_to_variant (const IrisWireClientKeys *self)
{
  GVariantBuilder builder;

  g_return_val_if_fail (self != NULL, NULL);

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < self->n_keys; i++)
    g_variant_builder_add_value (&builder,
                                 iris_wire_record_to_variant (&key_record, &self->keys[i]));
  return g_variant_builder_end (&builder);
}
