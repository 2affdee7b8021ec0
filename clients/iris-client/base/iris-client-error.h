/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can go wrong between a program and irisd.
 */
#pragma once

#include <iris-client/base/iris-client-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_CLIENT_TYPE_ERROR (iris_client_error_get_type ())

/**
 * IRIS_CLIENT_ERROR:
 *
 * The error domain of libiris-client; its codes are [enum@IrisClientError].
 */
#define IRIS_CLIENT_ERROR (iris_client_error_quark ())

/**
 * IrisClientError:
 * @IRIS_CLIENT_ERROR_FAILED: irisd sent an error code that this library does not know
 * @IRIS_CLIENT_ERROR_MALFORMED: irisd could not read what was sent
 * @IRIS_CLIENT_ERROR_VERSION: no version of the protocol that both sides speak
 * @IRIS_CLIENT_ERROR_HELLO_REQUIRED: the connection has not said HELLO yet
 * @IRIS_CLIENT_ERROR_UNKNOWN_TYPE: irisd does not know this kind of message
 * @IRIS_CLIENT_ERROR_UNKNOWN_SERVICE: irisd offers no service of that name
 * @IRIS_CLIENT_ERROR_NO_SUCH_PLACE: irisd has no such place
 * @IRIS_CLIENT_ERROR_TOO_LARGE: over a limit on sizes; the message names it
 * @IRIS_CLIENT_ERROR_BAD_ARGUMENT: the service cannot work with what it was given
 * @IRIS_CLIENT_ERROR_NOT_FOUND: there is no item with that id, or it has ended
 * @IRIS_CLIENT_ERROR_CANCELLED: the item was cancelled, not by this call
 * @IRIS_CLIENT_ERROR_NO_SUCH_COMMAND: the program to be run does not exist
 * @IRIS_CLIENT_ERROR_UNREADABLE_FILE: irisd cannot read the file
 * @IRIS_CLIENT_ERROR_SHUTTING_DOWN: irisd takes no more items because it is stopping
 * @IRIS_CLIENT_ERROR_SERVICE_FAILED: the service was run and failed
 * @IRIS_CLIENT_ERROR_DUPLICATE_ID: an item with that id is in flight already
 * @IRIS_CLIENT_ERROR_BUSY: irisd went on refusing the item for longer than the busy timeout
 * @IRIS_CLIENT_ERROR_NOT_PERMITTED: irisd does not allow this
 * @IRIS_CLIENT_ERROR_INTERNAL: irisd itself failed
 * @IRIS_CLIENT_ERROR_NOT_DURABLE: this irisd keeps no journal, and so no items
 * @IRIS_CLIENT_ERROR_JOURNAL_FAILED: irisd could not write its journal
 * @IRIS_CLIENT_ERROR_NO_SUCH_ITEM: no item of that number is kept
 * @IRIS_CLIENT_ERROR_UNKNOWN_DEPENDENCY: the item comes after one that irisd does not know
 * @IRIS_CLIENT_ERROR_DEPENDENCY_FAILED: an item that this one comes after failed
 * @IRIS_CLIENT_ERROR_RAN_TOO_LONG: the item ran longer than its time to run
 * @IRIS_CLIENT_ERROR_NOT_REMEMBERED: a strict item wants to be near what irisd does not remember
 * @IRIS_CLIENT_ERROR_NO_SUCH_LEASE: the lease has ended, or never was this worker's
 * @IRIS_CLIENT_ERROR_NO_WORKER: no worker process serves the item's service any more
 * @IRIS_CLIENT_ERROR_WORKER_LOST: too many workers were lost while they had the item
 * @IRIS_CLIENT_ERROR_TIME_LIMIT: the command ran for longer than its time limit
 * @IRIS_CLIENT_ERROR_BURIED: the item was set aside: it is kept, and has no end until it is kicked
 * @IRIS_CLIENT_ERROR_DEADLINE_PASSED: the item had not begun by its deadline
 * @IRIS_CLIENT_ERROR_KEY_REVOKED: the key of this client is not taken any more
 * @IRIS_CLIENT_ERROR_NO_CLUSTER: this irisd is in no cluster
 * @IRIS_CLIENT_ERROR_NO_SUCH_NODE: the cluster has no node of that name
 * @IRIS_CLIENT_ERROR_NODE_AWAY: that node does not answer
 * @IRIS_CLIENT_ERROR_NOT_CONNECTED: no irisd answers; the item was not sent
 * @IRIS_CLIENT_ERROR_TIMED_OUT: irisd is there but did not answer in time; the item may have run
 * @IRIS_CLIENT_ERROR_DISCONNECTED: irisd vanished; the item may or may not have run
 * @IRIS_CLIENT_ERROR_QUEUE_FULL: more items wait in the client than it may hold
 * @IRIS_CLIENT_ERROR_PROTOCOL: irisd sent something that this library cannot read
 * @IRIS_CLIENT_ERROR_PENDING: the persistent item has not ended yet
 *
 * The codes below 100 are those of the protocol, number by number; the others come from the
 * client's own side of the connection.
 */
