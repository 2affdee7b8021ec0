/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Serves items of irisd from the main loop of a GLib program.
 */
#pragma once

#include <iris-client/iris-lease.h>

G_BEGIN_DECLS

#define IRIS_TYPE_SERVER (iris_server_get_type ())
IRIS_CLIENT_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisServer, iris_server, IRIS, SERVER, GObject)

/**
 * IrisServerFunc:
 * @self: the server
 * @lease: an item; whoever answers it later holds a reference to it
 * @user_data: as given with the service
 *
 * Does an item, or begins to. It is called in the server's context, and must not block for long:
 * the server could not tell irisd that it lives.
 *
 * Since: 0.1
 */
typedef void (*IrisServerFunc) (IrisServer *self, IrisLease *lease, gpointer user_data);

IRIS_CLIENT_AVAILABLE_IN_ALL
IrisServer *iris_server_new (const char *endpoint_or_dir);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_server_add_service (IrisServer *self,
                              const char *name,
                              const char *summary,
                              IrisServerFunc func,
                              gpointer user_data,
                              GDestroyNotify destroy);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_server_run_async (IrisServer *self,
                            GCancellable *cancellable,
                            GAsyncReadyCallback callback,
                            gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_server_run_finish (IrisServer *self, GAsyncResult *result, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_server_is_serving (IrisServer *self);

G_END_DECLS
