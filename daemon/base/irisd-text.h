/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Strangers' bytes, made fit for a sentence.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

char *irisd_text_quote (const char *bytes, gssize size, guint max_characters);

G_END_DECLS
