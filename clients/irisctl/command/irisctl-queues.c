/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl queue, queues: how many items of a named queue run at once, and whether any begins.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

/* Columns of the name; with them the table is narrower than 80. */
#define NAME_COLUMNS 32

static int limit = -1;
static int priority = -1;
static gboolean pause_it, resume_it, remove_it;

/* --- queue ------------------------------------------------------------------------------------ */

static int
check (void)
{
  gboolean changes = limit >= 0 || priority >= 0;

  if (pause_it + resume_it + remove_it > 1)
    return ctl_fail (CTL_USAGE, "queue: --pause, --resume and --remove exclude each other");
  if (remove_it && changes)
    return ctl_fail (CTL_USAGE, "queue: --remove takes no --limit and no --priority");
  if (limit < -1)
    return ctl_fail (CTL_USAGE, "queue: --limit takes a number from 0, not %d", limit);
  if (priority < -1 || priority > 9)
    return ctl_fail (CTL_USAGE, "queue: --priority takes 0 to 9, not %d", priority);
  return CTL_OK;
}

static GVariant *
make_settings (void)
{
  GVariantDict settings;

  g_variant_dict_init (&settings, NULL);
  if (limit >= 0)
    g_variant_dict_insert (&settings, "queue-limit", "u", (guint) limit);
  if (priority >= 0)
    g_variant_dict_insert (&settings, "priority", "u", (guint) priority);
  if (pause_it || resume_it)
    g_variant_dict_insert (&settings, "suspended", "b", pause_it);
  if (remove_it)
    g_variant_dict_insert (&settings, "remove", "b", TRUE);
  return g_variant_dict_end (&settings);
}

static int
run_queue (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  gboolean changed;
  int status = check ();

  if (status == CTL_OK)
    status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  iris_client_set_queue_async (ctl->client, argv[1], make_settings (), ctl->cancellable,
                               ctl_take_result, &result);
  if (!iris_client_set_queue_finish (ctl->client, ctl_wait (&result), &changed, &error))
    return ctl_fail_with (error);
  if (ctl->json)
    ctl_json_print_int ("changed", changed);
  else if (!changed)
    g_print ("queue %s is like that already\n", argv[1]);
  else
    g_print ("%s queue %s\n", remove_it ? "removed" : "set", argv[1]);

  return CTL_OK;
}

static const GOptionEntry queue_entries[] = {
  { "limit", 'n', 0, G_OPTION_ARG_INT, &limit,
    "How many of its items may run at once (default: 0, as many as can)", "N" },
  { "priority", 0, 0, G_OPTION_ARG_INT, &priority,
    "0 to 9, of its items that say none (default: 5)", "N" },
  { "pause", 0, 0, G_OPTION_ARG_NONE, &pause_it, "None of its items begins; running ones go on",
    NULL },
  { "resume", 0, 0, G_OPTION_ARG_NONE, &resume_it, "Its items begin again", NULL },
  { "remove", 'r', 0, G_OPTION_ARG_NONE, &remove_it, "Remove it; it must have no items", NULL },
  { NULL },
};

const CtlCommand ctl_queue = {
  .name = "queue",
  .arguments = "NAME",
  .summary = "make or change a queue that runs few of its items at once",
  .description =
      "Items go into the queue with --queue NAME. What is left out stays as it was. For\n"
      "operators.\n\n"
      "Examples:\n"
      "  irisctl queue builds --limit 1\n"
      "  irisctl submit --detach --queue builds command make -C /src check\n"
      "  irisctl queue builds --pause\n",
  .operand = CTL_OPERAND_QUEUE,
  .least = 1,
  .most = 1,
  .takes = "the name of one queue",
  .asks_only = TRUE,
  .entries = queue_entries,
  .run = run_queue,
};

/* --- queues ----------------------------------------------------------------------------------- */

static void
add_row (const Ctl *ctl, CtlTable *table, GVariant *queue)
{
  const char *name = "";
  guint32 most = 0, level = 0;
  guint64 running = 0, waiting = 0;
  gboolean suspended = FALSE;

  g_variant_lookup (queue, "name", "&s", &name);
  g_variant_lookup (queue, "limit", "u", &most);
  g_variant_lookup (queue, "priority", "u", &level);
  g_variant_lookup (queue, "suspended", "b", &suspended);
  g_variant_lookup (queue, "running", "t", &running);
  g_variant_lookup (queue, "waiting", "t", &waiting);
  ctl_table_add (table, ctl_terminal_cut (name, ctl->verbose ? 0 : NAME_COLUMNS),
                 suspended ? ctl_table_colour (CTL_COLOUR_YELLOW, g_strdup ("paused"))
                           : g_strdup ("runs"),
                 most > 0 ? ctl_number (most) : g_strdup ("-"), ctl_number (running),
                 ctl_number (waiting), ctl_number (level));
}

static int
run_queues (Ctl *ctl, int argc, char **argv)
{
  static const char *const headings[] = { "name",     "state",     ">limit", ">running",
                                          ">waiting", ">priority", NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, ctl->verbose);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GVariant) queues = NULL;
  g_autoptr (GError) error = NULL;
  int status = ctl_connect (ctl);

  if (status != CTL_OK)
    return status;
  iris_client_get_queues_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  queues = iris_client_get_queues_finish (ctl->client, ctl_wait (&result), &error);
  if (queues == NULL)
    return ctl_fail_with (error);
  if (ctl->json)
    {
      g_autoptr (JsonBuilder) builder = json_builder_new ();

      json_builder_begin_array (builder);
      for (gsize i = 0; i < g_variant_n_children (queues); i++)
        {
          g_autoptr (GVariant) queue = g_variant_get_child_value (queues, i);

          json_builder_add_value (builder, json_gvariant_serialize (queue));
        }
      json_builder_end_array (builder);
      ctl_json_print (builder);
      return CTL_OK;
    }
  ctl_table_fit_terminal (table);
  for (gsize i = 0; i < g_variant_n_children (queues); i++)
    {
      g_autoptr (GVariant) queue = g_variant_get_child_value (queues, i);

      add_row (ctl, table, queue);
    }
  if (g_variant_n_children (queues) > 0 || !ctl_terminal_print_instead ("there are no queues"))
    ctl_table_flush (table);

  return CTL_OK;
}

const CtlCommand ctl_queues = {
  .name = "queues",
  .arguments = "",
  .summary = "list the named queues",
  .description = "A queue that is paused begins none of its items. Those that wait are all that\n"
                 "have not ended and do not run, also delayed ones.\n",
  .least = 0,
  .most = 0,
  .takes = "no arguments",
  .asks_only = TRUE,
  .run = run_queues,
};
