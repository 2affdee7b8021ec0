/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Programs as they were written in 2011, from the public header alone and with what GLib has
 * deprecated since: messages, ports, receivers, arbiters, services, schedulers, containers, tasks.
 * That this file compiles is the half of the test; what each program must do is the other.
 */
#define GLIB_DISABLE_DEPRECATION_WARNINGS
#include "core-test-run.h"

#include <check.h>
#include <gio/gio.h>
#include <iris/iris.h>

/* Every name of 0.3 that doc/migrating.md does not take away. */
#define NAME(function) ((void (*) (void)) (function))

/* clang-format off */
static void (*const names[]) (void) = {
  NAME (iris_init),
  /* Containers */
  NAME (iris_queue_new), NAME (iris_queue_push), NAME (iris_queue_pop),
  NAME (iris_queue_try_pop), NAME (iris_queue_timed_pop), NAME (iris_queue_try_pop_or_close),
  NAME (iris_queue_timed_pop_or_close), NAME (iris_queue_close), NAME (iris_queue_get_length),
  NAME (iris_queue_is_closed), NAME (iris_lfqueue_new), NAME (iris_rrobin_new),
  NAME (iris_rrobin_ref), NAME (iris_rrobin_unref), NAME (iris_rrobin_append),
  NAME (iris_rrobin_remove), NAME (iris_rrobin_apply), NAME (iris_rrobin_foreach),
  NAME (iris_stack_new), NAME (iris_stack_push), NAME (iris_stack_pop), NAME (iris_stack_ref),
  NAME (iris_stack_unref),
  /* Messages */
  NAME (iris_message_new), NAME (iris_message_new_data), NAME (iris_message_new_items),
  NAME (iris_message_ref), NAME (iris_message_ref_sink), NAME (iris_message_unref),
  NAME (iris_message_copy), NAME (iris_message_get_data), NAME (iris_message_set_data),
  NAME (iris_message_count_names), NAME (iris_message_is_empty), NAME (iris_message_contains),
  NAME (iris_message_get_value), NAME (iris_message_set_value), NAME (iris_message_get_string),
  NAME (iris_message_set_string), NAME (iris_message_get_int), NAME (iris_message_set_int),
  NAME (iris_message_get_int64), NAME (iris_message_set_int64), NAME (iris_message_get_float),
  NAME (iris_message_set_float), NAME (iris_message_get_double), NAME (iris_message_set_double),
  NAME (iris_message_get_long), NAME (iris_message_set_long), NAME (iris_message_get_ulong),
  NAME (iris_message_set_ulong), NAME (iris_message_get_char), NAME (iris_message_set_char),
  NAME (iris_message_get_uchar), NAME (iris_message_set_uchar), NAME (iris_message_get_boolean),
  NAME (iris_message_set_boolean), NAME (iris_message_get_object),
  NAME (iris_message_set_object), NAME (iris_message_get_pointer),
  NAME (iris_message_set_pointer), NAME (iris_message_set_pointer_full),
  /* Ports, receivers, arbiters, services */
  NAME (iris_port_new), NAME (iris_port_post), NAME (iris_port_resume),
  NAME (iris_port_is_paused), NAME (iris_port_has_receiver), NAME (iris_port_get_receiver),
  NAME (iris_port_set_receiver), NAME (iris_port_get_queue_length), NAME (iris_receiver_destroy),
  NAME (iris_arbiter_receive), NAME (iris_arbiter_coordinate), NAME (iris_service_start),
  NAME (iris_service_stop), NAME (iris_service_send_exclusive),
  NAME (iris_service_send_concurrent), NAME (iris_service_is_started),
  /* Schedulers */
  NAME (iris_scheduler_new), NAME (iris_scheduler_new_full),
  NAME (iris_scheduler_get_min_threads), NAME (iris_scheduler_get_max_threads),
  NAME (iris_scheduler_queue), NAME (iris_scheduler_unqueue), NAME (iris_scheduler_foreach),
  NAME (iris_scheduler_get_n_cpu), NAME (iris_get_default_control_scheduler),
  NAME (iris_get_default_work_scheduler), NAME (iris_set_default_control_scheduler),
  NAME (iris_set_default_work_scheduler), NAME (iris_lfscheduler_new),
  NAME (iris_lfscheduler_new_full), NAME (iris_wsscheduler_new),
  NAME (iris_wsscheduler_new_full), NAME (iris_gmainscheduler_new),
  NAME (iris_gmainscheduler_get_context),
  /* Tasks */
  NAME (iris_task_new), NAME (iris_task_new_with_closure), NAME (iris_task_new_full),
  NAME (iris_task_new_with_closure_full), NAME (iris_task_run),
  NAME (iris_task_run_with_async_result), NAME (iris_task_cancel),
  NAME (iris_task_work_finished), NAME (iris_task_get_progress_mode),
  NAME (iris_task_set_progress_mode), NAME (iris_task_add_callback),
  NAME (iris_task_add_errback), NAME (iris_task_add_both), NAME (iris_task_add_callback_closure),
  NAME (iris_task_add_errback_closure), NAME (iris_task_add_both_closure),
  NAME (iris_task_add_dependency), NAME (iris_task_is_async), NAME (iris_task_is_executing),
  NAME (iris_task_is_finished), NAME (iris_task_is_cancelled), NAME (iris_task_has_succeeded),
  NAME (iris_task_has_failed), NAME (iris_task_get_fatal_error),
  NAME (iris_task_set_fatal_error), NAME (iris_task_take_fatal_error),
  NAME (iris_task_get_result), NAME (iris_task_set_result), NAME (iris_task_set_result_gtype),
  NAME (iris_task_get_main_context), NAME (iris_task_set_main_context), NAME (iris_task_all_of),
  NAME (iris_task_any_of), NAME (iris_task_vall_of), NAME (iris_task_vany_of),
  /* Processes and progress */
  NAME (iris_process_new), NAME (iris_process_new_with_closure), NAME (iris_process_run),
  NAME (iris_process_cancel), NAME (iris_process_close), NAME (iris_process_connect),
  NAME (iris_process_enqueue), NAME (iris_process_forward), NAME (iris_process_recurse),
  NAME (iris_process_is_open), NAME (iris_process_is_executing), NAME (iris_process_is_finished),
  NAME (iris_process_has_succeeded), NAME (iris_process_has_failed),
  NAME (iris_process_is_cancelled), NAME (iris_process_has_source), NAME (iris_process_has_sink),
  NAME (iris_process_get_source), NAME (iris_process_get_sink), NAME (iris_process_get_title),
  NAME (iris_process_get_status), NAME (iris_process_get_queue_length),
  NAME (iris_process_set_func), NAME (iris_process_set_closure), NAME (iris_process_set_title),
  NAME (iris_process_set_output_estimation), NAME (iris_process_add_watch),
  NAME (iris_progress_monitor_add_group), NAME (iris_progress_monitor_add_watch),
  NAME (iris_progress_monitor_set_permanent_mode),
  NAME (iris_progress_monitor_set_watch_hide_delay), NAME (iris_progress_monitor_watch_process),
  NAME (iris_progress_monitor_watch_process_chain),
  NAME (iris_progress_monitor_watch_process_chain_in_group), NAME (iris_progress_group_ref),
  NAME (iris_progress_group_unref),
};
/* clang-format on */

