/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bridge: the part of the cluster thread that carries items between irisd and the cluster.
 *
 * It is three parts that share a connection to NATS and know nothing of each other: items of this
 * node that are away, guests, and requests about items of other nodes. Only an end that this node
 * itself has stored for an item of its own goes from guests to away items without NATS, and irisd's
 * requests come by the connection of the away items, which is its worker process.
 *
 * Its end is in three steps. When irisd begins to end, pulls are withdrawn, and guests that irisd
 * gives up go back to the stream. Then, while the engine still lives, what is left is given back
 * and irisd is told; at last, when the engine is gone and no answer can come any more, the memory
 * is freed.
 */
#include "irisd-bridge.h"

#include "daemon/cluster/bridge/irisd-asks.h"
#include "daemon/cluster/bridge/irisd-bridge-plan.h"
#include "daemon/cluster/engine/irisd-streams.h"

/* A plan is made at most so often. */
#define LEAST_PLAN_US 5000

struct _IrisdBridge
{
  IrisdBridgeShared shared;
  IrisdAway *away;
  IrisdGuest *guest;
  IrisdAsks *asks;
  struct
  {
    void (*measure) (IrisdHostLoad *load, gpointer user_data);
    void (*catch_up) (gpointer user_data);
    void (*news) (gpointer user_data);
    gpointer user_data;
  } host;
  guint n_workers;
  guint window;
  gboolean member, taking;
  gboolean closed;        /* irisd ends */
  gboolean full;          /* irisd has no room for items that other nodes may take */
  IrisdGuestLane *strict; /* NULL while it is no member */
  IrisdGuestLane *soft;   /* NULL while no items are taken that others may take, also below */
  IrisdGuestLane *any;    /* NULL while it is full, too */
  IrisdBridgePlan *plan;
  GHashTable *others; /* utf8 IrisdGuestLane: by node, the others that items are taken from */
  GSource *timer;     /* of the next plan */
  gint64 planned_us;
};

/* --- other nodes ------------------------------------------------------------------------------ */

static void
open_other (IrisdBridge *self, const char *node, IrisdPullKind kind, const IrisdBridgePull *pull)
{
  g_autofree char *name = irisd_streams_get_consumer_name (IRISD_CONSUMER_SOFT, node);
  IrisdGuestLane *lane = irisd_guest_open (self->guest, name, kind, pull->n_open,
                                           pull->min_pending);

  g_hash_table_insert (self->others, g_strdup (node), lane);
}

static void
close_other (IrisdBridge *self, const char *node, IrisdGuestLane *lane)
{
  irisd_guest_lane_close (lane);
  g_hash_table_remove (self->others, node);
}

/* The plan wants a change at another node. A thief's pull that it withdraws is not renewed, and
 * ends by itself within 5 s. To cut it off would lose what a server sends before it hears of that,
 * for the length of a lease. One without a threshold is cut off all the same: it would take from a
 * node that has come back. */
static void
on_pull (const IrisdBridgePull *pull, gpointer user_data)
{
  IrisdBridge *self = user_data;
  IrisdGuestLane *lane = g_hash_table_lookup (self->others, pull->node);
  IrisdPullKind kind = pull->rescue || pull->min_pending == 0 ? IRISD_PULL_RESCUER
                                                              : IRISD_PULL_THIEF;

  if (pull->drop || !self->taking)
    {
      if (lane != NULL && irisd_guest_lane_get_kind (lane) == IRISD_PULL_THIEF)
        irisd_guest_lane_set (lane, 0, 0);
      else if (lane != NULL)
        close_other (self, pull->node, lane);
      return;
    }
  if (lane != NULL && irisd_guest_lane_get_kind (lane) != kind)
    {
      close_other (self, pull->node, lane);
      lane = NULL;
    }
  if (lane != NULL)
    irisd_guest_lane_ask (lane, pull->n_open, pull->min_pending);
  else
    open_other (self, pull->node, kind, pull);
}

/* Those that were withdrawn, and have nothing under way any more. */
static void
close_withdrawn (IrisdBridge *self)
{
  GHashTableIter iter;
  gpointer lane;

  g_hash_table_iter_init (&iter, self->others);
  while (g_hash_table_iter_next (&iter, NULL, &lane))
    if (irisd_guest_lane_is_over (lane))
      {
        irisd_guest_lane_close (lane);
        g_hash_table_iter_remove (&iter);
      }
}

