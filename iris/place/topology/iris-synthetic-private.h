/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The size of a synthetic description, before hwloc builds it.
 */
#pragma once

#include <glib.h>

/* Longest description, in bytes. */
#define IRIS_SYNTHETIC_MAX_LENGTH 4096
/* Most objects of all levels together; 8192 cpus with their cores and caches fit eight times over
 * in it, while their bitmaps stay below some 100 MiB. */
#define IRIS_SYNTHETIC_MAX_OBJECTS 65536

/* Most children of one object: hwloc compares every new one with all its siblings, and takes 20 s
 * for 8192 packages. */
#define IRIS_SYNTHETIC_MAX_ARITY 4096

gboolean iris_synthetic_check (const char *description, GError **error);
