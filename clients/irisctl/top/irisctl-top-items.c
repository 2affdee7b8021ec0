/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The persistent items in irisctl top.
 */
#include "clients/irisctl/top/irisctl-top.h"

static CtlColour
colour_of (IrisClientItemState state)
{
  switch (state)
    {
    case IRIS_CLIENT_ITEM_RUNNING:
    case IRIS_CLIENT_ITEM_LEASED:
      return CTL_COLOUR_GREEN;
    case IRIS_CLIENT_ITEM_FAILED:
    case IRIS_CLIENT_ITEM_BURIED:
      return CTL_COLOUR_RED;
    case IRIS_CLIENT_ITEM_DELAYED:
      return CTL_COLOUR_YELLOW;
    case IRIS_CLIENT_ITEM_DONE:
    case IRIS_CLIENT_ITEM_CANCELLED:
      return CTL_COLOUR_FAINT;
    case IRIS_CLIENT_ITEM_ANY:
    case IRIS_CLIENT_ITEM_QUEUED:
    default:
      return CTL_COLOUR_NONE;
    }
}

static gboolean
is_open (const IrisClientItem *item)
{
  return item->state != IRIS_CLIENT_ITEM_DONE && item->state != IRIS_CLIENT_ITEM_FAILED
         && item->state != IRIS_CLIENT_ITEM_CANCELLED;
}

/* What it is to do when its time has not come, and otherwise what its time says. */
static double
time_key (const IrisClientItem *item, guint64 now_ms)
{
  return item->due_ms > now_ms && is_open (item) ? -(double) (item->due_ms - now_ms)
                                                 : (double) ctl_item_elapsed_ms (item, now_ms);
}

static void
add_item (const TopData *data, GPtrArray *rows, const IrisClientItem *item, guint64 now_ms)
{
  char *name = g_strdup_printf ("%" G_GUINT64_FORMAT, item->number);
  TopRow *row = top_row_new (rows, &top_items, name);

  row->item = item->number;
  row->open = is_open (item);
  row->colour = colour_of (item->state);
  top_row_add_value (row, (double) item->number, g_strdup (name));
  top_row_add_text (row, ctl_format_state (item));
  top_row_add_text (row, ctl_format_node_or_place (data->ctl, item));
  top_row_add_value (row, time_key (item, now_ms), ctl_format_item_time (item, now_ms));
  top_row_add_value (row, item->attempts, g_strdup_printf ("%u", item->attempts));
  top_row_add_text (row, ctl_format_owner (item));
  top_row_add_text (row, g_strdup (item->service));
  top_row_add_text (row, g_strdup (item->key));
  top_row_add_text (row, ctl_format_args ((const char *const *) item->args));
  top_row_add_text (row, g_strdup (item->durability));
  top_row_add_number (row, item->bytes);
  top_row_add_value (row, item->crashes, g_strdup_printf ("%u", item->crashes));
  top_row_add_text (row, ctl_format_time (item->accepted_ms));
  top_row_add_text (row, ctl_format_time (item->due_ms));
  top_row_add_text (row, ctl_format_time (item->started_ms));
  top_row_add_text (row, ctl_format_time (item->ended_ms));
  top_row_add_text (row, g_strdup (item->message));
}

static void
fill (const TopData *data, GPtrArray *rows)
{
  guint64 now_ms = (guint64) (g_get_real_time () / 1000);

  for (guint i = 0; data->items != NULL && i < data->items->len; i++)
    add_item (data, rows, g_ptr_array_index (data->items, i), now_ms);
}

static const TopColumn columns[] = {
  { "item", TRUE, FALSE },     { "state", FALSE, FALSE },     { "place", FALSE, FALSE },
  { "time", TRUE, FALSE },     { "tries", TRUE, FALSE },      { "owner", FALSE, FALSE },
  { "service", FALSE, FALSE }, { "key", FALSE, FALSE },       { "arguments", FALSE, FALSE },
  { "class", FALSE, TRUE },    { "bytes", TRUE, TRUE },       { "crashes", TRUE, TRUE },
  { "accepted", FALSE, TRUE }, { "due", FALSE, TRUE },        { "started", FALSE, TRUE },
  { "ended", FALSE, TRUE },    { "buried for", FALSE, TRUE },
};

const TopView top_items = {
  .name = "Items",
  .columns = columns,
  .n_columns = G_N_ELEMENTS (columns),
  .descending = TRUE,
  .empty = "no items; o shows those that have ended, too",
  .fill = fill,
};
