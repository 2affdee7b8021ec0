/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl kick, bury, pause, resume, drain, set-workers, reload: what of irisd can be changed while
 * it runs.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"
#include "clients/irisctl/input/irisctl-input.h"

static char *state_name;
static int count = -1;
static char *reason;
static gboolean resume;

typedef gboolean (*Finish) (IrisClient *self, GAsyncResult *result, guint *changed, GError **error);

static int
show_changed (Ctl *ctl, const char *done, guint changed, const char *noun)
{
  g_autofree char *counted = ctl_count (changed, noun);

  if (ctl->json)
    ctl_json_print_int ("changed", changed);
  else
    g_print ("%s %s\n", done, counted);

  return CTL_OK;
}

/* Waits for the call behind @result; adds what it has changed. */
static int
finish (Ctl *ctl, Finish how, GAsyncResult **result, guint *changed)
{
  g_autoptr (GError) error = NULL;
  guint n = 0;
  gboolean well = how (ctl->client, ctl_wait (result), &n, &error);

  *changed += n;
  g_clear_object (result);
  return well ? CTL_OK : ctl_fail_with (error);
}

static int
kick (Ctl *ctl, guint64 number, IrisClientItemState state, guint most, guint *kicked)
{
  GAsyncResult *result = NULL;

  iris_client_kick_async (ctl->client, number, state, most, ctl->cancellable, ctl_take_result,
                          &result);
  return finish (ctl, iris_client_kick_finish, &result, kicked);
}

/* irisd bounds what it changes at once. */
static int
kick_state (Ctl *ctl, IrisClientItemState state, guint *kicked)
{
  guint before;
  int status;

  do
    {
      before = *kicked;
      status = kick (ctl, 0, state, count >= 0 ? (guint) count - before : 0, kicked);
    }
  while (status == CTL_OK && *kicked > before && (count < 0 || *kicked < (guint) count));

  return status;
}

static int
kick_item (Ctl *ctl, guint64 number, guint *kicked)
{
  return kick (ctl, number, IRIS_CLIENT_ITEM_ANY, 0, kicked);
}

static int
bury_item (Ctl *ctl, guint64 number, guint *buried)
{
  GAsyncResult *result = NULL;

  iris_client_bury_async (ctl->client, number, reason, ctl->cancellable, ctl_take_result, &result);
  return finish (ctl, iris_client_bury_finish, &result, buried);
}

/* Does it to each of the items; one that it cannot be done to does not keep the others from it. */
static int
each_item (Ctl *ctl,
           int argc,
           char **argv,
           int (*change) (Ctl *ctl, guint64 number, guint *changed),
           const char *done)
{
  g_autoptr (GArray) numbers = ctl_parse_item_numbers (argc, argv);
  guint changed = 0;
  int worst = CTL_OK, status;

  if (numbers == NULL)
    return CTL_USAGE;
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  for (guint i = 0; i < numbers->len; i++)
    {
      status = change (ctl, g_array_index (numbers, guint64, i), &changed);
      worst = MAX (worst, status);
    }
  if (worst == CTL_OK || changed > 0 || ctl->json)
    show_changed (ctl, done, changed, "item");

  return worst;
}

static int
run_kick (Ctl *ctl, int argc, char **argv)
{
  static const char *const names[] = { "buried", "delayed", NULL };
  static const IrisClientItemState states[] = { IRIS_CLIENT_ITEM_BURIED, IRIS_CLIENT_ITEM_DELAYED };
  g_autoptr (GError) error = NULL;
  guint kicked = 0, state = 0;
  int status;

  if ((argc > 1) == (state_name != NULL))
    return ctl_fail (
        CTL_USAGE,
        "kick takes the numbers of items, or --state buried or delayed; see irisctl kick --help");
  if (count == 0 || count < -1 || (count > 0 && state_name == NULL))
    return ctl_fail (CTL_USAGE, "--count takes a number from 1, and goes with --state");
  if (argc > 1)
    return each_item (ctl, argc, argv, kick_item, "kicked");
  if (!ctl_choose ("state", state_name, names, &state, &error))
    return ctl_fail (CTL_USAGE, "kick: %s", error->message);
  status = ctl_connect (ctl);
  if (status == CTL_OK)
    status = kick_state (ctl, states[state], &kicked);

  return status == CTL_OK ? show_changed (ctl, "kicked", kicked, "item") : status;
}

static const GOptionEntry kick_entries[] = {
  { "state", 0, 0, G_OPTION_ARG_STRING, &state_name, "All items that are buried, or delayed",
    "STATE" },
  { "count", 'n', 0, G_OPTION_ARG_INT, &count, "At most so many of them", "N" },
  { NULL },
};

const CtlCommand ctl_kick = {
  .name = "kick",
  .arguments = "ITEM… | --state STATE",
  .summary = "queue buried items again, or delayed ones at once",
  .description = "Examples:\n"
                 "  irisctl list --state buried\n"
                 "  irisctl kick 17 18\n"
                 "  irisctl kick --state buried --count 10\n",
  .operand = CTL_OPERAND_KICKABLE,
  .most = CTL_ANY,
  .takes = "the numbers of items",
  .asks_only = TRUE,
  .entries = kick_entries,
  .takes_node = TRUE,
  .run = run_kick,
};

