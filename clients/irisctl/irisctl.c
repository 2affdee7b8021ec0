/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl: irisd from the command line. Finds the command and reads the options.
 */
#include "clients/irisctl/irisctl.h"
#include "clients/irisctl/input/irisctl-command-options.h"
#include "clients/irisctl/input/irisctl-filter.h"

#include <glib-unix.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For so long irisd may refuse before the user is told; and how often that is told. */
#define BUSY_MS       1000
#define BUSY_AGAIN_US (60 * G_USEC_PER_SEC)

static const CtlCommand *const commands[] = {
  &ctl_places,       &ctl_services, &ctl_workers,     &ctl_status, &ctl_watch,
  &ctl_send,         &ctl_map,      &ctl_run,         &ctl_cancel, &ctl_submit_command,
  &ctl_wait_command, &ctl_result,   &ctl_list,        &ctl_show,   &ctl_kick,
  &ctl_bury,         &ctl_drain,    &ctl_set_workers,
};

int
ctl_fail (int status, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_printerr ("irisctl: %s\n", message);

  return status;
}

gboolean
ctl_output_is_good (void)
{
  return fflush (stdout) == 0 && !ferror (stdout);
}

int
ctl_exit_status (const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return CTL_INTERRUPTED;
  if (error->domain != IRIS_CLIENT_ERROR)
    return CTL_FAILED;

  switch (error->code)
    {
    case IRIS_CLIENT_ERROR_NOT_CONNECTED:
    case IRIS_CLIENT_ERROR_TIMED_OUT:
    case IRIS_CLIENT_ERROR_DISCONNECTED:
    case IRIS_CLIENT_ERROR_VERSION:
      return CTL_NO_DAEMON;
    case IRIS_CLIENT_ERROR_BUSY:
    case IRIS_CLIENT_ERROR_SHUTTING_DOWN:
    case IRIS_CLIENT_ERROR_NOT_PERMITTED:
    case IRIS_CLIENT_ERROR_QUEUE_FULL:
    case IRIS_CLIENT_ERROR_NOT_DURABLE:
    case IRIS_CLIENT_ERROR_JOURNAL_FAILED:
      return CTL_REFUSED;
    case IRIS_CLIENT_ERROR_UNKNOWN_SERVICE:
    case IRIS_CLIENT_ERROR_NO_SUCH_PLACE:
    case IRIS_CLIENT_ERROR_NO_SUCH_ITEM:
    case IRIS_CLIENT_ERROR_NOT_FOUND:
    case IRIS_CLIENT_ERROR_BAD_ARGUMENT:
    case IRIS_CLIENT_ERROR_UNKNOWN_DEPENDENCY:
    case IRIS_CLIENT_ERROR_NOT_REMEMBERED:
      return CTL_USAGE;
    default:
      return CTL_FAILED;
    }
}

int
ctl_fail_with (const GError *error)
{
  return ctl_fail (ctl_exit_status (error), "%s", error->message);
}

int
ctl_fail_asking (const GError *error, guint64 number)
{
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return ctl_fail_with (error);
  if (number == 0)
    return ctl_fail (CTL_INTERRUPTED, "interrupted: nothing was changed, all items go on");

  return ctl_fail (CTL_INTERRUPTED,
                   "interrupted: item %" G_GUINT64_FORMAT " goes on; irisctl result "
                   "%" G_GUINT64_FORMAT " waits for it again",
                   number, number);
}

char *
ctl_count (guint64 n, const char *noun)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT " %s%s", n, noun, n == 1 ? "" : "s");
}

void
ctl_take_result (GObject *source, GAsyncResult *result, gpointer slot)
{
  *(GAsyncResult **) slot = g_object_ref (result);
}

GAsyncResult *
ctl_wait (GAsyncResult **slot)
{
  while (*slot == NULL)
    g_main_context_iteration (NULL, TRUE);

  return *slot;
}

static gboolean
note_time (gpointer over)
{
  *(gboolean *) over = TRUE;
  return G_SOURCE_REMOVE;
}

void
ctl_pause (Ctl *ctl, guint ms)
{
  gboolean over = FALSE;
  guint source = g_timeout_add (ms, note_time, &over);

  while (!over && !g_cancellable_is_cancelled (ctl->cancellable))
    g_main_context_iteration (NULL, TRUE);
  if (!over)
    g_source_remove (source);
}

