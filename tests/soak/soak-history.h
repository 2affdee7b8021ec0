/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The history: the accepted items of a client, and their ends.
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
} SoakHistory;

void soak_history_init (SoakHistory *self, SoakFigures *figures);
void soak_history_clear (SoakHistory *self);
void soak_history_fill (SoakHistory *self,
                        Client *client,
                        IrisWireMessage *item,
                        const char *service,
                        guint klass);
void soak_history_send (SoakHistory *self, Client *client, const IrisWireMessage *item);
SoakEntry *soak_history_take (SoakHistory *self, const IrisWireMessage *message);
void soak_history_forget_connection (SoakHistory *self);
void soak_history_demand (SoakHistory *self, const char *front);
