/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tables of keys and types. A new key or type is one line here (and one in doc/protocol.md).
 */
#include "iris-wire-field-private.h"

#define UINT32(member, text, least, most)                                               \
  {                                                                                     \
    IRIS_WIRE_KIND_UINT32, G_STRUCT_OFFSET (IrisWireMessage, member), text, least, most \
  }
#define UINT64(member, text)                                                               \
  {                                                                                        \
    IRIS_WIRE_KIND_UINT64, G_STRUCT_OFFSET (IrisWireMessage, member), text, 0, G_MAXUINT64 \
  }
#define INT32(member, text, least, most)                                               \
  {                                                                                    \
    IRIS_WIRE_KIND_INT32, G_STRUCT_OFFSET (IrisWireMessage, member), text, least, most \
  }
#define OTHER(kind, member, text)                                                \
  {                                                                              \
    IRIS_WIRE_KIND_##kind, G_STRUCT_OFFSET (IrisWireMessage, member), text, 0, 0 \
  }

const IrisWireField iris_wire_fields[IRIS_WIRE_N_KEYS] = {
  [IRIS_WIRE_KEY_VERSION_MIN] = UINT32 (version_min, "version-min", 1, G_MAXUINT32),
  [IRIS_WIRE_KEY_VERSION_MAX] = UINT32 (version_max, "version-max", 1, G_MAXUINT32),
  [IRIS_WIRE_KEY_FEATURES] = UINT64 (features, "features"),
  [IRIS_WIRE_KEY_NAME] = OTHER (STRING, name, "name"),
  [IRIS_WIRE_KEY_CREDITS] = UINT32 (credits, "credits", 1, G_MAXUINT32),
  [IRIS_WIRE_KEY_BYTE_CREDITS] = UINT64 (byte_credits, "byte-credits"),
  [IRIS_WIRE_KEY_MAX_BODY] = UINT64 (max_body, "max-body"),
  [IRIS_WIRE_KEY_SOCKET_PLACE] = INT32 (socket_place, "socket-place", -1, G_MAXINT32),
  [IRIS_WIRE_KEY_MAX_BATCH] = UINT32 (max_batch, "max-batch", 1, G_MAXUINT32),
  [IRIS_WIRE_KEY_SERVICE] = OTHER (STRING, service, "service"),
  [IRIS_WIRE_KEY_HINT] = INT32 (hint, "hint", -1, G_MAXINT32),
  [IRIS_WIRE_KEY_STRICT] = OTHER (BOOLEAN, strict, "strict"),
  [IRIS_WIRE_KEY_CONTENT_TYPE] = OTHER (STRING, content_type, "content-type"),
  [IRIS_WIRE_KEY_ARGS] = OTHER (ARGS, args, "args"),
  [IRIS_WIRE_KEY_PATH] = OTHER (RAW, path, "path"),
  [IRIS_WIRE_KEY_QUIET] = OTHER (BOOLEAN, quiet, "quiet"),
  [IRIS_WIRE_KEY_HOME] = INT32 (home, "home", -1, G_MAXINT32),
  [IRIS_WIRE_KEY_PLACE] = INT32 (place, "place", -1, G_MAXINT32),
  [IRIS_WIRE_KEY_WORKER] = INT32 (worker, "worker", -1, G_MAXINT32),
  [IRIS_WIRE_KEY_QUEUE_NS] = UINT64 (queue_ns, "queue-ns"),
  [IRIS_WIRE_KEY_RUN_NS] = UINT64 (run_ns, "run-ns"),
  [IRIS_WIRE_KEY_BYTES] = UINT64 (bytes, "bytes"),
  [IRIS_WIRE_KEY_EXIT_STATUS] = INT32 (exit_status, "exit-status", G_MININT32, G_MAXINT32),
  [IRIS_WIRE_KEY_SIGNAL] = INT32 (signal, "signal", 0, 128),
  [IRIS_WIRE_KEY_STDOUT_LENGTH] = UINT64 (stdout_length, "stdout-length"),
  [IRIS_WIRE_KEY_TRUNCATED] = OTHER (BOOLEAN, truncated, "truncated"),
  [IRIS_WIRE_KEY_CODE] = UINT32 (code, "code", 1, G_MAXINT32),
  [IRIS_WIRE_KEY_ERROR_NAME] = OTHER (STRING, error_name, "error-name"),
  [IRIS_WIRE_KEY_MESSAGE] = OTHER (STRING, message, "message"),
  [IRIS_WIRE_KEY_ENDS] = OTHER (BOOLEAN, ends, "ends"),
  [IRIS_WIRE_KEY_LIMIT] = OTHER (STRING, limit, "limit"),
  [IRIS_WIRE_KEY_LIMIT_VALUE] = UINT64 (limit_value, "limit-value"),
  [IRIS_WIRE_KEY_RETRY_AFTER_MS] = UINT32 (retry_after_ms, "retry-after-ms", 0, G_MAXUINT32),
  [IRIS_WIRE_KEY_COUNT] = UINT32 (count, "count", 0, G_MAXUINT32),
  [IRIS_WIRE_KEY_TARGET] = OTHER (ID, target, "target"),
  [IRIS_WIRE_KEY_STATE] =
      UINT32 (state, "state", IRIS_WIRE_STATE_QUEUED, IRIS_WIRE_STATE_SUSPENDED),
  [IRIS_WIRE_KEY_ANYWHERE] = OTHER (BOOLEAN, anywhere, "anywhere"),
  [IRIS_WIRE_KEY_CLASS] = UINT32 (klass, "class", 0, IRIS_WIRE_CLASS_DURABLE),
  [IRIS_WIRE_KEY_KEY] = OTHER (RAW, key, "key"),
  [IRIS_WIRE_KEY_KEEP_MS] = UINT64 (keep_ms, "keep-ms"),
  [IRIS_WIRE_KEY_ITEM] = UINT64 (item, "item"),
  [IRIS_WIRE_KEY_WAIT_MS] = UINT64 (wait_ms, "wait-ms"),
  [IRIS_WIRE_KEY_DETACH] = OTHER (BOOLEAN, detach, "detach"),
  [IRIS_WIRE_KEY_DELAY_MS] = UINT64 (delay_ms, "delay-ms"),
  [IRIS_WIRE_KEY_AT_MS] = UINT64 (at_ms, "at-ms"),
  [IRIS_WIRE_KEY_PRIORITY] = UINT32 (priority, "priority", 0, IRIS_WIRE_MOST_PRIORITY),
  [IRIS_WIRE_KEY_AFTER] = OTHER (NUMBERS, after, "after"),
  [IRIS_WIRE_KEY_AFTER_AWAY] = OTHER (ARGS, after_away, "after-away"),
  [IRIS_WIRE_KEY_AFTER_HOW] =
      UINT32 (after_how, "after-how", IRIS_WIRE_AFTER_ALL, IRIS_WIRE_AFTER_SUCCESS),
  [IRIS_WIRE_KEY_RETRIES] = UINT32 (retries, "retries", 0, G_MAXUINT32),
  [IRIS_WIRE_KEY_BACKOFF_MS] = UINT64 (backoff_ms, "backoff-ms"),
  [IRIS_WIRE_KEY_TIME_TO_RUN_MS] = UINT64 (time_to_run_ms, "time-to-run-ms"),
  [IRIS_WIRE_KEY_ATTEMPTS] = UINT32 (attempts, "attempts", 1, G_MAXUINT32),
  [IRIS_WIRE_KEY_STREAM] = UINT64 (stream, "stream"),
  [IRIS_WIRE_KEY_DIRECTORY] = OTHER (RAW, directory, "directory"),
  [IRIS_WIRE_KEY_ENVIRONMENT] = OTHER (ARGS, environment, "environment"),
  [IRIS_WIRE_KEY_CLEAR_ENVIRONMENT] = OTHER (BOOLEAN, clear_environment, "clear-environment"),
  [IRIS_WIRE_KEY_NICE] = INT32 (nice, "nice", 0, 19),
  [IRIS_WIRE_KEY_LIMITS] = OTHER (ARGS, limits, "limits"),
  [IRIS_WIRE_KEY_TIME_LIMIT_MS] = UINT64 (time_limit_ms, "time-limit-ms"),
  [IRIS_WIRE_KEY_GRACE_MS] = UINT64 (grace_ms, "grace-ms"),
  [IRIS_WIRE_KEY_CHANNEL] =
      UINT32 (channel, "channel", IRIS_WIRE_CHANNEL_OUTPUT, IRIS_WIRE_CHANNEL_ERRORS),
  [IRIS_WIRE_KEY_GRANT] = UINT64 (grant, "grant"),
  [IRIS_WIRE_KEY_PROGRESS] = OTHER (BOOLEAN, progress, "progress"),
  [IRIS_WIRE_KEY_FRACTION] = UINT32 (fraction, "fraction", 0, IRIS_WIRE_WHOLE),
  [IRIS_WIRE_KEY_NOTE] = OTHER (STRING, note, "note"),
  [IRIS_WIRE_KEY_CAPACITY] = UINT32 (capacity, "capacity", 0, G_MAXUINT32),
  [IRIS_WIRE_KEY_LEASE_MS] = UINT64 (lease_ms, "lease-ms"),
  [IRIS_WIRE_KEY_AGAIN] = OTHER (BOOLEAN, again, "again"),
  [IRIS_WIRE_KEY_ATTEMPT] = UINT32 (attempt, "attempt", 1, G_MAXUINT32),
  [IRIS_WIRE_KEY_SILENCE_MS] = UINT64 (silence_ms, "silence-ms"),
  [IRIS_WIRE_KEY_DEADLINE_MS] = UINT64 (deadline_ms, "deadline-ms"),
  [IRIS_WIRE_KEY_WAIT_FOR_SERVICE] = OTHER (BOOLEAN, wait_for_service, "wait-for-service"),
  [IRIS_WIRE_KEY_BURY] = OTHER (BOOLEAN, bury, "bury"),
  [IRIS_WIRE_KEY_WORKERS] = UINT32 (workers, "workers", 1, G_MAXUINT32),
  [IRIS_WIRE_KEY_PAYLOAD] = OTHER (BOOLEAN, payload, "payload"),
  [IRIS_WIRE_KEY_DRAINED] = OTHER (BOOLEAN, drained, "drained"),
  [IRIS_WIRE_KEY_HINT_NAME] = OTHER (STRING, hint_name, "hint-name"),
  [IRIS_WIRE_KEY_NEAR_ITEM] = UINT64 (near_item, "near-item"),
  [IRIS_WIRE_KEY_NEAR_PATH] = OTHER (RAW, near_path, "near-path"),
  [IRIS_WIRE_KEY_PARTS] = UINT64 (parts, "parts"),
  [IRIS_WIRE_KEY_FOOTPRINT] = UINT64 (footprint, "footprint"),
  [IRIS_WIRE_KEY_KEEP_APART] = OTHER (BOOLEAN, keep_apart, "keep-apart"),
  [IRIS_WIRE_KEY_STATES] = UINT32 (states, "states", 1, G_MAXUINT32),
  [IRIS_WIRE_KEY_KEY_PREFIX] = OTHER (RAW, key_prefix, "key-prefix"),
  [IRIS_WIRE_KEY_SINCE_MS] = UINT64 (since_ms, "since-ms"),
  [IRIS_WIRE_KEY_UNTIL_MS] = UINT64 (until_ms, "until-ms"),
  [IRIS_WIRE_KEY_DESCENDING] = OTHER (BOOLEAN, descending, "descending"),
  [IRIS_WIRE_KEY_QUEUE] = OTHER (STRING, queue, "queue"),
  [IRIS_WIRE_KEY_QUEUE_LIMIT] = UINT32 (queue_limit, "queue-limit", 0, G_MAXUINT32),
  [IRIS_WIRE_KEY_SCHEDULE] = OTHER (STRING, schedule, "schedule"),
  [IRIS_WIRE_KEY_ZONE] = OTHER (STRING, zone, "zone"),
  [IRIS_WIRE_KEY_JITTER_MS] = UINT64 (jitter_ms, "jitter-ms"),
  [IRIS_WIRE_KEY_MISSED] = UINT32 (missed, "missed", IRIS_WIRE_MISSED_SKIP, IRIS_WIRE_MISSED_ONE),
  [IRIS_WIRE_KEY_OVERLAP] =
      UINT32 (overlap, "overlap", IRIS_WIRE_OVERLAP_ALLOW, IRIS_WIRE_OVERLAP_QUEUE),
  [IRIS_WIRE_KEY_OFFSET] = UINT64 (offset, "offset"),
  [IRIS_WIRE_KEY_KEEP_OUTPUT] = UINT64 (keep_output, "keep-output"),
  [IRIS_WIRE_KEY_OUTPUT_POLICY] = UINT32 (output_policy,
                                          "output-policy",
                                          IRIS_WIRE_OUTPUT_POLICY_HEAD_AND_TAIL,
                                          IRIS_WIRE_OUTPUT_POLICY_TAIL),
  [IRIS_WIRE_KEY_HOOK] = OTHER (ARGS, hook, "hook"),
  [IRIS_WIRE_KEY_TRACEPARENT] = OTHER (STRING, traceparent, "traceparent"),
  [IRIS_WIRE_KEY_TRACESTATE] = OTHER (STRING, tracestate, "tracestate"),
  [IRIS_WIRE_KEY_SECTIONS] = UINT32 (sections, "sections", 0, G_MAXUINT32),
  [IRIS_WIRE_KEY_KEY_NAME] = OTHER (STRING, key_name, "key-name"),
  [IRIS_WIRE_KEY_SESSION] = OTHER (RAW, session, "session"),
  [IRIS_WIRE_KEY_CALENDAR] = OTHER (STRING, calendar, "calendar"),
  [IRIS_WIRE_KEY_REMOVE] = OTHER (BOOLEAN, remove, "remove"),
  [IRIS_WIRE_KEY_SUSPENDED] = OTHER (BOOLEAN, suspended, "suspended"),
  [IRIS_WIRE_KEY_EVERY_MS] = UINT64 (every_ms, "every-ms"),
  [IRIS_WIRE_KEY_NODE] = OTHER (STRING, node, "node"),
  [IRIS_WIRE_KEY_ANY_NODE] = OTHER (BOOLEAN, any_node, "any-node"),
  [IRIS_WIRE_KEY_FOR_OWNER] = UINT64 (for_owner, "for-owner"),
  [IRIS_WIRE_KEY_HEADER] = OTHER (DATA, header, "header"),
  [IRIS_WIRE_KEY_CLUSTER_ITEM] = OTHER (ID, cluster_item, "cluster-item"),
  [IRIS_WIRE_KEY_TYPE] = UINT32 (asked, "type", 1, 0xff),
};

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

