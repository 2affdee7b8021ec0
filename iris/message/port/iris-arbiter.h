/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arbiter: joins ports to handlers, and says which of them may run together.
 */
#pragma once

#include <iris/message/port/iris-port.h>
#include <iris/message/port/iris-receiver.h>

G_BEGIN_DECLS

/**
 * IrisArbiter:
 *
 * Says which receivers may handle messages at the same time; see [func@Arbiter.coordinate].
 *
 * The receivers own their arbiter; a program need not keep it.
 */
#define IRIS_TYPE_ARBITER (iris_arbiter_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisArbiter, iris_arbiter, IRIS, ARBITER, GObject)

IRIS_AVAILABLE_IN_ALL IrisReceiver *iris_arbiter_receive (IrisScheduler *scheduler,
                                                          IrisPort *port,
                                                          IrisMessageHandler handler,
                                                          gpointer data,
                                                          GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisReceiver *iris_arbiter_receive_exclusive (IrisScheduler *scheduler,
                                                                    IrisPort *port,
                                                                    IrisMessageHandler handler,
                                                                    gpointer data,
                                                                    GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisArbiter *
iris_arbiter_coordinate (IrisReceiver *exclusive, IrisReceiver *concurrent, IrisReceiver *teardown);

G_END_DECLS
