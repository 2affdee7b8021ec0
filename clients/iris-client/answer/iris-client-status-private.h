/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the library makes what irisd says about itself.
 */
#pragma once

#include <iris-client/answer/iris-client-status.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

IrisClientStatus *iris_client_status_new_from_wire (const IrisWireStatus *status);
GPtrArray *iris_client_services_new_from_wire (const IrisWireServices *services);

G_END_DECLS
