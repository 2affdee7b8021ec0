/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisctl prints: items in words, tables, JSON, results, progress, and what a terminal can do.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <json-glib/json-glib.h>
#include <stdio.h>

/* --- terminal --------------------------------------------------------------------------------- */

typedef enum
{
  CTL_COLOUR_NONE = 0,
  CTL_COLOUR_HEADING, /* bold */
  CTL_COLOUR_RED,
  CTL_COLOUR_GREEN,
  CTL_COLOUR_YELLOW,
  CTL_COLOUR_FAINT,
} CtlColour;

/* Columns and rows of the terminal that standard output is; 0 if it is none. */
guint ctl_terminal_columns (void);
guint ctl_terminal_rows (void);

/* Whether the cursor can be moved on standard output. */
gboolean ctl_terminal_is_screen (void);

/* Whether standard output is a terminal with colours, and NO_COLOR is not set. */
gboolean ctl_terminal_has_colours (void);

/* Begins to colour text, or ends it with CTL_COLOUR_NONE; empty where there are no colours. */
const char *ctl_terminal_colour (CtlColour colour);

/* At most @columns columns of @text, "…" being the last one if that is not all. What cannot be
 * printed, which might move the cursor, becomes a blank. 0: all of it. */
char *ctl_terminal_cut (const char *text, guint columns);

/* A line of text instead of an empty table; FALSE if standard output is no terminal: a program gets
 * the table. */
gboolean ctl_terminal_print_instead (const char *text);

/* Help as GOption makes it, in lines of the terminal's width, or of 80 columns; a print handler. */
void ctl_terminal_print_help (const char *text);

/* The columns that @text takes, whose escape sequences for colours take none. */
guint ctl_terminal_width (const char *text);

/* Waits for keys on standard input without their being shown. */
typedef struct _CtlKeys CtlKeys;

/* The key q cancels. NULL if standard input is no terminal. */
CtlKeys *ctl_keys_new (GCancellable *cancellable);
void ctl_keys_free (CtlKeys *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtlKeys, ctl_keys_free)

/* --- table ------------------------------------------------------------------------------------ */

typedef struct _CtlTable CtlTable;

/* @headings: one for each column; with ">" before it the column is aligned to the right, with "?"
 * before that it is left out while it is empty, with "+" before that shown only if @verbose. */
CtlTable *ctl_table_new (const char *const *headings, gboolean verbose);
void ctl_table_free (CtlTable *self);

/* As many cells as there are columns, each taken. */
void ctl_table_add (CtlTable *self, ...);

/* Lines are at most as wide as the terminal, and "…" stands for the rest; the heading is bold where
 * there are colours. Without it lines are as wide as they are. */
void ctl_table_fit_terminal (CtlTable *self);

/* Columns without any text are left out. */
void ctl_table_set_sparse (CtlTable *self);

/* A cell in a colour; takes @text. */
char *ctl_table_colour (CtlColour colour, char *text);

/* Rows that come after are set off by a line. */
void ctl_table_add_line (CtlTable *self);

/* Prints what was added since the last time, the headings only once, and forgets it. Columns never
 * get narrower. */
void ctl_table_flush (CtlTable *self);

/* The table as text, a newline behind each row. */
char *ctl_table_to_string (CtlTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtlTable, ctl_table_free)

char *ctl_number (guint64 number);
char *ctl_seconds (guint64 nanoseconds);

/* --- json ------------------------------------------------------------------------------------- */

void ctl_json_string (JsonBuilder *builder, const char *name, const char *value);
void ctl_json_int (JsonBuilder *builder, const char *name, gint64 value);
void ctl_json_double (JsonBuilder *builder, const char *name, gdouble value);
void ctl_json_bool (JsonBuilder *builder, const char *name, gboolean value);

/* Bytes as a string under @name if they are UTF-8, otherwise in base64 under @name "_base64". */
void ctl_json_bytes (JsonBuilder *builder, const char *name, GBytes *bytes);

/* What was built, as it is printed. */
char *ctl_json_to_text (JsonBuilder *builder, gboolean pretty);

/* On standard output, with a newline: over several lines for people, or in one line. */
void ctl_json_print (JsonBuilder *builder);
void ctl_json_print_line (JsonBuilder *builder);

/* An object with one number. */
void ctl_json_print_int (const char *name, gint64 value);
void ctl_json_print_strings (const char *name, const char *const *values);

/* An array that is printed element by element, a line for each. All zeroes is one that has not
 * begun. What is built with the builder that ctl_json_array_next() gives is printed by the next
 * call upon the array. */
typedef struct
{
  JsonBuilder *builder;
  guint64 n;
  gboolean open; /* an element is being built */
} CtlJsonArray;

void ctl_json_array_begin (CtlJsonArray *self);
JsonBuilder *ctl_json_array_next (CtlJsonArray *self);

/* Prints at once what was built. */
void ctl_json_array_flush (CtlJsonArray *self);
void ctl_json_array_end (CtlJsonArray *self);

/* --- describe --------------------------------------------------------------------------------- */

/* "2.5s", "4m07s", "3h05m", "2d01h": three digits are enough to decide whether to wait. */
char *ctl_format_duration (guint64 ms);

/* Local time, or "-" for 0. */
char *ctl_format_time (guint64 unix_ms);

/* Arguments as a shell would read them; empty for none. */
char *ctl_format_args (const char *const *args);

/* How long its latest attempt has run by @now_ms, or took if it has ended; 0 if that is not known.
 */
guint64 ctl_item_elapsed_ms (const IrisClientItem *item, guint64 now_ms);

