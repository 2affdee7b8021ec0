/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl edit, again: an item that waits is changed, an item of any state is submitted once more.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/input/irisctl-input.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <string.h>

/* The text of each change, or NULL. */
static char *delay, *at, *priority, *deadline, *place, *retries, *backoff, *time_to_run;
static char *timeout, *grace, *keep, *key, *queue;
static gboolean strict, bury;

static const struct
{
  const char *name;
  char **text;
  void (*set) (IrisRequest *request, guint64 ms);
} times[] = {
  { "delay", &delay, iris_request_set_delay },
  { "deadline", &deadline, iris_request_set_deadline },
  { "backoff", &backoff, iris_request_set_backoff },
  { "time-to-run", &time_to_run, iris_request_set_time_to_run },
  { "timeout", &timeout, iris_request_set_time_limit },
  { "grace", &grace, iris_request_set_grace },
  { "keep", &keep, iris_request_set_keep },
};

static int
set_number (IrisRequest *request,
            const char *name,
            const char *text,
            guint most,
            void (*set) (IrisRequest *request, guint number))
{
  guint64 number;

  if (text == NULL)
    return CTL_OK;
  if (!g_ascii_string_to_unsigned (text, 10, 0, most, &number, NULL))
    return ctl_fail (CTL_USAGE, "--%s takes 0 to %u, not “%s”", name, most, text);
  set (request, (guint) number);

  return CTL_OK;
}

static void
set_priority (IrisRequest *request, guint number)
{
  iris_request_set_priority (request, (int) number);
}

/* What the options, or the lines of an editor, say. */
static int
fill (IrisRequest *request)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  guint64 ms;
  gint64 at_ms;

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    if (*times[i].text != NULL)
      {
        if (!ctl_parse_duration (*times[i].text, &ms))
          return ctl_fail (CTL_USAGE, "--%s takes a time such as 90, 5m, 2h or 1d, not “%s”",
                           times[i].name, *times[i].text);
        times[i].set (request, ms);
      }
  if (at != NULL)
    {
      if (!ctl_parse_at (at, now, &at_ms))
        return ctl_fail (
            CTL_USAGE,
            "--at takes a time such as 18:00, 2026-12-24T18:00:00 or @1800000000, not “%s”", at);
      iris_request_set_time (request, at_ms);
    }
  if (place != NULL)
    iris_request_set_place_name (request, place);
  iris_request_set_strict (request, strict);
  iris_request_set_bury (request, bury);
  iris_request_set_key (request, key);
  iris_request_set_queue (request, queue);
  if (set_number (request, "priority", priority, 9, set_priority) != CTL_OK)
    return CTL_USAGE;

  return set_number (request, "retries", retries, 1000000, iris_request_set_retries);
}

static gboolean
is_given (void)
{
  gboolean given = at != NULL || queue != NULL || place != NULL || priority != NULL
                   || retries != NULL || strict || bury;

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    given |= *times[i].text != NULL;
  return given;
}

static int
send_edit (Ctl *ctl, guint64 number, IrisRequest *changes)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  iris_client_edit_async (ctl->client, number, changes, ctl->cancellable, ctl_take_result, &result);
  if (!iris_client_edit_finish (ctl->client, ctl_wait (&result), &error))
    return ctl_fail_with (error);
  if (ctl->json)
    ctl_json_print_int ("changed", 1);
  else
    g_print ("changed item %" G_GUINT64_FORMAT "\n", number);

  return CTL_OK;
}

/* Makes the lines of an editor the options. */
static int
take_lines (GHashTable *lines, IrisRequest *changes)
{
  const struct
  {
    const char *name;
    char **text;
  } others[] = {
    { "at", &at },           { "place", &place }, { "priority", &priority },
    { "retries", &retries }, { "queue", &queue },
  };
  const char *args = g_hash_table_lookup (lines, "args");
  g_auto (GStrv) words = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    *times[i].text = g_strdup (g_hash_table_lookup (lines, times[i].name));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    *others[i].text = g_strdup (g_hash_table_lookup (lines, others[i].name));
  if (args != NULL && !g_shell_parse_argv (args, NULL, &words, &error))
    return ctl_fail (CTL_USAGE, "edit: args: %s; nothing was changed", error->message);
  if (words != NULL)
    iris_request_set_args (changes, (const char *const *) words);

  return fill (changes);
}

