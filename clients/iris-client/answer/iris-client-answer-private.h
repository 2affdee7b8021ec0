/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the library reads irisd's answers into what it gives to programs.
 */
#pragma once

#include <iris-client/answer/iris-client-item.h>
#include <iris-client/answer/iris-client-place.h>
#include <iris-client/answer/iris-client-status.h>
#include <iris-client/answer/iris-client-worker.h>
#include <iris-client/answer/iris-result.h>

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* NULL, and the error set, if an answer cannot be read. */
typedef gpointer (*IrisClientAnswerRead) (const IrisWireMessage *answer, GError **error);

gpointer iris_result_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_item_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_items_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_encoded_statistics_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_exported_item_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_places_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_queues_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_nodes_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_schedules_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_services_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_keys_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_message_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_spans_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_statistics_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_status_read (const IrisWireMessage *answer, GError **error);
gpointer iris_client_workers_read (const IrisWireMessage *answer, GError **error);

GPtrArray *iris_client_places_copy (GPtrArray *places);
IrisClientPlace *iris_client_places_find (GPtrArray *places, int id, const char *name);
char *iris_client_places_describe (GPtrArray *places);

G_END_DECLS
