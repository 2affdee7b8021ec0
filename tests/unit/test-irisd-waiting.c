/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When irisd's items run, with clocks of our own: times, pauses, priorities, turns, gates, and what
 * comes after what.
 */
#include "core-test-run.h"
#include "daemon/irisd-fair-gate.h"
#include "daemon/irisd-waiting-after.h"
#include "daemon/irisd-waiting-terms.h"
#include "daemon/irisd-waiting.h"

#include <check.h>
#include <stdlib.h>

static IrisdTimes
times (gint64 steady_us, gint64 wall_us)
{
  return (IrisdTimes){ .us = { [IRISD_CLOCK_STEADY] = steady_us, [IRISD_CLOCK_WALL] = wall_us } };
}

START_TEST (nothing_is_due_before_its_time_and_all_comes_in_order)
{
  enum
  {
    N = 500
  };
  IrisdWaiting waiting;
  IrisdWaiter waiters[N] = { 0 };
  GRand *rand = g_rand_new_with_seed (7);
  irisd_waiting_init (&waiting);
  for (guint i = 0; i < N; i++)
    irisd_waiting_add (&waiting, &waiters[i], IRISD_CLOCK_STEADY, g_rand_int_range (rand, 0, 100));
  /* From the middle, too. */
  guint left = N;
  for (guint i = 0; i < N; i += 3, left--)
    ck_assert (irisd_waiting_remove (&waiting, &waiters[i]));
  ck_assert (!irisd_waiting_remove (&waiting, &waiters[0]));
  ck_assert_uint_eq (irisd_waiting_get_count (&waiting), left);

  const IrisdWaiter *last = NULL;
  for (gint64 now = 0; now < 100; now++)
    {
      IrisdTimes clocks = times (now, 0);
      for (IrisdWaiter *due; (due = irisd_waiting_pop_due (&waiting, &clocks)) != NULL; left--)
        {
          ck_assert_int_eq (due->due_us, now);
          /* Of the same time, whoever came first. */
          ck_assert (last == NULL || last->due_us < due->due_us || last < due);
          last = due;
        }
    }
  ck_assert_uint_eq (left, 0);
  irisd_waiting_clear (&waiting);
  g_rand_free (rand);
}
END_TEST

START_TEST (a_delay_does_not_look_at_the_time_of_day)
{
  IrisdWaiting waiting;
  IrisdWaiter delayed = { 0 };
  irisd_waiting_init (&waiting);
  irisd_waiting_add (&waiting, &delayed, IRISD_CLOCK_STEADY, 1000);
  IrisdTimes before = times (999, G_MAXINT64 / 2), after = times (1000, 0);
  ck_assert_ptr_null (irisd_waiting_pop_due (&waiting, &before));
  ck_assert_int_eq (irisd_waiting_get_delay (&waiting, &before), 1);
  ck_assert_ptr_eq (irisd_waiting_pop_due (&waiting, &after), &delayed);
  ck_assert_int_eq (irisd_waiting_get_delay (&waiting, &after), -1);
  irisd_waiting_clear (&waiting);
}
END_TEST

START_TEST (a_clock_that_is_set_back_loses_nothing_and_repeats_nothing)
{
  IrisdWaiting waiting;
  IrisdWaiter early = { 0 }, late = { 0 };
  const gint64 noon = G_GINT64_CONSTANT (1800000000000000), second = G_USEC_PER_SEC;
  irisd_waiting_init (&waiting);
  irisd_waiting_add (&waiting, &early, IRISD_CLOCK_WALL, noon);
  irisd_waiting_add (&waiting, &late, IRISD_CLOCK_WALL, noon + 3600 * second);

  IrisdTimes clocks = times (0, noon);
  ck_assert_ptr_eq (irisd_waiting_pop_due (&waiting, &clocks), &early);
  /* Back by a day: what ran does not run again, what waits goes on waiting. */
  clocks = times (1, noon - 86400 * second);
  ck_assert_ptr_null (irisd_waiting_pop_due (&waiting, &clocks));
  /* It is looked at again soon, since the clock may be set forward as well. */
  ck_assert_int_eq (irisd_waiting_get_delay (&waiting, &clocks), IRISD_WAITING_LOOK_US);
  clocks = times (2, noon + 2 * 3600 * second);
  ck_assert_ptr_eq (irisd_waiting_pop_due (&waiting, &clocks), &late);
  ck_assert_ptr_null (irisd_waiting_pop_due (&waiting, &clocks));
  irisd_waiting_clear (&waiting);
}
END_TEST

