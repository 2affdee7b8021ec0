/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the client's own files share: the connection, and the calls upon it.
 */
#pragma once

#include <iris-client/iris-client.h>

#include <iris-client/connection/iris-client-channel-private.h>
#include <iris-client/connection/iris-client-watch-private.h>

G_BEGIN_DECLS

struct _IrisClient
{
  GObject parent_instance;

  char *address;          /* as given: an endpoint or a directory, or NULL */
  char *endpoint;         /* the front door, or NULL if the rule gave none */
  GError *endpoint_error; /* why not */
  IrisClientSettings settings;

  IrisClientChannel *front;
  GPtrArray *places;    /* NULL until the map has arrived */
  GHashTable *channels; /* place id → channel */
  GPtrArray *retired;   /* channels to places of a map that is no longer valid */
  GQueue unrouted;      /* calls that wait for the map */
  IrisClientWatches *watches;

  guint max_outstanding;
  guint outstanding;
};

void iris_client_take_call (IrisClient *self, IrisClientCall *call, GCancellable *cancellable);

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
