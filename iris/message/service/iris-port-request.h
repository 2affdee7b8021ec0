/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Request and reply: a message that a thread waits for an answer to.
 */
#pragma once

#include <iris/message/iris-message.h>
#include <iris/message/port/iris-port.h>
#include <gio/gio.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL gboolean iris_message_wants_reply (IrisMessage *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_message_reply (IrisMessage *self, IrisMessage *reply);
IRIS_AVAILABLE_IN_ALL IrisMessage *
iris_port_request (IrisPort *self, IrisMessage *message, gint64 timeout_us, GError **error);
IRIS_AVAILABLE_IN_ALL void iris_port_request_async (IrisPort *self,
                                                    IrisMessage *message,
                                                    gint64 timeout_us,
                                                    GCancellable *cancellable,
                                                    GAsyncReadyCallback callback,
                                                    gpointer user_data);
IRIS_AVAILABLE_IN_ALL IrisMessage *
iris_port_request_finish (IrisPort *self, GAsyncResult *result, GError **error);
IRIS_AVAILABLE_IN_ALL void iris_port_request_to (IrisPort *self,
                                                 IrisMessage *message,
                                                 gint64 timeout_us,
                                                 IrisPort *reply_to,
                                                 IrisMessage *failure);

G_END_DECLS
