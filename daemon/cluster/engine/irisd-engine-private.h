/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of an engine, for the files that are parts of it: slots, which wait for an answer, and
 * routes, which are subscriptions.
 */
#pragma once

#include "daemon/base/irisd-timers.h"
#include "daemon/cluster/engine/irisd-engine-io.h"
#include "daemon/cluster/engine/irisd-engine.h"

G_BEGIN_DECLS

typedef struct _IrisdSlot IrisdSlot;
typedef struct _IrisdEngineRoute IrisdEngineRoute;

/* What came for a slot: a message, or an error, which ends it. Returns whether the slot has ended.
 */
typedef gboolean (*IrisdSlotAnswerFunc) (IrisdEngine *engine,
                                         IrisdSlot *slot,
                                         const IrisdEngineMessage *message,
                                         const GError *error);

/* A timer with what it does. Embed it. */
typedef struct _IrisdEngineAlarm IrisdEngineAlarm;
struct _IrisdEngineAlarm
{
  IrisdTimer timer;
  void (*ring) (IrisdEngine *engine, IrisdEngineAlarm *alarm);
};

/* Waits for what is sent to its own subject of the inbox. */
struct _IrisdSlot
{
  IrisdEngineAlarm alarm; /* unless it is a publication */
  IrisdSlotAnswerFunc answer;
  GCallback callback; /* of the caller, as @answer knows it */
  gpointer user_data;
  char *subject;    /* for errors, or NULL */
  natsMsg *pending; /* of a publication beyond the window */
  gsize size;       /* of one under way; it counts against the window */
  guint n_given;    /* as @answer counts */
  gboolean sent;    /* may be done although no answer came */

  /*< private >*/
  guint64 id;
  GList link;   /* of the publications by time, of the failed, or of those without use */
  GQueue *list; /* which of these, or NULL */
  gint64 deadline;
  IrisdEngineError failure; /* of the failed */
};

/* A subscription. Embed it as the first member. */
struct _IrisdEngineRoute
{
  IrisdIoRoute io;
  IrisdEngine *engine;
  /* @message lives until it returns */
  void (*receive) (IrisdEngineRoute *route, IrisdEngineMessage *message);
  /* of a route in batches: a request has no receiver */
  void (*no_responders) (IrisdEngineRoute *route);
  /* the connection came or went; may be NULL */
  void (*connection_changed) (IrisdEngineRoute *route);
  void (*free) (IrisdEngineRoute *route);
  GList link; /* of all routes */
};

struct _IrisdEngine
{
  IrisdEngineIo *io;
  GMainContext *context;
  GSource *source;
  IrisdEngineChangedFunc changed;
  gpointer user_data;
  gboolean has_changed;

  IrisdEngineState state;
  IrisdEngineQuorum quorum;
  char *last_error;
  IrisdEngineTrouble trouble; /* its kind */
  char *server;
  guint n_connects;

  GArray *out; /* commands that the thread does not have yet */
  GArray *in;  /* events, as they were taken */
  char *inbox; /* "_INBOX.UNIQUE." */
  gsize inbox_length;
  IrisdEngineRoute inbox_route; /* of answers to requests */
  IrisdEngineRoute acks_route;  /* of those to publications, which are many */
  GQueue routes;
  guint n_pulls; /* made so far */

  GPtrArray *slots;
  GQueue unused;      /* slots */
  GQueue by_time;     /* publications under way, by deadline */
  GQueue failed;      /* slots that fail in the next turn */
  IrisdTimers timers; /* of other slots, and of pulls */
  guint64 n_slots_made;
  IrisdEngineAlarm looks; /* at the thread */

  /* irisd-engine-publish.c */
  GQueue beyond; /* publications beyond the window */
  guint window;
  guint n_under_way;
  gsize bytes_under_way;
  void (*send_beyond) (IrisdEngine *self);
  void (*drop_beyond) (IrisdEngine *self);
};

/* Slots. One that is new is sent or failed. */
IrisdSlot *irisd_slot_new (IrisdEngine *self,
                           IrisdSlotAnswerFunc answer,
                           GCallback callback,
                           gpointer user_data);
/* Its place in the inbox. @reply has room for the inbox and a token. */
void irisd_slot_get_reply (IrisdEngine *self,
                           const IrisdSlot *slot,
                           const IrisdEngineRoute *route,
                           char *reply,
                           gsize size);
#define IRISD_SLOT_REPLY_MAX 256
/* Sends @message, and fails after @timeout_ms. With the time of publications it is in a list, not a
 * heap. */
void irisd_slot_send (IrisdEngine *self, IrisdSlot *slot, natsMsg *message, guint timeout_ms);
/* Fails in the next turn of the main loop. */
void irisd_slot_fail (IrisdEngine *self, IrisdSlot *slot, IrisdEngineError code);

/* A message with headers; NULL if libnats refuses it, as without a subject. */
natsMsg *irisd_engine_make_message (const char *subject,
                                    const char *reply,
                                    const IrisdEngineHeader *headers,
                                    guint n_headers,
                                    gconstpointer data,
                                    gsize length);
/* Sends @message, which may be NULL, and takes it. */
void irisd_engine_put_message (IrisdEngine *self, natsMsg *message);
void irisd_engine_set_quorum (IrisdEngine *self, IrisdEngineQuorum quorum);
void irisd_engine_set_error (IrisdEngine *self, char *text);

/* Subscribes: sets what is not set yet. @subject is copied. */
void irisd_engine_add_route (IrisdEngine *self, IrisdEngineRoute *route, const char *subject);
/* It is freed by its function once the thread knows. @drain: messages on their way still come. */
void irisd_engine_end_route (IrisdEngineRoute *route, gboolean drain);

/* G_MAXINT64: not. */
void irisd_engine_set_alarm (IrisdEngine *self, IrisdEngineAlarm *alarm, gint64 due_us);

G_END_DECLS