TEST (every_name_is_there)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    ck_assert_msg (names[i] != NULL, "name %u", i);
}

/* What the programs of that time waited with. */
static GMutex *mutex;
static GCond *cond;
static gint n_handled, n_wanted;

static void
setup (void)
{
  g_type_init ();
  if (!g_thread_supported ())
    g_thread_init (NULL);
  iris_init ();
  mutex = g_mutex_new ();
  cond = g_cond_new ();
  n_handled = 0;
}

static void
teardown (void)
{
  g_mutex_free (mutex);
  g_cond_free (cond);
}

static void
count_message (IrisMessage *message, gpointer data)
{
  g_mutex_lock (mutex);
  if (++n_handled == n_wanted)
    g_cond_signal (cond);
  g_mutex_unlock (mutex);
}

static void
wait_for_all (void)
{
  g_mutex_lock (mutex);
  while (n_handled < n_wanted)
    g_cond_wait (cond, mutex);
  g_mutex_unlock (mutex);
}

/* A flood of messages from the main thread. */
TEST (basic)
{
  IrisScheduler *scheduler = iris_scheduler_new ();
  IrisPort *port = iris_port_new ();
  IrisReceiver *receiver = iris_arbiter_receive (scheduler, port, count_message, NULL, NULL);
  gint i;

  n_wanted = 10000;
  for (i = 0; i < n_wanted; i++)
    iris_port_post (port, iris_message_new (1));
  wait_for_all ();
  iris_receiver_destroy (receiver, FALSE);
  g_object_unref (port);
  g_object_unref (scheduler);
}

