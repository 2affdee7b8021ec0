/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pull plan: from which consumers this node asks for items now. The rules, and why, are in the
 * header.
 */
#include "daemon/cluster/policy/irisd-pull-plan.h"

#include <string.h>

/* How often victims are chosen at most: the map is older than that. */
#define LOOK_US (G_USEC_PER_SEC / 4)
/* Pulls of the own node: soft, strict, ANY. */
#define N_OWN 3

/* What is worth waiting at, the best first. */
typedef enum
{
  BEYOND,  /* more waits there than the move costs */
  WAITING, /* less */
  BUSY,
  IDLE,
  LEFT_ALONE,
} Worth;

/* A consumer, and what is open there. */
typedef struct
{
  IrisdPullChange pull; /* batch is not used; min_pending is that of what is open */
  char *name;
  guint asked; /* of open pulls, not delivered */
  guint want;  /* that should be open */
  gint low;    /* asked again if no more than that is open */
  gboolean is_chosen;
  guint64 min_pending;
  guint64 heard_pending;
  gint64 heard_us;
  /* The forecast of a refusal: by the deadline it has begun so many, or less waits there. */
  gint64 deadline_us; /* 0: none */
  guint64 target, backlog;
  gboolean lapsed;
} Lane;

typedef struct
{
  const IrisdNodeView *node;
  Worth worth;
  IrisdNodeDistance distance;
  gboolean is_open;
  guint64 lot;
} Candidate;

struct _IrisdPullPlan
{
  IrisdPullRules rules;
  IrisdPullCounts counts;
  GPtrArray *lanes; /* of Lane, the own ones first */
  guint64 serial;
  gint64 looked_us; /* when victims were chosen; 0: never */
  gint64 now_us;
  gboolean at_limit;
  gboolean is_hungry;
};

static void
lane_free (gpointer data)
{
  Lane *lane = data;

  g_free (lane->name);
  g_free (lane);
}

static Lane *
add_lane (IrisdPullPlan *self, IrisdLaneKind consumer, const char *node, IrisdPullReason reason)
{
  Lane *lane = g_new0 (Lane, 1);

  lane->name = g_strdup (node);
  lane->pull = (IrisdPullChange){ .consumer = consumer, .node = lane->name, .reason = reason };
  g_ptr_array_add (self->lanes, lane);

  return lane;
}

IrisdPullPlan *
irisd_pull_plan_new (const IrisdPullRules *rules)
{
  IrisdPullPlan *self = g_new0 (IrisdPullPlan, 1);

  self->rules = *rules;
  self->lanes = g_ptr_array_new_with_free_func (lane_free);

  return self;
}

void
irisd_pull_plan_free (IrisdPullPlan *self)
{
  g_ptr_array_unref (self->lanes);
  g_free (self);
}

static Lane *
find_lane (IrisdPullPlan *self, IrisdLaneKind consumer, const char *node)
{
  for (guint i = 0; i < self->lanes->len; i++)
    {
      Lane *lane = g_ptr_array_index (self->lanes, i);

      if (lane->pull.consumer == consumer
          && (consumer == IRISD_LANE_ANY || g_strcmp0 (lane->name, node) == 0))
        return lane;
    }

  return NULL;
}

/* --- the own node ----------------------------------------------------------------------------- */

static gboolean
is_above (guint64 used, guint64 limit, gboolean was)
{
  return limit != 0 && used >= (was ? limit - limit / 8 : limit);
}

static void
look_at_limits (IrisdPullPlan *self, const IrisdOwnNode *own)
{
  gboolean was = self->at_limit;

  self->at_limit = is_above (own->disk_used, own->disk_limit, was)
                   || is_above (own->memory_used, own->memory_limit, was);
  self->counts.at_limit += self->at_limit;
}

/* Workers without an item, less those that one in hand is on its way to. */
static guint
count_idle (const IrisdOwnNode *own)
{
  guint64 waiting = own->n_in_hand - MIN (own->n_running, own->n_in_hand) + own->n_queued;

  return own->view.n_idle > waiting ? (guint) (own->view.n_idle - waiting) : 0;
}

/* How much work is pulled ahead of the workers. */
static guint64
get_ahead_ns (guint64 run_ns)
{
  return run_ns < IRISD_PULL_SHORT_NS ? IRISD_PULL_FAR_AHEAD_NS : IRISD_PULL_AHEAD_NS;
}

