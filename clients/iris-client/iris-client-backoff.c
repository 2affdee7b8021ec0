/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a channel comes back to an irisd that was too busy: when, and with how much.
 *
 * When: not before irisd said, and each time that it refuses again the pause is twice as long, up
 * to a limit. Up to half a pause is left to chance and comes on top, so that clients which were
 * refused together do not come back together.
 *
 * With how much: one item. A PING goes behind it, and as irisd answers in order, a PONG without a
 * BUSY before it says that the item was taken. Then two may go, then four, and so on. So while
 * irisd is full it refuses one item for each pause, however many wait, and a moment after it has
 * room the channel is as fast as before.
 */
#include "iris-client-backoff-private.h"

/* The longest pause, unless irisd asks for a longer one. */
#define MOST_PAUSE_MS 2000

/* A window of more than any credit is none. */
#define MOST_WINDOW 4096

/* Something was refused. Items sent together are refused together, and count once. */
void
iris_client_backoff_refused (IrisClientBackoff *self,
                             gint64 now,
                             guint retry_after_ms,
                             double chance)
{
  guint pause_ms = MAX (retry_after_ms, 1);

  if (self->since == 0)
    self->since = now;
  self->probe = 0;
  if (self->resume_at > now)
    {
      self->resume_at = MAX (self->resume_at, now + pause_ms * G_TIME_SPAN_MILLISECOND);
      return;
    }
  if (self->pause_ms > 0)
    pause_ms = MAX (pause_ms, MIN (self->pause_ms * 2, MOST_PAUSE_MS));
  self->pause_ms = pause_ms;
  self->window = 1;
  self->sent = 0;
  self->resume_at = now + pause_ms * G_TIME_SPAN_MILLISECOND
                    + (gint64) (chance * pause_ms * G_TIME_SPAN_MILLISECOND / 2);
}

/* How many items may be sent now. */
guint
iris_client_backoff_allows (IrisClientBackoff *self, gint64 now)
{
  if (now < self->resume_at || self->probe != 0)
    return 0;
  self->resume_at = 0;
  return self->window == 0 ? G_MAXUINT : self->window - self->sent;
}

void
iris_client_backoff_note_sent (IrisClientBackoff *self, guint n)
{
  if (self->window > 0)
    self->sent += n;
}

/* Whether a PING has to follow what was sent; its serial becomes @probe. */
gboolean
iris_client_backoff_wants_probe (const IrisClientBackoff *self)
{
  return self->window > 0 && self->sent > 0 && self->probe == 0 && self->resume_at == 0;
}

/* Whether the PONG to the PING @serial says that irisd takes items again. */
gboolean
iris_client_backoff_probed (IrisClientBackoff *self, guint64 serial)
{
  if (self->probe == 0 || serial != self->probe)
    return FALSE;
  self->window = self->window < MOST_WINDOW ? self->window * 2 : 0;
  self->since = 0;
  self->pause_ms = 0;
  self->sent = 0;
  self->probe = 0;
  return TRUE;
}
