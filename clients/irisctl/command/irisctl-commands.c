/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of commands: their options, the check of what was typed, and how one is run.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <string.h>

static const CtlCommand *const commands[] = {
  &ctl_places,
  &ctl_services,
  &ctl_workers,
  &ctl_status,
  &ctl_watch,
  &ctl_top,
  &ctl_send,
  &ctl_map,
  &ctl_run,
  &ctl_cancel,
  &ctl_submit_command,
  &ctl_wait_command,
  &ctl_follow_command,
  &ctl_result,
  &ctl_list,
  &ctl_show,
  &ctl_kick,
  &ctl_bury,
  &ctl_pause_command,
  &ctl_resume_command,
  &ctl_every,
  &ctl_cron,
  &ctl_schedules,
  &ctl_queue,
  &ctl_queues,
  &ctl_nodes,
  &ctl_node,
  &ctl_cluster,
  &ctl_edit,
  &ctl_again,
  &ctl_drain,
  &ctl_set_workers,
  &ctl_reload,
  &ctl_backup,
  &ctl_trace,
  &ctl_key,
};

const CtlCommand *
ctl_command_nth (guint n)
{
  return n < G_N_ELEMENTS (commands) ? commands[n] : NULL;
}

const CtlCommand *
ctl_command_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (commands[i]->name, name))
      return commands[i];

  return NULL;
}

static void
add_entries (GOptionContext *context, GArray *all, const GOptionEntry *entries)
{
  g_option_context_add_main_entries (context, entries, NULL);
  for (; all != NULL && entries->long_name != NULL; entries++)
    g_array_append_val (all, *entries);
}