#define WAITING_KEYS                                                                    \
  (K (DELAY_MS) | K (AT_MS) | K (PRIORITY) | K (AFTER) | K (AFTER_AWAY) | K (AFTER_HOW) \
   | K (RETRIES) | K (BACKOFF_MS) | K (TIME_TO_RUN_MS) | K (DEADLINE_MS) | K (WAIT_FOR_SERVICE))
#define NEAR_KEYS   (K (HINT_NAME) | K (NEAR_ITEM) | K (NEAR_PATH))
#define MEMORY_KEYS (K (FOOTPRINT) | K (KEEP_APART))
#define KEEP_KEYS   (K (CLASS) | K (KEY) | K (KEEP_MS) | K (DETACH) | K (BURY))
#define ITEM_KEYS                                                                              \
  (K (SERVICE) | K (HINT) | K (STRICT) | K (CONTENT_TYPE) | K (ARGS) | K (PATH) | K (QUIET)    \
   | NEAR_KEYS | MEMORY_KEYS | KEEP_KEYS | WAITING_KEYS | TRACE_KEYS | OUTPUT_KEYS | K (QUEUE) \
   | K (NODE) | K (ANY_NODE) | K (CLUSTER_ITEM) | OWNER_KEYS)
/* Of requests that may be about another node; only the bridge says for which owner. */
#define OWNER_KEYS (K (FOR_OWNER) | K (KEY_NAME))
#define ASKED_KEYS (K (NODE) | OWNER_KEYS)
#define COMMAND_KEYS                                                                            \
  (K (STREAM) | K (DIRECTORY) | K (ENVIRONMENT) | K (CLEAR_ENVIRONMENT) | K (NICE) | K (LIMITS) \
   | K (TIME_LIMIT_MS) | K (GRACE_MS))