/* What there is to say of its time: when it will run, for how long it has run, or what it took. */
char *ctl_format_state (const IrisClientItem *item);
char *ctl_format_item_time (const IrisClientItem *item, guint64 now_ms);

/* A user's name, or number. */
char *ctl_format_owner (const IrisClientItem *item);

/* An item as an object. */
void ctl_item_json (const Ctl *ctl, JsonBuilder *builder, const IrisClientItem *item);

/* The name of a place as long as the client lives, or "". */
const char *ctl_place_name (const Ctl *ctl, int id);

/* The name of its place, or "-". */
char *ctl_format_place (const Ctl *ctl, const IrisClientItem *item);
char *ctl_format_node_or_place (const Ctl *ctl, const IrisClientItem *item);

/* --- result ----------------------------------------------------------------------------------- */

/* Print a result, of a command with its two outputs. They return the exit status: for a command
 * what a shell says of it. */
int ctl_show_result (Ctl *ctl, const IrisResult *result);
int ctl_show_command_result (Ctl *ctl, const IrisResult *result);

void
ctl_result_members (Ctl *ctl, JsonBuilder *builder, const IrisResult *result, gboolean command);

/* Shows the end of an item on the desktop of the user's session, by notify-send; without that, says
 * once that it is not there. */
void ctl_notify (const char *item, const char *outcome);

/* False when standard output, say, is a full disk. */
gboolean ctl_write_bytes (FILE *stream, GBytes *bytes, gboolean as_line);

/* --- item lines ------------------------------------------------------------------------------- */

void ctl_item_line_print_number (Ctl *ctl, guint64 line, guint64 item);
void ctl_item_line_print_result (Ctl *ctl, guint64 line, const IrisResult *result);
void ctl_item_line_print_failure (Ctl *ctl, guint64 line, const GError *error);

/* --- statistics ------------------------------------------------------------------------------- */

/* Those of irisd as a whole are always among them. */
IrisWireStatistics *ctl_statistics_get (Ctl *ctl, guint sections, GError **error);
IrisWireStatistics *ctl_statistics_decode (GBytes *body, GError **error);

typedef struct
{
  guint64 ended;
  guint64 failed; /* of these, with an error */
  guint64 syncs;  /* of the journal */
} CtlCounts;

void ctl_statistics_count (const IrisWireStatistics *self, CtlCounts *counts);

/* The bound in seconds that the part @q of what came since @before stays below; not a number if
 * nothing came. @before may be NULL. */
double ctl_statistics_quantile (const guint64 *now,
                                guint n,
                                const guint64 *before,
                                guint n_before,
                                double q);

/* At most five characters, if it is not hours. */
char *ctl_format_short_time (double seconds);

/* What was stolen over one distance. */
typedef struct
{
  guint32 distance;
  guint64 steals;
  guint64 items;
} CtlDistance;

#define CTL_ALL_PLACES G_MAXUINT

/* Of what @place stole: CtlDistance, the nearest first, without those of which nothing came. */
GArray *ctl_statistics_sum_distances (const IrisWireStatistics *self, guint place);
char *ctl_format_distances (const GArray *sums);
void ctl_json_distances (JsonBuilder *builder, const GArray *sums);

/* An object with count, mean, median and 99th percentile of a histogram. */
void ctl_json_times (JsonBuilder *builder,
                     const char *name,
                     const guint64 *buckets,
                     guint n,
                     guint64 sum_ns);

/* --- export ----------------------------------------------------------------------------------- */

/* Writes an item as it was submitted, on a line of its own. CTL_OK, or the exit status after
 * printing why not. */
int ctl_export_item (Ctl *ctl, guint64 number, FILE *out);

/* --- progress --------------------------------------------------------------------------------- */

typedef struct
{
  gboolean shown; /* standard error is a terminal that can do it */
  gboolean drawn;
  gint64 begin; /* monotonic microseconds */
} CtlProgress;

void ctl_progress_begin (CtlProgress *self);

/* @fraction is below 0 if it is not known; @text is shown behind the bar, and may be NULL. */
void ctl_progress_show (CtlProgress *self, double fraction, const char *text);

/* Wipes the bar, if there is one. */
void ctl_progress_end (CtlProgress *self);

/* The bar without control characters, in less than @columns columns; 0: the text alone, whole. */
char *ctl_progress_format (double fraction, const char *text, int columns);

/* --- tally ------------------------------------------------------------------------------------ */

typedef struct
{
  const char *name; /* the place's; valid as long as the list of places */
  guint64 hinted;
  guint64 executed;
  guint64 stolen_in;
  guint64 stolen_out;
  guint64 bytes;
  guint64 run_ns;
} CtlTallyRow;

typedef struct
{
  CtlTallyRow *rows;
  guint n_rows;
  CtlTallyRow *away; /* places of other nodes, as they come */
  guint n_away;
  CtlTallyRow total;
  guint64 failed; /* files without a result */
} CtlTally;

void ctl_tally_init (CtlTally *self, GPtrArray *places);
void ctl_tally_clear (CtlTally *self);
void ctl_tally_hint (CtlTally *self, int place);

/* An item that was queued at @home ran at @place. Ids that are no places are left out. */
void ctl_tally_ran (CtlTally *self, int home, int place, guint64 bytes, guint64 run_ns);

/* It ran at a place of another node. */
void
ctl_tally_ran_away (CtlTally *self, const char *node, int place, guint64 bytes, guint64 run_ns);

char *ctl_tally_to_string (const CtlTally *self);
void ctl_tally_to_json (const CtlTally *self, JsonBuilder *builder);
