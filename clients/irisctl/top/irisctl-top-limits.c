/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The limits of irisd in irisctl top, and what is near them.
 */
#include "clients/irisctl/top/irisctl-top.h"

static guint64
find_busy_before (const TopData *data, const IrisWireLimitStatistics *limit)
{
  for (guint i = 0; data->before != NULL && i < data->before->n_limits; i++)
    if (g_str_equal (data->before->limits[i].name, limit->name))
      return data->before->limits[i].busy;

  return limit->busy;
}

static char *
list_users (const IrisWireLimitStatistics *limit)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < limit->n_users; i++)
    g_string_append_printf (text, "%s%s %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT,
                            i > 0 ? ", " : "", limit->users[i].name, limit->users[i].used,
                            limit->users[i].value);

  return g_string_free (text, FALSE);
}

static void
add_limit (const TopData *data, GPtrArray *rows, const IrisWireLimitStatistics *limit)
{
  TopRow *row = top_row_new (rows, &top_limits, g_strdup (limit->name));
  const double part = limit->counted && limit->value > 0
                          ? (double) limit->used / (double) limit->value
                          : -1;
  const double busy = top_data_rate (data, limit->busy, find_busy_before (data, limit));

  if (busy > 0 || part >= 1)
    row->colour = CTL_COLOUR_YELLOW;
  top_row_add_text (row, g_strdup (limit->name));
  top_row_add_number (row, limit->value);
  if (limit->counted)
    top_row_add_number (row, limit->used);
  else
    top_row_add_value (row, -1, g_strdup ("-"));
  top_row_add_value (row, part, part < 0 ? g_strdup ("-") : g_strdup_printf ("%.0f%%", 100 * part));
  top_row_add_number (row, limit->busy);
  top_row_add_rate (row, busy);
  top_row_add_text (row, list_users (limit));
}

static void
fill (const TopData *data, GPtrArray *rows)
{
  for (guint i = 0; data->now != NULL && i < data->now->n_limits; i++)
    add_limit (data, rows, &data->now->limits[i]);
}

static const TopColumn columns[] = {
  { "limit", FALSE, FALSE },   { "value", TRUE, FALSE },   { "used", TRUE, FALSE },
  { "part", TRUE, FALSE },     { "refused", TRUE, FALSE }, { "refused/s", TRUE, FALSE },
  { "nearest", FALSE, FALSE },
};

const TopView top_limits = {
  .name = "Limits",
  .columns = columns,
  .n_columns = G_N_ELEMENTS (columns),
  .sort_by = 3,
  .descending = TRUE,
  .empty = "no limits",
  .fill = fill,
};
