/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item is given to work on: a file, or standard input.
 */
#pragma once

#include <gio/gio.h>

GBytes *ctl_read_stdin (GError **error);
GBytes *ctl_read_file (const char *path, GError **error);
