/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arbiter: joins ports to handlers.
 */
#pragma once

#include <iris/message/iris-port.h>
#include <iris/message/iris-receiver.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL
IrisReceiver *iris_arbiter_receive (IrisScheduler *scheduler,
                                    IrisPort *port,
                                    IrisMessageHandler handler,
                                    gpointer data,
                                    GDestroyNotify notify);

G_END_DECLS
