/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pull plan: from which consumers this node asks for items now, how many, and from which
 * backlog on. One thread has it. The caller tells what came and what ended, asks for the changes,
 * and carries them out; the plan knows which of its pulls are open.
 *
 * Own lanes. A node pulls from its own soft and strict consumers and from ANY. A pull ahead hides
 * the way to the engine; what is pulled ahead cannot be stolen. Measured with an owner of 4 workers
 * and items of 5 ms: a window of 2 per worker adds 0.2-1 s of waiting under load, one of 8 10-45
 * ms. So the window is 40 ms of work, as in that measurement, asked again at half; 2 per worker at
 * least, one that runs and one behind it; no more than that either before the first of them has
 * run. Of items so short that 40 ms are more than 8 per worker it is 256 in all, or those 8, if
 * that is more: what has to be hidden is the way to the engine, which is the same for any number of
 * workers, and each request and each ack of few items costs the engine a round of its replicas.
 * Each of the three lanes asks for what is missing in the window, since which of them has items is
 * not known; when the window is full, the pull from ANY is withdrawn and the other two have at most
 * asked for one window each. Local items that wait count against ANY alone: no local load keeps the
 * node's own hinted items away.
 *
 * Stealing. A node is hungry if a worker idles, or if what is in hand lasts shorter than a move and
 * none but the cluster's items keep it busy. It asks for as much work at a time as an owner has
 * ahead, but for no more long items than it has workers: with two moves of work, 4 items, thieves
 * waited for the engine, which synced 1.4 times as often. A hungry node waits at 3 victims at most,
 * because each message of a consumer walks past all pulls that wait there (an owner got 13.7k/s
 * beside 0-100 of them, 7.4k/s beside 500). The threshold is irisd-move-cost.h's and stands
 * in the pull itself (overflow, min_pending), so a pull may be open before there is a backlog: the
 * engine gives once there is one, without a look at the map, which is 3 s old. Victims whose
 * backlog is known to be beyond the threshold come first, then busy ones, then idle ones; among
 * these the nearest, among equally near ones by lot. If more nodes are hungry than the excess of a
 * victim feeds, as many go there as it feeds, by lot, and never more than 100 of those who wait; a
 * new lot is drawn each second.
 *
 * Refused, and counted as on one machine (IrisStealVerdict): a backlog below what the nearest move
 * costs, below what this distance costs, below what the size of its bodies costs. APART: the victim
 * has a service that is not here, so what is taken might not be run. LOST: others were drawn.
 *
 * A refusal is a forecast, here too: if the victim has not begun what it had by the time that the
 * map tells of it twice, its pull gets a threshold of 1, until it moves. So the item behind a
 * worker that hangs waits for some seconds, not for ever (ski rental; with the period of the map as
 * the least cost of looking).
 *
 * Strict items are in consumers of their own, which are in no pull of a thief or rescuer.
 *
 * Rescue. The engine holds redeliveries below the threshold back, too: the one item of a dead owner
 * was not given to a thief with min_pending 2. So a node that has gone, drains or was removed is
 * pulled from without a threshold: by the three nearest living nodes whether they are busy or not,
 * in their window, and by every hungry node.
 *
 * Own limits. While disk or memory is at a limit, and until it is below 7/8 of it, the node takes
 * nothing from others or from ANY, and of its own lanes no more than it has idle workers. A
 * draining node, and one whose own entry of the map is not confirmed any more (it is cut off), asks
 * for nothing from others.
 *
 * Figures: three servers of 2.15 on one machine, R3, as in doc/guide/cluster.md.
 */
#pragma once

#include "daemon/cluster/policy/irisd-move-cost.h"

#include <iris/iris.h>

G_BEGIN_DECLS

