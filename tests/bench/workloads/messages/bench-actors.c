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
#include "tests/bench/workloads/bench-workloads.h"

#include <stdatomic.h>
#include <string.h>

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

struct _Run
{
  BenchContender *contender;
  guint workers;
  guint n;
  gboolean ports;
  gboolean (*measure) (Run *self, gdouble *seconds, GError **error);
  IrisScheduler *scheduler;
  Party *parties;
  guint n_parties;
};

static void
run_free (gpointer data)
{
  Run *self = data;

  bench_contender_free (self->contender);
  g_free (self);
}

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

static gboolean
run_begin (Run *self, guint n_parties, GError **error)
{
  self->scheduler = bench_iris_open (self->contender, self->workers, error);
  if (self->scheduler == NULL)
    return FALSE;
  self->parties = g_new (Party, n_parties);
  self->n_parties = n_parties;
  bench_iris_start (self->scheduler);

  return TRUE;
}

/* The parties must be there: their threads sleep before the clock starts. */
static gboolean
run_ready (GError **error)
{
  if (!bench_wait_asleep (NULL, NULL, error))
    return FALSE;
  bench_counts_reset ();

  return TRUE;
}

static void
run_end (Run *self)
{
  for (guint i = 0; i < self->n_parties; i++)
    {
      g_clear_pointer (&self->parties[i].actor, iris_actor_unref);
      g_clear_object (&self->parties[i].port);
    }
  g_clear_pointer (&self->parties, g_free);
  g_clear_object (&self->scheduler);
}

/* Ping-pong: the message says how many hops are left. */
typedef struct
{
  const Party *other;
} Player;

static void
play (IrisMessage *message, gpointer data)
{
  Player *self = data;

  bench_count_one ();
  if (message->what > 0)
    party_post (self->other, message->what - 1);
}

static gboolean
iris_ping_pong (Run *self, gdouble *seconds, GError **error)
{
  Player players[2];
  gint64 begin;

  for (guint i = 0; i < 2; i++)
    {
      players[i].other = &self->parties[1 - i];
      party_init (&self->parties[i], self, play, &players[i]);
    }
  if (!run_ready (error))
    return FALSE;
  begin = bench_now ();
  party_post (&self->parties[0], (gint) self->n * 2 - 1);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = (bench_now () - begin) / 1e9;

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
  if (!run_ready (error))
    return FALSE;
  begin = bench_now ();
  for (guint i = 0; i < PRODUCERS; i++)
    party_post (&self->parties[i + 1], 0);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = (bench_now () - begin) / 1e9;

  return bench_counts_check (self->n / PRODUCERS * PRODUCERS, 0, error);
}

/* Ring: each hands the message on to the next. */
static void
pass_on (IrisMessage *message, gpointer data)
{
  const Party *next = data;

  bench_count_one ();
  if (message->what > 0)
    party_post (next, message->what - 1);
}

static gboolean
iris_ring (Run *self, gdouble *seconds, GError **error)
{
  gint64 begin;

  for (guint i = 0; i < self->n; i++)
    party_init (&self->parties[i], self, pass_on, &self->parties[(i + 1) % self->n]);
  if (!run_ready (error))
    return FALSE;
  begin = bench_now ();
  party_post (&self->parties[0], (gint) self->n - 1);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = (bench_now () - begin) / 1e9;

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
  if (!run_ready (error))
    return FALSE;
  begin = bench_threads_run (POSTERS, post_share, &alone);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = (bench_now () - begin) / 1e9;
  if (alone.broken > 0)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                   "%u exclusive messages were handled beside others", alone.broken);
      return FALSE;
    }

  return bench_counts_check (self->n / POSTERS * POSTERS, 0, error);
}

static guint
parties_of (const Run *self)
{
  if (self->measure == iris_ring)
    return self->n;
  if (self->measure == iris_fan_in)
    return PRODUCERS + 1;

  return self->measure == iris_ping_pong ? 2 : 1;
}

