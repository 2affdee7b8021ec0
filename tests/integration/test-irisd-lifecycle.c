/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The start, the end, and the idleness of irisd.
 */
#include "irisd-fixture.h"

#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define N_QUEUED 100

static guint
get_mode (const char *dir, const char *name)
{
  g_autofree char *path = g_build_filename (dir, name, NULL);
  struct stat st;
  ck_assert_int_eq (lstat (path, &st), 0);
  return st.st_mode & 07777;
}

static guint
count_files (const char *path)
{
  guint n = 0;
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  ck_assert_ptr_nonnull (dir);
  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static guint64
echo (Client *client)
{
  return client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
}

static void
wait_until_draining (Client *client)
{
  for (;;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (client);
      if (status->draining)
        return;
    }
}

START_TEST (only_its_owner_can_reach_the_sockets)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  ck_assert_uint_eq (get_mode (irisd->dir, ""), 0700);
  const char *const names[] = { "front.ipc", "place-0.ipc", "place-1.ipc", "irisd.lock" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    ck_assert_uint_eq (get_mode (irisd->dir, names[i]), 0600);
  irisd_finish (irisd);
}
END_TEST

START_TEST (nothing_is_left_behind)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  ck_assert_uint_eq (count_files (irisd->dir), 5);
  irisd_signal (irisd, SIGINT);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  ck_assert_uint_eq (count_files (irisd->dir), 0);
  irisd_free (irisd);
}
END_TEST

START_TEST (a_second_irisd_is_refused_and_the_first_goes_on)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  const char *const none[] = { NULL };
  g_autoptr (GSubprocess) second = irisd_spawn (irisd->dir, NULL, none, -1);
  ck_assert (g_subprocess_wait (second, NULL, NULL));
  ck_assert_int_eq (g_subprocess_get_exit_status (second), 3);
  g_autofree char *log = irisd_read_log (irisd);
  g_autofree char *pid = g_strdup_printf ("process %ld", (long) irisd->pid);
  ck_assert_ptr_nonnull (strstr (log, pid));

  g_autoptr (Client) client = client_hello (irisd->front);
  echo (client);
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

START_TEST (the_sockets_of_a_killed_irisd_are_taken_over)
{
  Irisd *killed = irisd_start (NULL, TWO_PLACES, NULL);
  irisd_signal (killed, SIGKILL);
  ck_assert_int_eq (irisd_wait (killed), -SIGKILL);
  const char *const options[] = { TWO_PLACES, NULL };
  Irisd *next = irisd_start_in (killed->dir, NULL, options);
  g_autoptr (Client) client = client_hello (next->front);
  echo (client);
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_free (g_steal_pointer (&client));
  irisd_finish (next);
  irisd_free (killed);
}
END_TEST

START_TEST (a_directory_that_others_can_enter_is_refused)
{
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *dir = g_build_filename (base, "d", NULL);
  g_autofree char *log = g_strdup_printf ("%s.log", dir);
  g_autofree char *config = g_strdup_printf ("%s.conf", dir);
  ck_assert_int_eq (g_mkdir (dir, 0700), 0);
  ck_assert_int_eq (g_chmod (dir, 0755), 0);
  const char *const none[] = { NULL };
  g_autoptr (GSubprocess) process = irisd_spawn (dir, NULL, none, -1);
  ck_assert (g_subprocess_wait (process, NULL, NULL));
  ck_assert_int_eq (g_subprocess_get_exit_status (process), 1);
  g_autofree char *text = NULL;
  ck_assert (g_file_get_contents (log, &text, NULL, NULL));
  ck_assert_ptr_nonnull (strstr (text, "chmod 700"));
  g_unlink (log);
  g_unlink (config);
  g_rmdir (dir);
  g_rmdir (base);
}
END_TEST

START_TEST (sigterm_finishes_what_was_accepted)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  g_autofree char *gate_0 = gate_new (irisd, "gate-0");
  g_autofree char *gate_1 = gate_new (irisd, "gate-1");
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autoptr (Client) other = client_hello (irisd->front);
  client_occupy (client, gate_0, 0);
  client_occupy (client, gate_1, 1);
  for (guint i = 0; i < N_QUEUED; i++)
    echo (client);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);

  irisd_signal (irisd, SIGTERM);
  wait_until_draining (other);
  guint64 late = echo (other);
  assert_error (client_receive (other), IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_uint_eq (message_get_id (&other->message), late);

  gate_open (gate_0);
  gate_open (gate_1);
  for (guint i = 0; i < N_QUEUED + 2; i++)
    client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_free (irisd);
}
END_TEST

