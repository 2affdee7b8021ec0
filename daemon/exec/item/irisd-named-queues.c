/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Named queues: how many items that name one of them run at once, and in which order.
 *
 * An item of a queue needs a *turn* before it may ask for anything else that is scarce: a permit
 * (irisd-concurrency-limit.c), a slot, its gate. It has the turn until it comes back. A queue gives
 * at most as many turns at once as its limit says, and none while it is suspended. Those who wait
 * get theirs by priority, and then in the order of their numbers, which is that of their
 * submission: it is the same over all gateways and places, and after a restart.
 *
 * Invariant, after each call: no item waits for a queue that would give it a turn. Entering keeps
 * it, as all others give theirs on: each call that makes room returns those that have got it.
 *
 * A queue counts the items that name it and have not ended, so that it is not removed before them.
 * An item that the journal had set aside may come back later; if its queue is gone then, the queue
 * is made again, suspended: the item is not lost, and does not run without the limit.
 *
 * A queue that was removed keeps its entry, so that its index, which persistent items have, means
 * no other one.
 *
 * Until open, no queue gives turns: after a start the items come back in any order, and the first
 * to come need not be the first in line.
 *
 * One lock guards all of it and is not held while calling out. Items that name no queue never take
 * it.
 */
#include "daemon/exec/item/irisd-named-queues.h"

#include "daemon/base/irisd-log.h"
#include "daemon/base/irisd-text.h"

#include <string.h>

/* Characters of a name in a message. */
#define MAX_QUOTED 64

struct _IrisdNamedQueue
{
  char *name;
  guint index;
  IrisdQueueRules rules;
  guint64 n_items; /* that name it and have not ended */
  guint64 n_turns; /* that are given */
  GSequence *waiting;
  gboolean made_again; /* for an item, and no record of it was read */
};

static void
free_queue (gpointer data)
{
  IrisdNamedQueue *queue = data;
  g_sequence_free (queue->waiting);
  g_free (queue->name);
  g_free (queue);
}

void
irisd_named_queues_init (IrisdNamedQueues *self)
{
  *self = (IrisdNamedQueues){ 0 };
  pthread_mutex_init (&self->lock, NULL);
  pthread_mutex_init (&self->change_lock, NULL);
  self->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  self->all = g_ptr_array_new_with_free_func (free_queue);
}

void
irisd_named_queues_clear (IrisdNamedQueues *self)
{
  g_clear_pointer (&self->by_name, g_hash_table_unref);
  g_clear_pointer (&self->all, g_ptr_array_unref);
  pthread_mutex_destroy (&self->change_lock);
  pthread_mutex_destroy (&self->lock);
}

gboolean
irisd_named_queues_check_name (const IrisWireString *name, GError **error)
{
  gboolean ok = name->len > 0 && name->len <= IRISD_QUEUE_MOST_NAME;
  for (gsize i = 0; ok && i < name->len; i++)
    ok = !g_ascii_iscntrl (name->data[i]);
  if (!ok)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "the name of a queue has 1 to %d bytes without control characters: choose another",
                 IRISD_QUEUE_MOST_NAME);
  return ok;
}

/* --- under the lock --------------------------------------------------------------------------- */

static IrisdNamedQueue *
get_entry (IrisdNamedQueues *self, const char *name)
{
  IrisdNamedQueue *queue = g_hash_table_lookup (self->by_name, name);
  if (queue != NULL || self->all->len >= G_MAXUINT16)
    return queue;
  queue = g_new0 (IrisdNamedQueue, 1);
  queue->name = g_strdup (name);
  queue->waiting = g_sequence_new (NULL);
  g_ptr_array_add (self->all, queue);
  queue->index = self->all->len;
  g_hash_table_insert (self->by_name, queue->name, queue);
  return queue;
}

static gboolean
gives_turns (const IrisdNamedQueues *self, const IrisdNamedQueue *queue)
{
  const IrisdQueueRules *rules = &queue->rules;
  return self->open && !rules->suspended && (rules->limit == 0 || queue->n_turns < rules->limit);
}

static int
compare_turns (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const IrisdQueueTurn *left = a, *right = b;
  if (left->priority != right->priority)
    return left->priority > right->priority ? -1 : 1;
  return left->number < right->number ? -1 : left->number > right->number;
}

static void
take_out (IrisdQueueTurn *turn)
{
  g_sequence_remove (turn->at);
  turn->at = NULL;
}

/* Gives turns as long as it may, and puts those who get them at @tail, the end of a list. Returns
 * its new end. */
static IrisdQueueTurn **
fill (IrisdNamedQueues *self, IrisdNamedQueue *queue, IrisdQueueTurn **tail)
{
  while (gives_turns (self, queue) && !g_sequence_is_empty (queue->waiting))
    {
      IrisdQueueTurn *turn = g_sequence_get (g_sequence_get_begin_iter (queue->waiting));
      take_out (turn);
      queue->n_turns++;
      turn->next = NULL;
      *tail = turn;
      tail = &turn->next;
    }
  return tail;
}

