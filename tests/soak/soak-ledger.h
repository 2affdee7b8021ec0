/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ledger: the accepted items of a client, and their ends.
 */
#pragma once

#include "soak.h"

typedef struct
{
  guint64 item;   /* its number; 0 while it is not known to be accepted */
  guint ends;     /* how often an end came */
  gboolean plain; /* its result is its payload */
} SoakEntry;

typedef struct
{
  SoakFigures *figures;
  GArray *entries;
  GHashTable *sent; /* request id → index of the entry, of this connection */
  guint open;       /* of those, how many have neither ended nor been refused */
  guint refused;
  gsize padding; /* bytes that each payload has beyond its number */
  GString *payload;
} SoakLedger;

void soak_ledger_init (SoakLedger *self, SoakFigures *figures);
void soak_ledger_clear (SoakLedger *self);
void soak_ledger_fill (SoakLedger *self,
                       Client *client,
                       IrisWireMessage *item,
                       const char *service,
                       guint klass);
void soak_ledger_send (SoakLedger *self, Client *client, const IrisWireMessage *item);
SoakEntry *soak_ledger_take (SoakLedger *self, const IrisWireMessage *message);
void soak_ledger_forget_connection (SoakLedger *self);
void soak_ledger_demand (SoakLedger *self, const char *front);
