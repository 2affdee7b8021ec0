/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Actors: what a message costs between handlers that run one message at a time.
 *
 * ping-pong: two of them send one message back and forth. fan-in: eight producers, which are actors
 * themselves, send to one. ring: many of them in a circle, one message each that goes round once.
 * coordinate: four threads post exclusive messages to a coordination arbiter.
 *
 * iris takes part with its lightweight actors and with ports and receivers; the peer is what a GLib
 * program writes by hand, a thread with a GAsyncQueue for each party.
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"

#include <stdatomic.h>

#define TRIPS      100000
#define PRODUCERS  8
#define FAN_IN     1000000
#define RING       1000000
#define POSTERS    4
#define EXCLUSIVES 400000

/* How many messages a producer sends before it lets others run: enough for the sink to have a
 * batch, few enough that what waits fits into the caches, as behind the bounded channels of other
 * runtimes.
 */
#define PRODUCER_TURN 64

/* A party: an actor, or a port with an exclusive receiver. */
typedef struct
{
  IrisActor *actor;
  IrisPort *port;
  IrisReceiver *receiver; /* the port's */
} Party;

typedef struct _Run Run;

/* What a workload does to its parties. */
typedef gboolean (*Measure) (Run *self, gdouble *seconds, GError **error);

typedef struct
{
  guint n; /* of messages, or of trips */
  guint n_parties;
  gboolean ports;
  Measure measure, measure_queue; /* the peer's; or NULL */
} Load;

struct _Run
{
  guint n;
  gboolean ports;
  IrisScheduler *scheduler;
  Party *parties;
};

static inline void
party_post (const Party *self, gint what)
{
  if (self->actor != NULL)
    iris_actor_post (self->actor, iris_message_new (what));
  else
    iris_port_post (self->port, iris_message_new (what));
}

static void
party_init (Party *self, Run *run, IrisMessageHandler handler, gpointer data)
{
  *self = (Party){ NULL, NULL, NULL };
  if (!run->ports)
    {
      self->actor = iris_actor_new (run->scheduler, handler, data, NULL);
      return;
    }
  self->port = iris_port_new ();
  self->receiver = iris_arbiter_receive_exclusive (run->scheduler, self->port, handler, data, NULL);
}

/* Lets others run after each of its messages. */
static void
party_yield_often (const Party *self)
{
  if (self->actor != NULL)
    iris_actor_set_batch (self->actor, 1);
  else
    iris_receiver_set_batch (self->receiver, 1);
}

/* Ping-pong and ring: each hands the message on to the next; it says how many hops are left. */
static void
pass_on (IrisMessage *message, gpointer data)
{
  const Party *next = data;

  bench_count_one ();
  if (message->what > 0)
    party_post (next, message->what - 1);
}

static gboolean
iris_ping_pong (Run *self, gdouble *seconds, GError **error)
{
  gint64 begin;

  for (guint i = 0; i < 2; i++)
    party_init (&self->parties[i], self, pass_on, &self->parties[1 - i]);
  begin = bench_now ();
  party_post (&self->parties[0], (gint) self->n * 2 - 1);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = bench_seconds_since (begin);

  return bench_counts_check ((guint64) self->n * 2, 0, error);
}

/* Fan-in: party 0 counts, the others produce. */
typedef struct
{
  const Party *sink;
  const Party *mine;
  guint left;
} Producer;

static void
sink_count (IrisMessage *message, gpointer data)
{
  bench_count_one ();
}

static void
produce (IrisMessage *message, gpointer data)
{
  Producer *self = data;

  for (guint i = 0; i < PRODUCER_TURN && self->left > 0; i++, self->left--)
    party_post (self->sink, 0);
  if (self->left > 0)
    party_post (self->mine, 0);
}

static gboolean
iris_fan_in (Run *self, gdouble *seconds, GError **error)
{
  Producer producers[PRODUCERS];
  gint64 begin;

  party_init (&self->parties[0], self, sink_count, NULL);
  for (guint i = 0; i < PRODUCERS; i++)
    {
      producers[i] = (Producer){ &self->parties[0], &self->parties[i + 1], self->n / PRODUCERS };
      party_init (&self->parties[i + 1], self, produce, &producers[i]);
      party_yield_often (&self->parties[i + 1]);
    }
  begin = bench_now ();
  for (guint i = 0; i < PRODUCERS; i++)
    party_post (&self->parties[i + 1], 0);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = bench_seconds_since (begin);

  return bench_counts_check (self->n / PRODUCERS * PRODUCERS, 0, error);
}

