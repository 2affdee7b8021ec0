/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The streams and consumers of a cluster: their configuration, made and checked; the server's
 * abilities; and what all that promises.
 */
#pragma once

#include "daemon/cluster/engine/irisd-engine.h"

G_BEGIN_DECLS

/* The oldest server, and the API level of its JetStream. */
#define IRISD_STREAMS_MIN_VERSION   "2.14.0"
#define IRISD_STREAMS_MIN_API_LEVEL 4

/* What may be chosen. 0 means the default in brackets. Consumers of one cluster have the same. */
typedef struct
{
  const char *stream; /* of the items; the others' names begin with it ("IRIS") */
  guint replicas;     /* 1, 3 or 5 (3) */
  guint64 max_items;  /* that wait or run in the cluster (1,000,000) */
  guint64 max_bytes;  /* of those (1 GiB) */
  guint64 max_bodies; /* bytes of bodies that are larger than a message (1 GiB) */
  guint64 keep_ms;    /* how long ends are kept (1 day) */
  guint64 lease_ms;   /* ack_wait (60,000) */
  guint max_tries;    /* deliveries of an item (no end: its host counts) */
  guint max_running;  /* max_ack_pending, for each consumer (10,000) */
} IrisdStreamsOptions;

typedef enum
{
  IRISD_STREAM_WORK,    /* IRIS: items */
  IRISD_STREAM_ENDS,    /* IRIS_ENDS: one message an item, which ended */
  IRISD_STREAM_LATER,   /* IRIS_LATER: schedules, sourced into IRIS */
  IRISD_STREAM_DEAD,    /* IRIS_DEAD: dead letters */
  IRISD_STREAM_DEADADV, /* IRIS_DEADADV: the server's advisories of these */
  IRISD_STREAM_NODES,   /* KV_iris_nodes: the map */
  IRISD_STREAM_BODIES,  /* OBJ_iris_bodies: bodies that are larger than a message */
} IrisdStreamKind;

#define IRISD_N_STREAMS 7

/* A bucket's keys live this long after their last refresh. */
#define IRISD_STREAMS_NODE_TTL_S 15

typedef enum
{
  IRISD_CONSUMER_ANY,    /* "any": items for no node */
  IRISD_CONSUMER_SOFT,   /* "NODE_soft", which others may steal from */
  IRISD_CONSUMER_STRICT, /* "NODE_strict" */
  IRISD_CONSUMER_DEAD,   /* "dead": advisories of dead letters, of the stream IRIS_DEADADV */
} IrisdConsumerKind;

/* Pure. The JSON objects are the "config" of a request. @node is NULL for consumers that are no
 * node's. */
char *irisd_streams_get_name (const IrisdStreamsOptions *options, IrisdStreamKind kind);
JsonObject *irisd_streams_get_config (const IrisdStreamsOptions *options, IrisdStreamKind kind);
char *irisd_streams_get_consumer_name (IrisdConsumerKind kind, const char *node);
JsonObject *irisd_streams_get_consumer_config (const IrisdStreamsOptions *options,
                                               IrisdConsumerKind kind,
                                               const char *node);
/* The subject of a key of the bucket, "$KV.iris_nodes.KEY"; "*" for all. */
char *irisd_streams_get_nodes_subject (const IrisdStreamsOptions *options, const char *key);
/* The bucket of the stream of bodies, "iris_bodies". */
char *irisd_streams_get_bodies_bucket (const IrisdStreamsOptions *options);
/* What of @wanted is otherwise in @found, a sentence for each field: "max_age is 1, not 2". Fields
 * that only @found has are the server's. */
GPtrArray *irisd_streams_compare (JsonObject *wanted, JsonObject *found);

/* Whether a server writes each message to the medium before it answers. */
typedef enum
{
  IRISD_SYNC_UNKNOWN, /* clients cannot see it; the servers' monitoring port tells it */
  IRISD_SYNC_ALWAYS,
  IRISD_SYNC_LATER, /* after an interval */
} IrisdSync;

/* What is known of the servers. */
typedef struct
{
  char *version;
  guint api_level;
  guint n_replicas; /* that the stream of the items has; 0: unknown */
  guint n_current;  /* of these, how many have all of it */
  IrisdSync sync;
  gint64 sync_interval_ns; /* if later; 0: unknown */
} IrisdServerFacts;

void irisd_server_facts_clear (IrisdServerFacts *facts);
/* Pure. Reads sync_interval from the answer of a monitoring port to /varz, and the version if that
 * is unknown. */
gboolean irisd_server_facts_read_varz (IrisdServerFacts *facts, const char *json, gssize length);

/* All that was found by a check or was done: sentences. It has no faults if the cluster can be
 * used. */
typedef struct
{
  IrisdServerFacts server;
  GPtrArray *faults; /* of char*: what is missing or differs, and what to do */
  GPtrArray
      *notices;    /* of char*: what is not yet so, and passes by itself if the servers are well */
  GPtrArray *made; /* of char*: the names of streams and consumers that were made */
  char *promise;   /* irisd_streams_describe_promise(), or NULL if the server was not reached */
} IrisdStreamsReport;

/* @error is set if the servers could not be asked; the report then says how far it came. It is
 * freed after the call. */
typedef void (*IrisdStreamsFunc) (IrisdEngine *engine,
                                  const IrisdStreamsReport *report,
                                  const GError *error,
                                  gpointer user_data);

/* An engine is not freed while a monitoring port is asked. */
/* Checks the server, and all streams and the consumers of no node. Changes nothing. @node, if not
 * NULL, has its consumers checked as well. @monitor is the URL of a monitoring port
 * ("http://host:8222") to read sync_interval from, or NULL. */
void irisd_streams_check (IrisdEngine *engine,
                          const IrisdStreamsOptions *options,
                          const char *node,
                          const char *monitor,
                          IrisdStreamsFunc callback,
                          gpointer user_data);
/* The same, and makes what is missing. What exists and differs is a fault and stays as it is: an
 * update could have two consumers deliver the same items. */
void irisd_streams_make (IrisdEngine *engine,
                         const IrisdStreamsOptions *options,
                         const char *node,
                         const char *monitor,
                         IrisdStreamsFunc callback,
                         gpointer user_data);
/* One sentence: what an item that a stream has stored survives. */
char *
irisd_streams_describe_promise (const IrisdStreamsOptions *options, const IrisdServerFacts *facts);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisdServerFacts, irisd_server_facts_clear)

G_END_DECLS
