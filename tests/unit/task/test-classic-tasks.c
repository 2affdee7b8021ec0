/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The classic calls of tasks, processes and progress, each used as a program of 2011 used it: that
 * this file compiles is the half of the test.
 */
#include "core-test-util.h"

static CoreTestGate over = CORE_TEST_GATE_INIT;
static _Atomic guint n_items;

static void
list_folder (IrisTask *task, gpointer user_data)
{
  GList *list = g_list_prepend (NULL, g_strdup (user_data));

  IRIS_TASK_RETURN_VALUE (task, G_TYPE_POINTER, list);
}

static void
print_list (IrisTask *task, gpointer user_data)
{
  GValue value = G_VALUE_INIT;
  GList *list;

  iris_task_get_result (task, &value);
  list = g_value_get_pointer (&value);
  ck_assert_str_eq (list->data, "folder");
  g_list_free_full (list, g_free);
  core_test_gate_add (&over, 1);
}

/* As task-ls did. */
TEST (a_task_lists_and_a_callback_shows)
{
  IrisTask *task = iris_task_new (list_folder, "folder", NULL);

  iris_task_add_callback (task, print_list, NULL, NULL);
  iris_task_run (task);
  g_object_unref (task);
  core_test_gate_wait (&over, 1);
}

static void
throw_and_catch (IrisTask *task, gpointer user_data)
{
  GError *error = NULL;
  GError *copy = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "failed");
  GValue value = G_VALUE_INIT;

  IRIS_TASK_THROW_NEW (task, G_IO_ERROR, G_IO_ERROR_BUSY, "busy %d", 1);
  IRIS_TASK_THROW_NEW (task, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
  ck_assert (iris_task_get_fatal_error (task, &error));
  g_clear_error (&error);
  IRIS_TASK_CATCH (task, &error);
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY));
  g_clear_error (&error);
  IRIS_TASK_THROW (task, copy);
  iris_task_set_fatal_error (task, copy);
  iris_task_take_fatal_error (task, copy);
  IRIS_TASK_CATCH (task, NULL);
  ck_assert (!iris_task_get_fatal_error (task, NULL));

  g_value_init (&value, G_TYPE_INT);
  g_value_set_int (&value, 3);
  iris_task_set_result (task, &value);
  g_value_unset (&value);
  iris_task_set_result_gtype (task, G_TYPE_INT, 4);
  g_value_init (&value, G_TYPE_INT);
  iris_task_get_result (task, &value);
  ck_assert_int_eq (g_value_get_int (&value), 4);
  if (iris_task_is_async (task))
    iris_task_work_finished (task);
}

static void
look_on (IrisTask *task, gpointer user_data)
{
  ck_assert (iris_task_is_executing (task));
}

static void
answered (GObject *source, GAsyncResult *result, gpointer user_data)
{
  ck_assert (iris_task_has_succeeded (IRIS_TASK (result)));
  g_main_loop_quit (user_data);
}

