/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A request that goes from gateway to gateway.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"

G_BEGIN_DECLS

typedef struct _IrisdGateway IrisdGateway;
typedef struct _IrisdBroadcast IrisdBroadcast;

/**
 * IrisdBroadcastClass:
 * @run: (transfer full): looks at this gateway, then passes it on or answers it
 * @resume: (transfer full): goes on after the reload of the item that it is about
 * @refuse: (transfer full): returns it with an error, or when no gateway is left to ask
 * @free: irisd ends
 *
 * The functions of a kind of broadcast.
 */
typedef struct
{
  void (*run) (IrisdGateway *gateway, IrisdBroadcast *self);
  void (*resume) (IrisdGateway *gateway, IrisdBroadcast *self);
  void (*refuse) (IrisdBroadcast *self, const GError *error);
  void (*free) (IrisdBroadcast *self);
} IrisdBroadcastClass;

/* Embed it first. */
struct _IrisdBroadcast
{
  IrisdMessage message;
  const IrisdBroadcastClass *klass;
};

static inline void
irisd_broadcast_init (IrisdBroadcast *self, const IrisdBroadcastClass *klass)
{
  self->message = (IrisdMessage){ .kind = IRISD_MESSAGE_BROADCAST };
  self->klass = klass;
}

static inline void
irisd_broadcast_run (IrisdGateway *gateway, IrisdBroadcast *self)
{
  self->klass->run (gateway, self);
}

static inline IrisdBroadcast *
irisd_broadcast_from_message (IrisdMessage *message)
{
  return (IrisdBroadcast *) ((char *) message - G_STRUCT_OFFSET (IrisdBroadcast, message));
}

G_END_DECLS
