/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Starts the program of a command.
 */
#pragma once

#include "daemon/exec/command/irisd-command-options.h"

#include <sched.h>

G_BEGIN_DECLS

/**
 * IrisdSpawnPlan:
 * @argv: (array zero-terminated=1): the program and its arguments
 * @environment: (array zero-terminated=1) (nullable): its environment; %NULL for irisd's own
 * @options: (nullable): directory, limits, niceness
 * @cpus: (nullable): where it may run
 * @file_limit: (nullable): how many files it may have open, unless an option says otherwise
 * @fds: (array fixed-size=3): its descriptors 0, 1 and 2
 * @cgroup_fd: for entering a control group; -1 for none
 * @record_fd: where the process writes its line of /proc before it executes the program; -1 for
 *   nowhere
 * @record_at: at what offset
 *
 * A program and how to start it.
 */
typedef struct
{
  const char *const *argv;
  char *const *environment;
  const IrisdCommandOptions *options;
  const cpu_set_t *cpus;
  const struct rlimit *file_limit;
  int fds[3];
  int cgroup_fd;
  int record_fd;
  off_t record_at;
} IrisdSpawnPlan;

/**
 * IrisdSpawnStep:
 * @IRISD_SPAWN_DONE: success
 * @IRISD_SPAWN_PROCESS: making a process
 * @IRISD_SPAWN_DIRECTORY: entering its directory
 * @IRISD_SPAWN_LIMIT: setting one of its limits
 * @IRISD_SPAWN_NICE: setting its niceness
 * @IRISD_SPAWN_PROGRAM: executing the program
 *
 * The step at which a start failed.
 */
typedef enum
{
  IRISD_SPAWN_DONE,
  IRISD_SPAWN_PROCESS,
  IRISD_SPAWN_DIRECTORY,
  IRISD_SPAWN_LIMIT,
  IRISD_SPAWN_NICE,
  IRISD_SPAWN_PROGRAM,
} IrisdSpawnStep;

/**
 * IrisdSpawned:
 * @pid: the process, which leads a group of that number
 * @pidfd: its descriptor
 * @step: the step that failed
 * @error: the errno of that
 * @limit: the index of the limit that it failed at
 *
 * The result of a start.
 */
typedef struct
{
  pid_t pid;
  int pidfd;
  IrisdSpawnStep step;
  int error;
  guint limit;
} IrisdSpawned;

gboolean irisd_command_spawn (const IrisdSpawnPlan *plan, IrisdSpawned *spawned);
gboolean irisd_command_reap (int pidfd, int *exit_status, int *signal_number);

G_END_DECLS
