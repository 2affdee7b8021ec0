/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The screenshot: a window as a PNG file, without asking the display for it.
 */
#pragma once

#include <gtk/gtk.h>

/* Fails with G_IO_ERROR_PENDING while the window is about to be drawn: then try again. */
gboolean screenshot_save (GtkWindow *window, const char *path, GError **error);
