/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A queue that is fair: by priority with aging, and among clients in turn.
 *
 * Priority. An entry gains one level for each aging period that it waits. All gain at the same
 * rate, so their order never changes: it is that of `since - priority * aging`, and no entry has to
 * be moved. From each level only its oldest entry matters for that. The bound: a level of priority
 * q is served ahead of an entry of priority p only while it holds an entry that came less than (q -
 * p) periods after it. Later entries are served after it, so no entry starves.
 *
 * Clients. Within a level the clients that have entries take turns: deficit round robin. At each
 * turn a client may spend a quantum, and keeps the rest, if its next entry costs more, for its next
 * turn. In the long run all spend the same, at any cost of their entries; the difference between
 * two clients that both have entries is at most a quantum and one entry. A client without entries
 * keeps nothing. Source: M. Shreedhar and G. Varghese, "Efficient Fair Queueing Using Deficit
 * Round-Robin" (SIGCOMM 1995), section 4.
 *
 * Adding and removing take one look into a hash table; taking the next one takes a look at each
 * level and at most IRISD_FAIR_MOST_COST / IRISD_FAIR_QUANTUM rounds of the clients.
 */
#include "daemon/base/irisd-fair-queue.h"

struct _IrisdFairFlow
{
  gconstpointer client;
  IrisdFairEntries entries;
  TAILQ_ENTRY (_IrisdFairFlow) turn;
  guint deficit;
};

/* An entry counts as one level higher after each @aging_us microseconds. */
void
irisd_fair_queue_init (IrisdFairQueue *self, gint64 aging_us)
{
  for (guint i = 0; i < IRISD_FAIR_N_LEVELS; i++)
    {
      IrisdFairLevel *level = &self->levels[i];
      TAILQ_INIT (&level->by_age);
      TAILQ_INIT (&level->turns);
      level->flows = g_hash_table_new (NULL, NULL);
    }
  self->aging_us = aging_us;
  self->length = 0;
}

void
irisd_fair_queue_clear (IrisdFairQueue *self)
{
  g_return_if_fail (self->length == 0);
  for (guint i = 0; i < IRISD_FAIR_N_LEVELS; i++)
    g_clear_pointer (&self->levels[i].flows, g_hash_table_unref);
}

static IrisdFairFlow *
get_flow (IrisdFairLevel *level, gconstpointer client)
{
  IrisdFairFlow *flow = g_hash_table_lookup (level->flows, client);
  if (flow != NULL)
    return flow;
  flow = g_new0 (IrisdFairFlow, 1);
  flow->client = client;
  flow->deficit = IRISD_FAIR_QUANTUM;
  TAILQ_INIT (&flow->entries);
  TAILQ_INSERT_TAIL (&level->turns, flow, turn);
  g_hash_table_insert (level->flows, (gpointer) client, flow);
  return flow;
}

/* Inserts an entry into its level's list by age. An entry older than others there came late, as did
 * others of its client before it; so the search begins at its predecessor of its own client, and is
 * short. */
static void
insert_by_age (IrisdFairLevel *level, IrisdFairEntry *entry, IrisdFairEntry *before)
{
  IrisdFairEntry *last = TAILQ_LAST (&level->by_age, _IrisdFairEntries);
  IrisdFairEntry *next = before != NULL ? TAILQ_NEXT (before, in_level)
                                        : TAILQ_FIRST (&level->by_age);
  if (last == NULL || last->since_us <= entry->since_us)
    {
      TAILQ_INSERT_TAIL (&level->by_age, entry, in_level);
      return;
    }
  while (next->since_us <= entry->since_us)
    next = TAILQ_NEXT (next, in_level);
  TAILQ_INSERT_BEFORE (next, entry, in_level);
}

/* The same for its client's list. Returns the one before it. */
static IrisdFairEntry *
insert_in_flow (IrisdFairFlow *flow, IrisdFairEntry *entry)
{
  IrisdFairEntry *before = TAILQ_LAST (&flow->entries, _IrisdFairEntries);
  while (before != NULL && before->since_us > entry->since_us)
    before = TAILQ_PREV (before, _IrisdFairEntries, in_flow);
  if (before != NULL)
    TAILQ_INSERT_AFTER (&flow->entries, before, entry, in_flow);
  else
    TAILQ_INSERT_HEAD (&flow->entries, entry, in_flow);
  return before;
}

/* @entry is not in a queue; its cost, priority and age are set. @client is only compared. An entry
 * older than those in the queue goes before them; that takes longer. */
void
irisd_fair_queue_push (IrisdFairQueue *self, IrisdFairEntry *entry, gconstpointer client)
{
  g_return_if_fail (entry->flow == NULL);
  g_return_if_fail (entry->priority < IRISD_FAIR_N_LEVELS);
  IrisdFairLevel *level = &self->levels[entry->priority];
  entry->flow = get_flow (level, client);
  insert_by_age (level, entry, insert_in_flow (entry->flow, entry));
  self->length++;
}

gboolean
irisd_fair_queue_remove (IrisdFairQueue *self, IrisdFairEntry *entry)
{
  IrisdFairFlow *flow = entry->flow;
  if (flow == NULL)
    return FALSE;
  IrisdFairLevel *level = &self->levels[entry->priority];
  TAILQ_REMOVE (&flow->entries, entry, in_flow);
  TAILQ_REMOVE (&level->by_age, entry, in_level);
  entry->flow = NULL;
  self->length--;
  if (TAILQ_EMPTY (&flow->entries))
    {
      TAILQ_REMOVE (&level->turns, flow, turn);
      g_hash_table_remove (level->flows, flow->client);
      g_free (flow);
    }
  return TRUE;
}

/* Of two that are equal the lower one has waited longer. */
static IrisdFairLevel *
choose_level (IrisdFairQueue *self)
{
  IrisdFairLevel *best = NULL;
  gint64 best_rank = G_MAXINT64;
  for (gint i = 0; i < IRISD_FAIR_N_LEVELS; i++)
    {
      IrisdFairLevel *level = &self->levels[i];
      const IrisdFairEntry *oldest = TAILQ_FIRST (&level->by_age);
      if (oldest == NULL || oldest->since_us - i * self->aging_us >= best_rank)
        continue;
      best = level;
      best_rank = oldest->since_us - i * self->aging_us;
    }
  return best;
}

/* Moves the turn to the next client. Returns the entry that irisd_fair_queue_pop() would return, or
 * NULL. */
IrisdFairEntry *
irisd_fair_queue_peek (IrisdFairQueue *self)
{
  IrisdFairLevel *level = choose_level (self);
  if (level == NULL)
    return NULL;
  for (;;)
    {
      IrisdFairFlow *flow = TAILQ_FIRST (&level->turns);
      IrisdFairEntry *entry = TAILQ_FIRST (&flow->entries);
      if (flow->deficit >= MIN (entry->cost, IRISD_FAIR_MOST_COST))
        return entry;
      flow->deficit += IRISD_FAIR_QUANTUM;
      TAILQ_REMOVE (&level->turns, flow, turn);
      TAILQ_INSERT_TAIL (&level->turns, flow, turn);
    }
}

/* Returns the next entry, no longer in the queue, or NULL. */
IrisdFairEntry *
irisd_fair_queue_pop (IrisdFairQueue *self)
{
  IrisdFairEntry *entry = irisd_fair_queue_peek (self);
  if (entry == NULL)
    return NULL;
  entry->flow->deficit -= MIN (entry->cost, IRISD_FAIR_MOST_COST);
  irisd_fair_queue_remove (self, entry);
  return entry;
}
