/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A program may end while its schedulers have work: by returning from main(), by exit() in the main
 * thread, in an item, or in another thread. It ends at once, with its own status, and without a
 * report of a sanitizer.
 *
 * The test runs itself: with two arguments it is the program that ends.
 */
#include "core-test-util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_ROUNDS CORE_TEST_LOAD (10)
#define N_CHAINS 50
#define STATUS   7
#define TIME_OUT 120 /* seconds; the alarm ends a program that hangs */

static const char *const ways[] = { "return", "main", "item", "thread" };

/* --- the program that ends -------------------------------------------------------------------- */

static IrisScheduler *scheduler;
static IrisPort *port;
static CoreTestGate under_way = CORE_TEST_GATE_INIT;

static void
run_chain (gpointer data)
{
  iris_scheduler_queue (scheduler, run_chain, g_strdup ("some memory"), g_free);
  iris_port_post (port, iris_message_new (1));
  core_test_gate_add (&under_way, 1);
}

static void
handle (IrisMessage *message, gpointer data)
{
}

static void
call_exit (gpointer data)
{
  exit (STATUS);
}

static gpointer
exit_in_thread (gpointer data)
{
  exit (STATUS);

  return NULL;
}

static int
be_ended (const char *way, int kind)
{
  alarm (TIME_OUT);
  scheduler = core_test_make (&core_test_kinds[kind]);
  port = iris_port_new ();
  iris_arbiter_receive (scheduler, port, handle, NULL, NULL);
  for (int i = 0; i < N_CHAINS; i++)
    iris_scheduler_queue (scheduler, run_chain, NULL, NULL);
  core_test_gate_wait (&under_way, 100);

  if (strcmp (way, "return") == 0)
    return STATUS;
  if (strcmp (way, "main") == 0)
    exit (STATUS);
  if (strcmp (way, "item") == 0)
    iris_scheduler_queue (scheduler, call_exit, NULL, NULL);
  else
    g_thread_unref (g_thread_new ("exit", exit_in_thread, NULL));
  for (;;)
    pause ();
}

/* --- the test --------------------------------------------------------------------------------- */

START_TEST (a_program_may_end_amid_work)
{
  const char *way = ways[_i / core_test_n_kinds];
  g_autofree char *kind = g_strdup_printf ("%d", _i % core_test_n_kinds);
  const char *const command[] = { "/proc/self/exe", way, kind, NULL };

  for (int round = 0; round < N_ROUNDS; round++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *errors = NULL;
      int status;

      if (!g_spawn_sync (NULL, (char **) command, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                         NULL, &errors, &status, &error))
        ck_abort_msg ("%s", error->message);
      ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == STATUS,
                     "%s on %s: status %#x\n%s", way, core_test_kinds[_i % core_test_n_kinds].name,
                     status, errors);
      ck_assert_str_eq (errors, "");
    }
}
END_TEST

int
main (int argc, char **argv)
{
  Suite *suite;
  TCase *all;

  if (argc == 3)
    return be_ended (argv[1], (int) strtol (argv[2], NULL, 10));

  suite = suite_create ("exit");
  all = tcase_create ("all");
  tcase_set_timeout (all, 0);
  tcase_add_loop_test (all, a_program_may_end_amid_work, 0,
                       (int) G_N_ELEMENTS (ways) * core_test_n_kinds);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