/* --- the items of a queue --------------------------------------------------------------------- */

static void
refuse_unknown (const char *name, GError **error)
{
  g_autofree char *quoted = irisd_text_quote (name, -1, MAX_QUOTED);
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "there is no queue “%s” (irisctl queues lists them): have an operator make it, with "
               "irisctl queue %s --limit N, or leave it out",
               quoted, quoted);
}

/* An item names the queue, until irisd_named_queues_part(). Returns NULL with an error if there is
 * none. */
IrisdNamedQueue *
irisd_named_queues_join (IrisdNamedQueues *self, const IrisWireString *name, GError **error)
{
  g_autofree char *text = iris_wire_string_dup (name);
  pthread_mutex_lock (&self->lock);
  IrisdNamedQueue *queue = g_hash_table_lookup (self->by_name, text);
  if (queue != NULL && !queue->rules.exists)
    queue = NULL;
  if (queue != NULL)
    queue->n_items++;
  pthread_mutex_unlock (&self->lock);
  if (queue == NULL)
    refuse_unknown (text, error);
  return queue;
}

static void
tell_made_again (const char *name)
{
  irisd_log (IRISD_LOG_WARNING,
             "an item of the journal names the queue %s, which was removed; it is made again, "
             "paused: set its limit and let it go on with irisctl queue %s --limit N --resume",
             name, name);
}

/* The same for an item that irisd has accepted before. At a start, items are read before queues. */
IrisdNamedQueue *
irisd_named_queues_join_stored (IrisdNamedQueues *self, const IrisWireString *name)
{
  g_autofree char *text = iris_wire_string_dup (name);
  gboolean made = FALSE;
  pthread_mutex_lock (&self->lock);
  IrisdNamedQueue *queue = get_entry (self, text);
  if (queue != NULL && !queue->rules.exists)
    {
      queue->made_again = TRUE;
      made = self->open;
      self->n_queues++;
      queue->rules = (IrisdQueueRules){ .exists = TRUE,
                                        .priority = IRIS_WIRE_DEFAULT_PRIORITY,
                                        .suspended = TRUE };
    }
  if (queue != NULL)
    queue->n_items++;
  pthread_mutex_unlock (&self->lock);
  if (made)
    tell_made_again (text);
  return queue;
}

void
irisd_named_queues_part (IrisdNamedQueues *self, IrisdNamedQueue *queue)
{
  pthread_mutex_lock (&self->lock);
  queue->n_items--;
  pthread_mutex_unlock (&self->lock);
}

/* An item of the queue of that @index, 0 for none, is set aside or comes back. */
void
irisd_named_queues_count (IrisdNamedQueues *self, guint index, gint change)
{
  if (index == 0)
    return;
  pthread_mutex_lock (&self->lock);
  ((IrisdNamedQueue *) g_ptr_array_index (self->all, index - 1))->n_items += (guint64) change;
  pthread_mutex_unlock (&self->lock);
}

guint
irisd_named_queue_get_index (const IrisdNamedQueue *queue)
{
  return queue != NULL ? queue->index : 0;
}

/* Returns its index, which is never that of another queue; 0 with an error if there is none. */
guint
irisd_named_queues_find (IrisdNamedQueues *self, const IrisWireString *name, GError **error)
{
  IrisdNamedQueue *queue = irisd_named_queues_join (self, name, error);
  if (queue != NULL)
    irisd_named_queues_part (self, queue);
  return irisd_named_queue_get_index (queue);
}

guint32
irisd_named_queues_get_priority (IrisdNamedQueues *self, IrisdNamedQueue *queue)
{
  pthread_mutex_lock (&self->lock);
  guint32 priority = queue->rules.priority;
  pthread_mutex_unlock (&self->lock);
  return priority;
}

gboolean
irisd_named_queues_is_suspended (IrisdNamedQueues *self, IrisdNamedQueue *queue)
{
  pthread_mutex_lock (&self->lock);
  gboolean suspended = queue->rules.suspended;
  pthread_mutex_unlock (&self->lock);
  return suspended;
}

/* --- turns ------------------------------------------------------------------------------------ */

/* @turn is all zeroes, or has left. @at_once: it runs already, so it gets its turn whatever the
 * rules are. Returns whether it has its turn, until irisd_named_queues_leave(). Otherwise it waits
 * until a call returns it, or irisd_named_queues_withdraw() takes it out. */
gboolean
irisd_named_queues_enter (IrisdNamedQueues *self,
                          IrisdNamedQueue *queue,
                          IrisdQueueTurn *turn,
                          guint priority,
                          guint64 number,
                          gboolean at_once)
{
  pthread_mutex_lock (&self->lock);
  turn->queue = queue;
  turn->priority = priority;
  turn->number = number;
  gboolean taken = at_once || gives_turns (self, queue);
  if (taken)
    queue->n_turns++;
  else
    turn->at = g_sequence_insert_sorted (queue->waiting, turn, compare_turns, NULL);
  pthread_mutex_unlock (&self->lock);
  return taken;
}

