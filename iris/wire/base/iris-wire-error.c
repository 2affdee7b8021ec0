/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The protocol's errors: number, name, message.
 */
#include "iris-wire-error.h"

GQuark
iris_wire_error_quark (void)
{
  return g_quark_from_static_string ("iris-wire-error-quark");
}

static const struct
{
  const char *name;
  const char *message;
} errors[IRIS_WIRE_N_ERRORS + 1] = {
  [0] = { "unknown", "the other side failed in a way that this version has no words for; update "
                     "this program" },
  [IRIS_WIRE_ERROR_MALFORMED] = { "malformed",
                                  "the message breaks the protocol; see doc/protocol.md" },
  [IRIS_WIRE_ERROR_VERSION] = { "version", "both sides share no version of the protocol; update "
                                           "the older one" },
  [IRIS_WIRE_ERROR_HELLO_REQUIRED] = { "hello-required",
                                       "the first message on a connection must be HELLO" },
  [IRIS_WIRE_ERROR_UNKNOWN_TYPE] = { "unknown-type",
                                     "there is no such request in this version of the protocol" },
  [IRIS_WIRE_ERROR_UNKNOWN_SERVICE] = { "unknown-service", "there is no such service; ask with "
                                                           "SERVICES which there are" },
  [IRIS_WIRE_ERROR_NO_SUCH_PLACE] = { "no-such-place",
                                      "there is no such place; ask with MAP which there are" },
  [IRIS_WIRE_ERROR_TOO_LARGE] = { "too-large", "the message exceeds a limit; send less at a time "
                                               "or raise the limit" },
  [IRIS_WIRE_ERROR_BAD_ARGUMENT] = { "bad-argument", "a value cannot be used; mend the request" },
  [IRIS_WIRE_ERROR_NOT_FOUND] = { "not-found",
                                  "no item in flight has that request id; it may have ended" },
  [IRIS_WIRE_ERROR_CANCELLED] = { "cancelled", "the item was cancelled before it was done" },
  [IRIS_WIRE_ERROR_NO_SUCH_COMMAND] = { "no-such-command",
                                        "the program cannot be started; check its name and PATH" },
  [IRIS_WIRE_ERROR_UNREADABLE_FILE] = { "unreadable-file", "the file cannot be read by irisd; "
                                                           "check path and permissions" },
  [IRIS_WIRE_ERROR_SHUTTING_DOWN] = { "shutting-down", "irisd is stopping and takes no more items; "
                                                       "try again when it is back" },
  [IRIS_WIRE_ERROR_SERVICE_FAILED] = { "service-failed", "the service ran and failed" },
  [IRIS_WIRE_ERROR_DUPLICATE_ID] = { "duplicate-id", "an item with that request id is in flight; "
                                                     "use each id once" },
  [IRIS_WIRE_ERROR_BUSY] = { "busy", "too much is in flight; take in results, acknowledge them, "
                                     "and try again" },
  [IRIS_WIRE_ERROR_NOT_PERMITTED] = { "not-permitted",
                                      "this client may not do that; ask irisd's owner" },
  [IRIS_WIRE_ERROR_INTERNAL] = { "internal", "irisd failed; its log says more" },
  [IRIS_WIRE_ERROR_NOT_DURABLE] = { "not-durable", "this irisd keeps no journal; start it with "
                                                   "--journal, or send the item as volatile" },
  [IRIS_WIRE_ERROR_JOURNAL_FAILED] = { "journal-failed",
                                       "irisd could not write its journal; its log says why" },
  [IRIS_WIRE_ERROR_NO_SUCH_ITEM] = { "no-such-item",
                                     "there is no persistent item of that number: its end was "
                                     "fetched or has expired, or it never was" },
  [IRIS_WIRE_ERROR_TIME_LIMIT] = { "time-limit",
                                   "the item ran longer than its time limit; give it more time" },
  [IRIS_WIRE_ERROR_NO_SUCH_LEASE] = { "no-such-lease", "the lease has ended; drop the item's work, "
                                                       "it was given to another worker or ended" },
  [IRIS_WIRE_ERROR_NO_WORKER] = { "no-worker", "no worker serves the service any more; start one "
                                               "and send the item again" },
  [IRIS_WIRE_ERROR_WORKER_LOST] = { "worker-lost", "too many workers were lost while they had the "
                                                   "item; look into their logs" },
  [IRIS_WIRE_ERROR_UNKNOWN_DEPENDENCY] = { "unknown-dependency",
                                           "an item that this one comes after never was, or ended "
                                           "longer ago than irisd remembers; leave it out" },
  [IRIS_WIRE_ERROR_DEPENDENCY_FAILED] = { "dependency-failed",
                                          "an item that this one comes after failed; mend what "
                                          "failed, then send both again" },
  [IRIS_WIRE_ERROR_RAN_TOO_LONG] = { "ran-too-long", "the item ran longer than its time to run; "
                                                     "give it more time" },
  [IRIS_WIRE_ERROR_BURIED] = { "buried",
                               "the item is buried; kick it to run it again, or cancel it" },
  [IRIS_WIRE_ERROR_NOT_REMEMBERED] = { "not-remembered",
                                       "irisd does not remember where that item or path was last; "
                                       "name a place, or leave out strict" },
  [IRIS_WIRE_ERROR_DEADLINE_PASSED] = { "deadline-passed",
                                        "the item had not begun by its deadline; send it again "
                                        "with a later one, or with none" },
  [IRIS_WIRE_ERROR_KEY_REVOKED] = { "key-revoked",
                                    "the key of this client was revoked; ask irisd's owner for "
                                    "another one" },
  [IRIS_WIRE_ERROR_NO_CLUSTER] = { "no-cluster",
                                   "this irisd is in no cluster; name none of its nodes, or have "
                                   "it join one, [cluster] in its configuration" },
  [IRIS_WIRE_ERROR_NO_SUCH_NODE] = { "no-such-node",
                                     "the cluster has no node of that name; irisctl nodes shows "
                                     "which there are" },
  [IRIS_WIRE_ERROR_NODE_AWAY] = { "node-away",
                                  "the node does not answer; try again when it is back" },
};

/* The row of a code; the first one where the code has no meaning. */
static guint
row_of (guint code)
{
  return code <= IRIS_WIRE_N_ERRORS && errors[code].name != NULL ? code : 0;
}

const char *
iris_wire_error_name (guint code)
{
  return errors[row_of (code)].name;
}

const char *
iris_wire_error_message (guint code)
{
  return errors[row_of (code)].message;
}
