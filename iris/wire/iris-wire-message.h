/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One message of the protocol IRS1 as a plain struct, whatever its type.
 *
 * Everything under iris/wire is pure: iris_wire_decode() turns frames into an IrisWireMessage that
 * borrows from them, iris_wire_encode() an IrisWireMessage into frames that borrow from it and from
 * the encoder. The larger bodies have types of their own: IrisWireBatchBuilder and
 * IrisWireBatchIter, IrisWireMap, IrisWireStatus, IrisWireServices. doc/protocol.md describes the
 * same from outside. Nothing here is shared between threads and nothing locks: a message, encoder,
 * builder or iterator belongs to whoever made it; functions without such an object may be called
 * from any thread.
 *
 * The struct owns nothing. Strings are a pointer and a length without a terminating NUL, because
 * after decoding they point into the received frames; they are free of NUL bytes, so that
 * g_strndup() makes an honest C string of them. A key has the same number, meaning and C field in
 * every type that has it. Bit k of @present says whether key k is there; an absent field holds its
 * default (0, %FALSE, empty; -1 for places and the worker). The setters keep field and bit
 * together.
 */
#pragma once

#include <iris/wire/iris-wire-args.h>

G_BEGIN_DECLS

/**
 * IRIS_WIRE_VERSION:
 *
 * The only version there is.
 */
#define IRIS_WIRE_VERSION 1

/**
 * IRIS_WIRE_WHOLE:
 *
 * The value of the key `fraction` that says that all is done.
 */
#define IRIS_WIRE_WHOLE 1000000

/**
 * IRIS_WIRE_N_FRAMES:
 *
 * Frames of a message, not counting the routing id that a ROUTER socket puts before them.
 */
#define IRIS_WIRE_N_FRAMES 5

#define IRIS_WIRE_ID_SIZE 16