typedef enum
{
  IRIS_CLIENT_ERROR_FAILED = 0,
  IRIS_CLIENT_ERROR_MALFORMED = 1,
  IRIS_CLIENT_ERROR_VERSION = 2,
  IRIS_CLIENT_ERROR_HELLO_REQUIRED = 3,
  IRIS_CLIENT_ERROR_UNKNOWN_TYPE = 4,
  IRIS_CLIENT_ERROR_UNKNOWN_SERVICE = 5,
  IRIS_CLIENT_ERROR_NO_SUCH_PLACE = 6,
  IRIS_CLIENT_ERROR_TOO_LARGE = 7,
  IRIS_CLIENT_ERROR_BAD_ARGUMENT = 8,
  IRIS_CLIENT_ERROR_NOT_FOUND = 9,
  IRIS_CLIENT_ERROR_CANCELLED = 10,
  IRIS_CLIENT_ERROR_NO_SUCH_COMMAND = 11,
  IRIS_CLIENT_ERROR_UNREADABLE_FILE = 12,
  IRIS_CLIENT_ERROR_SHUTTING_DOWN = 13,
  IRIS_CLIENT_ERROR_SERVICE_FAILED = 14,
  IRIS_CLIENT_ERROR_DUPLICATE_ID = 15,
  IRIS_CLIENT_ERROR_BUSY = 16,
  IRIS_CLIENT_ERROR_NOT_PERMITTED = 17,
  IRIS_CLIENT_ERROR_INTERNAL = 18,
  IRIS_CLIENT_ERROR_NOT_DURABLE = 19,
  IRIS_CLIENT_ERROR_JOURNAL_FAILED = 20,
  IRIS_CLIENT_ERROR_NO_SUCH_ITEM = 21,
  IRIS_CLIENT_ERROR_UNKNOWN_DEPENDENCY = 22,
  IRIS_CLIENT_ERROR_DEPENDENCY_FAILED = 23,
  IRIS_CLIENT_ERROR_RAN_TOO_LONG = 24,
  IRIS_CLIENT_ERROR_NO_SUCH_LEASE = 25,
  IRIS_CLIENT_ERROR_NO_WORKER = 26,
  IRIS_CLIENT_ERROR_WORKER_LOST = 27,
  IRIS_CLIENT_ERROR_TIME_LIMIT = 28,
  IRIS_CLIENT_ERROR_BURIED = 29,
  IRIS_CLIENT_ERROR_NOT_REMEMBERED = 30,
  IRIS_CLIENT_ERROR_DEADLINE_PASSED = 32,
  IRIS_CLIENT_ERROR_KEY_REVOKED = 33,
  IRIS_CLIENT_ERROR_NO_CLUSTER = 34,
  IRIS_CLIENT_ERROR_NO_SUCH_NODE = 35,
  IRIS_CLIENT_ERROR_NODE_AWAY = 36,

  IRIS_CLIENT_ERROR_NOT_CONNECTED = 100,
  IRIS_CLIENT_ERROR_TIMED_OUT = 101,
  IRIS_CLIENT_ERROR_DISCONNECTED = 102,
  IRIS_CLIENT_ERROR_QUEUE_FULL = 103,
  IRIS_CLIENT_ERROR_PROTOCOL = 104,
  IRIS_CLIENT_ERROR_PENDING = 105,
} IrisClientError;

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_client_error_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
GQuark iris_client_error_quark (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_client_error_get_name (const GError *error);
IRIS_CLIENT_AVAILABLE_IN_ALL
int iris_client_error_get_home (const GError *error);
IRIS_CLIENT_AVAILABLE_IN_ALL
int iris_client_error_get_place (const GError *error);
IRIS_CLIENT_AVAILABLE_IN_ALL
guint64 iris_client_error_get_item (const GError *error);

G_END_DECLS