#define RUN_KEYS                                                                               \
  (K (HOME) | K (PLACE) | K (WORKER) | K (QUEUE_NS) | K (RUN_NS) | K (BYTES) | K (EXIT_STATUS) \
   | K (SIGNAL) | K (ITEM) | K (ATTEMPTS) | K (NODE))
#define TRACE_KEYS   (K (TRACEPARENT) | K (TRACESTATE))
#define OUTPUT_KEYS  (K (KEEP_OUTPUT) | K (OUTPUT_POLICY) | K (HOOK))
#define VERSION_KEYS (K (VERSION_MIN) | K (VERSION_MAX))
#define WELCOME_KEYS \
  (VERSION_KEYS | K (CREDITS) | K (BYTE_CREDITS) | K (MAX_BODY) | K (SOCKET_PLACE))
#define ERROR_KEYS  (K (CODE) | K (ERROR_NAME) | K (MESSAGE))
#define LIMIT_KEYS  (K (LIMIT) | K (LIMIT_VALUE))
#define LEASE_KEYS  (K (SERVICE) | K (LEASE_MS) | K (ATTEMPT))
#define REPORT_KEYS (K (FRACTION) | K (NOTE))
#define LIST_KEYS                                                                           \
  (K (COUNT) | K (STATE) | K (ITEM) | K (SERVICE) | K (CLASS) | K (STATES) | K (KEY_PREFIX) \
   | K (SINCE_MS) | K (UNTIL_MS) | K (DESCENDING) | K (PAYLOAD) | K (QUEUE))