guint
irisd_pull_plan_get_window (const IrisdPullPlan *self, const IrisdNodeView *own)
{
  guint64 run_ns = own->mean_run_ns;
  guint64 least = MIN (IRISD_PULL_LEAST_WINDOW, self->rules.window);
  /* Long items that were pulled ahead before one of them had run could not be stolen any more. */
  guint64 each = run_ns != 0 ? (get_ahead_ns (run_ns) + run_ns - 1) / run_ns : least;

  return MIN (own->n_workers * (guint) CLAMP (each, least, self->rules.window),
              MAX (IRISD_PULL_DEEP, own->n_workers * IRISD_PULL_USUAL));
}

/* As much work as an owner has ahead, and of long items only as many as there are workers. */
static guint
get_thief_window (const IrisdPullPlan *self, const IrisdOwnNode *own)
{
  guint64 run_ns = own->view.mean_run_ns;
  guint64 n_workers = own->view.n_workers;
  guint64 n = run_ns != 0 ? get_ahead_ns (run_ns) * n_workers / run_ns : 0;

  return (guint) CLAMP (n, n_workers, irisd_pull_plan_get_window (self, &own->view));
}

/* Whether what is here is gone before a pull is answered. */
static gboolean
find_hunger (const IrisdPullPlan *self, const IrisdOwnNode *own)
{
  guint64 waiting = own->n_in_hand - MIN (own->n_running, own->n_in_hand);
  guint64 half_runs = 2 * waiting + own->n_running;

  if (own->n_queued > 0 || own->view.n_workers == 0)
    return FALSE;
  if (count_idle (own) > 0)
    return TRUE;
  if (own->view.mean_run_ns == 0)
    return FALSE;

  return half_runs * own->view.mean_run_ns / (2 * own->view.n_workers)
         < irisd_move_cost_get (IRISD_NODE_RACK);
}

/* Fills the window up, if no more than half of it is in hand and under way. */
static void
fill (Lane *lane, guint64 in_hand, guint window)
{
  lane->want = in_hand < window ? (guint) (window - in_hand) : 0;
  lane->low = in_hand <= window / 2 ? (gint) (window / 2 - in_hand) : -1;
}

/* As many as idle workers; what is open and brings more than all workers need is withdrawn. */
static void
fill_sparingly (Lane *lane, const IrisdOwnNode *own)
{
  guint idle = count_idle (own);

  lane->want = lane->asked > own->view.n_workers ? 0 : MAX (idle, lane->asked);
  lane->low = (gint) idle - 1;
}

static void
plan_own (IrisdPullPlan *self, const IrisdOwnNode *own)
{
  guint window = irisd_pull_plan_get_window (self, &own->view);

  for (guint i = 0; i < N_OWN; i++)
    {
      Lane *lane = g_ptr_array_index (self->lanes, i);
      gboolean is_any = lane->pull.consumer == IRISD_LANE_ANY;

      if (own->view.draining || (self->at_limit && is_any))
        lane->want = 0;
      else if (self->at_limit)
        fill_sparingly (lane, own);
      else if (is_any)
        fill (lane, own->n_in_hand + own->n_queued, window);
      else
        {
          fill (lane, own->n_in_hand, window);
          lane->want = MAX (lane->want, lane->asked);
        }
    }
}

/* --- victims ---------------------------------------------------------------------------------- */

/* What waits there: as heard with the last message, if that is newer than the map. */
static guint64
get_backlog (const Lane *lane, const IrisdNodeView *node)
{
  return lane != NULL && lane->heard_us > node->seen_us ? lane->heard_pending : node->backlog;
}

static guint64
get_threshold (const IrisdPullPlan *self, IrisdNodeDistance distance, const IrisdNodeView *node)
{
  return self->rules.threshold != 0 ? self->rules.threshold
                                    : irisd_move_cost_get_threshold (distance, node);
}

