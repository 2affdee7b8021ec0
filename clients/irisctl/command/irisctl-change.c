/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl kick, bury, drain, set-workers: what of irisd can be changed while it runs.
 */
#include "clients/irisctl/output/irisctl-json.h"
#include "clients/irisctl/input/irisctl-item.h"
#include "clients/irisctl/irisctl.h"

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

/* Waits for the call behind @result. */
static int
finish (Ctl *ctl, Finish how, GAsyncResult **result, guint *changed)
{
  g_autoptr (GError) error = NULL;
  gboolean well = how (ctl->client, ctl_wait (result), changed, &error);

  g_clear_object (result);
  return well ? CTL_OK : ctl_fail_with (error);
}

/* irisd bounds what it changes at once. */
static int
kick_state (Ctl *ctl, IrisClientItemState state, guint *kicked)
{
  guint left = count >= 0 ? (guint) count : G_MAXUINT;
  guint changed = 0;

  while (left > 0)
    {
      GAsyncResult *result = NULL;
      int status;

      iris_client_kick_async (ctl->client, 0, state, count >= 0 ? left : 0, ctl->cancellable,
                              ctl_take_result, &result);
      status = finish (ctl, iris_client_kick_finish, &result, &changed);
      if (status != CTL_OK || changed == 0)
        return status;
      *kicked += changed;
      left -= MIN (changed, left);
    }

  return CTL_OK;
}

static int
kick_item (Ctl *ctl, guint64 number, guint *kicked)
{
  GAsyncResult *result = NULL;
  guint changed = 0;
  int status;

  iris_client_kick_async (ctl->client, number, IRIS_CLIENT_ITEM_ANY, 0, ctl->cancellable,
                          ctl_take_result, &result);
  status = finish (ctl, iris_client_kick_finish, &result, &changed);
  *kicked += changed;
  return status;
}

static int
bury_item (Ctl *ctl, guint64 number, guint *buried)
{
  GAsyncResult *result = NULL;
  guint changed = 0;
  int status;

  iris_client_bury_async (ctl->client, number, reason, ctl->cancellable, ctl_take_result, &result);
  status = finish (ctl, iris_client_bury_finish, &result, &changed);
  *buried += changed;
  return status;
}

/* Does it to each of the items; one that it cannot be done to does not keep the others from it. */
static int
each_item (Ctl *ctl,
           int argc,
           char **argv,
           int (*change) (Ctl *ctl, guint64 number, guint *changed),
           const char *done)
{
  g_autofree guint64 *numbers = g_new (guint64, (gsize) argc);
  guint changed = 0;
  int worst = CTL_OK, status;

  for (int i = 1; i < argc; i++)
    if (ctl_parse_item_number (argv[i], &numbers[i]) != CTL_OK)
      return CTL_USAGE;
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  for (int i = 1; i < argc; i++)
    {
      status = change (ctl, numbers[i], &changed);
      worst = MAX (worst, status);
    }
  if (worst == CTL_OK || changed > 0 || ctl->json)
    show_changed (ctl, done, changed, "item");

  return worst;
}

static int
run_kick (Ctl *ctl, int argc, char **argv)
{
  IrisClientItemState state = IRIS_CLIENT_ITEM_BURIED;
  guint kicked = 0;
  int status;

  if ((argc > 1) == (state_name != NULL))
    return ctl_fail (
        CTL_USAGE,
        "kick takes the numbers of items, or --state buried or delayed; see irisctl kick --help");
  if (count == 0 || count < -1 || (count > 0 && state_name == NULL))
    return ctl_fail (CTL_USAGE, "--count takes a number from 1, and goes with --state");
  if (argc > 1)
    return each_item (ctl, argc, argv, kick_item, "kicked");
  if (g_str_equal (state_name, "delayed"))
    state = IRIS_CLIENT_ITEM_DELAYED;
  else if (!g_str_equal (state_name, "buried"))
    return ctl_fail (CTL_USAGE, "kick: --state takes buried or delayed, not “%s”", state_name);
  status = ctl_connect (ctl);
  if (status == CTL_OK)
    status = kick_state (ctl, state, &kicked);

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
  .description = "Examples:\n  irisctl list --state buried\n  irisctl kick 17 18\n"
                 "  irisctl kick --state buried --count 10\n",
  .entries = kick_entries,
  .run = run_kick,
};

static int
run_bury (Ctl *ctl, int argc, char **argv)
{
  if (argc < 2)
    return ctl_fail (CTL_USAGE, "bury takes the numbers of items; see irisctl bury --help");

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
                 "Example:\n  irisctl bury --reason 'the printer is broken' 17 18\n",
  .entries = bury_entries,
  .run = run_bury,
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
      guint one = 0;

      status = drain_one (ctl, place->id, &one);
      *changed += one;
    }

  return status;
}

static int
run_drain (Ctl *ctl, int argc, char **argv)
{
  guint changed = 0;
  int place, status;

  if (argc != 2)
    return ctl_fail (CTL_USAGE, "drain takes one place; see irisctl drain --help");
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
  .description =
      "The place ends the items that it has. New ones go to other places; strict ones are\n"
      "refused. It lasts until the place is resumed or irisd is started again. --resume also\n"
      "starts the places of an irisd that runs with --paused; “all” names every place.\n\n"
      "Examples:\n  irisctl drain package:1\n  irisctl drain package:1 --resume\n"
      "  irisctl drain all --resume\n",
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

  if (argc != 3 || !g_ascii_string_to_unsigned (argv[2], 10, 1, G_MAXUINT32, &workers, NULL))
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
                 "sleep. A worker ends its item before it goes to sleep.\n"
                 "\nExample:\n  irisctl set-workers package:0 2\n",
  .run = run_set_workers,
};