START_TEST (pauses_double_up_to_their_limit_and_half_is_left_to_chance)
{
  ck_assert_uint_eq (irisd_waiting_backoff_us (1000, 60000, 1, 0.0), 500);
  guint64 full = 1000;
  for (guint attempt = 1; attempt < 80; attempt++)
    {
      for (guint tenth = 0; tenth < 10; tenth++)
        {
          guint64 pause = irisd_waiting_backoff_us (1000, 60000, attempt, tenth / 10.0);
          ck_assert_uint_ge (pause, full / 2);
          ck_assert_uint_lt (pause, full);
        }
      full = MIN (full * 2, 60000);
    }
  ck_assert_uint_eq (irisd_waiting_backoff_us (0, 60000, 5, 0.9), 0);
  ck_assert_uint_le (irisd_waiting_backoff_us (G_MAXUINT64, G_MAXUINT64, 9, 0.5), G_MAXUINT64);
}
END_TEST

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

START_TEST (higher_priority_comes_first_and_equals_in_order)
{
  IrisdFair fair;
  irisd_fair_init (&fair, AGING_US);
  push (&fair, 1, 5, 0, 1, 1);
  push (&fair, 2, 5, 1, 1, 1);
  push (&fair, 3, 9, 2, 1, 1);
  push (&fair, 4, 0, 3, 1, 1);
  push (&fair, 5, 9, 4, 1, 1);
  const int wanted[] = { 3, 5, 1, 2, 4, -1 };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    ck_assert_int_eq (pop (&fair), wanted[i]);
  irisd_fair_clear (&fair);
}
END_TEST

START_TEST (a_stream_of_the_highest_cannot_starve_the_lowest)
{
  IrisdFair fair;
  irisd_fair_init (&fair, AGING_US);
  push (&fair, 1000, 0, 0, 1, 1);
  /* One of the highest comes every 100 us, and one is served every 100 us. */
  guint passed = 0;
  for (gint64 now = 0;; now += 100, passed++)
    {
      push (&fair, passed, 9, now, 2, 1);
      if (pop (&fair) == 1000)
        break;
      ck_assert_uint_lt (passed, 1000);
    }
  /* Only those that came less than nine periods after it: the bound, exactly. */
  ck_assert_uint_eq (passed, 9 * AGING_US / 100);
  while (pop (&fair) >= 0)
    ;
  irisd_fair_clear (&fair);
}
END_TEST

START_TEST (clients_take_turns_however_much_one_of_them_sends)
{
  IrisdFair fair;
  irisd_fair_init (&fair, AGING_US);
  for (guint i = 0; i < 1000; i++)
    push (&fair, i, 5, i, 1, IRISD_FAIR_QUANTUM);
  push (&fair, 5000, 5, 1000, 2, IRISD_FAIR_QUANTUM);
  push (&fair, 5001, 5, 1001, 2, IRISD_FAIR_QUANTUM);
  guint before = 0;
  while (pop (&fair) != 5000)
    before++;
  ck_assert_uint_le (before, 2);
  while (pop (&fair) != 5001)
    before++;
  ck_assert_uint_le (before, 4);
  while (pop (&fair) >= 0)
    ;
  irisd_fair_clear (&fair);
}
END_TEST

START_TEST (turns_are_as_long_in_cost_not_in_number)
{
  IrisdFair fair;
  irisd_fair_init (&fair, AGING_US);
  for (guint i = 0; i < 4000; i++)
    push (&fair, 1, 5, 0, 1, 3);
  for (guint i = 0; i < 100; i++)
    push (&fair, 2, 5, 0, 2, 300);
  gint64 spent[2] = { 0 };
  for (guint i = 0; i < 2000; i++)
    {
      int client = pop (&fair);
      ck_assert (client == 1 || client == 2);
      spent[client - 1] += client == 1 ? 3 : 300;
      /* Neither is ahead by more than a turn and one entry. */
      ck_assert_int_le (ABS (spent[0] - spent[1]), IRISD_FAIR_QUANTUM + 300);
    }
  while (pop (&fair) >= 0)
    ;
  irisd_fair_clear (&fair);
}
END_TEST

