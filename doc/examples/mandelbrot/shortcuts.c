/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The window of keyboard shortcuts: a list, turned into what GtkBuilder reads.
 */
#include "shortcuts.h"

static const struct
{
  const char *keys, *title;
} shortcuts[] = {
  { "Left Right Up Down", "Move" },
  { "plus", "Zoom in" },
  { "minus", "Zoom out" },
  { "<Control>0", "Whole set" },
  { "F5 <Control>r", "Draw again" },
  { "<Control>p", "Forget the longest pauses" },
  { "<Control>question F1", "These shortcuts" },
  { "<Control>q", "Quit" },
};

void
shortcuts_attach (GtkApplicationWindow *window)
{
  g_autoptr (GString) text = g_string_new (
      "<interface><object class='GtkShortcutsWindow' id='shortcuts'>"
      "<property name='modal'>1</property><child><object class='GtkShortcutsSection'>"
      "<child><object class='GtkShortcutsGroup'>"
      "<property name='title'>The mouse drags and zooms; these keys do the rest</property>");
  g_autoptr (GtkBuilder) builder = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      g_autofree char *keys = g_markup_escape_text (shortcuts[i].keys, -1);

      g_string_append_printf (text,
                              "<child><object class='GtkShortcutsShortcut'>"
                              "<property name='accelerator'>%s</property>"
                              "<property name='title'>%s</property></object></child>",
                              keys, shortcuts[i].title);
    }
  g_string_append (text, "</object></child></object></child></object></interface>");
  builder = gtk_builder_new_from_string (text->str, (gssize) text->len);
  gtk_application_window_set_help_overlay (
      window, GTK_SHORTCUTS_WINDOW (gtk_builder_get_object (builder, "shortcuts")));
}