static int
run_bury (Ctl *ctl, int argc, char **argv)
{
  return each_item (ctl, argc, argv, bury_item, "buried");
}

static const GOptionEntry bury_entries[] = {
  { "reason", 'r', 0, G_OPTION_ARG_STRING, &reason, "Why; irisctl show prints it", "TEXT" },
  { NULL },
};

const CtlCommand ctl_bury = {
  .name = "bury",
  .arguments = "ITEM…",
  .summary = "set waiting items aside until they are kicked",
  .description = "An item that runs or has ended cannot be buried.\n\n"
                 "Example:\n"
                 "  irisctl bury --reason 'the printer is broken' 17 18\n",
  .operand = CTL_OPERAND_OPEN_ITEM,
  .least = 1,
  .most = CTL_ANY,
  .takes = "the numbers of items",
  .asks_only = TRUE,
  .entries = bury_entries,
  .takes_node = TRUE,
  .run = run_bury,
};

static int
pause_item (Ctl *ctl, guint64 number, guint *paused)
{
  GAsyncResult *result = NULL;

  iris_client_suspend_async (ctl->client, number, reason, ctl->cancellable, ctl_take_result,
                             &result);
  return finish (ctl, iris_client_suspend_finish, &result, paused);
}

static int
run_pause (Ctl *ctl, int argc, char **argv)
{
  return each_item (ctl, argc, argv, pause_item, "paused");
}

static const GOptionEntry pause_entries[] = {
  { "reason", 'r', 0, G_OPTION_ARG_STRING, &reason, "Why; irisctl show prints it", "TEXT" },
  { NULL },
};

const CtlCommand ctl_pause_command = {
  .name = "pause",
  .arguments = "ITEM…",
  .summary = "have waiting items wait, and stop running commands, until they are resumed",
  .description = "All processes of a command are stopped, and its time limits do not count; it\n"
                 "keeps its slot and its memory. A persistent item stays paused when irisd is\n"
                 "started again, and then runs anew when it is resumed. Deadlines go on.\n\n"
                 "Example:\n"
                 "  irisctl pause 17 18\n",
  .operand = CTL_OPERAND_OPEN_ITEM,
  .least = 1,
  .most = CTL_ANY,
  .takes = "the numbers of items",
  .asks_only = TRUE,
  .entries = pause_entries,
  .takes_node = TRUE,
  .run = run_pause,
};

static int
resume_item (Ctl *ctl, guint64 number, guint *resumed)
{
  GAsyncResult *result = NULL;

  iris_client_resume_async (ctl->client, number, ctl->cancellable, ctl_take_result, &result);
  return finish (ctl, iris_client_resume_finish, &result, resumed);
}

static int
run_resume (Ctl *ctl, int argc, char **argv)
{
  return each_item (ctl, argc, argv, resume_item, "resumed");
}

const CtlCommand ctl_resume_command = {
  .name = "resume",
  .arguments = "ITEM…",
  .summary = "let paused items go on",
  .description = "Example:\n"
                 "  irisctl list --state suspended\n"
                 "  irisctl resume 17 18\n",
  .operand = CTL_OPERAND_SUSPENDED,
  .least = 1,
  .most = CTL_ANY,
  .takes = "the numbers of items",
  .asks_only = TRUE,
  .takes_node = TRUE,
  .run = run_resume,
};

static int
drain_one (Ctl *ctl, int place, guint *changed)
{
  GAsyncResult *result = NULL;

  iris_client_drain_async (ctl->client, place, !resume, ctl->cancellable, ctl_take_result, &result);

  return finish (ctl, iris_client_drain_finish, &result, changed);
}

/* All cannot be drained: one has to take items. */
static int
resume_all (Ctl *ctl, guint *changed)
{
  g_autoptr (GPtrArray) places = iris_client_get_places (ctl->client);
  int status = CTL_OK;

  for (guint i = 0; i < places->len && status == CTL_OK; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (places, i);

      status = drain_one (ctl, place->id, changed);
    }

  return status;
}

static int
run_drain (Ctl *ctl, int argc, char **argv)
{
  guint changed = 0;
  int place, status;

  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  if (resume && g_str_equal (argv[1], "all"))
    status = resume_all (ctl, &changed);
  else
    {
      place = ctl_find_place (ctl, argv[1]);
      if (place < 0)
        return CTL_USAGE;
      status = drain_one (ctl, place, &changed);
    }

  return status == CTL_OK ? show_changed (ctl, resume ? "resumed" : "drained", changed, "place")
                          : status;
}

static const GOptionEntry drain_entries[] = {
  { "resume", 0, 0, G_OPTION_ARG_NONE, &resume, "Let it take items again", NULL },
  { NULL },
};

