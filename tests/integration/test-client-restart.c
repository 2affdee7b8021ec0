/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Clients of libiris-client while their irisd is started anew, with the same journal and sockets.
 *
 * A ledger counts the runs of each item: its command writes its number there. Another one counts
 * the ends that a program is told.
 */
#include "irisd-home.h"

#include <iris-client/iris-client.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define N_CLIENTS  4
#define N_ITEMS    (SANITIZED ? 12 : 60) /* of each client */
#define N_RESTARTS 3

static Home *home;
static Irisd *irisd;
static char *ledger;

static void
set_up (void)
{
  home = home_new ();
  ledger = g_build_filename (home->base, "ledger", NULL);
  ck_assert (g_file_set_contents (ledger, "", 0, NULL));
}

static void
tear_down (void)
{
  if (irisd != NULL)
    irisd_stop (g_steal_pointer (&irisd));
  g_clear_pointer (&home, home_free);
  g_clear_pointer (&ledger, g_free);
}

/* What a program was told of an item. */
typedef struct
{
  guint n_ends;
  char *text;
  GError *error;
} Told;

static void
told_clear (Told *told)
{
  g_clear_pointer (&told->text, g_free);
  g_clear_error (&told->error);
}

static void
on_end (GObject *source, GAsyncResult *async, gpointer data)
{
  Told *told = data;
  g_autoptr (IrisResult)
      result = iris_client_submit_finish (IRIS_CLIENT (source), async, &told->error);

  told->n_ends++;
  if (result != NULL)
    told->text = iris_result_dup_text (result);
}

static void
wait_for (Told *told)
{
  while (told->n_ends == 0)
    g_main_context_iteration (NULL, TRUE);
}

static void
expect_text (Told *told, const char *text)
{
  wait_for (told);
  ck_assert_msg (told->error == NULL, "%s", told->error != NULL ? told->error->message : "");
  ck_assert_str_eq (told->text, text);
  ck_assert_uint_eq (told->n_ends, 1);
  told_clear (told);
}

static void
expect_error (Told *told, int code)
{
  wait_for (told);
  ck_assert_msg (g_error_matches (told->error, IRIS_CLIENT_ERROR, code), "%s",
                 told->error != NULL ? told->error->message : told->text);
  told_clear (told);
}

static void
submit_script (IrisClient *client, const char *script, IrisDurability durability, Told *told)
{
  g_autoptr (IrisRequest) request = iris_request_new ("command");
  const char *const args[] = { "sh", "-c", script, NULL };

  iris_request_set_args (request, args);
  iris_request_set_durability (request, durability);
  iris_client_submit_async (client, request, NULL, on_end, told);
}

static void
submit_echo (IrisClient *client, const char *text, IrisDurability durability, Told *told)
{
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  g_autoptr (GBytes) payload = g_bytes_new (text, strlen (text));

  iris_request_set_payload (request, payload);
  iris_request_set_durability (request, durability);
  iris_client_submit_async (client, request, NULL, on_end, told);
}

static void
on_exit_of_irisd (GObject *source, GAsyncResult *async, gpointer data)
{
  ck_assert (g_subprocess_wait_finish (G_SUBPROCESS (source), async, NULL));
  *(gboolean *) data = TRUE;
}

/* Ends irisd by @signal_number while the clients go on. */
static void
end_irisd (int signal_number)
{
  gboolean ended = FALSE;

  g_subprocess_wait_async (irisd->process, NULL, on_exit_of_irisd, &ended);
  irisd_signal (irisd, signal_number);
  while (!ended)
    g_main_context_iteration (NULL, TRUE);
  ck_assert_int_eq (irisd_wait (irisd), signal_number == SIGTERM ? 0 : -signal_number);
  irisd_release (g_steal_pointer (&irisd));
}

/* Counts the lines of the ledger; @runs gets how often each number is there. */
static guint
count_runs (guint *runs, guint n)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n_runs = 0;

  ck_assert (g_file_get_contents (ledger, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; **line != '\0'; line++, n_runs++)
    {
      guint64 number = g_ascii_strtoull (*line, NULL, 10);

      ck_assert_uint_lt (number, n);
      runs[number]++;
    }
  return n_runs;
}

static guint
count_told (const Told *told, guint n)
{
  guint n_told = 0;

  for (guint i = 0; i < n; i++)
    n_told += told[i].n_ends;
  return n_told;
}

