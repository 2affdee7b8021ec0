/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The command line: what every command takes, and what a mistake in it says.
 *
 * Global options may stand before the command or after it.
 */
#include "irisctl-command.h"

#include <stdlib.h>

#define WAIT_MAX_S 86400

static void
add_globals (GOptionContext *context, IrisctlGlobals *globals)
{
  const GOptionEntry entries[] = {
    { "dir", 'd', 0, G_OPTION_ARG_FILENAME, &globals->dir, "Find irisd's sockets in DIR", "DIR" },
    { "endpoint", 'e', 0, G_OPTION_ARG_STRING, &globals->endpoint,
      "Find irisd at a ZeroMQ endpoint", "ENDPOINT" },
    { "wait", 'w', 0, G_OPTION_ARG_INT, &globals->wait_s, "Wait up to SECONDS for irisd to come up",
      "SECONDS" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &globals->json, "Print JSON", NULL },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &globals->verbose,
      "Tell more: ids, where items ran, endpoints", NULL },
    { "version", 'V', 0, G_OPTION_ARG_NONE, &globals->version, "Print the version, and exit",
      NULL },
    G_OPTION_ENTRY_NULL,
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

static void
add_hint (GOptionContext *context, IrisctlHint *hint)
{
  const GOptionEntry entries[] = {
    { "place", 'p', 0, G_OPTION_ARG_STRING, &hint->place, "Run at PLACE, an id or a name",
      "PLACE" },
    { "strict", 's', 0, G_OPTION_ARG_NONE, &hint->strict, "Let no other place steal it", NULL },
    G_OPTION_ENTRY_NULL,
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

void
irisctl_print_version (void)
{
  g_print ("irisctl %s\n", IRISCTL_VERSION);
}

/* Looks for what options alone, or together, cannot be. */
static gboolean
check (Irisctl *self, const char *command)
{
  const IrisctlGlobals *globals = &self->globals;

  if (globals->dir != NULL && globals->endpoint != NULL)
    irisctl_usage (command, "--dir and --endpoint say the same thing; give one of them");
  else if (globals->wait_s < 0 || globals->wait_s > WAIT_MAX_S)
    irisctl_usage (command, "--wait takes 0 to %d seconds", WAIT_MAX_S);
  else
    return TRUE;
  return FALSE;
}

/* Parses what stands before the command, and leaves it and what follows. */
gboolean
irisctl_parse_globals (Irisctl *self, int *argc, char ***argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  add_globals (context, &self->globals);
  g_option_context_set_strict_posix (context, TRUE);
  g_option_context_set_help_enabled (context, FALSE);
  if (g_option_context_parse (context, argc, argv, &error))
    return check (self, NULL);
  irisctl_usage (NULL, "%s", error->message);
  return FALSE;
}

/*
 * Parses the options of a command. @hint is NULL for a command that sends no items. After the
 * options of `run` comes another program's command line, which is left alone. FALSE means: say no
 * more, exit with IRISCTL_USAGE.
 */
gboolean
irisctl_parse (Irisctl *self,
               const char *command,
               const GOptionEntry *entries,
               IrisctlHint *hint,
               int *argc,
               char ***argv)
{
  const IrisctlCommand *about = irisctl_command_find (command);
  g_autoptr (GOptionContext) context = g_option_context_new (about->synopsis);
  g_autofree char *summary = g_strdup_printf ("%s.", about->summary);
  g_autofree char *program = g_strdup_printf ("irisctl %s", command);
  g_autoptr (GError) error = NULL;

  g_set_prgname (program);
  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, about->details);
  g_option_context_set_strict_posix (context, about->run == irisctl_run);
  if (entries != NULL)
    g_option_context_add_main_entries (context, entries, NULL);
  if (hint != NULL)
    add_hint (context, hint);
  add_globals (context, &self->globals);
  if (!g_option_context_parse (context, argc, argv, &error))
    {
      irisctl_usage (command, "%s", error->message);
      return FALSE;
    }
  /* As --help does. */
  if (self->globals.version)
    {
      irisctl_print_version ();
      exit (IRISCTL_OK);
    }
  if (*argc > 1 && g_strcmp0 ((*argv)[1], "--") == 0)
    {
      (*argv)++;
      (*argc)--;
    }
  if (hint != NULL && hint->strict && hint->place == NULL && about->run != irisctl_map)
    {
      irisctl_usage (command, "--strict needs a --place to be strict about");
      return FALSE;
    }
  return check (self, command);
}

/* Says what is wrong with the command line, and where to read on. */
int
irisctl_usage (const char *command, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (command != NULL)
    g_printerr ("irisctl: %s; see “irisctl %s --help”\n", text, command);
  else
    g_printerr ("irisctl: %s; see “irisctl --help”\n", text);
  return IRISCTL_USAGE;
}

/* Says one sentence on standard error. */
void
irisctl_complain (const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_printerr ("irisctl: %s\n", text);
}