const CtlCommand ctl_drain = {
  .name = "drain",
  .arguments = "PLACE",
  .summary = "stop a place from taking items, or let it take items again",
  .description = "The place ends the items that it has. New ones go to other places; strict ones\n"
                 "are refused. It lasts until the place is resumed or irisd is started again.\n"
                 "--resume also starts the places of an irisd that runs with --paused; “all”\n"
                 "names every place.\n\n"
                 "Examples:\n"
                 "  irisctl drain package:1\n"
                 "  irisctl drain package:1 --resume\n"
                 "  irisctl drain all --resume\n",
  .operand = CTL_OPERAND_PLACE,
  .least = 1,
  .most = 1,
  .takes = "one place",
  .asks_only = TRUE,
  .entries = drain_entries,
  .run = run_drain,
};

static int
run_set_workers (Ctl *ctl, int argc, char **argv)
{
  GAsyncResult *result = NULL;
  guint64 workers;
  guint changed = 0;
  int place, status;

  if (!g_ascii_string_to_unsigned (argv[2], 10, 1, G_MAXUINT32, &workers, NULL))
    return ctl_fail (CTL_USAGE,
                     "set-workers takes a place and a number of workers, from 1; see irisctl "
                     "set-workers --help");
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  place = ctl_find_place (ctl, argv[1]);
  if (place < 0)
    return CTL_USAGE;
  iris_client_set_workers_async (ctl->client, place, (guint) workers, ctl->cancellable,
                                 ctl_take_result, &result);
  status = finish (ctl, iris_client_set_workers_finish, &result, &changed);

  return status == CTL_OK ? show_changed (ctl, "changed", changed, "place") : status;
}

const CtlCommand ctl_set_workers = {
  .name = "set-workers",
  .arguments = "PLACE WORKERS",
  .summary = "change how many workers of a place run items",
  .description = "From 1 to as many as irisd was started with (irisd --workers); the others\n"
                 "sleep. A worker ends its item before it goes to sleep.\n\n"
                 "Example:\n"
                 "  irisctl set-workers package:0 2\n",
  .operand = CTL_OPERAND_PLACE,
  .least = 2,
  .most = 2,
  .takes = "a place and a number of workers, from 1",
  .asks_only = TRUE,
  .run = run_set_workers,
};

int
ctl_reload_settings (Ctl *ctl)
{
  g_autoptr (GError) error = NULL;
  GAsyncResult *result = NULL;
  int status = ctl_connect (ctl);

  if (status != CTL_OK)
    return status;
  iris_client_reload_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  g_autofree char *text = iris_client_reload_finish (ctl->client, ctl_wait (&result), &error);
  g_clear_object (&result);
  if (text == NULL)
    return ctl_fail_with (error);
  if (ctl->json)
    {
      g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
      ctl_json_print_strings ("settings", (const char *const *) lines);
    }
  else
    g_print ("%s\n", *text != '\0' ? text : "nothing has changed");
  return CTL_OK;
}

static int
run_reload (Ctl *ctl, int argc, char **argv)
{
  return ctl_reload_settings (ctl);
}

const CtlCommand ctl_reload = {
  .name = "reload",
  .arguments = "",
  .summary = "have irisd read its configuration and its keys again",
  .description = "irisd applies all that can change while it runs, or, if there is a mistake,\n"
                 "nothing. A line for each setting says what it is now, or that it stays until\n"
                 "irisd is started again.\n\n"
                 "Example:\n"
                 "  irisctl reload\n",
  .asks_only = TRUE,
  .run = run_reload,
};

static int
run_backup (Ctl *ctl, int argc, char **argv)
{
  g_autofree char *path = g_canonicalize_filename (argv[1], NULL);
  GAsyncResult *result = NULL;
  guint n_items = 0;
  int status = ctl_connect (ctl);

  if (status != CTL_OK)
    return status;
  iris_client_backup_async (ctl->client, path, ctl->cancellable, ctl_take_result, &result);
  status = finish (ctl, iris_client_backup_finish, &result, &n_items);
  if (status != CTL_OK)
    return status;
  if (ctl->json)
    ctl_json_print_int ("items", n_items);
  else
    {
      g_autofree char *counted = ctl_count (n_items, "item");

      g_print ("%s: %s\n", path, counted);
    }

  return CTL_OK;
}

const CtlCommand ctl_backup = {
  .name = "backup",
  .arguments = "DIRECTORY",
  .summary = "copy the journal while irisd runs",
  .description =
      "irisd makes the directory, on its own machine, copies its journal as it is at the\n"
      "end of that, and reads the copy to see that it is whole. irisd --journal\n"
      "DIRECTORY goes on with it. Output that is kept for irisctl follow is not copied.\n\n"
      "Examples:\n"
      "  irisctl backup /var/backups/irisd-$(date +%F)\n"
      "  irisd --check-journal /var/backups/irisd-2026-02-03\n",
  .operand = CTL_OPERAND_DIRECTORY,
  .least = 1,
  .most = 1,
  .takes = "one directory",
  .asks_only = TRUE,
  .run = run_backup,
};
