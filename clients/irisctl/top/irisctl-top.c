/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl top: places, services and items on the whole screen, until the user has seen enough.
 *
 * irisd is asked once for each interval. When it is away, the last picture stays under a line that
 * says so, and the next question connects again.
 */
#include "clients/irisctl/top/irisctl-top.h"

#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

#define LEAST_INTERVAL_S 0.05

static double interval_s = 1;

/* --- rows ------------------------------------------------------------------------------------- */

const TopRow *
top_get_selected (const Top *self)
{
  guint index = self->tabs[self->tab].index;

  return index < self->shown->len ? g_ptr_array_index (self->shown, index) : NULL;
}

void
top_select (Top *self, gint64 index)
{
  TopTab *tab = &self->tabs[self->tab];
  gint64 last = (gint64) self->shown->len - 1;
  guint rows = top_screen_rows ();

  tab->index = (guint) MAX (MIN (index, last), 0);
  g_free (tab->selected);
  tab->selected = top_get_selected (self) != NULL ? g_strdup (top_get_selected (self)->name) : NULL;
  if (tab->index < tab->first)
    tab->first = tab->index;
  else if (tab->index >= tab->first + rows)
    tab->first = tab->index + 1 - rows;
  /* No blank lines below the table while there are rows above it. */
  tab->first = MIN (tab->first, self->shown->len > rows ? self->shown->len - rows : 0);
}

/* The row that was selected, wherever it is now; its neighbour if it has gone. */
static gint64
find_selected (const Top *self)
{
  const TopTab *tab = &self->tabs[self->tab];

  for (guint i = 0; tab->selected != NULL && i < self->shown->len; i++)
    {
      const TopRow *row = g_ptr_array_index (self->shown, i);

      if (g_str_equal (row->name, tab->selected))
        return i;
    }

  return tab->index;
}

void
top_update (Top *self)
{
  TopTab *tab = &self->tabs[self->tab];

  g_clear_pointer (&self->shown, g_ptr_array_unref);
  g_ptr_array_set_size (self->rows, 0);
  tab->view->fill (&self->data, self->rows);
  self->shown = top_rows_select (self->rows, tab->view, tab->filter->str, tab->sort_by,
                                 tab->descending);
  top_select (self, find_selected (self));
}

void
top_show (Top *self, guint tab)
{
  self->tab = tab;
  self->mode = TOP_MODE_TABLE;
  top_update (self);
  top_data_ask (&self->data, tab);
}

/* --- events ----------------------------------------------------------------------------------- */

static void
on_changed (gpointer data)
{
  Top *self = data;

  /* A row's details stay as they were opened, or it might have gone below them. */
  if (self->mode != TOP_MODE_DETAILS)
    top_update (self);
  top_screen_draw (self);
}

static gboolean
on_interval (gpointer data)
{
  Top *self = data;

  if (!self->stopped)
    top_data_ask (&self->data, self->tab);
  top_screen_draw (self);

  return G_SOURCE_CONTINUE;
}

static gboolean
on_resize (gpointer data)
{
  Top *self = data;

  top_screen_resize ();
  top_select (self, self->tabs[self->tab].index);
  top_screen_draw (self);

  return G_SOURCE_CONTINUE;
}

