/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Processes and their watchers: order, chains, room, ends at every step, and progress.
 */
#include "core-test-util.h"
#include "step-scheduler.h"

#define N_ITEMS 300

static IrisScheduler *scheduler;
static guint n_worked;
static guint sum;
static guint n_freed;

static void
setup (void)
{
  scheduler = step_scheduler_new ();
  n_worked = sum = n_freed = 0;
}

static void
teardown (void)
{
  step_scheduler_run (scheduler);
  g_clear_object (&scheduler);
}

static void
count_freed (gpointer data)
{
  n_freed++;
}

static IrisProcess *
process_new (IrisProcessFunc func, gpointer data)
{
  IrisProcess *process = iris_process_new (func, data, count_freed);

  iris_task_set_work_scheduler (IRIS_TASK (process), scheduler);

  return process;
}

static void
take_in_order (IrisProcess *process, IrisMessage *work_item, gpointer data)
{
  ck_assert_int_eq (work_item->what, (int) n_worked);
  n_worked++;
}

static void
add_up (IrisProcess *process, IrisMessage *work_item, gpointer data)
{
  n_worked++;
  sum += (guint) work_item->what;
}

static void
hand_on (IrisProcess *process, IrisMessage *work_item, gpointer data)
{
  for (guint i = 0; i < GPOINTER_TO_UINT (data); i++)
    iris_process_forward (process, i == 0 ? work_item : iris_message_new (work_item->what));
}

static void
feed (IrisProcess *process, guint n)
{
  for (guint i = 0; i < n; i++)
    iris_process_enqueue (process, iris_message_new ((int) i));
}

TEST (items_are_worked_on_in_order_until_it_is_closed)
{
  g_autoptr (IrisProcess) process = process_new (take_in_order, NULL);
  int processed, total;

  feed (process, N_ITEMS);
  ck_assert_uint_eq (iris_process_get_queue_length (process), N_ITEMS);
  iris_process_run (process);
  step_scheduler_run (scheduler);
  ck_assert_uint_eq (n_worked, N_ITEMS);
  ck_assert (iris_process_is_open (process) && iris_process_is_executing (process));
  /* An idle one is nowhere. */
  ck_assert_uint_eq (step_scheduler_get_length (scheduler), 0);
  iris_process_enqueue (process, iris_message_new (N_ITEMS));
  iris_process_close (process);
  step_scheduler_run (scheduler);
  ck_assert (iris_process_has_succeeded (process) && iris_process_is_finished (process));
  iris_process_get_status (process, &processed, &total);
  ck_assert_int_eq (processed, N_ITEMS + 1);
  ck_assert_int_eq (total, N_ITEMS + 1);
}

TEST (a_closed_process_without_work_is_over)
{
  g_autoptr (IrisProcess) process = process_new (add_up, NULL);

  iris_process_close (process);
  iris_process_run (process);
  step_scheduler_run (scheduler);
  ck_assert (iris_process_has_succeeded (process));
}

TEST (a_chain_hands_on_and_is_closed_from_its_head)
{
  g_autoptr (IrisProcess) head = process_new (hand_on, GUINT_TO_POINTER (1));
  g_autoptr (IrisProcess) middle = process_new (hand_on, GUINT_TO_POINTER (2));
  g_autoptr (IrisProcess) tail = process_new (add_up, NULL);

  iris_process_connect (head, middle);
  iris_process_connect (middle, tail);
  ck_assert (iris_process_has_sink (head) && !iris_process_has_source (head));
  ck_assert_ptr_eq (iris_process_get_source (tail), middle);
  feed (head, N_ITEMS);
  iris_process_close (head);
  iris_process_run (head);
  step_scheduler_run (scheduler);
  ck_assert_uint_eq (n_worked, 2 * N_ITEMS);
  ck_assert_uint_eq (sum, N_ITEMS * (N_ITEMS - 1));
  ck_assert (iris_process_has_succeeded (tail));
}

TEST (a_stage_pauses_while_the_next_is_full)
{
  g_autoptr (IrisProcess) head = process_new (hand_on, GUINT_TO_POINTER (1));
  g_autoptr (IrisProcess) tail = process_new (add_up, NULL);
  guint most = 0;

  iris_process_set_queue_limit (tail, 10);
  iris_process_connect (head, tail);
  feed (head, N_ITEMS);
  iris_process_close (head);
  iris_process_run (head);
  while (step_scheduler_step (scheduler))
    most = MAX (most, iris_process_get_queue_length (tail));
  ck_assert_uint_eq (n_worked, N_ITEMS);
  ck_assert_uint_eq (most, 10);
  ck_assert (iris_process_has_succeeded (tail));
}

TEST (what_does_not_fit_is_refused_if_one_asks)
{
  g_autoptr (IrisProcess) process = process_new (add_up, NULL);
  g_autoptr (IrisMessage) message = iris_message_ref_sink (iris_message_new (1));
  g_autoptr (GError) full = NULL, closed = NULL;

  iris_process_set_queue_limit (process, 1);
  ck_assert (iris_process_try_enqueue (process, message, NULL));
  ck_assert (!iris_process_try_enqueue (process, message, &full));
  ck_assert (g_error_matches (full, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK));
  iris_process_close (process);
  ck_assert (!iris_process_try_enqueue (process, message, &closed));
  ck_assert (g_error_matches (closed, G_IO_ERROR, G_IO_ERROR_CLOSED));
}

