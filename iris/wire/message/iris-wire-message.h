/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One message of the protocol IRS1 as a plain struct, whatever its type.
 *
 * Everything under iris/wire is pure: iris_wire_decode() turns frames into an IrisWireMessage that
 * borrows from them, iris_wire_encode() an IrisWireMessage into frames that borrow from it and from
 * the encoder. The larger bodies have types of their own: IrisWireBatchBuilder and
 * IrisWireBatchIter, IrisWireMap, IrisWireStatus, IrisWireServices. doc/protocol.md describes the
 * same from outside. Nothing here is shared between threads and nothing locks: a message, encoder,
 * builder or iterator belongs to the caller that made it; functions without such an object may be
 * called from any thread.
 *
 * The struct owns nothing. Strings are a pointer and a length without a terminating NUL, because
 * after decoding they point into the received frames; they are free of NUL bytes, so that
 * g_strndup() makes an honest C string of them. A key has the same number, meaning and C field in
 * every type that has it. Bit k of @present says whether key k is there; an absent field holds its
 * default (0, %FALSE, empty; -1 for places and the worker). The setters keep field and bit
 * together.
 */
#pragma once

#include <iris/wire/message/iris-wire-args.h>
#include <iris/wire/message/iris-wire-keys.h>

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
 * IrisWireKeys: (skip)
 *
 * A set of keys below 128: bit k stands for key k.
 */
__extension__ typedef unsigned __int128 IrisWireKeys;

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
 * @node: key 31, the name of a node of the cluster
 * @any_node: key 32, the item may run on any node
 * @for_owner: key 33, the owner of the item, or of what is asked
 * @header: key 34, the header of another message, as it is encoded
 * @cluster_item: key 35, what names an item in the whole cluster
 * @asked: key 36, an #IrisWireType: of the message whose header is key 34
 * @code: key 40, an #IrisWireError, or one that is newer
 * @error_name: key 41, its stable name
 * @message: key 42, what went wrong and what to do next
 * @ends: key 43, this error ends an item that had been accepted
 * @limit: key 44, the name of the limit that was met
 * @limit_value: key 45, its value
 * @retry_after_ms: key 46, when it makes sense to try again, in milliseconds
 * @count: key 50, how many
 * @target: key 51, request id of the item, or of the completion, that is meant
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
 * @after: key 73, the numbers of the items that it waits for
 * @after_away: key 119, the items of other nodes that it waits for, each NODE/ITEM
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
 * @bury: key 100, bury the item when it is out of tries
 * @workers: key 101, how many workers
 * @payload: key 102, the item as it was submitted is wanted, or told
 * @drained: key 103, the place takes no more items
 * @hint_name: key 110, the name of the place where the item should run
 * @near_item: key 111, the number of an item near which it should run
 * @deadline_ms: key 88, milliseconds after its acceptance by which it has to have begun
 * @wait_for_service: key 89, whether it waits for a service that is not known yet
 * @near_path: key 112, a file near whose last place it should run
 * @parts: key 113, send parts of the result as they come, this many bytes without a MORE
 * @footprint: key 114, how much memory the item will touch, in bytes
 * @keep_apart: key 115, the item shares that memory with no other one
 * @states: key 120, bit N is set if items in the #IrisWireState N are meant
 * @key_prefix: key 121, how the keys of the items begin that are meant
 * @since_ms: key 122, only items that were accepted at that Unix time or later, in milliseconds
 * @until_ms: key 123, only items that were accepted before that Unix time, in milliseconds
 * @descending: key 124, the greatest number comes first
 * @queue: key 54, the named queue of the item
 * @queue_limit: key 55, how many items of the queue may run at once; 0: as many as can
 * @schedule: key 56, the name of a schedule
 * @zone: key 57, the time zone of a calendar line
 * @jitter_ms: key 58, by how much a run may be late by chance, in milliseconds
 * @missed: key 59, an #IrisWireMissed
 * @overlap: key 66, an #IrisWireOverlap
 * @offset: key 67, where to go on from
 * @keep_output: key 68, bytes of output that are kept
 * @output_policy: key 69, an #IrisWireOutputPolicy
 * @hook: key 78, a command to be run when the item has ended
 * @traceparent: key 104, W3C trace context: the parent of the item
 * @tracestate: key 105, W3C trace context: what tracing systems add
 * @sections: key 106, bit N is set if the section N of the statistics is wanted
 * @key_name: key 107, the name of a key of a client
 * @session: key 108, what a client shows to go on with a session after irisd was restarted
 * @calendar: key 109, a calendar line: when a schedule is due
 * @remove: key 116, what is named is removed
 * @suspended: key 117, what is named takes no new runs
 * @every_ms: key 118, milliseconds from one run of a schedule to the next
 * @body: the fifth frame
 *
 * One message. See the head of this file for ownership and presence.
 */
