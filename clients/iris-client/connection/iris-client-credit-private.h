/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much irisd lets a connection have in flight, and how much of that is used.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint items;   /* granted */
  guint64 bytes; /* granted */
  guint used_items;
  guint64 used_bytes;
  guint ended_items;   /* of those used: ended, and not given back yet */
  guint64 ended_bytes; /* of those used: held by ended items */
} IrisClientCredit;

void iris_client_credit_init (IrisClientCredit *self, guint items, guint64 bytes);
gboolean iris_client_credit_allows (const IrisClientCredit *self, gsize size);
void iris_client_credit_take (IrisClientCredit *self, gsize size);
void iris_client_credit_refund (IrisClientCredit *self, gsize size);
void iris_client_credit_end (IrisClientCredit *self, gsize size, gsize result_size);
gboolean iris_client_credit_ack_due (const IrisClientCredit *self);
guint iris_client_credit_ack (IrisClientCredit *self);

G_END_DECLS
