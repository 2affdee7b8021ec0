/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of STATUS_REPLY: what irisd is and what it has done so far.
 */
#pragma once

#include <iris/wire/iris-wire-limits.h>
#include <iris/wire/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWirePlaceStatus:
 * @id: key 0
 * @workers: key 8
 * @waiting: key 120, items that wait for their turn at it
 * @under_way: key 121, items whose turn has come and that have not ended
 * @name: key 1; owned
 * @hinted: key 2, items whose hint named it
 * @executed: key 3, items that ran there
 * @stolen_in: key 4, items that it took from other places
 * @stolen_out: key 5, items that other places took from it
 * @bytes: key 6, bytes that its services worked on
 * @busy_ns: key 7, nanoseconds that its workers spent running items
 * @drained: key 9, it takes no more items
 * @active: key 10, how many of its workers are to take part; 0 if it is drained
 * @backlog: key 11, items that were queued there and have not come back
 *
 * What one place did since the daemon was started.
 */
typedef struct
{
  guint32 id;
  guint32 workers;
  char *name;
  guint64 hinted;
  guint64 executed;
  guint64 stolen_in;
  guint64 stolen_out;
  guint64 bytes;
  guint64 busy_ns;
  gboolean drained;
  guint32 active;
  guint64 backlog;
} IrisWirePlaceStatus;

/**
 * IrisWireStatus:
 * @version: key 0, of the daemon; owned
 * @scheduler: key 3, its name; owned
 * @pid: key 1
 * @draining: key 4, it takes no more items
 * @uptime_ms: key 2, milliseconds since it was started
 * @peers: key 5, connections that said HELLO
 * @in_flight: key 6, items accepted and not yet ended
 * @accepted: key 7, items
 * @ended: key 8, items that ended, well or not
 * @failed: key 9, items that ended with an error
 * @malformed: key 10, messages that did not parse
 * @refused: key 11, items refused with BUSY
 * @ready: key 20, it takes all kinds of items
 * @journal: key 21, `none`, `ready`, `full` or `failed`; owned
 * @journal_says: key 22, why it is not ready; owned
 * @persistent: key 23, items that it keeps
 * @damaged: key 24, items that the journal had lost when irisd started, at least so many
 * @held_back: key 110, items that wait because as many of their client or service run as may
 * @persistent_ended: key 120, items in the journal that have ended
 * @n_places: length of @places
 * @places: (array length=n_places): key 12; owned
 *
 * A daemon's counters. A string that is %NULL is sent as an empty one.
 */
typedef struct
{
  char *version;
  char *scheduler;
  guint32 pid;
  gboolean draining;
  guint64 uptime_ms;
  guint64 peers;
  guint64 in_flight;
  guint64 accepted;
  guint64 ended;
  guint64 failed;
  guint64 malformed;
  guint64 refused;
  gboolean ready;
  char *journal;
  char *journal_says;
  guint64 persistent;
  guint64 damaged;
  guint64 held_back;
  guint64 persistent_ended;
  guint n_places;
  IrisWirePlaceStatus *places;
} IrisWireStatus;

/**
 * iris_wire_status_new:
 * @n_places: how many places
 *
 * Returns: (transfer full): a status that is all zeroes; fill it with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireStatus *iris_wire_status_new (guint n_places);

/**
 * iris_wire_status_copy:
 *
 * Returns: (transfer full): a deep copy
 */
IRIS_AVAILABLE_IN_ALL
IrisWireStatus *iris_wire_status_copy (const IrisWireStatus *self);

/**
 * iris_wire_status_free:
 * @self: (transfer full) (nullable): a status
 *
 * Frees @self and all that it owns.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_status_free (IrisWireStatus *self);

/**
 * iris_wire_status_encode:
 * @limits: (nullable): what the body may cost
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *
iris_wire_status_encode (const IrisWireStatus *self, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_status_decode:
 * @body: the body of a STATUS_REPLY
 * @limits: (nullable): what the body may cost
 *
 * Returns: (transfer full): the status, which borrows nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireStatus *
iris_wire_status_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireStatus, iris_wire_status_free)

G_END_DECLS
