/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A simulation of many nodes, event by event.
 *
 * Real is the policy: each node has an IrisdPullPlan of its own, tells it what came and what ended,
 * and does what it says. Simulated are
 *
 *   the engine   one for each cell: a server that does one thing at a time, in turn storing an
 * item, delivering one, storing an end, taking a pull. A consumer gives a message to its pulls in
 * turn, past those whose threshold is above what waits (overflow). the node     its workers, what
 * it has in hand, and its entry of the map, renewed each 3 s the network  a delay by kind of
 * message
 *
 * An item that does not run at its hinted node takes longer, for what it works on is read from
 * there. A node that dies takes what it has in hand with it; the engine delivers that again when
 * the lease is over, and what it had not pulled is there for rescuers once its entry is too old. It
 * is back later, empty.
 *
 * Not simulated: losses, clocks, the disk, elections, the limit of pulls that wait at one consumer
 * (512: a cell is smaller), unequal machines.
 */
#include "tests/bench/nodes/nodes.h"

#include "iris/base/iris-random-private.h"
#include "tests/bench/nodes/nodes-heap.h"

#include <string.h>

#define NONE     G_MAXUINT32
#define US       1000
#define BEGIN_NS (100 * G_GINT64_CONSTANT (1000000000)) /* the nodes have come up */
#define FIRST_NS (BEGIN_NS + G_GINT64_CONSTANT (1000000000))
#define LAST_NS  (FIRST_NS + G_GINT64_CONSTANT (1000000000) * 1000000)
/* An open pull: a heartbeat each 5 s, and each 30 s its end and the next. */
#define IDLE_MESSAGES(us) ((us) / 5e6 + 2 * (us) / 30e6)

enum
{
  SUBMIT,
  ENGINE,
  ARRIVE,
  RUN_END,
  PULL,
  MAP,
  PLAN,
  DIE,
  BACK,
  AGAIN,
};

/* What the engine does next; in turn. */
enum
{
  DO_PUBLISH,
  DO_END,
  DO_PULL,
  DO_DELIVER,
  N_DO,
};

typedef struct
{
  NodesRing queues[N_DO]; /* items, items, requests, consumers */
  guint turn;
  gboolean is_busy;
  guint doing;
  guint32 what;
  IrisdNodeMap map;
  IrisdNodeView *nodes;
} Cell;

typedef struct
{
  NodesRing items;
  GArray *pulls; /* of requests */
  guint turn;
  gboolean is_ready; /* in the queue of its cell */
} Consumer;

typedef struct
{
  guint32 consumer, node, left;
  guint64 min_pending;
  gboolean drop;
} Request;

typedef struct
{
  IrisdPullPlan *plan;
  IrisdNodeView view;
  NodesRing in_hand;
  guint n_running;
  guint n_pulls;
  gint64 plan_ns; /* when the next look is due */
  gboolean is_dead;
} Node;

typedef struct
{
  const NodesSetup *setup;
  NodesOutcome *outcome;
  NodesHeap heap;
  gint64 now_ns;
  NodesItem *items;
  guint n_items, n_submitted, n_ended;
  guint in_cell, n_cells;
  Cell *cells;
  Node *nodes;
  Consumer *consumers; /* soft ones by node, then ANY by cell */
  GArray *requests, *unused;
  GArray *pulls; /* of a plan */
  IrisRandom random;
} World;

static gint64
cost_ns (const World *self, NodesCost cost)
{
  return (gint64) (self->setup->costs->values[cost] * US);
}

static void
in (World *self, gint64 ns, guint32 kind, guint32 a, guint32 b)
{
  nodes_heap_push (&self->heap, self->now_ns + ns, kind, a, b);
}

static Cell *
cell_of_node (World *self, guint32 node)
{
  return &self->cells[node / self->in_cell];
}

static guint32
cell_of_consumer (const World *self, guint32 consumer)
{
  return consumer < self->setup->n_nodes ? consumer / self->in_cell
                                         : consumer - self->setup->n_nodes;
}

/* --- the engine ------------------------------------------------------------------------------- */

#define REQUEST(i) (&g_array_index (self->requests, Request, i))

/* Begins what is next, if it does nothing. */
static void begin_next (World *self, guint32 cell);

static void
hand_in (World *self, guint32 cell, guint what, guint32 value)
{
  nodes_ring_push (&self->cells[cell].queues[what], value);
  begin_next (self, cell);
}

