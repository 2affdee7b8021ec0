/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lease queues: which workers serve a service, and which items wait for it.
 *
 * A queue has idle subscriptions, by place and for all places, so that a worker at any place or at
 * one place is found without a search; and waiting items, those that must run at one place by
 * place, and all others together. All are in order: longest idle first, oldest item first.
 *
 * A service is a name in a name space: that of a user, whose workers run that user's items alone,
 * or the shared one, whose workers run the items of all. A user's item goes to the first of the two
 * in which the service has a worker; if neither has, it waits in the first one that knows the
 * service. So a worker of one user can neither get nor delay the items of another, unless a rule
 * lets it serve all.
 */
#include "daemon/exec/worker/irisd-leases-private.h"

#include "daemon/base/irisd-error.h"
#include "daemon/config/irisd-cluster-view.h"
#include "daemon/config/irisd-policy.h"

#include <string.h>

guint
irisd_lease_queue_hash (gconstpointer queue)
{
  const IrisdLeaseQueue *self = queue;
  return g_str_hash (self->name) * 31 + (guint) self->space;
}

gboolean
irisd_lease_queue_equal (gconstpointer a, gconstpointer b)
{
  const IrisdLeaseQueue *left = a, *right = b;
  return left->space == right->space && strcmp (left->name, right->name) == 0;
}

IrisdLeaseQueue *
irisd_leases_find_queue (IrisdLeases *self, gint64 space, const char *name)
{
  const IrisdLeaseQueue key = { .space = space, .name = (char *) name };
  return g_hash_table_lookup (self->queues, &key);
}

/* The queue for items that try @space first; NULL if the service is not known. */
IrisdLeaseQueue *
irisd_leases_route (IrisdLeases *self, gint64 space, const char *name)
{
  IrisdLeaseQueue *shared = irisd_leases_find_queue (self, IRISD_SPACE_SHARED, name);
  if (space == IRISD_SPACE_SHARED)
    return shared;
  IrisdLeaseQueue *own = irisd_leases_find_queue (self, space, name);
  if (own == NULL || (own->n_subscriptions == 0 && shared != NULL && shared->n_subscriptions > 0))
    return shared;
  return own;
}

/* The name space in which a worker serves a service. */
static gint64
get_space (IrisdLeases *self, IrisdWorker *worker, const char *name)
{
  if (self->events->shares == NULL || self->events->shares (worker, name, self->user_data))
    return IRISD_SPACE_SHARED;
  return worker->owner;
}

/* Returns whether the rights of @worker still give it the services that it has. */
gboolean
irisd_leases_is_entitled (IrisdLeases *self, IrisdWorker *worker)
{
  for (guint i = 0; i < worker->n_subscriptions; i++)
    {
      const IrisdLeaseQueue *queue = worker->subscriptions[i]->queue;
      if (get_space (self, worker, queue->name) != queue->space)
        return FALSE;
    }
  return TRUE;
}

/* How many services of a name space had a worker once, or never had one. */
static guint
count_queues (IrisdLeases *self, gint64 space, gboolean served)
{
  GHashTableIter iter;
  gpointer value;
  guint n = 0;
  g_hash_table_iter_init (&iter, self->queues);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      const IrisdLeaseQueue *queue = value;
      n += queue->space == space && queue->served == served;
    }
  return n;
}

/* The limit is per name space, so one user cannot use up the services of others. */
gboolean
irisd_leases_check_services (IrisdLeases *self,
                             IrisdWorker *worker,
                             const IrisWireServices *services,
                             GError **error)
{
  guint n_shared = count_queues (self, IRISD_SPACE_SHARED, TRUE);
  guint n_own = count_queues (self, worker->owner, TRUE);
  for (guint i = 0; i < services->n_services; i++)
    {
      const char *name = services->services[i].name;
      gint64 space = get_space (self, worker, name);
      const IrisdLeaseQueue *queue = irisd_leases_find_queue (self, space, name);
      if (queue != NULL && queue->served)
        continue;
      if (space == IRISD_SPACE_SHARED)
        n_shared++;
      else
        n_own++;
    }
  if (MAX (n_shared, n_own) <= self->rules.max_services)
    return TRUE;
  return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
                     "cannot serve the service: more services of worker processes than "
                     "total-worker-services (%u); raise that limit",
                     self->rules.max_services);
}

static guint
queue_of (IrisdLeases *leases, gint place)
{
  return place >= 0 && (guint) place < leases->rules.n_places ? (guint) place
                                                              : leases->rules.n_places;
}

