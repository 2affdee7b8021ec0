/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a command of irisctl is, and what all of them share: options, the connection, exit codes.
 */
#pragma once

#include <iris-client/iris-client.h>

G_BEGIN_DECLS

/* Exit codes; the manual page lists them. */
typedef enum
{
  IRISCTL_OK = 0,
  IRISCTL_FAILED = 1,    /* an item failed */
  IRISCTL_USAGE = 2,     /* the command line is wrong */
  IRISCTL_NO_DAEMON = 3, /* no irisd, or it was lost */
  IRISCTL_REFUSED = 4,   /* irisd does not take the item */

  /* Those of run, beside the command's own; as env and timeout have them. */
  IRISCTL_RUN_FAILED = 125,
  IRISCTL_RUN_NO_COMMAND = 127,
  IRISCTL_SIGNALLED = 128, /* plus the signal */
} IrisctlExit;

/* The options that every command has. */
typedef struct
{
  char *dir;
  char *endpoint;
  int wait_s;
  gboolean json;
  gboolean verbose;
  gboolean version;
} IrisctlGlobals;

/* The options of the commands that send items. */
typedef struct
{
  char *place;
  gboolean strict;
} IrisctlHint;

typedef struct
{
  IrisctlGlobals globals;
  IrisClient *client;
  GCancellable *interrupt; /* triggered by the first SIGINT or SIGTERM */
  int signal;              /* which */
} Irisctl;

typedef struct
{
  const char *name;
  const char *synopsis; /* what follows the name */
  const char *summary;  /* one line */
  const char *details;  /* for --help: prose, then examples */
  int (*run) (Irisctl *self, int argc, char **argv);
} IrisctlCommand;

extern const IrisctlCommand *const irisctl_commands[];

const IrisctlCommand *irisctl_command_find (const char *name);

gboolean irisctl_parse (Irisctl *self,
                        const char *command,
                        const GOptionEntry *entries,
                        IrisctlHint *hint,
                        int *argc,
                        char ***argv);
gboolean irisctl_parse_globals (Irisctl *self, int *argc, char ***argv);

void irisctl_print_version (void);
int irisctl_usage (const char *command, const char *format, ...) G_GNUC_PRINTF (2, 3);
void irisctl_complain (const char *format, ...) G_GNUC_PRINTF (1, 2);
int irisctl_exit_for (Irisctl *self, const GError *error);
int irisctl_report (Irisctl *self, const GError *error);

gboolean irisctl_connect (Irisctl *self, int *status);
void irisctl_catch_signals (Irisctl *self);
IrisResult *irisctl_submit (Irisctl *self, IrisRequest *request, GError **error);
void irisctl_apply_hint (IrisRequest *request, const IrisctlHint *hint);
GBytes *irisctl_read_all (int fd, GError **error);
void irisctl_clear (Irisctl *self);

/* The commands. */
int irisctl_places (Irisctl *self, int argc, char **argv);
int irisctl_services (Irisctl *self, int argc, char **argv);
int irisctl_status (Irisctl *self, int argc, char **argv);
int irisctl_send (Irisctl *self, int argc, char **argv);
int irisctl_map (Irisctl *self, int argc, char **argv);
int irisctl_run (Irisctl *self, int argc, char **argv);
int irisctl_cancel (Irisctl *self, int argc, char **argv);
int irisctl_help (Irisctl *self, int argc, char **argv);

G_END_DECLS
