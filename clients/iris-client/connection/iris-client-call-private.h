/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Something that was asked of irisd and is not answered yet.
 */
#pragma once

#include <iris-client/answer/iris-client-answer-private.h>
#include <iris-client/request/iris-client-query-private.h>
#include <iris-client/request/iris-request-private.h>

#include <iris/iris.h>

G_BEGIN_DECLS

typedef struct _IrisClientCall IrisClientCall;

/* Ends a call, once: with irisd's answer, or with an error, which stays the caller's. */
typedef void (*IrisClientCallDone) (IrisClientCall *call,
                                    const IrisWireMessage *answer,
                                    const GError *error);

typedef enum
{
  IRIS_CLIENT_CALL_NEW,
  IRIS_CLIENT_CALL_WAITING, /* in a queue of the client or of a channel */
  IRIS_CLIENT_CALL_SENT,    /* irisd may be working on it */
} IrisClientCallState;

struct _IrisClientCall
{
  guint64 serial; /* the second half of its request id; the first is the client's */
  guint64 batch;  /* the serial of the batch that it was sent in, or 0 */
  IrisWireType type;
  IrisClientCallState state;
  IrisRequest *request;             /* of a SUBMIT; of EDIT, AGAIN: what is different */
  guint8 target[IRIS_WIRE_ID_SIZE]; /* of a CANCEL */
  guint64 item;    /* of FETCH, SHOW, CANCEL, KICK, EDIT, FOLLOW…; of SPANS: from where on */
  guint64 wait_ms; /* of FETCH, SHOW and TRACE */
  IrisClientQuery *query; /* of LIST */
  guint32 count;          /* of KICK; of SET_WORKERS: workers */
  guint32 wanted;         /* of KICK: the state; of STATISTICS: the sections */
  GVariant *settings;     /* of SCHEDULE and QUEUE: "a{sv}" by the protocol's names */
  GBytes *body;           /* of SCHEDULE: (nullable): the item */
  char
      *message; /* of SCHEDULE, SCHEDULES, QUEUE and NODE: the name; of BURY; of BACKUP: the path */
  gint32 changed_place;        /* of DRAIN and SET_WORKERS */
  gboolean drained;            /* of DRAIN and NODE */
  gboolean removes;            /* of NODE */
  gboolean whole;              /* of SHOW: the item as it was submitted */
  guint64 offset;              /* of FOLLOW */
  IrisClientOutputFunc output; /* of FOLLOW */
  IrisRequestData output_data;
  gint32 place;          /* of a SUBMIT: its hint, looked up; -1 for none */
  gsize size;            /* bytes of payload */
  gsize owed;            /* bytes of output or parts that were taken and not granted anew */
  gint64 asked_at;       /* when it was given to its channel */
  GByteArray *parts;     /* of an answer in parts: those that have come */
  gboolean refused;      /* irisd was too busy for it */
  const guint8 *session; /* of a SUBMIT that was perhaps sent before: borrowed, else NULL */
  gboolean cancelled;    /* its own GCancellable was triggered */
  gpointer channel;      /* whose queue or table it is in */
  char *node;            /* of a request about another node, or NULL */
  GList link;            /* in that queue */
  gpointer watch;        /* looks at its GCancellable */
  GList watch_link;      /* in that one's list */
  IrisClientCallDone done;
  IrisClientAnswerRead read; /* for done: what the call gives, */
  GDestroyNotify destroy;    /* and what frees that */
  gpointer owner;            /* for done */
};

/* A copy of `what`, which takes over what that owns. */
IrisClientCall *iris_client_call_new (const IrisClientCall *what, guint64 serial, gpointer owner);
void
iris_client_call_finish (IrisClientCall *self, const IrisWireMessage *answer, const GError *error);
/* Bytes of output that may be under way. */
#define IRIS_CLIENT_OUTPUT_WINDOW (256 * 1024)

void iris_client_call_fill (IrisClientCall *self, const guint8 *prefix, IrisWireMessage *message);

/* Whether its answer holds a credit until it is acknowledged. */
static inline gboolean
iris_client_call_takes_credit (const IrisClientCall *self)
{
  return self->type == IRIS_WIRE_SUBMIT || self->type == IRIS_WIRE_FETCH || self->whole;
}

static inline gboolean
iris_client_call_is_detached (const IrisClientCall *self)
{
  return self->type == IRIS_WIRE_SUBMIT && self->request->detached;
}

static inline gboolean
iris_client_call_is_persistent (const IrisClientCall *self)
{
  return self->type == IRIS_WIRE_SUBMIT && self->request->durability != IRIS_DURABILITY_VOLATILE;
}

/* Request ids: eight random bytes of the client, then a serial number. */
void iris_client_id_write (guint8 *id, const guint8 *prefix, guint64 serial);
gboolean iris_client_id_read (const guint8 *id, const guint8 *prefix, guint64 *serial);
gboolean iris_client_id_parse (const char *text, guint8 *id);

#define IRIS_CLIENT_ID_PREFIX 8

G_END_DECLS
