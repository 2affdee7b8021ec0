/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl wait, result, list, show: items that irisd keeps.
 */
#include "irisctl-export.h"
#include "irisctl-json.h"
#include "irisctl-kept.h"
#include "irisctl-table.h"
#include "irisctl.h"

#include <errno.h>
#include <string.h>

CtlKeeping ctl_keeping;

static int timeout_s = -1;
static char *state_name;
static char *export_file;

gboolean
ctl_parse_number (const char *text, guint64 *number)
{
  return g_ascii_string_to_unsigned (text, 10, 1, G_MAXUINT64, number, NULL);
}

static gboolean
parse_class (const char *name, IrisDurability *durability)
{
  static const char *const names[] = { "volatile", "relaxed", "durable" };

  *durability = IRIS_DURABILITY_DURABLE;
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], name))
      {
        *durability = (IrisDurability) i;
        return TRUE;
      }

  return name == NULL;
}

gboolean
ctl_apply_keeping (IrisRequest *request, gboolean *detached, GError **error)
{
  IrisDurability durability;
  guint64 keep_ms;

  *detached = ctl_keeping.detach;
  if (!parse_class (ctl_keeping.klass, &durability))
    {
      g_set_error (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BAD_ARGUMENT,
                   "there is no class “%s”: choose volatile, relaxed or durable",
                   ctl_keeping.klass);
      return FALSE;
    }
  if (durability == IRIS_DURABILITY_VOLATILE
      && (ctl_keeping.detach || ctl_keeping.bury || ctl_keeping.key != NULL
          || ctl_keeping.keep != NULL))
    {
      g_set_error_literal (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BAD_ARGUMENT,
                           "--detach, --bury, --key and --keep are for items that irisd keeps: the "
                           "class relaxed or durable");
      return FALSE;
    }
  iris_request_set_durability (request, durability);
  iris_request_set_detached (request, ctl_keeping.detach);
  iris_request_set_bury (request, ctl_keeping.bury);
  iris_request_set_key (request, ctl_keeping.key);
  if (ctl_keeping.keep == NULL)
    return TRUE;
  if (!ctl_parse_duration (ctl_keeping.keep, &keep_ms))
    {
      g_set_error (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BAD_ARGUMENT,
                   "“%s” is no time: give seconds, or a number with m, h or d behind it",
                   ctl_keeping.keep);
      return FALSE;
    }
  iris_request_set_keep (request, keep_ms);

  return TRUE;
}

static int
bad_number (const char *text)
{
  return ctl_fail (CTL_USAGE, "“%s” is no item: its number is what submit --detach prints", text);
}

/* What --timeout says, in milliseconds. */
static guint64
timeout_ms (void)
{
  return timeout_s < 0 ? G_MAXUINT64 : (guint64) timeout_s * 1000;
}

static char *
format_time (guint64 unix_ms)
{
  g_autoptr (GDateTime) time = NULL;

  if (unix_ms == 0)
    return g_strdup ("-");
  time = g_date_time_new_from_unix_local ((gint64) (unix_ms / 1000));
  return time != NULL ? g_date_time_format (time, "%F %T") : g_strdup ("?");
}

static void
item_json (JsonBuilder *builder, const IrisClientItem *item)
{
  json_builder_begin_object (builder);
  ctl_json_int (builder, "item", (gint64) item->number);
  ctl_json_string (builder, "state", item->state_name);
  ctl_json_string (builder, "class", item->durability);
  ctl_json_string (builder, "service", item->service);
  ctl_json_string (builder, "key", item->key);
  ctl_json_int (builder, "attempts", item->attempts);
  ctl_json_int (builder, "bytes", (gint64) item->bytes);
  ctl_json_double (builder, "accepted", item->accepted_ms / 1e3);
  ctl_json_double (builder, "ended", item->ended_ms / 1e3);
  ctl_json_double (builder, "expires", item->expires_ms / 1e3);
  ctl_json_string (builder, "error", item->error_name);
  ctl_json_string (builder, "sentence", item->sentence);
  json_builder_end_object (builder);
}

static IrisClientItem *
show (Ctl *ctl, guint64 number, guint64 wait_ms, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_show_async (ctl->client, number, wait_ms, ctl->cancellable, ctl_take_result, &result);
  return iris_client_show_finish (ctl->client, ctl_wait (&result), error);
}