static int
edit_by_hand (Ctl *ctl, guint64 number, IrisRequest *changes)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) item = NULL;
  g_autoptr (GHashTable) lines = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  int status;

  iris_client_export_item_async (ctl->client, number, ctl->cancellable, ctl_take_result, &result);
  item = iris_client_export_item_finish (ctl->client, ctl_wait (&result), &error);
  if (item == NULL)
    return ctl_fail_with (error);
  before = ctl_edit_form_write (number, item);
  status = ctl_edit_form_show (before, &after);
  if (status != CTL_OK)
    return status;
  lines = ctl_edit_form_compare (before, after);
  if (lines == NULL)
    return CTL_USAGE;
  if (g_hash_table_size (lines) == 0)
    {
      g_printerr ("irisctl: edit: nothing was changed\n");
      return CTL_OK;
    }
  status = take_lines (lines, changes);

  return status == CTL_OK ? send_edit (ctl, number, changes) : status;
}

static int
run_edit (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisRequest) changes = iris_request_new ("");
  gboolean by_hand = argc == 2 && !is_given ();
  guint64 number;
  int status = ctl_parse_item_number (argv[1], &number);

  if (argc > 2 && argv[2][0] == '-' && !ctl->separated)
    return ctl_fail (CTL_USAGE,
                     "edit: “%s” stands after the item, where options are not read: put it before "
                     "the number, or, if it is an argument, write edit %s -- %s",
                     argv[2], argv[1], argv[2]);
  if (status == CTL_OK && !by_hand)
    status = fill (changes);
  if (status != CTL_OK)
    return status;
  if (argc > 2)
    iris_request_set_args (changes, (const char *const *) argv + 2);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  return by_hand ? edit_by_hand (ctl, number, changes) : send_edit (ctl, number, changes);
}

#define DELAY_ENTRY                                                                              \
  {                                                                                              \
    "delay", 0, 0, G_OPTION_ARG_STRING, &delay,                                                  \
        "Run when this much time has passed from now on, at the earliest; 0: as soon as it can", \
        "TIME"                                                                                   \
  }
#define AT_ENTRY                                                                 \
  {                                                                              \
    "at", 0, 0, G_OPTION_ARG_STRING, &at,                                        \
        "Run at this time at the earliest: 18:00, or a date with a time", "WHEN" \
  }
#define PRIORITY_ENTRY                                                                 \
  {                                                                                    \
    "priority", 0, 0, G_OPTION_ARG_STRING, &priority, "0 to 9, higher runs first", "N" \
  }
#define QUEUE_ENTRY                                                                             \
  {                                                                                             \
    "queue", 0, 0, G_OPTION_ARG_STRING, &queue, "Run it in this queue; empty: in none", "QUEUE" \
  }

static const GOptionEntry edit_entries[] = {
  DELAY_ENTRY,
  AT_ENTRY,
  PRIORITY_ENTRY,
  QUEUE_ENTRY,
  { "deadline", 0, 0, G_OPTION_ARG_STRING, &deadline,
    "Fail it if it has not begun this long from now on", "TIME" },
  { "place", 'p', 0, G_OPTION_ARG_STRING, &place, "Queue it at this place", "PLACE" },
  { "strict", 0, 0, G_OPTION_ARG_NONE, &strict, "No other place may run it", NULL },
  { "retries", 0, 0, G_OPTION_ARG_STRING, &retries, "Try again at most so many times if it fails",
    "N" },
  { "backoff", 0, 0, G_OPTION_ARG_STRING, &backoff,
    "The pause before the first retry; it doubles each time", "TIME" },
  { "time-to-run", 0, 0, G_OPTION_ARG_STRING, &time_to_run,
    "Stop an attempt that runs longer; it counts as failed", "TIME" },
  { "timeout", 't', 0, G_OPTION_ARG_STRING, &timeout, "End a command when it has run this long",
    "TIME" },
  { "grace", 0, 0, G_OPTION_ARG_STRING, &grace, "The time from SIGTERM to SIGKILL when it is ended",
    "TIME" },
  { "keep", 0, 0, G_OPTION_ARG_STRING, &keep, "Keep the result this long", "TIME" },
  { "bury", 'B', 0, G_OPTION_ARG_NONE, &bury, "Set it aside when its last attempt fails", NULL },
  { NULL },
};

