/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ThreadSanitizer sees GLib's synchronisation (so a correct program is clean) and still sees races
 * (so a clean run means something), also in callbacks that GLib makes.
 *
 * Each case is a scenario that this program runs in a process of its own: without an argument it
 * is the test, with one it is the scenario of that name.
 */
#include "core-test-run.h"

#include <check.h>
#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 200

static int shared;
static GMutex mutex;
static GCond cond;
static const char *program;

/* Runs the function in two threads and waits for both. */
static void
run_two (GThreadFunc func, gpointer data)
{
  GThread *one = g_thread_new ("one", func, data);
  GThread *two = g_thread_new ("two", func, data);

  g_thread_join (one);
  g_thread_join (two);
}

/* --- correct programs ------------------------------------------------------------------------- */

static gpointer
add_under_lock (gpointer data)
{
  for (int i = 0; i < ROUNDS; i++)
    {
      g_mutex_lock (&mutex);
      shared++;
      g_cond_signal (&cond);
      g_mutex_unlock (&mutex);
    }
  return NULL;
}

static void
scenario_mutex (void)
{
  GThread *one = g_thread_new ("one", add_under_lock, NULL);

  g_mutex_lock (&mutex);
  while (shared < ROUNDS)
    g_cond_wait (&cond, &mutex);
  g_mutex_unlock (&mutex);
  g_thread_join (one);
  run_two (add_under_lock, NULL);
}

static gpointer
pop_all (gpointer queue)
{
  for (int left = ROUNDS; left > 0; left--)
    {
      int *item = g_async_queue_pop (queue);

      shared += *item;
      g_free (item);
    }
  return NULL;
}

static void
scenario_async_queue (void)
{
  g_autoptr (GAsyncQueue) queue = g_async_queue_new ();
  GThread *consumer = g_thread_new ("consumer", pop_all, queue);

  for (int i = 0; i < ROUNDS; i++)
    {
      int *item = g_new (int, 1);

      *item = i;
      g_async_queue_push (queue, item);
    }
  g_thread_join (consumer);
}

static gboolean
add_in_main (gpointer data)
{
  shared += *(int *) data;
  return G_SOURCE_REMOVE;
}

static gboolean
quit_loop (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static gpointer
post_to_main (gpointer loop)
{
  for (int i = 0; i < ROUNDS; i++)
    {
      int *item = g_new (int, 1);

      *item = i;
      g_main_context_invoke_full (NULL, G_PRIORITY_DEFAULT, add_in_main, item, g_free);
    }
  g_idle_add (quit_loop, loop);
  return NULL;
}

static void
scenario_main_context (void)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  GThread *poster = g_thread_new ("poster", post_to_main, loop);

  g_main_loop_run (loop);
  g_thread_join (poster);
}

/* A source of our own, whose functions belong to the thread that owns the context. */

typedef struct
{
  GSource source;
  int n_asked;
} Asked;

static gboolean
asked_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;
  ((Asked *) source)->n_asked++;
  return TRUE;
}

static gboolean
asked_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  ((Asked *) source)->n_asked++;
  return G_SOURCE_CONTINUE;
}

static GSource *
attach_asked (GMainContext *context)
{
  static GSourceFuncs funcs = { .prepare = asked_prepare, .dispatch = asked_dispatch };
  GSource *source = g_source_new (&funcs, sizeof (Asked));

  g_source_attach (source, context);
  return source;
}

/* A thread iterates the context as long as it is the owner, and a thread takes the place of the
 * other; none of them waits for the other by any other means. */
static gpointer
iterate_or_own (gpointer data)
{
  GSource *source = data;
  GMainContext *context = g_source_get_context (source);

  for (int i = 0; i < ROUNDS; i++)
    if (i % 3 != 0)
      g_main_context_iteration (context, FALSE);
    else if (g_main_context_acquire (context))
      {
        ((Asked *) source)->n_asked++;
        g_main_context_release (context);
      }
  return NULL;
}

static void
scenario_owner (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  GSource *source = attach_asked (context);

  run_two (iterate_or_own, source);
  g_source_destroy (source);
  g_source_unref (source);
}

static void
double_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  int *result = g_new (int, 1);

  *result = 2 * *(int *) data;
  g_task_return_pointer (task, result, g_free);
}

static void
take_result (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree int *value = g_task_propagate_pointer (G_TASK (result), NULL);

  shared += *value;
  ++*(int *) data;
}

static void
scenario_task (void)
{
  int n_done = 0;

  for (int i = 0; i < ROUNDS; i++)
    {
      g_autoptr (GTask) task = g_task_new (NULL, NULL, take_result, &n_done);
      int *value = g_new (int, 1);

      *value = i;
      g_task_set_task_data (task, value, g_free);
      g_task_run_in_thread (task, double_in_thread);
    }
  while (n_done < ROUNDS)
    g_main_context_iteration (NULL, TRUE);
}

static gpointer
read_then_unref (gpointer bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  g_assert_true (data[0] == 'x');
  g_bytes_unref (bytes);
  return NULL;
}

static void
wipe (gpointer data)
{
  memset (data, 0, ROUNDS);
  g_free (data);
}

static void
scenario_reference_count (void)
{
  for (int i = 0; i < ROUNDS; i++)
    {
      char *data = g_malloc (ROUNDS);
      GBytes *bytes = g_bytes_new_with_free_func (data, ROUNDS, wipe, data);

      data[0] = 'x';
      g_bytes_ref (bytes);
      run_two (read_then_unref, bytes);
    }
}

