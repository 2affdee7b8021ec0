/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A question that goes from gateway to gateway, as those see it that hold it meanwhile.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"

G_BEGIN_DECLS

typedef struct _IrisdGateway IrisdGateway;
typedef struct _IrisdBroadcast IrisdBroadcast;

/**
 * IrisdBroadcastClass:
 * @run: (transfer full): the gateway has it: it looks here, goes on, or is answered
 * @resume: (transfer full): the item that it is about was on disk only, and has been read
 * @send_home: (transfer full): there is nothing left to look for, or an error
 * @free: irisd ends
 *
 * What a kind of broadcast does.
 */
typedef struct
{
  void (*run) (IrisdGateway *gateway, IrisdBroadcast *self);
  void (*resume) (IrisdGateway *gateway, IrisdBroadcast *self);
  void (*send_home) (IrisdBroadcast *self, const GError *error);
  void (*free) (IrisdBroadcast *self);
} IrisdBroadcastClass;

/**
 * IrisdBroadcast:
 *
 * A message to gateways; embed it first.
 */
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