/* Returns whether @turn still waited, and does no longer. */
gboolean
irisd_named_queues_withdraw (IrisdNamedQueues *self, IrisdQueueTurn *turn)
{
  pthread_mutex_lock (&self->lock);
  gboolean waited = turn->at != NULL;
  if (waited)
    {
      take_out (turn);
      turn->queue = NULL;
    }
  pthread_mutex_unlock (&self->lock);
  return waited;
}

/* Returns those that have got their turn instead, in their order, linked by `next`. @turn may have
 * none. */
IrisdQueueTurn *
irisd_named_queues_leave (IrisdNamedQueues *self, IrisdQueueTurn *turn)
{
  IrisdQueueTurn *list = NULL;
  IrisdNamedQueue *queue = turn->queue;
  if (queue == NULL)
    return NULL;
  pthread_mutex_lock (&self->lock);
  turn->queue = NULL;
  queue->n_turns--;
  fill (self, queue, &list);
  pthread_mutex_unlock (&self->lock);
  return list;
}

/* From now on queues give turns. Returns those that have got one. */
IrisdQueueTurn *
irisd_named_queues_open (IrisdNamedQueues *self)
{
  IrisdQueueTurn *list = NULL, **tail = &list;
  pthread_mutex_lock (&self->lock);
  self->open = TRUE;
  for (guint i = 0; i < self->all->len; i++)
    {
      IrisdNamedQueue *queue = g_ptr_array_index (self->all, i);
      if (queue->made_again)
        tell_made_again (queue->name);
      tail = fill (self, queue, tail);
    }
  pthread_mutex_unlock (&self->lock);
  return list;
}

/* --- rules ------------------------------------------------------------------------------------ */

static gboolean
may_change (IrisdNamedQueues *self,
            const IrisdNamedQueue *queue,
            const IrisdQueueRules *rules,
            guint64 most,
            GError **error)
{
  if (queue == NULL)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "irisd has seen %u names of queues since its start: use one of them again, or "
                 "restart irisd",
                 self->all->len);
  else if (!rules->exists && queue->n_items > 0)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "the queue “%s” has %" G_GUINT64_FORMAT
                 " items that have not ended: cancel them or let them end, then remove it",
                 queue->name, queue->n_items);
  else if (rules->exists && !queue->rules.exists && self->n_queues >= most)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "irisd has as many queues as the limit max-queues (%" G_GUINT64_FORMAT
                 ") allows: remove some, or raise the limit in irisd's configuration",
                 most);
  else
    return TRUE;
  return FALSE;
}

/* Makes, changes or removes the queue of that @name, of which there may be @most. @next gets those
 * that have got their turn thereby. */
gboolean
irisd_named_queues_change (IrisdNamedQueues *self,
                           const char *name,
                           const IrisdQueueRules *rules,
                           guint64 most,
                           IrisdQueueTurn **next,
                           GError **error)
{
  *next = NULL;
  pthread_mutex_lock (&self->lock);
  IrisdNamedQueue *queue = get_entry (self, name);
  gboolean ok = may_change (self, queue, rules, most, error);
  if (ok)
    {
      self->n_queues += (guint) rules->exists - (guint) queue->rules.exists;
      queue->rules = *rules;
      queue->made_again = FALSE;
      fill (self, queue, next);
    }
  pthread_mutex_unlock (&self->lock);
  return ok;
}

IrisdQueueRules
irisd_named_queues_get_rules (IrisdNamedQueues *self, const char *name)
{
  pthread_mutex_lock (&self->lock);
  const IrisdNamedQueue *queue = g_hash_table_lookup (self->by_name, name);
  IrisdQueueRules rules = queue != NULL ? queue->rules : (IrisdQueueRules){ 0 };
  pthread_mutex_unlock (&self->lock);
  return rules;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (((const IrisWireQueueInfo *) a)->name, ((const IrisWireQueueInfo *) b)->name);
}

/* Returns the queues in the order of their names. */
IrisWireQueues *
irisd_named_queues_list (IrisdNamedQueues *self)
{
  guint n = 0;
  pthread_mutex_lock (&self->lock);
  IrisWireQueues *list = iris_wire_queues_new (self->n_queues);
  for (guint i = 0; i < self->all->len && n < list->n_queues; i++)
    {
      const IrisdNamedQueue *queue = g_ptr_array_index (self->all, i);
      if (queue->rules.exists)
        list->queues[n++] = (IrisWireQueueInfo){
          .name = g_strdup (queue->name),
          .limit = queue->rules.limit,
          .priority = queue->rules.priority,
          .suspended = queue->rules.suspended,
          .running = queue->n_turns,
          .waiting = queue->n_items - MIN (queue->n_turns, queue->n_items),
        };
    }
  pthread_mutex_unlock (&self->lock);
  if (n > 0)
    qsort (list->queues, n, sizeof *list->queues, compare_names);
  return list;
}