static IrisdBridgeLoad
measure (IrisdBridge *self)
{
  IrisdGuestCounts counts;

  irisd_guest_get_counts (self->guest, &counts);
  IrisdBridgeLoad load = {
    .n_guests = counts.n_guests - MIN (counts.n_ending, counts.n_guests),
    .n_ended = counts.n_done + counts.n_lost + counts.n_ending,
    .n_pending = self->soft != NULL ? irisd_guest_lane_get_backlog (self->soft) : 0,
    .mean_run_ns = counts.mean_run_ns,
    .mean_bytes = counts.mean_bytes,
  };
  self->host.measure (&load.host, self->host.user_data);
  return load;
}

/* Fills what the others are to know of this node. */
void
irisd_bridge_describe (IrisdBridge *self, IrisdNodeLoad *load)
{
  const IrisdBridgeLoad now = measure (self);

  irisd_bridge_plan_describe (self->plan, &now, load);
}

/* The bucket has @node, as it was described. */
void
irisd_bridge_note_told (IrisdBridge *self, const IrisdNode *node, gint64 now)
{
  irisd_bridge_plan_note_told (self->plan, node, now);
}

/* How much is asked for ahead follows the run time of items. */
static void
set_window (IrisdBridge *self, guint64 mean_run_ns)
{
  const guint window = irisd_bridge_plan_get_window (self->plan, mean_run_ns);

  /* Each item moves the mean a little. */
  if (window <= self->window + self->window / 4 && window >= self->window - self->window / 4)
    return;
  self->window = window;
  if (self->strict != NULL)
    irisd_guest_lane_set (self->strict, window, 0);
  if (self->soft != NULL)
    irisd_guest_lane_set (self->soft, window, 0);
  if (self->any != NULL)
    irisd_guest_lane_set (self->any, window, 0);
}

static IrisdGuestLane *
open_lane (IrisdBridge *self, IrisdConsumerKind consumer, const char *node, IrisdPullKind kind)
{
  g_autofree char *name = irisd_streams_get_consumer_name (consumer, node);

  return irisd_guest_open (self->guest, name, kind, self->window, 0);
}

/* What is for any node waits for a node that has room: a pull that waits is cut off. */
static void
pull_from_any (IrisdBridge *self)
{
  const gboolean pulls = self->taking && !self->full;

  if (pulls && self->any == NULL)
    self->any = open_lane (self, IRISD_CONSUMER_ANY, NULL, IRISD_PULL_PLAIN);
  else if (!self->taking)
    g_clear_pointer (&self->any, irisd_guest_lane_withdraw);
  else if (self->full)
    g_clear_pointer (&self->any, irisd_guest_lane_close);
}

/* It has room again when there is some more than the limit. */
static void
look_at_limits (IrisdBridge *self, const IrisdHostLoad *host)
{
  const guint64 limit = host->memory_limit;
  const guint64 most = self->full ? limit - limit / 8 : limit;

  self->full = host->disk_full || (limit > 0 && host->memory_used >= most);
  pull_from_any (self);
}

static void
plan (IrisdBridge *self)
{
  const IrisdBridgeLoad load = measure (self);

  look_at_limits (self, &load.host);
  set_window (self, load.mean_run_ns);
  close_withdrawn (self);
  self->planned_us = g_get_monotonic_time ();
  g_source_set_ready_time (
      self->timer, irisd_bridge_plan_make (self->plan, &load, self->planned_us, on_pull, self));
  if (irisd_bridge_plan_is_news (self->plan, &load, self->planned_us))
    self->host.news (self->host.user_data);
}

/* A plan is made soon. */
static void
plan_soon (IrisdBridge *self)
{
  const gint64 ready = g_source_get_ready_time (self->timer);

  if (ready < 0 || ready > self->planned_us + LEAST_PLAN_US)
    g_source_set_ready_time (self->timer, self->planned_us + LEAST_PLAN_US);
}

static gboolean
on_timer (gpointer data)
{
  plan (data);
  return G_SOURCE_CONTINUE;
}

static gboolean
timer_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

