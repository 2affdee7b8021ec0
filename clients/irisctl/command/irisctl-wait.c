/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl wait, result: until persistent items have ended.
 *
 * irisd is asked about several items at a time, so that what has ended is told at once whatever
 * stands before it, and about no more than a few, since each call under way takes a credit.
 */
#include "clients/irisctl/input/irisctl-input.h"
#include "clients/irisctl/output/irisctl-output.h"

#define WINDOW 64

/* Before an item is asked about again for which irisd had no credit. */
#define AGAIN_MS 20

static int timeout_s = -1;
static gboolean wait_for_all, notify;

typedef struct
{
  Ctl *ctl;
  GArray *numbers; /* of the command line; NULL with --all */
  guint next;
  IrisClientQuery *query; /* of --all; NULL at its end */
  GPtrArray *page;
  gint64 deadline; /* monotonic, or 0 */
  GQueue again;    /* numbers, as guint64 pointers */
  guint window;
  guint in_flight;
  gboolean stopped;
  int status;
  CtlJsonArray array;
} Wait;

typedef struct
{
  Wait *wait;
  guint64 number;
} Call;

static guint64
time_left_ms (const Wait *self)
{
  gint64 left = self->deadline - g_get_monotonic_time ();

  return self->deadline == 0 ? G_MAXUINT64 : (guint64) (MAX (left, 0) / 1000);
}

static void
tell (Wait *self, const IrisClientItem *item)
{
  g_autofree char *state = ctl_format_state (item);

  if (self->ctl->json)
    {
      ctl_item_json (self->ctl, ctl_json_array_next (&self->array), item);
      ctl_json_array_flush (&self->array);
    }
  else
    g_print ("%" G_GUINT64_FORMAT " %s\n", item->number, state);
  if (notify)
    {
      g_autofree char *name = g_strdup_printf ("%" G_GUINT64_FORMAT " (%s)", item->number,
                                               item->service);

      ctl_notify (name, state);
    }
  if (item->state != IRIS_CLIENT_ITEM_DONE || item->exit_status != 0)
    self->status = MAX (self->status, CTL_FAILED);
}

static void
note_failure (Wait *self, const Call *call, const GError *error)
{
  if (g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_BUSY))
    {
      self->window = MAX (self->in_flight, 1);
      g_queue_push_tail (&self->again, g_memdup2 (&call->number, sizeof call->number));
    }
  else if (self->numbers == NULL
           && g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_ITEM))
    ; /* it has ended, and its end was fetched */
  else
    {
      int status = ctl_exit_status (error);

      /* An interrupt is told once, behind all of them. */
      if (status != CTL_INTERRUPTED && (!self->stopped || status != CTL_NO_DAEMON))
        ctl_fail_with (error);
      self->stopped |= status == CTL_NO_DAEMON || status == CTL_REFUSED
                       || g_cancellable_is_cancelled (self->ctl->cancellable);
      self->status = MAX (self->status, status);
    }
}

static void
on_answer (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree Call *call = data;
  Wait *self = call->wait;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisClientItem) item = iris_client_show_finish (IRIS_CLIENT (source), result, &error);

  self->in_flight--;
  if (item != NULL)
    tell (self, item);
  else
    note_failure (self, call, error);
}

/* 0 if there is none. */
static guint64
next_number (Wait *self)
{
  g_autofree guint64 *again = g_queue_pop_head (&self->again);
  g_autoptr (GError) error = NULL;

  if (again != NULL)
    return *again;
  if (self->numbers != NULL)
    return self->next < self->numbers->len ? g_array_index (self->numbers, guint64, self->next++)
                                           : 0;
  if (self->query != NULL && (self->page == NULL || self->next == self->page->len))
    {
      g_clear_pointer (&self->page, g_ptr_array_unref);
      self->next = 0;
      self->page = ctl_filter_next_page (self->ctl, self->query, &error);
      if (self->page == NULL || self->page->len == 0)
        g_clear_pointer (&self->query, iris_client_query_unref);
      if (self->page == NULL)
        {
          self->status = ctl_exit_status (error);
          if (self->status != CTL_INTERRUPTED)
            ctl_fail_with (error);
          self->stopped = TRUE;
        }
    }

  return self->query != NULL
             ? ((IrisClientItem *) g_ptr_array_index (self->page, self->next++))->number
             : 0;
}

static void
ask_more (Wait *self)
{
  if (self->in_flight == 0 && self->again.length > 0)
    ctl_pause (self->ctl, AGAIN_MS);
  while (!self->stopped && self->in_flight < self->window)
    {
      guint64 number = next_number (self);
      Call *call;

      if (number == 0)
        return;
      call = g_new (Call, 1);
      *call = (Call){ self, number };
      self->in_flight++;
      iris_client_show_async (self->ctl->client, number, time_left_ms (self),
                              self->ctl->cancellable, on_answer, call);
    }
}

