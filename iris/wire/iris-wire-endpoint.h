/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where irisd listens: the rule that the daemon and every client follow to find each other.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * iris_wire_endpoint_dir:
 * @dir: (nullable) (type filename): a directory that the user named, or %NULL
 *
 * The directory of irisd's sockets: @dir, else `$IRIS_RUNTIME_DIR`, else `$XDG_RUNTIME_DIR/iris`,
 * else, for root,
 * `/run/iris`. Nothing is created or looked at. An empty string counts as not given. A relative
 * directory is made absolute.
 *
 * Errors: %IRIS_WIRE_ERROR_BAD_ARGUMENT if none of them is there, or if a socket's path in it would
 * be longer than a socket's address can be (107 bytes).
 *
 * Returns: (transfer full) (type filename): an absolute directory, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
char *iris_wire_endpoint_dir (const char *dir, GError **error);

/**
 * iris_wire_endpoint_front:
 * @dir: (type filename): what iris_wire_endpoint_dir() gave
 *
 * Returns: (transfer full): the front door as ZeroMQ writes it, `ipc://DIR/front.ipc`
 */
IRIS_AVAILABLE_IN_ALL
char *iris_wire_endpoint_front (const char *dir);

/**
 * iris_wire_endpoint_place:
 * @dir: (type filename): what iris_wire_endpoint_dir() gave
 * @place: a place's id
 *
 * Returns: (transfer full): the place's socket as ZeroMQ writes it, `ipc://DIR/place-N.ipc`
 */
IRIS_AVAILABLE_IN_ALL
char *iris_wire_endpoint_place (const char *dir, guint place);

G_END_DECLS