static void
show_text (const IrisClientItem *item)
{
  g_autofree char *accepted = format_time (item->accepted_ms);
  g_autofree char *ended = format_time (item->ended_ms);
  g_autofree char *expires = format_time (item->expires_ms);

  g_print ("item      %" G_GUINT64_FORMAT "\nstate     %s\nclass     %s\nservice   %s\n",
           item->number, item->state_name, item->durability, item->service);
  if (*item->key != '\0')
    g_print ("key       %s\n", item->key);
  g_print ("attempts  %u\nbytes     %" G_GUINT64_FORMAT
           "\naccepted  %s\nended     %s\nexpires   %s\n",
           item->attempts, item->bytes, accepted, ended, expires);
  if (*item->sentence != '\0')
    g_print ("buried    %s (%s)\n", item->sentence, item->error_name);
}

static int
run_show (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (IrisClientItem) item = NULL;
  g_autoptr (GError) error = NULL;
  guint64 number;
  int status;

  if (argc != 2)
    return ctl_fail (CTL_USAGE, "show takes the number of one item; see irisctl show --help");
  if (!ctl_parse_number (argv[1], &number))
    return bad_number (argv[1]);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  item = show (ctl, number, 0, &error);
  if (item == NULL)
    return ctl_fail_with (error);

  if (ctl->json)
    {
      item_json (builder, item);
      ctl_json_print (builder);
    }
  else
    show_text (item);

  return CTL_OK;
}

const CtlCommand ctl_show = {
  .name = "show",
  .arguments = "ITEM",
  .summary = "show what irisd knows about a kept item",
  .run = run_show,
};

/* Waits for one item and says so. CTL_FAILED if it did not end well. */
static int
wait_for (Ctl *ctl, guint64 number, JsonBuilder *builder)
{
  g_autoptr (IrisClientItem) item = NULL;
  g_autoptr (GError) error = NULL;

  item = show (ctl, number, timeout_ms (), &error);
  if (item == NULL)
    return ctl_fail_with (error);
  if (ctl->json)
    item_json (builder, item);
  else
    g_print ("%" G_GUINT64_FORMAT " %s\n", item->number, item->state_name);

  return item->state == IRIS_CLIENT_ITEM_DONE ? CTL_OK : CTL_FAILED;
}

static int
run_wait (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree guint64 *numbers = g_new (guint64, (gsize) argc);
  int status, worst = CTL_OK;

  if (argc < 2)
    return ctl_fail (CTL_USAGE, "wait takes the numbers of items; see irisctl wait --help");
  for (int i = 1; i < argc; i++)
    if (!ctl_parse_number (argv[i], &numbers[i]))
      return bad_number (argv[i]);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  json_builder_begin_array (builder);
  for (int i = 1; i < argc; i++)
    {
      status = wait_for (ctl, numbers[i], builder);
      worst = MAX (worst, status);
    }
  json_builder_end_array (builder);
  if (ctl->json)
    ctl_json_print (builder);

  return worst;
}

static const GOptionEntry timeout_entries[] = {
  { "timeout", 't', 0, G_OPTION_ARG_INT, &timeout_s,
    "Wait at most so long (default: as long as it takes)", "SECONDS" },
  { NULL },
};

const CtlCommand ctl_wait_command = {
  .name = "wait",
  .arguments = "ITEM…",
  .summary = "wait until kept items have ended",
  .description =
      "Prints each item and how it ended, and does not fetch the result. The exit status\n"
      "is 1 if one of them failed, was cancelled, or has not ended in time.\n",
  .entries = timeout_entries,
  .run = run_wait,
};

static int
run_result (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GAsyncResult) async = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  guint64 number;
  int status;

  if (argc != 2)
    return ctl_fail (CTL_USAGE, "result takes the number of one item; see irisctl result --help");
  if (!ctl_parse_number (argv[1], &number))
    return bad_number (argv[1]);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  iris_client_fetch_async (ctl->client, number, timeout_ms (), ctl->cancellable, ctl_take_result,
                           &async);
  result = iris_client_fetch_finish (ctl->client, ctl_wait (&async), &error);
  if (result == NULL)
    return ctl_fail_with (error);

  return ctl_show_result (ctl, result, result->exit_status >= 0 || result->signal > 0);
}

