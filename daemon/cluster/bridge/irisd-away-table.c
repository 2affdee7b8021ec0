/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items of this node that are in the cluster, and what is to be done with each next.
 *
 * Invariants, which the test checks after each event:
 *
 * * An item with an id or a lease in the two indexes is not GONE; a GONE one is in neither and in
 * no queue, and lives only because the stream has not answered (`in_flight`).
 * * What is counted in `in_flight` is exactly the items of which `published` is still to be told,
 * at most the window.
 * * An item is in the queue of extensions exactly if it is leased.
 * * While the gate is closed one item at most is under way, as a probe.
 * * An item is lost only while it is OUT and leased.
 */
#include "irisd-away-table.h"

#include <string.h>

/* Looks after 1, 2, 4, 8 and then each 15 times `look_us`. */
#define N_STAGES 5

static const guint stage_factors[N_STAGES] = { 1, 2, 4, 8, 15 };

/* The pause before a closed gate is tried. */
#define PROBE_FIRST_US 100000
#define PROBE_MOST_US  2000000

/* The pause before the stream is asked again about an id of which it has not decided. */
#define AGAIN_US 50000

/* Ends that are looked for in a turn, and how long that is. Servers queue 10,000 requests of all
 * nodes, and drop all of them beyond. */
#define LOOKS_IN_A_TURN 100
#define TURN_US         (G_USEC_PER_SEC / 10)

/* Items of which it is asked in a second whether the stream still has them. */
#define CHECKS_A_SECOND 10

/* After so many such answers in a row it has them no more: a server that has just become the
 * leader may be behind once. */
#define MOST_MISSED 2

struct _IrisdAwayTable
{
  IrisdAwayRules rules;
  const IrisdAwayFuncs *funcs;
  gpointer user_data;
  GHashTable *items;  /* by id */
  GHashTable *leases; /* by lease */
  GQueue extends;
  GQueue held;
  GQueue again;            /* HELD with a pause: the stream has not decided */
  GQueue fresh;            /* LOOKING: asked when there is a turn */
  GQueue looking;          /* LOOKING: asked now, and again after a while */
  GQueue claims;           /* CLAIMING likewise */
  GQueue stages[N_STAGES]; /* OUT */
  GQueue orphans;          /* in OUT, HELD or LOOKING, without a lease: in no other queue */
  GQueue gone;             /* GONE, but in flight */
  GQueue checks;           /* those that are or were OUT, by when they are checked */
  gint64 turn_over;        /* when the next turn of looks begins */
  guint n_looks;           /* in this turn */
  gint64 next_check;       /* none before */
  gint64 next_sweep;       /* until then a reconnect does not make all checks due */
  IrisdAwayGate gate;
  gint64 probe_due;
  gint64 probe_pause;
  guint in_flight;
  gboolean flushing;
  gboolean shut; /* nothing is published */
};

static guint
id_hash (gconstpointer id)
{
  guint64 words[2];

  memcpy (words, id, sizeof words);
  words[0] ^= words[1] * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (guint) (words[0] ^ words[0] >> 32);
}

static gboolean
id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

IrisdAwayTable *
irisd_away_table_new (const IrisdAwayRules *rules, const IrisdAwayFuncs *funcs, gpointer user_data)
{
  IrisdAwayTable *self = g_new0 (IrisdAwayTable, 1);

  self->rules = *rules;
  self->funcs = funcs;
  self->user_data = user_data;
  self->items = g_hash_table_new (id_hash, id_equal);
  self->leases = g_hash_table_new (id_hash, id_equal);
  return self;
}

static void
free_item (IrisdAwayTable *self, IrisdAwayItem *item)
{
  self->funcs->forget (item, self->user_data);
  g_free (item);
}

/* No answer of the stream may come after this. */
void
irisd_away_table_free (IrisdAwayTable *self)
{
  GHashTableIter iter;
  gpointer item;

  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &item))
    free_item (self, item);
  while ((item = g_queue_peek_head (&self->gone)) != NULL)
    {
      g_queue_unlink (&self->gone, &((IrisdAwayItem *) item)->link);
      free_item (self, item);
    }
  g_hash_table_unref (self->items);
  g_hash_table_unref (self->leases);
  g_free (self);
}

static void
leave_queue (IrisdAwayItem *item)
{
  if (item->queue == NULL)
    return;
  g_queue_unlink (item->queue, &item->link);
  item->queue = NULL;
}

