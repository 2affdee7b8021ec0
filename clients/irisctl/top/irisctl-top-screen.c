/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The screen of irisctl top, drawn with ncurses: a head of four lines, the table, a line of help.
 *
 * What colours say is also said in words, and the selected row has a mark beside its being drawn in
 * reverse, so that a terminal without colours or attributes shows as much.
 */
#include "clients/irisctl/top/irisctl-top.h"

/* The headers of ncurses define a macro for whatever word they can. */
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define HEAD_ROWS   5 /* with the headings */
#define FOOT_ROWS   1
#define LEAST_WIDTH 4 /* of a column with text */

static SCREEN *screen;
static gboolean coloured;

gboolean
top_screen_begin (GError **error)
{
  const char *terminal = g_getenv ("TERM");

  screen = newterm (terminal, stdout, stdin);
  if (screen == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   "ncurses does not know the terminal “%s”; set TERM to one that it knows, or use "
                   "irisctl watch",
                   terminal);
      return FALSE;
    }
  cbreak ();
  noecho ();
  nonl ();
  keypad (stdscr, TRUE);
  nodelay (stdscr, TRUE);
  curs_set (0);
  /* A lone Escape is not waited on for a second. */
  set_escdelay (25);
  coloured = ctl_terminal_has_colours () && has_colors ();
  if (coloured)
    {
      start_color ();
      use_default_colors ();
      init_pair (CTL_COLOUR_RED, COLOR_RED, -1);
      init_pair (CTL_COLOUR_GREEN, COLOR_GREEN, -1);
      init_pair (CTL_COLOUR_YELLOW, COLOR_YELLOW, -1);
    }

  return TRUE;
}

void
top_screen_end (void)
{
  endwin ();
  delscreen (screen);
  screen = NULL;
}

void
top_screen_resize (void)
{
  struct winsize size = { 0 };

  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
    resizeterm (size.ws_row, size.ws_col);
  clearok (stdscr, TRUE);
}

gboolean
top_screen_get_key (gboolean *is_function, guint32 *key)
{
  wint_t got = 0;
  int how = get_wch (&got);

  *is_function = how == KEY_CODE_YES;
  *key = (guint32) got;

  return how != ERR;
}

guint
top_screen_rows (void)
{
  return (guint) MAX (LINES - HEAD_ROWS - FOOT_ROWS, 1);
}

static attr_t
attribute (CtlColour colour)
{
  switch (colour)
    {
    case CTL_COLOUR_HEADING:
      return A_BOLD;
    case CTL_COLOUR_FAINT:
      return coloured ? A_DIM : A_NORMAL;
    case CTL_COLOUR_RED:
    case CTL_COLOUR_GREEN:
    case CTL_COLOUR_YELLOW:
      return coloured ? (attr_t) COLOR_PAIR (colour) : A_NORMAL;
    case CTL_COLOUR_NONE:
    default:
      return A_NORMAL;
    }
}

/* Text in what the locale has of it. The last column of the last line stays empty: a terminal that
 * wraps there would scroll. */
static void
put (int y, int x, const char *text)
{
  g_autofree char *cut = NULL, *local = NULL;
  int room = COLS - x - (y == LINES - 1);

  if (y >= LINES || room <= 0)
    return;
  cut = ctl_terminal_cut (text, (guint) room);
  if (!g_get_charset (NULL))
    local = g_convert_with_fallback (cut, -1, "ASCII//TRANSLIT", "UTF-8", "?", NULL, NULL, NULL);
  mvaddstr (y, x, local != NULL ? local : cut);
}

static void
put_line (int y, attr_t how, const char *text)
{
  attrset (how);
  mvhline (y, 0, ' ' | (chtype) how, COLS - (y == LINES - 1));
  put (y, 0, text);
  attrset (A_NORMAL);
}

/* --- head ------------------------------------------------------------------------------------- */

