/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several ends in one message to their home, because each message costs two servers and two
 * threads.
 *
 * An end alone is sent as it is. A pack is "IRSP", then each end behind its length, of four bytes,
 * the greatest first. Nothing is signed but the ends themselves. A home of an older irisd does not
 * know packs: it finds the ends in their stream some seconds later.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An end that would make it longer than this begins another pack. */
#define IRISD_END_PACK_MOST (32 * 1024)

typedef struct
{
  GByteArray *bytes;
  guint n;
} IrisdEndPack;

typedef void (*IrisdEndPackFunc) (gconstpointer end, gsize size, gpointer user_data);

IrisdEndPack *irisd_end_pack_new (void);
void irisd_end_pack_free (IrisdEndPack *self);
gboolean irisd_end_pack_add (IrisdEndPack *self, gconstpointer end, gsize size);
gconstpointer irisd_end_pack_get_message (const IrisdEndPack *self, gsize *size);
void irisd_end_pack_clear (IrisdEndPack *self);

void
irisd_end_pack_read (gconstpointer message, gsize size, IrisdEndPackFunc func, gpointer user_data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdEndPack, irisd_end_pack_free)

G_END_DECLS
