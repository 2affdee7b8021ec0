/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Serves items of irisd from the main loop of a GLib program.
 */
#pragma once

#include <iris-client/worker/iris-lease.h>

G_BEGIN_DECLS

#define IRIS_TYPE_WORKER_PROCESS (iris_worker_process_get_type ())
IRIS_CLIENT_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisWorkerProcess, iris_worker_process, IRIS, WORKER_PROCESS, GObject)

/**
 * IrisWorkerProcessFunc:
 * @self: the worker
 * @lease: an item; to answer it later, hold a reference
 * @user_data: as given with the service
 *
 * Does an item, or begins to. It is called in the worker's context, and must not block for long:
 * the worker could not tell irisd that it lives.
 */
typedef void (*IrisWorkerProcessFunc) (IrisWorkerProcess *self,
                                       IrisLease *lease,
                                       gpointer user_data);

IRIS_CLIENT_AVAILABLE_IN_ALL
IrisWorkerProcess *iris_worker_process_new (const char *endpoint_or_dir);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_worker_process_add_service (IrisWorkerProcess *self,
                                      const char *name,
                                      const char *summary,
                                      IrisWorkerProcessFunc func,
                                      gpointer user_data,
                                      GDestroyNotify destroy);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_worker_process_run_async (IrisWorkerProcess *self,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_worker_process_run_finish (IrisWorkerProcess *self, GAsyncResult *result, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_worker_process_is_serving (IrisWorkerProcess *self);

G_END_DECLS
