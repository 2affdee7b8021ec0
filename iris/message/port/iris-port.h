/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The port: where messages are posted.
 */
#pragma once

#include <iris/message/iris-message.h>
#include <iris/message/port/iris-port-limit.h>
#include <iris/message/port/iris-receiver.h>

G_BEGIN_DECLS

/**
 * IrisPort:
 *
 * Where messages are posted, from any thread.
 *
 * A port hands each message to its receiver, in the order in which one thread posted them; without
 * a receiver, or while it is paused, it keeps them. It has no limit unless [method@Port.set_limit]
 * gives it one.
 */
#define IRIS_TYPE_PORT (iris_port_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisPort, iris_port, IRIS, PORT, GObject)

/**
 * IrisPortFullFunc:
 * @port: a bounded port
 * @message: (transfer none): the message that it refused
 * @data: (closure): what was given with the function
 *
 * Hears of a message that a full port refused; see %IRIS_PORT_FULL_TELL.
 */
typedef void (*IrisPortFullFunc) (IrisPort *port, IrisMessage *message, gpointer data);

IRIS_AVAILABLE_IN_ALL IrisPort *iris_port_new (void);
IRIS_AVAILABLE_IN_ALL void iris_port_post (IrisPort *self, IrisMessage *message);
IRIS_AVAILABLE_IN_ALL gboolean iris_port_try_post (IrisPort *self,
                                                   IrisMessage *message,
                                                   GError **error);
IRIS_AVAILABLE_IN_ALL void
iris_port_set_limit (IrisPort *self, guint limit, IrisPortFull when_full);
IRIS_AVAILABLE_IN_ALL void iris_port_set_full_func (IrisPort *self,
                                                    IrisPortFullFunc func,
                                                    gpointer data,
                                                    GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL gboolean iris_port_get_counts (IrisPort *self, IrisPortCounts *counts);
IRIS_AVAILABLE_IN_ALL gboolean iris_port_has_receiver (IrisPort *self);
IRIS_AVAILABLE_IN_ALL IrisReceiver *iris_port_dup_receiver (IrisPort *self);
IRIS_AVAILABLE_IN_ALL IrisReceiver *iris_port_get_receiver (IrisPort *self);
IRIS_AVAILABLE_IN_ALL void iris_port_set_receiver (IrisPort *self, IrisReceiver *receiver);
IRIS_AVAILABLE_IN_ALL void iris_port_pause (IrisPort *self);
IRIS_AVAILABLE_IN_ALL void iris_port_resume (IrisPort *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_port_is_paused (IrisPort *self);
IRIS_AVAILABLE_IN_ALL guint iris_port_get_queue_length (IrisPort *self);

G_END_DECLS