static int
run_window (Wait *self)
{
  self->window = WINDOW;
  if (timeout_s >= 0)
    self->deadline = g_get_monotonic_time () + (gint64) timeout_s * G_USEC_PER_SEC;
  if (self->ctl->json)
    ctl_json_array_begin (&self->array);
  for (ask_more (self); self->in_flight > 0 || (self->again.length > 0 && !self->stopped);
       ask_more (self))
    if (self->in_flight > 0)
      g_main_context_iteration (NULL, TRUE);
  if (self->ctl->json)
    ctl_json_array_end (&self->array);
  g_queue_clear_full (&self->again, g_free);
  g_clear_pointer (&self->page, g_ptr_array_unref);
  g_clear_pointer (&self->query, iris_client_query_unref);

  if (g_cancellable_is_cancelled (self->ctl->cancellable))
    return ctl_fail (CTL_INTERRUPTED, "interrupted: the items that have not ended go on; irisctl "
                                      "wait waits for them again");

  return self->status;
}

static int
run_wait (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GArray) numbers = NULL;
  g_autoptr (IrisClientQuery) query = ctl_filter_make_query (&ctl->filter, "wait");
  Wait self = { .ctl = ctl, .again = G_QUEUE_INIT };
  gboolean by_filter = wait_for_all || ctl_filter_is_given (&ctl->filter);
  int status;

  if (query == NULL)
    return CTL_USAGE;
  if ((argc < 2) != by_filter)
    return ctl_fail (CTL_USAGE, "wait takes the numbers of items, or --all, or options such as "
                                "--service that say which; see irisctl wait --help");
  numbers = ctl_parse_item_numbers (argc, argv);
  if (numbers == NULL)
    return CTL_USAGE;
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  if (by_filter && ctl->filter.states == NULL)
    ctl_filter_add_states (query, ctl_filter_parse_state ("open"));
  if (by_filter)
    self.query = g_steal_pointer (&query);
  else
    self.numbers = numbers;

  return run_window (&self);
}

static const GOptionEntry wait_entries[] = {
  { "timeout", 't', 0, G_OPTION_ARG_INT, &timeout_s,
    "Wait at most this long (default: as long as it takes)", "SECONDS" },
  { "all", 'a', 0, G_OPTION_ARG_NONE, &wait_for_all,
    "Wait for all items that have not ended by now", NULL },
  { "notify", 0, 0, G_OPTION_ARG_NONE, &notify, "Tell the desktop of each that has ended", NULL },
  { NULL },
};

const CtlCommand ctl_wait_command = {
  .name = "wait",
  .arguments = "ITEM… | --all",
  .summary = "wait until persistent items have ended",
  .description = "Prints a line for each when it has ended, and how. The results stay: irisctl\n"
                 "result prints them. Exit status 1 if an item failed, a command ended badly, or\n"
                 "one has not ended in time.\n\n"
                 "Examples:\n"
                 "  irisctl wait 7 8\n"
                 "  irisctl wait --key nightly- --timeout 3600\n",
  .takes_filter = TRUE,
  .takes_node = TRUE,
  .operand = CTL_OPERAND_ITEM,
  .most = CTL_ANY,
  .takes = "the numbers of items",
  .entries = wait_entries,
  .run = run_wait,
};

/* What --timeout says, in milliseconds. */
static guint64
timeout_ms (void)
{
  return timeout_s < 0 ? G_MAXUINT64 : (guint64) timeout_s * 1000;
}

static const GOptionEntry result_entries[] = {
  { "timeout", 't', 0, G_OPTION_ARG_INT, &timeout_s,
    "Wait at most this long (default: as long as it takes)", "SECONDS" },
  { NULL },
};

static int
run_result (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GAsyncResult) async = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  guint64 number;
  int status;

  if (ctl_parse_item_number (argv[1], &number) != CTL_OK)
    return CTL_USAGE;
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  iris_client_fetch_async (ctl->client, number, timeout_ms (), ctl->cancellable, ctl_take_result,
                           &async);
  result = iris_client_fetch_finish (ctl->client, ctl_wait (&async), &error);
  if (result == NULL)
    return ctl_fail_asking (error, number);

  return result->exit_status >= 0 || result->signal > 0 ? ctl_show_command_result (ctl, result)
                                                        : ctl_show_result (ctl, result);
}

const CtlCommand ctl_result = {
  .name = "result",
  .arguments = "ITEM",
  .summary = "print the result of a persistent item, once it has ended",
  .description = "irisd deletes the result once it was printed, unless the item has a key. For a\n"
                 "command the exit status is that of the command.\n",
  .operand = CTL_OPERAND_ITEM,
  .least = 1,
  .most = 1,
  .takes = "the number of one item",
  .entries = result_entries,
  .takes_node = TRUE,
  .run = run_result,
};
