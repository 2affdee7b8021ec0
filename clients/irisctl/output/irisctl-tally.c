/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tally of a map: what each place was hinted, ran and stole.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <string.h>

void
ctl_tally_init (CtlTally *self, GPtrArray *places)
{
  *self = (CtlTally){ .n_rows = places->len, .total.name = "total" };
  self->rows = g_new0 (CtlTallyRow, places->len);
  for (guint i = 0; i < places->len; i++)
    self->rows[i].name = ((const IrisClientPlace *) g_ptr_array_index (places, i))->name;
}

void
ctl_tally_clear (CtlTally *self)
{
  for (guint i = 0; i < self->n_away; i++)
    g_free ((char *) self->away[i].name);
  g_clear_pointer (&self->away, g_free);
  g_clear_pointer (&self->rows, g_free);
}

static CtlTallyRow *
row_of (CtlTally *self, int place)
{
  return place >= 0 && (guint) place < self->n_rows ? &self->rows[place] : NULL;
}

void
ctl_tally_hint (CtlTally *self, int place)
{
  CtlTallyRow *row = row_of (self, place);

  if (row == NULL)
    return;
  row->hinted++;
  self->total.hinted++;
}

static void
count_run (CtlTally *self, CtlTallyRow *row, guint64 bytes, guint64 run_ns)
{
  row->executed++;
  row->bytes += bytes;
  row->run_ns += run_ns;
  self->total.executed++;
  self->total.bytes += bytes;
  self->total.run_ns += run_ns;
}

void
ctl_tally_ran_away (CtlTally *self, const char *node, int place, guint64 bytes, guint64 run_ns)
{
  g_autofree char *name = place >= 0 ? g_strdup_printf ("%s/%d", node, place) : g_strdup (node);
  guint i = 0;

  /* In their order: n2/9 before n2/10. */
  while (i < self->n_away && strverscmp (self->away[i].name, name) < 0)
    i++;
  if (i == self->n_away || !g_str_equal (self->away[i].name, name))
    {
      self->away = g_renew (CtlTallyRow, self->away, self->n_away + 1);
      memmove (&self->away[i + 1], &self->away[i], (self->n_away++ - i) * sizeof *self->away);
      self->away[i] = (CtlTallyRow){ .name = g_steal_pointer (&name) };
    }
  count_run (self, &self->away[i], bytes, run_ns);
}

void
ctl_tally_ran (CtlTally *self, int home, int place, guint64 bytes, guint64 run_ns)
{
  CtlTallyRow *from = row_of (self, home);
  CtlTallyRow *row = row_of (self, place);

  if (row == NULL)
    return;
  count_run (self, row, bytes, run_ns);
  if (from == NULL || from == row)
    return;
  row->stolen_in++;
  from->stolen_out++;
  self->total.stolen_in++;
  self->total.stolen_out++;
}

static void
add_row (CtlTable *table, const CtlTallyRow *row)
{
  ctl_table_add (table, g_strdup (row->name), ctl_number (row->hinted), ctl_number (row->executed),
                 ctl_number (row->stolen_in), ctl_number (row->stolen_out), ctl_number (row->bytes),
                 ctl_seconds (row->run_ns));
}

char *
ctl_tally_to_string (const CtlTally *self)
{
  static const char *const headings[] = { "place",       ">hinted", ">executed", ">stolen in",
                                          ">stolen out", ">bytes",  ">seconds",  NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, FALSE);

  for (guint i = 0; i < self->n_rows; i++)
    add_row (table, &self->rows[i]);
  for (guint i = 0; i < self->n_away; i++)
    add_row (table, &self->away[i]);
  ctl_table_add_line (table);
  add_row (table, &self->total);

  return ctl_table_to_string (table);
}

static void
row_to_json (const CtlTallyRow *row, JsonBuilder *builder)
{
  json_builder_begin_object (builder);
  ctl_json_string (builder, "place", row->name);
  ctl_json_int (builder, "hinted", (gint64) row->hinted);
  ctl_json_int (builder, "executed", (gint64) row->executed);
  ctl_json_int (builder, "stolen_in", (gint64) row->stolen_in);
  ctl_json_int (builder, "stolen_out", (gint64) row->stolen_out);
  ctl_json_int (builder, "bytes", (gint64) row->bytes);
  ctl_json_double (builder, "seconds", row->run_ns / 1e9);
  json_builder_end_object (builder);
}

void
ctl_tally_to_json (const CtlTally *self, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "places");
  json_builder_begin_array (builder);
  for (guint i = 0; i < self->n_rows; i++)
    row_to_json (&self->rows[i], builder);
  for (guint i = 0; i < self->n_away; i++)
    row_to_json (&self->away[i], builder);
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "total");
  row_to_json (&self->total, builder);
}
