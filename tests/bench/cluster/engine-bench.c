/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine costs beside plain libnats: the same messages are published to a stream, then
 * fetched and acknowledged, by the one and by the other in turn.
 *
 *     engine-bench URL [MESSAGES [ROUNDS [REPLICAS]]]
 *
 * Makes the stream ENGINE_BENCH anew, and deletes it at the end. Prints the rates of each round,
 * then medians and ratios.
 */
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine.h"

#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define STREAM     "ENGINE_BENCH"
#define SUBJECT    "engine.bench.work"
#define CONSUMER   "taker"
#define WINDOW     256
#define BODY       100
#define MAX_ROUNDS 32

enum
{
  PUBLISH_PLAIN,
  PUBLISH_ENGINE,
  FETCH_PLAIN,
  FETCH_ENGINE,
  N_CASES
};

static const char *const names[N_CASES] = { "publish, libnats", "publish, engine",
                                            "fetch and ack, libnats", "fetch and ack, engine" };

static guint n_messages = 20000;
static char body[BODY];

static void
demand (natsStatus status, const char *what)
{
  if (status == NATS_OK)
    return;
  fprintf (stderr, "engine-bench: %s: %s\n", what, natsStatus_GetText (status));
  exit (1);
}

/* ---- Plain libnats ---- */

static natsConnection *plain;
static jsCtx *plain_js;

static void
publish_plain (guint round)
{
  char id[64];

  for (guint i = 0; i < n_messages; i++)
    {
      jsPubOptions options;
      jsPubOptions_Init (&options);
      g_snprintf (id, sizeof id, "plain-%u-%u", round, i);
      options.MsgId = id;
      demand (js_PublishAsync (plain_js, SUBJECT, body, BODY, &options), "publishing");
    }
  demand (js_PublishAsyncComplete (plain_js, NULL), "publishing");
}

static void
fetch_plain (void)
{
  natsSubscription *subscription = NULL;
  guint n = 0;

  demand (js_PullSubscribe (&subscription, plain_js, SUBJECT, CONSUMER, NULL,
                            &(jsSubOptions){ .Stream = STREAM, .Consumer = CONSUMER }, NULL),
          "subscribing");
  while (n < n_messages)
    {
      natsMsgList list = { 0 };
      demand (natsSubscription_Fetch (&list, subscription, WINDOW, 5000, NULL), "fetching");
      for (int i = 0; i < list.Count; i++)
        demand (natsMsg_Ack (list.Msgs[i], NULL), "acknowledging");
      n += (guint) list.Count;
      natsMsgList_Destroy (&list);
    }
  demand (natsConnection_Flush (plain), "flushing");
  natsSubscription_Destroy (subscription);
}

/* ---- The engine ---- */

static IrisdEngine *engine;
static guint n_done;

static void
on_published (IrisdEngine *self, const IrisdPublishResult *result, gpointer user_data)
{
  if (result->status != IRISD_PUBLISH_STORED)
    {
      fprintf (stderr, "engine-bench: %s: %s\n", irisd_publish_status_get_name (result->status),
               result->text ? result->text : "");
      exit (1);
    }
  n_done++;
}

static void
publish_engine (guint round)
{
  char id[64];

  n_done = 0;
  for (guint i = 0; i < n_messages;)
    {
      while (i < n_messages && irisd_engine_get_n_unanswered (engine) < WINDOW)
        {
          g_snprintf (id, sizeof id, "engine-%u-%u", round, i++);
          irisd_engine_publish (
              engine,
              &(IrisdEnginePublication){
                  .subject = SUBJECT, .data = body, .length = BODY, .message_id = id },
              on_published, NULL);
        }
      g_main_context_iteration (NULL, TRUE);
    }
  while (n_done < n_messages)
    g_main_context_iteration (NULL, TRUE);
}

static void
on_message (IrisdPull *pull, const IrisdEngineMessage *message, gpointer user_data)
{
  irisd_engine_ack (engine, message->reply);
  irisd_pull_release (pull, 1);
  n_done++;
}

static void
on_reply (IrisdEngine *self, JsonObject *reply, const GError *error, gpointer user_data)
{
  gint64 *n_left = user_data;

  *n_left = error ? 0 : irisd_json_get_int (irisd_json_get_object (reply, "state"), "messages");
}

static void
wait_for_server (void)
{
  gint64 n_left = -1;

  irisd_engine_request (engine, "$JS.API.STREAM.INFO." STREAM, NULL, 0, on_reply, &n_left);
  while (n_left < 0)
    g_main_context_iteration (NULL, TRUE);
}

static void
fetch_engine (void)
{
  static const IrisdPullEvents events = { .message = on_message };
  const IrisdPullOptions options = { .stream = STREAM, .consumer = CONSUMER, .window = WINDOW };
  IrisdPull *pull = irisd_pull_new (engine, &options, &events, NULL);

  n_done = 0;
  while (n_done < n_messages)
    g_main_context_iteration (NULL, TRUE);
  /* The answer to a request follows the acks, as the flush of the plain case. */
  wait_for_server ();
  irisd_pull_free (pull);
}

