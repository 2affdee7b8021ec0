/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The types of messages, the keys of their headers, and what numbers in them mean.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/* Feature bits of HELLO and WELCOME. */
#define IRIS_WIRE_FEATURE_ASKS_ONLY  (G_GUINT64_CONSTANT (1) << 8)
#define IRIS_WIRE_FEATURE_TWO_FRAMES (G_GUINT64_CONSTANT (1) << 9)
#define IRIS_WIRE_FEATURE_BRIDGE     (G_GUINT64_CONSTANT (1) << 10)

/**
 * IrisWireType:
 * @IRIS_WIRE_HELLO: opens a connection; answered by WELCOME
 * @IRIS_WIRE_MAP: asks for the places; answered by MAP_REPLY
 * @IRIS_WIRE_SUBMIT: one work item
 * @IRIS_WIRE_BATCH: many work items
 * @IRIS_WIRE_ACK: names completions that were dealt with, and gives their credits back
 * @IRIS_WIRE_CANCEL: asks that an item does not run, or stops; answered by CANCELLING
 * @IRIS_WIRE_STATUS: asks for the counters; answered by STATUS_REPLY
 * @IRIS_WIRE_SERVICES: asks for the services; answered by SERVICES_REPLY
 * @IRIS_WIRE_PING: answered by PONG
 * @IRIS_WIRE_BYE: closes a connection; not answered
 * @IRIS_WIRE_FETCH: asks how a persistent item ended; answered by RESULT, ERROR or PENDING
 * @IRIS_WIRE_LIST: asks for the persistent items; answered by LIST_REPLY
 * @IRIS_WIRE_SHOW: asks for one persistent item; answered by SHOW_REPLY
 * @IRIS_WIRE_KICK: has buried items queued anew, or delayed ones at once; answered by CHANGED
 * @IRIS_WIRE_BURY: sets a persistent item that waits aside; answered by CHANGED
 * @IRIS_WIRE_DRAIN: a place takes no more items, or takes some again; answered by CHANGED
 * @IRIS_WIRE_SET_WORKERS: how many workers of a place take part; answered by CHANGED
 * @IRIS_WIRE_STATISTICS: asks for the statistics; answered by STATISTICS_REPLY
 * @IRIS_WIRE_TRACE: asks for a time line; answered by TRACE_REPLY, in parts
 * @IRIS_WIRE_SPANS: asks for the items that have ended, for tracing systems; answered by
 * SPANS_REPLY
 * @IRIS_WIRE_RELOAD: has irisd read its configuration again; answered by CHANGED
 * @IRIS_WIRE_KEYS: asks for the keys of clients; answered by KEYS_REPLY
 * @IRIS_WIRE_SUSPEND: suspends an item, or its command; answered by CHANGED
 * @IRIS_WIRE_RESUME: lets a suspended item go on; answered by CHANGED
 * @IRIS_WIRE_EDIT: changes a persistent item that waits; answered by CHANGED
 * @IRIS_WIRE_AGAIN: submits a persistent item once more, as a new one; answered by ACCEPTED
 * @IRIS_WIRE_SCHEDULE: makes, changes or removes a schedule; answered by CHANGED
 * @IRIS_WIRE_SCHEDULES: asks for the schedules; answered by SCHEDULES_REPLY
 * @IRIS_WIRE_QUEUE: makes, changes or removes a named queue; answered by CHANGED
 * @IRIS_WIRE_QUEUES: asks for the named queues; answered by QUEUES_REPLY
 * @IRIS_WIRE_FOLLOW: asks for the output of an item as it comes; answered by OUTPUT and FOLLOWED
 * @IRIS_WIRE_BACKUP: has the journal copied; answered by CHANGED
 * @IRIS_WIRE_NODES: asks for the nodes of the cluster; answered by NODES_REPLY
 * @IRIS_WIRE_NODE: drains, resumes or removes a node; answered by CHANGED
 * @IRIS_WIRE_CLUSTER_CHECK: has the streams of the cluster looked at; answered by CHANGED
 * @IRIS_WIRE_CLUSTER_INIT: has those that are missing made; answered by CHANGED
 * @IRIS_WIRE_MORE: lets an item send more output, or more parts; not answered
 * @IRIS_WIRE_READY: a worker says what it serves; answered by ENROLLED
 * @IRIS_WIRE_DONE: a worker gives a leased item's result; not answered
 * @IRIS_WIRE_FAIL: a worker could not do a leased item; not answered
 * @IRIS_WIRE_EXTEND: a worker needs its lease for longer; not answered
 * @IRIS_WIRE_REPORT: a worker tells how far a leased item is; not answered
 * @IRIS_WIRE_WORKERS: asks for the worker processes; answered by WORKERS_REPLY
 * @IRIS_WIRE_ANSWER: the bridge passes an answer of another node on; not answered
 * @IRIS_WIRE_WELCOME: answers HELLO
 * @IRIS_WIRE_MAP_REPLY: answers MAP
 * @IRIS_WIRE_ACCEPTED: answers SUBMIT and BATCH
 * @IRIS_WIRE_CANCELLING: answers CANCEL
 * @IRIS_WIRE_STATUS_REPLY: answers STATUS
 * @IRIS_WIRE_SERVICES_REPLY: answers SERVICES
 * @IRIS_WIRE_PONG: answers PING
 * @IRIS_WIRE_PENDING: answers FETCH, when the item has not ended yet
 * @IRIS_WIRE_LIST_REPLY: answers LIST
 * @IRIS_WIRE_SHOW_REPLY: answers SHOW
 * @IRIS_WIRE_CHANGED: answers requests that change something
 * @IRIS_WIRE_RESULT: ends an item that succeeded
 * @IRIS_WIRE_ERROR_REPLY: refuses a request, or ends an item that failed
 * @IRIS_WIRE_BUSY: refuses an item for now
 * @IRIS_WIRE_OUTPUT: a part of what a running command writes
 * @IRIS_WIRE_PROGRESS: how far an item is
 * @IRIS_WIRE_COMPLETIONS: many RESULT and ERROR at once, to a client that asked for the feature
 * @IRIS_WIRE_PART: a part of an item's result, before it has ended; to a worker process: send more
 * @IRIS_WIRE_STATISTICS_REPLY: answers STATISTICS
 * @IRIS_WIRE_TRACE_REPLY: answers TRACE
 * @IRIS_WIRE_SPANS_REPLY: answers SPANS
 * @IRIS_WIRE_KEYS_REPLY: answers KEYS
 * @IRIS_WIRE_GOING: irisd ends, and another one takes its place; to a client that asked for the
 * feature
 * @IRIS_WIRE_SCHEDULES_REPLY: answers SCHEDULES
 * @IRIS_WIRE_QUEUES_REPLY: answers QUEUES
 * @IRIS_WIRE_FOLLOWED: ends the answer to FOLLOW
 * @IRIS_WIRE_NODES_REPLY: answers NODES
 * @IRIS_WIRE_LEASE: gives an item to a worker process for a while
 * @IRIS_WIRE_STOP: takes a lease back from a worker process
 * @IRIS_WIRE_ENROLLED: answers READY
 * @IRIS_WIRE_WORKERS_REPLY: answers WORKERS
 * @IRIS_WIRE_ASK: gives the bridge a request for another node
 *
 * The second frame. What clients send is below 0x80, what irisd sends is not.
 */
