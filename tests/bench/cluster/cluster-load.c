/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One leg of cluster-bench.py: life cycles of items through irisd, or the same steps by libnats
 * alone. Prints one number: with --single the median of the times of one item each, in
 * microseconds, else the items a second. With --beside it prints a line for each turn: the items a
 * second of either irisd, of which each begins in half of the turns.
 *
 *     cluster-load iris DIR [--items N] [--single] [--node NAME | --any-node] [--service NAME]
 *                           [--arg TEXT] [--durable] [--beside DIR --turns N]
 *     cluster-load plain URL,... [--items N] [--single] [--work-stream S] [--ends-stream S]
 * [--consumer C]
 *                            [--work-subject S] [--ends-subject S] [--item-bytes N] [--end-bytes N]
 *
 * The steps are: an item is stored under a message id; it is fetched; its end is stored, as the
 * first message of its own subject; then the item is acknowledged.
 */
#include <iris-client/iris-client.h>

#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Publications without an answer: those of irisd's bridge. */
#define WINDOW 512
/* Items without an end: what irisd lets one client have. */
#define MOST_AWAY 1024
/* One connection for each node that there would be, at a server of its own, which has two fetches
 * at once, so that there is no pause between them. */
#define MAX_HOSTS 3
#define N_FETCHES 2
#define BATCH     128
#define BODY      100

static gint n_items = 2000;
static gboolean single, any_node, durable, strict;
static char *node, *service, *arg, *beside;
static gint n_turns = 1;
static char *work_stream, *ends_stream, *consumer, *work_subject, *ends_subject;
static gint item_bytes = 300, end_bytes = 300;

static const GOptionEntry entries[] = {
  { "items", 0, 0, G_OPTION_ARG_INT, &n_items, "How many", "N" },
  { "single", 0, 0, G_OPTION_ARG_NONE, &single, "One at a time", NULL },
  { "any-node", 0, 0, G_OPTION_ARG_NONE, &any_node, "For any node", NULL },
  { "durable", 0, 0, G_OPTION_ARG_NONE, &durable, "As durable items", NULL },
  { "node", 0, 0, G_OPTION_ARG_STRING, &node, "Softly hinted there", "NAME" },
  { "strict", 0, 0, G_OPTION_ARG_NONE, &strict, "Only there", NULL },
  { "service", 0, 0, G_OPTION_ARG_STRING, &service, "Instead of echo", "NAME" },
  { "arg", 0, 0, G_OPTION_ARG_STRING, &arg, "The service's argument", "TEXT" },
  { "beside", 0, 0, G_OPTION_ARG_FILENAME, &beside, "In turn with that irisd", "DIR" },
  { "turns", 0, 0, G_OPTION_ARG_INT, &n_turns, "How many", "N" },
  { "work-stream", 0, 0, G_OPTION_ARG_STRING, &work_stream, "Of items", "NAME" },
  { "ends-stream", 0, 0, G_OPTION_ARG_STRING, &ends_stream, "Of ends", "NAME" },
  { "consumer", 0, 0, G_OPTION_ARG_STRING, &consumer, "Of items", "NAME" },
  { "work-subject", 0, 0, G_OPTION_ARG_STRING, &work_subject, "Of items", "SUBJECT" },
  { "ends-subject", 0, 0, G_OPTION_ARG_STRING, &ends_subject, "Before a number", "SUBJECT" },
  { "item-bytes", 0, 0, G_OPTION_ARG_INT, &item_bytes, "Of a message", "N" },
  { "end-bytes", 0, 0, G_OPTION_ARG_INT, &end_bytes, "Of a message", "N" },
  { 0 },
};

static void
fail (const char *what, const char *why)
{
  fprintf (stderr, "cluster-load: %s: %s\n", what, why);
  exit (1);
}

static int
compare_times (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static void
print_median (gint64 *times)
{
  qsort (times, (gsize) n_items, sizeof *times, compare_times);
  printf ("%" G_GINT64_FORMAT "\n", times[n_items / 2]);
}

/* --- irisd ------------------------------------------------------------------------------------ */

static gint n_ended;

static void
on_connected (GObject *client, GAsyncResult *result, gpointer connected)
{
  g_autoptr (GError) error = NULL;

  if (!iris_client_connect_finish (IRIS_CLIENT (client), result, &error))
    fail ("connecting", error->message);
  *(gboolean *) connected = TRUE;
}

static void
on_ended (GObject *client, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult) end = iris_client_submit_finish (IRIS_CLIENT (client), result, &error);

  if (end == NULL)
    fail ("an item", error->message);
  n_ended++;
}