static void
enter_queue (IrisdAwayItem *item, GQueue *queue, gint64 due)
{
  leave_queue (item);
  item->due = due;
  item->queue = queue;
  item->link.data = item;
  g_queue_push_tail_link (queue, &item->link);
}

static void
drop_lease (IrisdAwayTable *self, IrisdAwayItem *item)
{
  if (!item->leased)
    return;
  item->leased = FALSE;
  g_hash_table_remove (self->leases, item->lease);
  g_queue_unlink (&self->extends, &item->extend_link);
}

static void
enter_checks (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  item->check_due = now + self->rules.check_us;
  item->check_link.data = item;
  g_queue_push_tail_link (&self->checks, &item->check_link);
}

static void
leave_checks (IrisdAwayTable *self, IrisdAwayItem *item)
{
  if (item->check_link.data != NULL)
    g_queue_unlink (&self->checks, &item->check_link);
  item->check_link.data = NULL;
}

/* Ends an item as far as this table goes. */
static void
remove_item (IrisdAwayTable *self, IrisdAwayItem *item)
{
  leave_queue (item);
  leave_checks (self, item);
  drop_lease (self, item);
  if (item->state != IRISD_AWAY_GONE)
    g_hash_table_remove (self->items, item->item);
  item->state = IRISD_AWAY_GONE;
  if (item->in_flight)
    enter_queue (item, &self->gone, G_MAXINT64);
  else
    free_item (self, item);
}

static void
put_out (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  guint stage = MIN (item->looks, N_STAGES - 1);

  item->state = IRISD_AWAY_OUT;
  enter_queue (item, &self->stages[stage], now + self->rules.look_us * stage_factors[stage]);
  if (item->check_link.data == NULL)
    enter_checks (self, item, now);
}

static void
publish (IrisdAwayTable *self, IrisdAwayItem *item)
{
  leave_queue (item);
  item->state = IRISD_AWAY_PUBLISHING;
  item->may_be_out = TRUE;
  item->in_flight = TRUE;
  self->in_flight++;
  self->funcs->publish (item, self->user_data);
}

static guint
get_window (const IrisdAwayTable *self, gint64 now)
{
  if (self->shut)
    return 0;
  if (self->gate == IRISD_AWAY_GATE_OPEN)
    return self->rules.window;
  return now >= self->probe_due ? 1 : 0;
}

/* Publishes what is held, as far as window and gate allow. */
static void
flush (IrisdAwayTable *self, gint64 now)
{
  if (self->flushing)
    return;
  self->flushing = TRUE;
  /* A publication may be answered at once, and close the gate. */
  while (self->in_flight < get_window (self, now) && self->held.length > 0)
    publish (self, g_queue_peek_head (&self->held));
  self->flushing = FALSE;
}

static void
hold (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  item->state = IRISD_AWAY_HELD;
  enter_queue (item, &self->held, now);
}

static void
close_gate (IrisdAwayTable *self, IrisdAwayGate why, gint64 now)
{
  if (self->gate == IRISD_AWAY_GATE_OPEN)
    self->probe_pause = PROBE_FIRST_US;
  else if (now >= self->probe_due)
    self->probe_pause = MIN (self->probe_pause * 2, PROBE_MOST_US);
  self->gate = why;
  self->probe_due = now + self->probe_pause;
}

static void
open_gate (IrisdAwayTable *self)
{
  self->gate = IRISD_AWAY_GATE_OPEN;
}

/* Whether the servers may be asked for one more end now; it counts as asked. */
static gboolean
take_turn (IrisdAwayTable *self, gint64 now)
{
  if (now >= self->turn_over)
    {
      self->turn_over = now + TURN_US;
      self->n_looks = 0;
    }
  if (self->n_looks == LOOKS_IN_A_TURN)
    return FALSE;
  self->n_looks++;
  return TRUE;
}

static void
ask_for_end (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  enter_queue (item, &self->looking, now + self->rules.look_us);
  self->funcs->look (item, self->user_data);
}

static void
look (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  item->state = IRISD_AWAY_LOOKING;
  if (take_turn (self, now))
    ask_for_end (self, item, now);
  else
    enter_queue (item, &self->fresh, now);
}

static void
claim (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  item->state = IRISD_AWAY_CLAIMING;
  enter_queue (item, &self->claims, now + self->rules.look_us);
  self->funcs->claim (item, self->user_data);
}

