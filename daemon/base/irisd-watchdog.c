/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The watchdog: finds out whether every gateway makes progress, for the service manager.
 */
#include "daemon/base/irisd-watchdog.h"

#include <unistd.h>

/* Rounds in the service manager's time; looks in it while an answer is missing. */
#define ROUNDS_PER_PERIOD 2
#define LOOKS_PER_PERIOD  8

/* Returns after how many microseconds without a sign of life the service manager ends irisd
 * (sd_watchdog_enabled(3)); 0 if it never does. */
gint64
irisd_watchdog_get_wanted_us (void)
{
  const char *period = g_getenv ("WATCHDOG_USEC");
  const char *pid = g_getenv ("WATCHDOG_PID");
  guint64 us = 0, wanted = 0;
  if (period == NULL || !g_ascii_string_to_unsigned (period, 10, 1, G_MAXINT64, &us, NULL))
    return 0;
  if (pid != NULL
      && (!g_ascii_string_to_unsigned (pid, 10, 1, G_MAXINT, &wanted, NULL)
          || wanted != (guint64) getpid ()))
    return 0;
  return (gint64) us;
}

/* @n_answers threads answer; @period_us is 0 for no watchdog. */
void
irisd_watchdog_init (IrisdWatchdog *self, guint n_answers, gint64 period_us, gint64 now_us)
{
  self->answers = g_aligned_alloc0 (n_answers, sizeof *self->answers, 64);
  self->n_answers = n_answers;
  self->period_us = period_us;
  self->due_us = now_us;
}

void
irisd_watchdog_clear (IrisdWatchdog *self)
{
  g_aligned_free (self->answers);
  self->answers = NULL;
}

/* Begins the next round if all have answered the last one. Else sets @stuck to the index of the
 * first that has not. */
IrisdWatchdogVerdict
irisd_watchdog_look (IrisdWatchdog *self, gint64 now_us, guint *stuck)
{
  if (self->period_us == 0 || now_us < self->due_us)
    return IRISD_WATCHDOG_EARLY;
  guint64 round = atomic_load_explicit (&self->round, memory_order_relaxed);
  for (guint i = 0; i < self->n_answers; i++)
    if (atomic_load_explicit (&self->answers[i].round, memory_order_relaxed) != round)
      {
        *stuck = i;
        self->due_us = now_us + self->period_us / LOOKS_PER_PERIOD;
        return IRISD_WATCHDOG_STUCK;
      }
  atomic_store_explicit (&self->round, round + 1, memory_order_relaxed);
  self->due_us = now_us + self->period_us / ROUNDS_PER_PERIOD;
  return IRISD_WATCHDOG_ALIVE;
}