typedef enum
{
  IRIS_WIRE_HELLO = 0x01,
  IRIS_WIRE_MAP = 0x02,
  IRIS_WIRE_SUBMIT = 0x03,
  IRIS_WIRE_BATCH = 0x04,
  IRIS_WIRE_ACK = 0x05,
  IRIS_WIRE_CANCEL = 0x06,
  IRIS_WIRE_STATUS = 0x07,
  IRIS_WIRE_SERVICES = 0x08,
  IRIS_WIRE_PING = 0x09,
  IRIS_WIRE_BYE = 0x0a,
  IRIS_WIRE_FETCH = 0x0b,
  IRIS_WIRE_LIST = 0x0c,
  IRIS_WIRE_SHOW = 0x0d,
  IRIS_WIRE_KICK = 0x0e,
  IRIS_WIRE_BURY = 0x0f,
  IRIS_WIRE_DRAIN = 0x10,
  IRIS_WIRE_SET_WORKERS = 0x11,
  IRIS_WIRE_STATISTICS = 0x12,
  IRIS_WIRE_TRACE = 0x13,
  IRIS_WIRE_SPANS = 0x14,
  IRIS_WIRE_RELOAD = 0x15,
  IRIS_WIRE_KEYS = 0x16,
  IRIS_WIRE_SUSPEND = 0x18,
  IRIS_WIRE_RESUME = 0x19,
  IRIS_WIRE_EDIT = 0x1a,
  IRIS_WIRE_AGAIN = 0x1b,
  IRIS_WIRE_SCHEDULE = 0x1c,
  IRIS_WIRE_SCHEDULES = 0x1d,
  IRIS_WIRE_QUEUE = 0x1e,
  IRIS_WIRE_QUEUES = 0x1f,
  IRIS_WIRE_FOLLOW = 0x28,
  IRIS_WIRE_BACKUP = 0x29,
  IRIS_WIRE_NODES = 0x2b,
  IRIS_WIRE_NODE = 0x2c,
  IRIS_WIRE_CLUSTER_CHECK = 0x2d,
  IRIS_WIRE_CLUSTER_INIT = 0x2e,
  IRIS_WIRE_ANSWER = 0x2a,
  IRIS_WIRE_MORE = 0x25,
  IRIS_WIRE_READY = 0x20,
  IRIS_WIRE_DONE = 0x21,
  IRIS_WIRE_FAIL = 0x22,
  IRIS_WIRE_EXTEND = 0x23,
  IRIS_WIRE_REPORT = 0x24,
  IRIS_WIRE_WORKERS = 0x27,
  IRIS_WIRE_WELCOME = 0x81,
  IRIS_WIRE_MAP_REPLY = 0x82,
  IRIS_WIRE_ACCEPTED = 0x83,
  IRIS_WIRE_CANCELLING = 0x85,
  IRIS_WIRE_STATUS_REPLY = 0x86,
  IRIS_WIRE_SERVICES_REPLY = 0x87,
  IRIS_WIRE_PONG = 0x89,
  IRIS_WIRE_PENDING = 0x8b,
  IRIS_WIRE_LIST_REPLY = 0x8c,
  IRIS_WIRE_SHOW_REPLY = 0x8d,
  IRIS_WIRE_CHANGED = 0x8e,
  IRIS_WIRE_RESULT = 0x90,
  IRIS_WIRE_ERROR_REPLY = 0x91,
  IRIS_WIRE_BUSY = 0x92,
  IRIS_WIRE_OUTPUT = 0x93,
  IRIS_WIRE_PROGRESS = 0x94,
  IRIS_WIRE_PART = 0x95,
  IRIS_WIRE_COMPLETIONS = 0x96,
  IRIS_WIRE_STATISTICS_REPLY = 0x97,
  IRIS_WIRE_TRACE_REPLY = 0x98,
  IRIS_WIRE_SPANS_REPLY = 0x99,
  IRIS_WIRE_KEYS_REPLY = 0x9a,
  IRIS_WIRE_GOING = 0x9b,
  IRIS_WIRE_SCHEDULES_REPLY = 0x9c,
  IRIS_WIRE_QUEUES_REPLY = 0x9d,
  IRIS_WIRE_FOLLOWED = 0x9e,
  IRIS_WIRE_NODES_REPLY = 0x9f,
  IRIS_WIRE_LEASE = 0xa0,
  IRIS_WIRE_STOP = 0xa1,
  IRIS_WIRE_ENROLLED = 0xa2,
  IRIS_WIRE_ASK = 0xa3,
  IRIS_WIRE_WORKERS_REPLY = 0xa7,
} IrisWireType;