#define N_FANS 100

/* Each message makes a port, a receiver and many messages more. */
static void
fan_out (IrisMessage *message, gpointer data)
{
  IrisPort *port = iris_port_new ();
  gint i;

  iris_arbiter_receive (IRIS_SCHEDULER (data), port, count_message, NULL, NULL);
  for (i = 0; i < N_FANS; i++)
    iris_port_post (port, iris_message_new (message->what));
  g_object_unref (port);
}

TEST (recursive)
{
  IrisScheduler *schedulers[3];
  gint i;

  schedulers[0] = iris_scheduler_new ();
  schedulers[1] = iris_lfscheduler_new ();
  schedulers[2] = iris_wsscheduler_new ();
  for (i = 0; i < 3; i++)
    {
      IrisPort *port = iris_port_new ();
      IrisReceiver *receiver = iris_arbiter_receive (schedulers[i], port, fan_out, schedulers[i],
                                                     NULL);
      gint j;

      n_handled = 0;
      n_wanted = N_FANS * N_FANS;
      iris_port_set_receiver (port, receiver);
      for (j = 0; j < N_FANS; j++)
        iris_port_post (port, iris_message_new (1));
      wait_for_all ();
      g_object_unref (port);
      g_object_unref (schedulers[i]);
    }
}

static gint n_inside, n_wrong, n_exclusive, n_concurrent;

static void
handle_exclusive (IrisMessage *message, gpointer data)
{
  if (g_atomic_int_add (&n_inside, 1000) != 0)
    g_atomic_int_inc (&n_wrong);
  n_exclusive++;
  g_atomic_int_add (&n_inside, -1000);
}

static void
handle_concurrent (IrisMessage *message, gpointer data)
{
  if (g_atomic_int_add (&n_inside, 1) >= 1000)
    g_atomic_int_inc (&n_wrong);
  g_atomic_int_inc (&n_concurrent);
  g_atomic_int_add (&n_inside, -1);
}

/* Readers, writers and an end, on the default scheduler. */
TEST (coordinator)
{
  IrisPort *exclusive = iris_port_new (), *concurrent = iris_port_new ();
  IrisPort *end = iris_port_new ();
  IrisArbiter *arbiter = iris_arbiter_coordinate (
      iris_arbiter_receive (NULL, exclusive, handle_exclusive, NULL, NULL),
      iris_arbiter_receive (NULL, concurrent, handle_concurrent, NULL, NULL),
      iris_arbiter_receive (NULL, end, count_message, NULL, NULL));
  gint i;

  ck_assert (IRIS_IS_ARBITER (arbiter));
  n_inside = n_wrong = n_exclusive = n_concurrent = 0;
  n_wanted = 1;
  for (i = 0; i < 1000; i++)
    iris_port_post (i % 100 == 0 ? exclusive : concurrent, iris_message_new (1));
  iris_port_post (end, iris_message_new (1));
  wait_for_all ();
  ck_assert_int_eq (n_wrong, 0);
  ck_assert_int_eq (n_exclusive, 10);
  ck_assert_int_eq (n_concurrent, 990);
  ck_assert (!iris_port_has_receiver (exclusive));
  g_object_unref (exclusive);
  g_object_unref (concurrent);
  g_object_unref (end);
}