/* The next pull in turn that may be given a message; NONE if there is none. */
static guint
find_taker (World *self, const Consumer *consumer)
{
  guint n = consumer->pulls->len;

  for (guint i = 0; i < n && consumer->items.length > 0; i++)
    {
      guint nth = (consumer->turn + i) % n;

      if (REQUEST (g_array_index (consumer->pulls, guint32, nth))->min_pending
          <= consumer->items.length)
        return nth;
    }

  return NONE;
}

static void
look_at (World *self, guint32 number)
{
  Consumer *consumer = &self->consumers[number];

  if (consumer->is_ready || find_taker (self, consumer) == NONE)
    return;
  consumer->is_ready = TRUE;
  hand_in (self, cell_of_consumer (self, number), DO_DELIVER, number);
}

static void
end_request (World *self, Consumer *consumer, guint nth)
{
  guint32 number = g_array_index (consumer->pulls, guint32, nth);

  self->nodes[REQUEST (number)->node].n_pulls--;
  g_array_append_val (self->unused, number);
  g_array_remove_index (consumer->pulls, nth);
}

static void
do_pull (World *self, guint32 number)
{
  Request *request = REQUEST (number);
  guint32 of = request->consumer;
  Consumer *consumer = &self->consumers[of];

  self->outcome->messages++;
  if (self->nodes[request->node].is_dead || request->drop)
    {
      for (guint i = consumer->pulls->len; request->drop && i > 0; i--)
        if (REQUEST (g_array_index (consumer->pulls, guint32, i - 1))->node == request->node)
          end_request (self, consumer, i - 1);
      g_array_append_val (self->unused, number);
      return;
    }
  self->nodes[request->node].n_pulls++;
  g_array_append_val (consumer->pulls, number);
  look_at (self, of);
}

/* What the engine was doing is done. */
static void
do_deliver (World *self, guint32 number)
{
  Consumer *consumer = &self->consumers[number];
  guint nth = find_taker (self, consumer);
  Request *request;
  NodesItem *item;
  guint32 what;

  consumer->is_ready = FALSE;
  if (nth == NONE)
    return;
  request = REQUEST (g_array_index (consumer->pulls, guint32, nth));
  what = nodes_ring_pop (&consumer->items);
  item = &self->items[what];
  item->node = request->node;
  item->consumer = number;
  self->outcome->messages++;
  in (self, cost_ns (self, NODES_COST_way_deliver), ARRIVE, what, consumer->items.length);
  consumer->turn = nth + 1;
  if (--request->left == 0)
    {
      end_request (self, consumer, nth);
      consumer->turn = nth;
    }
  look_at (self, number);
}

static void
do_publish (World *self, guint32 what)
{
  guint32 target = self->items[what].target;
  guint32 number = self->setup->way == NODES_CENTRAL ? self->setup->n_nodes : target;

  self->outcome->messages += 2;
  nodes_ring_push (&self->consumers[number].items, what);
  look_at (self, number);
}

/* The end and its answer, the ack and its answer, the hint to the home node through the engine. */
static void
do_end (World *self, guint32 what)
{
  self->outcome->messages += 6;
  self->items[what].ended_ns = self->now_ns + cost_ns (self, NODES_COST_way_end);
  self->n_ended++;
}

static gint64
get_cost (const World *self, guint doing, guint32 what)
{
  static const NodesCost costs[N_DO] = { NODES_COST_publish, NODES_COST_end, NODES_COST_pull,
                                         NODES_COST_deliver };
  gint64 ns = cost_ns (self, costs[doing]);
  gdouble waiting;

  if (doing == DO_END)
    ns += cost_ns (self, NODES_COST_ack);
  if (doing != DO_DELIVER)
    return ns;
  waiting = self->consumers[what].pulls->len - self->setup->costs->values[NODES_COST_walk_free];
  /* Only groups are walked past. */
  if (what < self->setup->n_nodes && waiting > 0)
    ns += (gint64) (waiting * self->setup->costs->values[NODES_COST_walk] * US);

  return ns;
}

static void
begin_next (World *self, guint32 number)
{
  Cell *cell = &self->cells[number];

  for (guint i = 0; i < N_DO && !cell->is_busy; i++)
    {
      cell->turn = (cell->turn + 1) % N_DO;
      if (cell->queues[cell->turn].length == 0)
        continue;
      cell->is_busy = TRUE;
      cell->doing = cell->turn;
      cell->what = nodes_ring_pop (&cell->queues[cell->turn]);
      in (self, get_cost (self, cell->doing, cell->what), ENGINE, number, 0);
    }
}