static void
on_delivered (IrisdGuestLane *lane, guint64 n_pending, gpointer user_data)
{
  IrisdBridge *self = user_data;
  GHashTableIter iter;
  gpointer node, other;

  if (lane == self->any || lane == self->strict || lane == self->soft)
    {
      IrisdGuestCounts counts;
      irisd_guest_get_counts (self->guest, &counts);
      set_window (self, counts.mean_run_ns);
      /* A burst, perhaps. */
      if (lane == self->soft && n_pending > 2 * (guint64) self->n_workers)
        plan_soon (self);
      return;
    }
  g_hash_table_iter_init (&iter, self->others);
  while (g_hash_table_iter_next (&iter, &node, &other))
    if (other == lane)
      irisd_bridge_plan_note_delivered (self->plan, node, n_pending);
  plan_soon (self);
}

/* Another picture of the nodes. */
void
irisd_bridge_follow_members (IrisdBridge *self, IrisdMembers *members)
{
  irisd_bridge_plan_set_members (self->plan, members);
  irisd_guest_set_members (self->guest, members);
  if (*members->promise != '\0' && members->n_members > 0)
    irisd_away_set_ready (self->away);
  plan (self);
}

static void
withdraw_others (IrisdBridge *self)
{
  GHashTableIter iter;
  gpointer lane;

  g_hash_table_iter_init (&iter, self->others);
  while (g_hash_table_iter_next (&iter, NULL, &lane))
    {
      irisd_guest_lane_withdraw (lane);
      g_hash_table_iter_remove (&iter);
    }
}

/* --- the own consumers ------------------------------------------------------------------------ */

static void
on_own_end (gconstpointer data, gsize size, gpointer user_data)
{
  IrisdBridge *self = user_data;

  irisd_away_take_end (self->away, data, size);
}

static void
on_ask (const IrisWireMessage *ask, gpointer user_data)
{
  IrisdBridge *self = user_data;

  irisd_asks_take (self->asks, ask);
}

static void
on_catch_up (gpointer user_data)
{
  IrisdBridge *self = user_data;

  self->host.catch_up (self->host.user_data);
}

/* Takes @note. */
void
irisd_bridge_take_note (IrisdBridge *self, IrisdLaterNote *note)
{
  irisd_away_take_note (self->away, note);
}

/* Takes @note. */
void
irisd_bridge_take_chain (IrisdBridge *self, IrisdChainNote *note)
{
  irisd_away_take_chain (self->away, note);
}

static gboolean
on_answer (const IrisWireMessage *answer, gpointer user_data)
{
  IrisdBridge *self = user_data;

  return irisd_away_answer (self->away, answer);
}

/* Whether this node has joined. Before, another irisd may have its name: it takes no items, answers
 * no questions, and holds its own items for others. */
void
irisd_bridge_set_member (IrisdBridge *self, gboolean member)
{
  if (member == self->member || self->closed)
    return;
  self->member = member;
  if (member)
    self->strict = open_lane (self, IRISD_CONSUMER_STRICT, self->shared.node, IRISD_PULL_PLAIN);
  else
    g_clear_pointer (&self->strict, irisd_guest_lane_close);
  irisd_asks_set_answering (self->asks, member);
  irisd_away_set_shut (self->away, !member);
}

/* Whether this node takes items that other nodes may take as well. A draining node does not. */
void
irisd_bridge_set_taking (IrisdBridge *self, gboolean taking)
{
  if (taking == self->taking || self->closed)
    return;
  self->taking = taking;
  if (taking)
    self->soft = open_lane (self, IRISD_CONSUMER_SOFT, self->shared.node, IRISD_PULL_OWNER);
  else
    {
      g_clear_pointer (&self->soft, irisd_guest_lane_withdraw);
      withdraw_others (self);
    }
  pull_from_any (self);
}

/* irisd ends: it takes nothing any more, and what does not end before it does goes back to the
 * stream. irisd_bridge_is_empty() tells when all has. */
void
irisd_bridge_close (IrisdBridge *self)
{
  irisd_bridge_set_taking (self, FALSE);
  self->closed = TRUE;
  self->strict = NULL;
  irisd_guest_close (self->guest);
}

gboolean
irisd_bridge_is_empty (const IrisdBridge *self)
{
  return irisd_guest_is_empty (self->guest);
}

