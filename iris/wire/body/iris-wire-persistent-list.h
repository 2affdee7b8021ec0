/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of LIST_REPLY and SHOW_REPLY: items that irisd keeps.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IRIS_WIRE_NO_PLACE:
 *
 * Stands for no place in #IrisWirePersistentItem.
 */
#define IRIS_WIRE_NO_PLACE G_MAXUINT32

/**
 * IRIS_WIRE_EXIT_SIGNAL:
 *
 * An exit code from here on is the number of the signal that killed a command, plus this.
 */
#define IRIS_WIRE_EXIT_SIGNAL 256

/**
 * IrisWirePersistentItem:
 * @item: key 0, its number
 * @state: key 1, an #IrisWireState
 * @klass: key 2, an #IrisWireClass
 * @attempts: key 6, how often it was run, as far as the journal knows
 * @service: key 3; owned
 * @key: key 4, its idempotency key, empty for none; owned
 * @bytes: key 5, of its payload, or of its result once it has ended
 * @accepted_ms: key 7, Unix time in milliseconds
 * @ended_ms: key 8, the same, 0 if it has not ended
 * @expires_ms: key 9, when its end is forgotten, 0 if it has not ended
 * @code: key 10, an #IrisWireError: why it is buried; 0 if it is not
 * @message: key 11, the same for a person, or where one for another node is; or empty; owned
 * @owner: key 20, the number of the user or key that it belongs to
 * @due_ms: key 21, before that Unix time in milliseconds it does not run; 0 if it waits for no time
 * @started_ms: key 22, when its latest attempt began, the same; 0 if none did since irisd started
 * @place: key 23, the place that it was queued at, %IRIS_WIRE_NO_PLACE for none
 * @crashes: key 24, how often irisd crashed while it ran
 * @args: key 25, (nullable) (array zero-terminated=1): its arguments; %NULL for none, and once it
 *   has ended; owned
 * @traceparent: key 26, the trace that it belongs to, as it was sent; empty for none, and once it
 * has ended; owned
 * @owner_name: key 31, the name of the key that it belongs to, empty for a user; owned
 * @node: key 32, the node of the cluster where it runs or waits; empty: this one, or any; owned
 * @exit_code: key 33, of a command that is done: its exit status, or %IRIS_WIRE_EXIT_SIGNAL and the
 *   signal that killed it; else 0
 *
 * One item. A string that is %NULL is sent as an empty one.
 */
typedef struct
{
  guint64 item;
  guint32 state;
  guint32 klass;
  guint32 attempts;
  char *service;
  char *key;
  guint64 bytes;
  guint64 accepted_ms;
  guint64 ended_ms;
  guint64 expires_ms;
  guint32 code;
  char *message;
  guint64 owner;
  guint64 due_ms;
  guint64 started_ms;
  guint32 place;
  guint32 crashes;
  char **args;
  char *traceparent;
  char *owner_name;
  char *node;
  guint32 exit_code;
} IrisWirePersistentItem;

/**
 * IrisWirePersistentList:
 * @n_items: length of @items
 * @items: (array length=n_items): in order of their numbers; owned
 *
 * Items that irisd keeps.
 */
typedef struct
{
  guint n_items;
  IrisWirePersistentItem *items;
} IrisWirePersistentList;

/**
 * iris_wire_persistent_list_new:
 *
 * Returns: (transfer full): items that are all zeroes; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWirePersistentList *iris_wire_persistent_list_new (guint n_items);

/**
 * iris_wire_persistent_list_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_persistent_list_free (IrisWirePersistentList *self);

/**
 * iris_wire_persistent_list_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *iris_wire_persistent_list_encode (const IrisWirePersistentList *self,
                                          const IrisWireLimits *limits,
                                          GError **error);

/**
 * iris_wire_persistent_list_decode:
 * @body: the body of a LIST_REPLY or SHOW_REPLY
 *
 * Returns: (transfer full): the items, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWirePersistentList *
iris_wire_persistent_list_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_state_name:
 * @state: an #IrisWireState
 *
 * Returns: (transfer none): `queued`, `running`, `done`, `failed`, `cancelled`, `delayed`,
 * `leased`, `buried`, or `unknown` for one that is newer
 */
IRIS_AVAILABLE_IN_ALL
const char *iris_wire_state_name (guint state);

/**
 * iris_wire_class_name:
 * @klass: an #IrisWireClass
 *
 * Returns: (transfer none): `volatile`, `relaxed`, `durable`, or `unknown` for one that is newer
 */
IRIS_AVAILABLE_IN_ALL
const char *iris_wire_class_name (guint klass);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWirePersistentList, iris_wire_persistent_list_free)

G_END_DECLS
