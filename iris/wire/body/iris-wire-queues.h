/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of QUEUES_REPLY: named queues, their rules, and how many items they have.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireQueueInfo:
 * @name: key 0, its name; owned
 * @limit: key 1, how many of its items may run at once; 0: as many as can
 * @priority: key 2, of its items that say none
 * @suspended: key 3, none of its items begins
 * @running: key 4, its items that have their turn
 * @waiting: key 5, its other items that have not ended
 *
 * One named queue.
 */
typedef struct
{
  char *name;
  guint32 limit;
  guint32 priority;
  gboolean suspended;
  guint64 running;
  guint64 waiting;
} IrisWireQueueInfo;

/**
 * IrisWireQueues:
 * @n_queues: length of @queues
 * @queues: (array length=n_queues): in the order of their names; owned
 *
 * All of them.
 */
typedef struct
{
  guint n_queues;
  IrisWireQueueInfo *queues;
} IrisWireQueues;

/**
 * iris_wire_queues_new:
 *
 * Returns: (transfer full): queues that are all zeroes; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireQueues *iris_wire_queues_new (guint n_queues);

/**
 * iris_wire_queues_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_queues_free (IrisWireQueues *self);

/**
 * iris_wire_queues_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *
iris_wire_queues_encode (const IrisWireQueues *self, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_queues_decode:
 * @body: the body of a QUEUES_REPLY
 *
 * Returns: (transfer full): the queues, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireQueues *
iris_wire_queues_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_queues_to_variant:
 *
 * The same by the names of the protocol: an array of dictionaries, "aa{sv}".
 *
 * Returns: (transfer none): a floating value
 */
IRIS_AVAILABLE_IN_ALL
GVariant *iris_wire_queues_to_variant (const IrisWireQueues *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireQueues, iris_wire_queues_free)

G_END_DECLS
