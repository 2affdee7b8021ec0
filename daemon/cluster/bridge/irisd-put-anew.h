/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A message of the stream of items, put into the stream anew.
 *
 * The stream counts how often it delivers a message, and nothing can take that back. What takes the
 * place of a message is a new one with the same bytes, of which the first delivery is the first; a
 * header says what was before. The owner acknowledges the old one when the new one is stored.
 *
 * Nodes that do not know the header count from one, and look for an end all the same. Like all
 * headers it is not signed: a node with the rights to write it could as well publish the item
 * again.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

/* What was before a message. All 0: nothing. */
typedef struct
{
  guint64 n_delivered; /* deliveries of the item */
  guint64 n_tries;     /* of these, those that may have run */
  guint64 copy;        /* what is left of it where it waited for its time; 0: nothing */
} IrisdBefore;

void irisd_before_from_text (IrisdBefore *self, const char *text);
char *irisd_before_to_text (const IrisdBefore *self);
gboolean irisd_before_read (IrisdBefore *self, const IrisdEngineMessage *message);

/* A message as it was delivered. */
typedef struct
{
  const char *subject;
  gconstpointer data;
  gsize length;
  guint64 sequence;
} IrisdDelivered;

char *irisd_put_anew_make_subject (const char *subject, const char *item);
void irisd_put_anew (const IrisdBridgeShared *shared,
                     const IrisdDelivered *delivered,
                     const char *item,
                     const IrisdBefore *before,
                     IrisdPublishFunc callback,
                     gpointer user_data);
void irisd_put_anew_withdraw (const IrisdBridgeShared *shared,
                              const char *subject,
                              const char *item,
                              guint64 sequence);

G_END_DECLS
