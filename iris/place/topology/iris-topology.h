/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The topology: the cpus, caches and memory nodes of a machine, and which cpus may be used.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_TOPOLOGY (iris_topology_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisTopology, iris_topology, IRIS, TOPOLOGY, GObject)

IRIS_AVAILABLE_IN_ALL IrisTopology *iris_topology_new (GError **error);
IRIS_AVAILABLE_IN_ALL IrisTopology *
iris_topology_new_synthetic (const char *description, GError **error);
IRIS_AVAILABLE_IN_ALL IrisTopology *iris_topology_new_xml (const char *path, GError **error);
IRIS_AVAILABLE_IN_ALL gboolean iris_topology_is_this_machine (IrisTopology *self);
IRIS_AVAILABLE_IN_ALL guint iris_topology_get_n_cpus (IrisTopology *self);
IRIS_AVAILABLE_IN_ALL char *iris_topology_dup_cpus (IrisTopology *self);
IRIS_AVAILABLE_IN_ALL double iris_topology_get_cpu_quota (IrisTopology *self);
IRIS_AVAILABLE_IN_ALL char *iris_topology_describe (IrisTopology *self);

G_END_DECLS
