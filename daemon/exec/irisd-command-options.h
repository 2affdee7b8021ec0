/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The options of a command: keys of an item beside the program and its arguments.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <sys/resource.h>

G_BEGIN_DECLS

/* How many different limits there are. */
#define IRISD_COMMAND_MAX_LIMITS 6

/* A limit that the kernel enforces. */
typedef struct
{
  const char *name;     /* as the item names it; a constant */
  int resource;         /* what setrlimit(2) calls it */
  struct rlimit bounds; /* the soft limit and the hard one */
} IrisdCommandLimit;

/* The options of one command. */
typedef struct
{
  gboolean streamed;          /* its output is sent as it comes */
  gboolean copied;            /* it is sent as it comes, as far as the credit goes, and kept too */
  guint64 credit;             /* bytes of output that may be sent at once, to begin with */
  char *directory;            /* NULL, or where it runs, or irisd's */
  char **environment;         /* NULL, or NAME=VALUE sets a variable, NAME removes one */
  gboolean clear_environment; /* begin with no variables */
  int nice;                   /* added to irisd's niceness */
  guint64 time_limit_ms;      /* how long it may run; 0 for no limit */
  gboolean has_grace;         /* whether @grace_ms counts, and not the configuration */
  guint64 grace_ms;           /* from SIGTERM to SIGKILL */
  /* bytes of output that are stored or sent, G_MAXUINT64 if the item sets no limit */
  guint64 max_output;
  guint64 keep_output; /* bytes that are kept for those who follow it, G_MAXUINT64 likewise */
  gboolean keep_tail;  /* of a longer output the last ones, not the first ones and the last ones */
  IrisdCommandLimit limits[IRISD_COMMAND_MAX_LIMITS]; /* those that the kernel enforces */
  guint n_limits;                                     /* how many of those */
} IrisdCommandOptions;

gboolean irisd_command_options_are_given (const IrisWireMessage *item);
gboolean irisd_command_options_check (const IrisWireMessage *item, GError **error);
IrisdCommandOptions *irisd_command_options_new (const IrisWireMessage *item);
void irisd_command_options_free (IrisdCommandOptions *self);
char **irisd_command_options_make_environment (const IrisdCommandOptions *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdCommandOptions, irisd_command_options_free)

G_END_DECLS
