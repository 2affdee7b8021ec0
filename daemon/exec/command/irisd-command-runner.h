/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The command runner: the thread that watches all running commands.
 */
#pragma once

#include "daemon/exec/irisd-core.h"

G_BEGIN_DECLS

/* The service `command`: a program with its arguments, without a shell, on the cpus of the place.
 * Commands run beside the workers; irisd-command-slots.c decides how many. */
extern const IrisdService irisd_service_command;

IrisdCommandRunner *irisd_command_runner_new (GError **error);
void irisd_command_runner_free (IrisdCommandRunner *self);
void irisd_command_runner_count (IrisdCommandRunner *self, guint64 *running, guint64 *started);
void irisd_command_runner_wake (IrisdCommandRunner *self);

G_END_DECLS
