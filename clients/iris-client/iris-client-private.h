/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the client's own files share: the connection, and the calls upon it.
 */
#pragma once

#include <iris-client/iris-client.h>

#include <iris-client/connection/iris-client-channel-private.h>
#include <iris-client/connection/iris-client-watch-private.h>

G_BEGIN_DECLS

/* Connects a client that is not connected. */
typedef void (*IrisClientConnectFunc) (IrisClient *self);

struct _IrisClient
{
  GObject parent_instance;

  char *address;          /* as given: an endpoint or a directory, or NULL */
  char *asked_node;       /* NULL: irisd itself */
  char *endpoint;         /* the front door, or NULL if the rule gave none */
  GError *endpoint_error; /* why not */
  IrisClientSettings settings;

  IrisClientChannel *front;
  GPtrArray *places;    /* NULL until the map has arrived */
  GHashTable *channels; /* place id → channel */
  GPtrArray *retired;   /* channels to places of a map that is no longer valid */
  GQueue unrouted;      /* calls that wait for the map */
  IrisClientWatches *watches;

  /* While irisd is away (iris-client-resume.c). */
  GSource *away_timer;  /* NULL: irisd is there, or is not awaited */
  GSource *retry_timer; /* until the client connects again */
  IrisClientConnectFunc connect;
  gint64 away_by;   /* until when irisd is awaited */
  gint64 mapped_us; /* when irisd last told its places */
  guint pause_ms;
  gboolean holds_zmq;

  guint max_outstanding;
  guint outstanding;
};

void iris_client_take_call (IrisClient *self, IrisClientCall *call, GCancellable *cancellable);

void iris_client_fail_unrouted (IrisClient *self, const GError *error);

gboolean iris_client_can_resume (IrisClient *self, const IrisClientChannel *channel);
void iris_client_note_away (IrisClient *self);
void iris_client_note_back (IrisClient *self);
void iris_client_resume (IrisClient *self, IrisClientConnectFunc connect);
void iris_client_stop_resuming (IrisClient *self);
void iris_client_carry (IrisClient *self, IrisClientCall *call);
void iris_client_carry_all (IrisClient *self, IrisClientChannel *channel);

/* What each pair of functions is made of. A call says what is asked for, and how it ends: by
 * iris_client_value_done() with what its `read` makes of the answer, or by a number. */
gboolean iris_client_in_context (IrisClient *self);
void iris_client_ask (IrisClient *self,
                      const IrisClientCall *what,
                      gpointer tag,
                      GCancellable *cancellable,
                      GAsyncReadyCallback callback,
                      gpointer user_data);
void
iris_client_value_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error);
void
iris_client_number_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error);
gpointer iris_client_finish_pointer (IrisClient *self, GAsyncResult *result, GError **error);
gboolean
iris_client_finish_number (IrisClient *self, GAsyncResult *result, guint *number, GError **error);
GTask *iris_client_call_take_task (IrisClientCall *call);
void iris_client_return_error (GTask *task, IrisClientCall *call, const GError *error);
void iris_client_return_unreadable (GTask *task, const GError *error);

G_END_DECLS
