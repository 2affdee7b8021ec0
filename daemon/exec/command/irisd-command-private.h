/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a running command, for the files that are parts of it.
 */
#pragma once

#include "daemon/exec/command/irisd-command.h"

G_BEGIN_DECLS

struct _IrisdCommand
{
  IrisdJob *job;
  guint attempt; /* in the record of attempts */
  char *cgroup;  /* NULL if it has none */
  pid_t pid;
  int epoll_fd;
  IrisdCommandWatch watches[IRISD_COMMAND_N_FDS];
  GByteArray *out;
  GByteArray *err;
  guint64 n_output; /* bytes that were written, kept or not */
  guint64 max_output;
  gsize written;
  gint64 time_limit_us; /* monotonic time; 0: none */
  gint64 kill_at_us;    /* 0: nobody asked it to end */
  gint64 probe_at_us;   /* 0: it does not wait for credit */
  int watch_errno;      /* why epoll would not watch it; 0: it does */
  gint64 look_at_us;    /* if it does not: when to look after it */
  gboolean timed_out;
  gboolean killed;
  gboolean ended; /* was reaped */
  int left[2];    /* what the pipes held when it ended */
  int exit_status;
  int signal;
  gint64 ended_ns;
  gboolean truncated;
  gboolean cut; /* it was cancelled after it had ended, before all of its output was taken */
  GList link;
};

void irisd_command_feed (IrisdCommand *self);
void irisd_command_free (IrisdCommand *self);

G_END_DECLS
