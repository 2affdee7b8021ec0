/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl cancel: items by their ids, by their numbers, or by what they have in common.
 *
 * Those that have something in common are listed first and counted, so that the user sees how
 * many they are before anything happens.
 */
#include "clients/irisctl/input/irisctl-input.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

/* Questions under way. */
#define WINDOW 256

#define ID_DIGITS 32

static gboolean cancel_all, sure;

typedef struct
{
  Ctl *ctl;
  GArray *numbers; /* guint64 */
  guint next;
  gboolean listed; /* by irisd, not named: one that has ended meanwhile is as good as cancelled */
  guint in_flight;
  guint n_waiting; /* of those cancelled */
  guint n_running;
  guint n_ended;
  gboolean stopped;
  int status;
  CtlJsonArray array;
} Cancel;

typedef struct
{
  Cancel *cancel;
  guint64 number;
} Call;

static void
tell_json (Cancel *self, guint64 number, gboolean was_running)
{
  JsonBuilder *builder = ctl_json_array_next (&self->array);

  json_builder_begin_object (builder);
  ctl_json_int (builder, "item", (gint64) number);
  ctl_json_bool (builder, "was_running", was_running);
  json_builder_end_object (builder);
}

static void
tell (Cancel *self, guint64 number, gboolean was_running)
{
  if (was_running)
    self->n_running++;
  else
    self->n_waiting++;
  if (self->ctl->json)
    tell_json (self, number, was_running);
  else if (!self->listed)
    g_print ("%" G_GUINT64_FORMAT " %s\n", number,
             was_running ? "was running, and was told to stop" : "will not run");
}

static void
note_failure (Cancel *self, const GError *error)
{
  int status = ctl_exit_status (error);

  if (self->listed && g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_FOUND))
    {
      self->n_ended++;
      return;
    }
  if (!self->stopped)
    ctl_fail_with (error);
  self->stopped |= status == CTL_NO_DAEMON || status == CTL_REFUSED;
  self->status = MAX (self->status, status);
}

static void
on_answer (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree Call *call = data;
  Cancel *self = call->cancel;
  g_autoptr (GError) error = NULL;
  gboolean was_running;

  self->in_flight--;
  if (iris_client_cancel_item_finish (IRIS_CLIENT (source), result, &was_running, &error))
    tell (self, call->number, was_running);
  else
    note_failure (self, error);
}

static void
ask_more (Cancel *self)
{
  while (!self->stopped && self->in_flight < WINDOW && self->next < self->numbers->len)
    {
      Call *call = g_new (Call, 1);

      *call = (Call){ self, g_array_index (self->numbers, guint64, self->next++) };
      self->in_flight++;
      iris_client_cancel_item_async (self->ctl->client, call->number, self->ctl->cancellable,
                                     on_answer, call);
    }
}

static int
cancel_numbers (Cancel *self)
{
  if (self->ctl->json)
    ctl_json_array_begin (&self->array);
  for (ask_more (self); self->in_flight > 0; ask_more (self))
    g_main_context_iteration (NULL, TRUE);
  if (self->ctl->json)
    ctl_json_array_end (&self->array);
  else if (self->listed && self->numbers->len == 0)
    g_print ("no items to cancel\n");
  else if (self->listed)
    g_print ("%u will not run, %u %s running and %s told to stop, %u ended meanwhile\n",
             self->n_waiting, self->n_running, self->n_running == 1 ? "was" : "were",
             self->n_running == 1 ? "was" : "were", self->n_ended);

  return g_cancellable_is_cancelled (self->ctl->cancellable) ? CTL_INTERRUPTED : self->status;
}

/* By the id of --verbose. */
static int
cancel_id (Ctl *ctl, const char *id)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  gboolean was_running;

  iris_client_cancel_async (ctl->client, id, ctl->cancellable, ctl_take_result, &result);
  if (!iris_client_cancel_finish (ctl->client, ctl_wait (&result), &was_running, &error))
    return ctl_fail_with (error);
  if (ctl->json)
    {
      g_autoptr (JsonBuilder) builder = json_builder_new ();

      json_builder_begin_object (builder);
      ctl_json_string (builder, "id", id);
      ctl_json_bool (builder, "was_running", was_running);
      json_builder_end_object (builder);
      ctl_json_print (builder);
    }
  else
    g_print ("%s\n", was_running ? "was running, and was told to stop" : "will not run");

  return CTL_OK;
}

