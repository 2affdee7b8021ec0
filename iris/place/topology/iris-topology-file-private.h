/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Topologies in files: what is checked of them before and after hwloc reads them.
 */
#pragma once

#include <glib.h>
#include <hwloc.h>

G_BEGIN_DECLS

/* Largest XML file, in bytes. 256 cpus take 84 KiB, without what hangs on their buses. */
#define IRIS_TOPOLOGY_MAX_XML (64 * 1024 * 1024)

char *iris_topology_file_read (const char *path, gsize *size, GError **error);
gboolean iris_topology_file_is_sound (hwloc_topology_t hwloc);

G_END_DECLS
