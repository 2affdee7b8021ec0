/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Starts the program of a command.
 */
#pragma once

#include "daemon/exec/irisd-command-options.h"

#include <sched.h>

G_BEGIN_DECLS

/* A program and how to start it. */
typedef struct
{
  const char *const *argv;            /* the program and its arguments */
  char *const *environment;           /* its environment; NULL for irisd's own */
  const IrisdCommandOptions *options; /* NULL, or directory, limits, niceness */
  const cpu_set_t *cpus;              /* NULL, or where it may run */
  /* NULL, or how many files it may have open, unless an option says otherwise */
  const struct rlimit *file_limit;
  int fds[3];    /* its descriptors 0, 1 and 2 */
  int cgroup_fd; /* for entering a control group; -1 for none */
  /* where the process writes its line of /proc before it executes the program; -1 for nowhere */
  int record_fd;
  off_t record_at; /* at what offset */
} IrisdSpawnPlan;

/* The step at which a start failed. */
typedef enum
{
  IRISD_SPAWN_DONE,      /* success */
  IRISD_SPAWN_PROCESS,   /* making a process */
  IRISD_SPAWN_DIRECTORY, /* entering its directory */
  IRISD_SPAWN_LIMIT,     /* setting one of its limits */
  IRISD_SPAWN_NICE,      /* setting its niceness */
  IRISD_SPAWN_PROGRAM,   /* executing the program */
} IrisdSpawnStep;

/* The result of a start. */
typedef struct
{
  pid_t pid;           /* the process, which leads a group of that number */
  int pidfd;           /* its descriptor */
  IrisdSpawnStep step; /* the step that failed */
  int error;           /* the errno of that */
  guint limit;         /* the index of the limit that it failed at */
} IrisdSpawned;

gboolean irisd_command_spawn (const IrisdSpawnPlan *plan, IrisdSpawned *spawned);
gboolean irisd_command_reap (int pidfd, int *exit_status, int *signal_number);

G_END_DECLS
