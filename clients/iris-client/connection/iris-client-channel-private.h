/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A conversation with one of irisd's sockets: HELLO, credits, batches, acknowledgements.
 */
#pragma once

#include "iris-client-call-private.h"
#include "iris-client-credit-private.h"
#include "iris-client-link-private.h"
#include "iris-client-backoff-private.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* What all channels of a client share. */
typedef struct
{
  GMainContext *context;
  guint8 prefix[IRIS_CLIENT_ID_PREFIX];
  guint8 session[IRIS_WIRE_SESSION_SIZE];
  guint64 next_serial;
  guint connect_timeout_ms;
  guint ping_interval_ms;
  guint ping_timeout_ms;
  guint busy_timeout_ms;
  guint resume_timeout_ms;
  gboolean resuming; /* irisd was lost and is awaited */
  gboolean wait_for_daemon;
  gboolean asks_only;
  gboolean keeps_results;
} IrisClientSettings;

typedef struct _IrisClientChannel IrisClientChannel;

typedef struct
{
  /* irisd answered HELLO. */
  void (*ready) (IrisClientChannel *channel, gpointer user_data);
  /* The conversation is over, and its calls have been ended. Not called for a channel that its
   * owner ends. */
  void (*closed) (IrisClientChannel *channel, const GError *error, gpointer user_data);
  /* A channel that was lost has @call, which goes on in the next one; called after `closed`. */
  void (*carried) (IrisClientChannel *channel, IrisClientCall *call, gpointer user_data);
  /* irisd ends, and takes nothing new. */
  void (*going) (IrisClientChannel *channel, gpointer user_data);
  /* busy_reason has changed. */
  void (*busy) (IrisClientChannel *channel, gpointer user_data);
} IrisClientChannelFuncs;

IrisClientChannel *iris_client_channel_new (const char *endpoint,
                                            IrisClientSettings *settings,
                                            const IrisClientChannelFuncs *funcs,
                                            gpointer user_data);
void iris_client_channel_free (IrisClientChannel *self);
gboolean iris_client_channel_is_idle (IrisClientChannel *self);
void iris_client_channel_push (IrisClientChannel *self, IrisClientCall *call);
GPtrArray *iris_client_channel_take_calls (IrisClientChannel *self);
void iris_client_channel_end_waiting (IrisClientChannel *self, const GError *error);
gboolean iris_client_channel_cancel (IrisClientChannel *self, IrisClientCall *call);

/* What the channel's own files share: life and timers, sending, receiving. */

typedef enum
{
  IRIS_CLIENT_CHANNEL_CONNECTING,
  IRIS_CLIENT_CHANNEL_READY,
  IRIS_CLIENT_CHANNEL_CLOSED,
} IrisClientChannelState;

struct _IrisClientChannel
{
  char *endpoint;
  IrisClientSettings *settings;
  const IrisClientChannelFuncs *funcs;
  gpointer user_data;

  IrisClientChannelState state;
  IrisClientLink *link;
  GError *link_error; /* why there is none */
  GSource *clock;
  IrisWireEncoder encoder;
  IrisWireBatchBuilder batch;

  GQueue control;      /* calls that need no credit */
  GQueue waiting;      /* items, and what was refused as busy, in the order of their serials */
  GHashTable *pending; /* serial → call: calls that were sent and are not answered */

  IrisClientCredit credit;
  guint64 last_ended;    /* serial of the call that ended last, of those that take credit */
  IrisWireLimits limits; /* irisd's, as far as WELCOME tells them */

  guint64 hello_serial;      /* 0 until HELLO was sent */
  gboolean takes_two_frames; /* irisd does */
  gboolean heard;            /* anything, since the clock last looked */
  gboolean resumes;          /* irisd has granted to go on after it was lost */
  gboolean going;            /* irisd ends: items wait for the next channel */
  gboolean lost;             /* that is why it was closed */
  gint64 connect_by;
  gboolean owes; /* a grant of output could not be sent */
  IrisClientBackoff backoff;
  char *busy_reason; /* irisd's sentence, while it refuses */
  gint64 ack_at;
  gint64 ping_at;
  gint64 pong_by;
};

void iris_client_channel_set_busy (IrisClientChannel *self, char *reason);
void iris_client_channel_wake (IrisClientChannel *self);
void iris_client_channel_note_going (IrisClientChannel *self);
gboolean iris_client_channel_may_carry (IrisClientChannel *self, IrisClientCall *call);
void iris_client_channel_fail (IrisClientChannel *self, int code, const char *why);
void iris_client_channel_send_more (IrisClientChannel *self, IrisClientCall *call);
void iris_client_channel_receive (IrisClientChannel *self, const IrisWireFrame *frames, guint n);
void iris_client_channel_end_call (IrisClientChannel *self,
                                   IrisClientCall *call,
                                   const IrisWireMessage *answer,
                                   const GError *error);

G_END_DECLS