/**
 * IrisWireType:
 * @IRIS_WIRE_HELLO: opens a connection; answered by WELCOME
 * @IRIS_WIRE_MAP: asks for the places; answered by MAP_REPLY
 * @IRIS_WIRE_SUBMIT: one work item
 * @IRIS_WIRE_BATCH: many work items
 * @IRIS_WIRE_ACK: gives credits back
 * @IRIS_WIRE_CANCEL: asks that an item does not run, or stops; answered by CANCELLING
 * @IRIS_WIRE_STATUS: asks for the counters; answered by STATUS_REPLY
 * @IRIS_WIRE_SERVICES: asks for the services; answered by SERVICES_REPLY
 * @IRIS_WIRE_PING: answered by PONG
 * @IRIS_WIRE_BYE: closes a connection; not answered
 * @IRIS_WIRE_FETCH: asks how a kept item ended; answered by RESULT, ERROR or PENDING
 * @IRIS_WIRE_LIST: asks for the kept items; answered by LIST_REPLY
 * @IRIS_WIRE_SHOW: asks for one kept item; answered by SHOW_REPLY
 * @IRIS_WIRE_MORE: lets an item send more output; not answered
 * @IRIS_WIRE_READY: a worker says what it serves; answered by ENROLLED
 * @IRIS_WIRE_DONE: a worker gives a leased item's result; not answered
 * @IRIS_WIRE_FAIL: a worker could not do a leased item; not answered
 * @IRIS_WIRE_EXTEND: a worker needs its lease for longer; not answered
 * @IRIS_WIRE_REPORT: a worker tells how far a leased item is; not answered
 * @IRIS_WIRE_WORKERS: asks for the worker processes; answered by WORKERS_REPLY
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
 * @IRIS_WIRE_RESULT: ends an item that succeeded
 * @IRIS_WIRE_ERROR_REPLY: refuses a request, or ends an item that failed
 * @IRIS_WIRE_BUSY: refuses an item for now
 * @IRIS_WIRE_OUTPUT: a part of what a running command writes
 * @IRIS_WIRE_PROGRESS: how far an item is
 * @IRIS_WIRE_LEASE: gives an item to a worker process for a while
 * @IRIS_WIRE_STOP: takes a lease back from a worker process
 * @IRIS_WIRE_ENROLLED: answers READY
 * @IRIS_WIRE_WORKERS_REPLY: answers WORKERS
 *
 * The second frame. What clients send is below 0x80, what irisd sends is not.
 *
 * Since: 0.1
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
  IRIS_WIRE_RESULT = 0x90,
  IRIS_WIRE_ERROR_REPLY = 0x91,
  IRIS_WIRE_BUSY = 0x92,
  IRIS_WIRE_OUTPUT = 0x93,
  IRIS_WIRE_PROGRESS = 0x94,
  IRIS_WIRE_LEASE = 0xa0,
  IRIS_WIRE_STOP = 0xa1,
  IRIS_WIRE_ENROLLED = 0xa2,
  IRIS_WIRE_WORKERS_REPLY = 0xa7,
} IrisWireType;

/**
 * IrisWireKey:
 *
 * The keys of the header. doc/protocol.md says which type has which.
 *
 * Since: 0.1
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
  IRIS_WIRE_KEY_CODE = 40,
  IRIS_WIRE_KEY_ERROR_NAME = 41,
  IRIS_WIRE_KEY_SENTENCE = 42,
  IRIS_WIRE_KEY_ENDS = 43,
  IRIS_WIRE_KEY_LIMIT = 44,
  IRIS_WIRE_KEY_LIMIT_VALUE = 45,
  IRIS_WIRE_KEY_RETRY_AFTER_MS = 46,
  IRIS_WIRE_KEY_COUNT = 50,
  IRIS_WIRE_KEY_TARGET = 51,
  IRIS_WIRE_KEY_STATE = 52,
  IRIS_WIRE_KEY_ANYWHERE = 53,
  IRIS_WIRE_KEY_CLASS = 60,
  IRIS_WIRE_KEY_KEY = 61,
  IRIS_WIRE_KEY_KEEP_MS = 62,
  IRIS_WIRE_KEY_ITEM = 63,
  IRIS_WIRE_KEY_WAIT_MS = 64,
  IRIS_WIRE_KEY_DETACH = 65,
  IRIS_WIRE_KEY_DELAY_MS = 70,
  IRIS_WIRE_KEY_AT_MS = 71,
  IRIS_WIRE_KEY_PRIORITY = 72,
  IRIS_WIRE_KEY_AFTER = 73,
  IRIS_WIRE_KEY_AFTER_HOW = 74,
  IRIS_WIRE_KEY_RETRIES = 75,
  IRIS_WIRE_KEY_BACKOFF_MS = 76,
  IRIS_WIRE_KEY_TIME_TO_RUN_MS = 77,
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
} IrisWireKey;

/**
 * IrisWireState:
 * @IRIS_WIRE_STATE_QUEUED: the item waits; in CANCELLING: it was waiting and will not run
 * @IRIS_WIRE_STATE_RUNNING: the item runs; in CANCELLING: it is running and was asked to stop
 * @IRIS_WIRE_STATE_DONE: the item has ended well
 * @IRIS_WIRE_STATE_FAILED: the item has ended with an error
 * @IRIS_WIRE_STATE_CANCELLED: the item was cancelled
 *
 * Where an item is: key 52. An item that irisd keeps can be in each of them, CANCELLING tells only
 * of the first two.
 *
 * Since: 0.1
 */
typedef enum
{
  IRIS_WIRE_STATE_QUEUED = 1,
  IRIS_WIRE_STATE_RUNNING = 2,
  IRIS_WIRE_STATE_DONE = 3,
  IRIS_WIRE_STATE_FAILED = 4,
  IRIS_WIRE_STATE_CANCELLED = 5,
} IrisWireState;

/**
 * IrisWireClass:
 * @IRIS_WIRE_CLASS_VOLATILE: the item is lost if irisd is; nothing is written
 * @IRIS_WIRE_CLASS_RELAXED: the item is on the disk some 50 milliseconds after it was accepted
 * @IRIS_WIRE_CLASS_DURABLE: the item is on the disk before it is accepted, its end before it is
 * told
 *
 * What of an item survives a crash: key 60.
 *
 * Since: 0.1
 */