static char *
describe_daemon (const TopData *data)
{
  const IrisWireDaemonStatistics *now;
  g_autofree char *memory = NULL;
  guint64 seconds;

  if (data->now == NULL)
    return g_strdup ("irisd");
  now = &data->now->daemon[0];
  seconds = now->uptime_ms / 1000;
  memory = g_format_size (now->memory_bytes);

  return g_strdup_printf (
      "irisd %s, up %" G_GUINT64_FORMAT ":%02d:%02d, %s, process %u, %s%s%s", now->version,
      seconds / 3600, (int) (seconds / 60 % 60), (int) (seconds % 60), now->scheduler, now->pid,
      memory, now->draining ? ", draining" : "", now->ready || now->draining ? "" : ", not ready");
}

/* Why what is shown is old; NULL: it is not. */
static char *
describe_silence (const TopData *data, gboolean stopped)
{
  gint64 now = g_get_monotonic_time ();
  gint64 silent = data->answered_us != 0 ? (now - data->answered_us) / G_USEC_PER_SEC : 0;

  if (data->away != NULL)
    return g_strdup_printf ("AWAY for %" G_GINT64_FORMAT " s, asked again each time: %s", silent,
                            data->away);
  if (stopped)
    return g_strdup_printf ("STOPPED: what was seen %" G_GINT64_FORMAT " s ago; space goes on",
                            silent);
  if (data->asked_us != 0 && now - data->asked_us > 3 * G_USEC_PER_SEC)
    return g_strdup_printf ("SILENT: irisd was asked %" G_GINT64_FORMAT " s ago",
                            (now - data->asked_us) / G_USEC_PER_SEC);

  return NULL;
}

static char *
describe_items (const TopData *data)
{
  const IrisWireDaemonStatistics *now, *before;
  g_autofree char *accepted = NULL, *ended = NULL, *open = NULL;
  CtlCounts is, was;

  if (data->now == NULL)
    return g_strdup ("");
  now = &data->now->daemon[0];
  before = data->before != NULL ? &data->before->daemon[0] : now;
  ctl_statistics_count (data->now, &is);
  ctl_statistics_count (data->before != NULL ? data->before : data->now, &was);
  open = top_format_short ((double) now->in_flight);
  accepted = top_format_short (top_data_rate (data, now->accepted, before->accepted));
  ended = top_format_short (top_data_rate (data, is.ended, was.ended));

  return g_strdup_printf ("items  %s not ended; per second %s accepted, %s ended, %.1f failed, "
                          "%.1f refused",
                          open, accepted, ended, top_data_rate (data, is.failed, was.failed),
                          top_data_rate (data, now->busy, before->busy));
}

static char *
describe_rest (const TopData *data)
{
  const IrisWireJournalStatistics *journal;
  g_autofree char *clients = NULL, *syncs = NULL;
  CtlCounts is, was;

  if (data->now == NULL)
    return g_strdup ("");
  clients = ctl_count (data->now->daemon[0].connections, "client");
  journal = data->now->n_journal > 0 ? &data->now->journal[0] : NULL;
  if (journal == NULL || g_str_equal (journal->state, "none"))
    return g_strdup_printf ("%s; no journal: no persistent items", clients);
  ctl_statistics_count (data->now, &is);
  ctl_statistics_count (data->before != NULL ? data->before : data->now, &was);
  syncs = top_format_short (top_data_rate (data, is.syncs, was.syncs));

  return g_strdup_printf ("%s; journal %s%s%s; %" G_GUINT64_FORMAT " persistent, %" G_GUINT64_FORMAT
                          " of them ended; %s syncs a second",
                          clients, journal->state, *journal->reason != '\0' ? ": " : "",
                          journal->reason, journal->items, MIN (journal->ended, journal->items),
                          syncs);
}