static void
count_down (IrisProcess *process, IrisMessage *work_item, gpointer data)
{
  n_worked++;
  if (work_item->what > 0)
    iris_process_recurse (process, iris_message_new (work_item->what - 1));
}

TEST (a_process_may_give_itself_more_when_it_was_closed)
{
  g_autoptr (IrisProcess) process = process_new (count_down, NULL);

  iris_process_enqueue (process, iris_message_new (N_ITEMS));
  iris_process_close (process);
  iris_process_run (process);
  step_scheduler_run (scheduler);
  ck_assert_uint_eq (n_worked, N_ITEMS + 1);
  ck_assert (iris_process_has_succeeded (process));
}

static void
fail_at (IrisProcess *process, IrisMessage *work_item, gpointer data)
{
  if (work_item->what == GPOINTER_TO_INT (data))
    IRIS_TASK_THROW_NEW (IRIS_TASK (process), G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
  else
    iris_process_forward (process, work_item);
}

TEST (an_error_ends_the_process_and_cancels_the_others)
{
  g_autoptr (IrisProcess) head = process_new (hand_on, GUINT_TO_POINTER (1));
  g_autoptr (IrisProcess) middle = process_new (fail_at, GINT_TO_POINTER (3));
  g_autoptr (IrisProcess) tail = process_new (add_up, NULL);

  iris_process_connect (head, middle);
  iris_process_connect (middle, tail);
  feed (head, N_ITEMS);
  iris_process_run (head);
  step_scheduler_run (scheduler);
  ck_assert (iris_process_has_failed (middle));
  ck_assert (iris_process_is_cancelled (head) && iris_process_is_cancelled (tail));
}

/* One journey; at step @at the chain is cancelled, or its scheduler shut down. */
static guint
chain_end_at (guint at, gboolean shut)
{
  g_autoptr (IrisScheduler) former = g_steal_pointer (&scheduler);
  IrisProcess *head, *tail;
  guint n = 0;

  scheduler = step_scheduler_new ();
  n_freed = 0;
  head = process_new (hand_on, GUINT_TO_POINTER (2));
  tail = process_new (add_up, NULL);
  iris_process_set_queue_limit (tail, 5);
  iris_process_connect (head, tail);
  feed (head, 20);
  iris_process_close (head);
  do
    {
      if (n == 1)
        iris_process_run (head);
      if (n++ != at)
        continue;
      if (shut)
        iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
      else
        iris_process_cancel (n % 2 == 0 ? head : tail);
    }
  while (step_scheduler_step (scheduler) || n <= 1);
  if (at == 0)
    iris_process_run (head);
  step_scheduler_run (scheduler);
  ck_assert (at == G_MAXUINT || !iris_process_is_executing (head));
  g_object_unref (head);
  g_object_unref (tail);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  ck_assert_uint_eq (n_freed, 2);
  g_clear_object (&scheduler);
  scheduler = g_steal_pointer (&former);

  return n;
}

TEST (a_chain_can_be_ended_at_every_step)
{
  guint n = chain_end_at (G_MAXUINT, FALSE);

  ck_assert_uint_gt (n, 5);
  for (guint at = 0; at < n; at++)
    {
      chain_end_at (at, FALSE);
      chain_end_at (at, TRUE);
    }
}

TEST (the_total_includes_what_is_expected_from_before)
{
  g_autoptr (IrisProcess) head = process_new (hand_on, GUINT_TO_POINTER (2));
  g_autoptr (IrisProcess) middle = process_new (hand_on, GUINT_TO_POINTER (1));
  g_autoptr (IrisProcess) tail = process_new (add_up, NULL);
  int total;

  iris_process_set_output_estimation (head, 2);
  iris_process_set_output_estimation (middle, 0.5f);
  iris_process_connect (head, middle);
  iris_process_connect (middle, tail);
  feed (head, 10);
  iris_process_get_status (middle, NULL, &total);
  ck_assert_int_eq (total, 20);
  iris_process_get_status (tail, NULL, &total);
  ck_assert_int_eq (total, 10);
}

/* --- a monitor ---------------------------------------------------------------------------------
 */

typedef struct
{
  GObject parent_instance;

  GString *story;
} TestMonitor;

typedef struct
{
  GObjectClass parent_class;
} TestMonitorClass;

static void
monitor_handle (IrisProgressMonitor *monitor, IrisProgressWatch *watch, IrisMessage *message)
{
  static const char names[] = "?CXpfPTt";

  g_string_append_c (((TestMonitor *) monitor)->story, names[message->what]);
}

static void
monitor_iface_init (IrisProgressMonitorInterface *iface)
{
  iface->handle_message = monitor_handle;
}

GType test_monitor_get_type (void);
G_DEFINE_TYPE_WITH_CODE (TestMonitor,
                         test_monitor,
                         G_TYPE_OBJECT,
                         G_IMPLEMENT_INTERFACE (IRIS_TYPE_PROGRESS_MONITOR, monitor_iface_init))

static void
test_monitor_finalize (GObject *object)
{
  g_string_free (((TestMonitor *) object)->story, TRUE);
  G_OBJECT_CLASS (test_monitor_parent_class)->finalize (object);
}

static void
test_monitor_class_init (TestMonitorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = test_monitor_finalize;
}

static void
test_monitor_init (TestMonitor *self)
{
  self->story = g_string_new (NULL);
}

static const char *
story_of (IrisProgressMonitor *monitor)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
  return ((TestMonitor *) monitor)->story->str;
}