static void
sum_items (IrisMessage *message, gpointer data)
{
  GValue value = { 0 };

  ck_assert (iris_message_contains (message, "text") && !iris_message_is_empty (message));
  ck_assert_uint_eq (iris_message_count_names (message), 4);
  ck_assert_str_eq (iris_message_get_string (message, "text"), "seven");
  ck_assert_int_eq (iris_message_get_int (message, "number"), 7);
  ck_assert (iris_message_get_boolean (message, "prime"));
  iris_message_get_value (message, "half", &value);
  ck_assert (g_value_get_double (&value) == 3.5);
  g_value_unset (&value);
  ck_assert_int_eq (g_value_get_int (iris_message_get_data (message)), 77);
  count_message (message, data);
}

TEST (messages_carry_items)
{
  IrisPort *port = iris_port_new ();
  IrisMessage *message = iris_message_new_items (1, "text", G_TYPE_STRING, "seven", "number",
                                                 G_TYPE_INT, 7, NULL);
  IrisMessage *copy;
  GValue value = { 0 };

  iris_message_set_boolean (message, "prime", TRUE);
  iris_message_set_double (message, "half", 3.5);
  g_value_init (&value, G_TYPE_INT);
  g_value_set_int (&value, 77);
  iris_message_set_data (message, &value);
  g_value_unset (&value);
  copy = iris_message_copy (message);
  iris_arbiter_receive (NULL, port, sum_items, NULL, NULL);
  n_wanted = 2;
  iris_port_post (port, message);
  iris_port_post (port, copy);
  wait_for_all ();
  g_object_unref (port);
}

static void
unqueue_mine (gpointer data)
{
  ck_abort_msg ("it was taken back");
}

static gboolean
find_mine (IrisScheduler *scheduler,
           IrisWorkHandle *work_item,
           IrisCallback callback,
           gpointer data,
           gpointer user_data)
{
  if (callback == unqueue_mine && iris_scheduler_unqueue (scheduler, work_item))
    g_atomic_int_inc ((gint *) user_data);

  return TRUE;
}

TEST (schedulers)
{
  GMainContext *context = g_main_context_new ();
  IrisScheduler *scheduler = iris_gmainscheduler_new (context);
  IrisScheduler *workers = iris_wsscheduler_new_full (1, 2);
  IrisWorkHandle *work;
  gint n_taken_back = 0;

  ck_assert_ptr_eq (iris_gmainscheduler_get_context (IRIS_GMAINSCHEDULER (scheduler)), context);
  work = iris_scheduler_queue_work (scheduler, unqueue_mine, NULL, NULL);
  iris_scheduler_foreach (scheduler, find_mine, &n_taken_back);
  while (g_main_context_iteration (context, FALSE))
    ;
  ck_assert_int_eq (n_taken_back, 1);
  ck_assert_int_eq (iris_scheduler_get_max_threads (workers), 2);
  ck_assert_int_eq (iris_scheduler_get_min_threads (workers), 2);
  ck_assert_int_eq (iris_scheduler_get_max_threads (scheduler), 1);
  ck_assert_uint_ge (iris_scheduler_get_n_cpu (), 1);
  iris_work_handle_unref (work);
  g_object_unref (workers);
  g_object_unref (scheduler);
  g_main_context_unref (context);
}