static void
go_on (World *self, guint32 number)
{
  static void (*const functions[N_DO]) (World *, guint32) = { do_publish, do_end, do_pull,
                                                              do_deliver };
  Cell *cell = &self->cells[number];

  functions[cell->doing](self, cell->what);
  cell->is_busy = FALSE;
  begin_next (self, number);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void
ask (World *self, guint32 node, const IrisdPullChange *pull)
{
  Request request = {
    .node = node, .left = pull->batch, .min_pending = pull->min_pending, .drop = pull->drop
  };
  guint32 number = self->requests->len;

  /* Nothing is strict here. */
  if (pull->consumer == IRISD_LANE_STRICT)
    return;
  if (pull->consumer == IRISD_LANE_ANY)
    request.consumer = self->setup->n_nodes + node / self->in_cell;
  else /* names are "n" and the number */
    request.consumer = (guint32) g_ascii_strtoull (pull->node + 1, NULL, 10);
  if (self->unused->len > 0)
    {
      number = g_array_index (self->unused, guint32, self->unused->len - 1);
      g_array_set_size (self->unused, self->unused->len - 1);
      *REQUEST (number) = request;
    }
  else
    g_array_append_val (self->requests, request);
  in (self, cost_ns (self, NODES_COST_way_pull), PULL, number, 0);
}

static void
plan (World *self, guint32 number)
{
  /* Without others in the map there is nothing to steal and no one to rescue. */
  static const IrisdNodeMap no_others = { NULL, 0, 1 };
  gboolean steals = self->setup->way == NODES_STEALING;
  Node *node = &self->nodes[number];
  IrisdOwnNode own = { .view = node->view,
                       .n_running = node->n_running,
                       .n_in_hand = node->n_running + node->in_hand.length };

  own.view.n_idle = node->view.n_workers - node->n_running;
  g_array_set_size (self->pulls, 0);
  irisd_pull_plan_make (node->plan, &own, steals ? &cell_of_node (self, number)->map : &no_others,
                        self->now_ns / US, self->pulls);
  for (guint i = 0; i < self->pulls->len; i++)
    ask (self, number, &g_array_index (self->pulls, IrisdPullChange, i));
}

static void
plan_again (World *self, guint32 number)
{
  Node *node = &self->nodes[number];

  if (node->is_dead || self->now_ns < node->plan_ns)
    return;
  plan (self, number);
  node->plan_ns = irisd_pull_plan_get_next (node->plan, self->now_ns / US) * US;
  in (self, node->plan_ns - self->now_ns, PLAN, number, 0);
}

static gint64
fetch_ns (const World *self, const Node *node, guint32 target)
{
  static const NodesCost costs[] = { 0, NODES_COST_fetch_rack, NODES_COST_fetch_zone,
                                     NODES_COST_fetch_far };
  IrisdNodeDistance distance = irisd_node_view_get_distance (&node->view,
                                                             &self->nodes[target].view);

  return distance == IRISD_NODE_SELF ? 0 : cost_ns (self, costs[distance]);
}

static void
start (World *self, guint32 number)
{
  Node *node = &self->nodes[number];

  while (node->n_running < node->view.n_workers && node->in_hand.length > 0)
    {
      guint32 what = nodes_ring_pop (&node->in_hand);
      NodesItem *item = &self->items[what];
      gint64 ns = item->run_ns + fetch_ns (self, node, item->target);

      node->n_running++;
      node->view.n_begun++;
      in (self, ns, RUN_END, what, number);
    }
}

/* Puts its entry into the map, which all nodes of the cell watch. */
static void
tell (World *self, guint32 number, guint64 backlog)
{
  Cell *cell = cell_of_node (self, number);
  IrisdNodeView *entry = &cell->nodes[number % self->in_cell];
  Node *node = &self->nodes[number];

  *entry = node->view;
  entry->n_idle = node->view.n_workers - node->n_running;
  entry->backlog = backlog;
  entry->seen_us = node->view.seen_us = self->now_ns / US;
  cell->map.serial++;
  if (self->setup->way == NODES_STEALING)
    self->outcome->map_messages += 2 + (gdouble) cell->map.n_nodes;
}

/* What waits at its own consumer it reads from each message of it. */
static void
tell_news (World *self, guint32 number, guint64 backlog)
{
  const IrisdNodeView *told = &cell_of_node (self, number)->nodes[number % self->in_cell];
  IrisdNodeView now = self->nodes[number].view;

  now.backlog = backlog;
  if (self->setup->way == NODES_STEALING && irisd_node_view_is_news (&now, told, self->now_ns / US))
    tell (self, number, backlog);
}

static void
arrive (World *self, guint32 what, guint32 n_pending)
{
  NodesItem *item = &self->items[what];
  guint32 number = item->node, from = item->consumer;
  Node *node;

  /* It died while this was on its way. */
  if (number == NONE)
    return;
  node = &self->nodes[number];
  nodes_ring_push (&node->in_hand, what);
  if (from >= self->setup->n_nodes)
    irisd_pull_plan_note_delivered (node->plan, IRISD_LANE_ANY, NULL, 1, n_pending);
  else
    irisd_pull_plan_note_delivered (node->plan, IRISD_LANE_SOFT, self->nodes[from].view.name, 1,
                                    n_pending);
  if (from == number)
    tell_news (self, number, n_pending);
  start (self, number);
  plan (self, number);
}

static void
end_run (World *self, guint32 what, guint32 number)
{
  Node *node = &self->nodes[number];
  NodesItem *item = &self->items[what];
  guint64 ran_ns = (guint64) item->run_ns, mean_ns = node->view.mean_run_ns;

  if (item->node != number)
    return;
  /* Its end is on the way: if the node dies now, the item does not come again. */
  item->node = NONE;
  node->n_running--;
  node->view.mean_run_ns = mean_ns == 0 ? ran_ns : mean_ns - mean_ns / 8 + ran_ns / 8;
  /* Each third of the lease it was extended. */
  const guint64 n_extensions = 3 * item->run_ns / cost_ns (self, NODES_COST_lease);
  self->outcome->messages += (gdouble) n_extensions;
  hand_in (self, number / self->in_cell, DO_END, what);
  start (self, number);
  plan (self, number);
}

static void
renew (World *self, guint32 number)
{
  Node *node = &self->nodes[number];

  if (node->is_dead)
    return;
  tell (self, number, self->consumers[number].items.length);
  self->outcome->messages += node->n_pulls
                             * IDLE_MESSAGES (self->setup->costs->values[NODES_COST_map]);
  in (self, cost_ns (self, NODES_COST_map), MAP, number, 0);
  plan (self, number);
}

/* --- submissions, and a death ----------------------------------------------------------------- */

static void
submit (World *self)
{
  while (self->n_submitted < self->n_items
         && FIRST_NS + self->items[self->n_submitted].submitted_ns <= self->now_ns)
    {
      guint32 what = self->n_submitted++;

      hand_in (self,
               self->setup->way == NODES_CENTRAL ? 0 : self->items[what].target / self->in_cell,
               DO_PUBLISH, what);
    }
  if (self->n_submitted < self->n_items)
    in (self, FIRST_NS + self->items[self->n_submitted].submitted_ns - self->now_ns, SUBMIT, 0, 0);
}

static void
count (World *self, Node *node)
{
  const IrisdPullCounts *counts = irisd_pull_plan_get_counts (node->plan);

  for (guint i = 0; i < IRISD_N_NODE_DISTANCES; i++)
    self->outcome->n_stolen[i] += counts->n_stolen[i];
  for (guint i = 0; i < IRISD_N_STEAL_VERDICTS; i++)
    self->outcome->looks[i] += counts->looks[i];
  self->outcome->n_rescued += counts->n_rescued;
}

static void
die (World *self, guint32 number)
{
  Node *node = &self->nodes[number];

  node->is_dead = TRUE;
  for (guint i = 0; i < self->setup->n_nodes + self->n_cells; i++)
    for (guint j = self->consumers[i].pulls->len; j > 0; j--)
      if (REQUEST (g_array_index (self->consumers[i].pulls, guint32, j - 1))->node == number)
        end_request (self, &self->consumers[i], j - 1);
  for (guint i = 0; i < self->n_submitted; i++)
    if (self->items[i].node == number && self->items[i].ended_ns == 0)
      {
        self->items[i].node = NONE;
        in (self, cost_ns (self, NODES_COST_lease), AGAIN, i, 0);
      }
  node->n_running = 0;
  node->in_hand.length = 0;
  in (self, cost_ns (self, NODES_COST_back), BACK, number, 0);
}

static void
deliver_again (World *self, guint32 what)
{
  self->outcome->n_again++;
  nodes_ring_push (&self->consumers[self->items[what].consumer].items, what);
  look_at (self, self->items[what].consumer);
}

static IrisdPullPlan *
make_plan (const World *self)
{
  IrisdPullRules rules = IRISD_PULL_RULES_DEFAULT;

  if (self->setup->way != NODES_STEALING)
    rules.n_victims = 0;

  return irisd_pull_plan_new (&rules);
}

static void
come_back (World *self, guint32 number)
{
  Node *node = &self->nodes[number];

  count (self, node);
  irisd_pull_plan_free (node->plan);
  node->plan = make_plan (self);
  node->is_dead = FALSE;
  node->view.n_begun = node->view.mean_run_ns = 0;
  node->plan_ns = self->now_ns;
  renew (self, number);
  plan_again (self, number);
}

/* --- the world -------------------------------------------------------------------------------- */

static void
make_node (World *self, guint32 number)
{
  Node *node = &self->nodes[number];
  guint nth = number % MIN (self->setup->n_nodes, NODES_CELL), cell = number / NODES_CELL;
  guint rack = nth / CLAMP (MIN (self->setup->n_nodes, NODES_CELL) / 5, 2, 20);
  g_autofree char *name = g_strdup_printf ("n%u", number);
  g_autofree char *rack_name = g_strdup_printf ("%u", rack);
  g_autofree char *zone_name = g_strdup_printf ("%u/%u", cell, rack % 3);
  gint64 phase_ns = iris_random_below (&self->random, 1000000);

  node->view = (IrisdNodeView){ .name = g_intern_string (name),
                                .rack = g_intern_string (rack_name),
                                .zone = g_intern_string (zone_name),
                                .n_workers = self->setup->n_workers,
                                .n_idle = self->setup->n_workers,
                                .seen_us = self->now_ns / US };
  node->plan = make_plan (self);
  self->cells[number / self->in_cell].nodes[number % self->in_cell] = node->view;
  /* Whenever it came up, its entries and its looks have a phase of their own. */
  in (self, phase_ns * cost_ns (self, NODES_COST_map) / 1000000, MAP, number, 0);
  in (self, phase_ns * 250, PLAN, number, 0);
}

static void
make (World *self, const NodesSetup *setup, NodesOutcome *outcome)
{
  guint n_consumers;

  *outcome = (NodesOutcome){ 0 };
  *self = (World){ .setup = setup, .outcome = outcome, .now_ns = BEGIN_NS };
  nodes_heap_init (&self->heap);
  iris_random_seed (&self->random, setup->seed + 1);
  self->in_cell = setup->way == NODES_CENTRAL ? setup->n_nodes : MIN (setup->n_nodes, NODES_CELL);
  self->n_cells = (setup->n_nodes + self->in_cell - 1) / self->in_cell;
  n_consumers = setup->n_nodes + self->n_cells;
  self->items = nodes_load_make (setup, &self->n_items);
  self->cells = g_new0 (Cell, self->n_cells);
  self->nodes = g_new0 (Node, setup->n_nodes);
  self->consumers = g_new0 (Consumer, n_consumers);
  self->requests = g_array_new (FALSE, FALSE, sizeof (Request));
  self->unused = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->pulls = g_array_new (FALSE, FALSE, sizeof (IrisdPullChange));
  for (guint i = 0; i < n_consumers; i++)
    self->consumers[i].pulls = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint i = 0; i < self->n_items; i++)
    self->items[i].node = NONE;
  for (guint i = 0; i < self->n_cells; i++)
    {
      guint n = MIN (self->in_cell, setup->n_nodes - i * self->in_cell);

      self->cells[i].nodes = g_new0 (IrisdNodeView, n);
      self->cells[i].map = (IrisdNodeMap){ self->cells[i].nodes, n, 1 };
    }
  for (guint i = 0; i < setup->n_nodes; i++)
    make_node (self, i);
}