static void
draw_tabs (const Top *top)
{
  const TopTab *tab = &top->tabs[top->tab];
  g_autofree char *rest = NULL;
  const char *more = top->tab == TOP_ITEMS && top->data.more_items ? " newest" : "";
  int x = 0;

  put_line (3, A_NORMAL, "");
  for (guint i = 0; i < TOP_N_VIEWS; i++)
    {
      g_autofree char *name = g_strdup_printf (i == top->tab ? "[%u %s]" : " %u %s ", i + 1,
                                               top->tabs[i].view->name);

      attrset (i == top->tab ? A_BOLD : A_NORMAL);
      put (3, x, name);
      x += (int) ctl_terminal_width (name);
    }
  attrset (A_NORMAL);
  rest = g_strdup_printf ("  %u%s of %u%s, by %s %s%s%s", top->shown->len, more, top->rows->len,
                          *more != '\0' ? " or more" : "", tab->view->columns[tab->sort_by].heading,
                          tab->descending ? "down" : "up", tab->filter->len > 0 ? ", with " : "",
                          tab->filter->str);
  put (3, x, rest);
}

static void
draw_head (const Top *top)
{
  g_autofree char *daemon = describe_daemon (&top->data);
  g_autofree char *silence = describe_silence (&top->data, top->stopped);
  g_autofree char *items = describe_items (&top->data);
  g_autofree char *rest = describe_rest (&top->data);
  gboolean bad = top->data.now != NULL && !top->data.now->daemon[0].ready
                 && !top->data.now->daemon[0].draining;

  if (silence != NULL)
    put_line (0, A_REVERSE | attribute (CTL_COLOUR_RED), silence);
  else
    put_line (0, A_BOLD, daemon);
  put_line (1, A_NORMAL, items);
  put_line (2, bad ? attribute (CTL_COLOUR_RED) : A_NORMAL, rest);
  draw_tabs (top);
}

/* --- table ------------------------------------------------------------------------------------ */

typedef struct
{
  int *widths; /* 0: not in the table */
  int gap;
} Layout;

static int
sum_of (const Layout *layout, guint n)
{
  int sum = 1; /* the mark of the selected row */

  for (guint i = 0; i < n; i++)
    if (layout->widths[i] > 0)
      sum += layout->widths[i] + layout->gap;

  return sum - layout->gap;
}

/* The widest column with text gives up a character at a time: numbers are never cut. */
static void
shrink (const TopView *view, Layout *layout)
{
  int excess = sum_of (layout, view->n_columns) - COLS;

  for (; excess > 0; excess--)
    {
      int widest = -1;

      for (guint i = 0; i < view->n_columns; i++)
        if (!view->columns[i].right && layout->widths[i] > LEAST_WIDTH
            && (widest < 0 || layout->widths[i] > layout->widths[widest]))
          widest = (int) i;
      if (widest < 0)
        return;
      layout->widths[widest]--;
    }
}

/* Of all rows, not only those on the screen: columns stay where they are while one scrolls. */
static void
lay_out (const Top *top, const TopView *view, Layout *layout)
{
  layout->widths = g_new0 (int, view->n_columns);
  for (guint i = 0; i < view->n_columns; i++)
    {
      if (view->columns[i].hidden)
        continue;
      layout->widths[i] = (int) ctl_terminal_width (view->columns[i].heading);
      for (guint j = 0; j < top->shown->len; j++)
        {
          const TopRow *row = g_ptr_array_index (top->shown, j);
          g_autofree char *shown = ctl_terminal_cut (row->cells[i].text, 0);

          layout->widths[i] = MAX (layout->widths[i], (int) ctl_terminal_width (shown));
        }
    }
  layout->gap = 2;
  if (sum_of (layout, view->n_columns) > COLS)
    layout->gap = 1;
  shrink (view, layout);
}

static void
put_cell (int y, int x, int width, gboolean right, const char *text)
{
  g_autofree char *cut = ctl_terminal_cut (text, (guint) width);
  int blank = width - (int) ctl_terminal_width (cut);

  put (y, right ? x + MAX (blank, 0) : x, cut);
}

