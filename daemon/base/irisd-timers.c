/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Timers: until a time is reached, or until something has taken too long.
 *
 * A binary heap for each clock, in which each timer knows its index, so that one can be removed
 * from the middle. Timers due at the same time come out in the order in which they were added. The
 * caller gives the time; only irisd_times_now() reads a clock.
 *
 * The two clocks are never converted into each other. A time from now on (a delay, the pause before
 * a retry, a time to run) is kept by the monotonic clock, which cannot be set. A time of day is
 * compared with the time of day each time: after the clock was set back it is waited for once more;
 * after it was set forward it is due, once. IRISD_TIMERS_LOOK_US bounds how late that is noticed.
 */
#include "daemon/base/irisd-timers.h"

void
irisd_timers_init (IrisdTimers *self)
{
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    self->heaps[clock] = g_ptr_array_new ();
  self->n_added = 0;
}

/* No timer waits any more. */
void
irisd_timers_clear (IrisdTimers *self)
{
  g_return_if_fail (irisd_timers_get_count (self) == 0);
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    g_clear_pointer (&self->heaps[clock], g_ptr_array_unref);
}

guint
irisd_timers_get_count (IrisdTimers *self)
{
  return self->heaps[IRISD_CLOCK_STEADY]->len + self->heaps[IRISD_CLOCK_WALL]->len;
}

static gboolean
is_before (const IrisdTimer *a, const IrisdTimer *b)
{
  return a->due_us != b->due_us ? a->due_us < b->due_us : a->number < b->number;
}

static IrisdTimer *
peek (GPtrArray *heap, guint at)
{
  return g_ptr_array_index (heap, at);
}

static void
put (GPtrArray *heap, guint at, IrisdTimer *timer)
{
  g_ptr_array_index (heap, at) = timer;
  timer->at = at + 1;
}

static void
rise (GPtrArray *heap, guint at, IrisdTimer *timer)
{
  while (at > 0 && is_before (timer, peek (heap, (at - 1) / 2)))
    {
      put (heap, at, peek (heap, (at - 1) / 2));
      at = (at - 1) / 2;
    }
  put (heap, at, timer);
}

static void
sink (GPtrArray *heap, guint at, IrisdTimer *timer)
{
  for (guint child = 2 * at + 1; child < heap->len; child = 2 * at + 1)
    {
      if (child + 1 < heap->len && is_before (peek (heap, child + 1), peek (heap, child)))
        child++;
      if (!is_before (peek (heap, child), timer))
        break;
      put (heap, at, peek (heap, child));
      at = child;
    }
  put (heap, at, timer);
}

/* @timer does not wait yet. */
void
irisd_timers_add (IrisdTimers *self, IrisdTimer *timer, IrisdClock clock, gint64 due_us)
{
  g_return_if_fail (timer->at == 0);
  *timer = (IrisdTimer){ .due_us = due_us, .number = self->n_added++, .clock = clock };
  g_ptr_array_add (self->heaps[clock], timer);
  rise (self->heaps[clock], self->heaps[clock]->len - 1, timer);
}

gboolean
irisd_timers_remove (IrisdTimers *self, IrisdTimer *timer)
{
  if (timer->at == 0)
    return FALSE;
  GPtrArray *heap = self->heaps[timer->clock];
  guint at = timer->at - 1;
  IrisdTimer *last = g_ptr_array_steal_index (heap, heap->len - 1);
  timer->at = 0;
  if (last == timer)
    return TRUE;
  if (at > 0 && is_before (last, peek (heap, (at - 1) / 2)))
    rise (heap, at, last);
  else
    sink (heap, at, last);
  return TRUE;
}

/* Returns a timer that is due, and no longer waits; or NULL. */
IrisdTimer *
irisd_timers_pop_due (IrisdTimers *self, const IrisdTimes *now)
{
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    {
      GPtrArray *heap = self->heaps[clock];
      if (heap->len == 0 || peek (heap, 0)->due_us > now->us[clock])
        continue;
      IrisdTimer *timer = peek (heap, 0);
      irisd_timers_remove (self, timer);
      return timer;
    }
  return NULL;
}

/* Returns after how many microseconds to look again, 0 if a timer is due; -1 if none waits. */
gint64
irisd_timers_get_delay (IrisdTimers *self, const IrisdTimes *now)
{
  gint64 delay = -1;
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    {
      GPtrArray *heap = self->heaps[clock];
      if (heap->len == 0)
        continue;
      gint64 due_us = peek (heap, 0)->due_us;
      gint64 left = due_us <= now->us[clock] ? 0 : due_us - now->us[clock];
      if (clock == IRISD_CLOCK_WALL)
        left = MIN (left, IRISD_TIMERS_LOOK_US);
      delay = delay < 0 ? left : MIN (delay, left);
    }
  return delay;
}

/* Returns when the first timer of that clock is due; G_MAXINT64 if none waits. */
gint64
irisd_timers_get_first (IrisdTimers *self, IrisdClock clock)
{
  return self->heaps[clock]->len > 0 ? peek (self->heaps[clock], 0)->due_us : G_MAXINT64;
}

IrisdTimes
irisd_times_now (void)
{
  return (IrisdTimes){ .us = { [IRISD_CLOCK_STEADY] = g_get_monotonic_time (),
                               [IRISD_CLOCK_WALL] = g_get_real_time () } };
}

/* Returns the pause, in microseconds, before an item is tried again after @attempt runs, from 1: it
 * doubles from @first_us to @most_us, and half of it is random (@random is from 0 to below 1), so
 * that items which failed together do not come back together (“equal jitter” in M. Brooker,
 * Exponential Backoff and Jitter, AWS Architecture Blog, 2015). */
guint64
irisd_timers_backoff_us (guint64 first_us, guint64 most_us, guint attempt, double random)
{
  guint64 pause = MIN (first_us, most_us);
  for (guint i = 1; i < attempt && pause < most_us && pause > 0; i++)
    pause = pause > most_us / 2 ? most_us : pause * 2;
  guint64 half = pause / 2, other_half = pause - half;
  return half + (guint64) ((double) other_half * random);
}