typedef enum
{
  IRIS_WIRE_CLASS_VOLATILE = 0,
  IRIS_WIRE_CLASS_RELAXED = 1,
  IRIS_WIRE_CLASS_DURABLE = 2,
} IrisWireClass;

/**
 * IrisWireChannel:
 * @IRIS_WIRE_CHANNEL_OUTPUT: standard output
 * @IRIS_WIRE_CHANNEL_ERRORS: standard error
 *
 * What OUTPUT tells in key 98.
 *
 * Since: 0.1
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
 *
 * Since: 0.1
 */
typedef enum
{
  IRIS_WIRE_AFTER_ALL = 1,
  IRIS_WIRE_AFTER_ANY = 2,
  IRIS_WIRE_AFTER_SUCCESS = 3,
} IrisWireAfter;

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

/**
 * IrisWireKeys: (skip)
 *
 * A set of keys below 128: bit k stands for key k.
 *
 * Since: 0.1
 */
__extension__ typedef unsigned __int128 IrisWireKeys;

/**
 * IrisWireFrame:
 * @data: (array length=size) (nullable): the bytes, borrowed
 * @size: how many
 *
 * A run of bytes that belongs to someone else.
 *
 * Since: 0.1
 */
typedef struct
{
  const guint8 *data;
  gsize size;
} IrisWireFrame;

/**
 * IrisWireMessage:
 * @type: an #IrisWireType
 * @request_id: chosen by the client; an answer repeats it
 * @present: bit k is set if key k is there
 * @version_min: key 1, lowest version spoken; in WELCOME the chosen one
 * @version_max: key 2, highest version spoken; in WELCOME the chosen one
 * @features: key 3, feature bits
 * @name: key 4, program and version of the sender
 * @credits: key 5, items that the client may have in flight
 * @byte_credits: key 6, bytes that the client may have in flight
 * @max_body: key 7, largest body that irisd takes, in bytes
 * @max_batch: key 9, most items in a batch
 * @socket_place: key 8, the place behind this socket, -1 for the front door
 * @service: key 10, which service is to run
 * @hint: key 11, the place where the item should run, -1 for none
 * @strict: key 12, the hint is an order
 * @content_type: key 13, what the body is
 * @args: key 14, the service's arguments
 * @path: key 15, a file to work on instead of the body
 * @quiet: key 16, do not answer with ACCEPTED
 * @home: key 19, the place where the item was queued
 * @place: key 20, the place where it ran
 * @worker: key 21, the worker that ran it
 * @queue_ns: key 23, nanoseconds from being accepted to being run
 * @run_ns: key 24, nanoseconds of running
 * @bytes: key 25, bytes that the service worked on
 * @exit_status: key 26, of a command that exited
 * @signal: key 27, of a command that was killed
 * @stdout_length: key 28, how many bytes of the body are standard output; the rest is standard
 * error
 * @truncated: key 30, output beyond a limit was dropped
 * @code: key 40, an #IrisWireError, or one that is newer
 * @error_name: key 41, its stable name
 * @sentence: key 42, what went wrong and what to do next
 * @ends: key 43, this error ends an item that had been accepted
 * @limit: key 44, the name of the limit that was met
 * @limit_value: key 45, its value
 * @retry_after_ms: key 46, when it makes sense to try again, in milliseconds
 * @count: key 50, how many
 * @target: key 51, request id of the item that is meant
 * @state: key 52, an #IrisWireState
 * @anywhere: key 53, the item may be of another connection
 * @klass: key 60, an #IrisWireClass
 * @key: key 61, what makes two submissions the same item
 * @keep_ms: key 62, how long the item's end is kept, in milliseconds
 * @item: key 63, the number that irisd gave an item, from 1
 * @wait_ms: key 64, how long to wait for an item's end, in milliseconds
 * @detach: key 65, do not tell how the item ends
 * @delay_ms: key 70, milliseconds from being accepted before which it does not run
 * @at_ms: key 71, milliseconds since 1970 before which it does not run
 * @priority: key 72, 0 to 9; higher comes first
 * @after: key 73, the numbers of the items that it waits for, in decimal
 * @after_how: key 74, an #IrisWireAfter
 * @retries: key 75, how often it is tried again when it fails
 * @backoff_ms: key 76, milliseconds before the first time that it is tried again
 * @time_to_run_ms: key 77, milliseconds after which a run is stopped and counts as failed
 * @attempts: key 79, how often it was run
 * @stream: key 90, send output as it comes, this many bytes without a MORE
 * @directory: key 91, the command's working directory
 * @environment: key 92, NAME=VALUE sets a variable of the command, NAME takes one away
 * @clear_environment: key 93, begin with an empty environment
 * @nice: key 94, how much the command gives way to others
 * @limits: key 95, NAME=NUMBER bounds what the command may use
 * @time_limit_ms: key 96, how long the command may run, in milliseconds
 * @grace_ms: key 97, milliseconds from SIGTERM to SIGKILL
 * @channel: key 98, an #IrisWireChannel
 * @grant: key 99, how many more bytes of output may be sent
 * @progress: key 80, tell how far the item is
 * @fraction: key 81, how much of the item is done, in millionths
 * @note: key 82, for a person: what is being done
 * @capacity: key 83, how many leases the worker will hold at once
 * @lease_ms: key 84, for how long a lease holds, in milliseconds
 * @again: key 85, another attempt may succeed
 * @attempt: key 86, the how manieth time the item is leased, from 1
 * @silence_ms: key 87, for how long a worker may say nothing, in milliseconds
 * @body: the fifth frame
 *
 * One message. See the head of this file for ownership and presence.
 *
 * Since: 0.1
 */