START_TEST (an_entry_can_be_taken_out_from_anywhere)
{
  IrisdFair fair;
  irisd_fair_init (&fair, AGING_US);
  Entry *entries[30];
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    entries[i] = push (&fair, i, i % 10, i, i % 3 + 1, 1 + i * 50);
  for (guint i = 0; i < G_N_ELEMENTS (entries); i += 2)
    {
      ck_assert (irisd_fair_remove (&fair, &entries[i]->entry));
      ck_assert (!irisd_fair_remove (&fair, &entries[i]->entry));
      g_free (entries[i]);
    }
  guint seen = 0;
  for (int number; (number = pop (&fair)) >= 0; seen++)
    ck_assert_int_eq (number % 2, 1);
  ck_assert_uint_eq (seen, G_N_ELEMENTS (entries) / 2);
  irisd_fair_clear (&fair);
}
END_TEST

START_TEST (a_gate_lets_so_much_through_and_the_least_always)
{
  IrisdFairGate gate;
  irisd_fair_gate_init (&gate, 10, 2, AGING_US);
  IrisdFairEntry entries[6] = { 0 }, *next[6];
  for (guint i = 0; i < 6; i++)
    entries[i] = (IrisdFairEntry){ .cost = 100, .priority = 5 };
  for (guint i = 0; i < 6; i++)
    {
      ck_assert_int_eq (irisd_fair_gate_is_open (&gate, &entries[i]), i < 2);
      ck_assert_int_eq (irisd_fair_gate_enter (&gate, &entries[i], NULL), i < 2);
    }
  ck_assert_uint_eq (irisd_fair_gate_next (&gate, next, 6), 0);
  ck_assert (!irisd_fair_gate_withdraw (&gate, &entries[0]));
  ck_assert (irisd_fair_gate_withdraw (&gate, &entries[2]));
  irisd_fair_gate_leave (&gate, 1, 100);
  ck_assert_uint_eq (irisd_fair_gate_next (&gate, next, 6), 1);
  ck_assert_ptr_eq (next[0], &entries[3]);
  irisd_fair_gate_leave (&gate, 2, 200);
  ck_assert_uint_eq (irisd_fair_gate_next (&gate, next, 6), 2);
  ck_assert_uint_eq (irisd_fair_gate_get_backlog (&gate), 2);
  irisd_fair_gate_clear (&gate);
}
END_TEST

/* Threads that come and go at one gate. */
#define GATE_THREADS 4
#define GATE_ENTRIES 20000
#define GATE_MOST    40

static IrisdFairGate crowded;
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
      irisd_fair_gate_leave (&crowded, n, n);
      n = irisd_fair_gate_next (&crowded, next, G_N_ELEMENTS (next));
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
      if (irisd_fair_gate_enter (&crowded, entry, data))
        pass (&entry, 1);
    }
  return NULL;
}

START_TEST (everything_that_comes_to_a_crowded_gate_comes_through_once)
{
  irisd_fair_gate_init (&crowded, GATE_MOST, 1, AGING_US);
  IrisdFairEntry *entries = g_new0 (IrisdFairEntry, GATE_THREADS * GATE_ENTRIES);
  GThread *threads[GATE_THREADS];
  for (guint i = 0; i < GATE_THREADS; i++)
    threads[i] = g_thread_new ("gate", come_to_gate, entries + i * GATE_ENTRIES);
  for (guint i = 0; i < GATE_THREADS; i++)
    g_thread_join (threads[i]);
  ck_assert_uint_eq (n_through, GATE_THREADS * GATE_ENTRIES);
  ck_assert_uint_eq (n_inside, 0);
  ck_assert_uint_eq (irisd_fair_gate_get_backlog (&crowded), 0);
  irisd_fair_gate_clear (&crowded);
  g_free (entries);
}
END_TEST

static gboolean
come_after (IrisdAfter *after, IrisdDependent *dependent, IrisWireAfter how, guint64 a, guint64 b)
{
  const guint64 ids[] = { a, b };
  guint64 unknown;
  *dependent = (IrisdDependent){ 0 };
  return irisd_after_wait (after, dependent, ids, b != 0 ? 2 : 1, how, &unknown);
}