/* The first of the reasons without which it would be refused all the same. */
static IrisStealVerdict
judge (const IrisdPullPlan *self,
       const IrisdNodeView *node,
       IrisdNodeDistance distance,
       guint64 backlog)
{
  if (backlog == 0)
    return IRIS_STEAL_VERDICT_EMPTY;
  if (backlog >= get_threshold (self, distance, node))
    return IRIS_STEAL_VERDICT_TAKEN;
  if (self->rules.threshold != 0 || backlog < irisd_move_cost_get_least (node))
    return IRIS_STEAL_VERDICT_BACKLOG;

  return backlog < irisd_move_cost_get_unsized (distance, node) ? IRIS_STEAL_VERDICT_DISTANCE
                                                                : IRIS_STEAL_VERDICT_SIZE;
}

/* Whether this node is one of those that the excess feeds. One that is there already stays. */
static gboolean
is_drawn (const IrisdPullPlan *self,
          const IrisdOwnNode *own,
          const Candidate *candidate,
          guint64 backlog,
          guint n_hungry)
{
  guint64 excess = backlog - get_threshold (self, candidate->distance, candidate->node);
  guint64 n_fed = MIN (excess / MAX (get_thief_window (self, own), 1) + 1, IRISD_PULL_MOST_WAITING);

  return candidate->is_open || n_hungry <= n_fed || candidate->lot % n_hungry < n_fed;
}

static void
weigh (IrisdPullPlan *self, const IrisdOwnNode *own, Candidate *candidate, guint n_hungry)
{
  const IrisdNodeView *node = candidate->node;
  const Lane *lane = find_lane (self, IRISD_LANE_SOFT, node->name);
  guint64 backlog = get_backlog (lane, node);
  IrisStealVerdict verdict;

  candidate->distance = irisd_node_view_get_distance (&own->view, node);
  candidate->lot = irisd_node_lot (own->view.name, node->name,
                                   (guint64) (self->now_us / IRISD_PULL_ROUND_US));
  candidate->is_open = lane != NULL && lane->asked > 0;
  candidate->worth = LEFT_ALONE;
  if (!irisd_node_view_can_replace (&own->view, node))
    verdict = IRIS_STEAL_VERDICT_APART;
  else
    verdict = judge (self, node, candidate->distance, backlog);
  if (verdict == IRIS_STEAL_VERDICT_TAKEN && !is_drawn (self, own, candidate, backlog, n_hungry))
    verdict = IRIS_STEAL_VERDICT_LOST;
  if (verdict == IRIS_STEAL_VERDICT_TAKEN)
    candidate->worth = BEYOND;
  else if (verdict == IRIS_STEAL_VERDICT_EMPTY)
    candidate->worth = node->n_idle > 0 ? IDLE : BUSY;
  else if (verdict != IRIS_STEAL_VERDICT_APART && verdict != IRIS_STEAL_VERDICT_LOST)
    candidate->worth = WAITING;
  /* What is taken is counted when it comes. */
  if (verdict != IRIS_STEAL_VERDICT_TAKEN)
    self->counts.looks[verdict]++;
}

static gboolean
is_better (const Candidate *a, const Candidate *b)
{
  if (a->worth != b->worth)
    return a->worth < b->worth;
  if (a->distance != b->distance)
    return a->distance < b->distance;
  if (a->is_open != b->is_open)
    return a->is_open;

  return a->lot < b->lot;
}

static void
insert (GArray *best, const Candidate *candidate, guint most)
{
  guint i = best->len;

  while (i > 0 && is_better (candidate, &g_array_index (best, Candidate, i - 1)))
    i--;
  if (i == most)
    return;
  g_array_insert_val (best, i, *candidate);
  if (best->len > most)
    g_array_set_size (best, most);
}

/* Until the map has told of it twice, a victim that is refused has time to begin what it had. */
static void
look_at_forecast (IrisdPullPlan *self, Lane *lane, const Candidate *candidate)
{
  const IrisdNodeView *node = candidate->node;
  guint64 backlog = get_backlog (lane, node);
  gboolean moved = lane->target != 0 ? node->n_begun >= lane->target : backlog < lane->backlog;

  if (candidate->worth != WAITING || lane->deadline_us == 0 || moved)
    {
      lane->lapsed = FALSE;
      lane->deadline_us = candidate->worth == WAITING ? self->now_us + 2 * IRISD_PULL_MAP_US : 0;
      lane->target = node->n_begun != 0 ? node->n_begun + backlog : 0;
      lane->backlog = backlog;
    }
  else if (self->now_us >= lane->deadline_us && !lane->lapsed)
    {
      lane->lapsed = TRUE;
      self->counts.lapsed++;
    }
}

