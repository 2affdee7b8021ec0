/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the library makes places.
 */
#pragma once

#include <iris-client/answer/iris-client-place.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

GPtrArray *iris_client_places_new_from_wire (const IrisWireMap *map);
GPtrArray *iris_client_places_copy (GPtrArray *places);
IrisClientPlace *iris_client_places_find (GPtrArray *places, int id, const char *name);
char *iris_client_places_describe (GPtrArray *places);

G_END_DECLS