const CtlCommand ctl_result = {
  .name = "result",
  .arguments = "ITEM",
  .summary = "print the result of a kept item, once it has ended",
  .description = "irisd lets the result go when it was printed, unless the item has a key. Of a\n"
                 "command the exit status is the command's.\n",
  .entries = timeout_entries,
  .run = run_result,
};

static gboolean
parse_state (IrisClientItemState *state)
{
  static const char *const names[] = { "queued",    "running", "done",   "failed",
                                       "cancelled", "delayed", "leased", "buried" };

  *state = IRIS_CLIENT_ITEM_ANY;
  for (guint i = 0; state_name != NULL && i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], state_name))
      *state = IRIS_CLIENT_ITEM_QUEUED + i;

  return state_name == NULL || *state != IRIS_CLIENT_ITEM_ANY;
}

static void
add_to_table (CtlTable *table, const IrisClientItem *item)
{
  ctl_table_add (table, ctl_number (item->number), g_strdup (item->state_name),
                 g_strdup (item->durability), g_strdup (item->service), ctl_number (item->bytes),
                 format_time (item->accepted_ms), g_strdup (item->key));
}

/* One page after the other: irisd bounds its answers. */
static int
list_all (Ctl *ctl, IrisClientItemState state, CtlTable *table, JsonBuilder *builder, FILE *out)
{
  guint64 after = 0;
  int worst = CTL_OK;

  for (;;)
    {
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GPtrArray) page = NULL;
      g_autoptr (GError) error = NULL;

      iris_client_list_async (ctl->client, after, state, 0, ctl->cancellable, ctl_take_result,
                              &result);
      page = iris_client_list_finish (ctl->client, ctl_wait (&result), &error);
      if (page == NULL)
        return ctl_fail_with (error);
      if (page->len == 0)
        return worst;
      for (guint i = 0; i < page->len; i++)
        {
          const IrisClientItem *item = g_ptr_array_index (page, i);

          after = item->number;
          if (out != NULL)
            {
              int status = ctl_export_item (ctl, item->number, out);

              worst = MAX (worst, status);
            }
          else if (ctl->json)
            item_json (builder, item);
          else
            add_to_table (table, item);
        }
    }
}

static int
export_all (Ctl *ctl, IrisClientItemState state)
{
  FILE *out = fopen (export_file, "we");
  int status;

  if (out == NULL)
    return ctl_fail (CTL_USAGE, "%s: %s", export_file, g_strerror (errno));
  status = list_all (ctl, state, NULL, NULL, out);
  if (fclose (out) != 0 && status == CTL_OK)
    status = ctl_fail (CTL_FAILED, "%s: %s", export_file, g_strerror (errno));

  return status;
}

static int
run_list (Ctl *ctl, int argc, char **argv)
{
  static const char *const headings[] = { ">item",  "state",    "class", "service",
                                          ">bytes", "accepted", "key",   NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  IrisClientItemState state;
  int status;

  if (argc > 1)
    return ctl_fail (CTL_USAGE, "list takes no arguments; see irisctl list --help");
  if (!parse_state (&state))
    return ctl_fail (
        CTL_USAGE,
        "there is no state “%s”: choose queued, delayed, leased, running, done, failed, "
        "cancelled or buried",
        state_name);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  if (export_file != NULL)
    return export_all (ctl, state);

  json_builder_begin_array (builder);
  status = list_all (ctl, state, table, builder, NULL);
  json_builder_end_array (builder);
  if (status != CTL_OK)
    return status;
  if (ctl->json)
    ctl_json_print (builder);
  else
    {
      g_autofree char *text = ctl_table_to_string (table);

      g_print ("%s", text);
    }

  return CTL_OK;
}

static const GOptionEntry list_entries[] = {
  { "state", 0, 0, G_OPTION_ARG_STRING, &state_name,
    "Only items that are queued, delayed, leased, running, done, failed, cancelled or buried",
    "STATE" },
  { "export", 0, 0, G_OPTION_ARG_FILENAME, &export_file,
    "Write them to this file as they were submitted, a line of JSON each", "FILE" },
  { NULL },
};

const CtlCommand ctl_list = {
  .name = "list",
  .arguments = "",
  .summary = "list the items that irisd keeps",
  .description = "What has ended cannot be exported: with what it was submitted is gone then.\n\n"
                 "Example:\n  irisctl list --state buried --export buried.jsonl\n",
  .entries = list_entries,
  .run = run_list,
};
