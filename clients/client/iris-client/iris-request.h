/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A work item, before it is sent.
 */
#pragma once

#include <iris-client/iris-client-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_REQUEST (iris_request_get_type ())

/**
 * IrisRequest:
 *
 * A work item, before it is sent: a service, what it is to work on, and where it should run.
 *
 * A request may be submitted several times; from the first time on it must not be changed.
 *
 * Since: 0.1
 */
typedef struct _IrisRequest IrisRequest;

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_request_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisRequest *iris_request_new (const char *service);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisRequest *iris_request_ref (IrisRequest *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_unref (IrisRequest *self);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_payload (IrisRequest *self, GBytes *payload);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_path (IrisRequest *self, const char *path);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_args (IrisRequest *self, const char *const *args);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_content_type (IrisRequest *self, const char *content_type);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_place (IrisRequest *self, int place);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_place_name (IrisRequest *self, const char *name);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_strict (IrisRequest *self, gboolean strict);

IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_request_get_service (IrisRequest *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_request_get_path (IrisRequest *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_request_get_id (IrisRequest *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisRequest, iris_request_unref)

G_END_DECLS