TEST (a_monitor_is_told_in_order_and_to_the_end)
{
  g_autoptr (IrisProgressMonitor) monitor = g_object_new (test_monitor_get_type (), NULL);
  g_autoptr (IrisProcess) process = process_new (add_up, NULL);
  guint n_finished = 0;

  g_signal_connect_swapped (monitor, "finished", G_CALLBACK (g_atomic_int_inc), &n_finished);
  iris_process_set_title (process, "adding");
  iris_progress_monitor_watch_process (monitor, process, NULL);
  ck_assert (iris_progress_monitor_is_watching_task (monitor, IRIS_TASK (process)));
  feed (process, 3);
  iris_process_close (process);
  iris_process_run (process);
  step_scheduler_run (scheduler);
  /* The title, then total before processed, told at once and at the end. */
  ck_assert_str_eq (story_of (monitor), "tTPTPC");
  ck_assert_uint_eq (n_finished, 1);
  ck_assert (!iris_progress_monitor_is_watching_task (monitor, IRIS_TASK (process)));
  ck_assert_double_eq (iris_progress_monitor_get_fraction (monitor), 1);
  /* Who comes late learns the end, too. */
  iris_progress_monitor_watch_process (monitor, process, NULL);
  ck_assert_str_eq (story_of (monitor), "tTPTPCtTPC");
}

TEST (a_monitor_counts_by_weight_and_cancels)
{
  g_autoptr (IrisProgressMonitor) monitor = g_object_new (test_monitor_get_type (), NULL);
  g_autoptr (IrisProcess) process = process_new (add_up, NULL);
  g_autoptr (IrisProcess) gone = process_new (add_up, NULL);
  IrisPort *port = iris_progress_monitor_add_watch (monitor, NULL, "by hand", NULL);
  g_autoptr (GPtrArray) watches = iris_progress_monitor_get_watches (monitor);

  iris_progress_watch_set_weight (g_ptr_array_index (watches, 0), 3);
  iris_progress_monitor_watch_process (monitor, process, NULL);
  iris_port_post (port, iris_message_new_data (IRIS_PROGRESS_MESSAGE_FRACTION, G_TYPE_FLOAT, 0.5));
  ck_assert_str_eq (story_of (monitor), "f");
  ck_assert_double_eq (iris_progress_monitor_get_fraction (monitor), 0.375);
  iris_process_run (process);
  step_scheduler_run (scheduler);
  iris_progress_monitor_cancel (monitor);
  step_scheduler_run (scheduler);
  ck_assert (iris_process_is_cancelled (process));
  ck_assert_str_eq (story_of (monitor), "fX");
  ck_assert_uint_eq (iris_progress_monitor_get_n_watches (monitor), 1);

  /* A watch that is added when it was cancelled is told that, not completion. */
  iris_process_cancel (gone);
  iris_progress_monitor_watch_process (monitor, gone, NULL);
  ck_assert_str_eq (story_of (monitor), "fXX");
  iris_port_post (port, iris_message_new (IRIS_PROGRESS_MESSAGE_COMPLETE));
  ck_assert_str_eq (story_of (monitor), "fXXC");
}

TEST (a_chain_is_watched_as_a_group_and_outlives_its_monitor)
{
  g_autoptr (IrisProgressMonitor) monitor = g_object_new (test_monitor_get_type (), NULL);
  g_autoptr (IrisProcess) head = process_new (hand_on, GUINT_TO_POINTER (1));
  g_autoptr (IrisProcess) tail = process_new (add_up, NULL);
  g_autoptr (IrisProgressGroup) group = NULL;

  iris_process_connect (head, tail);
  group = iris_progress_monitor_watch_process_chain (monitor, tail, "chain", "links");
  ck_assert_str_eq (iris_progress_group_get_title (group), "chain");
  ck_assert_str_eq (iris_progress_group_get_plural (group), "links");
  ck_assert_uint_eq (iris_progress_monitor_get_n_watches (monitor), 2);
  iris_progress_monitor_set_permanent_mode (monitor, TRUE);
  iris_progress_monitor_set_watch_hide_delay (monitor, 500);
  feed (head, 3);
  iris_process_close (head);
  iris_process_run (head);
  ck_assert (step_scheduler_step (scheduler));
  g_clear_object (&monitor);
  step_scheduler_run (scheduler);
  ck_assert (iris_process_has_succeeded (tail));
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

TEST_MAIN ("process", setup, teardown)
