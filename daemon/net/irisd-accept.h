/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How connections are accepted when descriptors run out.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Descriptors that connections leave to commands, the journal and the files that items name. */
#define IRISD_SPARE_DESCRIPTORS 32

gboolean irisd_accept_init (GError **error);
gboolean irisd_accept_check_room (guint more, GError **error);
void irisd_accept_clear (void);

G_END_DECLS
