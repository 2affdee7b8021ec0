/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl every, cron and schedules: commands that irisd runs again and again.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/input/irisctl-input.h"
#include "clients/irisctl/output/irisctl-output.h"

/* Columns of the table that hold what was typed; with them it is narrower than 80. */
#define NAME_COLUMNS 14
#define WHEN_COLUMNS 20

static char *name, *zone, *jitter, *missed, *overlap, *keep, *queue;
static gboolean replace_it;
static gboolean remove_them, pause_them, resume_them, run_them;

static const char *const missed_names[] = { "skip", "once", NULL };
static const char *const overlap_names[] = { "allow", "skip", "wait", NULL };

/* --- every and cron --------------------------------------------------------------------------- */

static gboolean
insert_choice (GVariantDict *settings,
               const char *option,
               const char *key,
               const char *text,
               const char *const *names,
               GError **error)
{
  guint index = 0;

  if (!ctl_choose (option, text, names, &index, error))
    return FALSE;
  if (text != NULL)
    g_variant_dict_insert (settings, key, "u", index + 1);
  return TRUE;
}

/* What the options say. CTL_USAGE after printing what is wrong with them. */
static int
read_settings (GVariantDict *settings)
{
  g_autoptr (GError) error = NULL;
  guint64 jitter_ms = 0;

  if (jitter != NULL && !ctl_parse_duration (jitter, &jitter_ms))
    return ctl_fail (CTL_USAGE, "--jitter: “%s” is no time: give a number with ms, s, m, h or d",
                     jitter);
  if (!insert_choice (settings, "missed", "missed", missed, missed_names, &error)
      || !insert_choice (settings, "overlap", "overlap", overlap, overlap_names, &error))
    return ctl_fail (CTL_USAGE, "%s", error->message);
  if (jitter != NULL)
    g_variant_dict_insert (settings, "jitter-ms", "t", jitter_ms);
  if (zone != NULL)
    g_variant_dict_insert (settings, "zone", "s", zone);
  return CTL_OK;
}

static GVariant *
get_page (Ctl *ctl, const char *only, GBytes *behind, GBytes **next, GError **error)
{
  GAsyncResult *result = NULL;
  GVariant *page;

  iris_client_get_schedules_async (ctl->client, only, behind, ctl->cancellable, ctl_take_result,
                                   &result);
  page = iris_client_get_schedules_finish (ctl->client, ctl_wait (&result), next, error);
  g_clear_object (&result);
  return page;
}

/* A schedule is replaced only if that was asked for. */
static int
check_free (Ctl *ctl, const char *schedule)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) found = NULL;

  if (replace_it)
    return CTL_OK;
  found = get_page (ctl, schedule, NULL, NULL, &error);
  if (found == NULL)
    return ctl_fail_with (error);
  if (g_variant_n_children (found) == 0)
    return CTL_OK;
  return ctl_fail (CTL_USAGE,
                   "there is a schedule “%s” already: choose another name with --name, or change "
                   "that one with --replace",
                   schedule);
}

static int
set (Ctl *ctl, const char *schedule, IrisRequest *item, GVariant *settings)
{
  g_autoptr (GError) error = NULL;
  GAsyncResult *result = NULL;
  gboolean well;

  iris_client_set_schedule_async (ctl->client, schedule, item, settings, ctl->cancellable,
                                  ctl_take_result, &result);
  well = iris_client_set_schedule_finish (ctl->client, ctl_wait (&result), &error);
  g_clear_object (&result);
  return well ? CTL_OK : ctl_fail_with (error);
}

/* The command is in the words behind the first one. */
static int
make (Ctl *ctl, char **argv, GVariantDict *settings)
{
  g_autoptr (GVariant) all = g_variant_ref_sink (g_variant_dict_end (settings));
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisRequest) request = NULL;
  g_autofree char *schedule = name != NULL ? g_strdup (name) : g_path_get_basename (argv[2]);
  char service[] = "command";
  CtlItem item;
  int status;

  ctl_item_init (&item, ctl);
  item.service = service;
  item.args = argv + 2;
  item.keep = keep;
  item.schedule.queue = queue;
  request = ctl_item_make_request (&item, &error);
  if (request == NULL)
    return ctl_fail (CTL_USAGE, "%s: %s", argv[0], error->message);
  status = ctl_connect (ctl);
  if (status == CTL_OK)
    status = check_free (ctl, schedule);
  if (status == CTL_OK)
    status = set (ctl, schedule, request, all);
  if (status != CTL_OK)
    return status;
  if (ctl->json)
    ctl_json_print_strings ("schedule", (const char *const[]){ schedule, NULL });
  else
    g_print ("%s\n", schedule);
  return CTL_OK;
}

