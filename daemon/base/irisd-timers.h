/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Timers: until a time is reached, or until something has taken too long.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The clock of a time. */
typedef enum
{
  IRISD_CLOCK_STEADY, /* the monotonic clock, for times from now on */
  IRISD_CLOCK_WALL,   /* the time of day, which may be set */
} IrisdClock;

#define IRISD_N_CLOCKS 2

/* The longest sleep while a timer waits for a time of day: it may take this long to notice that the
 * clock was set. */
#define IRISD_TIMERS_LOOK_US G_USEC_PER_SEC

/* The time of each clock, in microseconds. */
typedef struct
{
  gint64 us[IRISD_N_CLOCKS];
} IrisdTimes;

/* A timer; embed it. It does not wait if all zeroes. */
typedef struct
{
  gint64 due_us; /* when it is due, in microseconds of its clock */

  /*< private >*/
  guint64 number;
  IrisdClock clock;
  guint at; /* its place in the heap, plus one; 0: it does not wait */
} IrisdTimer;

/* All timers of a thread. */
typedef struct
{
  GPtrArray *heaps[IRISD_N_CLOCKS];
  guint64 n_added;
} IrisdTimers;

void irisd_timers_init (IrisdTimers *self);
void irisd_timers_clear (IrisdTimers *self);
void irisd_timers_add (IrisdTimers *self, IrisdTimer *timer, IrisdClock clock, gint64 due_us);
gboolean irisd_timers_remove (IrisdTimers *self, IrisdTimer *timer);
IrisdTimer *irisd_timers_pop_due (IrisdTimers *self, const IrisdTimes *now);
gint64 irisd_timers_get_delay (IrisdTimers *self, const IrisdTimes *now);
guint irisd_timers_get_count (IrisdTimers *self);
gint64 irisd_timers_get_first (IrisdTimers *self, IrisdClock clock);
IrisdTimes irisd_times_now (void);
guint64 irisd_timers_backoff_us (guint64 first_us, guint64 most_us, guint attempt, double random);

G_END_DECLS
