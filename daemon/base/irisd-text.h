/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bytes from outside, made fit for a message.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

char *irisd_text_quote (const char *bytes, gssize size, guint max_characters);

G_END_DECLS
