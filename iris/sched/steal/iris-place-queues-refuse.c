/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: what an idle worker refuses to take from another place. The rule, and why nothing
 * starves by it, are in iris-place-queues-refuse-private.h.
 */
#include "iris/sched/steal/iris-place-queues-private.h"

/* What firmware calls the distance of a memory node to itself. */
#define LOCAL_DISTANCE 10

/* What a place has, at a glance. */
typedef struct
{
  guint64 n_waiting;
  guint64 n_begun;
  gdouble drain_ns; /* negative: not known */
} Backlog;

static void
weigh_backlog (IrisWorkerPool *pool, guint place, Backlog *backlog)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *queue = &queues->queues[place];
  uint64_t word = atomic_load_explicit (&pool->parking_lot.places[place].word,
                                        memory_order_relaxed);
  guint n_awake = queue->n_workers - MIN (iris_parking_lot_n_sleeping (word), queue->n_workers);
  gdouble sum = 0;
  guint n_known = 0;

  backlog->n_begun = 0;
  for (guint i = 0; i < queue->n_workers; i++)
    {
      IrisWorkerCounters *counters = &pool->workers[queue->first_worker + i].counters;
      guint64 mean = iris_counter_get (&counters->mean_run_ns);

      backlog->n_begun += iris_counter_get (&counters->executed);
      sum += (gdouble) mean;
      n_known += mean != 0;
    }
  backlog->drain_ns = n_known == 0 || n_awake == 0
                          ? -1
                          : sum / n_known * (gdouble) backlog->n_waiting / n_awake;
}

/* How long it takes to read what an item at @queue declares, from @distance away. */
static gdouble
size_cost (const IrisStealRules *rules, IrisPlaceQueue *queue, guint64 n, guint distance)
{
  gdouble bytes = (gdouble) iris_counter_get (&queue->footprint.waiting);
  gdouble factor = MAX (1.0, distance / (gdouble) LOCAL_DISTANCE);

  return bytes / (gdouble) MAX (n, 1) * 1000 / (gdouble) rules->bandwidth * factor;
}

/* The first of the reasons without which the place would be refused all the same. */
static IrisStealVerdict
choose_verdict (const IrisStealRules *rules, guint distance, gdouble drain_ns, gdouble size_ns)
{
  gdouble step = (gdouble) rules->move_ns;

  if (drain_ns < 0 || drain_ns >= step * distance + size_ns)
    return IRIS_STEAL_VERDICT_TAKEN;
  if (drain_ns < step)
    return IRIS_STEAL_VERDICT_BACKLOG;

  return drain_ns < step * distance ? IRIS_STEAL_VERDICT_DISTANCE : IRIS_STEAL_VERDICT_SIZE;
}

/* Whether to wait for the place for now; @cost_ns is what the move would cost. */
static bool
wait_for_it (const IrisStealRules *rules, IrisPlaceQueue *victim, Backlog *backlog, gdouble cost_ns)
{
  IrisForecast *forecast = &victim->forecast;
  guint64 now = iris_clock_ns ();
  uint64_t since = atomic_load_explicit (&forecast->since, memory_order_relaxed);
  guint64 wait_ns = (guint64) MIN (cost_ns, (gdouble) rules->max_delay_ns);

  if (since == 0
      && atomic_compare_exchange_strong_explicit (&forecast->since, &since, now,
                                                  memory_order_relaxed, memory_order_relaxed))
    since = now;
  if ((gint64) (now - since) >= (gint64) rules->max_delay_ns)
    return false;

  if (backlog->n_begun < atomic_load_explicit (&forecast->target, memory_order_relaxed))
    return now < atomic_load_explicit (&forecast->deadline, memory_order_relaxed);

  atomic_store_explicit (&forecast->deadline, now + wait_ns, memory_order_relaxed);
  atomic_store_explicit (&forecast->target, backlog->n_begun + backlog->n_waiting,
                         memory_order_relaxed);

  return true;
}

/* Nothing of the place is refused any more. */
static void
forget_refusals (IrisPlaceQueue *victim)
{
  if (atomic_load_explicit (&victim->forecast.since, memory_order_relaxed) != 0)
    atomic_store_explicit (&victim->forecast.since, 0, memory_order_relaxed);
}

