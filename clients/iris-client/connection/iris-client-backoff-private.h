/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a channel comes back to an irisd that was too busy: when, and with how much.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * IrisClientBackoff:
 * @resume_at: nothing is sent before; 0 if there is no pause
 * @since: since when irisd refuses; 0 if it does not
 * @pause_ms: the last pause, without the part that is left to chance
 * @window: how much may be sent before irisd is known to have taken it; 0 if credit alone decides
 * @sent: how much of that was sent
 * @probe: the serial of the PING that was sent behind it; 0 if there is none
 *
 * A channel's backing off.
 */
typedef struct
{
  gint64 resume_at;
  gint64 since;
  guint pause_ms;
  guint window;
  guint sent;
  guint64 probe;
} IrisClientBackoff;

void iris_client_backoff_refused (IrisClientBackoff *self,
                                  gint64 now,
                                  guint retry_after_ms,
                                  double chance);
guint iris_client_backoff_allows (IrisClientBackoff *self, gint64 now);
void iris_client_backoff_note_sent (IrisClientBackoff *self, guint n);
gboolean iris_client_backoff_wants_probe (const IrisClientBackoff *self);
gboolean iris_client_backoff_probed (IrisClientBackoff *self, guint64 serial);

G_END_DECLS
