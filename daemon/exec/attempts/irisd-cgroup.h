/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Control groups: one for each command, if irisd may make some.
 */
#pragma once

#include <glib.h>

#include <sys/types.h>

G_BEGIN_DECLS

typedef struct _IrisdCgroups IrisdCgroups;

IrisdCgroups *irisd_cgroups_new (const char *setting, GError **error);
void irisd_cgroups_free (IrisdCgroups *self);
const char *irisd_cgroups_get_path (IrisdCgroups *self);
char *irisd_cgroups_make (IrisdCgroups *self, const char *name, int *procs_fd);
void irisd_cgroups_let_go (IrisdCgroups *self, char *cgroup);

char *irisd_cgroup_path (const char *path, const char *name);
void irisd_cgroup_signal (const char *cgroup, int signal_number, pid_t but);
gboolean irisd_cgroup_freeze (const char *cgroup, gboolean frozen);
void irisd_cgroup_kill (const char *cgroup);
int irisd_cgroup_find (const char *cgroup);

G_END_DECLS