static void
set_lease (IrisdAwayTable *self, IrisdAwayItem *item, const guint8 *lease, gint64 now)
{
  drop_lease (self, item);
  memcpy (item->lease, lease, IRIS_WIRE_ID_SIZE);
  item->leased = TRUE;
  g_hash_table_insert (self->leases, item->lease, item);
  item->extend_due = now + self->rules.extend_us;
  item->extend_link.data = item;
  g_queue_push_tail_link (&self->extends, &item->extend_link);
}

/* irisd has leased an item. Returns NULL if it may not be leased now (it is being cancelled, and
 * irisd leases it anew: refuse that lease). Of a new one the owner sets `data` and calls
 * irisd_away_table_start(); one that is @known goes on as it was. */
IrisdAwayItem *
irisd_away_table_lease (IrisdAwayTable *self,
                        const guint8 *id,
                        const guint8 *lease,
                        gboolean leased_before,
                        gint64 now,
                        gboolean *known)
{
  IrisdAwayItem *item = g_hash_table_lookup (self->items, id);

  *known = item != NULL;
  if (item != NULL && item->state == IRISD_AWAY_CLAIMING)
    return NULL;
  if (item == NULL)
    {
      item = g_new0 (IrisdAwayItem, 1);
      memcpy (item->item, id, IRIS_WIRE_ID_SIZE);
      item->may_be_out = leased_before;
      item->state = leased_before ? IRISD_AWAY_LOOKING : IRISD_AWAY_HELD;
      g_hash_table_insert (self->items, item->item, item);
    }
  set_lease (self, item, lease, now);
  if (*known && item->queue == &self->orphans)
    irisd_away_table_start (self, item, now);
  return item;
}

/* Begins with a new item. */
void
irisd_away_table_start (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  if (item->state == IRISD_AWAY_OUT)
    put_out (self, item, now);
  else if (item->state == IRISD_AWAY_LOOKING)
    look (self, item, now);
  else
    {
      hold (self, item, now);
      flush (self, now);
    }
}

IrisdAwayItem *
irisd_away_table_find (IrisdAwayTable *self, const guint8 *item)
{
  return g_hash_table_lookup (self->items, item);
}

IrisdAwayItem *
irisd_away_table_find_lease (IrisdAwayTable *self, const guint8 *lease)
{
  return g_hash_table_lookup (self->leases, lease);
}

/* The stream has it, or does not want it now. */
static void
settle (IrisdAwayTable *self, IrisdAwayItem *item, IrisdAwayVerdict verdict, gint64 now)
{
  switch (verdict)
    {
    case IRISD_AWAY_STORED:
      put_out (self, item, now);
      break;
    case IRISD_AWAY_STORED_BEFORE:
      put_out (self, item, now);
      self->funcs->look (item, self->user_data);
      break;
    case IRISD_AWAY_IN_FLIGHT:
      item->state = IRISD_AWAY_HELD;
      enter_queue (item, &self->again, now + AGAIN_US);
      break;
    case IRISD_AWAY_FULL:
    case IRISD_AWAY_SILENT:
      item->state = IRISD_AWAY_HELD;
      enter_queue (item, &self->held, now);
      /* It comes first again. */
      g_queue_unlink (&self->held, &item->link);
      g_queue_push_head_link (&self->held, &item->link);
      break;
    case IRISD_AWAY_REFUSED:
      self->funcs->refuse (item, self->user_data);
      remove_item (self, item);
      break;
    }
}

/* The stream has answered a `publish`, or did not in time. */
void
irisd_away_table_published (IrisdAwayTable *self,
                            IrisdAwayItem *item,
                            IrisdAwayVerdict verdict,
                            guint64 sequence,
                            gint64 now)
{
  g_return_if_fail (item->in_flight);

  item->in_flight = FALSE;
  self->in_flight--;
  item->sequence = sequence;
  if (verdict == IRISD_AWAY_FULL)
    close_gate (self, IRISD_AWAY_GATE_FULL, now);
  else if (verdict == IRISD_AWAY_SILENT)
    close_gate (self, IRISD_AWAY_GATE_NO_QUORUM, now);
  else
    open_gate (self);

  if (item->state == IRISD_AWAY_PUBLISHING && !item->leased)
    {
      /* irisd leases it again, or has forgotten it. */
      item->state = verdict == IRISD_AWAY_STORED ? IRISD_AWAY_OUT : IRISD_AWAY_LOOKING;
      enter_queue (item, &self->orphans, now + self->rules.orphan_us);
    }
  else if (item->state == IRISD_AWAY_PUBLISHING)
    settle (self, item, verdict, now);
  else if (item->state == IRISD_AWAY_CLAIMING && item->claimed)
    {
      self->funcs->withdraw (item, self->user_data);
      remove_item (self, item);
    }
  else if (item->state == IRISD_AWAY_GONE)
    {
      leave_queue (item);
      free_item (self, item);
    }
  flush (self, now);
}