#define ENROLLED_KEYS (K (COUNT) | K (LEASE_MS) | K (SILENCE_MS))

/* Types use the lower six bits and the highest one: 128 slots hold them all. */
#define SLOT(type) (((type) &0x3f) | ((type) &0x80) >> 1)

static const IrisWireTypeInfo types[128] = {
  [SLOT (IRIS_WIRE_HELLO)] = { "HELLO", VERSION_KEYS | K (FEATURES) | K (NAME) | K (SESSION),
                               VERSION_KEYS, FALSE },
  [SLOT (IRIS_WIRE_MAP)] = { "MAP", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_SUBMIT)] = { "SUBMIT",
                                ITEM_KEYS | COMMAND_KEYS | K (PROGRESS) | K (PARTS) | K (SESSION),
                                K (SERVICE), TRUE },
  [SLOT (IRIS_WIRE_BATCH)] = { "BATCH", K (QUIET), 0, TRUE },
  [SLOT (IRIS_WIRE_ACK)] = { "ACK", K (TARGET) | K (COUNT), 0, TRUE },
  [SLOT (IRIS_WIRE_CANCEL)] = { "CANCEL", K (TARGET) | K (ANYWHERE) | K (ITEM) | ASKED_KEYS, 0,
                                FALSE },
  [SLOT (IRIS_WIRE_STATUS)] = { "STATUS", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_SERVICES)] = { "SERVICES", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_PING)] = { "PING", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_BYE)] = { "BYE", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_FETCH)] = { "FETCH", K (ITEM) | K (WAIT_MS) | ASKED_KEYS, K (ITEM), FALSE },
  [SLOT (IRIS_WIRE_LIST)] = { "LIST", LIST_KEYS | ASKED_KEYS, 0, FALSE },
  [SLOT (IRIS_WIRE_SHOW)] = { "SHOW", K (ITEM) | K (WAIT_MS) | K (PAYLOAD) | ASKED_KEYS, K (ITEM),
                              FALSE },
  [SLOT (IRIS_WIRE_KICK)] = { "KICK", K (ITEM) | K (STATE) | K (COUNT) | ASKED_KEYS, 0, FALSE },
  [SLOT (IRIS_WIRE_BURY)] = { "BURY", K (ITEM) | K (MESSAGE) | ASKED_KEYS, K (ITEM), FALSE },
  [SLOT (IRIS_WIRE_DRAIN)] = { "DRAIN", K (PLACE) | K (DRAINED), K (PLACE) | K (DRAINED), FALSE },
  [SLOT (IRIS_WIRE_SET_WORKERS)] = { "SET_WORKERS", K (PLACE) | K (WORKERS),
                                     K (PLACE) | K (WORKERS), FALSE },
  [SLOT (IRIS_WIRE_MORE)] = { "MORE", K (TARGET) | K (GRANT), K (TARGET) | K (GRANT), FALSE },
  [SLOT (IRIS_WIRE_READY)] = { "READY", K (CAPACITY) | K (PLACE), K (CAPACITY), TRUE },
  [SLOT (IRIS_WIRE_DONE)] = { "DONE",
                              RUN_KEYS | K (CONTENT_TYPE) | K (STDOUT_LENGTH) | K (TRUNCATED), 0,
                              TRUE },
  [SLOT (IRIS_WIRE_FAIL)] = { "FAIL",
                              RUN_KEYS | K (MESSAGE) | K (CODE) | K (AGAIN) | K (RETRY_AFTER_MS),
                              K (MESSAGE), FALSE },
  [SLOT (IRIS_WIRE_EXTEND)] = { "EXTEND", K (LEASE_MS), 0, FALSE },
  [SLOT (IRIS_WIRE_REPORT)] = { "REPORT", REPORT_KEYS | K (NODE) | K (CHANNEL) | K (ATTEMPT), 0,
                                TRUE },
  [SLOT (IRIS_WIRE_WORKERS)] = { "WORKERS", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_WELCOME)] = { "WELCOME", WELCOME_KEYS | K (FEATURES) | K (NAME) | K (MAX_BATCH),
                                 WELCOME_KEYS, FALSE },
  [SLOT (IRIS_WIRE_MAP_REPLY)] = { "MAP_REPLY", 0, 0, TRUE },
  [SLOT (IRIS_WIRE_ACCEPTED)] = { "ACCEPTED", K (COUNT) | K (ITEM), K (COUNT), FALSE },
  [SLOT (IRIS_WIRE_CANCELLING)] = { "CANCELLING", K (STATE), K (STATE), FALSE },
  [SLOT (IRIS_WIRE_STATUS_REPLY)] = { "STATUS_REPLY", 0, 0, TRUE },
  [SLOT (IRIS_WIRE_SERVICES_REPLY)] = { "SERVICES_REPLY", 0, 0, TRUE },
  [SLOT (IRIS_WIRE_PONG)] = { "PONG", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_PENDING)] = { "PENDING", K (STATE) | K (ITEM), K (STATE) | K (ITEM), FALSE },
  [SLOT (IRIS_WIRE_LIST_REPLY)] = { "LIST_REPLY", K (ITEM), 0, TRUE },
  [SLOT (IRIS_WIRE_SHOW_REPLY)] = { "SHOW_REPLY", K (PAYLOAD), 0, TRUE },
  [SLOT (IRIS_WIRE_CHANGED)] = { "CHANGED", K (COUNT) | K (MESSAGE), K (COUNT), FALSE },
  [SLOT (IRIS_WIRE_RESULT)] = { "RESULT",
                                RUN_KEYS | K (CONTENT_TYPE) | K (STDOUT_LENGTH) | K (TRUNCATED), 0,
                                TRUE },
  [SLOT (IRIS_WIRE_ERROR_REPLY)] = { "ERROR", ERROR_KEYS | LIMIT_KEYS | RUN_KEYS | K (ENDS),
                                     ERROR_KEYS, FALSE },
  [SLOT (IRIS_WIRE_BUSY)] = { "BUSY", ERROR_KEYS | LIMIT_KEYS | K (RETRY_AFTER_MS), ERROR_KEYS,
                              FALSE },
  [SLOT (IRIS_WIRE_OUTPUT)] = { "OUTPUT", K (CHANNEL) | K (OFFSET) | K (ATTEMPT), K (CHANNEL),
                                TRUE },
  [SLOT (IRIS_WIRE_PROGRESS)] = { "PROGRESS", REPORT_KEYS, 0, FALSE },
  [SLOT (IRIS_WIRE_PART)] = { "PART", K (ATTEMPT) | K (PARTS), 0, TRUE },
  [SLOT (IRIS_WIRE_COMPLETIONS)] = { "COMPLETIONS", 0, 0, TRUE },
  [SLOT (IRIS_WIRE_LEASE)] = { "LEASE",
                               LEASE_KEYS | K (CONTENT_TYPE) | K (ARGS) | K (PATH) | K (PROGRESS)
                                   | K (PARTS) | TRACE_KEYS | K (ITEM) | K (CLUSTER_ITEM)
                                   | OWNER_KEYS | K (HEADER) | K (RETRIES) | K (DEADLINE_MS)
                                   | K (STREAM),
                               LEASE_KEYS, TRUE },
  [SLOT (IRIS_WIRE_STOP)] = { "STOP", ERROR_KEYS, ERROR_KEYS, FALSE },
  [SLOT (IRIS_WIRE_ENROLLED)] = { "ENROLLED", ENROLLED_KEYS, ENROLLED_KEYS, FALSE },
  [SLOT (IRIS_WIRE_ANSWER)] = { "ANSWER", K (TYPE) | K (HEADER), K (TYPE) | K (HEADER), TRUE },
  [SLOT (IRIS_WIRE_ASK)] = { "ASK", ASKED_KEYS | K (TYPE) | K (HEADER),
                             K (NODE) | K (TYPE) | K (HEADER), TRUE },
  [SLOT (IRIS_WIRE_WORKERS_REPLY)] = { "WORKERS_REPLY", 0, 0, TRUE },
  [SLOT (IRIS_WIRE_STATISTICS)] = { "STATISTICS", K (SECTIONS), 0, FALSE },
  [SLOT (IRIS_WIRE_TRACE)] = { "TRACE", K (WAIT_MS), K (WAIT_MS), FALSE },
  [SLOT (IRIS_WIRE_SPANS)] = { "SPANS", K (OFFSET) | K (COUNT), 0, FALSE },
  [SLOT (IRIS_WIRE_RELOAD)] = { "RELOAD", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_KEYS)] = { "KEYS", K (KEY_NAME), 0, FALSE },
  [SLOT (IRIS_WIRE_SUSPEND)] = { "SUSPEND", K (ITEM) | K (MESSAGE) | ASKED_KEYS, K (ITEM), FALSE },
  [SLOT (IRIS_WIRE_RESUME)] = { "RESUME", K (ITEM) | ASKED_KEYS, K (ITEM), FALSE },
  [SLOT (IRIS_WIRE_EDIT)] = { "EDIT",
                              K (ITEM) | K (HINT) | K (STRICT) | K (HINT_NAME) | K (ARGS)
                                  | K (DELAY_MS) | K (AT_MS) | K (PRIORITY) | K (RETRIES)
                                  | K (BACKOFF_MS) | K (TIME_TO_RUN_MS) | K (DEADLINE_MS)
                                  | K (QUEUE) | K (TIME_LIMIT_MS) | K (GRACE_MS) | K (KEEP_MS)
                                  | K (BURY) | ASKED_KEYS,
                              K (ITEM), FALSE },
  [SLOT (IRIS_WIRE_AGAIN)] = { "AGAIN",
                               K (ITEM) | K (KEY) | K (DELAY_MS) | K (AT_MS) | K (PRIORITY)
                                   | K (QUEUE) | ASKED_KEYS,
                               K (ITEM), FALSE },
  [SLOT (IRIS_WIRE_SCHEDULE)] = { "SCHEDULE",
                                  K (SCHEDULE) | K (CALENDAR) | K (EVERY_MS) | K (ZONE)
                                      | K (JITTER_MS) | K (MISSED) | K (OVERLAP) | K (SUSPENDED)
                                      | K (REMOVE) | K (COUNT),
                                  K (SCHEDULE), TRUE },
  [SLOT (IRIS_WIRE_SCHEDULES)] = { "SCHEDULES", K (SCHEDULE) | K (COUNT) | K (KEY), 0, FALSE },
  [SLOT (IRIS_WIRE_QUEUE)] = { "QUEUE",
                               K (QUEUE) | K (QUEUE_LIMIT) | K (PRIORITY) | K (SUSPENDED)
                                   | K (REMOVE),
                               K (QUEUE), FALSE },
  [SLOT (IRIS_WIRE_QUEUES)] = { "QUEUES", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_FOLLOW)] = { "FOLLOW",
                                K (ITEM) | K (OFFSET) | K (GRANT) | K (ATTEMPT) | ASKED_KEYS,
                                K (ITEM), FALSE },
  [SLOT (IRIS_WIRE_BACKUP)] = { "BACKUP", K (PATH), K (PATH), FALSE },
  [SLOT (IRIS_WIRE_NODES)] = { "NODES", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_NODE)] = { "NODE", K (NODE) | K (DRAINED) | K (REMOVE), K (NODE), FALSE },
  [SLOT (IRIS_WIRE_CLUSTER_CHECK)] = { "CLUSTER_CHECK", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_CLUSTER_INIT)] = { "CLUSTER_INIT", 0, 0, FALSE },
  [SLOT (IRIS_WIRE_STATISTICS_REPLY)] = { "STATISTICS_REPLY", 0, 0, TRUE },
  [SLOT (IRIS_WIRE_TRACE_REPLY)] = { "TRACE_REPLY", K (ENDS), 0, TRUE },
  [SLOT (IRIS_WIRE_SPANS_REPLY)] = { "SPANS_REPLY", K (OFFSET), K (OFFSET), TRUE },
  [SLOT (IRIS_WIRE_KEYS_REPLY)] = { "KEYS_REPLY", K (PATH), 0, TRUE },
  [SLOT (IRIS_WIRE_GOING)] = { "GOING", K (RETRY_AFTER_MS) | K (MESSAGE), 0, FALSE },
  [SLOT (IRIS_WIRE_SCHEDULES_REPLY)] = { "SCHEDULES_REPLY", K (KEY), 0, TRUE },
  [SLOT (IRIS_WIRE_QUEUES_REPLY)] = { "QUEUES_REPLY", 0, 0, TRUE },
  [SLOT (IRIS_WIRE_NODES_REPLY)] = { "NODES_REPLY", 0, 0, TRUE },
  [SLOT (IRIS_WIRE_FOLLOWED)] = { "FOLLOWED", K (ITEM) | K (STATE) | K (OFFSET) | K (TRUNCATED),
                                  K (ITEM), FALSE },
};

