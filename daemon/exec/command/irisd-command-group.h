/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The other processes in the process group of a command.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

int irisd_command_group_find (pid_t group);

G_END_DECLS
