/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs irisctl against a private irisd.
 */
#include "irisctl-fixture.h"

#include <signal.h>
#include <unistd.h>

Irisd *irisd;
char *files;
char *out, *err;
int status;

static void
forget (void)
{
  g_clear_pointer (&out, g_free);
  g_clear_pointer (&err, g_free);
}

void
set_up (void)
{
  irisd = irisd_start (NULL, TWO_PLACES, NULL);
  files = g_strdup_printf ("%s.files", irisd->dir);
  ck_assert_int_eq (g_mkdir_with_parents (files, 0700), 0);
}

void
tear_down (void)
{
  forget ();
  g_free (files);
  /* The files go with the irisd. */
  if (irisd != NULL)
    irisd_finish (irisd);
}

GSubprocess *
spawn (const char *const *words)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE
      | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GError) error = NULL;
  GSubprocess *process;

  g_subprocess_launcher_setenv (launcher, "IRIS_RUNTIME_DIR", irisd->dir, TRUE);
  g_subprocess_launcher_setenv (launcher, "LC_ALL", "C.UTF-8", TRUE);
  process = g_subprocess_launcher_spawnv (launcher, words, &error);
  ck_assert_msg (process != NULL, "%s", error != NULL ? error->message : "");
  return process;
}

void
collect (GSubprocess *process, const char *input)
{
  g_autoptr (GError) error = NULL;

  forget ();
  ck_assert_msg (g_subprocess_communicate_utf8 (process, input, NULL, &out, &err, &error), "%s",
                 error != NULL ? error->message : "");
  status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process)
                                                : -g_subprocess_get_term_sig (process);
}

void
run_words (const char *input, const char *const *words)
{
  g_autoptr (GSubprocess) process = spawn (words);

  collect (process, input);
}

/* The output as JSON. */
JsonNode *
json (void)
{
  g_autoptr (GError) error = NULL;
  JsonNode *node = json_from_string (out, &error);

  ck_assert_msg (node != NULL, "no JSON: %s: %s", error != NULL ? error->message : "empty", out);
  return node;
}

JsonObject *
element (JsonNode *array, guint i)
{
  return json_array_get_object_element (json_node_get_array (array), i);
}
