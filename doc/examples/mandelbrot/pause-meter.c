/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pause meter: a source that every iteration of the main loop asks first.
 *
 * Whatever happens between the end of one poll and the beginning of the next is time in which no
 * event is looked at. The source's check() is called just after a poll and its prepare() just
 * before the next: the difference is the pause, measured without a single wake-up of its own. While
 * the program is busy there is a heartbeat as well: how late it comes is a pause of the other kind,
 * in which the thread was ready to run and no processor was free.
 */
#include "pause-meter.h"

#define HEARTBEAT_US   (10 * G_TIME_SPAN_MILLISECOND)
#define FIRST_PRIORITY (G_PRIORITY_HIGH - 100)

struct _PauseMeter
{
  GSource source;
  gint64 polled; /* when the last poll ended; 0 while polling */
  gboolean busy;
  gint64 ever;
  gint64 longest[PAUSE_METER_SECONDS]; /* in each of the last seconds */
  gint64 second;                       /* the one that is counted now */
};

/* Makes the second that has begun the current one. */
static void
meter_turn (PauseMeter *self, gint64 now)
{
  gint64 second = now / G_USEC_PER_SEC;

  for (gint64 i = MAX (self->second + 1, second - PAUSE_METER_SECONDS + 1); i <= second; i++)
    self->longest[i % PAUSE_METER_SECONDS] = 0;
  self->second = second;
}

static void
meter_note (PauseMeter *self, gint64 now, gint64 pause)
{
  gint64 *lately;

  meter_turn (self, now);
  lately = &self->longest[self->second % PAUSE_METER_SECONDS];
  *lately = MAX (*lately, pause);
  self->ever = MAX (self->ever, pause);
}

static gboolean
meter_prepare (GSource *source, gint *timeout)
{
  PauseMeter *self = (PauseMeter *) source;
  gint64 now = g_get_monotonic_time ();

  *timeout = -1;
  if (self->polled != 0)
    meter_note (self, now, now - self->polled);
  self->polled = 0;

  return FALSE;
}

static gboolean
meter_check (GSource *source)
{
  ((PauseMeter *) source)->polled = g_get_monotonic_time ();
  return FALSE;
}

/* The heartbeat is due. */
static gboolean
meter_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  PauseMeter *self = (PauseMeter *) source;
  gint64 now = g_get_monotonic_time ();

  meter_note (self, now, now - g_source_get_ready_time (source));
  g_source_set_ready_time (source, self->busy ? now + HEARTBEAT_US : -1);

  return G_SOURCE_CONTINUE;
}

static GSourceFuncs meter_funcs = {
  .prepare = meter_prepare,
  .check = meter_check,
  .dispatch = meter_dispatch,
};

PauseMeter *
pause_meter_new (void)
{
  PauseMeter *self = (PauseMeter *) g_source_new (&meter_funcs, sizeof *self);

  g_source_set_static_name (&self->source, "pause meter");
  g_source_set_priority (&self->source, FIRST_PRIORITY);
  g_source_attach (&self->source, g_main_context_get_thread_default ());

  return self;
}

void
pause_meter_free (PauseMeter *self)
{
  g_source_destroy (&self->source);
  g_source_unref (&self->source);
}

void
pause_meter_set_busy (PauseMeter *self, gboolean busy)
{
  if (self->busy == busy)
    return;
  self->busy = busy;
  g_source_set_ready_time (&self->source, busy ? g_get_monotonic_time () + HEARTBEAT_US : -1);
}

void
pause_meter_get (PauseMeter *self, gint64 *lately, gint64 *ever)
{
  meter_turn (self, g_get_monotonic_time ());
  *lately = 0;
  for (guint i = 0; i < PAUSE_METER_SECONDS; i++)
    *lately = MAX (*lately, self->longest[i]);
  *ever = self->ever;
}

void
pause_meter_reset (PauseMeter *self)
{
  self->ever = 0;
  for (guint i = 0; i < PAUSE_METER_SECONDS; i++)
    self->longest[i] = 0;
}
