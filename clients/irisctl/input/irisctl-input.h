/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisctl reads: options that commands share, items as they are described, lines, files below
 * directories.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

#include <json-glib/json-glib.h>

/* --- command options -------------------------------------------------------------------------- */

GOptionEntry *ctl_command_entries (CtlCommandOptions *options);
gboolean ctl_command_check (const CtlCommandOptions *options, GError **error);
void ctl_command_apply (const CtlCommandOptions *options, IrisRequest *request);
void ctl_command_clear (CtlCommandOptions *options);

/* --- filter ----------------------------------------------------------------------------------- */

/* The options, and what they say as a query. NULL after printing what is wrong with them. */
GOptionEntry *ctl_filter_entries (CtlFilter *filter);
IrisClientQuery *ctl_filter_make_query (const CtlFilter *filter, const char *command);
gboolean ctl_filter_is_given (const CtlFilter *filter);
void ctl_filter_clear (CtlFilter *filter);

/* Sets of states; bit N: the state N. */
void ctl_filter_add_states (IrisClientQuery *query, guint states);
guint ctl_filter_parse_state (const char *name);
const char *ctl_filter_state_name (IrisClientItemState state);

/* The states that the options name; 0 if they name none. CTL_USAGE after printing what is wrong. */
int ctl_filter_get_states (const CtlFilter *filter, const char *command, guint *states);

/* The next page of a list, waited for; empty at the end, NULL with @error. */
GPtrArray *ctl_filter_next_page (Ctl *ctl, IrisClientQuery *query, GError **error);

/* --- item ------------------------------------------------------------------------------------- */

/* It owns nothing. */
typedef struct
{
  char *service;
  char *place;
  char *near; /* the number of an item, or a path */
  char *node;
  gboolean any_node;
  char *traceparent;
  char *tracestate;
  char *path;
  char *content_type;
  char *payload;        /* as text */
  char *payload_base64; /* or so */
  GBytes *bytes;        /* or so */
  char **args;
  gboolean strict;
  CtlFootprint footprint;
  CtlSchedule schedule;
  CtlCommandOptions command;
  char *klass; /* NULL: durable */
  char *key;
  char *keep;
  char *keep_output; /* NULL: as irisd has it */
  gboolean keep_tail;
  char **hook;
  gboolean detach;
  gboolean bury;
} CtlItem;

/* What the members of an object are made into; use it again for the next one. */
typedef struct
{
  GStringChunk *strings;
  GPtrArray *lists;
} CtlItemMemory;

void ctl_item_memory_init (CtlItemMemory *self);
void ctl_item_memory_reset (CtlItemMemory *self);
void ctl_item_memory_clear (CtlItemMemory *self);

/* What the options that all items share say. */
void ctl_item_init (CtlItem *self, const Ctl *ctl);

/* Lets the members of @object, which are called as the long options, stand in for what @self says.
 * What is set lives as long as @object and @memory. */
gboolean ctl_item_read (CtlItem *self, JsonObject *object, CtlItemMemory *memory, GError **error);

gboolean ctl_item_is_persistent (const CtlItem *self);

/* Judges it. NULL with a sentence that says what is wrong. */
IrisRequest *ctl_item_make_request (const CtlItem *self, GError **error);

/* The number of an item. CTL_OK, or CTL_USAGE after printing that @text is none. */
int ctl_parse_item_number (const char *text, guint64 *number);

/* The arguments of a command, of guint64. NULL after printing which of them is none. */
GArray *ctl_parse_item_numbers (int argc, char **argv);

/* What an item is given to work on. */
GBytes *ctl_read_stdin (GError **error);
GBytes *ctl_read_file (const char *path, GError **error);

/* --- lines ------------------------------------------------------------------------------------ */

/* A longer line is refused: more than irisd takes by default, also in base64. */
#define CTL_MAX_LINE (64 * 1024 * 1024)

typedef struct _CtlLines CtlLines;

typedef enum
{
  CTL_LINES_LINE,
  CTL_LINES_WAIT, /* nothing has come yet; the main context wakes when something has */
  CTL_LINES_END,
  CTL_LINES_FAILED,
} CtlLinesStep;

/* @path: a file, or "-" for standard input. @delimiter: what ends a line. */
CtlLines *ctl_lines_open (const char *path, char delimiter, GError **error);
void ctl_lines_free (CtlLines *self);

/* @line: set to the line without its delimiter and with a NUL behind it, valid until the next call.
 */
CtlLinesStep ctl_lines_next (CtlLines *self, const char **line, gsize *size, GError **error);

/* Of the last line, from 1. */
guint64 ctl_lines_get_number (CtlLines *self);

/* How it is called in messages. */
const char *ctl_lines_get_name (CtlLines *self);

/* How much of it was read, 0 to 1; negative if that is not known. */
double ctl_lines_get_fraction (CtlLines *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtlLines, ctl_lines_free)

/* --- walk ------------------------------------------------------------------------------------- */

typedef struct _CtlWalk CtlWalk;

/* @roots: files and directories. */
CtlWalk *ctl_walk_new (const char *const *roots);
void ctl_walk_free (CtlWalk *self);

/* The next regular file, as a shell would name it from here; each directory's entries sorted by
 * name, byte by byte. Symbolic links are followed where they are a root, and left out below. NULL
 * with @error set: something could not be read, and the next call goes on behind it; NULL without:
 * the end. */
char *ctl_walk_next (CtlWalk *self, GError **error);

/* Whether there is nothing left, neither a file nor an error. */
gboolean ctl_walk_is_done (CtlWalk *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtlWalk, ctl_walk_free)