static void
open_victim (IrisdPullPlan *self, const IrisdOwnNode *own, const Candidate *candidate)
{
  Lane *lane = find_lane (self, IRISD_LANE_SOFT, candidate->node->name);
  guint window = get_thief_window (self, own);
  guint idle = count_idle (own);

  if (lane == NULL)
    lane = add_lane (self, IRISD_LANE_SOFT, candidate->node->name, IRISD_PULL_TO_STEAL);
  look_at_forecast (self, lane, candidate);
  lane->is_chosen = TRUE;
  lane->pull.reason = IRISD_PULL_TO_STEAL;
  lane->pull.distance = candidate->distance;
  lane->min_pending = lane->lapsed ? 1 : get_threshold (self, candidate->distance, candidate->node);
  fill (lane, own->n_in_hand, window);
  lane->low = MAX (lane->low, (gint) idle - 1);
  /* Where nothing is known to be, as many as could be run at once. */
  if (candidate->worth != BEYOND)
    lane->want = MIN (lane->want, MAX (idle, 1));
}

static guint
count_hungry (const IrisdOwnNode *own, const IrisdNodeMap *map, gint64 now_us)
{
  guint n = 1;

  for (guint i = 0; i < map->n_nodes; i++)
    {
      const IrisdNodeView *node = &map->nodes[i];

      n += node->n_idle > 0 && !node->full && strcmp (node->name, own->view.name) != 0
           && irisd_node_view_get_standing (node, now_us) == IRISD_NODE_ALIVE;
    }

  return n;
}

static void
choose_victims (IrisdPullPlan *self, const IrisdOwnNode *own, const IrisdNodeMap *map)
{
  g_autoptr (GArray) best = g_array_new (FALSE, FALSE, sizeof (Candidate));
  guint n_hungry = count_hungry (own, map, self->now_us);

  for (guint i = 0; i < map->n_nodes; i++)
    {
      Candidate candidate = { .node = &map->nodes[i] };

      if (strcmp (candidate.node->name, own->view.name) == 0
          || irisd_node_view_get_standing (candidate.node, self->now_us) != IRISD_NODE_ALIVE)
        continue;
      weigh (self, own, &candidate, n_hungry);
      if (candidate.worth != LEFT_ALONE)
        insert (best, &candidate, self->rules.n_victims);
    }
  for (guint i = 0; i < best->len; i++)
    open_victim (self, own, &g_array_index (best, Candidate, i));
}

/* --- rescue ----------------------------------------------------------------------------------- */

/* Whether any living node has all services of @victim. */
static gboolean
has_replacement (const IrisdNodeMap *map, const IrisdNodeView *victim, gint64 now_us)
{
  for (guint i = 0; i < map->n_nodes; i++)
    if (irisd_node_view_get_standing (&map->nodes[i], now_us) == IRISD_NODE_ALIVE
        && irisd_node_view_can_replace (&map->nodes[i], victim))
      return TRUE;

  return FALSE;
}

/* Before @b in the line of those who rescue @victim: each node works out the same line. */
static gboolean
is_nearer (const IrisdNodeView *a, const IrisdNodeView *b, const IrisdNodeView *victim)
{
  IrisdNodeDistance to_a = irisd_node_view_get_distance (a, victim);
  IrisdNodeDistance to_b = irisd_node_view_get_distance (b, victim);

  if (to_a != to_b)
    return to_a < to_b;

  return irisd_node_lot (a->name, victim->name, 0) < irisd_node_lot (b->name, victim->name, 0);
}

/* Of nodes that replace the victim the first three; of others, if there is none that does. */
static gboolean
is_rescuer (IrisdPullPlan *self,
            const IrisdOwnNode *own,
            const IrisdNodeMap *map,
            const IrisdNodeView *victim)
{
  gboolean is_able = irisd_node_view_can_replace (&own->view, victim);
  guint before = 0;

  if (!is_able && has_replacement (map, victim, self->now_us))
    return FALSE;
  if (self->is_hungry)
    return TRUE;
  for (guint i = 0; i < map->n_nodes && before < IRISD_PULL_RESCUERS; i++)
    {
      const IrisdNodeView *node = &map->nodes[i];

      before += !node->full && strcmp (node->name, own->view.name) != 0
                && irisd_node_view_get_standing (node, self->now_us) == IRISD_NODE_ALIVE
                && irisd_node_view_can_replace (node, victim) == is_able
                && is_nearer (node, &own->view, victim);
    }

  return before < IRISD_PULL_RESCUERS;
}

