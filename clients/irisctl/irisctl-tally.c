/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What ran where: the table at the end of irisctl map.
 *
 * It counts this command's own items, from what irisd says of each: where it was queued and where
 * it ran. irisd's own counters would count those of other clients as well.
 */
#include "irisctl-tally.h"

#include "irisctl-table.h"

static void
clear_row (gpointer row)
{
  g_free (((IrisctlTallyRow *) row)->name);
}

IrisctlTally *
irisctl_tally_new (GPtrArray *places)
{
  IrisctlTally *self = g_new0 (IrisctlTally, 1);

  self->rows = g_array_sized_new (FALSE, TRUE, sizeof (IrisctlTallyRow), places->len);
  g_array_set_clear_func (self->rows, clear_row);
  for (guint i = 0; i < places->len; i++)
    {
      IrisClientPlace *place = g_ptr_array_index (places, i);
      IrisctlTallyRow row = { .id = place->id, .name = g_strdup (place->name) };

      g_array_append_val (self->rows, row);
    }
  return self;
}

void
irisctl_tally_free (IrisctlTally *self)
{
  g_array_unref (self->rows);
  g_free (self);
}

/* The row of a place; NULL for -1 and for a place that was not in the map. */
static IrisctlTallyRow *
row_of (IrisctlTally *self, int place)
{
  for (guint i = 0; i < self->rows->len; i++)
    {
      IrisctlTallyRow *row = &g_array_index (self->rows, IrisctlTallyRow, i);

      if (row->id == place)
        return row;
    }
  return NULL;
}

/* Counts an item that was sent with a hint. */
void
irisctl_tally_hinted (IrisctlTally *self, int place)
{
  IrisctlTallyRow *row = row_of (self, place);

  if (row == NULL)
    return;
  row->hinted++;
  self->total.hinted++;
}

/* Counts an item that ran, well or not. */
void
irisctl_tally_ended (IrisctlTally *self, int home, int place, guint64 bytes, guint64 run_ns)
{
  IrisctlTallyRow *here = row_of (self, place);
  IrisctlTallyRow *there = row_of (self, home);

  if (here == NULL)
    return;
  here->executed++;
  here->bytes += bytes;
  here->run_ns += run_ns;
  self->total.executed++;
  self->total.bytes += bytes;
  self->total.run_ns += run_ns;
  if (there == NULL || there == here)
    return;
  here->stolen_in++;
  there->stolen_out++;
  self->total.stolen_in++;
  self->total.stolen_out++;
}

static void
add_row (IrisctlTable *table, const IrisctlTallyRow *row)
{
  irisctl_table_addf (table, "%" G_GUINT64_FORMAT, row->hinted);
  irisctl_table_addf (table, "%" G_GUINT64_FORMAT, row->executed);
  irisctl_table_addf (table, "%" G_GUINT64_FORMAT, row->stolen_in);
  irisctl_table_addf (table, "%" G_GUINT64_FORMAT, row->stolen_out);
  irisctl_table_addf (table, "%" G_GUINT64_FORMAT, row->bytes);
  irisctl_table_addf (table, "%.3f", (double) row->run_ns / 1e9);
}

char *
irisctl_tally_format (IrisctlTally *self)
{
  g_autoptr (IrisctlTable)
      table = irisctl_table_new ("PLACE|>HINTED|>EXECUTED|>STOLEN IN|>STOLEN OUT|>BYTES|>SECONDS");

  for (guint i = 0; i < self->rows->len; i++)
    {
      const IrisctlTallyRow *row = &g_array_index (self->rows, IrisctlTallyRow, i);

      irisctl_table_addf (table, "%d %s", row->id, row->name);
      add_row (table, row);
    }
  irisctl_table_add_rule (table);
  irisctl_table_add (table, "total");
  add_row (table, &self->total);
  return irisctl_table_format (table);
}

static void
add_row_as_json (JsonBuilder *json, const IrisctlTallyRow *row)
{
  irisctl_json_int (json, "hinted", (gint64) row->hinted);
  irisctl_json_int (json, "executed", (gint64) row->executed);
  irisctl_json_int (json, "stolen-in", (gint64) row->stolen_in);
  irisctl_json_int (json, "stolen-out", (gint64) row->stolen_out);
  irisctl_json_int (json, "bytes", (gint64) row->bytes);
  irisctl_json_double (json, "seconds", (double) row->run_ns / 1e9);
}

/* Adds the members `places` and `total` to the object being built. */
void
irisctl_tally_as_json (IrisctlTally *self, JsonBuilder *json)
{
  json_builder_set_member_name (json, "places");
  json_builder_begin_array (json);
  for (guint i = 0; i < self->rows->len; i++)
    {
      const IrisctlTallyRow *row = &g_array_index (self->rows, IrisctlTallyRow, i);

      json_builder_begin_object (json);
      irisctl_json_int (json, "id", row->id);
      irisctl_json_string (json, "name", row->name);
      add_row_as_json (json, row);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "total");
  json_builder_begin_object (json);
  add_row_as_json (json, &self->total);
  json_builder_end_object (json);
}
