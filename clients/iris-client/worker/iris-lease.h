/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An item that irisd has leased to this process.
 */
#pragma once

#include <iris-client/base/iris-client-version-macros.h>

G_BEGIN_DECLS

#define IRIS_TYPE_LEASE (iris_lease_get_type ())
IRIS_CLIENT_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisLease, iris_lease, IRIS, LEASE, GObject)

IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_lease_get_service (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
GBytes *iris_lease_get_payload (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_lease_get_content_type (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_lease_get_traceparent (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_lease_get_tracestate (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *const *iris_lease_get_args (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_lease_get_path (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
guint iris_lease_get_attempt (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_lease_wants_progress (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
GCancellable *iris_lease_get_cancellable (IrisLease *self);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_lease_report (IrisLease *self, double fraction, const char *note);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean iris_lease_wants_parts (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_lease_send_part (IrisLease *self, GBytes *part);
IRIS_CLIENT_AVAILABLE_IN_ALL
guint64 iris_lease_get_pending (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_lease_extend (IrisLease *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_lease_done (IrisLease *self, GBytes *body, const char *content_type);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_lease_fail (IrisLease *self, const char *reason, gboolean again);

G_END_DECLS