typedef struct
{
  guint8 type;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint8 target[IRIS_WIRE_ID_SIZE];
  IrisWireKeys present;

  guint32 version_min;
  guint32 version_max;
  guint64 features;
  IrisWireString name;
  guint64 byte_credits;
  guint64 max_body;
  guint32 credits;
  guint32 max_batch;
  gint32 socket_place;

  gint32 hint;
  IrisWireString service;
  IrisWireString content_type;
  IrisWireArgs args;
  IrisWireString path;
  gboolean strict;
  gboolean quiet;

  gint32 home;
  gint32 place;
  gint32 worker;
  gint32 exit_status;
  gint32 signal;
  gboolean truncated;
  guint64 queue_ns;
  guint64 run_ns;
  guint64 bytes;
  guint64 stdout_length;

  guint32 code;
  gboolean ends;
  IrisWireString error_name;
  IrisWireString sentence;
  IrisWireString limit;
  guint64 limit_value;
  guint32 retry_after_ms;

  guint32 count;
  guint32 state;
  gboolean anywhere;

  guint32 klass;
  gboolean detach;
  IrisWireString key;
  guint64 keep_ms;
  guint64 item;
  guint64 wait_ms;

  guint64 stream;
  IrisWireString directory;
  IrisWireArgs environment;
  IrisWireArgs limits;
  guint64 time_limit_ms;
  guint64 grace_ms;
  guint64 grant;
  gboolean clear_environment;
  gint32 nice;
  guint32 channel;
  guint64 lease_ms;
  guint64 silence_ms;
  IrisWireString note;
  guint32 fraction;
  guint32 capacity;
  guint32 attempt;
  gboolean progress;
  gboolean again;

  guint64 delay_ms;
  guint64 at_ms;
  guint64 backoff_ms;
  guint64 time_to_run_ms;
  IrisWireArgs after;
  guint32 priority;
  guint32 after_how;
  guint32 retries;
  guint32 attempts;
  IrisWireFrame body;
} IrisWireMessage;

/**
 * IRIS_WIRE_BIT:
 * @key: an #IrisWireKey
 *
 * The bit of @key in `present`.
 */
#define IRIS_WIRE_BIT(key) ((IrisWireKeys) 1 << (key))

/**
 * iris_wire_message_has:
 * @self: a message
 * @key: a key
 *
 * Whether @key is there.
 *
 * Since: 0.1
 */
static inline gboolean
iris_wire_message_has (const IrisWireMessage *self, IrisWireKey key)
{
  return (self->present & IRIS_WIRE_BIT (key)) != 0;
}