/**
 * IrisWireKey:
 *
 * The keys of the header. doc/protocol.md says which type has which.
 */
typedef enum
{
  IRIS_WIRE_KEY_VERSION_MIN = 1,
  IRIS_WIRE_KEY_VERSION_MAX = 2,
  IRIS_WIRE_KEY_FEATURES = 3,
  IRIS_WIRE_KEY_NAME = 4,
  IRIS_WIRE_KEY_CREDITS = 5,
  IRIS_WIRE_KEY_BYTE_CREDITS = 6,
  IRIS_WIRE_KEY_MAX_BODY = 7,
  IRIS_WIRE_KEY_SOCKET_PLACE = 8,
  IRIS_WIRE_KEY_MAX_BATCH = 9,
  IRIS_WIRE_KEY_SERVICE = 10,
  IRIS_WIRE_KEY_HINT = 11,
  IRIS_WIRE_KEY_STRICT = 12,
  IRIS_WIRE_KEY_CONTENT_TYPE = 13,
  IRIS_WIRE_KEY_ARGS = 14,
  IRIS_WIRE_KEY_PATH = 15,
  IRIS_WIRE_KEY_QUIET = 16,
  IRIS_WIRE_KEY_HOME = 19,
  IRIS_WIRE_KEY_PLACE = 20,
  IRIS_WIRE_KEY_WORKER = 21,
  IRIS_WIRE_KEY_QUEUE_NS = 23,
  IRIS_WIRE_KEY_RUN_NS = 24,
  IRIS_WIRE_KEY_BYTES = 25,
  IRIS_WIRE_KEY_EXIT_STATUS = 26,
  IRIS_WIRE_KEY_SIGNAL = 27,
  IRIS_WIRE_KEY_STDOUT_LENGTH = 28,
  IRIS_WIRE_KEY_TRUNCATED = 30,
  IRIS_WIRE_KEY_NODE = 31,
  IRIS_WIRE_KEY_ANY_NODE = 32,
  IRIS_WIRE_KEY_FOR_OWNER = 33,
  IRIS_WIRE_KEY_HEADER = 34,
  IRIS_WIRE_KEY_CLUSTER_ITEM = 35,
  IRIS_WIRE_KEY_TYPE = 36,
  IRIS_WIRE_KEY_CODE = 40,
  IRIS_WIRE_KEY_ERROR_NAME = 41,
  IRIS_WIRE_KEY_MESSAGE = 42,
  IRIS_WIRE_KEY_ENDS = 43,
  IRIS_WIRE_KEY_LIMIT = 44,
  IRIS_WIRE_KEY_LIMIT_VALUE = 45,
  IRIS_WIRE_KEY_RETRY_AFTER_MS = 46,
  IRIS_WIRE_KEY_COUNT = 50,
  IRIS_WIRE_KEY_TARGET = 51,
  IRIS_WIRE_KEY_STATE = 52,
  IRIS_WIRE_KEY_ANYWHERE = 53,
  IRIS_WIRE_KEY_QUEUE = 54,
  IRIS_WIRE_KEY_QUEUE_LIMIT = 55,
  IRIS_WIRE_KEY_SCHEDULE = 56,
  IRIS_WIRE_KEY_ZONE = 57,
  IRIS_WIRE_KEY_JITTER_MS = 58,
  IRIS_WIRE_KEY_MISSED = 59,
  IRIS_WIRE_KEY_CLASS = 60,
  IRIS_WIRE_KEY_KEY = 61,
  IRIS_WIRE_KEY_KEEP_MS = 62,
  IRIS_WIRE_KEY_ITEM = 63,
  IRIS_WIRE_KEY_WAIT_MS = 64,
  IRIS_WIRE_KEY_DETACH = 65,
  IRIS_WIRE_KEY_OVERLAP = 66,
  IRIS_WIRE_KEY_OFFSET = 67,
  IRIS_WIRE_KEY_KEEP_OUTPUT = 68,
  IRIS_WIRE_KEY_OUTPUT_POLICY = 69,
  IRIS_WIRE_KEY_DELAY_MS = 70,
  IRIS_WIRE_KEY_AT_MS = 71,
  IRIS_WIRE_KEY_PRIORITY = 72,
  IRIS_WIRE_KEY_AFTER = 73,
  IRIS_WIRE_KEY_AFTER_HOW = 74,
  IRIS_WIRE_KEY_RETRIES = 75,
  IRIS_WIRE_KEY_BACKOFF_MS = 76,
  IRIS_WIRE_KEY_TIME_TO_RUN_MS = 77,
  IRIS_WIRE_KEY_HOOK = 78,
  IRIS_WIRE_KEY_ATTEMPTS = 79,
  IRIS_WIRE_KEY_STREAM = 90,
  IRIS_WIRE_KEY_DIRECTORY = 91,
  IRIS_WIRE_KEY_ENVIRONMENT = 92,
  IRIS_WIRE_KEY_CLEAR_ENVIRONMENT = 93,
  IRIS_WIRE_KEY_NICE = 94,
  IRIS_WIRE_KEY_LIMITS = 95,
  IRIS_WIRE_KEY_TIME_LIMIT_MS = 96,
  IRIS_WIRE_KEY_GRACE_MS = 97,
  IRIS_WIRE_KEY_CHANNEL = 98,
  IRIS_WIRE_KEY_GRANT = 99,
  IRIS_WIRE_KEY_PROGRESS = 80,
  IRIS_WIRE_KEY_FRACTION = 81,
  IRIS_WIRE_KEY_NOTE = 82,
  IRIS_WIRE_KEY_CAPACITY = 83,
  IRIS_WIRE_KEY_LEASE_MS = 84,
  IRIS_WIRE_KEY_AGAIN = 85,
  IRIS_WIRE_KEY_ATTEMPT = 86,
  IRIS_WIRE_KEY_SILENCE_MS = 87,
  IRIS_WIRE_KEY_DEADLINE_MS = 88,
  IRIS_WIRE_KEY_WAIT_FOR_SERVICE = 89,
  IRIS_WIRE_KEY_BURY = 100,
  IRIS_WIRE_KEY_WORKERS = 101,
  IRIS_WIRE_KEY_PAYLOAD = 102,
  IRIS_WIRE_KEY_DRAINED = 103,
  IRIS_WIRE_KEY_TRACEPARENT = 104,
  IRIS_WIRE_KEY_TRACESTATE = 105,
  IRIS_WIRE_KEY_SECTIONS = 106,
  IRIS_WIRE_KEY_KEY_NAME = 107,
  IRIS_WIRE_KEY_SESSION = 108,
  IRIS_WIRE_KEY_CALENDAR = 109,
  IRIS_WIRE_KEY_HINT_NAME = 110,
  IRIS_WIRE_KEY_NEAR_ITEM = 111,
  IRIS_WIRE_KEY_NEAR_PATH = 112,
  IRIS_WIRE_KEY_PARTS = 113,
  IRIS_WIRE_KEY_FOOTPRINT = 114,
  IRIS_WIRE_KEY_KEEP_APART = 115,
  IRIS_WIRE_KEY_REMOVE = 116,
  IRIS_WIRE_KEY_SUSPENDED = 117,
  IRIS_WIRE_KEY_EVERY_MS = 118,
  IRIS_WIRE_KEY_AFTER_AWAY = 119,
  IRIS_WIRE_KEY_STATES = 120,
  IRIS_WIRE_KEY_KEY_PREFIX = 121,
  IRIS_WIRE_KEY_SINCE_MS = 122,
  IRIS_WIRE_KEY_UNTIL_MS = 123,
  IRIS_WIRE_KEY_DESCENDING = 124,
} IrisWireKey;

