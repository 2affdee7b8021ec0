/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A connection to NATS and JetStream, which knows nothing of items.
 *
 * An engine belongs to one thread, the owner: the one that runs its GMainContext. The owner alone
 * calls the functions below, and every callback comes in it, from the main loop and never from
 * inside of a call. No function blocks but irisd_engine_free(). Each callback that is given with a
 * call comes exactly once, also if the connection is away; for those that are left, from
 * irisd_engine_free().
 *
 * Nothing is kept for later while the connection is away: what would wait for an answer fails at
 * once, the rest is dropped. Subscriptions and pulls outlive a reconnect.
 */
#pragma once

#include "daemon/cluster/engine/irisd-engine-words.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct _IrisdEngine IrisdEngine;

/* How long the answer to a publication may take: a stream with a quorum answers within that. */
#define IRISD_ENGINE_PUBLISH_MS 2000
/* The time-out of requests that have no reason for another. */
#define IRISD_ENGINE_REQUEST_MS 5000
/* Publications that wait for an answer at once, unless the options say otherwise. Further ones wait
 * in the engine. */
#define IRISD_ENGINE_WINDOW 1024

/* What fails on the way to a server, or what is no answer. */
#define IRISD_ENGINE_ERROR (irisd_engine_error_quark ())
GQuark irisd_engine_error_quark (void);

typedef enum
{
  IRISD_ENGINE_ERROR_OPTIONS,      /* an option of the connection is wrong */
  IRISD_ENGINE_ERROR_DISCONNECTED, /* the connection is or went away; if it went: it may be done */
  IRISD_ENGINE_ERROR_TIMEOUT, /* no answer in time: it may be done. Also a missing permission */
  IRISD_ENGINE_ERROR_NO_RESPONDERS, /* no JetStream, no leader, or no subscriber: not done */
  IRISD_ENGINE_ERROR_NOT_FOUND,     /* there is no such message */
  IRISD_ENGINE_ERROR_MALFORMED,     /* the answer is not what it should be */
} IrisdEngineError;

/* What JetStream refuses. The code is its err_code, as IRISD_JETSTREAM_STREAM_NOT_FOUND. */
#define IRISD_JETSTREAM_ERROR (irisd_jetstream_error_quark ())
GQuark irisd_jetstream_error_quark (void);

enum
{
  IRISD_JETSTREAM_UNAVAILABLE = 10008,
  IRISD_JETSTREAM_CONSUMER_NOT_FOUND = 10014,
  IRISD_JETSTREAM_MESSAGE_NOT_FOUND = 10037,
  IRISD_JETSTREAM_SEQUENCE_NOT_FOUND = 10043,
  IRISD_JETSTREAM_STREAM_NOT_FOUND = 10059,
  IRISD_JETSTREAM_NOT_CLUSTERED = 10074,
  IRISD_JETSTREAM_WRONG_LAST_SEQUENCE = 10071,
  IRISD_JETSTREAM_STORE_FAILED = 10077, /* with discard new: the stream is full */
  IRISD_JETSTREAM_DUPLICATE_IN_FLIGHT = 10158,
  IRISD_JETSTREAM_WRONG_LAST_SEQUENCE_CONSTANT = 10164,
};

/* ---- Connection ---- */

typedef struct
{
  GMainContext *context;    /* the owner's; NULL: the thread's default */
  const char *url;          /* "nats://host:4222" or "tls://…", several joined by commas */
  const char *name;         /* shown by the servers' connection list; may be NULL */
  const char *credentials;  /* a file of a JWT and its seed, or NULL */
  const char *nkey;         /* a public NKey, "U…", or NULL; */
  const char *nkey_seed;    /* and the file of its seed */
  const char *tls_ca;       /* files; a CA alone demands TLS of the server */
  const char *tls_cert;     /* of the client, or NULL; */
  const char *tls_key;      /* both or none */
  const char *inbox_prefix; /* NULL: "_INBOX"; one of its own lets permissions keep nodes apart */
  guint window;             /* 0: IRISD_ENGINE_WINDOW */
} IrisdEngineOptions;

typedef enum
{
  IRISD_ENGINE_CONNECTING, /* never was connected, and tries for ever */
  IRISD_ENGINE_CONNECTED,
  IRISD_ENGINE_DISCONNECTED, /* was connected, and tries for ever */
} IrisdEngineState;

/* Whether streams have a quorum, as told by publications: an answer to one, also an error, says
 * yes; a time-out or "no responders" says no. */
