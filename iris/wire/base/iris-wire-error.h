/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The protocol's errors: a stable number and name for programs, a message for people.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * IRIS_WIRE_ERROR:
 *
 * The domain of everything that goes wrong in the protocol, found here or told by the other side.
 * Its codes are the numbers that travel in key 40 of ERROR and BUSY; one that a newer irisd sends
 * may be missing in #IrisWireError.
 */
#define IRIS_WIRE_ERROR (iris_wire_error_quark ())

/**
 * IrisWireError:
 * @IRIS_WIRE_ERROR_MALFORMED: `malformed`: the message breaks the protocol's grammar
 * @IRIS_WIRE_ERROR_VERSION: `version`: no version that both sides speak
 * @IRIS_WIRE_ERROR_HELLO_REQUIRED: `hello-required`: something else came before HELLO
 * @IRIS_WIRE_ERROR_UNKNOWN_TYPE: `unknown-type`: no such message type, or not in this direction
 * @IRIS_WIRE_ERROR_UNKNOWN_SERVICE: `unknown-service`: no service of that name
 * @IRIS_WIRE_ERROR_NO_SUCH_PLACE: `no-such-place`: the hint names a place that does not exist
 * @IRIS_WIRE_ERROR_TOO_LARGE: `too-large`: a limit on one message is exceeded
 * @IRIS_WIRE_ERROR_BAD_ARGUMENT: `bad-argument`: well-formed, but not a value that can be used
 * @IRIS_WIRE_ERROR_NOT_FOUND: `not-found`: no item with that request id
 * @IRIS_WIRE_ERROR_CANCELLED: `cancelled`: the item was cancelled
 * @IRIS_WIRE_ERROR_NO_SUCH_COMMAND: `no-such-command`: the program cannot be started
 * @IRIS_WIRE_ERROR_UNREADABLE_FILE: `unreadable-file`: the file cannot be read
 * @IRIS_WIRE_ERROR_SHUTTING_DOWN: `shutting-down`: irisd takes no more items
 * @IRIS_WIRE_ERROR_SERVICE_FAILED: `service-failed`: the service ran and failed
 * @IRIS_WIRE_ERROR_DUPLICATE_ID: `duplicate-id`: an item with that request id is in flight
 * @IRIS_WIRE_ERROR_BUSY: `busy`: a limit on items in flight is reached; try again later
 * @IRIS_WIRE_ERROR_NOT_PERMITTED: `not-permitted`: this client may not do that
 * @IRIS_WIRE_ERROR_INTERNAL: `internal`: irisd itself failed
 * @IRIS_WIRE_ERROR_NOT_DURABLE: `not-durable`: this irisd keeps no journal
 * @IRIS_WIRE_ERROR_JOURNAL_FAILED: `journal-failed`: the journal could not be written
 * @IRIS_WIRE_ERROR_NO_SUCH_ITEM: `no-such-item`: no item of that number is kept
 * @IRIS_WIRE_ERROR_TIME_LIMIT: `time-limit`: the item ran for longer than it may
 * @IRIS_WIRE_ERROR_NO_SUCH_LEASE: `no-such-lease`: the lease has ended, or never was this worker's
 * @IRIS_WIRE_ERROR_NO_WORKER: `no-worker`: no worker serves the item's service any more
 * @IRIS_WIRE_ERROR_WORKER_LOST: `worker-lost`: too many workers were lost while they had the item
 * @IRIS_WIRE_ERROR_UNKNOWN_DEPENDENCY: `unknown-dependency`: `after` names an item that is not
 * known
 * @IRIS_WIRE_ERROR_DEPENDENCY_FAILED: `dependency-failed`: an item that this one comes after failed
 * @IRIS_WIRE_ERROR_RAN_TOO_LONG: `ran-too-long`: the item ran longer than its time to run
 * @IRIS_WIRE_ERROR_BURIED: `buried`: the item was set aside, and has no end until it is kicked or
 * cancelled
 * @IRIS_WIRE_ERROR_NOT_REMEMBERED: `not-remembered`: it is not known any more where that item or
 * path was
 * @IRIS_WIRE_ERROR_DEADLINE_PASSED: `deadline-passed`: the item had not begun by its `deadline-ms`
 * @IRIS_WIRE_ERROR_KEY_REVOKED: `key-revoked`: the key of this client is not taken any more
 * @IRIS_WIRE_ERROR_NO_CLUSTER: `no-cluster`: this irisd is in no cluster
 * @IRIS_WIRE_ERROR_NO_SUCH_NODE: `no-such-node`: the cluster has no node of that name
 * @IRIS_WIRE_ERROR_NODE_AWAY: `node-away`: that node does not answer
 *
 * Numbers never change their meaning and are never used again.
 */