/**
 * IrisWireState:
 * @IRIS_WIRE_STATE_QUEUED: the item waits; in CANCELLING: it was waiting and will not run
 * @IRIS_WIRE_STATE_RUNNING: the item runs; in CANCELLING: it is running and was asked to stop
 * @IRIS_WIRE_STATE_DONE: the item has ended well
 * @IRIS_WIRE_STATE_FAILED: the item has ended with an error
 * @IRIS_WIRE_STATE_CANCELLED: the item was cancelled
 * @IRIS_WIRE_STATE_DELAYED: the item waits for its time
 * @IRIS_WIRE_STATE_LEASED: a worker process has the item
 * @IRIS_WIRE_STATE_BURIED: the item failed for good and is set aside until it is kicked
 * @IRIS_WIRE_STATE_SUSPENDED: the item, or its command, goes on when it is resumed
 *
 * Where an item is: key 52. An item that irisd keeps can be in each of them, CANCELLING tells only
 * of the first two.
 */
typedef enum
{
  IRIS_WIRE_STATE_QUEUED = 1,
  IRIS_WIRE_STATE_RUNNING = 2,
  IRIS_WIRE_STATE_DONE = 3,
  IRIS_WIRE_STATE_FAILED = 4,
  IRIS_WIRE_STATE_CANCELLED = 5,
  IRIS_WIRE_STATE_DELAYED = 6,
  IRIS_WIRE_STATE_LEASED = 7,
  IRIS_WIRE_STATE_BURIED = 8,
  IRIS_WIRE_STATE_SUSPENDED = 9,
} IrisWireState;