static gboolean
run_iris (gpointer data, gdouble *samples, GError **error)
{
  Run *self = data;
  gboolean good = run_begin (self, parties_of (self), error);

  if (good)
    {
      memset (self->parties, 0, self->n_parties * sizeof *self->parties);
      good = self->measure (self, &samples[0], error);
    }
  run_end (self);

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

  *seconds = (bench_now () - begin) / 1e9;
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

  *seconds = (bench_now () - begin) / 1e9;
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
run_queue (gpointer data, gdouble *samples, GError **error)
{
  Run *self = data;

  bench_counts_reset ();

  return self->measure (self, &samples[0], error);
}

typedef struct
{
  const char *name;
  const char *loads[2];
  gboolean (*iris) (Run *self, gdouble *seconds, GError **error);
  gboolean (*queue) (Run *self, gdouble *seconds, GError **error);
} Workload;

static void
add_load (BenchResult *result,
          const BenchOptions *options,
          const Workload *workload,
          guint n,
          gboolean ports)
{
  g_autoptr (GPtrArray) contenders = bench_contenders (options, BENCH_CAN_INSIDE);
  const BenchSeries *base = NULL;

  while (contenders->len > 0)
    {
      BenchContender *contender = g_ptr_array_steal_index (contenders, 0);
      gboolean iris = contender->engine == &bench_engine_iris
                      && !bench_iris_is_main_context (contender->index);
      gboolean queue = contender->engine == &bench_engine_gasyncqueue && workload->queue != NULL;
      BenchSeries *series;
      Run *run;

      if (!iris && !queue)
        {
          bench_contender_free (contender);
          continue;
        }
      series = bench_series_new (workload->loads[ports], contender->name, contender->engine->kind,
                                 options->workers, n);
      base = base != NULL ? base : series;
      bench_series_compare (series, base, BENCH_FACTOR);
      bench_result_add_series (result, series);
      run = g_new0 (Run, 1);
      *run = (Run){ .contender = contender,
                    .workers = options->workers,
                    .n = n,
                    .ports = ports,
                    .measure = iris ? workload->iris : workload->queue };
      bench_result_add_trial (result, iris ? run_iris : run_queue, run, run_free, series, NULL);
    }
}

static BenchResult *
run_workload (const BenchOptions *options,
              const Workload *workload,
              guint n,
              char *title,
              GError **error)
{
  g_autoptr (BenchResult) result = bench_result_new (workload->name, options, title);

  for (guint i = 0; i < 2 && workload->loads[i] != NULL; i++)
    add_load (result, options, workload, n, i == 1);

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}

BenchResult *
bench_ping_pong (const BenchOptions *options, GError **error)
{
  static const Workload workload = {
    "ping-pong", { "actors", "ports" }, iris_ping_pong, queue_ping_pong
  };

  guint n = bench_choose (options, options->items, TRIPS, 1);

  return run_workload (options, &workload, n,
                       g_strdup_printf ("%u round trips between two actors", n), error);
}

BenchResult *
bench_fan_in (const BenchOptions *options, GError **error)
{
  static const Workload workload = { "fan-in", { "actors", "ports" }, iris_fan_in, queue_fan_in };

  guint n = bench_choose (options, options->items, FAN_IN, PRODUCERS);

  return run_workload (options, &workload, n,
                       g_strdup_printf ("%u messages from 8 producers to one actor", n), error);
}

BenchResult *
bench_actor_ring (const BenchOptions *options, GError **error)
{
  static const Workload workload = { "ring", { "actors", NULL }, iris_ring, NULL };

  guint n = bench_choose (options, options->items, RING, 2);

  return run_workload (options, &workload, n,
                       g_strdup_printf ("%u actors in a circle, round which one message goes", n),
                       error);
}

BenchResult *
bench_coordinate (const BenchOptions *options, GError **error)
{
  static const Workload workload = {
    "coordinate", { "arbiter", "exclusive receiver" }, iris_coordinate, queue_coordinate
  };

  guint n = bench_choose (options, options->items, EXCLUSIVES, POSTERS);

  return run_workload (options, &workload, n,
                       g_strdup_printf ("%u exclusive messages, posted by 4 threads", n), error);
}