TEST (everything_about_a_task)
{
  IrisScheduler *control = iris_scheduler_new (), *work = iris_scheduler_new_full (1, 2);
  GMainLoop *loop = g_main_loop_new (NULL, FALSE);
  GClosure *closure = g_cclosure_new (G_CALLBACK (throw_and_catch), NULL, NULL);
  GClosure *full = g_cclosure_new (G_CALLBACK (throw_and_catch), NULL, NULL);
  IrisTask *tasks[4], *groups[4];
  GList *list = NULL;

  g_closure_set_marshal (closure, g_cclosure_marshal_VOID__VOID);
  g_closure_set_marshal (full, g_cclosure_marshal_VOID__VOID);
  tasks[0] = iris_task_new_full (throw_and_catch, NULL, NULL, TRUE, control, work,
                                 g_main_context_default ());
  tasks[1] = iris_task_new_with_closure (closure);
  tasks[2] = iris_task_new_with_closure_full (full, FALSE, control, work, NULL);
  tasks[3] = g_object_new (IRIS_TYPE_TASK, "control-scheduler", control, "work-scheduler", work,
                           NULL);
  iris_task_set_main_context (tasks[1], NULL);
  iris_task_set_progress_mode (tasks[1], IRIS_PROGRESS_CONTINUOUS);
  ck_assert_uint_eq (iris_task_get_progress_mode (tasks[1]), IRIS_PROGRESS_CONTINUOUS);
  for (guint i = 0; i < 4; i++)
    {
      iris_task_add_callback_closure (tasks[i], g_cclosure_new (G_CALLBACK (look_on), NULL, NULL));
      iris_task_add_errback_closure (tasks[i], g_cclosure_new (G_CALLBACK (look_on), NULL, NULL));
      iris_task_add_both_closure (tasks[i], g_cclosure_new (G_CALLBACK (look_on), NULL, NULL),
                                  g_cclosure_new (G_CALLBACK (look_on), NULL, NULL));
      list = g_list_append (list, tasks[i]);
    }
  iris_task_add_dependency (tasks[1], tasks[2]);
  groups[0] = iris_task_all_of (list);
  groups[1] = iris_task_any_of (list);
  groups[2] = iris_task_vall_of (tasks[0], tasks[1], NULL);
  groups[3] = iris_task_vany_of (tasks[0], tasks[1], NULL);
  g_list_free (list);
  iris_task_run_with_async_result (groups[0], answered, loop);
  for (guint i = 1; i < 4; i++)
    iris_task_run (groups[i]);
  for (guint i = 0; i < 4; i++)
    iris_task_run (tasks[i]);
  for (guint i = 0; i < 4; i++)
    {
      g_object_unref (groups[i]);
      g_object_unref (tasks[i]);
    }
  g_main_loop_run (loop);
  g_main_loop_unref (loop);
  g_object_unref (control);
  g_object_unref (work);
}

static void
forward (IrisProcess *process, IrisMessage *work_item, gpointer user_data)
{
  ck_assert (iris_process_is_executing (process) && !iris_process_is_cancelled (process));
  atomic_fetch_add (&n_items, 1);
  if (work_item->what > 0)
    iris_process_recurse (process, iris_message_new (work_item->what - 1));
  if (iris_process_has_sink (process))
    iris_process_forward (process, work_item);
}

static void
watched (IrisMessage *message, gpointer data)
{
  if (message->what == IRIS_PROGRESS_MESSAGE_COMPLETE)
    core_test_gate_add (&over, 1);
}

TEST (everything_about_processes)
{
  IrisProcess *head = iris_process_new (NULL, NULL, NULL);
  IrisProcess *tail = iris_process_new_with_func (forward, NULL, NULL);
  IrisPort *port = iris_port_new ();
  IrisReceiver *receiver = iris_arbiter_receive (NULL, port, watched, NULL, NULL);
  int processed, total;

  core_test_gate_close (&over);
  iris_process_set_func (head, forward, NULL, NULL);
  iris_process_set_title (head, "Looking");
  ck_assert_str_eq (iris_process_get_title (head), "Looking");
  iris_process_set_output_estimation (head, 0.5f);
  iris_process_connect (head, tail);
  ck_assert (iris_process_has_source (tail) && iris_process_get_sink (head) == tail);
  iris_process_add_watch (tail, port);
  iris_process_enqueue (head, iris_message_new (0));
  iris_process_enqueue (head, iris_message_new (0));
  ck_assert_uint_eq (iris_process_get_queue_length (head), 2);
  ck_assert (iris_process_is_open (head));
  iris_process_close (head);
  iris_process_run (head);
  g_object_unref (head);
  core_test_gate_wait (&over, 1);
  iris_process_get_status (tail, &processed, &total);
  ck_assert_int_eq (processed, 2);
  ck_assert (iris_process_is_finished (tail) && iris_process_has_succeeded (tail));
  ck_assert (!iris_process_has_failed (tail));
  ck_assert_uint_eq (atomic_load (&n_items), 4);
  iris_receiver_destroy (receiver, FALSE);
  g_object_unref (port);
  g_object_unref (tail);
}

TEST_MAIN ("classic-tasks", NULL, NULL)
