/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A worker process: says of texts whether they read the same backwards, until it is interrupted.
 *
 * Build it with: cc serve-palindrome.c $(pkg-config --cflags --libs libiris-client-1)
 */
#include <iris-client/iris-client.h>

#include <glib-unix.h>

static void
palindrome (IrisWorkerProcess *worker, IrisLease *lease, gpointer user_data)
{
  gsize size;
  const char *text = g_bytes_get_data (iris_lease_get_payload (lease), &size);
  g_autoptr (GString) letters = g_string_new (NULL);

  for (gsize i = 0; i < size; i++)
    if (g_ascii_isalpha (text[i]))
      g_string_append_c (letters, g_ascii_tolower (text[i]));
  if (letters->len == 0)
    {
      iris_lease_fail (lease, "there is no letter in it", FALSE);
      return;
    }

  g_autofree char *backwards = g_strreverse (g_strdup (letters->str));
  const char *answer = g_str_equal (letters->str, backwards) ? "yes" : "no";
  g_autoptr (GBytes) body = g_bytes_new_static (answer, strlen (answer));
  iris_lease_done (lease, body, "text/plain");
}

static gboolean
interrupted (gpointer cancellable)
{
  g_cancellable_cancel (cancellable);
  return G_SOURCE_REMOVE;
}

static void
ended (GObject *source, GAsyncResult *result, gpointer loop)
{
  g_autoptr (GError) error = NULL;

  if (!iris_worker_process_run_finish (IRIS_WORKER_PROCESS (source), result, &error))
    g_printerr ("%s\n", error->message);
  g_main_loop_quit (loop);
}

int
main (void)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (IrisWorkerProcess) worker = iris_worker_process_new (NULL);

  g_unix_signal_add (SIGTERM, interrupted, cancellable);
  g_unix_signal_add (SIGINT, interrupted, cancellable);
  iris_worker_process_add_service (
      worker, "palindrome", "says whether a text reads the same backwards", palindrome, NULL, NULL);
  iris_worker_process_run_async (worker, cancellable, ended, loop);
  g_main_loop_run (loop);
  return 0;
}
