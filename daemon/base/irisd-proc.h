/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A process as /proc describes it.
 */
#pragma once

#include <glib.h>

#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  pid_t pid;     /* its number */
  char state;    /* a letter: Z for one that has ended and was not reaped */
  pid_t group;   /* its process group */
  pid_t session; /* its session */
  /* when it was started, in clock ticks since the boot; with @pid it identifies a process until the
   * next boot */
  guint64 start;
} IrisdProc;

gboolean irisd_proc_parse (IrisdProc *self, const char *stat);
gboolean irisd_proc_read (IrisdProc *self, pid_t pid);
gboolean irisd_proc_lives (const IrisdProc *self);

G_END_DECLS
