/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tally of a store: how many rows it should hold, so that missing ones are counted.
 */
#pragma once

#include "daemon/store/irisd-store.h"

G_BEGIN_DECLS

/* Added to the database's name: the file with a second copy of the tally. */
#define IRISD_TALLY_SUFFIX "-count"

typedef struct
{
  guint64 sequence; /* transactions since the store was made; 0: the tally is unknown */
  guint64 n_rows;   /* rows in the store */
  guint64 id_sum;   /* the sum of their numbers, modulo 2^64 */
  guint64 n_put;    /* rows that were ever added */
  guint64 next_id;  /* the remembered number, greater than all in use */
} IrisdTally;

guint32 irisd_tally_checksum (const IrisdTally *self);
void irisd_tally_add (IrisdTally *self, guint64 id);
void irisd_tally_remove (IrisdTally *self, guint64 id);
int irisd_tally_open_file (const char *database);
gboolean irisd_tally_read_file (const char *database, IrisdTally *self);
void irisd_tally_write_file (int fd, const IrisdTally *self);
void irisd_tally_judge (const IrisdTally *mark,
                        const IrisdTally *file,
                        const IrisdTally *found,
                        IrisdStoreDamage *damage);

G_END_DECLS