static int
run_every (Ctl *ctl, int argc, char **argv)
{
  g_auto (GVariantDict) settings = G_VARIANT_DICT_INIT (NULL);
  guint64 every_ms;

  if (!ctl_parse_duration (argv[1], &every_ms))
    return ctl_fail (CTL_USAGE, "every: “%s” is no time: give a number with s, m, h or d", argv[1]);
  g_variant_dict_insert (&settings, "every-ms", "t", every_ms);
  return read_settings (&settings) == CTL_OK ? make (ctl, argv, &settings) : CTL_USAGE;
}

static int
run_cron (Ctl *ctl, int argc, char **argv)
{
  g_auto (GVariantDict) settings = G_VARIANT_DICT_INIT (NULL);

  g_variant_dict_insert (&settings, "calendar", "s", argv[1]);
  return read_settings (&settings) == CTL_OK ? make (ctl, argv, &settings) : CTL_USAGE;
}

#define MAKE_ENTRIES                                                                                 \
  { "name", 'n',                                                                                     \
    0,      G_OPTION_ARG_STRING,                                                                     \
    &name,  "Its name (default: that of the command, without directory)",                            \
    "NAME" },                                                                                        \
      { "replace", 0, 0, G_OPTION_ARG_NONE, &replace_it, "Change the schedule of that name", NULL }, \
      { "jitter", 0,                                                                                 \
        0,        G_OPTION_ARG_STRING,                                                               \
        &jitter,  "Begin each run late, by a time of its own up to this one",                        \
        "TIME" },                                                                                    \
      { "missed", 0,                                                                                 \
        0,        G_OPTION_ARG_STRING,                                                               \
        &missed,  "Runs missed by more than a minute: skip, or once for all of them (default)",      \
        "HOW" },                                                                                     \
      { "overlap", 0,                                                                                \
        0,         G_OPTION_ARG_STRING,                                                              \
        &overlap,  "While the last run goes on: skip (default), wait for its end, or allow both",    \
        "HOW" },                                                                                     \
      { "queue", 0,                                                                                  \
        0,       G_OPTION_ARG_STRING,                                                                \
        &queue,  "Run it in this queue, which irisctl queue makes",                                  \
        "QUEUE" },                                                                                   \
  {                                                                                                  \
    "keep", 0, 0, G_OPTION_ARG_STRING, &keep, "How long irisd keeps the end of a run (a day)",       \
        "TIME"                                                                                       \
  }

static const GOptionEntry every_entries[] = { MAKE_ENTRIES, { NULL } };

static const GOptionEntry cron_entries[] = {
  MAKE_ENTRIES,
  { "zone", 'z', 0, G_OPTION_ARG_STRING, &zone,
    "The time zone of the line, such as Europe/Berlin (default: irisd's)", "ZONE" },
  { NULL },
};

const CtlCommand ctl_every = {
  .name = "every",
  .arguments = "TIME -- COMMAND [ARGUMENT…]",
  .summary = "run a command again and again, so much time apart",
  .description =
      "irisd keeps the schedule in its journal; the time is counted from now on. Each run\n"
      "is a durable item: irisctl list --key schedule/NAME/ shows them.\n\n"
      "Examples:\n"
      "  irisctl every 5m -- /usr/bin/fetch-mail\n"
      "  irisctl every 1h --name look --overlap wait -C /srv -- ./look --all\n"
      "  irisctl every 10m --node b --strict -- /usr/bin/fetch-mail\n",
  .takes_hints = TRUE,
  .takes_command = TRUE,
  .operand = CTL_OPERAND_COMMAND,
  .least = 2,
  .most = CTL_ANY,
  .takes = "a time and a command",
  .entries = every_entries,
  .run = run_every,
};

const CtlCommand ctl_cron = {
  .name = "cron",
  .arguments = "LINE -- COMMAND [ARGUMENT…]",
  .summary = "run a command at the times of a cron line",
  .description = "The line has minute, hour, day of the month, month and day of the week, as in\n"
                 "crontab(5), or is a name such as @daily. Where clocks change, a time that is\n"
                 "skipped is due at the change, and one that comes twice the first time.\n\n"
                 "Examples:\n"
                 "  irisctl cron '0 3 * * *' --zone Europe/Berlin --jitter 5m -- /usr/bin/backup\n"
                 "  irisctl cron '*/10 8-17 * * mon-fri' --name look --missed skip -- ./look\n",
  .takes_hints = TRUE,
  .takes_command = TRUE,
  .operand = CTL_OPERAND_COMMAND,
  .least = 2,
  .most = CTL_ANY,
  .takes = "a cron line and a command",
  .entries = cron_entries,
  .run = run_cron,
};

