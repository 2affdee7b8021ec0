/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Counts the words of the files on the command line: a message for each file to the workers of a
 * work-stealing scheduler, a message with the count back to the main context.
 *
 * Build it with: cc word-count.c $(pkg-config --cflags --libs libiris-1)
 */
#include <iris/iris.h>

typedef struct
{
  GMainLoop *loop;
  char **paths;
  gint64 *words; /* of each file; -1: it could not be read */
  int n_left;
} Program;

static gboolean
is_blank (char letter)
{
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

/* On a worker; several run at once. The number of a message is that of its file. */
static void
count_file (IrisMessage *message, gpointer data)
{
  IrisPort *counted = data;
  IrisMessage *answer = iris_message_new (message->what);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  if (g_file_get_contents (iris_message_get_string (message, "path"), &text, &length, &error))
    {
      gint64 words = 0;

      for (gsize i = 0; i < length; i++)
        if (!is_blank (text[i]) && (i == 0 || is_blank (text[i - 1])))
          words++;
      iris_message_set_int64 (answer, "words", words);
    }
  else
    {
      iris_message_set_int64 (answer, "words", -1);
    }
  iris_port_post (counted, answer);
}

/* In the main context, one at a time: nothing here needs a lock. */
static void
file_counted (IrisMessage *message, gpointer data)
{
  Program *program = data;

  program->words[message->what] = iris_message_get_int64 (message, "words");
  if (--program->n_left == 0)
    g_main_loop_quit (program->loop);
}

static int
print_counts (const Program *program, int n_files)
{
  gint64 total = 0;
  int status = 0;

  for (int i = 0; i < n_files; i++)
    if (program->words[i] < 0)
      {
        g_print ("unreadable %s\n", program->paths[i]);
        status = 1;
      }
    else
      {
        g_print ("%" G_GINT64_FORMAT " %s\n", program->words[i], program->paths[i]);
        total += program->words[i];
      }
  g_print ("%" G_GINT64_FORMAT " total\n", total);

  return status;
}

int
main (int argc, char **argv)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (IrisScheduler) workers = iris_wsscheduler_new ();
  g_autoptr (IrisScheduler) main_context = iris_gmainscheduler_new (NULL);
  g_autoptr (IrisPort) files = iris_port_new ();
  g_autoptr (IrisPort) counted = iris_port_new ();
  g_autofree gint64 *words = g_new0 (gint64, argc);
  Program program = { .loop = loop, .paths = argv + 1, .words = words, .n_left = argc - 1 };

  iris_arbiter_receive (workers, files, count_file, g_object_ref (counted), g_object_unref);
  iris_arbiter_receive (main_context, counted, file_counted, &program, NULL);
  for (int i = 0; i < argc - 1; i++)
    {
      IrisMessage *message = iris_message_new (i);

      iris_message_set_string (message, "path", program.paths[i]);
      iris_port_post (files, message);
    }
  if (program.n_left > 0)
    g_main_loop_run (loop);

  return print_counts (&program, argc - 1);
}