static IrisdLeaseQueue *
new_queue (IrisdLeases *leases, gint64 space, const char *name)
{
  IrisdLeaseQueue *self = g_new0 (IrisdLeaseQueue, 1);
  self->space = space;
  self->name = g_strdup (name);
  self->idle = g_new0 (GQueue, leases->rules.n_places + 1);
  self->waiting = g_new0 (GQueue, leases->rules.n_places + 1);
  g_queue_init (&self->impatient);
  self->alarm = G_MAXINT64;
  g_hash_table_add (leases->queues, self);
  return self;
}

/* Frees a queue that has neither a name nor items. */
void
irisd_lease_queue_drop (IrisdLeases *leases, IrisdLeaseQueue *queue)
{
  if (!queue->forgotten || queue->n_entries > 0)
    return;
  g_free (queue->idle);
  g_free (queue->waiting);
  g_free (queue->name);
  g_free (queue->summary);
  g_free (queue);
}

/* When the first item that is not patient has waited long enough; they are in that order. */
gint64
irisd_lease_queue_get_first_end (IrisdLeases *leases, IrisdLeaseQueue *queue)
{
  const IrisdLeaseEntry *first = g_queue_peek_head (&queue->impatient);
  return MAX (first->since, queue->unserved_at) + leases->rules.wait_us;
}

static gint64
find_alarm (IrisdLeases *leases, IrisdLeaseQueue *queue)
{
  if (queue->n_subscriptions > 0 || queue->forgotten)
    return G_MAXINT64;
  if (queue->impatient.length > 0)
    return irisd_lease_queue_get_first_end (leases, queue);
  return queue->n_patient == 0 && !queue->lasting ? queue->unserved_at + leases->rules.wait_us
                                                  : G_MAXINT64;
}

/* Called after anything that may change the alarm. */
void
irisd_lease_queue_set_alarm (IrisdLeases *leases, IrisdLeaseQueue *queue)
{
  gint64 alarm = find_alarm (leases, queue);
  if (alarm == queue->alarm)
    return;
  if (queue->alarm != G_MAXINT64)
    g_tree_remove (leases->by_alarm, queue);
  queue->alarm = alarm;
  if (alarm != G_MAXINT64)
    g_tree_insert (leases->by_alarm, queue, queue);
}

static GQueue *
waiting_queue (IrisdLeases *leases, IrisdLeaseEntry *entry)
{
  guint at = entry->strict ? queue_of (leases, entry->place) : leases->rules.n_places;
  return &entry->queue->waiting[at];
}

/* Inserts an item by age: a new one last, one that comes back before younger ones. */
void
irisd_lease_queue_put (IrisdLeases *leases, IrisdLeaseEntry *entry)
{
  GQueue *queue = waiting_queue (leases, entry);
  entry->link = entry->impatient_link = (GList){ .data = entry };
  if (!entry->patient)
    g_queue_push_tail_link (&entry->queue->impatient, &entry->impatient_link);
  irisd_lease_queue_set_alarm (leases, entry->queue);
  GList *last = queue->tail;
  if (last == NULL || ((IrisdLeaseEntry *) last->data)->order < entry->order)
    {
      g_queue_push_tail_link (queue, &entry->link);
      return;
    }
  GList *younger = queue->head;
  while (((IrisdLeaseEntry *) younger->data)->order < entry->order)
    younger = younger->next;
  g_queue_insert_before_link (queue, younger, &entry->link);
}

void
irisd_lease_queue_remove (IrisdLeases *leases, IrisdLeaseEntry *entry)
{
  g_queue_unlink (waiting_queue (leases, entry), &entry->link);
  if (!entry->patient)
    g_queue_unlink (&entry->queue->impatient, &entry->impatient_link);
  irisd_lease_queue_set_alarm (leases, entry->queue);
}

/* Finds a worker for an item: at the place that it names; if it is not strict, then anywhere. */
IrisdWorker *
irisd_lease_queue_choose (IrisdLeases *leases, IrisdLeaseQueue *queue, const IrisdLeaseEntry *entry)
{
  if (leases->paused)
    return NULL;
  guint all = leases->rules.n_places;
  guint at = queue_of (leases, entry->place);
  GList *first = queue->idle[at].head;
  if (first == NULL && !entry->strict)
    first = queue->idle[all].head;
  return first != NULL ? ((IrisdSubscription *) first->data)->worker : NULL;
}

static IrisdLeaseEntry *
older (IrisdLeaseEntry *entry, GQueue *queue)
{
  IrisdLeaseEntry *head = g_queue_peek_head (queue);
  return head != NULL && (entry == NULL || head->order < entry->order) ? head : entry;
}