static gboolean
iris_ring (Run *self, gdouble *seconds, GError **error)
{
  gint64 begin;

  for (guint i = 0; i < self->n; i++)
    party_init (&self->parties[i], self, pass_on, &self->parties[(i + 1) % self->n]);
  begin = bench_now ();
  party_post (&self->parties[0], (gint) self->n - 1);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = bench_seconds_since (begin);

  return bench_counts_check (self->n, 0, error);
}

/* Coordinate: threads post, the handler must be alone. */
typedef struct
{
  Run *run;
  _Atomic guint inside;
  guint broken; /* by the handler alone, which is what is tested */
} Alone;

static void
handle_alone (IrisMessage *message, gpointer data)
{
  Alone *self = data;

  if (atomic_fetch_add_explicit (&self->inside, 1, memory_order_relaxed) != 0)
    self->broken++;
  bench_count_one ();
  atomic_fetch_sub_explicit (&self->inside, 1, memory_order_relaxed);
}

static void
post_share (gpointer data, guint index)
{
  Alone *self = data;

  for (guint i = 0; i < self->run->n / POSTERS; i++)
    iris_port_post (self->run->parties[0].port, iris_message_new (0));
}

static gboolean
iris_coordinate (Run *self, gdouble *seconds, GError **error)
{
  Alone alone = { .run = self };
  IrisPort *port = iris_port_new ();
  gint64 begin;

  self->parties[0] = (Party){ NULL, port };
  if (self->ports)
    iris_arbiter_receive_exclusive (self->scheduler, port, handle_alone, &alone, NULL);
  else
    iris_arbiter_coordinate (
        iris_arbiter_receive (self->scheduler, port, handle_alone, &alone, NULL), NULL, NULL);
  begin = bench_threads_run (POSTERS, post_share, &alone);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = bench_seconds_since (begin);
  if (alone.broken > 0)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                   "%u exclusive messages were handled beside others", alone.broken);
      return FALSE;
    }

  return bench_counts_check (self->n / POSTERS * POSTERS, 0, error);
}

static gboolean
run_iris (const BenchRun *what, gdouble *samples, GError **error)
{
  const Load *load = what->load;
  g_autoptr (IrisScheduler) scheduler = bench_iris_open (what->contender, what->workers, error);
  g_autofree Party *parties = g_new0 (Party, load->n_parties);
  Run run = { load->n, load->ports, scheduler, parties };
  gboolean good;

  if (scheduler == NULL)
    return FALSE;
  bench_counts_reset ();
  good = load->measure (&run, samples, error);
  for (guint i = 0; i < load->n_parties; i++)
    {
      g_clear_pointer (&parties[i].actor, iris_actor_unref);
      g_clear_object (&parties[i].port);
    }

  return good;
}

/* The peer: a thread for each party, with a queue of its own. */
typedef struct
{
  GAsyncQueue *queue[2];
  guint n;
} Queues;

#define QUEUE_ITEM GINT_TO_POINTER (1)

static void
queue_party (gpointer data, guint index)
{
  Queues *self = data;

  for (guint i = 0; i < self->n; i++)
    {
      if (index == 0)
        g_async_queue_push (self->queue[1], QUEUE_ITEM);
      g_async_queue_pop (self->queue[index]);
      bench_count_one ();
      if (index == 1)
        g_async_queue_push (self->queue[0], QUEUE_ITEM);
    }
}

static gboolean
queue_ping_pong (Run *self, gdouble *seconds, GError **error)
{
  Queues queues = { { g_async_queue_new (), g_async_queue_new () }, self->n };
  gint64 begin = bench_threads_run (2, queue_party, &queues);

  *seconds = bench_seconds_since (begin);
  for (guint i = 0; i < 2; i++)
    g_async_queue_unref (queues.queue[i]);

  return bench_counts_check ((guint64) self->n * 2, 0, error);
}

typedef struct
{
  GAsyncQueue *queue;
  guint n_producers;
  guint each;
} Funnel;

