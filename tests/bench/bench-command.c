/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a command through irisd costs, beside starting and waiting for the same program oneself.
 *
 *     bench-command IRISD [ROUNDS [COMMANDS]]
 *
 * Each round runs, one after the other and in turn: posix_spawn() and waitpid() of `true` in a
 * loop; the service `command` with `true`, one at a time; and the same with as many at once as
 * there are cpus, twice. It prints the median of the rounds of each in commands a second, and the
 * ratios to the loop, which are what counts: the loop is run by one thread that has nothing else to
 * do.
 */
#include <iris-client/iris-client.h>

#include <gio/gio.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const argv_true[] = { "true", NULL };

typedef struct
{
  IrisClient *client;
  guint left;   /* to be submitted */
  guint flying; /* submitted and not ended */
} Load;

static void submit_one (Load *load);

static void
on_end (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Load *load = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult) end = iris_client_submit_finish (IRIS_CLIENT (source), result, &error);
  if (end == NULL || end->exit_status != 0)
    g_error ("a command failed: %s", error != NULL ? error->message : "exit status");
  load->flying--;
  if (load->left > 0)
    submit_one (load);
}

static void
submit_one (Load *load)
{
  g_autoptr (IrisRequest) request = iris_request_new ("command");
  iris_request_set_args (request, argv_true);
  load->left--;
  load->flying++;
  iris_client_submit_async (load->client, request, NULL, on_end, load);
}

static double
run_irisd (IrisClient *client, guint n, guint at_once)
{
  Load load = { .client = client, .left = n };
  gint64 begin = g_get_monotonic_time ();
  while (load.flying < at_once && load.left > 0)
    submit_one (&load);
  while (load.flying > 0)
    g_main_context_iteration (NULL, TRUE);
  return n * 1e6 / (double) (g_get_monotonic_time () - begin);
}

static double
run_loop (guint n)
{
  gint64 begin = g_get_monotonic_time ();
  for (guint i = 0; i < n; i++)
    {
      pid_t pid;
      int status;
      if (posix_spawnp (&pid, "true", NULL, NULL, (char *const *) argv_true, environ) != 0
          || waitpid (pid, &status, 0) != pid || status != 0)
        g_error ("true cannot be run");
    }
  return n * 1e6 / (double) (g_get_monotonic_time () - begin);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double left = *(const double *) a, right = *(const double *) b;
  return left < right ? -1 : left > right;
}

static double
median (GArray *values)
{
  g_array_sort (values, compare);
  guint middle = values->len / 2;
  double upper = g_array_index (values, double, middle);
  return values->len % 2 == 1 ? upper : (upper + g_array_index (values, double, middle - 1)) / 2;
}

static GSubprocess *
start_irisd (const char *path, const char *dir)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocessLauncher)
      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  GSubprocess *irisd = g_subprocess_launcher_spawn (launcher, &error, path, "--dir", dir,
                                                    "--config", "/dev/null", NULL);
  if (irisd == NULL)
    g_error ("%s", error->message);
  return irisd;
}

static void
connected (GObject *source, GAsyncResult *result, gpointer done)
{
  g_autoptr (GError) error = NULL;
  if (!iris_client_connect_finish (IRIS_CLIENT (source), result, &error))
    g_error ("%s", error->message);
  *(gboolean *) done = TRUE;
}

static IrisClient *
connect_to (const char *dir)
{
  IrisClient *client = iris_client_new (dir);
  gboolean done = FALSE;
  g_object_set (client, "wait-for-daemon", TRUE, "connect-timeout", 10000u, NULL);
  iris_client_connect_async (client, NULL, connected, &done);
  while (!done)
    g_main_context_iteration (NULL, TRUE);
  return client;
}

static void
print (const char *name, GArray *rates, double loop)
{
  double rate = median (rates);
  g_print ("%-32s %8.0f/s   %5.2f   (%.0f to %.0f)\n", name, rate, rate / loop,
           g_array_index (rates, double, 0), g_array_index (rates, double, rates->len - 1));
}

/* A number from 1 on; @text is NULL where none was given. */
static gboolean
parse_count (const char *text, guint *count)
{
  guint64 value;
  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_unsigned (text, 10, 1, 1000000, &value, NULL))
    return FALSE;
  *count = (guint) value;
  return TRUE;
}

int
main (int argc, char **argv)
{
  guint rounds = 7, n = 500;
  if (argc < 2 || argc > 4 || !parse_count (argv[2], &rounds)
      || (argc == 4 && !parse_count (argv[3], &n)))
    {
      g_printerr ("usage: bench-command IRISD [ROUNDS [COMMANDS]]\n");
      return 2;
    }
  guint cpus = g_get_num_processors ();
  g_autofree char *base = g_dir_make_tmp ("bench-command-XXXXXX", NULL);
  g_autofree char *dir = g_build_filename (base, "d", NULL);
  g_autoptr (GSubprocess) irisd = start_irisd (argv[1], dir);
  g_autoptr (IrisClient) client = connect_to (dir);
  GArray *rates[3];
  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    rates[i] = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint round = 0; round <= rounds; round++)
    {
      const double now[] = { run_loop (n), run_irisd (client, n, 1),
                             run_irisd (client, n, 2 * cpus) };
      for (guint i = 0; round > 0 && i < G_N_ELEMENTS (rates); i++) /* the first warms up */
        g_array_append_val (rates[i], now[i]);
    }
  double loop = median (rates[0]);
  g_print ("true, %u times, %u rounds, %u cpus; medians, ratios to the loop, least and most\n", n,
           rounds, cpus);
  print ("posix_spawn and waitpid, a loop", rates[0], loop);
  print ("irisd command, one at a time", rates[1], loop);
  print ("irisd command, many at once", rates[2], loop);

  g_subprocess_send_signal (irisd, SIGTERM);
  g_subprocess_wait (irisd, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    g_array_unref (rates[i]);
  rmdir (dir);
  rmdir (base);
  return 0;
}
