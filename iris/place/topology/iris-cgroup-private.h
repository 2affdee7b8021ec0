/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the control groups of this process let it have of the machine's cpus.
 */
#pragma once

#include <glib.h>
#include <hwloc.h>

/*
 * IrisCgroupLimits:
 * @cpus: the cpus of the cpuset, or NULL if there is none
 * @quota: cpu time per wall time, in cpus; 0 if there is no limit
 */
typedef struct
{
  hwloc_bitmap_t cpus;
  double quota;
} IrisCgroupLimits;

void iris_cgroup_limits_read (const char *root, IrisCgroupLimits *limits);
void iris_cgroup_limits_clear (IrisCgroupLimits *limits);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisCgroupLimits, iris_cgroup_limits_clear)