static void
choose_rescues (IrisdPullPlan *self, const IrisdOwnNode *own, const IrisdNodeMap *map)
{
  guint window = irisd_pull_plan_get_window (self, &own->view);

  for (guint i = 0; i < map->n_nodes; i++)
    {
      const IrisdNodeView *node = &map->nodes[i];
      Lane *lane;

      if (irisd_node_view_get_standing (node, self->now_us) == IRISD_NODE_ALIVE
          || strcmp (node->name, own->view.name) == 0 || !is_rescuer (self, own, map, node))
        continue;
      lane = find_lane (self, IRISD_LANE_SOFT, node->name);
      if (lane == NULL)
        lane = add_lane (self, IRISD_LANE_SOFT, node->name, IRISD_PULL_TO_RESCUE);
      lane->pull.reason = IRISD_PULL_TO_RESCUE;
      lane->pull.distance = irisd_node_view_get_distance (&own->view, node);
      lane->is_chosen = TRUE;
      lane->min_pending = 0;
      lane->lapsed = FALSE;
      lane->deadline_us = 0;
      fill (lane, own->n_in_hand + own->n_queued, window);
    }
}

/* --- the plan --------------------------------------------------------------------------------- */

/* A pull is not replaced for a threshold that is a little another: each run of an item moves it. */
static gboolean
is_outdated (const Lane *lane)
{
  guint64 open = lane->pull.min_pending, now = lane->min_pending;

  return (open == 0) != (now == 0) || (open <= 1) != (now <= 1) || open > 2 * now || now > 2 * open;
}

static void
append (Lane *lane, gboolean drop, guint batch, GArray *pulls)
{
  IrisdPullChange pull = lane->pull;

  pull.drop = drop;
  pull.batch = drop ? 0 : batch;
  pull.n_open = lane->asked = drop ? 0 : lane->asked + batch;
  g_array_append_val (pulls, pull);
}

static void
emit (IrisdPullPlan *self, GArray *pulls)
{
  for (guint i = 0; i < self->lanes->len; i++)
    {
      Lane *lane = g_ptr_array_index (self->lanes, i);

      if (lane->asked > 0 && (lane->want == 0 || is_outdated (lane)))
        append (lane, TRUE, 0, pulls);
    }
  for (guint i = 0; i < self->lanes->len; i++)
    {
      Lane *lane = g_ptr_array_index (self->lanes, i);

      if (lane->want <= lane->asked || (gint) lane->asked > lane->low)
        continue;
      lane->pull.min_pending = lane->min_pending;
      append (lane, FALSE, lane->want - lane->asked, pulls);
    }
}

/* Lanes of others that were not chosen again and have nothing open. */
static void
forget_others (IrisdPullPlan *self)
{
  for (guint i = self->lanes->len; i > N_OWN; i--)
    {
      const Lane *lane = g_ptr_array_index (self->lanes, i - 1);

      if (lane->asked == 0 && !lane->is_chosen)
        g_ptr_array_remove_index (self->lanes, i - 1);
    }
}

/* Of all others, or only of those that are to be rescued. */
static void
withdraw_others (IrisdPullPlan *self, gboolean rescues_alone)
{
  for (guint i = N_OWN; i < self->lanes->len; i++)
    {
      Lane *lane = g_ptr_array_index (self->lanes, i);

      if (rescues_alone && lane->pull.reason != IRISD_PULL_TO_RESCUE)
        continue;
      lane->want = 0;
      lane->is_chosen = FALSE;
    }
}

/* Between two choices only what is in hand has changed. */
static void
refill_others (IrisdPullPlan *self, const IrisdOwnNode *own)
{
  guint window = irisd_pull_plan_get_window (self, &own->view);
  guint thief_window = get_thief_window (self, own);
  gint idle = (gint) count_idle (own);

  for (guint i = N_OWN; i < self->lanes->len; i++)
    {
      Lane *lane = g_ptr_array_index (self->lanes, i);
      gboolean is_beyond = lane->heard_us != 0 && lane->heard_pending >= lane->min_pending;

      if (!lane->is_chosen || (lane->pull.reason == IRISD_PULL_TO_STEAL && own->n_queued > 0))
        lane->want = 0;
      else if (lane->pull.reason == IRISD_PULL_TO_RESCUE)
        fill (lane, own->n_in_hand + own->n_queued, window);
      else
        {
          fill (lane, own->n_in_hand, thief_window);
          lane->low = self->is_hungry ? MAX (lane->low, idle - 1) : -1;
          if (!is_beyond)
            lane->want = MIN (lane->want, (guint) MAX (idle, (gint) lane->asked));
        }
    }
}