/**
 * IrisWireClass:
 * @IRIS_WIRE_CLASS_VOLATILE: the item is lost if irisd is; nothing is written
 * @IRIS_WIRE_CLASS_RELAXED: the item is on the disk some 50 milliseconds after it was accepted
 * @IRIS_WIRE_CLASS_DURABLE: the item is on the disk before it is accepted, its end before it is
 * told
 *
 * What of an item survives a crash: key 60.
 */
typedef enum
{
  IRIS_WIRE_CLASS_VOLATILE = 0,
  IRIS_WIRE_CLASS_RELAXED = 1,
  IRIS_WIRE_CLASS_DURABLE = 2,
} IrisWireClass;

/**
 * IRIS_WIRE_FEATURE_COMPLETIONS:
 *
 * The feature bit of clients that take COMPLETIONS; key 3.
 */
#define IRIS_WIRE_FEATURE_COMPLETIONS ((guint64) 1 << 0)

/**
 * IRIS_WIRE_FEATURE_RESUME:
 *
 * The feature bit of clients that go on with a session after irisd was restarted; key 3.
 */
#define IRIS_WIRE_FEATURE_RESUME ((guint64) 1 << 2)

/**
 * IRIS_WIRE_SESSION_SIZE:
 *
 * Bytes of a session, key 108.
 */