const IrisWireTypeInfo *
iris_wire_type_info (guint type)
{
  if (type > 0xff || (type & 0x40) != 0)
    return NULL;
  const IrisWireTypeInfo *info = &types[SLOT (type)];
  return info->name != NULL ? info : NULL;
}

const char *
iris_wire_type_name (guint type)
{
  const IrisWireTypeInfo *info = iris_wire_type_info (type);

  return info != NULL ? info->name : NULL;
}

gboolean
iris_wire_type_is_request (guint type)
{
  return type < 0x80 && iris_wire_type_info (type) != NULL;
}

const char *
iris_wire_key_name (guint key)
{
  return key < IRIS_WIRE_N_KEYS ? iris_wire_fields[key].name : NULL;
}

gboolean
iris_wire_check_range (IrisWireCheck *check, guint key, gboolean negative, guint64 value)
{
  const IrisWireField *field = &iris_wire_fields[key];

  if (negative ? (gint64) value >= field->min
               : value <= field->max && (field->min <= 0 || value >= (guint64) field->min))
    return TRUE;
  return iris_wire_fail (check, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                         "key %u (%s) must be %" G_GINT64_FORMAT " to %" G_GUINT64_FORMAT, key,
                         field->name, field->min, field->max);
}

gboolean
iris_wire_check_args_count (IrisWireCheck *check, guint key, guint64 n)
{
  if (n <= check->limits->max_args)
    return TRUE;
  g_autofree char *subject = g_strdup_printf ("key %u (%s)", key, iris_wire_fields[key].name);
  return iris_wire_fail_limit (check, subject, n, "elements", "max-args", check->limits->max_args);
}

