/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What servers send, parsed: answers to publications, errors, statuses, ack subjects, tokens. Pure.
 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* What an ack subject says of its delivery. */
typedef struct
{
  guint64 n_delivered;
  guint64 stream_sequence;
  guint64 consumer_sequence;
  gint64 time_ns;
  guint64 n_pending;
} IrisdDelivery;

/* "$JS.ACK.STREAM.CONSUMER.DELIVERED.SSEQ.CSEQ.TIME.PENDING", or with DOMAIN.HASH before the
 * stream. */
gboolean irisd_delivery_parse (IrisdDelivery *self, const char *ack_subject);

/* The answer to a publication: either stored, or an error. */
typedef struct
{
  gboolean stored;
  gboolean duplicate;
  guint64 sequence;
  gint code;         /* the status, as 503; 0 if stored */
  gint err_code;     /* JetStream's own, as 10077 */
  char *description; /* NULL, or of the error */
} IrisdPubAck;

gboolean irisd_pub_ack_parse (IrisdPubAck *self, const char *data, gsize length);
void irisd_pub_ack_clear (IrisdPubAck *self);

/* An answer of the API as an object; an "error" in it becomes an IRISD_JETSTREAM_ERROR. */
JsonObject *irisd_engine_parse_reply (const char *data, gsize length, GError **error);
/* A number that may be missing or of another type: then 0. */
gint64 irisd_json_get_int (JsonObject *object, const char *name);
const char *irisd_json_get_string (JsonObject *object, const char *name);
JsonObject *irisd_json_get_object (JsonObject *object, const char *name);

/* A status of a pull, by its code and description. */
typedef enum
{
  IRISD_PULL_STATUS_HEARTBEAT, /* 100: the request still waits */
  IRISD_PULL_STATUS_EXPIRED,   /* 404, 408, and 409 of a batch that is complete: it has ended, as it
                                  should */
  IRISD_PULL_STATUS_AGAIN,     /* 409: a leader changed, a server ends: it has ended; ask again */
  IRISD_PULL_STATUS_CROWDED,   /* 409: more requests wait than the consumer lets wait */
  IRISD_PULL_STATUS_GONE,      /* 409: the consumer was deleted */
  IRISD_PULL_STATUS_NO_LEADER, /* 503: no consumer, no stream or no leader */
  IRISD_PULL_STATUS_REFUSED,   /* 400 and all others: the request is wrong */
} IrisdPullStatus;

IrisdPullStatus irisd_pull_status_parse (const char *code, const char *description);

/* Whole numbers of headers. */
gboolean irisd_engine_parse_number (const char *text, guint64 *number);
/* A time as "2030-01-01T00:00:00.25Z" in nanoseconds since 1970. */
gboolean irisd_engine_parse_time (const char *text, gint64 *time_ns);

/* A number as the last token of an inbox, IRISD_TOKEN_LENGTH letters. */
#define IRISD_TOKEN_LENGTH 11
void irisd_token_write (guint64 number, char *token);
gboolean irisd_token_parse (const char *token, guint64 *number);

/* The numbers of "2.15.2" and "2.14.0-RC.1" are compared, what follows them is not: as strcmp(). A
 * text without numbers is the lowest. */
gint irisd_version_compare (const char *a, const char *b);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisdPubAck, irisd_pub_ack_clear)

G_END_DECLS
