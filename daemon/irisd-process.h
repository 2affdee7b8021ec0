/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A child process of one item: fed, read, bounded, and stopped when it has to be.
 */
#pragma once

#include <gio/gio.h>
#include <sched.h>
#include <sys/resource.h>

G_BEGIN_DECLS

/**
 * IrisdProcessPlan:
 * @argv: (array zero-terminated=1): the program and its arguments
 * @cpus: (nullable): where it may run
 * @file_limit: (nullable): how many files it may have open
 * @input: (nullable) (array length=input_size): what it reads from standard input
 * @input_size: length of @input
 * @max_output: bytes that are kept of standard output and standard error together
 * @kill_grace_ms: from SIGTERM to SIGKILL
 * @wake_fd: readable when @must_stop ought to be asked
 * @must_stop: whether the process has to end
 * @must_stop_now: whether it has to end without any grace
 * @user_data: for the two
 *
 * What is to be run, and under which bounds.
 */
typedef struct
{
  const char *const *argv;
  const cpu_set_t *cpus;
  const struct rlimit *file_limit;
  const guint8 *input;
  gsize input_size;
  gsize max_output;
  guint kill_grace_ms;
  int wake_fd;
  gboolean (*must_stop) (gpointer user_data);
  gboolean (*must_stop_now) (gpointer user_data);
  gpointer user_data;
} IrisdProcessPlan;

/**
 * IrisdProcessEnd:
 * @out: (nullable): standard output
 * @err: (nullable): standard error
 * @exit_status: if it exited, else -1
 * @signal: if it was killed by a signal, else 0
 * @truncated: more was written than was kept
 * @stopped: it was told to end
 *
 * What came of it.
 */
typedef struct
{
  GByteArray *out;
  GByteArray *err;
  int exit_status;
  int signal;
  gboolean truncated;
  gboolean stopped;
} IrisdProcessEnd;

gboolean irisd_process_run (const IrisdProcessPlan *plan, IrisdProcessEnd *end, GError **error);
void irisd_process_end_clear (IrisdProcessEnd *end);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisdProcessEnd, irisd_process_end_clear)

G_END_DECLS
