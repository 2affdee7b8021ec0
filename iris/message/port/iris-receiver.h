/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The receiver: turns the messages of a port into work items.
 */
#pragma once

#include <iris/message/iris-message.h>
#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

/**
 * IrisMessageHandler:
 * @message: (transfer none): the message, valid until the handler returns
 * @data: (closure): what was given with the handler
 *
 * Handles one message, on a worker of the receiver's scheduler. Handlers of one receiver may run
 * at the same time, unless it is exclusive.
 */
typedef void (*IrisMessageHandler) (IrisMessage *message, gpointer data);

/**
 * IrisReceiver:
 *
 * What turns the messages of a port into work: a handler, and the scheduler that runs it.
 *
 * [func@Arbiter.receive] makes one and joins it to a port, in one call.
 */
#define IRIS_TYPE_RECEIVER (iris_receiver_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisReceiver, iris_receiver, IRIS, RECEIVER, GObject)

IRIS_AVAILABLE_IN_ALL IrisReceiver *iris_receiver_new (IrisScheduler *scheduler,
                                                       IrisMessageHandler handler,
                                                       gpointer data,
                                                       GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_receiver_get_scheduler (IrisReceiver *self);
IRIS_AVAILABLE_IN_ALL void
iris_receiver_set_place (IrisReceiver *self, gint place, IrisItemFlags flags);
IRIS_AVAILABLE_IN_ALL void iris_receiver_set_batch (IrisReceiver *self, guint n_messages);
IRIS_AVAILABLE_IN_ALL guint iris_receiver_get_batch (IrisReceiver *self);
IRIS_AVAILABLE_IN_ALL void iris_receiver_destroy (IrisReceiver *self, gboolean in_message);

G_END_DECLS