typedef enum
{
  IRISD_ENGINE_QUORUM_UNKNOWN,
  IRISD_ENGINE_QUORUM_YES,
  IRISD_ENGINE_QUORUM_NO,
} IrisdEngineQuorum;

/* Called after the state, the quorum, or the text of the last error has changed, once for a turn of
 * the main loop: a connection that was lost and made again in one turn shows in n_reconnects alone.
 */
typedef void (*IrisdEngineChangedFunc) (IrisdEngine *self, gpointer user_data);

/* Returns at once and connects meanwhile. Fails only if an option is wrong or a file is unreadable.
 */
IrisdEngine *irisd_engine_new (const IrisdEngineOptions *options,
                               IrisdEngineChangedFunc changed,
                               gpointer user_data,
                               GError **error);
/* Closes the connection. What waits for an answer fails as DISCONNECTED from inside of this call;
 * what is asked for then has no callback. The pointers of subscriptions and pulls end. Not to be
 * called from a callback. Writes what the socket takes, and blocks while libnats ends: 2 seconds at
 * the most, if it is just connecting. */
void irisd_engine_free (IrisdEngine *self);

IrisdEngineState irisd_engine_get_state (IrisdEngine *self);
IrisdEngineQuorum irisd_engine_get_quorum (IrisdEngine *self);
/* The last error as a sentence that says what to do, also of what the server said beside answers (a
 * missing permission is told there alone); NULL if there was none since the last connect. What
 * libnats said of it is logged, for debugging. */
const char *irisd_engine_get_last_error (IrisdEngine *self);
/* The kind of that. */
IrisdEngineTrouble irisd_engine_get_trouble (IrisdEngine *self);
/* The server in use, or NULL. */
const char *irisd_engine_get_server (IrisdEngine *self);
/* Bytes of a message with its headers that the server takes; 0 while unknown. */
gsize irisd_engine_get_max_payload (IrisdEngine *self);
/* How often a connection was made again. */
guint irisd_engine_get_n_reconnects (IrisdEngine *self);

/* ---- Messages ---- */

typedef struct
{
  const char *name;
  const char *value;
} IrisdEngineHeader;

/* What was received. It and what it points to live until the callback returns, unless it is kept.
 */
typedef struct
{
  const char *subject;
  const char *reply; /* where to answer; of a delivery: the ack subject; NULL if none */
  gconstpointer data;
  gsize length;

  /* of a delivery, and of what was read from a stream */
  guint64 sequence; /* in the stream */
  gint64 time_ns;   /* when it was stored, since 1970 */
  /* of a delivery */
  guint64 n_delivered; /* 1: for the first time */
  guint64 n_pending;   /* of the consumer, not delivered yet: the backlog */
  gboolean
      counts_anew; /* its consumer was made again, and has forgotten what it delivered before */

  /*< private >*/
  gpointer handle;
  gboolean kept;
} IrisdEngineMessage;

/* A header's first value, or NULL. Names are compared as they are written. */
const char *irisd_engine_message_get_header (const IrisdEngineMessage *message, const char *name);
/* Keeps what @message points to, without a copy, until irisd_engine_kept_free(), which any thread
 * may call, also after the engine's end. Once for a message; its headers are read before. */
gpointer irisd_engine_message_keep (const IrisdEngineMessage *message);
void irisd_engine_kept_free (gpointer kept);

/* ---- Requests to JetStream ---- */

/* @reply is NULL if there is an error, which is of one of the two domains above. */
typedef void (*IrisdEngineReplyFunc) (IrisdEngine *self,
                                      JsonObject *reply,
                                      const GError *error,
                                      gpointer user_data);

/* Sends @json (NULL: an empty message) to @subject, as "$JS.API.STREAM.INFO.IRIS", and reads the
 * answer as JSON. An "error" in it becomes an IRISD_JETSTREAM_ERROR. @timeout_ms 0:
 * IRISD_ENGINE_REQUEST_MS. */
void irisd_engine_request (IrisdEngine *self,
                           const char *subject,
                           const char *json,
                           guint timeout_ms,
                           IrisdEngineReplyFunc callback,
                           gpointer user_data);

/* ---- Publications to a stream ---- */

typedef struct
{
  const char *subject;
  const IrisdEngineHeader *headers;
  guint n_headers;
  gconstpointer data;
  gsize length;
  const char
      *message_id;       /* Nats-Msg-Id, or NULL; the same again within the window is stored once */
  gboolean check_last;   /* demands that the last message of this subject is @expected_last, */
  guint64 expected_last; /* 0: that there is none */
} IrisdEnginePublication;