/* The oldest item that a worker may run. */
IrisdLeaseEntry *
irisd_lease_queue_first_for (IrisdLeases *leases, IrisdWorker *worker)
{
  if (leases->paused)
    return NULL;
  IrisdLeaseEntry *entry = NULL;
  for (guint i = 0; i < worker->n_subscriptions; i++)
    {
      IrisdLeaseQueue *queue = worker->subscriptions[i]->queue;
      entry = older (entry, &queue->waiting[leases->rules.n_places]);
      if (worker->place >= 0)
        entry = older (entry, &queue->waiting[worker->place]);
    }
  return entry;
}

static void
set_subscription_idle (IrisdLeases *leases, IrisdSubscription *subscription, gboolean idle)
{
  GQueue *all = &subscription->queue->idle[leases->rules.n_places];
  GQueue *there = subscription->worker->place >= 0
                      ? &subscription->queue->idle[subscription->worker->place]
                      : NULL;
  if (idle)
    {
      g_queue_push_tail_link (all, &subscription->idle_link);
      if (there != NULL)
        g_queue_push_tail_link (there, &subscription->place_link);
      return;
    }
  g_queue_unlink (all, &subscription->idle_link);
  if (there != NULL)
    g_queue_unlink (there, &subscription->place_link);
}

void
irisd_worker_set_idle (IrisdLeases *leases, IrisdWorker *worker, gboolean idle)
{
  if (worker->idle == idle)
    return;
  worker->idle = idle;
  for (guint i = 0; i < worker->n_subscriptions; i++)
    set_subscription_idle (leases, worker->subscriptions[i], idle);
}

/* After a lease was given or ended: puts the subscription behind the other idle ones, if its worker
 * has capacity. */
void
irisd_worker_rest (IrisdLeases *leases, IrisdWorker *worker)
{
  irisd_worker_set_idle (leases, worker, FALSE);
  irisd_worker_set_idle (leases, worker, worker->leased < worker->capacity);
}

static void
begin_unserved (IrisdLeases *leases, IrisdLeaseQueue *queue, gint64 now)
{
  queue->unserved_at = now;
  irisd_lease_queue_set_alarm (leases, queue);
}

static void
close_subscription (IrisdLeases *leases, IrisdSubscription *subscription, gint64 now)
{
  IrisdLeaseQueue *queue = subscription->queue;
  g_free (subscription);
  if (--queue->n_subscriptions == 0)
    begin_unserved (leases, queue, now);
}

static void
open_subscription (IrisdLeases *leases, IrisdWorker *worker, IrisdLeaseQueue *queue)
{
  IrisdSubscription *subscription = g_new0 (IrisdSubscription, 1);
  subscription->worker = worker;
  subscription->queue = queue;
  subscription->wanted = TRUE;
  subscription->idle_link.data = subscription;
  subscription->place_link.data = subscription;
  worker->subscriptions = g_renew (IrisdSubscription *, worker->subscriptions,
                                   worker->n_subscriptions + 1);
  worker->subscriptions[worker->n_subscriptions++] = subscription;
  queue->n_subscriptions++;
  queue->served = TRUE;
  irisd_lease_queue_set_alarm (leases, queue);
}

static IrisdSubscription *
find_subscription (IrisdWorker *worker, IrisdLeaseQueue *queue)
{
  for (guint i = 0; i < worker->n_subscriptions; i++)
    {
      IrisdSubscription *subscription = worker->subscriptions[i];
      if (subscription->queue == queue)
        return subscription;
    }
  return NULL;
}

/* Subscribes the worker, which is not idle, to these services and no others. */
void
irisd_worker_subscribe (IrisdLeases *leases,
                        IrisdWorker *worker,
                        const IrisWireServices *services,
                        gint64 now)
{
  for (guint i = 0; i < worker->n_subscriptions; i++)
    worker->subscriptions[i]->wanted = FALSE;
  for (guint i = 0; services != NULL && i < services->n_services; i++)
    {
      const IrisWireService *service = &services->services[i];
      gint64 space = get_space (leases, worker, service->name);
      IrisdLeaseQueue *queue = irisd_leases_find_queue (leases, space, service->name);
      if (queue == NULL)
        queue = new_queue (leases, space, service->name);
      g_free (queue->summary);
      queue->summary = g_strdup (service->summary);
      IrisdSubscription *subscription = find_subscription (worker, queue);
      if (subscription != NULL)
        subscription->wanted = TRUE;
      else
        open_subscription (leases, worker, queue);
    }
  for (guint i = worker->n_subscriptions; i-- > 0;)
    {
      IrisdSubscription *subscription = worker->subscriptions[i];
      if (subscription->wanted)
        continue;
      worker->subscriptions[i] = worker->subscriptions[--worker->n_subscriptions];
      close_subscription (leases, subscription, now);
    }
}