static IrisRequest *
make_request (void)
{
  static char bytes[BODY];
  IrisRequest *request = iris_request_new (service != NULL ? service : "echo");
  g_autoptr (GBytes) payload = g_bytes_new_static (bytes, sizeof bytes);
  const char *const args[] = { arg, NULL };

  iris_request_set_payload (request, payload);
  if (arg != NULL)
    iris_request_set_args (request, args);
  if (durable)
    iris_request_set_durability (request, IRIS_DURABILITY_DURABLE);
  if (any_node)
    iris_request_set_any_node (request, TRUE);
  if (node != NULL)
    iris_request_set_node (request, node);
  if (strict)
    iris_request_set_strict (request, TRUE);
  return request;
}

static IrisClient *
open_client (const char *dir)
{
  IrisClient *client = iris_client_new (dir);
  gboolean connected = FALSE;

  iris_client_connect_async (client, NULL, on_connected, &connected);
  while (!connected)
    g_main_context_iteration (NULL, TRUE);
  return client;
}

/* Returns the items a second. @times: of each one, or NULL. */
static double
run_items (IrisClient *client, gint64 *times)
{
  const gint64 begin = g_get_monotonic_time ();

  n_ended = 0;
  for (gint i = 0; i < n_items; i++)
    {
      g_autoptr (IrisRequest) request = make_request ();
      const gint64 submitted = g_get_monotonic_time ();
      iris_client_submit_async (client, request, NULL, on_ended, NULL);
      while (single && n_ended <= i)
        g_main_context_iteration (NULL, TRUE);
      if (times != NULL)
        times[i] = g_get_monotonic_time () - submitted;
    }
  while (n_ended < n_items)
    g_main_context_iteration (NULL, TRUE);
  return n_items * 1e6 / (double) (g_get_monotonic_time () - begin);
}

static void
run_iris (const char *dir)
{
  g_autoptr (IrisClient) client = open_client (dir);
  g_autofree gint64 *times = g_new (gint64, n_items);
  double rate = run_items (client, times);

  if (single)
    print_median (times);
  else
    printf ("%.1f\n", rate);
}

static void
run_in_turn (const char *dir)
{
  g_autoptr (IrisClient) first = open_client (dir);
  g_autoptr (IrisClient) second = open_client (beside);

  for (gint i = 0; i < n_turns; i++)
    {
      double other = i % 2 != 0 ? run_items (second, NULL) : 0;
      double rate = run_items (first, NULL);
      printf ("%.1f %.1f\n", rate, i % 2 != 0 ? other : run_items (second, NULL));
    }
}

/* --- libnats alone ---------------------------------------------------------------------------- */

typedef struct
{
  natsConnection *connection;
  jsCtx *js;
} Link;

static Link home, hosts[MAX_HOSTS];
static natsMsg **work; /* by the number of the item */
static GMutex lock;
static GCond changed;
static gint n_stored; /* ends */

static void
demand (natsStatus status, const char *what)
{
  if (status != NATS_OK)
    fail (what, natsStatus_GetText (status));
}

/* The end of an item is stored. */
static void
on_stored (jsCtx *js, natsMsg *message, jsPubAck *ack, jsPubAckErr *error, void *closure)
{
  if (error != NULL)
    fail ("an end", error->ErrText != NULL ? error->ErrText : natsStatus_GetText (error->Err));
  guint64 number = g_ascii_strtoull (strrchr (natsMsg_GetSubject (message), '.') + 1, NULL, 10);
  natsMsg_Ack (work[number], NULL);
  natsMsg_Destroy (work[number]);
  natsMsg_Destroy (message);
  g_mutex_lock (&lock);
  n_stored++;
  g_cond_signal (&changed);
  g_mutex_unlock (&lock);
}

static void
open_link (Link *self, const char *url, jsPubAckHandler handler)
{
  natsOptions *options = NULL;
  jsOptions js;

  demand (natsOptions_Create (&options), "connecting");
  demand (natsOptions_SetURL (options, url), "connecting");
  /* libnats else waits for more to write. */
  demand (natsOptions_SetSendAsap (options, single), "connecting");
  demand (natsConnection_Connect (&self->connection, options), "connecting");
  natsOptions_Destroy (options);
  jsOptions_Init (&js);
  js.PublishAsync.MaxPending = WINDOW;
  js.PublishAsync.StallWait = 30000;
  js.PublishAsync.AckHandler = handler;
  demand (natsConnection_JetStream (&self->js, self->connection, &js), "connecting");
}

static void
store_end (Link *host, natsMsg *item)
{
  static char bytes[1 << 16];
  g_autofree char *subject = NULL;
  guint64 number;
  natsMsg *end = NULL;
  jsPubOptions options;

  /* An item begins with its number. */
  number = g_ascii_strtoull (natsMsg_GetData (item), NULL, 10);
  work[number] = item;
  subject = g_strdup_printf ("%s.%" G_GUINT64_FORMAT, ends_subject, number);
  demand (natsMsg_Create (&end, subject, NULL, bytes, MIN (end_bytes, (gint) sizeof bytes)),
          "an end");
  jsPubOptions_Init (&options);
  options.ExpectNoMessage = true;
  demand (js_PublishMsgAsync (host->js, &end, &options), "an end");
}