/* The first signal cancels, so that irisd is told; the second ends us as usual. */
static gboolean
on_signal (gpointer data)
{
  g_cancellable_cancel (data);
  return G_SOURCE_REMOVE;
}

/* irisd has refused for so long that the user wants to know. */
static gboolean
tell_busy (gpointer data)
{
  Ctl *ctl = data;
  const char *reason = iris_client_get_busy_reason (ctl->client);

  ctl->busy_timer = 0;
  ctl->told_busy_us = g_get_monotonic_time ();
  /* There may be a progress bar. */
  g_printerr ("%sirisctl: waiting for irisd: %s; Ctrl-C stops waiting\n",
              isatty (STDERR_FILENO) ? "\r\033[K" : "", reason);

  return G_SOURCE_REMOVE;
}

/* Where there is room now and then, it is told once in a while. */
static void
on_busy_changed (GObject *client, GParamSpec *property, gpointer data)
{
  Ctl *ctl = data;
  gboolean busy = iris_client_get_busy_reason (ctl->client) != NULL;

  if (!busy && ctl->busy_timer != 0)
    g_source_remove (ctl->busy_timer);
  if (!busy)
    ctl->busy_timer = 0;
  else if (ctl->busy_timer == 0
           && (ctl->told_busy_us == 0
               || g_get_monotonic_time () - ctl->told_busy_us >= BUSY_AGAIN_US))
    ctl->busy_timer = g_timeout_add (BUSY_MS, tell_busy, ctl);
}

int
ctl_connect (Ctl *ctl)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  /* Until here a signal ends us as usual: nothing was asked of irisd yet, and reading standard
   * input would not notice that it is unwanted. */
  g_unix_signal_add (SIGINT, on_signal, ctl->cancellable);
  g_unix_signal_add (SIGTERM, on_signal, ctl->cancellable);
  ctl->client = iris_client_new (ctl->where);
  g_signal_connect (ctl->client, "notify::busy-reason", G_CALLBACK (on_busy_changed), ctl);
  g_object_set (ctl->client, "asks-only", ctl->asks_only, NULL);
  if (ctl->wait_s > 0)
    g_object_set (ctl->client, "wait-for-daemon", TRUE, "connect-timeout",
                  (guint) ctl->wait_s * 1000, NULL);
  iris_client_connect_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  if (iris_client_connect_finish (ctl->client, ctl_wait (&result), &error))
    return CTL_OK;
  if (g_cancellable_is_cancelled (ctl->cancellable))
    return ctl_fail (CTL_INTERRUPTED, "interrupted before irisd was asked anything");

  return ctl_fail_with (error);
}

int
ctl_connect_without_arguments (Ctl *ctl, const char *command, int argc)
{
  return argc == 1 ? ctl_connect (ctl)
                   : ctl_fail (CTL_USAGE, "%s takes no arguments; see irisctl %s --help", command,
                               command);
}

IrisClientStatus *
ctl_get_status (Ctl *ctl, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_get_status_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  return iris_client_get_status_finish (ctl->client, ctl_wait (&result), error);
}

void
ctl_set_hint (IrisRequest *request, const char *place, const char *near, gboolean strict)
{
  guint64 item;

  if (place != NULL)
    iris_request_set_place_name (request, place);
  else if (near != NULL && g_ascii_string_to_unsigned (near, 10, 1, G_MAXUINT64, &item, NULL))
    iris_request_set_near_item (request, item);
  else if (near != NULL)
    {
      g_autofree char *absolute = g_canonicalize_filename (near, NULL);

      iris_request_set_near_path (request, absolute);
    }
  iris_request_set_strict (request, strict);
}

void
ctl_hint (const Ctl *ctl, IrisRequest *request)
{
  ctl_set_hint (request, ctl->place, ctl->near, ctl->strict);
}

int
ctl_find_place (const Ctl *ctl, const char *text)
{
  g_autoptr (GPtrArray) places = iris_client_get_places (ctl->client);

  for (guint i = 0; places != NULL && i < places->len; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (places, i);
      g_autofree char *id = g_strdup_printf ("%d", place->id);

      if (g_str_equal (place->name, text) || g_str_equal (id, text))
        return place->id;
    }
  ctl_fail (CTL_USAGE, "irisd has no place “%s”: irisctl places lists its places", text);

  return -1;
}

gboolean
ctl_refuse (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, format, args);
  va_end (args);

  return FALSE;
}

