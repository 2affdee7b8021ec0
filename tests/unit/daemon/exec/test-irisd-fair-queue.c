/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whose item goes next: by priority and age, and between clients in turn; and how many are let
 * through at once.
 */
#include "core-test-run.h"
#include "daemon/exec/irisd-gate.h"

#include <check.h>
#include <stdatomic.h>

/* Entries with a number. */
typedef struct
{
  IrisdFairEntry entry;
  guint number;
} Entry;

#define AGING_US 1000

static IrisdFairQueue fair;

static Entry *
push (guint number, guint8 priority, gint64 since_us, gsize client, guint32 cost)
{
  Entry *self = g_new0 (Entry, 1);
  self->number = number;
  self->entry.priority = priority;
  self->entry.since_us = since_us;
  self->entry.cost = cost;
  irisd_fair_queue_push (&fair, &self->entry, GSIZE_TO_POINTER (client));
  return self;
}

/* The number of the next entry, or -1. */
static int
pop (void)
{
  Entry *entry = (Entry *) irisd_fair_queue_pop (&fair);
  int number = entry != NULL ? (int) entry->number : -1;
  g_free (entry);
  return number;
}

static void
set_up (void)
{
  irisd_fair_queue_init (&fair, AGING_US);
}

static void
tear_down (void)
{
  while (pop () >= 0)
    ;
  irisd_fair_queue_clear (&fair);
}

TEST (higher_priority_comes_first_and_equals_in_order)
{
  push (1, 5, 0, 1, 1);
  push (2, 5, 1, 1, 1);
  push (3, 9, 2, 1, 1);
  push (4, 0, 3, 1, 1);
  push (5, 9, 4, 1, 1);
  const int wanted[] = { 3, 5, 1, 2, 4, -1 };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    ck_assert_int_eq (pop (), wanted[i]);
}

TEST (a_stream_of_the_highest_cannot_starve_the_lowest)
{
  push (1000, 0, 0, 1, 1);
  /* One of the highest comes every 100 us, and one is served every 100 us. */
  guint passed = 0;
  for (gint64 now = 0;; now += 100, passed++)
    {
      push (passed, 9, now, 2, 1);
      if (pop () == 1000)
        break;
      ck_assert_uint_lt (passed, 1000);
    }
  /* Only those that came less than nine periods after it: the bound, exactly. */
  ck_assert_uint_eq (passed, 9 * AGING_US / 100);
}

TEST (clients_take_turns_however_much_one_of_them_sends)
{
  for (guint i = 0; i < 1000; i++)
    push (i, 5, i, 1, IRISD_FAIR_QUANTUM);
  push (5000, 5, 1000, 2, IRISD_FAIR_QUANTUM);
  push (5001, 5, 1001, 2, IRISD_FAIR_QUANTUM);
  guint before = 0;
  while (pop () != 5000)
    before++;
  ck_assert_uint_le (before, 2);
  while (pop () != 5001)
    before++;
  ck_assert_uint_le (before, 4);
}

TEST (turns_are_as_long_in_cost_not_in_number)
{
  for (guint i = 0; i < 4000; i++)
    push (1, 5, 0, 1, 3);
  for (guint i = 0; i < 100; i++)
    push (2, 5, 0, 2, 300);
  gint64 spent[2] = { 0 };
  for (guint i = 0; i < 2000; i++)
    {
      int client = pop ();
      ck_assert (client == 1 || client == 2);
      spent[client - 1] += client == 1 ? 3 : 300;
      /* Neither is ahead by more than a turn and one entry. */
      ck_assert_int_le (ABS (spent[0] - spent[1]), IRISD_FAIR_QUANTUM + 300);
    }
}

TEST (an_entry_can_be_taken_out_from_anywhere)
{
  Entry *entries[30];
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    entries[i] = push (i, i % 10, i, i % 3 + 1, 1 + i * 50);
  for (guint i = 0; i < G_N_ELEMENTS (entries); i += 2)
    {
      ck_assert (irisd_fair_queue_remove (&fair, &entries[i]->entry));
      ck_assert (!irisd_fair_queue_remove (&fair, &entries[i]->entry));
      g_free (entries[i]);
    }
  guint seen = 0;
  for (int number; (number = pop ()) >= 0; seen++)
    ck_assert_int_eq (number % 2, 1);
  ck_assert_uint_eq (seen, G_N_ELEMENTS (entries) / 2);
}

static int
first_of (const gboolean *seen, guint n)
{
  guint i = 0;
  while (i < n && seen[i])
    i++;
  return (int) i;
}