IrisStealVerdict
iris_place_queues_judge (IrisWorkerPool *pool, IrisWorker *self, guint place, guint64 in_deques)
{
  IrisPlaceQueues *queues = pool->owner;
  const IrisStealRules *rules = &queues->rules;
  IrisPlaceQueue *victim = &queues->queues[place];
  Backlog backlog;
  IrisStealVerdict verdict;
  gdouble size_ns;
  guint distance;

  backlog.n_waiting = in_deques + iris_ring_core_get_length (&victim->inbox);
  if (backlog.n_waiting == 0)
    {
      forget_refusals (victim);
      return IRIS_STEAL_VERDICT_EMPTY;
    }
  if (!rules->refuses)
    return IRIS_STEAL_VERDICT_TAKEN;

  weigh_backlog (pool, place, &backlog);
  distance = iris_places_get_distance (queues->places, self->place, place);
  size_ns = size_cost (rules, victim, backlog.n_waiting, distance);
  verdict = choose_verdict (rules, distance, backlog.drain_ns, size_ns);
  if (verdict == IRIS_STEAL_VERDICT_TAKEN
      || wait_for_it (rules, victim, &backlog, (gdouble) rules->move_ns * distance + size_ns))
    return verdict;

  return IRIS_STEAL_VERDICT_TAKEN;
}

/* Something was taken from @place. */
void
iris_place_queues_note_success (IrisWorkerPool *pool, IrisWorker *self, guint place)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *victim = &queues->queues[place];

  if (atomic_load_explicit (&victim->forecast.since, memory_order_relaxed) == 0)
    return;
  iris_counter_add (&self->counters.refusals_lapsed, 1);
  forget_refusals (victim);
}

/* Whether @self leaves the inbox of @place alone to keep items apart. */
bool
iris_place_queues_keeps_apart (IrisWorkerPool *pool, IrisWorker *self, guint place)
{
  IrisPlaceQueues *queues = pool->owner;
  const IrisStealRules *rules = &queues->rules;
  IrisPlaceQueue *victim = &queues->queues[place];
  IrisFootprint *home = &queues->queues[self->place].footprint;
  guint64 n_apart = iris_counter_get (&victim->footprint.apart_waiting);
  Backlog backlog;
  guint distance;

  if (iris_likely (n_apart == 0) || !rules->refuses
      || (iris_counter_get (&home->apart_running) == 0
          && iris_counter_get (&home->apart_waiting) == 0))
    return false;

  backlog.n_waiting = n_apart;
  weigh_backlog (pool, place, &backlog);
  distance = iris_places_get_distance (queues->places, self->place, place);

  return wait_for_it (rules, victim, &backlog, size_cost (rules, victim, n_apart, distance));
}

static void
count_verdict (IrisWorker *self, IrisStealVerdict verdict)
{
  IrisWorkerCounters *counters = &self->counters;

  iris_counter_add (&counters->steal_tries, 1);
  switch (verdict)
    {
    case IRIS_STEAL_VERDICT_EMPTY:
      iris_counter_add (&counters->steal_empties, 1);
      break;
    case IRIS_STEAL_VERDICT_BACKLOG:
      iris_counter_add (&counters->refused_backlog, 1);
      break;
    case IRIS_STEAL_VERDICT_SIZE:
      iris_counter_add (&counters->refused_size, 1);
      break;
    case IRIS_STEAL_VERDICT_DISTANCE:
      iris_counter_add (&counters->refused_distance, 1);
      break;
    case IRIS_STEAL_VERDICT_APART:
      iris_counter_add (&counters->refused_apart, 1);
      break;
    default:
      break;
    }
}

bool
iris_place_queues_may_steal (IrisWorkerPool *pool, IrisWorker *self, guint place, guint64 in_deques)
{
  IrisStealVerdict verdict = iris_place_queues_judge (pool, self, place, in_deques);

  if (verdict == IRIS_STEAL_VERDICT_TAKEN)
    return true;
  count_verdict (self, verdict);

  return false;
}

bool
iris_place_queues_may_steal_from_inbox (IrisWorkerPool *pool, IrisWorker *self, guint place)
{
  if (iris_likely (!iris_place_queues_keeps_apart (pool, self, place)))
    return true;
  count_verdict (self, IRIS_STEAL_VERDICT_APART);

  return false;
}