/* What an operator needs when irisd has as many connections as it takes. */
static gboolean
only_asks (const CtlCommand *command)
{
  static const CtlCommand *const askers[] = {
    &ctl_places, &ctl_services, &ctl_workers, &ctl_status, &ctl_cancel,      &ctl_list,
    &ctl_show,   &ctl_kick,     &ctl_bury,    &ctl_drain,  &ctl_set_workers,
  };

  for (guint i = 0; i < G_N_ELEMENTS (askers); i++)
    if (askers[i] == command)
      return TRUE;

  return FALSE;
}

static const CtlCommand *
find_command (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (commands[i]->name, name))
      return commands[i];

  return NULL;
}

static char *
describe_commands (void)
{
  GString *text = g_string_new ("Commands:\n");

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    g_string_append_printf (text, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  g_string_append (text, "\n“irisctl COMMAND --help” says more. Exit status: 0 success, 1 an item "
                         "failed, 2 wrong\narguments, 3 no irisd answers, 4 irisd refuses; of run, "
                         "the status of its command.\nSee irisctl(1).\n");

  return g_string_free (text, FALSE);
}

static void
ctl_clear (Ctl *ctl)
{
  g_free (ctl->where);
  g_free (ctl->place);
  g_free (ctl->near);
  ctl_schedule_clear (&ctl->schedule);
  ctl_filter_clear (&ctl->filter);
  ctl_command_clear (&ctl->command);
  if (ctl->busy_timer != 0)
    g_source_remove (ctl->busy_timer);
  if (ctl->client != NULL)
    g_signal_handlers_disconnect_by_data (ctl->client, ctl);
  g_clear_object (&ctl->client);
  g_clear_object (&ctl->cancellable);
}

static void
add_common_options (Ctl *ctl, GOptionContext *context)
{
  const GOptionEntry entries[] = {
    { "dir", 'd', 0, G_OPTION_ARG_STRING, &ctl->where,
      "The directory of irisd's sockets (default: the one that irisd chooses)", "DIR" },
    { "endpoint", 'e', 0, G_OPTION_ARG_STRING, &ctl->where,
      "irisd's endpoint, such as tcp://HOST:PORT", "ENDPOINT" },
    { "wait", 'w', 0, G_OPTION_ARG_INT, &ctl->wait_s, "Wait up to this long for irisd to start",
      "SECONDS" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &ctl->json, "Print JSON", NULL },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &ctl->verbose, "Print more, such as ids", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

static GOptionContext *
command_context (const CtlCommand *command, Ctl *ctl)
{
  g_autofree char *parameter = g_strdup_printf ("%s %s — %s", command->name, command->arguments,
                                                command->summary);
  GOptionContext *context = g_option_context_new (parameter);
  const GOptionEntry hints[] = {
    { "place", 'p', 0, G_OPTION_ARG_STRING, &ctl->place, "Run at this place: its name or its id",
      "PLACE" },
    /* Of map it is refused with a word about --hints near. */
    { "near", 0, command == &ctl_map ? G_OPTION_FLAG_HIDDEN : 0, G_OPTION_ARG_FILENAME, &ctl->near,
      "Run where this item ran (its number), or where this path was last worked on", "ITEM|PATH" },
    { "strict", 's', 0, G_OPTION_ARG_NONE, &ctl->strict,
      "Run at that place only: no other place may steal the item", NULL },
    { NULL },
  };

  if (command->entries != NULL)
    g_option_context_add_main_entries (context, command->entries, NULL);
  if (command->takes_hints)
    g_option_context_add_main_entries (context, hints, NULL);
  if (command->takes_schedule)
    ctl_schedule_add_options (&ctl->schedule, context);
  if (command->takes_filter)
    ctl_filter_add_options (&ctl->filter, context);
  if (command->takes_command)
    ctl_command_add_options (&ctl->command, context);
  add_common_options (ctl, context);
  if (command->description != NULL)
    g_option_context_set_description (context, command->description);

  return context;
}

/* CTL_OK, or CTL_USAGE after printing why not. */
static int
check_hints (const Ctl *ctl, const CtlCommand *command)
{
  if (ctl->near != NULL && ctl->place != NULL)
    return ctl_fail (CTL_USAGE, "%s: --place and --near exclude each other", command->name);
  if (ctl->near != NULL && *ctl->near == '\0')
    return ctl_fail (CTL_USAGE, "%s: --near takes the number of an item or a path", command->name);
  if (ctl->near != NULL && command == &ctl_map)
    return ctl_fail (CTL_USAGE, "map: --near is for single items: use --hints near, which keeps "
                                "each file where it was last worked on");
  if (ctl->strict && ctl->place == NULL && ctl->near == NULL && command != &ctl_map)
    return ctl_fail (CTL_USAGE, "%s: --strict needs --place or --near", command->name);

  return CTL_OK;
}

static gboolean
drop_separator (int *argc, char **argv, int i)
{
  if (i >= *argc || !g_str_equal (argv[i], "--"))
    return FALSE;
  memmove (&argv[i], &argv[i + 1], (gsize) (*argc - i) * sizeof *argv);
  --*argc;
  return TRUE;
}

/* GLib leaves a -- where it stops at the first argument, and before arguments with a dash. What
 * follows the service is no option either way, so one there says nothing. */
static void
drop_separators (Ctl *ctl, const CtlCommand *command, int *argc, char **argv)
{
  gboolean stops = command == &ctl_run || command == &ctl_submit_command;

  if (stops)
    ctl->separated = drop_separator (argc, argv, 1);
  if (command == &ctl_submit_command)
    ctl->separated |= drop_separator (argc, argv, 2);
  for (int i = 1; i < *argc && !stops && !ctl->separated; i++)
    ctl->separated = drop_separator (argc, argv, i);
}

static int
run_command (const CtlCommand *command, Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GOptionContext) context = command_context (command, ctl);
  g_autoptr (GError) error = NULL;

  /* What follows the first argument of run, or of submit, belongs to the command it runs. */
  g_option_context_set_strict_posix (context,
                                     command == &ctl_run || command == &ctl_submit_command);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return ctl_fail (CTL_USAGE, "%s: %s (see irisctl %s --help)", command->name, error->message,
                     command->name);
  drop_separators (ctl, command, &argc, argv);
  if (ctl->wait_s < 0 || ctl->wait_s > CTL_MAX_WAIT_S)
    return ctl_fail (CTL_USAGE, "--wait takes 0 to %d seconds, not %d", CTL_MAX_WAIT_S,
                     ctl->wait_s);
  if (check_hints (ctl, command) != CTL_OK)
    return CTL_USAGE;

  if (ctl_schedule_check (&ctl->schedule, command->name) != CTL_OK)
    return CTL_USAGE;

  return command->run (ctl, argc, argv);
}

/* irisctl help COMMAND is irisctl COMMAND --help. */
static int
show_help (GOptionContext *context, Ctl *ctl, int argc, char **argv)
{
  const CtlCommand *command = argc > 2 ? find_command (argv[2]) : NULL;
  g_autoptr (GOptionContext) of_command = NULL;
  g_autofree char *text = NULL;

  if (argc > 2 && command == NULL)
    return ctl_fail (CTL_USAGE, "there is no command “%s”: irisctl --help lists the commands",
                     argv[2]);
  if (command != NULL)
    of_command = command_context (command, ctl);
  text = g_option_context_get_help (of_command != NULL ? of_command : context, TRUE, NULL);
  g_print ("%s", text);

  return CTL_OK;
}

int
main (int argc, char **argv)
{
  gboolean version = FALSE;
  Ctl ctl = { .schedule.priority = -1, .command.grace_s = CTL_NO_GRACE };
  const GOptionEntry entries[] = {
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (
      "COMMAND [ARGUMENT…] — send items to irisd, and look after them");
  g_autofree char *description = describe_commands ();
  g_autoptr (GError) error = NULL;
  const CtlCommand *command;
  int status;

  setlocale (LC_ALL, "");
  g_set_prgname ("irisctl");
  add_common_options (&ctl, context);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, description);
  g_option_context_set_strict_posix (context, TRUE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return ctl_fail (CTL_USAGE, "%s (see irisctl --help)", error->message);
  if (version)
    {
      g_print ("irisctl %s\n", IRIS_VERSION);
      return CTL_OK;
    }
  if (argc < 2)
    return ctl_fail (CTL_USAGE, "a command is missing: irisctl --help lists the commands");
  if (g_str_equal (argv[1], "help"))
    return show_help (context, &ctl, argc, argv);
  command = find_command (argv[1]);
  if (command == NULL)
    return ctl_fail (CTL_USAGE, "there is no command “%s”: irisctl --help lists the commands",
                     argv[1]);

  ctl.cancellable = g_cancellable_new ();
  ctl.asks_only = only_asks (command);
  status = run_command (command, &ctl, argc - 1, argv + 1);
  ctl_clear (&ctl);

  return status;
}
