/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arbiter: joins ports to handlers.
 */
#define IRIS_INSIDE
#include "iris/message/iris-arbiter.h"
#undef IRIS_INSIDE

/**
 * iris_arbiter_receive:
 * @scheduler: (nullable): where the handler runs, or %NULL for the default scheduler
 * @port: the port to receive from
 * @handler: (scope notified) (closure data) (destroy notify): called for each message
 * @data: (nullable): for @handler and @notify
 * @notify: (nullable): called with @data when the handler will not be called again
 *
 * Receives the messages of a port, those that already wait in it first.
 *
 * The handler may run on several workers at once. A receiver that the port had before is replaced.
 *
 * Returns: (transfer none): the receiver; the port owns it
 *
 * Since: 0.1
 */
IrisReceiver *
iris_arbiter_receive (IrisScheduler *scheduler,
                      IrisPort *port,
                      IrisMessageHandler handler,
                      gpointer data,
                      GDestroyNotify notify)
{
  g_autoptr (IrisReceiver) receiver = NULL;

  g_return_val_if_fail (scheduler == NULL || IRIS_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (IRIS_IS_PORT (port), NULL);
  g_return_val_if_fail (handler != NULL, NULL);

  receiver = iris_receiver_new (scheduler, handler, data, notify);
  iris_port_set_receiver (port, receiver);

  return receiver;
}