static IrisScheduler *expected;

static void
note_scheduler (IrisTask *task, gpointer data)
{
  ck_assert_ptr_eq (iris_task_get_work_scheduler (task), expected);
  count_message (NULL, NULL);
}

TEST (default_schedulers)
{
  IrisScheduler *control = iris_scheduler_new_full (1, 1), *got;
  IrisPort *port = iris_port_new ();
  IrisReceiver *receiver;
  IrisTask *task;

  ck_assert_ptr_eq (iris_get_default_control_scheduler (), iris_scheduler_get_default ());
  ck_assert_ptr_eq (iris_get_default_work_scheduler (), iris_scheduler_get_default ());
  expected = iris_wsscheduler_new_full (1, 1);
  iris_set_default_control_scheduler (control);
  iris_set_default_work_scheduler (expected);
  receiver = iris_arbiter_receive (NULL, port, count_message, NULL, NULL);
  g_object_get (receiver, "scheduler", &got, NULL);
  ck_assert_ptr_eq (got, control);
  ck_assert_ptr_eq (iris_get_default_control_scheduler (), control);
  n_wanted = 2;
  iris_port_post (port, iris_message_new (1));
  task = iris_task_new (note_scheduler, NULL, NULL);
  iris_task_run (task);
  g_object_unref (task);
  wait_for_all ();

  iris_set_default_control_scheduler (iris_scheduler_get_default ());
  iris_set_default_work_scheduler (iris_scheduler_get_default ());
  g_object_unref (port);
  g_object_unref (got);
  g_object_unref (control);
  g_object_unref (expected);
}

TEST (ports_and_their_receivers)
{
  IrisPort *port = iris_port_new ();
  IrisReceiver *receiver;
  gint i;

  n_wanted = 10;
  for (i = 0; i < 5; i++)
    iris_port_post (port, iris_message_new (1));
  ck_assert (iris_port_get_receiver (port) == NULL && !iris_port_is_paused (port));
  receiver = iris_arbiter_receive (NULL, port, count_message, NULL, NULL);
  ck_assert_ptr_eq (iris_port_get_receiver (port), receiver);
  iris_port_resume (port);
  ck_assert (!iris_port_is_paused (port));
  iris_port_set_receiver (port, NULL);
  receiver = iris_arbiter_receive (NULL, port, count_message, NULL, NULL);
  for (i = 0; i < 5; i++)
    iris_port_post (port, iris_message_new (1));
  wait_for_all ();
  ck_assert_uint_eq (iris_port_get_queue_length (port), 0);
  iris_receiver_destroy (receiver, FALSE);
  g_object_unref (port);
}

/* A service, with the boilerplate of the time. */
typedef struct
{
  IrisService parent;
} Clerk;

typedef struct
{
  IrisServiceClass parent_class;
} ClerkClass;

static GType clerk_get_type (void);
G_DEFINE_TYPE (Clerk, clerk, IRIS_TYPE_SERVICE)

static void
clerk_handle (IrisService *service, IrisMessage *message)
{
  count_message (message, NULL);
}

static void
clerk_class_init (ClerkClass *klass)
{
  IRIS_SERVICE_CLASS (klass)->handle_exclusive = clerk_handle;
  IRIS_SERVICE_CLASS (klass)->handle_concurrent = clerk_handle;
}

static void
clerk_init (Clerk *clerk)
{
}

TEST (service)
{
  IrisService *clerk = g_object_new (clerk_get_type (), NULL);

  iris_service_start (clerk);
  ck_assert (iris_service_is_started (clerk));
  n_wanted = 2;
  iris_service_send_exclusive (clerk, iris_message_new (1));
  iris_service_send_concurrent (clerk, iris_message_new (2));
  wait_for_all ();
  iris_service_stop (clerk);
  g_object_unref (clerk);
}

static gboolean
refuse_first (gpointer data, gpointer user_data)
{
  return data != user_data;
}

