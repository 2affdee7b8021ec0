/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The watchdog: one thread without an answer is enough.
 */
#include "core-test-run.h"

#include "daemon/base/irisd-watchdog.h"

#include <check.h>
#include <unistd.h>

#define PERIOD_US (80 * G_USEC_PER_SEC)

TEST (one_that_does_not_answer_is_named)
{
  IrisdWatchdog watchdog = { 0 };
  gint64 now = 1000;
  guint stuck = 99;
  irisd_watchdog_init (&watchdog, 3, PERIOD_US, now);
  ck_assert_int_eq (irisd_watchdog_look (&watchdog, now, &stuck), IRISD_WATCHDOG_ALIVE);
  ck_assert_int_eq (watchdog.due_us, now + PERIOD_US / 2);
  ck_assert_int_eq (irisd_watchdog_look (&watchdog, now + 1, &stuck), IRISD_WATCHDOG_EARLY);

  irisd_watchdog_answer (&watchdog, 0);
  irisd_watchdog_answer (&watchdog, 2);
  now = watchdog.due_us;
  ck_assert_int_eq (irisd_watchdog_look (&watchdog, now, &stuck), IRISD_WATCHDOG_STUCK);
  ck_assert_uint_eq (stuck, 1);
  /* The next looks are closer, so that a late answer is told in time. */
  ck_assert_int_eq (watchdog.due_us, now + PERIOD_US / 8);
  now = watchdog.due_us;
  ck_assert_int_eq (irisd_watchdog_look (&watchdog, now, &stuck), IRISD_WATCHDOG_STUCK);

  irisd_watchdog_answer (&watchdog, 1);
  now = watchdog.due_us;
  ck_assert_int_eq (irisd_watchdog_look (&watchdog, now, &stuck), IRISD_WATCHDOG_ALIVE);
  /* Answers of the last round do not count for this one. */
  now = watchdog.due_us;
  ck_assert_int_eq (irisd_watchdog_look (&watchdog, now, &stuck), IRISD_WATCHDOG_STUCK);
  irisd_watchdog_clear (&watchdog);
}

TEST (without_a_period_it_never_looks)
{
  IrisdWatchdog watchdog = { 0 };
  guint stuck;
  irisd_watchdog_init (&watchdog, 1, 0, 0);
  irisd_watchdog_answer (&watchdog, 0);
  ck_assert_int_eq (irisd_watchdog_look (&watchdog, G_MAXINT64, &stuck), IRISD_WATCHDOG_EARLY);
  irisd_watchdog_clear (&watchdog);
}

TEST (the_service_manager_says_what_it_wants)
{
  g_autofree char *own = g_strdup_printf ("%ld", (long) getpid ());
  const struct
  {
    const char *period, *pid;
    gint64 wanted;
  } cases[] = {
    { NULL, NULL, 0 },
    { "30000000", NULL, 30000000 },
    { "30000000", own, 30000000 },
    { "30000000", "1", 0 },
    { "0", own, 0 },
    { "soon", own, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_unsetenv ("WATCHDOG_USEC");
      g_unsetenv ("WATCHDOG_PID");
      if (cases[i].period != NULL)
        g_setenv ("WATCHDOG_USEC", cases[i].period, TRUE);
      if (cases[i].pid != NULL)
        g_setenv ("WATCHDOG_PID", cases[i].pid, TRUE);
      ck_assert_int_eq (irisd_watchdog_get_wanted_us (), cases[i].wanted);
    }
  g_unsetenv ("WATCHDOG_USEC");
  g_unsetenv ("WATCHDOG_PID");
}

TEST_MAIN ("irisd-watchdog", NULL, NULL)