static void
clear (World *self)
{
  for (guint i = 0; i < self->setup->n_nodes + self->n_cells; i++)
    {
      g_array_unref (self->consumers[i].pulls);
      g_free (self->consumers[i].items.values);
    }
  for (guint i = 0; i < self->setup->n_nodes; i++)
    {
      irisd_pull_plan_free (self->nodes[i].plan);
      g_free (self->nodes[i].in_hand.values);
    }
  for (guint i = 0; i < self->n_cells; i++)
    {
      g_free (self->cells[i].nodes);
      for (guint j = 0; j < N_DO; j++)
        g_free (self->cells[i].queues[j].values);
    }
  nodes_heap_clear (&self->heap);
  g_array_unref (self->requests);
  g_array_unref (self->unused);
  g_array_unref (self->pulls);
  g_free (self->items);
  g_free (self->cells);
  g_free (self->nodes);
  g_free (self->consumers);
}

static gdouble
get_work (const World *self)
{
  gdouble ns = 0;

  for (guint i = 0; i < self->n_items; i++)
    ns += (gdouble) self->items[i].run_ns;

  return ns / 1e9 / self->setup->n_nodes / self->setup->n_workers;
}

/* In the middle of the work, one of each cell. */
static void
plan_deaths (World *self)
{
  gint64 at_ns = FIRST_NS - BEGIN_NS + (gint64) (get_work (self) * 1e9 / 2);
  guint cell = MIN (self->setup->n_nodes, NODES_CELL);

  for (guint i = 0; self->setup->load == NODES_DIES && i < self->setup->n_nodes; i += cell)
    in (self, at_ns, DIE, i, 0);
}