/**
 * iris_wire_message_init:
 * @self: (out caller-allocates): a message, whatever it holds
 * @type: its type
 * @request_id: (nullable) (array fixed-size=16): its request id, copied; %NULL for zeroes
 *
 * Makes @self a message without keys and with an empty body.
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_init (IrisWireMessage *self, IrisWireType type, const guint8 *request_id);

/**
 * iris_wire_message_set_uint:
 * @self: a message
 * @key: a key whose value is an unsigned number
 * @value: the number; one that the key cannot hold is a programmer's error
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_uint (IrisWireMessage *self, IrisWireKey key, guint64 value);

/**
 * iris_wire_message_set_int:
 * @self: a message
 * @key: a key whose value is a signed number: a place, a worker, exit status, signal
 * @value: the number
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_int (IrisWireMessage *self, IrisWireKey key, gint32 value);

/**
 * iris_wire_message_set_boolean:
 * @self: a message
 * @key: a key whose value is true or false
 * @value: the value
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_boolean (IrisWireMessage *self, IrisWireKey key, gboolean value);

/**
 * iris_wire_message_set_string:
 * @self: a message
 * @key: a key whose value is a string
 * @data: (not nullable): the string, borrowed: it must outlive @self's use
 * @len: its length in bytes, or -1 if it ends with a NUL
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void
iris_wire_message_set_string (IrisWireMessage *self, IrisWireKey key, const char *data, gssize len);

/**
 * iris_wire_message_set_args:
 * @self: a message
 * @args: (array zero-terminated=1): the arguments, borrowed: they must outlive @self's use
 *
 * Sets key 14.
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_args (IrisWireMessage *self, const char *const *args);

/**
 * iris_wire_message_set_list:
 * @self: a message
 * @key: a key whose value is a list
 * @list: (array zero-terminated=1): its strings, borrowed: they must outlive @self's use
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_list (IrisWireMessage *self, IrisWireKey key, const char *const *list);

/**
 * iris_wire_message_set_target:
 * @self: a message
 * @target: (array fixed-size=16): a request id, copied
 *
 * Sets key 51.
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_target (IrisWireMessage *self, const guint8 *target);

/**
 * iris_wire_message_set_body:
 * @self: a message
 * @data: (array length=size) (nullable): the body, borrowed
 * @size: its length in bytes
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_body (IrisWireMessage *self, gconstpointer data, gsize size);

/**
 * iris_wire_message_set_error:
 * @self: a message, ERROR or BUSY
 * @error: what went wrong, of any domain; its message is borrowed
 *
 * Sets code, name and sentence. An error of another domain than %IRIS_WIRE_ERROR becomes
 * `internal`. A sentence of more than 1,024 bytes is cut between two characters.
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_error (IrisWireMessage *self, const GError *error);

/**
 * iris_wire_message_to_error:
 * @self: a message that was decoded, ERROR or BUSY
 *
 * The reverse of iris_wire_message_set_error(), for clients: the code as sent, in the domain
 * %IRIS_WIRE_ERROR.
 *
 * Returns: (transfer full): an error
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
GError *iris_wire_message_to_error (const IrisWireMessage *self);

/**
 * iris_wire_message_to_string:
 * @self: a message
 *
 * One line for people that debug, such as `SUBMIT 00..01 {service: "echo", place: 1} 5 bytes`. Long
 * strings are cut.
 *
 * Returns: (transfer full): UTF-8 text
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
char *iris_wire_message_to_string (const IrisWireMessage *self);

/**
 * iris_wire_type_name:
 * @type: the second frame's byte
 *
 * Returns: (transfer none) (nullable): the name, such as `SUBMIT`, or %NULL if there is no such
 * type
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
const char *iris_wire_type_name (guint type);

/**
 * iris_wire_type_is_request:
 * @type: the second frame's byte
 *
 * Returns: whether clients send it and irisd receives it
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_type_is_request (guint type);

/**
 * iris_wire_key_name:
 * @key: a key of the header
 *
 * Returns: (transfer none) (nullable): the name that doc/protocol.md gives it, or %NULL if it has
 * none
 *
 * Since: 0.1
 */
IRIS_AVAILABLE_IN_ALL
const char *iris_wire_key_name (guint key);

G_END_DECLS
