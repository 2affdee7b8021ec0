/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a channel comes back to an irisd that was too busy: when, and with how much.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * IrisClientPace:
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
} IrisClientPace;

void
iris_client_pace_refused (IrisClientPace *self, gint64 now, guint retry_after_ms, double chance);
guint iris_client_pace_allows (IrisClientPace *self, gint64 now);
void iris_client_pace_note_sent (IrisClientPace *self, guint n);
gboolean iris_client_pace_wants_probe (const IrisClientPace *self);
gboolean iris_client_pace_probed (IrisClientPace *self, guint64 serial);

G_END_DECLS