static gpointer
initialise_once (gpointer data)
{
  static gsize once;
  static int value;

  if (g_once_init_enter (&once))
    {
      value = 42;
      g_once_init_leave (&once, 1);
    }
  g_assert_cmpint (value, ==, 42);
  return NULL;
}

static void
scenario_once (void)
{
  run_two (initialise_once, NULL);
}

/* --- wrong programs --------------------------------------------------------------------------- */

static gpointer
add_without_lock (gpointer data)
{
  for (int i = 0; i < ROUNDS; i++)
    shared++;
  return NULL;
}

static void
scenario_race (void)
{
  run_two (add_without_lock, NULL);
}

static gboolean
add_and_quit (gpointer loop)
{
  shared++;
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

/* The callback has GLib's dispatcher below it on the stack. */
static void
scenario_race_in_callback (void)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  GThread *thread = g_thread_new ("adder", add_without_lock, NULL);

  g_idle_add (add_and_quit, loop);
  g_main_loop_run (loop);
  g_thread_join (thread);
}

static gpointer
ask_without_owning (gpointer asked)
{
  for (int i = 0; i < ROUNDS; i++)
    ((Asked *) asked)->n_asked++;
  return NULL;
}

/* What belongs to the owner of the context, touched by another. */
static void
scenario_race_with_owner (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  GSource *source = attach_asked (context);
  GThread *thread = g_thread_new ("asker", ask_without_owning, source);

  for (int i = 0; i < ROUNDS; i++)
    g_main_context_iteration (context, FALSE);
  g_thread_join (thread);
  g_source_destroy (source);
  g_source_unref (source);
}

static gpointer
write_into (gpointer data)
{
  *(int *) data = 1;
  return NULL;
}

static void
scenario_race_with_free (void)
{
  int *data = g_new0 (int, 4);
  GThread *writer = g_thread_new ("writer", write_into, data);

  g_free (data);
  g_thread_join (writer);
}

static gpointer
lock_in_turn (gpointer data)
{
  GMutex *both = data;

  g_mutex_lock (&both[0]);
  g_mutex_lock (&both[1]);
  g_mutex_unlock (&both[1]);
  g_mutex_unlock (&both[0]);
  return NULL;
}

static void
scenario_lock_order (void)
{
  static GMutex both[2];

  g_thread_join (g_thread_new ("forth", lock_in_turn, both));
  g_mutex_lock (&both[1]);
  g_mutex_lock (&both[0]);
  g_mutex_unlock (&both[0]);
  g_mutex_unlock (&both[1]);
}

/* --- the test --------------------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  void (*run) (void);
  const char *report; /* what the sanitizer must say, or NULL: nothing */
} Scenario;

static const Scenario scenarios[] = {
  { "mutex", scenario_mutex, NULL },
  { "async-queue", scenario_async_queue, NULL },
  { "main-context", scenario_main_context, NULL },
  { "owner", scenario_owner, NULL },
  { "task", scenario_task, NULL },
  { "reference-count", scenario_reference_count, NULL },
  { "once", scenario_once, NULL },
  { "race", scenario_race, "data race" },
  { "race-in-callback", scenario_race_in_callback, "data race" },
  { "race-with-owner", scenario_race_with_owner, "data race" },
  { "race-with-free", scenario_race_with_free, "race" },
  { "lock-order", scenario_lock_order, "lock-order-inversion" },
};

START_TEST (a_correct_program_is_clean_and_a_wrong_one_is_not)
{
  const Scenario *scenario = &scenarios[_i];
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  g_autoptr (GSubprocess) child = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *options = NULL;
  g_autofree char *output = NULL;

  /* The report comes to us, not to the log that the whole run must leave empty. */
  options = g_strconcat (g_getenv ("TSAN_OPTIONS"), ":log_path=stderr:exitcode=66", NULL);
  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_setenv (launcher, "TSAN_OPTIONS", options, TRUE);
  child = g_subprocess_launcher_spawn (launcher, &error, program, scenario->name, NULL);
  ck_assert_msg (child != NULL, "%s", error ? error->message : "");
  ck_assert (g_subprocess_communicate_utf8 (child, NULL, NULL, NULL, &output, &error));

  ck_assert_msg (g_subprocess_get_if_exited (child), "%s was killed", scenario->name);
  if (scenario->report == NULL)
    {
      ck_assert_msg (output[0] == '\0', "%s", output);
      ck_assert_int_eq (g_subprocess_get_exit_status (child), 0);
    }
  else
    {
      ck_assert_msg (strstr (output, scenario->report) != NULL, "%s: no report", scenario->name);
      ck_assert_int_eq (g_subprocess_get_exit_status (child), 66);
    }
}
END_TEST

static int
run_suite (void)
{
  Suite *suite = suite_create ("tsan");
  TCase *tcase = tcase_create ("scenarios");

  tcase_set_timeout (tcase, 50);
  tcase_add_loop_test (tcase, a_correct_program_is_clean_and_a_wrong_one_is_not, 0,
                       G_N_ELEMENTS (scenarios));
  suite_add_tcase (suite, tcase);
  return core_test_run (suite);
}

int
main (int argc, char **argv)
{
  program = argv[0];
  if (argc < 2)
    return run_suite ();

  for (gsize i = 0; i < G_N_ELEMENTS (scenarios); i++)
    if (strcmp (argv[1], scenarios[i].name) == 0)
      {
        scenarios[i].run ();
        return EXIT_SUCCESS;
      }
  return EXIT_FAILURE;
}
