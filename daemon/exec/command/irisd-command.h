/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A running command: one item's process, with its input, output, limits and end.
 */
#pragma once

#include "daemon/exec/irisd-command-options.h"
#include "daemon/exec/irisd-job.h"

G_BEGIN_DECLS

typedef struct _IrisdCommand IrisdCommand;

/* The descriptors of a command that are watched. */
typedef enum
{
  IRISD_COMMAND_IN,
  IRISD_COMMAND_OUT,
  IRISD_COMMAND_ERR,
  IRISD_COMMAND_END,   /* a pidfd of the program */
  IRISD_COMMAND_GROUP, /* a pidfd of another process in its group, while the group is being ended */
  IRISD_COMMAND_N_FDS
} IrisdCommandFd;

/* A descriptor of a command; the runner's epoll gives its address back. */
typedef struct
{
  IrisdCommand *command; /* the command */
  IrisdCommandFd which;  /* which of its descriptors */
  int fd;                /* the descriptor, or -1 */
  gboolean armed;        /* whether it is watched now */
} IrisdCommandWatch;

/* Bytes of one OUTPUT message. */
#define IRISD_OUTPUT_CHUNK (16 * 1024)

/* What a command wrote. */
typedef struct
{
  IrisdMessage message;    /* to the gateway of @job */
  IrisdJob *job;           /* a running job */
  IrisWireChannel channel; /* what its command wrote to */
  gsize size; /* how many bytes; with 0 the gateway only checks whether the client is still there */
  guint8 data[];
} IrisdOutput;

/* For its gateway. */
#define irisd_output_from_message(pointer) IRISD_CONTAINER (pointer, IrisdOutput, message)

IrisdCommand *irisd_command_start (IrisdJob *job, int null_fd);
void irisd_command_watch_all (IrisdCommand *self, int epoll_fd);
void irisd_command_handle (IrisdCommandWatch *watch);
void irisd_command_attend (IrisdCommand *self);
gint64 irisd_command_get_deadline (IrisdCommand *self);
gboolean irisd_command_has_left (IrisdCommand *self);
gboolean irisd_command_is_over (IrisdCommand *self);
void irisd_command_finish (IrisdCommand *self);

IrisdJob *irisd_command_get_job (IrisdCommand *self);

/* In the runner's list. */
GList *irisd_command_get_link (IrisdCommand *self);

G_END_DECLS