/* Clients submit all they have, and irisd ends and begins again whenever a part of it has ended.
 * Returns how many runs there were. */
static guint
run_with_restarts (int signal_number, IrisDurability durability)
{
  enum
  {
    N = N_CLIENTS * N_ITEMS
  };
  IrisClient *clients[N_CLIENTS];
  g_autofree Told *told = g_new0 (Told, N);
  g_autofree guint *runs = g_new0 (guint, N);
  guint n_runs;

  irisd = home_start (home, NULL);
  for (guint i = 0; i < N_CLIENTS; i++)
    clients[i] = iris_client_new (home->dir);
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *script = g_strdup_printf ("echo %u >> %s; echo %u", i, ledger, i);

      submit_script (clients[i % N_CLIENTS], script, durability, &told[i]);
    }
  for (guint restart = 0; restart < N_RESTARTS; restart++)
    {
      while (count_told (told, N) < N * (restart + 1) / (N_RESTARTS + 1))
        g_main_context_iteration (NULL, TRUE);
      end_irisd (signal_number);
      irisd = home_start (home, NULL);
    }
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u\n", i);

      expect_text (&told[i], text);
    }
  for (guint i = 0; i < N_CLIENTS; i++)
    g_object_unref (clients[i]);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  n_runs = count_runs (runs, N);
  for (guint i = 0; i < N; i++)
    {
      ck_assert_uint_eq (told[i].n_ends, 1);
      ck_assert_uint_ge (runs[i], 1);
    }
  return n_runs;
}

TEST (four_clients_see_a_pause_and_no_error)
{
  guint n_runs = run_with_restarts (SIGTERM, IRIS_DURABILITY_DURABLE);

  /* What has begun is waited for, so none runs twice. */
  ck_assert_uint_eq (n_runs, N_CLIENTS * N_ITEMS);
}

TEST (relaxed_items_go_on_as_durable_ones)
{
  ck_assert_uint_eq (run_with_restarts (SIGTERM, IRIS_DURABILITY_RELAXED), N_CLIENTS * N_ITEMS);
}

TEST (four_clients_go_on_after_a_crash)
{
  guint n_runs = run_with_restarts (SIGKILL, IRIS_DURABILITY_DURABLE);

  /* What ran at a crash runs again: one command for each of two workers, and what they had done
   * that was not on the disk. */
  ck_assert_uint_ge (n_runs, N_CLIENTS * N_ITEMS);
  ck_assert_uint_le (n_runs, 2 * N_CLIENTS * N_ITEMS);
}