START_TEST (all_any_and_success)
{
  IrisdAfter after;
  IrisdDependent all, any, success, spoilt;
  irisd_after_init (&after, 10);
  for (guint64 id = 1; id <= 3; id++)
    irisd_after_add (&after, id, NULL);
  ck_assert (come_after (&after, &all, IRIS_WIRE_AFTER_ALL, 1, 2));
  ck_assert (come_after (&after, &any, IRIS_WIRE_AFTER_ANY, 1, 2));
  ck_assert (come_after (&after, &success, IRIS_WIRE_AFTER_SUCCESS, 2, 3));
  ck_assert (come_after (&after, &spoilt, IRIS_WIRE_AFTER_SUCCESS, 1, 2));

  IrisdDependent *decided = irisd_after_end (&after, 1, FALSE);
  ck_assert_ptr_eq (decided, &any);
  ck_assert_ptr_eq (decided->next, &spoilt);
  ck_assert_ptr_null (spoilt.next);
  ck_assert_int_eq (any.verdict, IRISD_VERDICT_GO);
  ck_assert_int_eq (spoilt.verdict, IRISD_VERDICT_FAIL);
  ck_assert_uint_eq (spoilt.blame, 1);

  decided = irisd_after_end (&after, 2, TRUE);
  ck_assert_ptr_eq (decided, &all);
  ck_assert_int_eq (all.verdict, IRISD_VERDICT_GO);
  ck_assert_ptr_null (all.next);
  ck_assert_ptr_null (irisd_after_end (&after, 2, FALSE));
  ck_assert_ptr_eq (irisd_after_end (&after, 3, TRUE), &success);
  ck_assert_int_eq (success.verdict, IRISD_VERDICT_GO);
  irisd_after_clear (&after);
}
END_TEST

START_TEST (what_is_known_by_its_end_is_forgotten_in_its_turn)
{
  IrisdAfter after;
  IrisdDependent first, second, late;
  irisd_after_init (&after, 3);
  irisd_after_add (&after, 1, NULL);
  irisd_after_end (&after, 1, TRUE);
  irisd_after_add_ended (&after, 2, FALSE);
  irisd_after_add_ended (&after, 3, TRUE);
  ck_assert (come_after (&after, &first, IRIS_WIRE_AFTER_SUCCESS, 1, 3));
  ck_assert_int_eq (first.verdict, IRISD_VERDICT_GO);
  ck_assert (come_after (&after, &second, IRIS_WIRE_AFTER_SUCCESS, 2, 3));
  ck_assert_int_eq (second.verdict, IRISD_VERDICT_FAIL);
  for (guint64 id = 4; id <= 6; id++)
    {
      irisd_after_add_ended (&after, id, TRUE);
      ck_assert (!come_after (&after, &late, IRIS_WIRE_AFTER_ALL, id - 3, 0));
      ck_assert (come_after (&after, &late, IRIS_WIRE_AFTER_ALL, id - 2, id));
    }
  irisd_after_clear (&after);

  irisd_after_init (&after, 0);
  irisd_after_add_ended (&after, 1, TRUE);
  ck_assert (!come_after (&after, &late, IRIS_WIRE_AFTER_ALL, 1, 0));
  irisd_after_clear (&after);
}
END_TEST

