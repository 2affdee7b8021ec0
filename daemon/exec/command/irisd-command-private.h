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
  guint64 n_output; /* bytes written, stored or not */
  guint64 max_output;
  gsize written;
  gint64 time_limit_us; /* monotonic time; 0: none */
  gint64 kill_at_us;    /* 0: it was not asked to end */
  gint64 probe_at_us;   /* 0: it does not wait for credit */
  int watch_errno;      /* why epoll cannot watch it; 0: it does */
  gint64 look_at_us;    /* without epoll: when to check it */
  gboolean timed_out;
  gboolean killed;
  gboolean ended; /* was reaped */
  int left[2];    /* bytes in the pipes when it ended */
  int exit_status;
  int signal;
  gint64 ended_ns;
  gboolean truncated;
  gboolean cut; /* it was cancelled after its end, before all output was read */
  GList link;
};

void irisd_command_feed (IrisdCommand *self);
void irisd_command_free (IrisdCommand *self);

G_END_DECLS