/* Nothing but their numbers is kept of items whose ends were acknowledged. */
TEST (the_journal_is_empty_afterwards)
{
  g_autoptr (IrisClient) client = NULL;
  Told told[40] = { 0 };

  irisd = home_start (home, NULL);
  client = iris_client_new (home->dir);
  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    submit_echo (client, "x", i % 2 == 0 ? IRIS_DURABILITY_DURABLE : IRIS_DURABILITY_RELAXED,
                 &told[i]);
  wait_for (&told[0]);
  end_irisd (SIGTERM);
  irisd = home_start (home, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    expect_text (&told[i], "x");
  g_clear_object (&client);
  end_irisd (SIGTERM);
  irisd = home_start (home, NULL);
  {
    g_autoptr (Client) raw = client_hello (irisd->front);

    ck_assert_uint_eq (persistent_count (raw), 0);
  }
}

/* A command that tells when it runs, and ends when its gate opens. */
static char *
gated_script (const char *begun, const char *gate)
{
  return g_strdup_printf ("echo 0 >> %s; echo > %s; cat %s; echo over", ledger, begun, gate);
}

/* Opens the gate without waiting for its reader. */
static void
open_when_read (const char *gate)
{
  int fd = -1;

  while ((fd = open (gate, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
    g_main_context_iteration (NULL, FALSE);
  close (fd);
}

static void
wait_until_begun (const char *begun)
{
  char byte;
  int fd = open (begun, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

  ck_assert_int_ge (fd, 0);
  while (read (fd, &byte, 1) != 1)
    g_main_context_iteration (NULL, FALSE);
  close (fd);
}

static void
wait_until_draining (void)
{
  g_autoptr (Client) raw = client_hello (irisd->front);

  for (gboolean draining = FALSE; !draining;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (raw);

      draining = status->draining;
    }
}

TEST (a_command_that_runs_is_waited_for)
{
  g_autoptr (IrisClient) client = NULL;
  g_autofree char *begun = NULL, *gate = NULL, *script = NULL;
  Told running = { 0 }, waiting = { 0 };
  guint runs[1] = { 0 };
  gboolean ended = FALSE;

  irisd = home_start (home, "[limits]\nhandover-ms = 3600000\ncommands-per-place = 1\n");
  begun = gate_new (irisd, "begun");
  gate = gate_new (irisd, "gate");
  script = gated_script (begun, gate);
  client = iris_client_new (home->dir);
  submit_script (client, script, IRIS_DURABILITY_DURABLE, &running);
  wait_until_begun (begun);
  g_subprocess_wait_async (irisd->process, NULL, on_exit_of_irisd, &ended);
  irisd_signal (irisd, SIGTERM);
  wait_until_draining ();
  /* Comes too late for this irisd, volatile or not. */
  submit_echo (client, "later", IRIS_DURABILITY_VOLATILE, &waiting);
  open_when_read (gate);
  while (!ended)
    g_main_context_iteration (NULL, TRUE);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_release (irisd);
  expect_text (&running, "over\n");
  ck_assert_uint_eq (waiting.n_ends, 0);
  irisd = home_start (home, NULL);
  expect_text (&waiting, "later");
  ck_assert_uint_eq (count_runs (runs, 1), 1);
  unlink (begun);
  unlink (gate);
}

TEST (a_command_that_runs_is_ended_and_runs_again)
{
  g_autoptr (IrisClient) client = NULL;
  g_autofree char *begun = NULL, *gate = NULL, *script = NULL;
  Told running = { 0 }, lost = { 0 };
  guint runs[1] = { 0 };

  irisd = home_start (home, "[limits]\nhandover-ms = 0\n");
  begun = gate_new (irisd, "begun");
  gate = gate_new (irisd, "gate");
  script = gated_script (begun, gate);
  client = iris_client_new (home->dir);
  submit_script (client, "exec sleep 1000", IRIS_DURABILITY_VOLATILE, &lost);
  submit_script (client, script, IRIS_DURABILITY_DURABLE, &running);
  wait_until_begun (begun);
  end_irisd (SIGTERM);
  /* The volatile one is lost, and its program is told. */
  expect_error (&lost, IRIS_CLIENT_ERROR_SHUTTING_DOWN);
  ck_assert_uint_eq (running.n_ends, 0);
  irisd = home_start (home, NULL);
  wait_until_begun (begun);
  open_when_read (gate);
  expect_text (&running, "over\n");
  ck_assert_uint_eq (count_runs (runs, 1), 2);
  unlink (begun);
  unlink (gate);
}

TEST (an_irisd_that_does_not_come_back_is_told)
{
  g_autoptr (IrisClient) client = NULL;
  g_autofree char *begun = NULL, *script = NULL;
  Told sent = { 0 }, lost = { 0 }, unsent = { 0 }, new = { 0 };

  irisd = home_start (home, NULL);
  begun = gate_new (irisd, "begun");
  script = g_strdup_printf ("echo > %s; exec sleep 1000", begun);
  client = g_object_new (IRIS_TYPE_CLIENT, "address", home->dir, "resume-timeout", 10, NULL);
  submit_script (client, "exec sleep 1000", IRIS_DURABILITY_VOLATILE, &lost);
  submit_script (client, script, IRIS_DURABILITY_DURABLE, &sent);
  wait_until_begun (begun);
  end_irisd (SIGKILL);
  expect_error (&lost, IRIS_CLIENT_ERROR_DISCONNECTED);
  submit_echo (client, "x", IRIS_DURABILITY_DURABLE, &unsent);
  expect_error (&sent, IRIS_CLIENT_ERROR_DISCONNECTED);
  expect_error (&unsent, IRIS_CLIENT_ERROR_NOT_CONNECTED);
  /* From here on it is as if there had never been one. */
  submit_echo (client, "x", IRIS_DURABILITY_DURABLE, &new);
  expect_error (&new, IRIS_CLIENT_ERROR_NOT_CONNECTED);
  irisd = home_start (home, "[limits]\nhandover-ms = 0\n");
  submit_echo (client, "back", IRIS_DURABILITY_DURABLE, &new);
  new.n_ends = 0;
  expect_text (&new, "back");
  unlink (begun);
}

TEST_MAIN ("client-restart", set_up, tear_down)