static void
shared_init (IrisdBridgeShared *shared,
             const IrisdBridgeOptions *options,
             IrisdClusterSecret *secret)
{
  shared->engine = options->engine;
  shared->context = options->context;
  shared->zmq = options->zmq;
  shared->endpoint = options->endpoint;
  shared->token = options->token;
  shared->node = g_strdup (options->node);
  shared->secret = secret;
  shared->work_stream = g_strdup (options->work_stream);
  shared->ends_stream = g_strdup (options->ends_stream);
  shared->later_stream = g_strdup (options->later_stream);
  shared->end_subject = irisd_subject_for_node (options->node, "end");
  shared->lease_us = (gint64) options->lease_ms * 1000;
  shared->bodies = irisd_object_store_new (options->engine, options->context,
                                           options->bodies_stream, options->bodies_bucket);
}

/* Begins to connect to irisd. It pulls when it is a member. */
IrisdBridge *
irisd_bridge_new (const IrisdBridgeOptions *options, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (options->secret, &size);
  static GSourceFuncs timer_funcs = { .dispatch = timer_dispatch };
  IrisdClusterSecret *secret = irisd_cluster_secret_new (data, size, error);
  IrisdBridge *self;

  if (secret == NULL)
    return NULL;
  self = g_new0 (IrisdBridge, 1);
  shared_init (&self->shared, options, secret);
  self->host.measure = options->measure;
  self->host.catch_up = options->catch_up;
  self->host.news = options->news;
  self->host.user_data = options->user_data;
  self->n_workers = MAX (options->n_workers, 1);
  self->away = irisd_away_new (&self->shared, options->max_away, on_ask, on_catch_up, self);
  self->guest = irisd_guest_new (&self->shared, self->n_workers, options->lost_attempts, on_own_end,
                                 on_delivered, self);
  self->asks = irisd_asks_new (&self->shared, on_answer, self);
  self->plan = irisd_bridge_plan_new (options->node, self->n_workers, options->pull_window,
                                      options->steal_threshold);
  self->window = irisd_bridge_plan_get_window (self->plan, 0);
  self->others = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->timer = g_source_new (&timer_funcs, sizeof (GSource));
  g_source_set_callback (self->timer, on_timer, self, NULL);
  g_source_set_static_name (self->timer, "irisd-bridge-plan");
  g_source_attach (self->timer, options->context);
  irisd_away_set_shut (self->away, TRUE);
  return self;
}

/* The engine is still there, and is freed next. */
void
irisd_bridge_stop (IrisdBridge *self)
{
  g_source_destroy (self->timer);
  g_hash_table_remove_all (self->others);
  irisd_object_store_stop (self->shared.bodies);
  irisd_guest_stop (self->guest);
  irisd_asks_stop (self->asks);
  irisd_away_stop (self->away);
  self->soft = self->strict = self->any = NULL;
}

/* It was stopped, and the engine is gone. */
void
irisd_bridge_free (IrisdBridge *self)
{
  g_source_unref (self->timer);
  g_hash_table_unref (self->others);
  irisd_bridge_plan_free (self->plan);
  irisd_asks_free (self->asks);
  irisd_guest_free (self->guest);
  irisd_away_free (self->away);
  irisd_object_store_free (self->shared.bodies);
  irisd_cluster_secret_free (self->shared.secret);
  g_free (self->shared.node);
  g_free (self->shared.work_stream);
  g_free (self->shared.ends_stream);
  g_free (self->shared.later_stream);
  g_free (self->shared.end_subject);
  g_free (self);
}

/* The state of the connection to NATS may have changed. */
void
irisd_bridge_follow_engine (IrisdBridge *self)
{
  irisd_away_follow_engine (self->away);
}

void
irisd_bridge_get_counts (IrisdBridge *self, IrisdClusterCounts *counts)
{
  IrisdAwayCounts away;
  IrisdGuestCounts guest;

  irisd_away_get_counts (self->away, &away);
  irisd_guest_get_counts (self->guest, &guest);
  *counts = (IrisdClusterCounts){
    .n_away = away.n_away,
    .n_held = away.n_held,
    .n_guests = guest.n_guests,
    .n_published = away.n_published,
    .n_ended = away.n_ended,
    .n_found = away.n_found,
    .n_delivered = guest.n_delivered,
    .n_again = guest.n_again,
    .n_done = guest.n_done,
    .n_lost = guest.n_lost,
    .n_given = guest.n_given,
    .n_dead = guest.n_dead,
    .n_failed = away.n_failed + guest.n_failed,
    .bytes_sent = away.bytes + guest.bytes_out,
    .bytes_received = guest.bytes_in,
  };
  irisd_bridge_plan_add_counts (self->plan, counts);
}
