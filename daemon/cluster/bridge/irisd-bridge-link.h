/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One IRS1 connection of the cluster thread to its own irisd.
 *
 * A DEALER socket in a GMainContext: HELLO, WELCOME, then messages in both directions, and PING
 * when nothing else was sent for a while. When irisd does not answer, or does not know the
 * connection any more, the link says that it is down and makes a new connection by itself.
 *
 * A link belongs to the thread that runs its context. Its functions may free it.
 */
#pragma once

#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

typedef struct _IrisdBridgeLink IrisdBridgeLink;

typedef struct
{
  /* irisd has answered HELLO */
  void (*up) (const IrisWireMessage *welcome, gpointer user_data);
  /* any message but WELCOME and PONG; it borrows from the link */
  void (*message) (const IrisWireMessage *message, gpointer user_data);
  /* the connection that was up is gone, and all that it had with it; NULL: not of interest */
  void (*down) (const char *why, gpointer user_data);
  /* all that had arrived was handed over, so what was gathered meanwhile can be sent; or NULL */
  void (*drained) (gpointer user_data);
} IrisdBridgeLinkFuncs;

IrisdBridgeLink *irisd_bridge_link_new (void *zmq,
                                        GMainContext *context,
                                        const char *endpoint,
                                        const char *token,
                                        const char *name,
                                        guint64 features,
                                        const IrisdBridgeLinkFuncs *funcs,
                                        gpointer user_data);
void irisd_bridge_link_free (IrisdBridgeLink *self);

gboolean irisd_bridge_link_is_up (const IrisdBridgeLink *self);
gboolean irisd_bridge_link_send (IrisdBridgeLink *self, const IrisWireMessage *message);
void irisd_bridge_link_rest (IrisdBridgeLink *self, gint64 until);
void irisd_bridge_link_set_silence (IrisdBridgeLink *self, guint64 silence_ms);
void irisd_bridge_link_new_id (IrisdBridgeLink *self, guint8 *id);
void irisd_bridge_link_say_bye (IrisdBridgeLink *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdBridgeLink, irisd_bridge_link_free)

G_END_DECLS
