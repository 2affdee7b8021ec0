/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl list, show: items that irisd keeps, and what it knows about them.
 *
 * A list is printed page by page, so that a million items need no more memory than a page; columns
 * may therefore get wider from one page to the next.
 */
#include "clients/irisctl/output/irisctl-output.h"
#include "clients/irisctl/input/irisctl-input.h"

#include <errno.h>
#include <stdio.h>

static int limit = -1;
static gboolean newest_first;
static char *export_file;

static void
show_times (const IrisClientItem *item)
{
  g_autofree char *accepted = ctl_format_time (item->accepted_ms);
  g_autofree char *due = ctl_format_time (item->due_ms);
  g_autofree char *started = ctl_format_time (item->started_ms);
  g_autofree char *ended = ctl_format_time (item->ended_ms);
  g_autofree char *expires = ctl_format_time (item->expires_ms);
  g_autofree char *time = ctl_format_item_time (item, (guint64) (g_get_real_time () / 1000));

  g_print ("accepted  %s\n", accepted);
  if (item->due_ms > 0 && item->ended_ms == 0)
    g_print ("due       %s\n", due);
  if (item->started_ms > 0)
    g_print ("started   %s\n", started);
  if (!g_str_equal (time, "-"))
    g_print ("time      %s\n", time);
  if (item->ended_ms > 0)
    g_print ("ended     %s\nexpires   %s\n", ended, expires);
}

static void
show_text (const Ctl *ctl, const IrisClientItem *item)
{
  g_autofree char *place = ctl_format_place (ctl, item);
  g_autofree char *owner = ctl_format_owner (item);
  g_autofree char *args = ctl_format_args ((const char *const *) item->args);
  g_autofree char *state = ctl_format_state (item);

  g_print ("item      %" G_GUINT64_FORMAT
           "\nstate     %s\nclass     %s\nservice   %s\nowner     %s\n",
           item->number, state, item->durability, item->service, owner);
  if (*args != '\0')
    g_print ("%s  %s\n", g_str_equal (item->service, "command") ? "command " : "args    ", args);
  if (*item->key != '\0')
    g_print ("key       %s\n", item->key);
  if (*item->traceparent != '\0')
    g_print ("trace     %s\n", item->traceparent);
  if (*item->node != '\0')
    g_print ("node      %s\n", item->node);
  g_print ("place     %s\nattempts  %u\n", place, item->attempts);
  if (item->crashes > 0)
    g_print ("crashes   %u\n", item->crashes);
  g_print ("bytes     %" G_GUINT64_FORMAT "\n", item->bytes);
  show_times (item);
  if (*item->message == '\0')
    return;
  if (*item->error_name != '\0')
    g_print ("buried    %s (%s)\n", item->message, item->error_name);
  else
    g_print ("%s    %s\n", item->state == IRIS_CLIENT_ITEM_LEASED ? "where " : "paused",
             item->message);
}

static int
run_show (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (IrisClientItem) item = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  guint64 number;
  int status;

  if (ctl_parse_item_number (argv[1], &number) != CTL_OK)
    return CTL_USAGE;
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  iris_client_show_async (ctl->client, number, 0, ctl->cancellable, ctl_take_result, &result);
  item = iris_client_show_finish (ctl->client, ctl_wait (&result), &error);
  if (item == NULL)
    return ctl_fail_asking (error, number);

  if (ctl->json)
    {
      ctl_item_json (ctl, builder, item);
      ctl_json_print (builder);
    }
  else
    show_text (ctl, item);

  return CTL_OK;
}

const CtlCommand ctl_show = {
  .name = "show",
  .arguments = "ITEM",
  .summary = "show all that irisd knows of a persistent item",
  .operand = CTL_OPERAND_ITEM,
  .least = 1,
  .most = 1,
  .takes = "the number of one item",
  .asks_only = TRUE,
  .takes_node = TRUE,
  .run = run_show,
};

static CtlColour
state_colour (IrisClientItemState state)
{
  switch (state)
    {
    case IRIS_CLIENT_ITEM_RUNNING:
    case IRIS_CLIENT_ITEM_LEASED:
      return CTL_COLOUR_GREEN;
    case IRIS_CLIENT_ITEM_FAILED:
    case IRIS_CLIENT_ITEM_BURIED:
      return CTL_COLOUR_RED;
    case IRIS_CLIENT_ITEM_DELAYED:
    case IRIS_CLIENT_ITEM_SUSPENDED:
      return CTL_COLOUR_YELLOW;
    case IRIS_CLIENT_ITEM_DONE:
    case IRIS_CLIENT_ITEM_CANCELLED:
      return CTL_COLOUR_FAINT;
    case IRIS_CLIENT_ITEM_ANY:
    case IRIS_CLIENT_ITEM_QUEUED:
    default:
      return CTL_COLOUR_NONE;
    }
}

static gboolean
ended_badly (const IrisClientItem *item)
{
  return item->exit_status != 0 || item->signal != 0;
}

static char *
state_cell (const IrisClientItem *item)
{
  CtlColour colour = ended_badly (item) ? CTL_COLOUR_RED : state_colour (item->state);
  char *state = ctl_format_state (item);

  return colour != CTL_COLOUR_NONE ? ctl_table_colour (colour, state) : state;
}

