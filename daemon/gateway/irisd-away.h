/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items and requests that are for other nodes, or come from them.
 */
#pragma once

#include "daemon/exec/worker/irisd-away-item.h"
#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

/* Of a SUBMIT: an item without these is for this node, if this node has its service. */
#define IRISD_CLUSTER_KEYS                                                               \
  (IRISD_AWAY_KEYS | IRIS_WIRE_BIT (IRIS_WIRE_KEY_FOR_OWNER)                             \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEY_NAME) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_CLUSTER_ITEM) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_AFTER_AWAY) | IRISD_PLACE_KEYS)

/* Of these, the keys that may mean a place of this node. */
#define IRISD_PLACE_KEYS                                                             \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_ITEM) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_PATH))

/**
 * IrisdActing:
 * @caller: the connection as that of the owner
 *
 * The bridge's connection while it acts for the owner of an item.
 */
typedef struct
{
  IrisdCaller caller;

  /*< private >*/
  gint64 owner;
  IrisdRoles roles;
  gconstpointer client;
} IrisdActing;

gboolean irisd_away_route (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *item,
                           IrisWireMessage *out,
                           GError **error);
gboolean irisd_away_has_service (IrisdGateway *self, const IrisWireMessage *item);
gboolean irisd_away_route_to_any (IrisdGateway *self, IrisWireMessage *item, GError **error);
gboolean irisd_away_find_node (IrisdGateway *self,
                               const IrisWireString *name,
                               gboolean *own,
                               GError **error);

gboolean irisd_acting_begin (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *request,
                             IrisdActing *acting,
                             GError **error);
void irisd_acting_end (IrisdActing *self);

G_END_DECLS