START_TEST (too_few_descriptors_are_told_and_irisd_is_not_ready)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *dir = g_build_filename (base, "d", NULL);
  g_autofree char *said = NULL;
  g_autoptr (GSubprocess) irisd = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, &error, "/bin/sh", "-c",
      "ulimit -n 56 && exec \"$0\" --dir \"$1\" --no-bind --workers 1", g_getenv ("IRISD"), dir,
      NULL);
  ck_assert_msg (irisd != NULL, "%s", error != NULL ? error->message : "");
  ck_assert (g_subprocess_communicate_utf8 (irisd, NULL, NULL, &said, NULL, NULL));
  ck_assert (g_subprocess_get_if_exited (irisd));
  ck_assert_int_eq (g_subprocess_get_exit_status (irisd), 1);
  ck_assert_msg (strstr (said, "raise its limit") != NULL && strstr (said, "serving") == NULL, "%s",
                 said);
  irisd_remove_all (base);
}
END_TEST

START_TEST (signals_of_no_use_are_logged_and_ignored)
{
  static const struct
  {
    int number;
    const char *name;
  } signals[] = { { SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" } };
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  irisd_signal (irisd, signals[_i].number);
  for (gboolean logged = FALSE; !logged;)
    {
      g_autofree char *log = irisd_read_log (irisd);
      logged = strstr (log, signals[_i].name) != NULL;
      client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
    }
  irisd_signal (irisd, SIGTERM);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_free (irisd);
}
END_TEST

START_TEST (a_second_signal_stops_now_and_tells_all_clients)
{
  Irisd *irisd = irisd_start ("[limits]\nkill-grace-ms = 1000000\nstop-grace-ms = 60000\n",
                              ONE_WORKER, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autoptr (Client) other = client_hello (irisd->front);
  guint64 running = client_submit_command (
      client, NULL,
      (const char *const[]){ "sh", "-c", "echo > \"$0\"; exec sleep 1000", gate, NULL });
  close (gate_wait (gate));
  g_autofree char *hold = gate_new (irisd, "hold");
  client_occupy (client, hold, 0);
  /* Some wait for a worker, some for the slot of the command. */
  for (guint i = 0; i < N_QUEUED; i++)
    if (i % 2 == 0)
      echo (client);
    else
      client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);

  irisd_signal (irisd, SIGTERM);
  wait_until_draining (other);
  irisd_signal (irisd, SIGTERM);
  for (guint i = 0; i < N_QUEUED + 2; i++)
    {
      const IrisWireMessage *completion = client_receive_completion (client);
      assert_error (completion, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      if (message_get_id (completion) == running)
        ck_assert_int_gt (completion->signal, 0);
    }
  ck_assert_int_eq (irisd_wait (irisd), 4);
  ck_assert_uint_eq (count_files (irisd->dir), 0);
  irisd_free (irisd);
}
END_TEST

START_TEST (a_client_that_does_not_read_does_not_keep_irisd_from_ending)
{
  Irisd *irisd = irisd_start ("[limits]\ndrain-grace-ms = 50\n", ONE_WORKER, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autoptr (Client) other = client_hello (irisd->front);
  g_autofree char *payload = g_malloc0 (60000);
  for (guint i = 0; i < 1000; i++)
    client_submit (client, "echo", payload, 60000, IRIS_PLACE_ANY, FALSE);
  for (;;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (other);
      if (status->ended == 1000)
        break;
    }
  irisd_signal (irisd, SIGTERM);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_free (irisd);
}
END_TEST

START_TEST (a_client_that_does_not_acknowledge_does_not_keep_irisd_from_ending)
{
  Irisd *irisd = irisd_start ("[limits]\ndrain-grace-ms = 50\nmax-body = 64K\nmax-output = 64K\n"
                              "in-flight-bytes = 64K\n",
                              ONE_WORKER, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  const char *const argv[] = { "head", "-c", "60000", "/dev/zero", NULL };
  for (guint i = 0; i < 4; i++)
    client_submit_command (client, NULL, argv);
  for (guint i = 0; i < 2; i++)
    ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_RESULT)->body.size, 60000);
  irisd_signal (irisd, SIGTERM);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_SHUTTING_DOWN);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_free (irisd);
}
END_TEST

/* irisd learns of the signal and of the ends of the connections at the same time, and so may tell
 * workers that have gone that it ends. Returns irisd's exit status. */
static int
end_with_workers (void)
{
  Irisd *irisd = irisd_start ("[limits]\ndrain-grace-ms = 3600000\n", ONE_WORKER, NULL);
  client_free (client_hello (irisd->front));
  Client *workers[20];
  const guint n_files = count_files ("/proc/self/fd");
  for (guint i = 0; i < G_N_ELEMENTS (workers); i++)
    {
      workers[i] = client_hello (irisd->front);
      client_enroll (workers[i], "work", 1);
    }
  irisd_pause (irisd);
  for (guint i = 0; i < G_N_ELEMENTS (workers); i++)
    client_free (workers[i]);
  while (count_files ("/proc/self/fd") > n_files)
    ; /* a thread of ZeroMQ closes them */
  irisd_signal (irisd, SIGTERM);
  irisd_signal (irisd, SIGCONT);
  int status = irisd_wait (irisd);
  irisd_free (irisd);
  return status;
}

/* Which of the two comes first is chance. */
START_TEST (workers_that_have_just_gone_do_not_keep_irisd_from_ending)
{
  for (guint i = 0; i < 15; i++)
    ck_assert_int_eq (end_with_workers (), 0);
}
END_TEST

START_TEST (commands_die_with_an_irisd_that_is_killed)
{
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit_command (
      client, NULL,
      (const char *const[]){ "sh", "-c", "exec 3> \"$0\"; echo >&3; exec sleep 1000", gate, NULL });
  int fd = gate_wait (gate);
  irisd_signal (irisd, SIGKILL);
  ck_assert_int_eq (irisd_wait (irisd), -SIGKILL);
  /* The pipe ends when the command does. */
  char byte;
  ck_assert_int_eq (read (fd, &byte, 1), 0);
  close (fd);
  irisd_free (irisd);
}
END_TEST

static gint64
get_cpu_ns (pid_t pid)
{
  clockid_t clock;
  struct timespec used;
  ck_assert_int_eq (clock_getcpuclockid (pid, &clock), 0);
  ck_assert_int_eq (clock_gettime (clock, &used), 0);
  return (gint64) used.tv_sec * 1000000000 + used.tv_nsec;
}

#define IDLE_WINDOW_MS 3000

/* A thousandth of the window. */
#define IDLE_CPU_NS (IDLE_WINDOW_MS * G_GINT64_CONSTANT (1000))

/* What irisd does after the last item may come late on a busy machine, and costs more there. */
#define IDLE_WINDOWS 10

START_TEST (an_idle_irisd_uses_no_cpu)
{
  Irisd *irisd = irisd_start (NULL, TWO_PLACES, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autoptr (Client) other = client_hello (irisd->front);
  for (guint i = 0; i < N_QUEUED; i++)
    echo (client);
  for (guint i = 0; i < N_QUEUED; i++)
    client_receive_type (client, IRIS_WIRE_RESULT);
  client_call (other, IRIS_WIRE_PING, IRIS_WIRE_PONG);

  gint64 used = G_MAXINT64;
  for (guint i = 0; i < IDLE_WINDOWS && used >= IDLE_CPU_NS; i++)
    {
      gint64 before = get_cpu_ns (irisd->pid);
      /* The window of the measurement; nothing is expected to happen in it. */
      struct pollfd silence = { .fd = -1 };
      poll (&silence, 1, IDLE_WINDOW_MS);
      used = get_cpu_ns (irisd->pid) - before;
    }
  ck_assert_msg (used < IDLE_CPU_NS, "used %" G_GINT64_FORMAT " ns in %d ms", used, IDLE_WINDOW_MS);
  client_free (g_steal_pointer (&client));
  client_free (g_steal_pointer (&other));
  irisd_finish (irisd);
}
END_TEST

#define N_LARGE 1000
#define N_LEFT  20
#define LARGE   (60 * 1000)

START_TEST (memory_goes_back_to_the_system_when_a_burst_is_over)
{
  if (SANITIZED)
    return;
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *large = g_strnfill (LARGE, 'x');
  g_autoptr (Client) client = client_hello (irisd->front);
  client_occupy (client, gate, 0);
  for (guint i = 0; i < N_LARGE; i++)
    client_submit (client, "echo", large, LARGE, IRIS_PLACE_ANY, FALSE);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  guint64 peak_kib = irisd_get_rss_kib (irisd);
  ck_assert_uint_gt (peak_kib, (guint64) N_LARGE * LARGE / 1024);
  gate_open (gate);
  /* Those that are not acknowledged lie above the others, where the C library would give back. */
  for (guint i = 0; i < N_LARGE + 1; i++)
    {
      client_receive_type (client, IRIS_WIRE_RESULT);
      if (i < N_LARGE - N_LEFT)
        client_ack (client, 1);
    }
  while (irisd_get_rss_kib (irisd) > peak_kib / 2)
    client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

START_TEST (the_service_manager_is_told)
{
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (base, "notify", NULL);
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ck_assert_int_eq (bind (fd, (struct sockaddr *) &address, sizeof address), 0);
  g_setenv ("NOTIFY_SOCKET", path, TRUE);
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  g_unsetenv ("NOTIFY_SOCKET");

  char text[256] = "";
  ck_assert_int_gt (recv (fd, text, sizeof text - 1, 0), 0);
  ck_assert_str_eq (text, "READY=1\nSTATUS=Serving; places: 1, items that have not ended: 0");
  irisd_finish (irisd);
  memset (text, 0, sizeof text);
  ck_assert_int_gt (recv (fd, text, sizeof text - 1, 0), 0);
  ck_assert_str_eq (
      text, "STOPPING=1\nEXTEND_TIMEOUT_USEC=65000000\nSTATUS=Draining; places: 1, items that have "
            "not ended: 0");
  close (fd);
  g_unlink (path);
  g_rmdir (base);
}
END_TEST

/* Runs irisd with a configuration to its end; returns its exit status and output. */
static int
run_with (const char *config, const char *option, char **said)
{
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (base, "my.conf", NULL);
  ck_assert (g_file_set_contents (file, config, -1, NULL));
  g_autoptr (GSubprocess) process = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDERR_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE, NULL, g_getenv ("IRISD"),
      "--dir", base, "--config", file, option, NULL);
  ck_assert (g_subprocess_communicate_utf8 (process, NULL, NULL, NULL, said, NULL));
  g_unlink (file);
  g_rmdir (base);
  return g_subprocess_get_exit_status (process);
}

START_TEST (check_config_says_what_is_wrong_and_where)
{
  const struct
  {
    const char *text;
    const char *said; /* NULL: it is good */
  } cases[] = {
    { "", NULL },
    { "[irisd]\nplaces = machine\nworkers = 2\n[limits]\nmax-body = 1M\nmax-output = 1M\n", NULL },
    { "[irisd]\n\nplcaes = machine\n", "my.conf, line 3, [irisd] plcaes" },
    { "[limits]\nmax-body = much\n", "my.conf, line 2, [limits] max-body" },
    { "# x\n[daemon]\n", "my.conf, line 2, [daemon]" },
    { "places = machine\n", "my.conf, line 1: " },
    { "[irisd]\nscheduler = best\n", "line 2, [irisd] scheduler" },
    { "[irisd]\ntcp = 0.0.0.0:4700\n", "my.conf, line 2, [irisd] tcp: beyond loopback" },
    { "[limits]\nmax-output = 32M\n", "max-output" },
    { "[irisd]\nplaces = nowhere\n", "nowhere" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *said = NULL;
      int status = run_with (cases[i].text, "--check-config", &said);
      ck_assert_msg (status == (cases[i].said == NULL ? 0 : 2), "case %u: %d: %s", i, status, said);
      if (cases[i].said != NULL)
        ck_assert_msg (strstr (said, cases[i].said) != NULL, "case %u: %s", i, said);
    }
}
END_TEST

START_TEST (options_that_make_no_sense_are_refused)
{
  const char *const options[] = {
    "--workers=none",       "--scheduler=best", "--tcp=192.0.2.1:4700", "--tcp=127.0.0.1",
    "--topology=nonsense:", "--ready-fd=77",    "--no-such-option",     "stray",
  };
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autofree char *said = NULL;
      ck_assert_int_eq (run_with ("", options[i], &said), 2);
      ck_assert_str_ne (said, "");
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-lifecycle");
  TCase *life = tcase_create ("life");
  tcase_add_test (life, only_its_owner_can_reach_the_sockets);
  tcase_add_test (life, nothing_is_left_behind);
  tcase_add_test (life, a_second_irisd_is_refused_and_the_first_goes_on);
  tcase_add_test (life, the_sockets_of_a_killed_irisd_are_taken_over);
  tcase_add_test (life, a_directory_that_others_can_enter_is_refused);
  tcase_add_test (life, sigterm_finishes_what_was_accepted);
  tcase_add_test (life, too_few_descriptors_are_told_and_irisd_is_not_ready);
  tcase_add_test (life, memory_goes_back_to_the_system_when_a_burst_is_over);
  tcase_add_loop_test (life, signals_of_no_use_are_logged_and_ignored, 0, 2);
  tcase_add_test (life, a_second_signal_stops_now_and_tells_all_clients);
  tcase_add_test (life, a_client_that_does_not_read_does_not_keep_irisd_from_ending);
  tcase_add_test (life, a_client_that_does_not_acknowledge_does_not_keep_irisd_from_ending);
  tcase_add_test (life, workers_that_have_just_gone_do_not_keep_irisd_from_ending);
  tcase_add_test (life, commands_die_with_an_irisd_that_is_killed);
  /* A sanitizer has threads of its own that are never idle. */
  if (!SANITIZED)
    tcase_add_test (life, an_idle_irisd_uses_no_cpu);
  tcase_add_test (life, the_service_manager_is_told);
  tcase_add_test (life, check_config_says_what_is_wrong_and_where);
  tcase_add_test (life, options_that_make_no_sense_are_refused);
  suite_add_tcase (suite, life);
  return core_test_run (suite);
}