#define IRISD_PULL_WINDOW       128
#define IRISD_PULL_USUAL        8
#define IRISD_PULL_DEEP         256
#define IRISD_PULL_LEAST_WINDOW 2
#define IRISD_PULL_AHEAD_NS     G_GUINT64_CONSTANT (40000000)
#define IRISD_PULL_SHORT_NS     G_GUINT64_CONSTANT (4000000)
#define IRISD_PULL_FAR_AHEAD_NS G_GUINT64_CONSTANT (100000000)
#define IRISD_PULL_VICTIMS      3
#define IRISD_PULL_RESCUERS     3
#define IRISD_PULL_MOST_WAITING 100
#define IRISD_PULL_ROUND_US     G_USEC_PER_SEC
#define IRISD_PULL_MAP_US       (3 * G_USEC_PER_SEC)
#define IRISD_N_STEAL_VERDICTS  (IRIS_STEAL_VERDICT_APART + 1)

typedef enum
{
  IRISD_LANE_SOFT,
  IRISD_LANE_STRICT,
  IRISD_LANE_ANY,
} IrisdLaneKind;

typedef enum
{
  IRISD_PULL_FOR_OWN, /* the own soft and strict consumers, and ANY: no threshold */
  IRISD_PULL_TO_STEAL,
  IRISD_PULL_TO_RESCUE, /* no threshold */
} IrisdPullReason;

/* One change: a pull to open beside those that are open there, or all of that consumer to withdraw.
 */
typedef struct
{
  IrisdLaneKind consumer;
  const char *node; /* whose; NULL with ANY. Valid until the next change is asked for */
  IrisdPullReason reason;
  IrisdNodeDistance distance;
  gboolean drop; /* withdraw */
  guint batch;
  guint n_open;        /* that are asked for there with this one, and have not come */
  guint64 min_pending; /* 0: none */
} IrisdPullChange;

typedef struct
{
  guint window;      /* most items per worker in hand and under way */
  guint n_victims;   /* 0: no stealing */
  guint64 threshold; /* 0: from what moves cost */
} IrisdPullRules;

#define IRISD_PULL_RULES_DEFAULT             \
  {                                          \
    IRISD_PULL_WINDOW, IRISD_PULL_VICTIMS, 0 \
  }

typedef struct
{
  guint64 looks[IRISD_N_STEAL_VERDICTS]; /* at victims, by how they ended */
  guint64 lapsed;                        /* refusals that ended because the victim stood still */
  guint64 at_limit;                      /* plans made while disk or memory was at a limit */
  guint64 n_stolen[IRISD_N_NODE_DISTANCES];
  guint64 n_rescued;
} IrisdPullCounts;

typedef struct _IrisdPullPlan IrisdPullPlan;

IrisdPullPlan *irisd_pull_plan_new (const IrisdPullRules *rules);
void irisd_pull_plan_free (IrisdPullPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdPullPlan, irisd_pull_plan_free)

/* Appends what has to change now to @pulls, of IrisdPullChange: first what to withdraw, then what
 * to ask for. */
void irisd_pull_plan_make (IrisdPullPlan *self,
                           const IrisdOwnNode *own,
                           const IrisdNodeMap *map,
                           gint64 now_us,
                           GArray *pulls);
/* When to make a plan again, although nothing happened. */
gint64 irisd_pull_plan_get_next (const IrisdPullPlan *self, gint64 now_us);

/* @n messages came from a consumer, in which @n_pending were left then. */
void irisd_pull_plan_note_delivered (IrisdPullPlan *self,
                                     IrisdLaneKind consumer,
                                     const char *node,
                                     guint n,
                                     guint64 n_pending);
/* A pull ended, or was refused, with @n_left of its batch not delivered. */
void irisd_pull_plan_note_ended (IrisdPullPlan *self,
                                 IrisdLaneKind consumer,
                                 const char *node,
                                 guint n_left);
/* All pulls are gone: the connection was. */
void irisd_pull_plan_forget_pulls (IrisdPullPlan *self);

const IrisdPullCounts *irisd_pull_plan_get_counts (const IrisdPullPlan *self);
/* Items that the node may have in hand and under way. */
guint irisd_pull_plan_get_window (const IrisdPullPlan *self, const IrisdNodeView *own);

G_END_DECLS