#define IRIS_WIRE_SESSION_SIZE 16

/**
 * IrisWireChannel:
 * @IRIS_WIRE_CHANNEL_OUTPUT: standard output
 * @IRIS_WIRE_CHANNEL_ERRORS: standard error
 *
 * What OUTPUT tells in key 98.
 */
typedef enum
{
  IRIS_WIRE_CHANNEL_OUTPUT = 1,
  IRIS_WIRE_CHANNEL_ERRORS = 2,
} IrisWireChannel;

/**
 * IrisWireAfter:
 * @IRIS_WIRE_AFTER_ALL: when all of them have ended, however
 * @IRIS_WIRE_AFTER_ANY: when one of them has ended, however
 * @IRIS_WIRE_AFTER_SUCCESS: when all of them have ended well; never, if one does not
 *
 * What an item waits for, of those that key 73 names; key 74.
 */
typedef enum
{
  IRIS_WIRE_AFTER_ALL = 1,
  IRIS_WIRE_AFTER_ANY = 2,
  IRIS_WIRE_AFTER_SUCCESS = 3,
} IrisWireAfter;

/**
 * IrisWireMissed:
 * @IRIS_WIRE_MISSED_SKIP: none of them runs
 * @IRIS_WIRE_MISSED_ONE: one run makes up for all
 *
 * What happens with the runs of a schedule that were due while irisd did not run; key 59.
 */
typedef enum
{
  IRIS_WIRE_MISSED_SKIP = 1,
  IRIS_WIRE_MISSED_ONE = 2,
} IrisWireMissed;

/**
 * IrisWireOverlap:
 * @IRIS_WIRE_OVERLAP_ALLOW: it runs beside the other
 * @IRIS_WIRE_OVERLAP_SKIP: it does not run
 * @IRIS_WIRE_OVERLAP_QUEUE: it runs when the other has ended
 *
 * What happens with a run of a schedule that is due while another one has not ended; key 66.
 */
typedef enum
{
  IRIS_WIRE_OVERLAP_ALLOW = 1,
  IRIS_WIRE_OVERLAP_SKIP = 2,
  IRIS_WIRE_OVERLAP_QUEUE = 3,
} IrisWireOverlap;

/**
 * IrisWireOutputPolicy:
 * @IRIS_WIRE_OUTPUT_POLICY_HEAD_AND_TAIL: the beginning and the end
 * @IRIS_WIRE_OUTPUT_POLICY_TAIL: the end
 *
 * What is kept of output that is longer than its limit; key 69.
 */
typedef enum
{
  IRIS_WIRE_OUTPUT_POLICY_HEAD_AND_TAIL = 1,
  IRIS_WIRE_OUTPUT_POLICY_TAIL = 2,
} IrisWireOutputPolicy;

/**
 * IRIS_WIRE_MOST_PRIORITY:
 *
 * Priorities are 0 to this one, which comes first.
 */
#define IRIS_WIRE_MOST_PRIORITY 9

/**
 * IRIS_WIRE_DEFAULT_PRIORITY:
 *
 * The priority of an item that says none.
 */
#define IRIS_WIRE_DEFAULT_PRIORITY 5

G_END_DECLS