typedef enum
{
  IRIS_WIRE_ERROR_MALFORMED = 1,
  IRIS_WIRE_ERROR_VERSION = 2,
  IRIS_WIRE_ERROR_HELLO_REQUIRED = 3,
  IRIS_WIRE_ERROR_UNKNOWN_TYPE = 4,
  IRIS_WIRE_ERROR_UNKNOWN_SERVICE = 5,
  IRIS_WIRE_ERROR_NO_SUCH_PLACE = 6,
  IRIS_WIRE_ERROR_TOO_LARGE = 7,
  IRIS_WIRE_ERROR_BAD_ARGUMENT = 8,
  IRIS_WIRE_ERROR_NOT_FOUND = 9,
  IRIS_WIRE_ERROR_CANCELLED = 10,
  IRIS_WIRE_ERROR_NO_SUCH_COMMAND = 11,
  IRIS_WIRE_ERROR_UNREADABLE_FILE = 12,
  IRIS_WIRE_ERROR_SHUTTING_DOWN = 13,
  IRIS_WIRE_ERROR_SERVICE_FAILED = 14,
  IRIS_WIRE_ERROR_DUPLICATE_ID = 15,
  IRIS_WIRE_ERROR_BUSY = 16,
  IRIS_WIRE_ERROR_NOT_PERMITTED = 17,
  IRIS_WIRE_ERROR_INTERNAL = 18,
  IRIS_WIRE_ERROR_NOT_DURABLE = 19,
  IRIS_WIRE_ERROR_JOURNAL_FAILED = 20,
  IRIS_WIRE_ERROR_NO_SUCH_ITEM = 21,
  IRIS_WIRE_ERROR_TIME_LIMIT = 28,
  IRIS_WIRE_ERROR_NO_SUCH_LEASE = 25,
  IRIS_WIRE_ERROR_NO_WORKER = 26,
  IRIS_WIRE_ERROR_WORKER_LOST = 27,
  IRIS_WIRE_ERROR_UNKNOWN_DEPENDENCY = 22,
  IRIS_WIRE_ERROR_DEPENDENCY_FAILED = 23,
  IRIS_WIRE_ERROR_RAN_TOO_LONG = 24,
  IRIS_WIRE_ERROR_BURIED = 29,
  IRIS_WIRE_ERROR_NOT_REMEMBERED = 30,
  IRIS_WIRE_ERROR_DEADLINE_PASSED = 32,
  IRIS_WIRE_ERROR_KEY_REVOKED = 33,
  IRIS_WIRE_ERROR_NO_CLUSTER = 34,
  IRIS_WIRE_ERROR_NO_SUCH_NODE = 35,
  IRIS_WIRE_ERROR_NODE_AWAY = 36,
} IrisWireError;

/**
 * IRIS_WIRE_N_ERRORS:
 *
 * The codes are among 1 to this one; some in between have no meaning yet.
 */
#define IRIS_WIRE_N_ERRORS 36

IRIS_AVAILABLE_IN_ALL
GQuark iris_wire_error_quark (void);

/**
 * iris_wire_error_name:
 * @code: a code, which may be one that this version does not know
 *
 * The stable name that travels in key 41, for example `unknown-service`.
 *
 * Returns: (transfer none): a name; `unknown` for a code that has none here
 */
IRIS_AVAILABLE_IN_ALL
const char *iris_wire_error_name (guint code);

/**
 * iris_wire_error_message:
 * @code: a code, which may be one that this version does not know
 *
 * A sentence that says what the code means and what to do next, for where nothing more exact is
 * known.
 *
 * Returns: (transfer none): a sentence without a full stop
 */
IRIS_AVAILABLE_IN_ALL
const char *iris_wire_error_message (guint code);

G_END_DECLS