typedef struct
{
  Link *host;
  GThread *thread;
  natsSubscription *subscription; /* until the last message that came by it is acknowledged */
  gint share;
} Fetcher;

static gpointer
fetch (gpointer data)
{
  Fetcher *self = data;
  gint left = self->share;

  while (left > 0)
    {
      natsMsgList list = { 0 };
      natsStatus status = natsSubscription_Fetch (&list, self->subscription,
                                                  single ? 1 : MIN (left, BATCH), 10000, NULL);
      if (status != NATS_TIMEOUT) /* the machine may be slow */
        demand (status, "fetching");
      left -= list.Count;
      for (int i = 0; i < list.Count; i++)
        {
          store_end (self->host, list.Msgs[i]);
          list.Msgs[i] = NULL;
        }
      natsMsgList_Destroy (&list);
    }
  return NULL;
}

static void
start_fetcher (Fetcher *self, Link *host, gint share)
{
  self->host = host;
  self->share = share;
  demand (js_PullSubscribe (&self->subscription, host->js, work_subject, consumer, NULL,
                            &(jsSubOptions){ .Stream = work_stream, .Consumer = consumer }, NULL),
          "subscribing");
  self->thread = g_thread_new ("fetch", fetch, self);
}

static void
publish (gint number)
{
  static char bytes[1 << 16];
  char id[64];
  jsPubOptions options;

  g_snprintf (bytes, sizeof bytes, "%d", number);
  g_snprintf (id, sizeof id, "%d-%" G_GINT64_FORMAT, number, g_get_monotonic_time ());
  jsPubOptions_Init (&options);
  options.MsgId = id;
  demand (js_PublishAsync (home.js, work_subject, bytes, MIN (item_bytes, (gint) sizeof bytes),
                           &options),
          "an item");
}

static void
wait_for_ends (gint n)
{
  g_mutex_lock (&lock);
  while (n_stored < n)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
}

static void
close_link (Link *self)
{
  jsCtx_Destroy (self->js);
  natsConnection_Destroy (self->connection);
}

/* @urls: where the items come from, and then where they go; with commas. */
static void
run_plain (const char *urls)
{
  g_autofree gint64 *times = g_new (gint64, n_items);
  g_auto (GStrv) each = g_strsplit (urls, ",", -1);
  gint n_hosts = 1;
  Fetcher fetchers[MAX_HOSTS * N_FETCHES];
  gint64 begin;

  while (!single && n_hosts < MAX_HOSTS && each[n_hosts] != NULL)
    n_hosts++;
  const gint n_fetchers = single ? 1 : n_hosts * N_FETCHES;
  open_link (&home, each[0], NULL);
  work = g_new0 (natsMsg *, n_items);
  for (gint i = 0; i < n_hosts; i++)
    open_link (&hosts[i], each[i], on_stored);
  for (gint i = 0; i < n_fetchers; i++)
    start_fetcher (&fetchers[i], &hosts[i % n_hosts], (n_items + i) / n_fetchers);
  begin = g_get_monotonic_time ();
  for (gint i = 0; i < n_items; i++)
    {
      times[i] = g_get_monotonic_time ();
      wait_for_ends (i - MOST_AWAY + 1);
      publish (i);
      if (single)
        wait_for_ends (i + 1);
      times[i] = g_get_monotonic_time () - times[i];
    }
  wait_for_ends (n_items);
  for (gint i = 0; i < n_hosts; i++)
    demand (natsConnection_Flush (hosts[i].connection), "flushing");
  if (single)
    print_median (times);
  else
    printf ("%.1f\n", n_items * 1e6 / (double) (g_get_monotonic_time () - begin));
  for (gint i = 0; i < n_fetchers; i++)
    {
      g_thread_join (fetchers[i].thread);
      natsSubscription_Destroy (fetchers[i].subscription);
    }
  for (gint i = 0; i < n_hosts; i++)
    close_link (&hosts[i]);
  close_link (&home);
  g_free (work);
  nats_Close ();
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("iris DIR|plain URL");
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    fail ("options", error->message);
  if (argc == 3 && strcmp (argv[1], "iris") == 0 && beside != NULL)
    run_in_turn (argv[2]);
  else if (argc == 3 && strcmp (argv[1], "iris") == 0)
    run_iris (argv[2]);
  else if (argc == 3 && strcmp (argv[1], "plain") == 0 && work_stream != NULL && consumer != NULL
           && work_subject != NULL && ends_subject != NULL)
    run_plain (argv[2]);
  else
    fail ("usage",
          "cluster-load iris DIR | plain URL,..., with options; see the head of its source");
  return 0;
}
