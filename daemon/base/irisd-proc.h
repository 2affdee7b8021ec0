/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A process as /proc describes it.
 */
#pragma once

#include <glib.h>

#include <sys/types.h>

G_BEGIN_DECLS

/**
 * IrisdProc:
 * @pid: its number
 * @state: a letter: Z for one that has ended and was not reaped
 * @group: its process group
 * @session: its session
 * @start: when it was started, in clock ticks since the boot; with @pid it identifies a process
 *   until the next boot
 */
typedef struct
{
  pid_t pid;
  char state;
  pid_t group;
  pid_t session;
  guint64 start;
} IrisdProc;

gboolean irisd_proc_parse (IrisdProc *self, const char *stat);
gboolean irisd_proc_read (IrisdProc *self, pid_t pid);
gboolean irisd_proc_lives (const IrisdProc *self);

G_END_DECLS
