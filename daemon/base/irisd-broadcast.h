/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A request that goes from gateway to gateway.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"

G_BEGIN_DECLS

typedef struct _IrisdGateway IrisdGateway;
typedef struct _IrisdBroadcast IrisdBroadcast;

/* The functions of a kind of broadcast. */
typedef struct
{
  /* looks at this gateway, then passes it on or answers it */
  void (*run) (IrisdGateway *gateway, IrisdBroadcast *self);
  /* goes on after the reload of the item that it is about */
  void (*resume) (IrisdBroadcast *self);
  /* returns it with an error, or when no gateway is left to ask */
  void (*refuse) (IrisdBroadcast *self, const GError *error);
  void (*free) (IrisdBroadcast *self); /* irisd ends */
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

#define irisd_broadcast_from_message(pointer) IRISD_CONTAINER (pointer, IrisdBroadcast, message)

G_END_DECLS
