/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A timer that is set often: it rings when it is due, and setting it wakes nothing.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-bridge-timer.h"

#include <check.h>

#define HOUR_US ((gint64) 3600 * G_USEC_PER_SEC)

typedef struct
{
  GSource *timer;
  guint n_rung;
} Rings;

static gboolean
on_rung (gpointer data)
{
  Rings *self = data;

  self->n_rung++;
  irisd_bridge_timer_set (self->timer, G_MAXINT64);
  return G_SOURCE_CONTINUE;
}

static void
end (GMainContext *context, Rings *rings)
{
  g_source_destroy (rings->timer);
  g_source_unref (rings->timer);
  g_main_context_unref (context);
}

TEST (it_rings_once_when_it_is_due)
{
  GMainContext *context = g_main_context_new ();
  Rings rings = { NULL, 0 };

  rings.timer = irisd_bridge_timer_new (context, "test", on_rung, &rings);
  ck_assert (!g_main_context_iteration (context, FALSE));
  irisd_bridge_timer_set (rings.timer, g_get_monotonic_time () + 5000);
  while (rings.n_rung == 0)
    g_main_context_iteration (context, TRUE);
  ck_assert (!g_main_context_iteration (context, FALSE));
  ck_assert_uint_eq (rings.n_rung, 1);
  end (context, &rings);
}

TEST (hurry_only_brings_it_forward)
{
  GMainContext *context = g_main_context_new ();
  Rings rings = { NULL, 0 };
  gint64 now = g_get_monotonic_time ();

  rings.timer = irisd_bridge_timer_new (context, "test", on_rung, &rings);
  irisd_bridge_timer_hurry (rings.timer, now + HOUR_US);
  g_main_context_iteration (context, FALSE);
  ck_assert_uint_eq (rings.n_rung, 0);
  irisd_bridge_timer_hurry (rings.timer, now);
  irisd_bridge_timer_hurry (rings.timer, now + HOUR_US);
  g_main_context_iteration (context, FALSE);
  ck_assert_uint_eq (rings.n_rung, 1);
  end (context, &rings);
}

TEST (setting_it_wakes_nothing)
{
  GMainContext *context = g_main_context_new ();
  Rings rings = { NULL, 0 };
  GPollFD polled[4];
  gint timeout_ms, priority;

  rings.timer = irisd_bridge_timer_new (context, "test", on_rung, &rings);
  while (g_main_context_iteration (context, FALSE))
    ;
  irisd_bridge_timer_set (rings.timer, g_get_monotonic_time () + HOUR_US);
  ck_assert (g_main_context_acquire (context));
  ck_assert (!g_main_context_prepare (context, &priority));
  gint n = g_main_context_query (context, priority, &timeout_ms, polled, G_N_ELEMENTS (polled));
  ck_assert_int_gt (timeout_ms, 0);
  ck_assert_int_eq (g_poll (polled, (guint) n, 0), 0);
  g_main_context_check (context, priority, polled, n);
  g_main_context_release (context);
  end (context, &rings);
}

TEST_MAIN ("irisd-bridge-timer", NULL, NULL)