static gboolean
on_input (gint fd, GIOCondition condition, gpointer data)
{
  Top *self = data;
  gboolean is_function;
  guint32 key;
  guint n = 0;

  while (!self->ended && top_screen_get_key (&is_function, &key))
    {
      top_press (self, is_function, key);
      n++;
    }
  /* Readable without a key: the terminal has gone. */
  if (n == 0 && (condition & (G_IO_HUP | G_IO_ERR)) != 0)
    self->ended = TRUE;
  if (!self->ended)
    top_screen_draw (self);

  return self->ended ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static gboolean
on_hang_up (gpointer data)
{
  ((Top *) data)->ended = TRUE;
  return G_SOURCE_CONTINUE;
}

/* --- life ------------------------------------------------------------------------------------- */

static void
top_init (Top *self, Ctl *ctl)
{
  static const TopView *const views[] = { &top_places, &top_services, &top_items, &top_limits };

  *self = (Top){ .ctl = ctl };
  top_data_init (&self->data, ctl, on_changed, self);
  for (guint i = 0; i < TOP_N_VIEWS; i++)
    self->tabs[i] = (TopTab){ .view = views[i],
                              .sort_by = views[i]->sort_by,
                              .descending = views[i]->descending,
                              .filter = g_string_new (NULL) };
  self->rows = g_ptr_array_new_with_free_func (top_row_free);
  self->shown = g_ptr_array_new ();
}

static void
top_clear (Top *self)
{
  for (guint i = 0; i < TOP_N_VIEWS; i++)
    {
      g_string_free (self->tabs[i].filter, TRUE);
      g_free (self->tabs[i].selected);
    }
  g_ptr_array_unref (self->shown);
  g_ptr_array_unref (self->rows);
  g_free (self->target_as);
  g_free (self->message);
}

/* What is asked of irisd when it ends is not drawn any more, but it has to come back. */
static void
ignore_change (gpointer data)
{
}

static void
run_loop (Top *self)
{
  guint sources[] = {
    g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_input, self),
    g_timeout_add ((guint) (interval_s * 1000), on_interval, self),
  };

  top_data_ask (&self->data, self->tab);
  top_screen_draw (self);
  while (!self->ended && !g_cancellable_is_cancelled (self->ctl->cancellable))
    g_main_context_iteration (NULL, TRUE);

  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      GSource *source = g_main_context_find_source_by_id (NULL, sources[i]);

      if (source != NULL)
        g_source_destroy (source);
    }
  self->data.changed = ignore_change;
  self->ended = TRUE;
  g_cancellable_cancel (self->ctl->cancellable);
  while (self->pending > 0)
    g_main_context_iteration (NULL, TRUE);
  top_data_clear (&self->data);
}

static int
run_on_screen (Ctl *ctl)
{
  g_autoptr (GError) error = NULL;
  guint resize, hang_up;
  Top top;

  top_init (&top, ctl);
  /* Before curses, which keeps away from signals that are handled already. */
  resize = g_unix_signal_add (SIGWINCH, on_resize, &top);
  hang_up = g_unix_signal_add (SIGHUP, on_hang_up, &top);
  if (!top_screen_begin (&error))
    {
      top_clear (&top);
      return ctl_fail (CTL_USAGE, "top: %s", error->message);
    }
  run_loop (&top);
  top_screen_end ();
  g_source_remove (resize);
  g_source_remove (hang_up);
  top_clear (&top);

  return CTL_OK;
}

static int
run_top (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisClientQuery) query = NULL;
  int status;

  if (!(interval_s >= LEAST_INTERVAL_S && interval_s <= CTL_MAX_WAIT_S))
    return ctl_fail (CTL_USAGE, "top: --interval takes %g to %d seconds, not %g", LEAST_INTERVAL_S,
                     CTL_MAX_WAIT_S, interval_s);
  if (ctl->json || !ctl_terminal_is_screen () || !isatty (STDIN_FILENO))
    return ctl_fail (CTL_USAGE, "top needs a terminal to draw on; irisctl watch%s is for programs",
                     ctl->json ? " --json" : "");
  query = ctl_filter_make_query (&ctl->filter, "top");
  if (query == NULL)
    return CTL_USAGE;
  status = ctl_connect (ctl);

  return status == CTL_OK ? run_on_screen (ctl) : status;
}

static const GOptionEntry top_entries[] = {
  { "interval", 'i', 0, G_OPTION_ARG_DOUBLE, &interval_s, "The time between two looks (default: 1)",
    "SECONDS" },
  { NULL },
};

const CtlCommand ctl_top = {
  .name = "top",
  .arguments = "",
  .summary = "show places, services, items and limits on the whole screen",
  .description = "Keys: 1, 2, 3, 4 or Tab choose places, services, items or limits; arrows\n"
                 "select a row and Enter shows all of it; < and > sort by another column and r\n"
                 "the other way; / filters; o shows items that have ended, too; c cancels the "
                 "selected item, after\n"
                 "two questions; space stops the picture; h shows the keys, and q ends.\n\n"
                 "The options select which items are shown, the newest 1000 of them; without\n"
                 "--state those that are open or buried.\n\n"
                 "Examples:\n"
                 "  irisctl top\n"
                 "  irisctl top --service command --interval 5\n",
  .asks_only = TRUE,
  .takes_filter = TRUE,
  .entries = top_entries,
  .run = run_top,
};
