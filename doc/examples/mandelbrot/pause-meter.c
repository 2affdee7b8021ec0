/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pause meter: a source that every iteration of the main loop asks first.
 *
 * Whatever happens between the end of one poll and the beginning of the next is time in which no
 * event is looked at. The source's check() is called just after a poll and its prepare() just
 * before the next: the difference is the pause, measured without a single wake-up of its own. While
 * the program is busy there is a heartbeat as well: how late it comes is a pause of the other kind,
 * in which the thread was ready to run and no processor was free.
 *
 * Beside each pause stands how much of it the thread computed. The rest it waited: for a processor,
 * or for the display.
 */
#include "pause-meter.h"

#include <time.h>

#define HEARTBEAT_US   (10 * G_TIME_SPAN_MILLISECOND)
#define FIRST_PRIORITY (G_PRIORITY_HIGH - 100)

struct _PauseMeter
{
  GSource source;
  gint64 polled;     /* when the last poll ended; 0 while polling */
  gint64 polled_ran; /* how long the thread had run by then */
  gint64 beat_ran;   /* and when the heartbeat was wound up */
  gboolean busy;
  Pause ever;
  Pause longest[PAUSE_METER_SECONDS]; /* in each of the last seconds */
  gint64 second;                      /* the one that is counted now */
};

/* Makes the second that has begun the current one. */
static void
meter_turn (PauseMeter *self, gint64 now)
{
  gint64 second = now / G_USEC_PER_SEC;

  for (gint64 i = MAX (self->second + 1, second - PAUSE_METER_SECONDS + 1); i <= second; i++)
    self->longest[i % PAUSE_METER_SECONDS] = (Pause){ 0 };
  self->second = second;
}

/* Microseconds that the calling thread ran, ever. */
static gint64
thread_time (void)
{
  struct timespec ran = { 0 };

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ran);

  return ran.tv_sec * G_USEC_PER_SEC + ran.tv_nsec / 1000;
}

static void
meter_wind_up (PauseMeter *self)
{
  self->beat_ran = thread_time ();
  g_source_set_ready_time (&self->source, self->busy ? g_get_monotonic_time () + HEARTBEAT_US : -1);
}

static void
meter_note (PauseMeter *self, gint64 now, gint64 time, gint64 computing)
{
  Pause *lately;

  meter_turn (self, now);
  lately = &self->longest[self->second % PAUSE_METER_SECONDS];
  if (time > lately->time)
    *lately = (Pause){ time, computing };
  if (time > self->ever.time)
    self->ever = (Pause){ time, computing };
}

static gboolean
meter_prepare (GSource *source, gint *timeout)
{
  PauseMeter *self = (PauseMeter *) source;
  gint64 now = g_get_monotonic_time ();

  *timeout = -1;
  if (self->polled != 0)
    meter_note (self, now, now - self->polled, thread_time () - self->polled_ran);
  self->polled = 0;

  return FALSE;
}

static gboolean
meter_check (GSource *source)
{
  PauseMeter *self = (PauseMeter *) source;

  self->polled = g_get_monotonic_time ();
  self->polled_ran = thread_time ();

  return FALSE;
}

/* The heartbeat is due. */
static gboolean
meter_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  PauseMeter *self = (PauseMeter *) source;
  gint64 now = g_get_monotonic_time ();

  meter_note (self, now, now - g_source_get_ready_time (source), thread_time () - self->beat_ran);
  meter_wind_up (self);

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
  meter_wind_up (self);
}

void
pause_meter_get (PauseMeter *self, Pause *lately, Pause *ever)
{
  meter_turn (self, g_get_monotonic_time ());
  *lately = (Pause){ 0 };
  for (guint i = 0; i < PAUSE_METER_SECONDS; i++)
    if (self->longest[i].time > lately->time)
      *lately = self->longest[i];
  *ever = self->ever;
}

void
pause_meter_reset (PauseMeter *self)
{
  self->ever = (Pause){ 0 };
  for (guint i = 0; i < PAUSE_METER_SECONDS; i++)
    self->longest[i] = (Pause){ 0 };
}
