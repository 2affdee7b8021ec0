/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the library makes its errors.
 */
#pragma once

#include <iris-client/iris-client-error.h>

G_BEGIN_DECLS

GError *iris_client_error_new_from_wire (guint code, const char *reason, int home, int place);
void iris_client_error_set_item (GError *error, guint64 item);

G_END_DECLS
