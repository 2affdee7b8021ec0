/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which of the items that irisd keeps are to be listed.
 */
#pragma once

#include <iris-client/answer/iris-client-item.h>
#include <iris-client/base/iris-client-version-macros.h>
#include <iris-client/request/iris-request.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_CLIENT_TYPE_QUERY (iris_client_query_get_type ())

/**
 * IrisClientQuery:
 *
 * Which of the items that irisd keeps are to be listed, and how far that has come.
 *
 * [method@IrisClient.Client.list_next_async] gives one page after the other, so that a million
 * items need no more memory than one page. A query without conditions lists all items;
 * one that has conditions is given them before it is used.
 */
typedef struct _IrisClientQuery IrisClientQuery;

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_client_query_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientQuery *iris_client_query_new (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientQuery *iris_client_query_ref (IrisClientQuery *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_unref (IrisClientQuery *self);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_add_state (IrisClientQuery *self, IrisClientItemState state);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_service (IrisClientQuery *self, const char *service);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_queue (IrisClientQuery *self, const char *queue);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_durability (IrisClientQuery *self, IrisDurability durability);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_key_prefix (IrisClientQuery *self, const char *prefix);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_accepted (IrisClientQuery *self, guint64 since_ms, guint64 until_ms);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_descending (IrisClientQuery *self, gboolean descending);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_with_args (IrisClientQuery *self, gboolean with_args);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_position (IrisClientQuery *self, guint64 item);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_query_set_page_size (IrisClientQuery *self, guint count);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisClientQuery, iris_client_query_unref)

G_END_DECLS