static void
draw_headings (const TopTab *tab, const Layout *layout)
{
  int x = 1;

  put_line (4, A_NORMAL, "");
  for (guint i = 0; i < tab->view->n_columns; i++)
    if (layout->widths[i] > 0)
      {
        attrset (A_BOLD | (i == tab->sort_by ? A_UNDERLINE : A_NORMAL));
        put_cell (4, x, layout->widths[i], tab->view->columns[i].right,
                  tab->view->columns[i].heading);
        x += layout->widths[i] + layout->gap;
      }
  attrset (A_NORMAL);
}

static void
draw_row (const TopView *view, const Layout *layout, const TopRow *row, int y, gboolean selected)
{
  attr_t how = attribute (row->colour) | (selected ? A_REVERSE : A_NORMAL);
  int x = 1;

  put_line (y, how, selected ? ">" : "");
  attrset (how);
  for (guint i = 0; i < view->n_columns; i++)
    if (layout->widths[i] > 0)
      {
        put_cell (y, x, layout->widths[i], view->columns[i].right, row->cells[i].text);
        x += layout->widths[i] + layout->gap;
      }
  attrset (A_NORMAL);
}

static void
draw_table (const Top *top)
{
  const TopTab *tab = &top->tabs[top->tab];
  guint rows = top_screen_rows ();
  Layout layout = { NULL, 0 };
  g_autofree int *widths = NULL;

  lay_out (top, tab->view, &layout);
  widths = layout.widths;
  draw_headings (tab, &layout);
  for (guint i = 0; i < rows && tab->first + i < top->shown->len; i++)
    draw_row (tab->view, &layout, g_ptr_array_index (top->shown, tab->first + i),
              HEAD_ROWS + (int) i, tab->first + i == tab->index);
  if (top->shown->len == 0 && top->data.now != NULL)
    put (HEAD_ROWS, 1,
         top->tab == TOP_ITEMS && top->data.items_refused != NULL ? top->data.items_refused
         : top->rows->len > 0 ? "the filter selects nothing; Esc clears it"
                              : tab->view->empty);
}

/* --- pages ------------------------------------------------------------------------------------ */

/* Text from a column on, in as many lines as it takes; returns the line behind it. Lines above the
 * table are not drawn: they have been scrolled away. */
static int
put_wrapped (int y, int x, const char *text)
{
  g_autofree char *valid = ctl_terminal_cut (text, 0);
  const char *at = valid;
  int room = MAX (COLS - x - 1, 1);

  do
    {
      g_autoptr (GString) line = g_string_new (NULL);

      for (; *at != '\0'; at = g_utf8_next_char (at))
        {
          g_string_append_unichar (line, g_utf8_get_char (at));
          if ((int) ctl_terminal_width (line->str) <= room)
            continue;
          g_string_truncate (line, line->len - (gsize) (g_utf8_next_char (at) - at));
          break;
        }
      /* A character that is wider than the room there is: it is left out. */
      if (line->len == 0 && *at != '\0')
        at = g_utf8_next_char (at);
      if (y >= HEAD_ROWS - 1 && y < LINES - FOOT_ROWS)
        put (y, x, line->str);
      y++;
    }
  while (*at != '\0');

  return y;
}

/* Keeps the last of @n lines in sight. */
static int
find_top_row (Top *top, int n)
{
  int room = MAX (LINES - FOOT_ROWS - (HEAD_ROWS - 1), 1);

  top->scroll_end = (guint) MAX (n - room, 0);
  top->scrolled = MIN (top->scrolled, top->scroll_end);

  return HEAD_ROWS - 1 - (int) top->scrolled;
}