static void
happen (World *self, const NodesEvent *event)
{
  switch (event->kind)
    {
    case SUBMIT:
      submit (self);
      break;
    case ENGINE:
      go_on (self, event->a);
      break;
    case ARRIVE:
      arrive (self, event->a, event->b);
      break;
    case RUN_END:
      end_run (self, event->a, event->b);
      break;
    case PULL:
      hand_in (self, cell_of_consumer (self, REQUEST (event->a)->consumer), DO_PULL, event->a);
      break;
    case MAP:
      renew (self, event->a);
      break;
    case PLAN:
      plan_again (self, event->a);
      break;
    case DIE:
      die (self, event->a);
      break;
    case BACK:
      come_back (self, event->a);
      break;
    default:
      deliver_again (self, event->a);
    }
}

static int
compare (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

/* Whether each item ended once, and when. */
static gboolean
sum_up (World *self, GError **error)
{
  NodesOutcome *outcome = self->outcome;
  g_autofree gint64 *times = g_new (gint64, self->n_items);
  gint64 last_ns = 0;
  guint n_ended = 0;

  for (guint i = 0; i < self->n_items; i++)
    {
      const NodesItem *item = &self->items[i];

      n_ended += item->ended_ns != 0;
      times[i] = item->ended_ns - FIRST_NS - item->submitted_ns;
      last_ns = MAX (last_ns, item->ended_ns - FIRST_NS);
    }
  if (n_ended != self->n_items || self->n_ended != self->n_items)
    {
      g_set_error (
          error, BENCH_ERROR, BENCH_ERROR_RESULT,
          "%u of %u items have ended, %u times: the simulation lost items, or has run one twice",
          n_ended, self->n_items, self->n_ended);
      return FALSE;
    }
  qsort (times, self->n_items, sizeof *times, compare);
  outcome->n_cells = self->n_cells;
  outcome->n_items = self->n_items;
  outcome->bound = get_work (self);
  outcome->last = (gdouble) last_ns / 1e9;
  const guint64 half = self->n_items / 2, most = (guint64) self->n_items * 99 / 100;
  outcome->median = (gdouble) times[half] / 1e9;
  outcome->p99 = (gdouble) times[most] / 1e9;
  outcome->n_events = self->heap.n_made;
  outcome->n_refused = outcome->looks[IRIS_STEAL_VERDICT_BACKLOG]
                       + outcome->looks[IRIS_STEAL_VERDICT_SIZE]
                       + outcome->looks[IRIS_STEAL_VERDICT_DISTANCE]
                       + outcome->looks[IRIS_STEAL_VERDICT_APART];

  return TRUE;
}

gboolean
nodes_run (const NodesSetup *setup, NodesOutcome *outcome, GError **error)
{
  World world;
  NodesEvent event;
  gboolean good;

  make (&world, setup, outcome);
  plan_deaths (&world);
  in (&world, FIRST_NS - BEGIN_NS + cost_ns (&world, NODES_COST_way_publish), SUBMIT, 0, 0);
  while (world.n_ended < world.n_items && nodes_heap_pop (&world.heap, &event)
         && event.at_ns < LAST_NS)
    {
      world.now_ns = event.at_ns;
      happen (&world, &event);
    }
  for (guint i = 0; i < setup->n_nodes; i++)
    count (&world, &world.nodes[i]);
  good = sum_up (&world, error);
  clear (&world);

  return good;
}
