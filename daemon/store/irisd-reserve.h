/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A file that only takes up space, to be given up when the disk is full.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One thread at a time. */
typedef struct
{
  gboolean held; /* the file is there */

  /*< private >*/
  char *path;
  guint64 size; /* at most an eighth of the disk */
} IrisdReserve;

void irisd_reserve_init (IrisdReserve *self, const char *dir, guint64 size);
void irisd_reserve_clear (IrisdReserve *self);
gboolean irisd_reserve_has_room (const IrisdReserve *self, double share);
gboolean irisd_reserve_take (IrisdReserve *self, gboolean keep_slack);
gboolean irisd_reserve_give_up (IrisdReserve *self);

G_END_DECLS