void
ctl_common_add_options (Ctl *ctl, GOptionContext *context, GArray *entries)
{
  const GOptionEntry common[] = {
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

  add_entries (context, entries, common);
}

GOptionContext *
ctl_command_context (const CtlCommand *command, Ctl *ctl, GArray *entries)
{
  g_autofree char *parameter = g_strdup_printf ("%s%s%s — %s", command->name,
                                                *command->arguments != '\0' ? " " : "",
                                                command->arguments, command->summary);
  GOptionContext *context = g_option_context_new (parameter);
  const GOptionEntry hints[] = {
    { "place", 'p', 0, G_OPTION_ARG_STRING, &ctl->place,
      "Run at this place: its name or its id, or NODE/PLACE", "PLACE" },
    { "node", 0, 0, G_OPTION_ARG_STRING, &ctl->node, "Run at this node of irisd's cluster",
      "NODE" },
    { "any-node", 0, 0, G_OPTION_ARG_NONE, &ctl->any_node, "Run at any node of irisd's cluster",
      NULL },
    /* Of map it is refused with a word about --hints near. */
    { "near", 0, command == &ctl_map ? G_OPTION_FLAG_HIDDEN : 0, G_OPTION_ARG_FILENAME, &ctl->near,
      "Run where this item ran (its number), or where this path was last worked on", "ITEM|PATH" },
    { "strict", 's', 0, G_OPTION_ARG_NONE, &ctl->strict,
      "Run at that place only: no other place may steal the item", NULL },
    { "traceparent", 0, 0, G_OPTION_ARG_STRING, &ctl->traceparent,
      "The trace that the item belongs to (default: $TRACEPARENT)", "PARENT" },
    { NULL },
  };
  const GOptionEntry nodes[] = {
    { "node", 0, 0, G_OPTION_ARG_STRING, &ctl->node, "Ask this node of irisd's cluster", "NODE" },
    { NULL },
  };
  g_autofree GOptionEntry *footprint = ctl_footprint_entries (&ctl->footprint);
  g_autofree GOptionEntry *schedule = ctl_schedule_entries (&ctl->schedule);
  g_autofree GOptionEntry *filter = ctl_filter_entries (&ctl->filter);
  g_autofree GOptionEntry *process = ctl_command_entries (&ctl->command);

  if (command->entries != NULL)
    add_entries (context, entries, command->entries);
  if (command->takes_hints)
    {
      add_entries (context, entries, hints);
      add_entries (context, entries, footprint);
    }
  if (command->takes_schedule)
    add_entries (context, entries, schedule);
  if (command->takes_node)
    add_entries (context, entries, nodes);
  if (command->takes_filter)
    add_entries (context, entries, filter);
  if (command->takes_command)
    add_entries (context, entries, process);
  ctl_common_add_options (ctl, context, entries);
  if (command->description != NULL)
    g_option_context_set_description (context, command->description);

  return context;
}

static gboolean
is_traceparent (const char *text)
{
  g_autoptr (IrisRequest) request = iris_request_new ("any");

  return iris_request_set_traceparent (request, text, NULL);
}

/* CTL_OK, or CTL_USAGE after printing why not. */
static int
check_hints (const Ctl *ctl, const CtlCommand *command)
{
  g_autoptr (GError) error = NULL;

  if (ctl->near != NULL && ctl->place != NULL)
    return ctl_fail (CTL_USAGE, "%s: --place and --near exclude each other", command->name);
  if (ctl->near != NULL && *ctl->near == '\0')
    return ctl_fail (CTL_USAGE, "%s: --near takes the number of an item or a path", command->name);
  if (ctl->near != NULL && command == &ctl_map)
    return ctl_fail (CTL_USAGE, "map: --near is for single items: use --hints near, which keeps "
                                "each file where it was last worked on");
  if (ctl->any_node && (ctl->node != NULL || ctl->place != NULL || ctl->strict))
    return ctl_fail (CTL_USAGE, "%s: --any-node excludes --node, --place and --strict",
                     command->name);
  if (ctl->strict && ctl->place == NULL && ctl->near == NULL && ctl->node == NULL
      && command != &ctl_map)
    return ctl_fail (CTL_USAGE, "%s: --strict needs --place, --near or --node", command->name);
  if (ctl->traceparent != NULL && !is_traceparent (ctl->traceparent))
    return ctl_fail (CTL_USAGE,
                     "%s: --traceparent: “%s” is none: give version, trace, span and flags, as in "
                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                     command->name, ctl->traceparent);
  if (!ctl_footprint_validate (&ctl->footprint, &error))
    return ctl_fail (CTL_USAGE, "%s: %s", command->name, error->message);

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
  int last = command->options_end > 0 ? command->options_end : *argc;

  for (int i = 1; i <= last && (command->options_end > 0 || !ctl->separated); i++)
    ctl->separated |= drop_separator (argc, argv, i);
}

/* CTL_OK, or CTL_USAGE after printing why not. */
static int
check_arguments (const CtlCommand *command, int n)
{
  int most = command->takes == NULL ? 0 : command->most;

  if (n >= command->least && (n <= most || most == CTL_ANY))
    return CTL_OK;

  return ctl_fail (CTL_USAGE, "%s takes %s; see irisctl %s --help", command->name,
                   command->takes != NULL ? command->takes : "no arguments", command->name);
}

gboolean
ctl_parse_options (GOptionContext *context, int *argc, char ***argv, GError **error)
{
  GPrintFunc before = g_set_print_handler (ctl_terminal_print_help);
  gboolean good = g_option_context_parse (context, argc, argv, error);

  g_set_print_handler (before);

  return good;
}

int
ctl_command_run (const CtlCommand *command, Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GOptionContext) context = ctl_command_context (command, ctl, NULL);
  g_autoptr (GError) error = NULL;

  g_option_context_set_strict_posix (context, command->options_end > 0);
  if (!ctl_parse_options (context, &argc, &argv, &error))
    return ctl_fail (CTL_USAGE, "%s: %s (see irisctl %s --help)", command->name, error->message,
                     command->name);
  drop_separators (ctl, command, &argc, argv);
  if (ctl->wait_s < 0 || ctl->wait_s > CTL_MAX_WAIT_S)
    return ctl_fail (CTL_USAGE, "--wait takes 0 to %d seconds, not %d", CTL_MAX_WAIT_S,
                     ctl->wait_s);
  if (check_hints (ctl, command) != CTL_OK
      || ctl_schedule_check (&ctl->schedule, command->name) != CTL_OK
      || check_arguments (command, argc - 1) != CTL_OK)
    return CTL_USAGE;
  ctl->asks_only = command->asks_only;
  ctl->asks_node = command->takes_node;

  return command->run (ctl, argc, argv);
}
