/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The window of keyboard shortcuts.
 */
#pragma once

#include <gtk/gtk.h>

/* Gives the window its list of shortcuts, to be opened by Ctrl+? or F1. */
void shortcuts_attach (GtkApplicationWindow *window);