typedef enum
{
  IRISD_PUBLISH_STORED,         /* on disk as the stream promises it */
  IRISD_PUBLISH_DUPLICATE,      /* was stored before, with this message id */
  IRISD_PUBLISH_WRONG_SEQUENCE, /* check_last does not hold: not stored */
  IRISD_PUBLISH_FULL,           /* the stream's limits: not stored */
  IRISD_PUBLISH_RETRY,          /* the same id is under way: publish again, with that id */
  IRISD_PUBLISH_NO_QUORUM, /* no answer, no leader or no connection: publish again, with that id */
  IRISD_PUBLISH_REFUSED,   /* another error: not stored, and trying again would not help */
} IrisdPublishStatus;

typedef struct
{
  IrisdPublishStatus status;
  /* whether it may be stored although the status says otherwise */
  gboolean maybe_stored;
  guint64 sequence; /* if STORED or DUPLICATE: the number in the stream; else 0 */
  gint code;        /* JetStream's err_code, or 0 */
  const char *text; /* why, if not stored; else NULL */
} IrisdPublishResult;

typedef void (*IrisdPublishFunc) (IrisdEngine *self,
                                  const IrisdPublishResult *result,
                                  gpointer user_data);

/* Publishes and copies what it is given. Publications go out in the order of the calls; further
 * ones do not wait for the answers of earlier ones, up to the window. */
void irisd_engine_publish (IrisdEngine *self,
                           const IrisdEnginePublication *publication,
                           IrisdPublishFunc callback,
                           gpointer user_data);
/* Publications without their answer, also those that wait for the window. */
guint irisd_engine_get_n_unanswered (IrisdEngine *self);
const char *irisd_publish_status_get_name (IrisdPublishStatus status);

/* ---- Pulls: messages of a consumer ---- */

typedef struct _IrisdPull IrisdPull;

typedef enum
{
  IRISD_PULL_PLAIN,   /* a consumer without groups */
  IRISD_PULL_OWNER,   /* names the group, and takes at any backlog */
  IRISD_PULL_THIEF,   /* names the group, and takes at a backlog of min_pending or more */
  IRISD_PULL_RESCUER, /* as the owner, on behalf of one that is gone */
} IrisdPullKind;

/* The group of all consumers with the policy "overflow". */
#define IRISD_PULL_GROUP "g"

typedef struct
{
  const char *stream;
  const char *consumer;
  IrisdPullKind kind;
  guint window;        /* as irisd_pull_set_window() */
  guint least;         /* while fewer are held, it asks for one message, too */
  guint64 min_pending; /* of a thief */
  guint expires_ms;    /* how long a request waits at the server; 0: 30 s, of a thief 5 s */
  guint heartbeat_ms; /* 0: 5 s, at the most two fifths of @expires_ms. Two missed: it asks again */
} IrisdPullOptions;

typedef enum
{
  IRISD_PULL_IDLE, /* asks for nothing: the window is full enough or 0, or there is no connection */
  IRISD_PULL_WAITING, /* has a request at the server */
  IRISD_PULL_TROUBLE, /* the last request failed; asks again after a delay */
  IRISD_PULL_GONE,    /* there is no such consumer; looks again after a delay */
} IrisdPullState;

typedef struct
{
  /* A message, which is to be answered by its ack subject, in the end. It counts against the window
   * until irisd_pull_release(). */
  void (*message) (IrisdPull *pull, const IrisdEngineMessage *message, gpointer user_data);
  /* The state or its reason has changed; may be NULL. */
  void (*changed) (IrisdPull *pull, gpointer user_data);
  /* It was withdrawn, nothing comes of it any more, and it is freed after this; may be NULL. */
  void (*ended) (IrisdPull *pull, gpointer user_data);
} IrisdPullEvents;

IrisdPull *irisd_pull_new (IrisdEngine *engine,
                           const IrisdPullOptions *options,
                           const IrisdPullEvents *events,
                           gpointer user_data);
/* Stops. What is already on its way is given back by a nak, which counts as a delivery. Messages
 * that were given to the owner remain to be answered. */
void irisd_pull_free (IrisdPull *self);
/* Asks for nothing any more. What was asked for before still comes as a message, until nothing has
 * come for a moment; then the pull ends. Without that moment a server that is just sending would
 * lose what it sends, for the length of a lease, and one more of its deliveries. */
void irisd_pull_withdraw (IrisdPull *self);
/* The most messages that are not released, or are asked for. It asks when half of it is free, or a
 * quarter and nothing is asked for: what brings one message costs the servers as much as what
 * brings many. What was asked for before the window became smaller may still come, until it
 * expires. */
