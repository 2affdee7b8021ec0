/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lines like those of sha256sum.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

char *irisctl_line (const char *result, const char *path);

G_END_DECLS
