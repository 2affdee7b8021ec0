/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tells the desktop of the user's session that an item has ended.
 */
#include "clients/irisctl/output/irisctl-output.h"

void
ctl_notify (const char *item, const char *outcome)
{
  static gboolean missing;
  g_autofree char *title = g_strdup_printf ("irisd: %s", item);
  g_autofree char *program = g_find_program_in_path ("notify-send");
  const char *const words[] = { program, "--app-name=irisctl", "--", title, outcome, NULL };
  g_autoptr (GError) error = NULL;

  if (missing)
    return;
  /* Waited for, so that it is shown before this program ends. */
  missing = program == NULL
            || !g_spawn_sync (NULL, (char **) words, NULL,
                              G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                              NULL, NULL, NULL, &error);
  if (missing)
    g_printerr ("irisctl: --notify: the desktop cannot be told: %s\n",
                error != NULL ? error->message : "there is no notify-send (Debian: libnotify-bin)");
}