void irisd_pull_set_window (IrisdPull *self, guint window);
/* @n messages have ended, or are no longer to count. */
void irisd_pull_release (IrisdPull *self, guint n);
void irisd_pull_set_min_pending (IrisdPull *self, guint64 min_pending);
guint irisd_pull_get_n_held (IrisdPull *self);
guint irisd_pull_get_n_asked (IrisdPull *self); /* for, and has not come */
/* What the last message or status told of the consumer's backlog. */
guint64 irisd_pull_get_backlog (IrisdPull *self);
IrisdPullState irisd_pull_get_state (IrisdPull *self);
/* Why it is in trouble or gone, as a sentence; else NULL. */
const char *irisd_pull_get_reason (IrisdPull *self);

/* Answers to a delivery, by its ack subject. They come to nothing while the connection is away. */
void irisd_engine_ack (IrisdEngine *self, const char *ack_subject);
/* Delivered again after @delay_ms, or at once. */
void irisd_engine_nak (IrisdEngine *self, const char *ack_subject, guint64 delay_ms);
/* Work in progress: the time for the ack begins anew. */
void irisd_engine_wpi (IrisdEngine *self, const char *ack_subject);
/* Never delivered again; @reason, one line or NULL, is in the advisory. */
void irisd_engine_term (IrisdEngine *self, const char *ack_subject, const char *reason);

/* ---- What a stream has ---- */

/* @message is NULL if there is an error: IRISD_ENGINE_ERROR_NOT_FOUND if there is no such message.
 */
typedef void (*IrisdEngineMessageFunc) (IrisdEngine *self,
                                        const IrisdEngineMessage *message,
                                        const GError *error,
                                        gpointer user_data);

/* The last message of @subject, by direct get. A follower may answer, so it may be one that is no
 * longer the last; but if it has none, the leader is asked, so NOT_FOUND is certain. */
void irisd_engine_get_last (IrisdEngine *self,
                            const char *stream,
                            const char *subject,
                            IrisdEngineMessageFunc callback,
                            gpointer user_data);
/* By its number in the stream. A follower may not have it yet. */
void irisd_engine_get_sequence (IrisdEngine *self,
                                const char *stream,
                                guint64 sequence,
                                IrisdEngineMessageFunc callback,
                                gpointer user_data);
/* The last message of each subject that matches @filter, one callback for each; at the end one
 * without message, with the error, or without one if that were all. 1,024 subjects at the most, a
 * limit of the server. */
void irisd_engine_get_last_of_each (IrisdEngine *self,
                                    const char *stream,
                                    const char *filter,
                                    IrisdEngineMessageFunc callback,
                                    gpointer user_data);

/* Up to @n messages of @subject, in their order, from the number @sequence on, one callback for
 * each; at the end one without message, with the error, or without one if that were all. A follower
 * may not have the newest yet. */
void irisd_engine_get_next_of (IrisdEngine *self,
                               const char *stream,
                               const char *subject,
                               guint64 sequence,
                               guint n,
                               IrisdEngineMessageFunc callback,
                               gpointer user_data);

/* ---- Core NATS: at most once ---- */

typedef struct _IrisdEngineSubscription IrisdEngineSubscription;

typedef void (*IrisdEngineReceiveFunc) (IrisdEngine *self,
                                        const IrisdEngineMessage *message,
                                        gpointer user_data);

/* Publishes to @subject, with @reply as the subject for answers, which may be NULL. FALSE if the
 * connection is away. */
gboolean irisd_engine_send (IrisdEngine *self,
                            const char *subject,
                            const char *reply,
                            const IrisdEngineHeader *headers,
                            guint n_headers,
                            gconstpointer data,
                            gsize length);
IrisdEngineSubscription *irisd_engine_subscribe (IrisdEngine *self,
                                                 const char *subject,
                                                 IrisdEngineReceiveFunc callback,
                                                 gpointer user_data);
void irisd_engine_unsubscribe (IrisdEngineSubscription *subscription);
/* Sends and waits for one answer. @timeout_ms 0: IRISD_ENGINE_REQUEST_MS. */
void irisd_engine_ask (IrisdEngine *self,
                       const char *subject,
                       const IrisdEngineHeader *headers,
                       guint n_headers,
                       gconstpointer data,
                       gsize length,
                       guint timeout_ms,
                       IrisdEngineMessageFunc callback,
                       gpointer user_data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdEngine, irisd_engine_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdPull, irisd_pull_free)

G_END_DECLS