/* Whether it has nothing to do with others: full, draining, without workers, or cut off. */
static gboolean
keeps_to_itself (const IrisdPullPlan *self, const IrisdOwnNode *own)
{
  return self->at_limit || own->view.draining || own->view.n_workers == 0
         || self->now_us - own->view.seen_us > IRISD_NODE_LIFE_US;
}

static void
plan_others (IrisdPullPlan *self, const IrisdOwnNode *own, const IrisdNodeMap *map)
{
  gboolean is_new = map->serial != self->serial;
  gboolean is_time = self->looked_us == 0 || self->now_us - self->looked_us >= LOOK_US;

  self->is_hungry = find_hunger (self, own);
  if (keeps_to_itself (self, own))
    {
      withdraw_others (self, FALSE);
      self->looked_us = 0;
      return;
    }
  refill_others (self, own);
  if (!is_time || (!is_new && !self->is_hungry))
    return;
  self->serial = map->serial;
  self->looked_us = self->now_us;
  /* A node that is not hungry any more finishes what it has open, if that is not too much for it.
   */
  withdraw_others (self, !self->is_hungry);
  choose_rescues (self, own, map);
  if (self->is_hungry && self->rules.n_victims > 0)
    choose_victims (self, own, map);
}

void
irisd_pull_plan_make (IrisdPullPlan *self,
                      const IrisdOwnNode *own,
                      const IrisdNodeMap *map,
                      gint64 now_us,
                      GArray *pulls)
{
  if (self->lanes->len == 0)
    {
      add_lane (self, IRISD_LANE_SOFT, own->view.name, IRISD_PULL_FOR_OWN);
      add_lane (self, IRISD_LANE_STRICT, own->view.name, IRISD_PULL_FOR_OWN);
      add_lane (self, IRISD_LANE_ANY, NULL, IRISD_PULL_FOR_OWN);
    }
  self->now_us = now_us;
  forget_others (self);
  look_at_limits (self, own);
  plan_own (self, own);
  plan_others (self, own, map);
  emit (self, pulls);
}

gint64
irisd_pull_plan_get_next (const IrisdPullPlan *self, gint64 now_us)
{
  return now_us + (self->is_hungry ? LOOK_US : IRISD_PULL_ROUND_US);
}

/* --- what happened ---------------------------------------------------------------------------- */

void
irisd_pull_plan_note_delivered (IrisdPullPlan *self,
                                IrisdLaneKind consumer,
                                const char *node,
                                guint n,
                                guint64 n_pending)
{
  Lane *lane = find_lane (self, consumer, node);

  if (lane == NULL)
    return;
  lane->asked -= MIN (lane->asked, n);
  lane->heard_pending = n_pending;
  lane->heard_us = self->now_us;
  if (lane->pull.reason == IRISD_PULL_TO_RESCUE)
    self->counts.n_rescued += n;
  if (lane->pull.reason != IRISD_PULL_TO_STEAL)
    return;
  self->counts.looks[IRIS_STEAL_VERDICT_TAKEN]++;
  self->counts.n_stolen[lane->pull.distance] += n;
}

void
irisd_pull_plan_note_ended (IrisdPullPlan *self,
                            IrisdLaneKind consumer,
                            const char *node,
                            guint n_left)
{
  Lane *lane = find_lane (self, consumer, node);

  if (lane != NULL)
    lane->asked -= MIN (lane->asked, n_left);
}

void
irisd_pull_plan_forget_pulls (IrisdPullPlan *self)
{
  for (guint i = 0; i < self->lanes->len; i++)
    ((Lane *) g_ptr_array_index (self->lanes, i))->asked = 0;
}

const IrisdPullCounts *
irisd_pull_plan_get_counts (const IrisdPullPlan *self)
{
  return &self->counts;
}