typedef struct
{
  guint8 type;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint8 target[IRIS_WIRE_ID_SIZE];
  guint8 cluster_item[IRIS_WIRE_ID_SIZE];
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
  IrisWireString message;
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
  guint64 deadline_ms;
  gboolean wait_for_service;
  IrisWireNumbers after;
  IrisWireArgs after_away;
  guint32 priority;
  guint32 after_how;
  guint32 retries;
  guint32 attempts;

  gboolean bury;
  gboolean payload;
  gboolean drained;
  guint32 workers;
  IrisWireString hint_name;
  IrisWireString near_path;
  guint64 near_item;
  guint64 parts;
  guint64 footprint;
  gboolean keep_apart;
  IrisWireString key_prefix;
  guint64 since_ms;
  guint64 until_ms;
  guint32 states;
  gboolean descending;

  IrisWireString queue;
  IrisWireString schedule;
  IrisWireString zone;
  IrisWireArgs hook;
  IrisWireString traceparent;
  IrisWireString tracestate;
  IrisWireString key_name;
  IrisWireString session;
  IrisWireString calendar;
  guint64 jitter_ms;
  guint64 offset;
  guint64 keep_output;
  guint64 every_ms;
  guint32 queue_limit;
  guint32 missed;
  guint32 overlap;
  guint32 output_policy;
  guint32 sections;
  gboolean remove;
  gboolean suspended;

  IrisWireString node;
  IrisWireString header;
  guint64 for_owner;
  guint32 asked;
  gboolean any_node;
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
 *
 * Whether @key is there.
 */
static inline gboolean
iris_wire_message_has (const IrisWireMessage *self, IrisWireKey key)
{
  return (self->present & IRIS_WIRE_BIT (key)) != 0;
}

/**
 * iris_wire_message_init:
 * @self: (out caller-allocates): a message, whatever it holds
 * @request_id: (nullable) (array fixed-size=16): its request id, copied; %NULL for zeroes
 *
 * Makes @self a message without keys and with an empty body.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_init (IrisWireMessage *self, IrisWireType type, const guint8 *request_id);

/**
 * iris_wire_message_set_uint:
 * @key: a key whose value is an unsigned number
 * @value: the number; one that the key cannot hold is a programmer's error
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_uint (IrisWireMessage *self, IrisWireKey key, guint64 value);

/**
 * iris_wire_message_set_int:
 * @key: a key whose value is a signed number: a place, a worker, exit status, signal
 * @value: the number
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_int (IrisWireMessage *self, IrisWireKey key, gint32 value);

/**
 * iris_wire_message_set_boolean:
 * @key: a key whose value is true or false
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_boolean (IrisWireMessage *self, IrisWireKey key, gboolean value);

/**
 * iris_wire_message_set_string:
 * @key: a key whose value is a string
 * @data: (not nullable): the string, borrowed: it must outlive @self's use; of the key `header` any
 * bytes
 * @len: its length in bytes, or -1 if it ends with a NUL
 */
IRIS_AVAILABLE_IN_ALL
void
iris_wire_message_set_string (IrisWireMessage *self, IrisWireKey key, const char *data, gssize len);

/**
 * iris_wire_message_set_args:
 * @args: (array zero-terminated=1): the arguments, borrowed: they must outlive @self's use
 *
 * Sets key 14.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_args (IrisWireMessage *self, const char *const *args);

/**
 * iris_wire_message_set_list:
 * @key: a key whose value is a list
 * @list: (array zero-terminated=1): its strings, borrowed: they must outlive @self's use
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_list (IrisWireMessage *self, IrisWireKey key, const char *const *list);

/**
 * iris_wire_message_set_numbers:
 * @key: a key whose value is a list of numbers
 * @values: (array length=n) (nullable): the numbers, borrowed: they must outlive @self's use
 * @n: how many
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_numbers (IrisWireMessage *self,
                                    IrisWireKey key,
                                    const guint64 *values,
                                    guint n);

/**
 * iris_wire_message_set_target:
 * @target: (array fixed-size=16): a request id, copied
 *
 * Sets key 51.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_target (IrisWireMessage *self, const guint8 *target);

/**
 * iris_wire_message_set_cluster_item:
 * @cluster_item: (array fixed-size=16): what names the item in the whole cluster, copied
 *
 * Sets key 35.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_cluster_item (IrisWireMessage *self, const guint8 *cluster_item);

/**
 * iris_wire_message_set_body:
 * @data: (array length=size) (nullable): the body, borrowed
 * @size: its length in bytes
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_message_set_body (IrisWireMessage *self, gconstpointer data, gsize size);

/**
 * iris_wire_message_set_error:
 * @self: a message, ERROR or BUSY
 * @error: what went wrong, of any domain; its message is borrowed
 *
 * Sets code, name and message. An error of another domain than %IRIS_WIRE_ERROR becomes
 * `internal`. A message of more than 1,024 bytes is cut between two characters.
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
 */
IRIS_AVAILABLE_IN_ALL
GError *iris_wire_message_to_error (const IrisWireMessage *self);

/**
 * iris_wire_message_to_string:
 *
 * One line for people that debug, such as `SUBMIT 00..01 {service: "echo", place: 1} 5 bytes`. Long
 * strings are cut.
 *
 * Returns: (transfer full): UTF-8 text
 */
IRIS_AVAILABLE_IN_ALL
char *iris_wire_message_to_string (const IrisWireMessage *self);

/**
 * iris_wire_type_name:
 * @type: the second frame's byte
 *
 * Returns: (transfer none) (nullable): the name, such as `SUBMIT`, or %NULL if there is no such
 * type
 */
IRIS_AVAILABLE_IN_ALL
const char *iris_wire_type_name (guint type);

/**
 * iris_wire_type_is_request:
 * @type: the second frame's byte
 *
 * Returns: whether clients send it and irisd receives it
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_type_is_request (guint type);

/**
 * iris_wire_key_name:
 * @key: a key of the header
 *
 * Returns: (transfer none) (nullable): the name that doc/protocol.md gives it, or %NULL if it has
 * none
 */
IRIS_AVAILABLE_IN_ALL
const char *iris_wire_key_name (guint key);

G_END_DECLS
