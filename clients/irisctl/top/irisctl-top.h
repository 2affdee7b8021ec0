/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the parts of irisctl top share: what irisd answered, tables of it, and what is on the
 * screen.
 *
 * Everything runs in the main context. irisd is asked once for each interval; its answers are in
 * TopData, a view makes a TopTable from them, and the screen shows that. A key changes what Top
 * says, and the screen is drawn anew.
 */
#pragma once

#include "clients/irisctl/input/irisctl-input.h"
#include "clients/irisctl/output/irisctl-output.h"

/* --- what irisd answered ---------------------------------------------------------------------- */

/* More items than this are not listed: a table that long is searched with options. */
#define TOP_MOST_ITEMS 1000

typedef struct
{
  Ctl *ctl;
  IrisWireStatistics *now, *before; /* NULL: not known yet */
  GPtrArray *places;                /* of IrisClientPlace; NULL: not known */
  GPtrArray *services;              /* of IrisClientService */
  GPtrArray *items;                 /* of IrisClientItem */
  gboolean all_items;               /* not only those that are open or buried */
  gboolean more_items;              /* than are in @items */
  char *items_refused;              /* why irisd lists no items; NULL: it does */
  char *away;                       /* why irisd is not reached; NULL: it is */
  gint64 answered_us;               /* when irisd answered last, monotonic */
  gint64 asked_us;                  /* when it was asked what it has not answered yet; 0: nothing */
  guint view;                       /* that was on the screen then */
  IrisClientQuery *query;           /* of the list that is being fetched */
  GPtrArray *listed;
  void (*changed) (gpointer user_data);
  gpointer user_data;
} TopData;

void top_data_init (TopData *self, Ctl *ctl, void (*changed) (gpointer), gpointer user_data);

/* Waits for what is under way, which its cancellable has to have ended. */
void top_data_clear (TopData *self);

/* Asks irisd for what the view shows, unless it has not answered the last time yet. */
void top_data_ask (TopData *self, guint view);

/* A second, 0 if that is not known, of a counter's growth between two answers. */
double top_data_rate (const TopData *self, guint64 now, guint64 before);

/* The place's statistics before; the same as now, if irisd was started anew. */
const IrisWirePlaceStatistics *top_data_place_before (const TopData *self, guint i);

/* --- table ------------------------------------------------------------------------------------ */

typedef struct
{
  const char *heading;
  gboolean right;  /* aligned, and larger values come first when it is sorted by */
  gboolean hidden; /* only among the details of a row */
} TopColumn;

typedef struct
{
  char *text;  /* in the table */
  char *whole; /* among the details; NULL: the same */
  double key;  /* orders a column that is aligned to the right */
} TopCell;

typedef struct
{
  char *name; /* is the same when irisd is asked again */
  guint64 item;
  gboolean open; /* the item can be cancelled */
  CtlColour colour;
  guint n_cells, n_set;
  TopCell *cells;
} TopRow;

typedef struct
{
  const char *name;
  const TopColumn *columns;
  guint n_columns;
  guint sort_by; /* at first */
  gboolean descending;
  const char *empty; /* what to say instead of no rows */
  void (*fill) (const TopData *data, GPtrArray *rows);
} TopView;

enum
{
  TOP_PLACES,
  TOP_SERVICES,
  TOP_ITEMS,
  TOP_LIMITS,
  TOP_N_VIEWS
};

extern const TopView top_places, top_services, top_items, top_limits;

/* A row without cells; each call after it fills the next one and takes its texts. */
TopRow *top_row_new (GPtrArray *rows, const TopView *view, char *name);
void top_row_free (gpointer row);
void top_row_add_text (TopRow *row, char *text);
void top_row_add_number (TopRow *row, guint64 number);
void top_row_add_value (TopRow *row, double key, char *text);
void top_row_add_rate (TopRow *row, double per_second);
void top_row_add_time (TopRow *row, double seconds);

/* At most five characters. */
char *top_format_short (double number);

/* Those rows, in a new array that owns none, that have @filter in a cell, in order. */
GPtrArray *top_rows_select (GPtrArray *rows,
                            const TopView *view,
                            const char *filter,
                            guint sort_by,
                            gboolean descending);

/* --- top -------------------------------------------------------------------------------------- */

typedef enum
{
  TOP_MODE_TABLE,
  TOP_MODE_FILTER,  /* a filter is being typed */
  TOP_MODE_DETAILS, /* of the selected row */
  TOP_MODE_HELP,
  TOP_MODE_CONFIRM, /* an item is to be cancelled: asked once */
  TOP_MODE_CONFIRM_AGAIN,
} TopMode;

typedef struct
{
  const TopView *view;
  guint sort_by;
  gboolean descending;
  char *selected; /* the name of the row; NULL: the first */
  guint index;    /* where that was last */
  guint first;    /* row on the screen */
  GString *filter;
} TopTab;

typedef struct
{
  Ctl *ctl;
  TopData data;
  TopTab tabs[TOP_N_VIEWS];
  guint tab;
  TopMode mode;
  guint scrolled;   /* lines of the details */
  guint scroll_end; /* the most of them, as last drawn */
  guint64 target;   /* the item to be cancelled */
  char *target_as;  /* how it is called */
  char *message;    /* in the last line, until the next key */
  gboolean stopped; /* irisd is not asked: the picture stays */
  gboolean ended;
  guint pending;    /* items that irisd was told to cancel, without an answer */
  GPtrArray *rows;  /* of TopRow: all of the view */
  GPtrArray *shown; /* some of them, as they are on the screen */
} Top;

/* Makes the rows again from what irisd answered, and finds the selected one among them. */
void top_update (Top *self);
const TopRow *top_get_selected (const Top *self);
void top_select (Top *self, gint64 index);
void top_show (Top *self, guint tab);

/* What a key does; the key as curses tells it, or a character. */
void top_press (Top *self, gboolean is_function, guint32 key);

/* --- screen ----------------------------------------------------------------------------------- */

/* FALSE with a reason: the terminal cannot do it. */
gboolean top_screen_begin (GError **error);
void top_screen_end (void);

/* Takes over the size that the terminal has now. */
void top_screen_resize (void);
void top_screen_draw (Top *top);

/* The next key that has come; FALSE: none has. */
gboolean top_screen_get_key (gboolean *is_function, guint32 *key);
guint top_screen_rows (void); /* of the table */
