/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the library makes what irisd says about worker processes.
 */
#pragma once

#include <iris-client/answer/iris-client-worker.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

GPtrArray *iris_client_workers_new_from_wire (const IrisWireWorkers *workers);

G_END_DECLS