START_TEST (what_has_ended_is_remembered_for_a_while)
{
  IrisdAfter after;
  IrisdDependent one = { 0 };
  irisd_after_init (&after, 2);
  for (guint64 id = 1; id <= 3; id++)
    irisd_after_add (&after, id, NULL);
  irisd_after_end (&after, 1, FALSE);
  ck_assert (come_after (&after, &one, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert_int_eq (one.verdict, IRISD_VERDICT_GO);
  ck_assert (come_after (&after, &one, IRIS_WIRE_AFTER_SUCCESS, 3, 1));
  ck_assert_int_eq (one.verdict, IRISD_VERDICT_FAIL);
  /* Judged by the one, it does not wait for the other. */
  ck_assert_ptr_null (irisd_after_end (&after, 3, TRUE));
  irisd_after_end (&after, 2, TRUE);
  ck_assert (!come_after (&after, &one, IRIS_WIRE_AFTER_ALL, 1, 0));
  irisd_after_clear (&after);
}
END_TEST

START_TEST (a_cycle_cannot_be_asked_for)
{
  IrisdAfter after;
  IrisdDependent first = { 0 }, second = { 0 };
  irisd_after_init (&after, 10);
  /* An item cannot name itself or a later one: their ids are not known yet. */
  ck_assert (!come_after (&after, &first, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert (!come_after (&after, &first, IRIS_WIRE_AFTER_ALL, 2, 0));
  irisd_after_add (&after, 1, NULL);
  ck_assert (come_after (&after, &second, IRIS_WIRE_AFTER_ALL, 1, 0));
  irisd_after_add (&after, 2, NULL);
  ck_assert_ptr_eq (irisd_after_end (&after, 1, TRUE), &second);
  irisd_after_clear (&after);
}
END_TEST

START_TEST (who_withdraws_is_not_decided)
{
  IrisdAfter after;
  IrisdDependent one, twice;
  irisd_after_init (&after, 10);
  irisd_after_add (&after, 1, NULL);
  ck_assert (come_after (&after, &one, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert (come_after (&after, &twice, IRIS_WIRE_AFTER_ALL, 1, 1));
  irisd_after_withdraw (&after, &one);
  ck_assert_ptr_eq (irisd_after_end (&after, 1, TRUE), &twice);
  ck_assert_ptr_null (twice.next);
  ck_assert_int_eq (one.verdict, IRISD_VERDICT_NONE);
  irisd_after_clear (&after);
}
END_TEST

START_TEST (an_item_that_is_set_aside_has_a_keeper_and_is_waited_for)
{
  IrisdAfter after;
  IrisdDependent waits;
  int owner, keeper;
  irisd_after_init (&after, 10);
  irisd_after_add (&after, 1, &owner);
  ck_assert (come_after (&after, &waits, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert_ptr_null (irisd_after_get_keeper (&after, 1));
  irisd_after_set_aside (&after, 1, &keeper);
  ck_assert_ptr_null (irisd_after_get_owner (&after, 1));
  ck_assert_ptr_eq (irisd_after_get_keeper (&after, 1), &keeper);
  /* Called back, it is as before. */
  irisd_after_add (&after, 1, &owner);
  ck_assert_ptr_eq (irisd_after_get_owner (&after, 1), &owner);
  ck_assert_ptr_null (irisd_after_get_keeper (&after, 1));
  irisd_after_set_aside (&after, 1, &keeper);
  ck_assert_int_eq (waits.verdict, IRISD_VERDICT_NONE);
  ck_assert_ptr_eq (irisd_after_end (&after, 1, TRUE), &waits);
  ck_assert_ptr_null (irisd_after_get_keeper (&after, 1));
  irisd_after_clear (&after);
}
END_TEST

START_TEST (a_buried_item_is_waited_for_until_irisd_ends)
{
  IrisdAfter after;
  IrisdDependent all, any, late;
  irisd_after_init (&after, 10);
  for (guint64 id = 1; id <= 3; id++)
    irisd_after_add (&after, id, NULL);
  ck_assert (come_after (&after, &all, IRIS_WIRE_AFTER_ALL, 1, 2));
  ck_assert (come_after (&after, &any, IRIS_WIRE_AFTER_ANY, 1, 2));
  ck_assert_ptr_null (irisd_after_bury (&after, 1));
  /* Kicked, it is as before. */
  irisd_after_add (&after, 1, NULL);
  ck_assert_ptr_null (irisd_after_bury (&after, 1));

  ck_assert_ptr_eq (irisd_after_close (&after), &all);
  ck_assert_int_eq (all.verdict, IRISD_VERDICT_STUCK);
  ck_assert_uint_eq (all.blame, 1);
  ck_assert_ptr_null (all.next);
  ck_assert_int_eq (any.verdict, IRISD_VERDICT_NONE);
  ck_assert (come_after (&after, &late, IRIS_WIRE_AFTER_SUCCESS, 3, 1));
  ck_assert_int_eq (late.verdict, IRISD_VERDICT_STUCK);
  ck_assert_ptr_eq (irisd_after_bury (&after, 2), &any);
  ck_assert_int_eq (any.verdict, IRISD_VERDICT_STUCK);
  ck_assert_uint_eq (any.blame, 2);
  irisd_after_clear (&after);
}
END_TEST

static void
init_item (IrisWireMessage *item)
{
  iris_wire_message_init (item, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
}

START_TEST (terms_that_do_not_fit_are_refused_with_the_limit)
{
  IrisdLimits limits;
  irisd_limits_init (&limits);
  const struct
  {
    IrisWireKey key;
    guint64 value;
    int code;
    const char *word;
  } bad[] = {
    { IRIS_WIRE_KEY_DELAY_MS, limits.max_delay_ms + 1, IRIS_WIRE_ERROR_TOO_LARGE, "max-delay-ms" },
    { IRIS_WIRE_KEY_AT_MS, G_MAXUINT64, IRIS_WIRE_ERROR_TOO_LARGE, "max-delay-ms" },
    { IRIS_WIRE_KEY_TIME_TO_RUN_MS, G_MAXUINT64, IRIS_WIRE_ERROR_TOO_LARGE, "max-delay-ms" },
    { IRIS_WIRE_KEY_RETRIES, limits.max_retries + 1, IRIS_WIRE_ERROR_TOO_LARGE, "max-retries" },
    { IRIS_WIRE_KEY_BACKOFF_MS, 1, IRIS_WIRE_ERROR_BAD_ARGUMENT, "retries" },
    { IRIS_WIRE_KEY_TIME_TO_RUN_MS, 0, IRIS_WIRE_ERROR_BAD_ARGUMENT, "time-to-run-ms" },
    { IRIS_WIRE_KEY_AFTER_HOW, 1, IRIS_WIRE_ERROR_BAD_ARGUMENT, "after" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      IrisWireMessage item;
      g_autoptr (GError) error = NULL;
      init_item (&item);
      iris_wire_message_set_uint (&item, bad[i].key, bad[i].value);
      ck_assert (!irisd_terms_check (&item, &limits, &error));
      ck_assert_int_eq (error->code, bad[i].code);
      ck_assert_ptr_nonnull (strstr (error->message, bad[i].word));
    }
}
END_TEST

START_TEST (delay_and_time_of_day_have_both_to_be_reached)
{
  IrisdLimits limits;
  IrisWireMessage item;
  irisd_limits_init (&limits);
  init_item (&item);
  IrisdTimes now = times (1000000, G_GINT64_CONSTANT (1800000000000000));
  ck_assert_ptr_null (irisd_terms_new (&item, &limits, &now));
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 100);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_AT_MS, 1800000000500);
  IrisdTerms *terms = irisd_terms_new (&item, &limits, &now);
  IrisdClock clock;
  gint64 due_us;
  ck_assert (irisd_terms_get_due (terms, &now, &clock, &due_us));
  ck_assert_int_eq (clock, IRISD_CLOCK_STEADY);
  ck_assert_int_eq (due_us, 1100000);
  now.us[IRISD_CLOCK_STEADY] = due_us;
  ck_assert (irisd_terms_get_due (terms, &now, &clock, &due_us));
  ck_assert_int_eq (clock, IRISD_CLOCK_WALL);
  ck_assert_int_eq (due_us, G_GINT64_CONSTANT (1800000000500000));
  now.us[IRISD_CLOCK_WALL] = due_us;
  ck_assert (!irisd_terms_get_due (terms, &now, &clock, &due_us));
  irisd_terms_free (terms);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-waiting");
  TCase *tcase = tcase_create ("waiting");
  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, nothing_is_due_before_its_time_and_all_comes_in_order);
  tcase_add_test (tcase, a_delay_does_not_look_at_the_time_of_day);
  tcase_add_test (tcase, a_clock_that_is_set_back_loses_nothing_and_repeats_nothing);
  tcase_add_test (tcase, pauses_double_up_to_their_limit_and_half_is_left_to_chance);
  tcase_add_test (tcase, higher_priority_comes_first_and_equals_in_order);
  tcase_add_test (tcase, a_stream_of_the_highest_cannot_starve_the_lowest);
  tcase_add_test (tcase, clients_take_turns_however_much_one_of_them_sends);
  tcase_add_test (tcase, turns_are_as_long_in_cost_not_in_number);
  tcase_add_test (tcase, an_entry_can_be_taken_out_from_anywhere);
  tcase_add_test (tcase, a_gate_lets_so_much_through_and_the_least_always);
  tcase_add_test (tcase, everything_that_comes_to_a_crowded_gate_comes_through_once);
  tcase_add_test (tcase, all_any_and_success);
  tcase_add_test (tcase, what_is_known_by_its_end_is_forgotten_in_its_turn);
  tcase_add_test (tcase, what_has_ended_is_remembered_for_a_while);
  tcase_add_test (tcase, a_cycle_cannot_be_asked_for);
  tcase_add_test (tcase, who_withdraws_is_not_decided);
  tcase_add_test (tcase, an_item_that_is_set_aside_has_a_keeper_and_is_waited_for);
  tcase_add_test (tcase, a_buried_item_is_waited_for_until_irisd_ends);
  tcase_add_test (tcase, terms_that_do_not_fit_are_refused_with_the_limit);
  tcase_add_test (tcase, delay_and_time_of_day_have_both_to_be_reached);
  suite_add_tcase (suite, tcase);

  return core_test_run (suite);
}