/* --- schedules -------------------------------------------------------------------------------- */

static guint64
get_number (GVariant *schedule, const char *key)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (schedule, key, NULL);

  if (value == NULL)
    return 0;
  return g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64) ? g_variant_get_uint64 (value)
                                                             : g_variant_get_uint32 (value);
}

static const char *
get_text (GVariant *schedule, const char *key)
{
  const char *text = "";

  g_variant_lookup (schedule, key, "&s", &text);
  return text;
}

static char *
describe_time (guint64 ms)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_local ((gint64) (ms / 1000));

  return time != NULL ? g_date_time_format (time, "%m-%d %H:%M:%S") : g_strdup ("");
}

static char *
describe_every (guint64 ms)
{
  static const struct
  {
    const char *unit;
    guint64 ms;
  } units[] = { { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } };
  guint i = 0;

  while (ms % units[i].ms != 0)
    i++;
  return g_strdup_printf ("every %" G_GUINT64_FORMAT "%s", ms / units[i].ms, units[i].unit);
}

static char *
describe_when (const Ctl *ctl, GVariant *schedule)
{
  guint64 every_ms = get_number (schedule, "every-ms");
  const char *in_zone = get_text (schedule, "zone");
  g_autofree char *text = every_ms > 0 ? describe_every (every_ms)
                                       : g_strconcat (get_text (schedule, "calendar"),
                                                      *in_zone != '\0' ? " " : "", in_zone, NULL);

  return ctl_terminal_cut (text, ctl->verbose ? 0 : WHEN_COLUMNS);
}

static char *
describe_next (GVariant *schedule)
{
  guint64 next_ms = get_number (schedule, "next-ms");
  gboolean suspended = FALSE;

  g_variant_lookup (schedule, "suspended", "b", &suspended);
  if (suspended)
    return ctl_table_colour (CTL_COLOUR_YELLOW, g_strdup ("paused"));
  return next_ms > 0 ? describe_time (next_ms) : g_strdup ("after the last");
}

static char *
describe_end (GVariant *schedule)
{
  IrisClientItemState state = (IrisClientItemState) get_number (schedule, "state");
  guint64 exit_code = get_number (schedule, "exit-code");

  if (get_number (schedule, "item") == 0)
    return g_strdup ("");
  if (state == 0)
    return g_strdup ("not ended");
  if (exit_code >= IRIS_WIRE_EXIT_SIGNAL)
    return ctl_table_colour (CTL_COLOUR_RED, g_strdup_printf ("signal %" G_GUINT64_FORMAT,
                                                              exit_code - IRIS_WIRE_EXIT_SIGNAL));
  if (exit_code > 0)
    return ctl_table_colour (CTL_COLOUR_RED,
                             g_strdup_printf ("exit %" G_GUINT64_FORMAT, exit_code));
  return ctl_table_colour (state == IRIS_CLIENT_ITEM_DONE ? CTL_COLOUR_GREEN : CTL_COLOUR_RED,
                           g_strdup (ctl_filter_state_name (state)));
}

/* Empty if that is irisd's to say. */
static char *
describe_where (GVariant *schedule)
{
  const char *node = get_text (schedule, "node");
  const char *place = get_text (schedule, "place");
  gboolean any_node = FALSE, strict = FALSE;

  g_variant_lookup (schedule, "any-node", "b", &any_node);
  g_variant_lookup (schedule, "strict", "b", &strict);
  if (any_node)
    return g_strdup ("any node");
  return g_strconcat (node, *node != '\0' && *place != '\0' ? "/" : "", place,
                      strict ? ", strict" : "", NULL);
}

static void
add_row (const Ctl *ctl, CtlTable *table, GVariant *schedule)
{
  guint64 last_ms = get_number (schedule, "last-ms");
  g_autofree const char **args = NULL;
  g_autofree char *joined = NULL;

  g_variant_lookup (schedule, "args", "^a&s", &args);
  joined = ctl_format_args (args);
  ctl_table_add (
      table, ctl_terminal_cut (get_text (schedule, "name"), ctl->verbose ? 0 : NAME_COLUMNS),
      describe_when (ctl, schedule), describe_next (schedule),
      last_ms > 0 ? describe_time (last_ms) : g_strdup ("never"), describe_end (schedule),
      describe_where (schedule), ctl_number (get_number (schedule, "item")),
      ctl_number (get_number (schedule, "runs")), ctl_number (get_number (schedule, "skipped")),
      ctl_terminal_cut (joined, 0));
}

