/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the keys of irisctl top do.
 */
#include "clients/irisctl/top/irisctl-top.h"

#define NCURSES_NOMACROS 1
#include <ncurses.h>

#define ESCAPE 27

static TopTab *
tab_of (Top *self)
{
  return &self->tabs[self->tab];
}

/* The next column in the table, to the left or to the right. */
static void
sort_by_next (Top *self, int step)
{
  TopTab *tab = tab_of (self);
  int n = (int) tab->view->n_columns, i = (int) tab->sort_by;

  do
    i = (i + step + n) % n;
  while (tab->view->columns[i].hidden);
  tab->sort_by = (guint) i;
  tab->descending = tab->view->columns[i].right;
  top_update (self);
}

static void
set_message (Top *self, char *message)
{
  g_free (self->message);
  self->message = message;
}

static void
on_cancelled (GObject *source, GAsyncResult *result, gpointer data)
{
  Top *self = data;
  g_autoptr (GError) error = NULL;
  gboolean was_running = FALSE;

  self->pending--;
  if (iris_client_cancel_item_finish (IRIS_CLIENT (source), result, &was_running, &error))
    set_message (self, g_strdup (was_running ? "the item was running, and was told to stop"
                                             : "the item is cancelled: it will not run"));
  else
    set_message (self, g_strdup_printf ("not cancelled: %s", error->message));
  self->data.changed (self->data.user_data);
  top_data_ask (&self->data, self->tab);
}

/* The row may be another one by now: it is the number that was asked about. */
static void
cancel_target (Top *self)
{
  self->pending++;
  set_message (self, g_strdup_printf ("cancelling item %s", self->target_as));
  iris_client_cancel_item_async (self->ctl->client, self->target, self->ctl->cancellable,
                                 on_cancelled, self);
}

static void
ask_to_cancel (Top *self)
{
  const TopRow *row = top_get_selected (self);

  if (self->tab != TOP_ITEMS || row == NULL)
    set_message (self, g_strdup ("c cancels an item: 3 shows the items"));
  else if (!row->open)
    set_message (self,
                 g_strdup_printf ("item %s has ended: there is nothing to cancel", row->name));
  else
    {
      self->target = row->item;
      g_free (self->target_as);
      self->target_as = g_strdup (row->name);
      self->mode = TOP_MODE_CONFIRM;
    }
}

static void
press_confirm (Top *self, gboolean yes)
{
  if (!yes)
    {
      self->mode = TOP_MODE_TABLE;
      set_message (self, g_strdup_printf ("item %s goes on", self->target_as));
    }
  else if (self->mode == TOP_MODE_CONFIRM)
    self->mode = TOP_MODE_CONFIRM_AGAIN;
  else
    {
      self->mode = TOP_MODE_TABLE;
      cancel_target (self);
    }
}

static void
press_filter (Top *self, gboolean is_function, guint32 key)
{
  GString *filter = tab_of (self)->filter;

  if (is_function ? key == KEY_BACKSPACE : key == 127 || key == '\b')
    {
      const char *end = g_utf8_find_prev_char (filter->str, filter->str + filter->len);

      g_string_truncate (filter, end != NULL ? (gsize) (end - filter->str) : 0);
    }
  else if (!is_function && (key == '\r' || key == '\n'))
    self->mode = TOP_MODE_TABLE;
  else if (!is_function && key == ESCAPE)
    {
      g_string_truncate (filter, 0);
      self->mode = TOP_MODE_TABLE;
    }
  else if (!is_function && g_unichar_validate (key) && g_unichar_isprint (key))
    g_string_append_unichar (filter, key);
  top_update (self);
}

/* TRUE if the key moves the selection or the page. */
static gboolean
move_or_scroll (Top *self, gboolean is_function, guint32 key)
{
  gint64 page = top_screen_rows (), by = 0;
  gboolean pages = self->mode != TOP_MODE_TABLE;

  if (!is_function)
    by = key == 'j' ? 1 : key == 'k' ? -1 : 0;
  else if (key == KEY_DOWN || key == KEY_UP)
    by = key == KEY_DOWN ? 1 : -1;
  else if (key == KEY_NPAGE || key == KEY_PPAGE)
    by = key == KEY_NPAGE ? page : -page;
  else if (key == KEY_END || key == KEY_HOME)
    by = key == KEY_END ? G_MAXINT : -G_MAXINT;
  if (by == 0)
    return FALSE;
  if (pages)
    /* A row has a few dozen lines; more than that is behind the end of any of them. */
    self->scrolled = (guint) CLAMP ((gint64) self->scrolled + by, 0, self->scroll_end);
  else
    top_select (self, tab_of (self)->index + by);

  return TRUE;
}

static void
toggle_all (Top *self)
{
  if (self->tab != TOP_ITEMS)
    return;
  if (self->ctl->filter.states != NULL)
    {
      set_message (self, g_strdup ("--state says which items are shown"));
      return;
    }
  self->data.all_items = !self->data.all_items;
  set_message (self, g_strdup (self->data.all_items ? "all items, also those that have ended"
                                                    : "items that have not ended"));
  top_data_ask (&self->data, self->tab);
}

static void
leave_or_clear (Top *self)
{
  if (self->mode != TOP_MODE_TABLE)
    self->mode = TOP_MODE_TABLE;
  else
    g_string_truncate (tab_of (self)->filter, 0);
  top_update (self);
}

static void
enter (Top *self)
{
  self->scrolled = 0;
  if (self->mode != TOP_MODE_TABLE)
    self->mode = TOP_MODE_TABLE;
  else if (top_get_selected (self) != NULL)
    self->mode = TOP_MODE_DETAILS;
}

static void
press_letter (Top *self, guint32 key)
{
  switch (key)
    {
    case '1':
    case '2':
    case '3':
    case '4':
      top_show (self, key - '1');
      break;
    case '\t':
      top_show (self, (self->tab + 1) % TOP_N_VIEWS);
      break;
    case '<':
      sort_by_next (self, -1);
      break;
    case '>':
      sort_by_next (self, 1);
      break;
    case 'r':
      tab_of (self)->descending = !tab_of (self)->descending;
      top_update (self);
      break;
    case '/':
      self->mode = TOP_MODE_FILTER;
      break;
    case 'o':
      toggle_all (self);
      break;
    case 'c':
      ask_to_cancel (self);
      break;
    case ' ':
      self->stopped = !self->stopped;
      break;
    case '?':
    case 'h':
      self->scrolled = 0;
      self->mode = self->mode == TOP_MODE_HELP ? TOP_MODE_TABLE : TOP_MODE_HELP;
      break;
    default:
      break;
    }
}

void
top_press (Top *self, gboolean is_function, guint32 key)
{
  /* Told to redraw: another program has written to the terminal. */
  const guint32 control_l = 'L' - '@';

  if (self->mode == TOP_MODE_CONFIRM || self->mode == TOP_MODE_CONFIRM_AGAIN)
    {
      press_confirm (self, !is_function && (key == 'y' || key == 'Y'));
      return;
    }
  if (self->mode == TOP_MODE_FILTER)
    {
      press_filter (self, is_function, key);
      return;
    }
  g_clear_pointer (&self->message, g_free);
  if (!is_function && (key == 'q' || key == 'Q'))
    self->ended = TRUE;
  else if (!is_function && key == control_l)
    top_screen_resize ();
  else if (!is_function && key == ESCAPE)
    leave_or_clear (self);
  else if (is_function ? key == KEY_ENTER : key == '\r' || key == '\n')
    enter (self);
  else if (!move_or_scroll (self, is_function, key) && !is_function)
    press_letter (self, key);
}
