/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A work item that irisd keeps.
 */
#pragma once

#include <iris-client/base/iris-client-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_CLIENT_TYPE_ITEM (iris_client_item_get_type ())

/**
 * IrisClientItemState:
 * @IRIS_CLIENT_ITEM_ANY: for lists: whatever their state
 * @IRIS_CLIENT_ITEM_QUEUED: it waits
 * @IRIS_CLIENT_ITEM_RUNNING: it runs
 * @IRIS_CLIENT_ITEM_DONE: it has ended well
 * @IRIS_CLIENT_ITEM_FAILED: it has ended with an error
 * @IRIS_CLIENT_ITEM_CANCELLED: it was cancelled
 * @IRIS_CLIENT_ITEM_DELAYED: it waits for its time
 * @IRIS_CLIENT_ITEM_LEASED: a worker process has it
 * @IRIS_CLIENT_ITEM_BURIED: it was set aside, until it is kicked or cancelled
 * @IRIS_CLIENT_ITEM_SUSPENDED: it waits, or its processes are stopped, until it is resumed
 *
 * Where a persistent item is. A newer irisd may know more states.
 */
typedef enum
{
  IRIS_CLIENT_ITEM_ANY = 0,
  IRIS_CLIENT_ITEM_QUEUED = 1,
  IRIS_CLIENT_ITEM_RUNNING = 2,
  IRIS_CLIENT_ITEM_DONE = 3,
  IRIS_CLIENT_ITEM_FAILED = 4,
  IRIS_CLIENT_ITEM_CANCELLED = 5,
  IRIS_CLIENT_ITEM_DELAYED = 6,
  IRIS_CLIENT_ITEM_LEASED = 7,
  IRIS_CLIENT_ITEM_BURIED = 8,
  IRIS_CLIENT_ITEM_SUSPENDED = 9,
} IrisClientItemState;

/**
 * IrisClientOutputFunc:
 * @is_error: whether it was written to standard error, not to standard output
 * @offset: how much the command had written before; 0 again when another attempt has begun
 * @bytes: a part of what the command wrote
 * @user_data: what the function was given with
 *
 * Takes output of a command that is followed. An offset beyond the end of the part before says that
 * what lies between was not kept.
 */
typedef void (*IrisClientOutputFunc) (gboolean is_error,
                                      guint64 offset,
                                      GBytes *bytes,
                                      gpointer user_data);

/**
 * IrisClientItem:
 * @number: the number by which irisd knows it
 * @state: where it is
 * @state_name: the same in words (`queued`)
 * @durability: `relaxed` or `durable`
 * @service: what runs it
 * @key: its idempotency key, empty if it has none
 * @attempts: how often it ran to an end
 * @bytes: of its payload, or of its result once it has ended
 * @accepted_ms: when it was accepted, in Unix time in milliseconds
 * @ended_ms: when it ended, the same; 0 if it has not
 * @expires_ms: when its end is forgotten, the same; 0 if it has not ended
 * @error_name: why it is buried, as the protocol names it (`service-failed`); empty if it is not
 * @message: the same for a person; of a suspended one why it is; of a leased one for another node
 *   where it runs or waits
 * @owner: the number of the user or key that it belongs to
 * @due_ms: before that Unix time in milliseconds it does not run; 0 if it waits for no time
 * @started_ms: when its latest attempt began, the same; 0 if none did since irisd started
 * @place: the id of the place that it was queued at; -1 if that is not known
 * @crashes: how often irisd crashed while it ran
 * @args: (array zero-terminated=1): its arguments, the program first if the service is `command`;
 *   none once it has ended, and in a list only if [method@IrisClient.ClientQuery.set_with_args]
 *   was called
 * @traceparent: the trace that it belongs to; empty for none, likewise
 * @owner_name: the name of the key that it belongs to; empty for a user
 * @node: the node of irisd's cluster where it runs, or that it was submitted to; empty: this one,
 * or any
 * @exit_status: of a command that is done: its exit status, or -1 if a signal killed it; else 0
 * @signal: of a command that is done: the signal that killed it; else 0
 *
 * A work item that irisd keeps. Its fields are to be read only.
 */
typedef struct
{
  guint64 number;
  IrisClientItemState state;
  char *state_name;
  char *durability;
  char *service;
  char *key;
  guint attempts;
  guint64 bytes;
  guint64 accepted_ms;
  guint64 ended_ms;
  guint64 expires_ms;
  char *error_name;
  char *message;
  guint64 owner;
  guint64 due_ms;
  guint64 started_ms;
  int place;
  guint crashes;
  char **args;
  char *traceparent;
  char *owner_name;
  char *node;
  int exit_status;
  int signal;
} IrisClientItem;

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_client_item_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientItem *iris_client_item_ref (IrisClientItem *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_item_unref (IrisClientItem *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisClientItem, iris_client_item_unref)

G_END_DECLS