/* Prints all, or those named, page by page. */
static int
list (Ctl *ctl, const char *only, CtlTable *table, JsonBuilder *builder, guint *n)
{
  g_autoptr (GBytes) behind = NULL;

  do
    {
      g_autoptr (GError) error = NULL;
      GBytes *next = NULL;
      g_autoptr (GVariant) page = get_page (ctl, only, behind, &next, &error);

      if (page == NULL)
        return ctl_fail_with (error);
      for (gsize i = 0; i < g_variant_n_children (page); i++)
        {
          g_autoptr (GVariant) schedule = g_variant_get_child_value (page, i);

          if (builder != NULL)
            json_builder_add_value (builder, json_gvariant_serialize (schedule));
          else
            add_row (ctl, table, schedule);
          ++*n;
        }
      g_clear_pointer (&behind, g_bytes_unref);
      behind = next;
    }
  while (behind != NULL);

  return CTL_OK;
}

static int
show (Ctl *ctl, int argc, char **argv)
{
  static const char *const headings[] = { "name",      "when",     "next",   "last",
                                          "end",       "?where",   "+>item", "+>runs",
                                          "+>skipped", "+command", NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, ctl->verbose);
  g_autoptr (JsonBuilder) builder = ctl->json ? json_builder_new () : NULL;
  guint n = 0;
  int status = CTL_OK;

  ctl_table_fit_terminal (table);
  if (builder != NULL)
    json_builder_begin_array (builder);
  for (int i = 1; i < MAX (argc, 2) && status == CTL_OK; i++)
    {
      guint before = n;

      status = list (ctl, argc > 1 ? argv[i] : NULL, table, builder, &n);
      if (status == CTL_OK && argc > 1 && n == before)
        status = ctl_fail (CTL_USAGE, "there is no schedule “%s”", argv[i]);
    }
  if (builder != NULL)
    json_builder_end_array (builder);
  if (status != CTL_OK && n == 0)
    return status; /* stderr says why */
  if (builder != NULL)
    ctl_json_print (builder);
  else if (n > 0 || !ctl_terminal_print_instead ("there are no schedules"))
    ctl_table_flush (table);
  return status;
}

static int
change_each (Ctl *ctl, int argc, char **argv)
{
  int worst = CTL_OK;

  for (int i = 1; i < argc; i++)
    {
      g_auto (GVariantDict) settings = G_VARIANT_DICT_INIT (NULL);

      if (remove_them)
        g_variant_dict_insert (&settings, "remove", "b", TRUE);
      else if (run_them)
        g_variant_dict_insert (&settings, "count", "u", 1);
      else
        g_variant_dict_insert (&settings, "suspended", "b", pause_them);
      int status = set (ctl, argv[i], NULL, g_variant_dict_end (&settings));
      worst = MAX (worst, status);
    }
  return worst;
}

static int
run_schedules (Ctl *ctl, int argc, char **argv)
{
  int n_changes = remove_them + pause_them + resume_them + run_them;
  int status;

  if (n_changes > 1)
    return ctl_fail (CTL_USAGE, "--remove, --pause, --resume and --run exclude each other");
  if (n_changes == 1 && argc < 2)
    return ctl_fail (CTL_USAGE, "name the schedules: irisctl schedules lists them");
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  return n_changes == 1 ? change_each (ctl, argc, argv) : show (ctl, argc, argv);
}

static const GOptionEntry schedules_entries[] = {
  { "remove", 'r', 0, G_OPTION_ARG_NONE, &remove_them, "Remove them; items of their runs stay",
    NULL },
  { "pause", 0, 0, G_OPTION_ARG_NONE, &pause_them, "They make no runs from now on", NULL },
  { "resume", 0, 0, G_OPTION_ARG_NONE, &resume_them,
    "They make runs again; those of the pause are left out", NULL },
  { "run", 0, 0, G_OPTION_ARG_NONE, &run_them, "Begin a run now, beside those that are due", NULL },
  { NULL },
};

const CtlCommand ctl_schedules = {
  .name = "schedules",
  .arguments = "[NAME…]",
  .summary = "list or change what irisctl every and cron have made",
  .description = "With --verbose also the item of the last run, how many runs there were and were\n"
                 "left out, and the command. Other users' schedules are shown to operators.\n\n"
                 "Examples:\n"
                 "  irisctl schedules -v\n"
                 "  irisctl schedules --run backup\n"
                 "  irisctl schedules --remove look\n",
  .least = 0,
  .most = CTL_ANY,
  .takes = "names of schedules",
  .asks_only = TRUE,
  .entries = schedules_entries,
  .run = run_schedules,
};