static gboolean
count_member (IrisRRobin *rrobin, gpointer data, gpointer user_data)
{
  (*(gint *) user_data)++;

  return TRUE;
}

TEST (containers)
{
  IrisQueue *queues[2];
  IrisRRobin *rrobin = iris_rrobin_new (4);
  IrisStack *stack = iris_stack_new ();
  gchar first[] = "first", second[] = "second";
  gint n_members = 0;
  gint i;

  queues[0] = iris_queue_new ();
  queues[1] = iris_lfqueue_new ();
  for (i = 0; i < 2; i++)
    {
      ck_assert (iris_queue_push (queues[i], first) && iris_queue_push (queues[i], second));
      ck_assert_uint_eq (iris_queue_get_length (queues[i]), 2);
      ck_assert_str_eq (iris_queue_pop (queues[i]), first);
      ck_assert_str_eq (iris_queue_try_pop (queues[i]), second);
      ck_assert (iris_queue_try_pop_or_close (queues[i]) == NULL);
      ck_assert (iris_queue_is_closed (queues[i]) && !iris_queue_push (queues[i], first));
      g_object_unref (queues[i]);
    }
  iris_stack_push (stack, first);
  iris_stack_push (stack, second);
  ck_assert_str_eq (iris_stack_pop (stack), second);
  ck_assert_str_eq (iris_stack_pop (stack), first);
  iris_stack_unref (stack);
  ck_assert (iris_rrobin_append (rrobin, rrobin) && iris_rrobin_append (rrobin, stack));
  ck_assert (iris_rrobin_apply (rrobin, refuse_first, rrobin));
  iris_rrobin_foreach (rrobin, count_member, &n_members);
  ck_assert_int_eq (n_members, 2);
  iris_rrobin_remove (rrobin, rrobin);
  iris_rrobin_unref (rrobin);
}

/* The names in a folder, listed on a worker and shown in the main loop. */
static void
list_names (IrisTask *task, gpointer user_data)
{
  GList *list = NULL;
  GError *error = NULL;
  GDir *dir = g_dir_open (user_data, 0, &error);
  const gchar *name;

  if (dir == NULL)
    {
      IRIS_TASK_THROW (task, error);
      g_error_free (error);
      return;
    }
  while ((name = g_dir_read_name (dir)) != NULL)
    list = g_list_prepend (list, g_strdup (name));
  g_dir_close (dir);
  IRIS_TASK_RETURN_VALUE (task, G_TYPE_POINTER, list);
}

static void
show_names (IrisTask *task, gpointer user_data)
{
  GValue value = { 0 };
  GList *list, *iter;

  iris_task_get_result (task, &value);
  list = g_value_get_pointer (&value);
  for (iter = list; iter != NULL; iter = iter->next)
    n_handled++;
  g_list_foreach (list, (GFunc) g_free, NULL);
  g_list_free (list);
  g_main_loop_quit (user_data);
}

static void
show_error (IrisTask *task, gpointer user_data)
{
  GError *error = NULL;

  IRIS_TASK_CATCH (task, &error);
  ck_assert (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
  g_error_free (error);
  g_main_loop_quit (user_data);
}

TEST (task_ls)
{
  const gchar *folders[] = { "/", "/there/is/no/such/folder" };
  GMainLoop *loop = g_main_loop_new (NULL, FALSE);
  gint i;

  for (i = 0; i < 2; i++)
    {
      IrisTask *task = iris_task_new (list_names, (gpointer) folders[i], NULL);

      iris_task_set_main_context (task, g_main_context_default ());
      iris_task_add_both (task, show_names, show_error, loop, NULL);
      iris_task_run (task);
      g_object_unref (task);
      g_main_loop_run (loop);
    }
  ck_assert_int_gt (n_handled, 1);
  g_main_loop_unref (loop);
}

TEST_MAIN ("classic", setup, teardown)