/* From now on the service is known, as if its last worker had just left, so items may wait for its
 * first worker. @space is the name space that items try first; @lasting: it is known as long as the
 * table exists. */
void
irisd_leases_expect (IrisdLeases *self,
                     gint64 space,
                     const char *name,
                     gboolean lasting,
                     gint64 now)
{
  if (irisd_leases_route (self, space, name) != NULL)
    return;
  IrisdLeaseQueue *queue = new_queue (self, space, name);
  queue->summary = g_strdup ("");
  queue->lasting = lasting;
  begin_unserved (self, queue, now);
}

/* Returns whether @space has fewer services without a worker so far than services are allowed. They
 * are counted apart, so that clients that name such services leave room for those of workers. */
gboolean
irisd_leases_has_room_to_expect (IrisdLeases *self, gint64 space)
{
  return count_queues (self, space, FALSE) < self->rules.max_services;
}

guint
irisd_leases_count_services (IrisdLeases *self)
{
  return g_hash_table_size (self->queues);
}

/* Returns how many items are leased. @by_name: (nullable): gets how many of each service, for all
 * name spaces together. */
guint
irisd_leases_count_leased (IrisdLeases *self, GHashTable *by_name)
{
  GHashTableIter iter;
  gpointer value;
  guint sum = 0;
  g_hash_table_iter_init (&iter, self->queues);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      const IrisdLeaseQueue *queue = value;
      guint n = queue->n_entries;
      for (guint i = 0; i <= self->rules.n_places; i++)
        n -= queue->waiting[i].length;
      sum += n;
      if (by_name == NULL || n == 0)
        continue;
      guint before = GPOINTER_TO_UINT (g_hash_table_lookup (by_name, queue->name));
      g_hash_table_replace (by_name, g_strdup (queue->name), GUINT_TO_POINTER (before + n));
    }
  return sum;
}

/* Fills @out, which has room for irisd_leases_count_services(), with the services that items find
 * which try @space first. Returns how many. */
guint
irisd_leases_describe_services (IrisdLeases *self, gint64 space, IrisWireService *out)
{
  GHashTableIter iter;
  gpointer value;
  guint n = 0;
  g_hash_table_iter_init (&iter, self->queues);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      const IrisdLeaseQueue *queue = value;
      if (irisd_leases_route (self, space, queue->name) != queue
          || queue->name[0] == IRISD_RESERVED_MARK)
        continue;
      out[n].name = g_strdup (queue->name);
      out[n].summary = g_strdup (queue->summary);
      n++;
    }
  return n;
}

static gboolean
is_within (const IrisdWorker *worker, const IrisdLeaseQueue *queue, gint64 view)
{
  return queue->space == IRISD_SPACE_SHARED || irisd_view_reaches (view, worker->owner);
}

/* Returns whether @view, an owner or IRISD_VIEW_ALL, sees the worker: as its own, or because it
 * serves all. */
gboolean
irisd_worker_is_within (const IrisdWorker *worker, gint64 view)
{
  gboolean within = irisd_view_reaches (view, worker->owner);
  for (guint i = 0; i < worker->n_subscriptions && !within; i++)
    within = is_within (worker, worker->subscriptions[i]->queue, view);
  return within;
}

/* Fills @out with what the table knows of the worker. */
void
irisd_leases_describe_worker (const IrisdWorker *worker, gint64 view, IrisWireWorker *out)
{
  out->services = g_new0 (IrisWireService, worker->n_subscriptions);
  for (guint i = 0; i < worker->n_subscriptions; i++)
    {
      const IrisdLeaseQueue *queue = worker->subscriptions[i]->queue;
      if (!is_within (worker, queue, view))
        continue;
      out->services[out->n_services].name = g_strdup (queue->name);
      out->services[out->n_services++].summary = g_strdup (queue->summary);
    }
  out->n_places = worker->place >= 0;
  out->places = g_new0 (guint32, 1);
  out->places[0] = worker->place >= 0 ? (guint32) worker->place : 0;
  out->capacity = worker->capacity;
  out->leased = worker->leased;
  out->done = worker->done;
  out->failed = worker->failed;
  out->lost = worker->lost;
}