/* Returns the row below; what is not on the screen is only counted. */
static int
put_details (const Top *top, int y)
{
  const TopTab *tab = &top->tabs[top->tab];
  const TopRow *row = top_get_selected (top);
  int widest = 0;

  for (guint i = 0; i < tab->view->n_columns; i++)
    widest = MAX (widest, (int) ctl_terminal_width (tab->view->columns[i].heading));
  for (guint i = 0; row != NULL && i < row->n_cells; i++)
    {
      const TopCell *cell = &row->cells[i];

      if (y >= HEAD_ROWS - 1 && y < LINES - FOOT_ROWS)
        {
          attrset (A_BOLD);
          put (y, 1, tab->view->columns[i].heading);
          attrset (A_NORMAL);
        }
      y = put_wrapped (y, widest + 3, cell->whole != NULL ? cell->whole : cell->text);
    }

  return y;
}

static void
draw_details (Top *top)
{
  put_details (top, find_top_row (top, put_details (top, LINES) - LINES));
}

static void
draw_help (Top *top)
{
  static const char *const lines[] = {
    "1 2 3 4, Tab    places, services, items, limits",
    "Up Down, j k    select a row; PgUp, PgDn, Home, End",
    "Enter           all that is known of the row; Enter or Esc goes back",
    "< >             sort by the column to the left or right; r: the other way",
    "/               only rows that contain a text; Esc clears it",
    "o               items: also those that have ended",
    "c               items: cancel the selected one, asked twice",
    "Space           stop asking irisd, or go on",
    "q, Ctrl-C       end",
    "",
    "Load: part of the workers' time that went into items, without commands",
    "and worker processes. Backlog: items queued at the place and not ended.",
    "In, out: items stolen by the place, and from it. Wait, run: time in the",
    "queue and of running: the median since the last look, the mean of a service.",
    "k, M, G: thousands, millions, billions; Enter shows the whole number.",
  };

  int y = find_top_row (top, (int) G_N_ELEMENTS (lines));

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++, y++)
    if (y >= HEAD_ROWS - 1 && y < LINES - FOOT_ROWS)
      put (y, 1, lines[i]);
}

static char *
describe_question (const Top *top)
{
  if (top->mode == TOP_MODE_CONFIRM)
    return g_strdup_printf ("Cancel item %s? y: yes, any other key: no", top->target_as);

  return g_strdup_printf ("A cancelled item does not run again. Cancel item %s for good? y/n",
                          top->target_as);
}

static void
draw_foot (const Top *top)
{
  const TopTab *tab = &top->tabs[top->tab];
  g_autofree char *text = NULL;
  gboolean asks = top->mode == TOP_MODE_CONFIRM || top->mode == TOP_MODE_CONFIRM_AGAIN;

  if (top->mode == TOP_MODE_FILTER)
    text = g_strdup_printf ("Only rows with: %s_   (Enter: keep, Esc: clear)", tab->filter->str);
  else if (asks)
    text = describe_question (top);
  else if (top->message != NULL)
    text = g_strdup (top->message);
  else if (top->mode == TOP_MODE_DETAILS || top->mode == TOP_MODE_HELP)
    text = g_strdup ("Up Down: scroll  Enter Esc: back  q: end");
  else
    text = g_strdup (top->tab == TOP_ITEMS
                         ? "Tab: view  Enter: row  <>r: sort  /: filter  o: all  c: cancel  "
                           "h: help  q: end"
                         : "Tab: view  Enter: row  <>r: sort  /: filter  Space: stop  h: help  "
                           "q: end");
  put_line (LINES - 1, A_REVERSE | (asks ? attribute (CTL_COLOUR_YELLOW) : A_NORMAL), text);
}

void
top_screen_draw (Top *top)
{
  erase ();
  if (LINES > HEAD_ROWS)
    draw_head (top);
  if (top->mode == TOP_MODE_HELP)
    draw_help (top);
  else if (top->mode == TOP_MODE_DETAILS)
    draw_details (top);
  else if (LINES > HEAD_ROWS)
    draw_table (top);
  draw_foot (top);
  refresh ();
}
