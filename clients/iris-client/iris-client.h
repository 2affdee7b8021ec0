/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one header of libiris-client: a program's connection to irisd.
 */
#pragma once

#define IRIS_CLIENT_INSIDE
#include <iris-client/iris-client-version.h>
#include <iris-client/base/iris-client-version-macros.h>
#include <iris-client/base/iris-client-error.h>
#include <iris-client/answer/iris-client-item.h>
#include <iris-client/answer/iris-client-place.h>
#include <iris-client/request/iris-client-query.h>
#include <iris-client/answer/iris-client-status.h>
#include <iris-client/answer/iris-client-worker.h>
#include <iris-client/worker/iris-lease.h>
#include <iris-client/request/iris-request.h>
#include <iris-client/answer/iris-result.h>
#include <iris-client/worker/iris-worker-process.h>
#undef IRIS_CLIENT_INSIDE

G_BEGIN_DECLS

#define IRIS_TYPE_CLIENT (iris_client_get_type ())
IRIS_CLIENT_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisClient, iris_client, IRIS, CLIENT, GObject)

IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClient *iris_client_new (const char *endpoint_or_dir);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_connect_async (IrisClient *self,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_connect_finish (IrisClient *self, GAsyncResult *result, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_is_connected (IrisClient *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_client_get_endpoint (IrisClient *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
GPtrArray *iris_client_get_places (IrisClient *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_client_get_busy_reason (IrisClient *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_set_asked_node (IrisClient *self, const char *node);
IRIS_CLIENT_AVAILABLE_IN_ALL
guint iris_client_withdraw_unsent (IrisClient *self);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_submit_async (IrisClient *self,
                               IrisRequest *request,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisResult *iris_client_submit_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_services_async (IrisClient *self,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GPtrArray *iris_client_get_services_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_workers_async (IrisClient *self,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GPtrArray *iris_client_get_workers_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_status_async (IrisClient *self,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientStatus *
iris_client_get_status_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_statistics_async (IrisClient *self,
                                       guint sections,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GVariant *
iris_client_get_statistics_finish (IrisClient *self, GAsyncResult *result, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_encoded_statistics_async (IrisClient *self,
                                               guint sections,
                                               GCancellable *cancellable,
                                               GAsyncReadyCallback callback,
                                               gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GBytes *
iris_client_get_encoded_statistics_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_spans_async (IrisClient *self,
                                  guint64 from,
                                  guint count,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GVariant *iris_client_get_spans_finish (IrisClient *self,
                                        GAsyncResult *result,
                                        guint64 *next,
                                        GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_set_schedule_async (IrisClient *self,
                                     const char *name,
                                     IrisRequest *item,
                                     GVariant *settings,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_set_schedule_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_remove_schedule_async (IrisClient *self,
                                        const char *name,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_client_remove_schedule_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_schedules_async (IrisClient *self,
                                      const char *name,
                                      GBytes *behind,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GVariant *iris_client_get_schedules_finish (IrisClient *self,
                                            GAsyncResult *result,
                                            GBytes **next,
                                            GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_set_queue_async (IrisClient *self,
                                  const char *name,
                                  GVariant *settings,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_set_queue_finish (IrisClient *self,
                                       GAsyncResult *result,
                                       gboolean *changed,
                                       GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_remove_queue_async (IrisClient *self,
                                     const char *name,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_remove_queue_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_queues_async (IrisClient *self,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GVariant *iris_client_get_queues_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_nodes_async (IrisClient *self,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GVariant *iris_client_get_nodes_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_drain_node_async (IrisClient *self,
                                   const char *node,
                                   gboolean drained,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_drain_node_finish (IrisClient *self,
                                        GAsyncResult *result,
                                        gboolean *changed,
                                        GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_remove_node_async (IrisClient *self,
                                    const char *node,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_remove_node_finish (IrisClient *self,
                                         GAsyncResult *result,
                                         gboolean *changed,
                                         GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_check_cluster_async (IrisClient *self,
                                      gboolean make,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
char *iris_client_check_cluster_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_get_keys_async (IrisClient *self,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GVariant *
iris_client_get_keys_finish (IrisClient *self, GAsyncResult *result, char **dir, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_trace_async (IrisClient *self,
                              guint64 duration_ms,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GBytes *iris_client_trace_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_cancel_async (IrisClient *self,
                               const char *id,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_cancel_finish (IrisClient *self,
                                    GAsyncResult *result,
                                    gboolean *was_running,
                                    GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_fetch_async (IrisClient *self,
                              guint64 item,
                              guint64 wait_ms,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisResult *iris_client_fetch_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_show_async (IrisClient *self,
                             guint64 item,
                             guint64 wait_ms,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientItem *iris_client_show_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_follow_async (IrisClient *self,
                               guint64 item,
                               guint64 offset,
                               IrisClientOutputFunc output,
                               gpointer output_data,
                               GDestroyNotify output_destroy,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_follow_finish (IrisClient *self,
                                    GAsyncResult *result,
                                    IrisClientItemState *state,
                                    GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_list_next_async (IrisClient *self,
                                  IrisClientQuery *query,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GPtrArray *iris_client_list_next_finish (IrisClient *self, GAsyncResult *result, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_cancel_item_async (IrisClient *self,
                                    guint64 item,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_cancel_item_finish (IrisClient *self,
                                         GAsyncResult *result,
                                         gboolean *was_running,
                                         GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_kick_async (IrisClient *self,
                             guint64 item,
                             IrisClientItemState state,
                             guint count,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_client_kick_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_bury_async (IrisClient *self,
                             guint64 item,
                             const char *reason,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_client_bury_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_suspend_async (IrisClient *self,
                                guint64 item,
                                const char *reason,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_client_suspend_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_resume_async (IrisClient *self,
                               guint64 item,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_client_resume_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_edit_async (IrisClient *self,
                             guint64 item,
                             IrisRequest *changes,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_edit_finish (IrisClient *self, GAsyncResult *result, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_again_async (IrisClient *self,
                              guint64 item,
                              IrisRequest *changes,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
guint64 iris_client_again_finish (IrisClient *self, GAsyncResult *result, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_export_item_async (IrisClient *self,
                                    guint64 item,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
GVariant *iris_client_export_item_finish (IrisClient *self, GAsyncResult *result, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_drain_async (IrisClient *self,
                              int place,
                              gboolean drained,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_client_drain_finish (IrisClient *self, GAsyncResult *result, guint *changed, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_reload_async (IrisClient *self,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
char *iris_client_reload_finish (IrisClient *self, GAsyncResult *result, GError **error);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_backup_async (IrisClient *self,
                               const char *path,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_client_backup_finish (IrisClient *self, GAsyncResult *result, guint *n_items, GError **error);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_set_workers_async (IrisClient *self,
                                    int place,
                                    guint workers,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_client_set_workers_finish (IrisClient *self,
                                         GAsyncResult *result,
                                         guint *changed,
                                         GError **error);

G_END_DECLS
