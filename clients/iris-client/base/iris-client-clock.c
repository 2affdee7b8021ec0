/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A GSource that runs at a deadline, or as soon as the loop turns.
 *
 * g_source_set_ready_time() would do the same, but signals the context's wake-up descriptor each
 * time, two system calls that are not needed here: only the thread that runs the loop touches the
 * clock, so the next prepare sees whatever was set. Everything that is submitted in one turn of the
 * loop is sent in one go by one dispatch.
 */
#include "iris-client-clock-private.h"

typedef struct
{
  GSource source;
  IrisClientClockFunc func;
  gpointer user_data;
  gint64 deadline; /* microseconds of the monotonic clock; 0 for none */
  gboolean awake;
} IrisClientClock;

static gboolean
iris_client_clock_is_due (IrisClientClock *self)
{
  return self->awake
         || (self->deadline != 0 && g_source_get_time (&self->source) >= self->deadline);
}

static gboolean
iris_client_clock_prepare (GSource *source, int *timeout)
{
  IrisClientClock *self = (IrisClientClock *) source;

  *timeout = -1;
  if (iris_client_clock_is_due (self))
    return TRUE;
  if (self->deadline != 0)
    {
      gint64 left_ms = (self->deadline - g_source_get_time (source) + 999) / 1000;

      *timeout = (int) MIN (left_ms, G_MAXINT);
    }
  return FALSE;
}

static gboolean
iris_client_clock_check (GSource *source)
{
  return iris_client_clock_is_due ((IrisClientClock *) source);
}

static gboolean
iris_client_clock_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  IrisClientClock *self = (IrisClientClock *) source;

  self->awake = FALSE;
  self->deadline = 0;
  self->func (self->user_data);
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs iris_client_clock_funcs = {
  iris_client_clock_prepare, iris_client_clock_check, iris_client_clock_dispatch, NULL, NULL, NULL,
};

/* @func sets the next deadline itself. */
GSource *
iris_client_clock_new (IrisClientClockFunc func, gpointer user_data)
{
  GSource *source = g_source_new (&iris_client_clock_funcs, sizeof (IrisClientClock));
  IrisClientClock *self = (IrisClientClock *) source;

  self->func = func;
  self->user_data = user_data;
  g_source_set_static_name (source, "IrisClientClock");
  return source;
}

/* Lets it run in the next turn of the loop. From the loop's own thread only. */
void
iris_client_clock_wake (GSource *source)
{
  ((IrisClientClock *) source)->awake = TRUE;
}

/* In microseconds of the monotonic clock; 0: never. */
void
iris_client_clock_set_deadline (GSource *source, gint64 deadline)
{
  ((IrisClientClock *) source)->deadline = deadline;
}