/* Its end is here, and the owner has answered its lease, if it had one. */
void
irisd_away_table_end (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  remove_item (self, item);
  flush (self, now);
}

/* There is no end of the item yet; or, if not @sure, the stream did not say. */
void
irisd_away_table_looked (IrisdAwayTable *self, const guint8 *id, gboolean sure, gint64 now)
{
  IrisdAwayItem *item = g_hash_table_lookup (self->items, id);

  if (item == NULL || !sure)
    return;
  if (item->state == IRISD_AWAY_LOOKING && item->leased)
    {
      hold (self, item, now);
      flush (self, now);
    }
}

/* The stream has the message of the item; or, if not @there, neither that nor an end. */
void
irisd_away_table_checked (IrisdAwayTable *self, IrisdAwayItem *item, gboolean there, gint64 now)
{
  if (item->state != IRISD_AWAY_OUT || !item->leased)
    return;
  item->n_missed = there ? 0 : item->n_missed + 1;
  if (item->n_missed < MOST_MISSED)
    return;
  item->n_missed = 0;
  self->funcs->lost (item, self->user_data);
  item->state = IRISD_AWAY_LOOKING;
  item->looks = 0;
  irisd_away_table_unlease (self, item, now);
}

/* irisd has cancelled the item, and the owner has answered its lease. */
void
irisd_away_table_cancel (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  drop_lease (self, item);
  if (item->state == IRISD_AWAY_CLAIMING)
    return;
  if (!item->may_be_out)
    remove_item (self, item);
  else
    claim (self, item, now);
  flush (self, now);
}

/* The cancel is written as the item's end, or another end was there; or, if not @sure, the stream
 * did not say. */
void
irisd_away_table_claimed (IrisdAwayTable *self, const guint8 *id, gboolean sure, gint64 now)
{
  IrisdAwayItem *item = g_hash_table_lookup (self->items, id);

  if (item == NULL || item->state != IRISD_AWAY_CLAIMING || !sure)
    return;
  item->claimed = TRUE;
  if (item->in_flight)
    {
      /* What is not stored yet cannot be withdrawn. */
      leave_queue (item);
      return;
    }
  self->funcs->withdraw (item, self->user_data);
  remove_item (self, item);
}

/* The lease of the item is over, and irisd will lease it again. */
void
irisd_away_table_unlease (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now)
{
  drop_lease (self, item);
  if (item->state == IRISD_AWAY_CLAIMING || item->state == IRISD_AWAY_PUBLISHING)
    return;
  enter_queue (item, &self->orphans, now + self->rules.orphan_us);
}

/* The connection to irisd is gone, and with it all leases. */
void
irisd_away_table_unlease_all (IrisdAwayTable *self, gint64 now)
{
  while (self->extends.length > 0)
    irisd_away_table_unlease (self, g_queue_peek_head (&self->extends), now);
}

/* Messages may have been missed: has all ends looked for soon, and their messages, too. */
void
irisd_away_table_look_at_all (IrisdAwayTable *self, gint64 now)
{
  for (guint stage = 0; stage < N_STAGES; stage++)
    for (GList *l = self->stages[stage].head; l != NULL; l = l->next)
      {
        IrisdAwayItem *item = l->data;

        item->looks = 0;
        item->due = now;
      }
  if (now < self->next_sweep)
    return;
  self->next_sweep = now + self->rules.check_us;
  for (GList *l = self->checks.head; l != NULL; l = l->next)
    ((IrisdAwayItem *) l->data)->check_due = now;
}

/* There is reason to believe that the stream takes items again. */
void
irisd_away_table_open (IrisdAwayTable *self, gint64 now)
{
  self->probe_due = now;
  flush (self, now);
}

/* While it is shut, items are held. */
void
irisd_away_table_set_shut (IrisdAwayTable *self, gboolean shut, gint64 now)
{
  self->shut = shut;
  flush (self, now);
}

