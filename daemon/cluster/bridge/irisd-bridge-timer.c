/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A timer of the cluster thread; see irisd-bridge-timer.h.
 */
#include "irisd-bridge-timer.h"

typedef struct
{
  GSource source;
  gint64 due_us;
} Timer;

static gboolean
timer_prepare (GSource *source, int *timeout_ms)
{
  const Timer *self = (Timer *) source;
  gint64 left_us;

  *timeout_ms = -1;
  if (self->due_us == G_MAXINT64)
    return FALSE;
  left_us = self->due_us - g_source_get_time (source);
  *timeout_ms = (int) CLAMP (left_us / 1000 + 1, 0, G_MAXINT);
  return left_us <= 0;
}

static gboolean
timer_check (GSource *source)
{
  return ((Timer *) source)->due_us <= g_source_get_time (source);
}

static gboolean
timer_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

GSource *
irisd_bridge_timer_new (GMainContext *context,
                        const char *name,
                        GSourceFunc rung,
                        gpointer user_data)
{
  static GSourceFuncs funcs = {
    .prepare = timer_prepare,
    .check = timer_check,
    .dispatch = timer_dispatch,
  };
  GSource *self = g_source_new (&funcs, sizeof (Timer));

  ((Timer *) self)->due_us = G_MAXINT64;
  g_source_set_callback (self, rung, user_data, NULL);
  g_source_set_static_name (self, name);
  g_source_attach (self, context);
  return self;
}

void
irisd_bridge_timer_set (GSource *timer, gint64 due_us)
{
  ((Timer *) timer)->due_us = due_us;
}

void
irisd_bridge_timer_hurry (GSource *timer, gint64 due_us)
{
  Timer *self = (Timer *) timer;

  self->due_us = MIN (self->due_us, due_us);
}
