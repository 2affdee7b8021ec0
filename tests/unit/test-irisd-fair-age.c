/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fair queue, when what comes has waited elsewhere before.
 */
#include "core-test-run.h"

#include "daemon/irisd-fair.h"

#include <check.h>

/* Entries with a number. */
typedef struct
{
  IrisdFairEntry entry;
  guint number;
} Entry;

#define AGING_US 1000

static Entry *
push (IrisdFair *fair, guint number, guint8 priority, gint64 since_us, gsize client, guint32 cost)
{
  Entry *self = g_new0 (Entry, 1);
  self->number = number;
  self->entry.priority = priority;
  self->entry.since_us = since_us;
  self->entry.cost = cost;
  irisd_fair_push (fair, &self->entry, GSIZE_TO_POINTER (client));
  return self;
}

/* The number of the next entry, or -1. */
static int
pop (IrisdFair *fair)
{
  Entry *entry = (Entry *) irisd_fair_pop (fair);
  int number = entry != NULL ? (int) entry->number : -1;
  g_free (entry);
  return number;
}

static int
first_of (const gboolean *seen, guint n)
{
  guint i = 0;
  while (i < n && seen[i])
    i++;
  return (int) i;
}

/* Whoever comes late goes where it would be, among its client's and among all. */
START_TEST (what_has_waited_longer_goes_first_whenever_it_comes)
{
  IrisdFair fair;
  irisd_fair_init (&fair, AGING_US);
  push (&fair, 1, 5, 10, 1, 1);
  push (&fair, 4, 5, 40, 1, 1);
  push (&fair, 10, 0, 5, 2, 1);
  push (&fair, 3, 5, 30, 1, 1);
  push (&fair, 2, 5, 20, 1, 1);
  push (&fair, 0, 5, 9, 1, 1);
  /* Older than all of the level, and so old that its level is next. */
  push (&fair, 11, 0, -5 * AGING_US - 10, 2, 1);
  const int wanted[] = { 11, 0, 1, 2, 3, 4, 10, -1 };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    ck_assert_int_eq (pop (&fair), wanted[i]);

  /* In any order, the same comes of it. */
  for (guint round = 0; round < 20; round++)
    {
      gint64 ages[64];
      gboolean seen[64] = { FALSE };
      for (guint i = 0; i < G_N_ELEMENTS (ages); i++)
        {
          guint other = (guint) g_random_int_range (0, (gint) i + 1);
          ages[i] = ages[other];
          ages[other] = i;
        }
      for (guint i = 0; i < G_N_ELEMENTS (ages); i++)
        push (&fair, (guint) ages[i], 5, ages[i], round % 2 == 0 ? 1 : (gsize) ages[i] % 2, 1);
      for (guint i = 0; i < G_N_ELEMENTS (ages); i++)
        {
          int oldest = (int) TAILQ_FIRST (&fair.levels[5].by_age)->since_us;
          ck_assert_int_eq (oldest, first_of (seen, G_N_ELEMENTS (ages)));
          int number = pop (&fair);
          ck_assert_int_ge (number, 0);
          ck_assert (round % 2 != 0 || number == oldest);
          seen[number] = TRUE;
        }
      ck_assert_int_eq (pop (&fair), -1);
    }
  irisd_fair_clear (&fair);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-fair-age");
  TCase *tcase = tcase_create ("age");
  tcase_set_timeout (tcase, 0);
  tcase_add_test (tcase, what_has_waited_longer_goes_first_whenever_it_comes);
  suite_add_tcase (suite, tcase);
  return core_test_run (suite);
}