static IrisdAwayItem *
peek_due (GQueue *queue, gint64 now)
{
  IrisdAwayItem *item = g_queue_peek_head (queue);

  return item != NULL && item->due <= now ? item : NULL;
}

static void
tick_queues (IrisdAwayTable *self, gint64 now)
{
  IrisdAwayItem *item;

  while ((item = peek_due (&self->again, now)) != NULL)
    hold (self, item, now);
  while ((item = peek_due (&self->orphans, now)) != NULL)
    remove_item (self, item);
  while ((item = peek_due (&self->claims, now)) != NULL && take_turn (self, now))
    claim (self, item, now);
  while ((item = peek_due (&self->fresh, now)) != NULL && take_turn (self, now))
    ask_for_end (self, item, now);
  while ((item = peek_due (&self->looking, now)) != NULL && take_turn (self, now))
    ask_for_end (self, item, now);
  for (guint stage = 0; stage < N_STAGES; stage++)
    while ((item = peek_due (&self->stages[stage], now)) != NULL && take_turn (self, now))
      {
        item->looks++;
        put_out (self, item, now);
        self->funcs->look (item, self->user_data);
      }
}

static void
extend_due (IrisdAwayTable *self, gint64 now)
{
  IrisdAwayItem *item;

  while ((item = g_queue_peek_head (&self->extends)) != NULL && item->extend_due <= now)
    {
      g_queue_unlink (&self->extends, &item->extend_link);
      item->extend_due = now + self->rules.extend_us;
      g_queue_push_tail_link (&self->extends, &item->extend_link);
      self->funcs->extend (item, self->user_data);
    }
}

static void
check_due (IrisdAwayTable *self, gint64 now)
{
  IrisdAwayItem *item;

  while (now >= self->next_check && (item = g_queue_peek_head (&self->checks)) != NULL
         && item->check_due <= now)
    {
      leave_checks (self, item);
      enter_checks (self, item, now);
      if (item->state != IRISD_AWAY_OUT || !item->leased)
        continue;
      self->next_check = now + G_USEC_PER_SEC / CHECKS_A_SECOND;
      self->funcs->check (item, self->user_data);
    }
}

static gint64
earlier (GQueue *queue, gint64 when)
{
  const IrisdAwayItem *item = g_queue_peek_head (queue);

  return item != NULL ? MIN (when, item->due) : when;
}

/* What is still due waits for the next turn. */
static gint64
earlier_turn (const IrisdAwayTable *self, GQueue *queue, gint64 now, gint64 when)
{
  const IrisdAwayItem *item = g_queue_peek_head (queue);

  return item != NULL ? MIN (when, item->due <= now ? self->turn_over : item->due) : when;
}

/* Does what is due. Returns when it is to be called next, or G_MAXINT64. */
gint64
irisd_away_table_tick (IrisdAwayTable *self, gint64 now)
{
  gint64 next = G_MAXINT64;
  const IrisdAwayItem *first;

  extend_due (self, now);
  tick_queues (self, now);
  check_due (self, now);
  flush (self, now);

  first = g_queue_peek_head (&self->extends);
  if (first != NULL)
    next = first->extend_due;
  first = g_queue_peek_head (&self->checks);
  if (first != NULL)
    next = MIN (next, MAX (first->check_due, self->next_check));
  if (self->gate != IRISD_AWAY_GATE_OPEN && !self->shut && self->held.length > 0
      && self->in_flight == 0)
    next = MIN (next, self->probe_due);
  next = earlier (&self->again, next);
  next = earlier (&self->orphans, next);
  next = earlier_turn (self, &self->claims, now, next);
  next = earlier_turn (self, &self->fresh, now, next);
  next = earlier_turn (self, &self->looking, now, next);
  for (guint stage = 0; stage < N_STAGES; stage++)
    next = earlier_turn (self, &self->stages[stage], now, next);
  return next;
}

/* How often a lease is extended from now on. */
void
irisd_away_table_set_extend (IrisdAwayTable *self, gint64 extend_us)
{
  self->rules.extend_us = extend_us;
}

/* Items that have not ended. */
guint
irisd_away_table_get_size (const IrisdAwayTable *self)
{
  return g_hash_table_size (self->items);
}

/* Items that wait for the stream. */
guint
irisd_away_table_get_held (const IrisdAwayTable *self)
{
  return self->held.length + self->again.length;
}

IrisdAwayGate
irisd_away_table_get_gate (const IrisdAwayTable *self)
{
  return self->gate;
}
