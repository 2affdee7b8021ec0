/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Has irisd hash the files named on the command line, all at once, and prints the digests.
 *
 * Build it with: cc client-hash.c $(pkg-config --cflags --libs libiris-client-1)
 */
#include <iris-client/iris-client.h>

typedef struct
{
  GMainLoop *loop;
  int n_left;
  int status;
} Program;

typedef struct
{
  Program *program;
  const char *path;
} File;

static void
hashed (GObject *client, GAsyncResult *async, gpointer data)
{
  g_autofree File *file = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult) result = iris_client_submit_finish (IRIS_CLIENT (client), async, &error);

  if (result != NULL)
    {
      g_autofree char *digest = iris_result_dup_text (result);

      g_print ("%s  %s\n", digest, file->path);
    }
  else
    {
      g_printerr ("%s: %s\n", file->path, error->message);
      file->program->status = 1;
    }
  if (--file->program->n_left == 0)
    g_main_loop_quit (file->program->loop);
}

int
main (int argc, char **argv)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (IrisClient) client = iris_client_new (NULL);
  Program program = { .loop = loop, .n_left = argc - 1 };

  if (argc < 2)
    {
      g_printerr ("Usage: %s FILE...\n", argv[0]);
      return 2;
    }
  for (int i = 1; i < argc; i++)
    {
      g_autoptr (IrisRequest) request = iris_request_new ("sha256");
      g_autofree char *absolute = g_canonicalize_filename (argv[i], NULL);
      File *file = g_new (File, 1);

      *file = (File){ .program = &program, .path = argv[i] };
      iris_request_set_path (request, absolute);
      iris_client_submit_async (client, request, NULL, hashed, file);
    }
  g_main_loop_run (loop);

  return program.status;
}
