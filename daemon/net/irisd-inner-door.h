/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The front door for irisd's own cluster thread, inside of the process.
 *
 * A message takes two threads and no socket of the kernel, over ipc three and one. ZeroMQ reports
 * no user for it, and none either for a TCP connection that is lost early. So the cluster thread
 * shows a token that only this process has: its routing ids begin with it.
 */
#pragma once

#include "daemon/net/irisd-reply.h"

G_BEGIN_DECLS

#define IRISD_INNER_ENDPOINT "inproc://irisd-front"

typedef struct _IrisdInnerDoor IrisdInnerDoor;

IrisdInnerDoor *irisd_inner_door_new (void *socket, GError **error);
void irisd_inner_door_free (IrisdInnerDoor *self);
const char *irisd_inner_door_get_token (const IrisdInnerDoor *self);
const char *irisd_inner_door_find_address (const IrisdInnerDoor *self, const IrisdRoute *route);

G_END_DECLS