static void
add_to_table (const Ctl *ctl, CtlTable *table, const IrisClientItem *item)
{
  guint64 now_ms = (guint64) (g_get_real_time () / 1000);

  ctl_table_add (table, ctl_number (item->number), state_cell (item), ctl_format_owner (item),
                 ctl_format_node_or_place (ctl, item), ctl_number (item->attempts),
                 ctl_format_item_time (item, now_ms), g_strdup (item->durability),
                 ctl_number (item->bytes), ctl_format_time (item->accepted_ms),
                 ctl_format_time (item->due_ms), g_strdup (item->key), g_strdup (item->service),
                 ctl_format_args ((const char *const *) item->args));
}

/* Where a list goes: to a file, or to standard output as JSON or as a table. */
typedef struct
{
  FILE *file;
  CtlTable *table;
  CtlJsonArray array;
  gboolean any;
} Target;

static int
put (Ctl *ctl, Target *target, const IrisClientItem *item)
{
  target->any = TRUE;
  if (target->file != NULL)
    return ctl_export_item (ctl, item->number, target->file);
  if (ctl->json)
    ctl_item_json (ctl, ctl_json_array_next (&target->array), item);
  else
    add_to_table (ctl, target->table, item);

  return CTL_OK;
}

/* One page after the other: irisd bounds its answers. */
static int
list_all (Ctl *ctl, IrisClientQuery *query, Target *target)
{
  int worst = CTL_OK;
  guint left = limit < 0 ? G_MAXUINT : (guint) limit;

  while (left > 0)
    {
      g_autoptr (GPtrArray) page = NULL;
      g_autoptr (GError) error = NULL;

      iris_client_query_set_page_size (query, limit < 0 ? 0 : left);
      page = ctl_filter_next_page (ctl, query, &error);
      if (page == NULL)
        return ctl_fail_asking (error, 0);
      if (page->len == 0)
        return worst;
      for (guint i = 0; i < page->len && left > 0; i++, left--)
        {
          int status = put (ctl, target, g_ptr_array_index (page, i));

          worst = MAX (worst, status);
        }
      if (!ctl->json && target->file == NULL)
        ctl_table_flush (target->table);
      if (!ctl_output_is_good ())
        return ctl_fail (CTL_FAILED,
                         "cannot write the list: standard output was closed, or its disk is full");
    }

  return worst;
}

static int
export_all (Ctl *ctl, IrisClientQuery *query)
{
  Target target = { .file = fopen (export_file, "we") };
  int status;

  if (target.file == NULL)
    return ctl_fail (CTL_USAGE, "%s: %s", export_file, g_strerror (errno));
  status = list_all (ctl, query, &target);
  if (fclose (target.file) != 0 && status == CTL_OK)
    status = ctl_fail (CTL_FAILED, "%s: %s", export_file, g_strerror (errno));

  return status;
}

static int
print_all (Ctl *ctl, IrisClientQuery *query)
{
  static const char *const headings[] = { ">item", "state",   "owner",     "place",     ">attempts",
                                          "time",  "+class",  "+>bytes",   "+accepted", "+due",
                                          "key",   "service", "arguments", NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, ctl->verbose);
  Target target = { .table = table };
  int status;

  ctl_table_set_sparse (table);
  ctl_table_fit_terminal (table);
  if (ctl->json)
    ctl_json_array_begin (&target.array);
  status = list_all (ctl, query, &target);
  if (ctl->json)
    ctl_json_array_end (&target.array);
  else if (target.any || (status == CTL_OK && !ctl_terminal_print_instead ("no items")))
    ctl_table_flush (table);

  return status;
}

static int
run_list (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisClientQuery) query = NULL;
  int status;

  if (limit < -1)
    return ctl_fail (CTL_USAGE, "list: --limit takes a number of items, not %d", limit);
  query = ctl_filter_make_query (&ctl->filter, "list");
  if (query == NULL)
    return CTL_USAGE;
  iris_client_query_set_descending (query, newest_first);
  iris_client_query_set_with_args (query, export_file == NULL);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  return export_file != NULL ? export_all (ctl, query) : print_all (ctl, query);
}

static const GOptionEntry list_entries[] = {
  { "limit", 'n', 0, G_OPTION_ARG_INT, &limit, "At most so many items", "N" },
  { "export", 0, 0, G_OPTION_ARG_FILENAME, &export_file,
    "Write them to this file as they were submitted, one JSON object a line", "FILE" },
  { "reverse", 'r', 0, G_OPTION_ARG_NONE, &newest_first, "Newest first", NULL },
  { NULL },
};

const CtlCommand ctl_list = {
  .name = "list",
  .arguments = "",
  .summary = "list the persistent items",
  .description = "They are listed by number, in the order in which irisd accepted them. On a\n"
                 "terminal lines are cut to its width: irisctl show ITEM prints all. With\n"
                 "--verbose there are more columns. The arguments of an item are deleted when it\n"
                 "has ended, as is its payload, so ended items cannot be exported.\n\n"
                 "Examples:\n"
                 "  irisctl list --state failed --since 1d\n"
                 "  irisctl list --service command --reverse --limit 20\n"
                 "  irisctl list --key nightly- --json | jq '.[] | .item'\n"
                 "  irisctl list --state buried --export buried.jsonl\n",
  .takes_filter = TRUE,
  .entries = list_entries,
  .asks_only = TRUE,
  .takes_node = TRUE,
  .run = run_list,
};
