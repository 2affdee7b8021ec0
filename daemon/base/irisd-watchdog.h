/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The watchdog: finds out whether every gateway makes progress, for the service manager.
 *
 * A gateway without work sleeps without end, so a count of its turns would say nothing. The main
 * thread begins a round and wakes all gateways; a gateway answers at the head of its turn. The
 * service manager is told that irisd is alive only if all have answered. Each round wakes each
 * gateway once, so rounds are half of the service manager's time apart.
 *
 * The main thread writes the round, a gateway its answer. No data hangs on either, so relaxed
 * orders do: a load that is late delays an answer by a turn.
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

typedef struct
{
  _Alignas(64) _Atomic guint64 round; /* the last one that its thread has answered */
} IrisdWatchdogAnswer;

typedef struct
{
  _Alignas(64) _Atomic guint64 round;
  IrisdWatchdogAnswer *answers;
  guint n_answers;
  gint64 period_us; /* 0: the service manager wants none */
  gint64 due_us;    /* of the next look */
} IrisdWatchdog;

typedef enum
{
  IRISD_WATCHDOG_EARLY, /* there was nothing to look at */
  IRISD_WATCHDOG_ALIVE, /* all have answered: tell the service manager, and wake all */
  IRISD_WATCHDOG_STUCK, /* one has not */
} IrisdWatchdogVerdict;

void irisd_watchdog_init (IrisdWatchdog *self, guint n_answers, gint64 period_us, gint64 now_us);
void irisd_watchdog_clear (IrisdWatchdog *self);
gint64 irisd_watchdog_get_wanted_us (void);
IrisdWatchdogVerdict irisd_watchdog_look (IrisdWatchdog *self, gint64 now_us, guint *stuck);

static inline void
irisd_watchdog_answer (IrisdWatchdog *self, guint index)
{
  guint64 round = atomic_load_explicit (&self->round, memory_order_relaxed);
  /* One writer. Most turns find nothing new, and write nothing. */
  if (round > 0
      && atomic_load_explicit (&self->answers[index].round, memory_order_relaxed) != round)
    atomic_store_explicit (&self->answers[index].round, round, memory_order_relaxed);
}

G_END_DECLS