/* A late item goes where it would be, among its client's and among all. */
TEST (what_has_waited_longer_goes_first_whenever_it_comes)
{
  push (1, 5, 10, 1, 1);
  push (4, 5, 40, 1, 1);
  push (10, 0, 5, 2, 1);
  push (3, 5, 30, 1, 1);
  push (2, 5, 20, 1, 1);
  push (0, 5, 9, 1, 1);
  /* Older than all of the level, and so old that its level is next. */
  push (11, 0, -5 * AGING_US - 10, 2, 1);
  const int wanted[] = { 11, 0, 1, 2, 3, 4, 10, -1 };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    ck_assert_int_eq (pop (), wanted[i]);

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
        push ((guint) ages[i], 5, ages[i], round % 2 == 0 ? 1 : (gsize) ages[i] % 2, 1);
      for (guint i = 0; i < G_N_ELEMENTS (ages); i++)
        {
          int oldest = (int) TAILQ_FIRST (&fair.levels[5].by_age)->since_us;
          ck_assert_int_eq (oldest, first_of (seen, G_N_ELEMENTS (ages)));
          int number = pop ();
          ck_assert_int_ge (number, 0);
          ck_assert (round % 2 != 0 || number == oldest);
          seen[number] = TRUE;
        }
      ck_assert_int_eq (pop (), -1);
    }
}

TEST (a_gate_lets_so_much_through_and_the_least_always)
{
  IrisdGate gate;
  irisd_gate_init (&gate, 10, 2, AGING_US);
  IrisdFairEntry entries[6] = { 0 }, *next[6];
  for (guint i = 0; i < 6; i++)
    entries[i] = (IrisdFairEntry){ .cost = 100, .priority = 5 };
  for (guint i = 0; i < 6; i++)
    {
      ck_assert_int_eq (irisd_gate_is_open (&gate, &entries[i]), i < 2);
      ck_assert_int_eq (irisd_gate_enter (&gate, &entries[i], NULL, 0), i < 2);
    }
  ck_assert_uint_eq (irisd_gate_next (&gate, next, 6), 0);
  ck_assert (!irisd_gate_withdraw (&gate, &entries[0]));
  ck_assert (irisd_gate_withdraw (&gate, &entries[2]));
  irisd_gate_leave (&gate, 1, 100);
  ck_assert_uint_eq (irisd_gate_next (&gate, next, 6), 1);
  ck_assert_ptr_eq (next[0], &entries[3]);
  irisd_gate_leave (&gate, 2, 200);
  ck_assert_uint_eq (irisd_gate_next (&gate, next, 6), 2);
  ck_assert_uint_eq (irisd_gate_get_backlog (&gate), 2);
  irisd_gate_clear (&gate);
}

/* Threads that come and go at one gate. */
#define GATE_THREADS 4
#define GATE_ENTRIES 20000
#define GATE_MOST    40

static IrisdGate crowded;
static _Atomic guint n_through, n_inside;

/* Each entry that comes through is counted in, and leaves at once, which lets others through. */
static void
pass (IrisdFairEntry **entries, guint n)
{
  IrisdFairEntry *next[8];
  while (n > 0)
    {
      ck_assert_uint_le (atomic_fetch_add (&n_inside, n) + n, GATE_MOST);
      atomic_fetch_add (&n_through, n);
      atomic_fetch_sub (&n_inside, n);
      irisd_gate_leave (&crowded, n, n);
      n = irisd_gate_next (&crowded, next, G_N_ELEMENTS (next));
    }
}

static gpointer
come_to_gate (gpointer data)
{
  IrisdFairEntry *entries = data;
  for (guint i = 0; i < GATE_ENTRIES; i++)
    {
      IrisdFairEntry *entry = &entries[i];
      *entry = (IrisdFairEntry){ .cost = 1, .priority = i % IRISD_FAIR_N_LEVELS };
      if (irisd_gate_enter (&crowded, entry, data, 0))
        pass (&entry, 1);
    }
  return NULL;
}

TEST (everything_that_comes_to_a_crowded_gate_comes_through_once)
{
  irisd_gate_init (&crowded, GATE_MOST, 1, AGING_US);
  IrisdFairEntry *entries = g_new0 (IrisdFairEntry, GATE_THREADS * GATE_ENTRIES);
  GThread *threads[GATE_THREADS];
  for (guint i = 0; i < GATE_THREADS; i++)
    threads[i] = g_thread_new ("gate", come_to_gate, entries + i * GATE_ENTRIES);
  for (guint i = 0; i < GATE_THREADS; i++)
    g_thread_join (threads[i]);
  ck_assert_uint_eq (n_through, GATE_THREADS * GATE_ENTRIES);
  ck_assert_uint_eq (n_inside, 0);
  ck_assert_uint_eq (irisd_gate_get_backlog (&crowded), 0);
  irisd_gate_clear (&crowded);
  g_free (entries);
}

TEST_MAIN ("irisd-fair-queue", set_up, tear_down)