/* All that the options mean. */
static int
list_numbers (Cancel *self, IrisClientQuery *query)
{
  for (;;)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) page = ctl_filter_next_page (self->ctl, query, &error);

      if (page == NULL)
        return ctl_fail_with (error);
      if (page->len == 0)
        return CTL_OK;
      for (guint i = 0; i < page->len; i++)
        g_array_append_val (self->numbers,
                            ((IrisClientItem *) g_ptr_array_index (page, i))->number);
    }
}

static gboolean
note_input (gint fd, GIOCondition condition, gpointer ready)
{
  *(gboolean *) ready = TRUE;
  return G_SOURCE_REMOVE;
}

static int
confirm (Ctl *ctl, guint n)
{
  char answer = '\0';
  gboolean ready = FALSE;
  g_autofree char *items = ctl_count (n, "item");

  if (sure || n == 0)
    return CTL_OK;
  if (!isatty (STDIN_FILENO) || !isatty (STDERR_FILENO))
    return ctl_fail (CTL_USAGE, "cancel: this would cancel %s: confirm with --yes", items);
  g_printerr ("Cancel %s? [y/N] ", items);
  /* The main context runs meanwhile, or Ctrl-C would not be noticed. */
  g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP, note_input, &ready);
  while (!ready && !g_cancellable_is_cancelled (ctl->cancellable))
    g_main_context_iteration (NULL, TRUE);
  if (ready && read (STDIN_FILENO, &answer, 1) == 1 && g_ascii_tolower (answer) == 'y')
    return CTL_OK;

  return ctl_fail (CTL_USAGE, "nothing was cancelled");
}

static int
cancel_listed (Ctl *ctl, IrisClientQuery *query)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
  Cancel self = { .ctl = ctl, .numbers = numbers, .listed = TRUE };
  int status;

  if (ctl->filter.states == NULL)
    ctl_filter_add_states (query, ctl_filter_parse_state ("open"));
  if ((status = ctl_connect (ctl)) != CTL_OK || (status = list_numbers (&self, query)) != CTL_OK
      || (status = confirm (ctl, numbers->len)) != CTL_OK)
    return status;

  return cancel_numbers (&self);
}

static int
cancel_named (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GArray) numbers = ctl_parse_item_numbers (argc, argv);
  Cancel self = { .ctl = ctl, .numbers = numbers };
  int status;

  if (numbers == NULL)
    return CTL_USAGE;
  status = ctl_connect (ctl);

  return status == CTL_OK ? cancel_numbers (&self) : status;
}

static int
run_cancel (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisClientQuery) query = ctl_filter_make_query (&ctl->filter, "cancel");
  gboolean by_filter = cancel_all || ctl_filter_is_given (&ctl->filter);
  int status;

  if (query == NULL)
    return CTL_USAGE;
  if ((argc < 2) != by_filter)
    return ctl_fail (CTL_USAGE, "cancel takes numbers of items, an id, --all, or options that "
                                "select items, such as --service; see irisctl cancel --help");
  if (by_filter)
    return cancel_listed (ctl, query);
  if (argc > 2 || strlen (argv[1]) != ID_DIGITS)
    return cancel_named (ctl, argc, argv);
  status = ctl_connect (ctl);

  return status == CTL_OK ? cancel_id (ctl, argv[1]) : status;
}

static const GOptionEntry cancel_entries[] = {
  { "all", 'a', 0, G_OPTION_ARG_NONE, &cancel_all,
    "Cancel all persistent items that have not ended", NULL },
  { "yes", 'y', 0, G_OPTION_ARG_NONE, &sure,
    "Do not ask before cancelling items that were not named", NULL },
  { NULL },
};

const CtlCommand ctl_cancel = {
  .name = "cancel",
  .arguments = "ITEM… | ID | --all",
  .summary = "cancel items, queued or running",
  .description = "Numbers of items are shown by list, by submit --detach, and by send and run\n"
                 "with --verbose; ids by --verbose. Options select persistent items; those that\n"
                 "have ended are left alone.\n\n"
                 "Examples:\n"
                 "  irisctl cancel 7 8\n"
                 "  irisctl cancel --state queued --service sha256 --yes\n",
  .takes_filter = TRUE,
  .operand = CTL_OPERAND_OPEN_ITEM,
  .most = CTL_ANY,
  .takes = "numbers of items",
  .asks_only = TRUE,
  .entries = cancel_entries,
  .takes_node = TRUE,
  .run = run_cancel,
};
