/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The thread of an engine that alone talks to libnats: it connects, for ever, reads and writes. The
 * owner and it exchange arrays.
 */
#pragma once

#include "daemon/cluster/engine/irisd-engine.h"

#include <nats/nats.h>

G_BEGIN_DECLS

typedef struct _IrisdEngineIo IrisdEngineIo;

/* A subscription; embed it. The owner gives it to the thread, which gives it back with
 * IRISD_IO_ROUTE_ENDED; until then it stays where it is. */
typedef struct
{
  char *subject;
  /* Messages are taken at once after each read, and "no responders" is an event without a message.
   */
  gboolean in_batches;

  /*< of the thread >*/
  IrisdEngineIo *io;
  natsSubscription *subscription; /* NULL while there is no connection */
  gboolean ending;
  guint n_live; /* subscriptions that libnats may still call back for; under the lock */
} IrisdIoRoute;

/* What the owner wants. */
typedef enum
{
  IRISD_IO_PUBLISH,     /* a natsMsg, which the thread destroys */
  IRISD_IO_SUBSCRIBE,   /* a route */
  IRISD_IO_UNSUBSCRIBE, /* a route; messages on their way are lost */
  IRISD_IO_DRAIN,       /* a route; messages on their way still come */
} IrisdIoCommandKind;

typedef struct
{
  IrisdIoCommandKind kind;
  gpointer what;
} IrisdIoCommand;

/* What the thread tells. The receiver destroys natsMsg and frees strings. */
typedef enum
{
  IRISD_IO_MESSAGE,       /* a natsMsg for @route */
  IRISD_IO_NO_RESPONDERS, /* to a request whose answers go to @route, which is in batches */
  IRISD_IO_UNSENT,        /* a natsMsg that libnats did not take */
  IRISD_IO_CONNECTED,     /* the server's URL */
  IRISD_IO_DISCONNECTED,  /* why */
  IRISD_IO_FAILED, /* why the connection was not made, or what the server refuses beside answers */
  IRISD_IO_ROUTE_ENDED, /* no event of @route follows */
} IrisdIoEventKind;

typedef struct
{
  IrisdIoEventKind kind;
  IrisdIoRoute *route;
  gpointer what;
} IrisdIoEvent;

/* @ready is called by the thread when there are events after there were none. */
IrisdEngineIo *irisd_engine_io_new (const IrisdEngineOptions *options,
                                    void (*ready) (gpointer user_data),
                                    gpointer user_data,
                                    GError **error);
/* After this the thread works; commands may be put before. */
void irisd_engine_io_start (IrisdEngineIo *self);
/* Ends the thread; then its events are gone. */
void irisd_engine_io_free (IrisdEngineIo *self);
/* Of the owner. Takes all of @commands, which is empty then. */
void irisd_engine_io_put (IrisdEngineIo *self, GArray *commands);
/* Of the owner. All events into @events, which was empty. */
void irisd_engine_io_take (IrisdEngineIo *self, GArray **events);
gboolean irisd_engine_io_has_events (IrisdEngineIo *self);
/* Of the owner, each few seconds: breaks a connection in which the thread waits inside of a TLS
 * record that does not come to its end. */
void irisd_engine_io_look (IrisdEngineIo *self);
gsize irisd_engine_io_get_max_payload (IrisdEngineIo *self);
void irisd_io_event_clear (IrisdIoEvent *event);

G_END_DECLS