static gboolean
check_ack (IrisWireCheck *check, const IrisWireMessage *message)
{
  gboolean counted = iris_wire_message_has (message, IRIS_WIRE_KEY_COUNT);
  gboolean named = iris_wire_message_has (message, IRIS_WIRE_KEY_TARGET);
  if (named == (message->body.size > 0) || (counted && !named))
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "it has to name what is acknowledged: by key 51 (target), with or "
                           "without key 50 (count), or by request ids in the body");
  if (message->body.size % IRIS_WIRE_ID_SIZE != 0)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "frame 5 (body) has %" G_GSIZE_FORMAT
                           " bytes, which are not whole request ids of 16",
                           message->body.size);
  if (counted && message->count == 0)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "key 50 (count) must be 1 or more; nothing is acknowledged");
  return TRUE;
}

static gboolean
check_rules (IrisWireCheck *check, const IrisWireMessage *message)
{
  if (message->type == IRIS_WIRE_HELLO && message->version_min > message->version_max)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "key 1 (version-min) must not exceed key 2 (version-max)");
  if (message->type == IRIS_WIRE_ACK)
    return check_ack (check, message);
  if (message->type == IRIS_WIRE_CANCEL
      && !iris_wire_message_has (message, IRIS_WIRE_KEY_TARGET)
             == !iris_wire_message_has (message, IRIS_WIRE_KEY_ITEM))
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "it has to name one item: by key 51 (target) or by key 63 (item)");
  if (message->type == IRIS_WIRE_KICK
      && iris_wire_message_has (message, IRIS_WIRE_KEY_ITEM)
             == iris_wire_message_has (message, IRIS_WIRE_KEY_STATE))
    return iris_wire_fail (check, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "either key 63 (item) or key 52 (state) says what is kicked");
  if (message->type == IRIS_WIRE_KICK && iris_wire_message_has (message, IRIS_WIRE_KEY_STATE)
      && message->state != IRIS_WIRE_STATE_DELAYED && message->state != IRIS_WIRE_STATE_BURIED)
    return iris_wire_fail (check, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "key 52 (state) must be 6 (delayed) or 8 (buried): others cannot be "
                           "kicked");
  return TRUE;
}

gboolean
iris_wire_check_message (IrisWireCheck *check,
                         const IrisWireTypeInfo *info,
                         const IrisWireMessage *message)
{
  IrisWireKeys missing = info->required & ~message->present;

  if (G_UNLIKELY (missing != 0))
    {
      guint key = iris_wire_keys_first (missing);
      return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED, "key %u (%s) is missing", key,
                             iris_wire_fields[key].name);
    }
  if (G_UNLIKELY (message->body.size > check->limits->max_body))
    return iris_wire_fail_limit (check, "body", message->body.size, "bytes", "max-body",
                                 check->limits->max_body);
  if (G_UNLIKELY (message->body.size > 0 && !info->body))
    return iris_wire_fail (check, IRIS_WIRE_ERROR_MALFORMED,
                           "frame 5 (body) has %" G_GSIZE_FORMAT " bytes but must be empty",
                           message->body.size);
  return check_rules (check, message);
}
