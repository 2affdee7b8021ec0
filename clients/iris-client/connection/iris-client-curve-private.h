/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Endpoints of TCP with a key: tcp://HOST:PORT?key=FILE.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the endpoint that ZeroMQ understands, after it has given @socket the key that @endpoint
 * names, if it names one. */
char *iris_client_curve_set_up (void *socket, const char *endpoint, GError **error);
/* The endpoint of a place that is reached as @front is. */
char *iris_client_curve_follow (const char *front, const char *place);

G_END_DECLS