const CtlCommand ctl_edit = {
  .name = "edit",
  .arguments = "ITEM [ARGUMENT…]",
  .summary = "change a persistent item that waits",
  .description = "Without options and arguments the item comes as a text in your editor (VISUAL,\n"
                 "EDITOR); what you change there is changed when you save it and leave. The\n"
                 "arguments replace the item's: of a command they are the program and its\n"
                 "arguments. An item that runs, has ended or is volatile cannot be changed.\n\n"
                 "Examples:\n"
                 "  irisctl edit 17\n"
                 "  irisctl edit --delay 0 --priority 9 17\n"
                 "  irisctl edit 17 make -C /src check\n",
  .operand = CTL_OPERAND_OPEN_ITEM,
  .least = 1,
  .most = CTL_ANY,
  .takes = "the number of an item, and its new arguments",
  .options_end = 2,
  .asks_only = TRUE,
  .entries = edit_entries,
  .takes_node = TRUE,
  .run = run_edit,
};

static int
again (Ctl *ctl, guint64 number, IrisRequest *changes)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  guint64 item;

  iris_client_again_async (ctl->client, number, changes, ctl->cancellable, ctl_take_result,
                           &result);
  item = iris_client_again_finish (ctl->client, ctl_wait (&result), &error);
  if (item == 0)
    return ctl_fail_with (error);
  if (ctl->json)
    ctl_json_print_int ("item", (gint64) item);
  else
    g_print ("%" G_GUINT64_FORMAT "\n", item);

  return CTL_OK;
}

static int
run_again (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisRequest) changes = iris_request_new ("");
  g_autoptr (GArray) numbers = ctl_parse_item_numbers (argc, argv);
  int worst = numbers == NULL ? CTL_USAGE : fill (changes);

  if (worst == CTL_OK && key != NULL && numbers->len > 1)
    worst = ctl_fail (CTL_USAGE, "again: --key is for one item");
  if (worst == CTL_OK)
    worst = ctl_connect (ctl);
  if (worst != CTL_OK)
    return worst;
  for (guint i = 0; i < numbers->len; i++)
    {
      int status = again (ctl, g_array_index (numbers, guint64, i), changes);

      worst = MAX (worst, status);
    }

  return worst;
}

static const GOptionEntry again_entries[] = {
  DELAY_ENTRY,
  AT_ENTRY,
  PRIORITY_ENTRY,
  QUEUE_ENTRY,
  { "key", 'k', 0, G_OPTION_ARG_STRING, &key,
    "Submit it only if irisd has no item with this key; else print the number of that one", "KEY" },
  { NULL },
};

const CtlCommand ctl_again = {
  .name = "again",
  .arguments = "ITEM…",
  .summary = "submit items once more, also ended ones",
  .description =
      "Prints the number of each new item, which irisctl does not wait for. irisd keeps\n"
      "what was submitted as long as the end of a detached item, or of one with a key,\n"
      "if it is not large; see irisctl(1).\n\n"
      "Examples:\n"
      "  irisctl list --state failed\n"
      "  irisctl again 17 18\n"
      "  irisctl again --at 22:00 17\n",
  .operand = CTL_OPERAND_ITEM,
  .least = 1,
  .most = CTL_ANY,
  .takes = "the numbers of items",
  .entries = again_entries,
  .takes_node = TRUE,
  .run = run_again,
};