/* ---- Rounds ---- */

static void
make_stream (int replicas)
{
  jsStreamConfig config;
  jsConsumerConfig consumer;
  const char *subject = SUBJECT;

  js_DeleteStream (plain_js, STREAM, NULL, NULL);
  jsStreamConfig_Init (&config);
  config.Name = STREAM;
  config.Subjects = &subject;
  config.SubjectsLen = 1;
  config.Retention = js_WorkQueuePolicy;
  config.Replicas = replicas;
  demand (js_AddStream (NULL, plain_js, &config, NULL, NULL), "making the stream");
  jsConsumerConfig_Init (&consumer);
  consumer.Durable = CONSUMER;
  consumer.AckPolicy = js_AckExplicit;
  consumer.MaxAckPending = 10000;
  consumer.FilterSubject = SUBJECT;
  demand (js_AddConsumer (NULL, plain_js, STREAM, &consumer, NULL, NULL), "making the consumer");
}

static void
open_both (const char *url)
{
  const IrisdEngineOptions options = { .url = url, .window = WINDOW };
  g_autoptr (GError) error = NULL;
  jsOptions js;

  demand (natsConnection_ConnectTo (&plain, url), "connecting");
  jsOptions_Init (&js);
  js.PublishAsync.MaxPending = WINDOW;
  js.PublishAsync.StallWait = 30000;
  demand (natsConnection_JetStream (&plain_js, plain, &js), "connecting");
  engine = irisd_engine_new (&options, NULL, NULL, &error);
  if (!engine)
    {
      fprintf (stderr, "engine-bench: %s\n", error->message);
      exit (1);
    }
  while (irisd_engine_get_state (engine) != IRISD_ENGINE_CONNECTED)
    g_main_context_iteration (NULL, TRUE);
}

/* Of this process, in microseconds. */
static double
get_cpu_time (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6
         + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void
measure (guint which, guint round, double *rate)
{
  gint64 begin = g_get_monotonic_time ();
  double cpu = get_cpu_time ();

  switch (which)
    {
    case PUBLISH_PLAIN:
      publish_plain (round);
      break;
    case PUBLISH_ENGINE:
      publish_engine (round);
      break;
    case FETCH_PLAIN:
      fetch_plain ();
      break;
    default:
      fetch_engine ();
    }
  *rate = n_messages * 1e6 / (double) (g_get_monotonic_time () - begin);
  printf ("%-24s %9.0f/s, %6.1f us of a processor each\n", names[which], *rate,
          (get_cpu_time () - cpu) / n_messages);
  /* The pull of the engine ends at the server before the next messages come. */
  for (guint i = 0; which == FETCH_ENGINE && i < 20; i++)
    wait_for_server ();
}

static int
compare_rates (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

int
main (int argc, char **argv)
{
  /* What the one published, each of the two fetches in half of the rounds. */
  static const guint orders[2][4] = { { PUBLISH_PLAIN, FETCH_ENGINE, PUBLISH_ENGINE, FETCH_PLAIN },
                                      { PUBLISH_ENGINE, FETCH_ENGINE, PUBLISH_PLAIN,
                                        FETCH_PLAIN } };
  static double rates[N_CASES][MAX_ROUNDS];
  guint n_rounds = 5;

  if (argc < 2)
    {
      fputs ("usage: engine-bench URL [MESSAGES [ROUNDS [REPLICAS]]]\n", stderr);
      return 2;
    }
  if (argc > 2)
    n_messages = (guint) CLAMP (g_ascii_strtoull (argv[2], NULL, 10), 1, G_MAXUINT);
  if (argc > 3)
    n_rounds = (guint) CLAMP (g_ascii_strtoull (argv[3], NULL, 10), 1, MAX_ROUNDS);
  memset (body, 'x', sizeof body);
  open_both (argv[1]);
  make_stream (argc > 4 ? (int) MIN (g_ascii_strtoull (argv[4], NULL, 10), 5) : 3);
  for (guint round = 0; round < n_rounds; round++)
    for (guint i = 0; i < 4; i++)
      {
        guint which = orders[round % 2][i];
        measure (which, round, &rates[which][round]);
      }
  for (guint which = 0; which < N_CASES; which++)
    qsort (rates[which], n_rounds, sizeof (double), compare_rates);
  for (guint which = 0; which < N_CASES; which += 2)
    printf ("median of %u rounds of %u: %s %.0f/s, %s %.0f/s, ratio %.2f\n", n_rounds, n_messages,
            names[which], rates[which][n_rounds / 2], names[which + 1],
            rates[which + 1][n_rounds / 2],
            rates[which + 1][n_rounds / 2] / rates[which][n_rounds / 2]);
  irisd_engine_free (engine);
  js_DeleteStream (plain_js, STREAM, NULL, NULL);
  jsCtx_Destroy (plain_js);
  natsConnection_Destroy (plain);
  nats_Close ();
  return 0;
}
