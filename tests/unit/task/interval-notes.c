/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the tests of intervals share.
 */
#include "interval-notes.h"

Note notes[N_MAX];
static _Atomic guint64 ticks;
IrisScheduler *scheduler;
IrisIntervalGraph *graph;
CoreTestGate is_open = CORE_TEST_GATE_INIT, entered = CORE_TEST_GATE_INIT;

void
begin (void)
{
  scheduler = iris_wsscheduler_new_full (3, 3);
  graph = iris_interval_graph_new (scheduler);
  atomic_store (&ticks, 0);
  core_test_gate_close (&is_open);
  core_test_gate_close (&entered);
  for (guint i = 0; i < N_MAX; i++)
    notes[i] = (Note){ .number = i };
}

/* Everything is gone, and every notify was called once. */
void
end (void)
{
  iris_interval_graph_wait (graph);
  for (guint i = 0; i < N_MAX; i++)
    g_clear_pointer (&notes[i].interval, iris_interval_unref);
  iris_interval_graph_wait (graph);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_assert_finalize_object (graph);
  g_assert_finalize_object (scheduler);
}

gboolean
run (IrisInterval *interval, gpointer data, GError **error)
{
  Note *note = data;

  atomic_store (&note->began, atomic_fetch_add (&ticks, 1) + 1);
  note->place = iris_worker_get_place (iris_worker_current ());
  atomic_store (&note->ended, atomic_fetch_add (&ticks, 1) + 1);
  if (!note->fails)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "number %u fails", note->number);

  return FALSE;
}

gboolean
run_until_open (IrisInterval *interval, gpointer data, GError **error)
{
  core_test_gate_add (&entered, 1);
  core_test_gate_wait (&is_open, 1);

  return run (interval, data, error);
}

void
drop (gpointer data)
{
  atomic_fetch_add (&((Note *) data)->dropped, 1);
}

IrisInterval *
make_with (guint number, IrisIntervalFunc func)
{
  g_autofree char *name = g_strdup_printf ("n%u", number);

  notes[number].interval = iris_interval_new (graph, name, func, &notes[number], drop);

  return notes[number].interval;
}

IrisInterval *
make (guint number)
{
  return make_with (number, run);
}

void
after (guint later, guint earlier)
{
  g_autoptr (GError) error = NULL;

  ck_assert (iris_interval_add_after (notes[later].interval, notes[earlier].interval, &error));
  ck_assert_ptr_null (error);
}

void
schedule_all (guint n)
{
  for (guint i = n; i-- > 0;)
    iris_interval_schedule (notes[i].interval);
}

void
check_states (guint n, const IrisIntervalState *expected)
{
  iris_interval_graph_wait (graph);
  for (guint i = 0; i < n; i++)
    {
      ck_assert_msg (iris_interval_get_state (notes[i].interval) == expected[i],
                     "n%u is in state %d, not %d", i, iris_interval_get_state (notes[i].interval),
                     expected[i]);
      ck_assert_uint_eq (atomic_load (&notes[i].dropped), 1);
      ck_assert_int_eq (atomic_load (&notes[i].began) == 0, expected[i] == IRIS_INTERVAL_CANCELLED);
    }
}