/* The last index takes; the others give. */
static void
funnel_party (gpointer data, guint index)
{
  Funnel *self = data;

  if (index < self->n_producers)
    for (guint i = 0; i < self->each; i++)
      g_async_queue_push (self->queue, QUEUE_ITEM);
  else
    for (guint i = 0; i < self->each * self->n_producers; i++)
      {
        g_async_queue_pop (self->queue);
        bench_count_one ();
      }
}

static gboolean
queue_funnel (Run *self, guint n_producers, gdouble *seconds, GError **error)
{
  Funnel funnel = { g_async_queue_new (), n_producers, self->n / n_producers };
  gint64 begin = bench_threads_run (n_producers + 1, funnel_party, &funnel);

  *seconds = bench_seconds_since (begin);
  g_async_queue_unref (funnel.queue);

  return bench_counts_check ((guint64) funnel.each * n_producers, 0, error);
}

static gboolean
queue_fan_in (Run *self, gdouble *seconds, GError **error)
{
  return queue_funnel (self, PRODUCERS, seconds, error);
}

static gboolean
queue_coordinate (Run *self, gdouble *seconds, GError **error)
{
  return queue_funnel (self, POSTERS, seconds, error);
}

static gboolean
run_queue (const BenchRun *what, gdouble *samples, GError **error)
{
  const Load *load = what->load;
  Run run = { .n = load->n };

  bench_counts_reset ();

  return load->measure_queue (&run, samples, error);
}

static gboolean
is_queue (const BenchContender *contender)
{
  return contender->engine == &bench_engine_gasyncqueue;
}

typedef struct
{
  const char *name;
  const char *title; /* behind the number */
  guint usual, least;
  guint n_parties; /* 0: as many as messages */
  Measure measure, measure_queue;
  const char *load;
  const char *by_ports; /* the same by ports, for which the peer has no second form; or NULL */
} Row;

static const Row rows[] = {
  { "ping-pong", "round trips between two actors", TRIPS, 1, 2, iris_ping_pong, queue_ping_pong,
    "actors", "ports" },
  { "fan-in", "messages from 8 producers to one actor", FAN_IN, PRODUCERS, PRODUCERS + 1,
    iris_fan_in, queue_fan_in, "actors", "ports" },
  { "ring", "actors in a circle, round which one message goes", RING, 2, 0, iris_ring, NULL,
    "actors", NULL },
  { "coordinate", "exclusive messages, posted by 4 threads", EXCLUSIVES, POSTERS, 1,
    iris_coordinate, queue_coordinate, "arbiter", "exclusive receiver" },
};

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  const Row *row = rows;
  Load load = { 0 };
  BenchCase what = { .run = run_iris, .data = &load, .size = sizeof load };

  while (!g_str_equal (row->name, result->name))
    row++;
  what.n_items = load.n = bench_choose (options, options->items, row->usual, row->least);
  load.n_parties = row->n_parties != 0 ? row->n_parties : load.n;
  load.measure = row->measure;
  load.measure_queue = row->measure_queue;
  bench_result_set_title (result, "%u %s", load.n, row->title);
  what.load = row->load;
  bench_contenders_add (result, options, BENCH_CAN_INSIDE, bench_iris_is_pool, &what);
  what.run = run_queue;
  if (row->measure_queue != NULL)
    bench_contenders_add (result, options, BENCH_CAN_INSIDE, is_queue, &what);
  what.run = run_iris;
  what.load = row->by_ports;
  load.ports = TRUE;
  if (row->by_ports != NULL)
    bench_contenders_add (result, options, BENCH_CAN_INSIDE, bench_iris_is_pool, &what);

  return TRUE;
}

const BenchWorkload bench_workload_ping_pong = {
  .name = "ping-pong",
  .summary = "a message back and forth between two actors",
  .plan = plan,
};

const BenchWorkload bench_workload_fan_in = {
  .name = "fan-in",
  .summary = "messages from 8 producers to one actor",
  .plan = plan,
};

const BenchWorkload bench_workload_ring = {
  .name = "ring",
  .summary = "a message round a million actors",
  .plan = plan,
};

const BenchWorkload bench_workload_coordinate = {
  .name = "coordinate",
  .summary = "exclusive messages of 4 threads through an arbiter",
  .plan = plan,
};
