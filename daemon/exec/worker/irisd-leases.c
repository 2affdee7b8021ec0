/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of leases: the services of worker processes, the items that wait for them, and the
 * leases.
 *
 * An item is in the table from irisd_leases_add() until it is withdrawn, done, given back for good,
 * held or failed. Each of these happens once, so its owner learns exactly once that it has left.
 * While it is in the table it either waits in one queue or has one lease. A lease that has lost its
 * item still counts against the worker's capacity until the worker has answered; the answer changes
 * nothing else.
 *
 * A lease given by an earlier irisd can be restored, with a number of this table. It has no worker
 * until a worker of the same owner names it, which claims it; afterwards it is like any other. If
 * it expires first, the item goes to other workers.
 *
 * Waiting items are moved when that rule gives another result: when a service gets its first worker
 * in one name space, or loses its last, while items wait in the other.
 *
 * Invariant, after each call: no item waits that an idle worker may run. The table looks for an
 * item whenever a worker gets capacity or a new subscription, and for a worker whenever an item
 * begins to wait.
 */
#include "daemon/exec/worker/irisd-leases-private.h"

#include <string.h>

static gint
compare_deadlines (gconstpointer a, gconstpointer b)
{
  const IrisdLease *left = a, *right = b;
  if (left->deadline != right->deadline)
    return left->deadline < right->deadline ? -1 : 1;
  return left->number < right->number ? -1 : left->number > right->number;
}

static gint
compare_alarms (gconstpointer a, gconstpointer b)
{
  const IrisdLeaseQueue *left = a, *right = b;
  if (left->alarm != right->alarm)
    return left->alarm < right->alarm ? -1 : 1;
  if (left->space != right->space)
    return left->space < right->space ? -1 : 1;
  return strcmp (left->name, right->name);
}

/* Copies @rules; @events is a constant. Returns an empty table. */
IrisdLeases *
irisd_leases_new (const IrisdLeaseRules *rules, const IrisdLeaseEvents *events, gpointer user_data)
{
  IrisdLeases *self = g_new0 (IrisdLeases, 1);
  self->rules = *rules;
  self->events = events;
  self->user_data = user_data;
  self->queues = g_hash_table_new (irisd_lease_queue_hash, irisd_lease_queue_equal);
  self->by_number = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  self->by_deadline = g_tree_new (compare_deadlines);
  self->by_alarm = g_tree_new (compare_alarms);
  return self;
}

/* Removes a queue's name; the queue is freed with its last item. */
static void
forget_queue (IrisdLeases *self, IrisdLeaseQueue *queue)
{
  g_hash_table_remove (self->queues, queue);
  queue->forgotten = TRUE;
  irisd_lease_queue_set_alarm (self, queue);
  irisd_lease_queue_drop (self, queue);
}

/* @self has neither workers nor items. */
void
irisd_leases_free (IrisdLeases *self)
{
  g_autoptr (GList) queues = g_hash_table_get_values (self->queues);
  for (GList *link = queues; link != NULL; link = link->next)
    {
      g_warn_if_fail (((IrisdLeaseQueue *) link->data)->n_subscriptions == 0);
      forget_queue (self, link->data);
    }
  g_tree_unref (self->by_alarm);
  g_hash_table_unref (self->queues);
  g_hash_table_unref (self->by_number);
  g_tree_unref (self->by_deadline);
  g_free (self);
}

/* The item is no longer in the table. */
static void
let_go (IrisdLeases *self, IrisdLeaseEntry *entry)
{
  IrisdLeaseQueue *queue = entry->queue;
  entry->queue = NULL;
  entry->lease = NULL;
  queue->n_entries--;
  queue->n_patient -= entry->patient;
  irisd_lease_queue_set_alarm (self, queue);
  irisd_lease_queue_drop (self, queue);
}

static void
fail_entry (IrisdLeases *self, IrisdLeaseEntry *entry, IrisWireError why)
{
  let_go (self, entry);
  self->events->fail (entry, why, self->user_data);
}

/* A lease without a worker. */
static IrisdLease *
new_lease (IrisdLeases *self, IrisdLeaseEntry *entry, gint64 deadline)
{
  IrisdLease *lease = g_new0 (IrisdLease, 1);
  lease->number = ++self->last_number;
  lease->entry = entry;
  lease->deadline = deadline;
  lease->link.data = lease;
  g_hash_table_insert (self->by_number, &lease->number, lease);
  g_tree_insert (self->by_deadline, lease, lease);
  entry->lease = lease;
  return lease;
}

static void
set_server (IrisdLeases *self, IrisdLease *lease, IrisdWorker *worker)
{
  lease->worker = worker;
  g_queue_push_tail_link (&worker->leases, &lease->link);
  worker->leased++;
  irisd_worker_rest (self, worker);
}

static void
give (IrisdLeases *self, IrisdWorker *worker, IrisdLeaseEntry *entry, gint64 now)
{
  IrisdLease *lease = new_lease (self, entry, now + self->rules.lease_us);
  entry->attempts++;
  set_server (self, lease, worker);
  self->events->give (worker, lease->number, entry, self->user_data);
}

/* Whether a waiting item may be leased; if not, it has left the table. */
static gboolean
may_give (IrisdLeases *self, IrisdLeaseEntry *entry)
{
  if (self->events->may_give (entry, self->user_data))
    return TRUE;
  irisd_lease_queue_remove (self, entry);
  let_go (self, entry);
  self->events->hold (entry, self->user_data);
  return FALSE;
}

/* Leases waiting items to a worker as long as it has capacity. */
static void
employ (IrisdLeases *self, IrisdWorker *worker, gint64 now)
{
  IrisdLeaseEntry *entry;
  while (worker->leased < worker->capacity
         && (entry = irisd_lease_queue_first_for (self, worker)) != NULL)
    {
      if (!may_give (self, entry))
        continue;
      irisd_lease_queue_remove (self, entry);
      give (self, worker, entry, now);
    }
}

/* Leases an item at once, or lets it wait. */
static void
place_entry (IrisdLeases *self, IrisdLeaseEntry *entry, gint64 now)
{
  entry->lease = NULL;
  entry->away = FALSE;
  gboolean draining = self->draining && entry->patient;
  guint why = self->closed                                     ? IRIS_WIRE_ERROR_SHUTTING_DOWN
              : entry->deadline != 0 && entry->deadline <= now ? IRIS_WIRE_ERROR_DEADLINE_PASSED
              : entry->queue->forgotten                        ? IRIS_WIRE_ERROR_NO_WORKER
              : draining                                       ? IRIS_WIRE_ERROR_SHUTTING_DOWN
                                                               : 0;
  if (why != 0)
    {
      fail_entry (self, entry, (IrisWireError) why);
      return;
    }
  entry->since = now;
  irisd_lease_queue_put (self, entry);
  IrisdWorker *worker = irisd_lease_queue_choose (self, entry->queue, entry);
  self->events->wait (entry, self->user_data);
  if (worker == NULL || !may_give (self, entry))
    return;
  irisd_lease_queue_remove (self, entry);
  give (self, worker, entry, now);
}

/* The lease ended without an answer. */
static void
lose (IrisdLeases *self, IrisdLeaseEntry *entry, gint64 now)
{
  if (entry->attempts >= self->rules.attempts && !entry->tireless)
    fail_entry (self, entry, IRIS_WIRE_ERROR_WORKER_LOST);
  else
    place_entry (self, entry, now);
}

/* Takes its item from a lease. */
static IrisdLeaseEntry *
strip (IrisdLeases *self, IrisdLease *lease)
{
  IrisdLeaseEntry *entry = lease->entry;
  if (entry == NULL)
    return NULL;
  g_tree_remove (self->by_deadline, lease);
  lease->entry = NULL;
  entry->lease = NULL;
  return entry;
}

/* Takes its item from a lease, and tells the worker why; a worker that is away is told when it
 * asks. */
static IrisdLeaseEntry *
take_back (IrisdLeases *self, IrisdLease *lease, IrisWireError why)
{
  IrisdLeaseEntry *entry = strip (self, lease);
  if (lease->worker != NULL)
    self->events->stop (lease->worker, lease->number, why, self->user_data);
  else
    g_hash_table_remove (self->by_number, &lease->number);
  return entry;
}

/* The lease no longer counts against its worker. */
static void
close_lease (IrisdLeases *self, IrisdLease *lease)
{
  IrisdWorker *worker = lease->worker;
  g_queue_unlink (&worker->leases, &lease->link);
  g_hash_table_remove (self->by_number, &lease->number);
  worker->leased--;
}

static void
move_entry (IrisdLeases *self, IrisdLeaseEntry *entry, IrisdLeaseQueue *to, gint64 now)
{
  IrisdLeaseQueue *from = entry->queue;
  irisd_lease_queue_remove (self, entry);
  from->n_entries--;
  from->n_patient -= entry->patient;
  irisd_lease_queue_set_alarm (self, from);
  entry->queue = to;
  to->n_entries++;
  to->n_patient += entry->patient;
  place_entry (self, entry, now);
}

/* Moves the items of a queue that has no worker to the queue where they belong now. */
static void
reroute_queue (IrisdLeases *self, IrisdLeaseQueue *from, gint64 now)
{
  for (guint i = 0; i <= self->rules.n_places; i++)
    for (GList *link = from->waiting[i].head, *next; link != NULL; link = next)
      {
        IrisdLeaseEntry *entry = link->data;
        IrisdLeaseQueue *to = irisd_leases_route (self, entry->space, from->name);
        next = link->next;
        if (to != from)
          move_entry (self, entry, to, now);
      }
}

/* A user's service got its first worker; items of that user may wait in the shared one. */
static void
pull_own (IrisdLeases *self, IrisdWorker *worker, gint64 now)
{
  for (guint i = 0; i < worker->n_subscriptions; i++)
    {
      const IrisdLeaseQueue *own = worker->subscriptions[i]->queue;
      IrisdLeaseQueue *shared = irisd_leases_find_queue (self, IRISD_SPACE_SHARED, own->name);
      if (own->n_subscriptions == 1 && shared != NULL && shared != own
          && shared->n_subscriptions == 0)
        reroute_queue (self, shared, now);
    }
}

/* Moves waiting items to where they find their service now. @worker has changed its services, or
 * has left. */
static void
reroute (IrisdLeases *self, IrisdWorker *worker, gint64 now)
{
  pull_own (self, worker, now);
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->queues);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      IrisdLeaseQueue *queue = value;
      if (queue->n_subscriptions == 0 && queue->n_entries > 0 && queue->space != IRISD_SPACE_SHARED
          && irisd_leases_route (self, queue->space, queue->name) != queue)
        reroute_queue (self, queue, now);
    }
}

static void
put_off_patient (IrisdLeases *self, IrisdLeaseQueue *queue)
{
  for (guint i = 0; i <= self->rules.n_places && queue->n_patient > 0; i++)
    for (GList *link = queue->waiting[i].head; link != NULL && queue->n_patient > 0;)
      {
        IrisdLeaseEntry *entry = link->data;
        link = link->next;
        if (!entry->patient)
          continue;
        irisd_lease_queue_remove (self, entry);
        fail_entry (self, entry, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      }
}

/* A table that drains leases no patient item: those run after irisd's next start. */
static void
put_off_waiting (IrisdLeases *self)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->queues);
  while (self->draining && g_hash_table_iter_next (&iter, NULL, &value))
    put_off_patient (self, value);
}

/* @worker is new, or changes its services; @place is its place or IRIS_PLACE_ANY, @capacity the
 * most leases that it takes. Returns FALSE, and changes nothing, if there would be too many
 * services. */
gboolean
irisd_leases_enroll (IrisdLeases *self,
                     IrisdWorker *worker,
                     gint place,
                     guint capacity,
                     const IrisWireServices *services,
                     gint64 now,
                     GError **error)
{
  if (!irisd_leases_check_services (self, worker, services, error))
    return FALSE;
  worker->enrolled = TRUE;
  irisd_worker_set_idle (self, worker, FALSE);
  worker->place = place >= 0 && (guint) place < self->rules.n_places ? place : IRIS_PLACE_ANY;
  worker->capacity = capacity;
  irisd_worker_subscribe (self, worker, services, now);
  irisd_worker_rest (self, worker);
  employ (self, worker, now);
  reroute (self, worker, now);
  put_off_waiting (self);
  return TRUE;
}

/* @worker has left and may be freed afterwards. Its items go to others. */
void
irisd_leases_leave (IrisdLeases *self, IrisdWorker *worker, gint64 now)
{
  if (!worker->enrolled)
    return;
  irisd_worker_set_idle (self, worker, FALSE);
  worker->capacity = 0;
  irisd_worker_subscribe (self, worker, NULL, now);
  reroute (self, worker, now);
  put_off_waiting (self);
  while (worker->leases.length > 0)
    {
      /* The youngest first, so that the oldest ends up at the head of its queue. */
      IrisdLease *lease = g_queue_peek_tail (&worker->leases);
      IrisdLeaseEntry *entry = strip (self, lease);
      close_lease (self, lease);
      if (entry != NULL)
        lose (self, entry, now);
    }
  g_clear_pointer (&worker->subscriptions, g_free);
  worker->enrolled = FALSE;
  reroute (self, worker, now);
}

static gboolean
is_known (IrisdLeases *self, const IrisdLeaseQueue *queue, gboolean patient, gint64 now)
{
  return queue != NULL
         && (patient || queue->lasting || queue->n_subscriptions > 0
             || now < queue->unserved_at + self->rules.wait_us);
}

/* Returns whether the service is known to items that try @space first. A service that has had no
 * worker for too long, and that only patient items wait for, is known to @patient items only. */
gboolean
irisd_leases_knows (IrisdLeases *self, gint64 space, const char *name, gboolean patient, gint64 now)
{
  return is_known (self, irisd_leases_find_queue (self, space, name), patient, now)
         || is_known (self, irisd_leases_find_queue (self, IRISD_SPACE_SHARED, name), patient, now);
}

static gboolean
enter (IrisdLeases *self, IrisdLeaseEntry *entry, const char *name)
{
  IrisdLeaseQueue *queue = irisd_leases_route (self, entry->space, name);
  if (queue == NULL)
    return FALSE;
  queue->n_entries++;
  queue->n_patient += entry->patient;
  entry->queue = queue;
  entry->order = ++self->last_order;
  return TRUE;
}

/* @entry must outlive its time in the table. Returns FALSE, and does not add it, if the service is
 * not known. */
gboolean
irisd_leases_add (IrisdLeases *self, IrisdLeaseEntry *entry, const char *name, gint64 now)
{
  if (!enter (self, entry, name))
    return FALSE;
  place_entry (self, entry, now);
  return TRUE;
}

/* Adds @entry, which had a lease in an earlier irisd, with its number of attempts set. @owner is
 * its worker's, @left_us the time left, at most as long as a new lease. Returns the number of its
 * lease; 0, and does not add it, if the service is not known. */
guint64
irisd_leases_restore (IrisdLeases *self,
                      IrisdLeaseEntry *entry,
                      const char *name,
                      gint64 owner,
                      gint64 left_us,
                      gint64 now)
{
  if (!enter (self, entry, name))
    return 0;
  IrisdLease *lease = new_lease (self, entry, now + CLAMP (left_us, 0, self->rules.lease_us));
  lease->owner = owner;
  entry->away = TRUE;
  irisd_lease_queue_set_alarm (self, entry->queue);
  return lease->number;
}

IrisdLeaseEntryState
irisd_leases_get_state (const IrisdLeaseEntry *entry)
{
  if (entry->queue == NULL)
    return IRISD_LEASE_ENTRY_GONE;
  return entry->lease == NULL ? IRISD_LEASE_ENTRY_WAITED : IRISD_LEASE_ENTRY_WAS_LEASED;
}

/* Takes @entry out of the table without an end. Returns where it was. */
IrisdLeaseEntryState
irisd_leases_withdraw (IrisdLeases *self, IrisdLeaseEntry *entry, gint64 now)
{
  IrisdLeaseEntryState state = irisd_leases_get_state (entry);
  IrisdLease *lease = entry->lease;
  if (state == IRISD_LEASE_ENTRY_GONE)
    return state;
  if (lease == NULL)
    irisd_lease_queue_remove (self, entry);
  else
    take_back (self, lease, IRIS_WIRE_ERROR_CANCELLED);
  let_go (self, entry);
  return state;
}

static IrisdLease *
find_lease (IrisdLeases *self, IrisdWorker *worker, guint64 number)
{
  IrisdLease *lease = g_hash_table_lookup (self->by_number, &number);
  if (lease != NULL && lease->worker == NULL && lease->owner == worker->owner && worker->enrolled)
    {
      lease->entry->away = FALSE;
      set_server (self, lease, worker);
    }
  return lease != NULL && lease->worker == worker ? lease : NULL;
}

/* Returns the item if the worker has that lease, else NULL. */
IrisdLeaseEntry *
irisd_leases_find (IrisdLeases *self, IrisdWorker *worker, guint64 lease)
{
  IrisdLease *found = find_lease (self, worker, lease);
  return found != NULL ? found->entry : NULL;
}

/* Returns the worker that has leased @entry, or NULL, and the number of the lease. */
IrisdWorker *
irisd_leases_find_worker (const IrisdLeaseEntry *entry, guint64 *lease)
{
  if (entry->lease == NULL)
    return NULL;
  *lease = entry->lease->number;
  return entry->lease->worker;
}

/* Ends a lease that the worker has answered, and leases to it anew. */
static IrisdLeaseEntry *
settle (IrisdLeases *self, IrisdLease *lease)
{
  IrisdLeaseEntry *entry = strip (self, lease);
  close_lease (self, lease);
  return entry;
}

/* Leases waiting items to a worker that may have capacity now. */
void
irisd_leases_employ (IrisdLeases *self, IrisdWorker *worker, gint64 now)
{
  irisd_worker_rest (self, worker);
  employ (self, worker, now);
}

/* The worker has ended its lease @lease. Returns IRISD_LEASE_ENDED, with @entry, which has left the
 * table; or IRISD_LEASE_STOPPED or IRISD_LEASE_UNKNOWN. */
IrisdLeaseEnd
irisd_leases_done (IrisdLeases *self,
                   IrisdWorker *worker,
                   guint64 lease,
                   gint64 now,
                   IrisdLeaseEntry **entry)
{
  IrisdLease *found = find_lease (self, worker, lease);
  *entry = NULL;
  if (found == NULL)
    return IRISD_LEASE_UNKNOWN;
  *entry = settle (self, found);
  if (*entry != NULL)
    {
      worker->done++;
      let_go (self, *entry);
    }
  irisd_leases_employ (self, worker, now);
  return *entry != NULL ? IRISD_LEASE_ENDED : IRISD_LEASE_UNKNOWN;
}

/* The worker could not run the item of @lease; @again: another attempt may succeed. @entry is the
 * item if it has failed. */
IrisdLeaseEnd
irisd_leases_give_back (IrisdLeases *self,
                        IrisdWorker *worker,
                        guint64 lease,
                        gboolean again,
                        gint64 now,
                        IrisdLeaseEntry **entry)
{
  IrisdLease *found = find_lease (self, worker, lease);
  *entry = NULL;
  if (found == NULL)
    return IRISD_LEASE_UNKNOWN;
  IrisdLeaseEntry *settled = settle (self, found);
  IrisdLeaseEnd end = IRISD_LEASE_STOPPED;
  if (settled != NULL)
    {
      worker->failed++;
      gboolean may = settled->tireless || settled->attempts < self->rules.attempts;
      end = again && may ? IRISD_LEASE_AGAIN : IRISD_LEASE_ENDED;
    }
  if (end == IRISD_LEASE_ENDED)
    {
      let_go (self, settled);
      *entry = settled;
    }
  else if (end == IRISD_LEASE_AGAIN)
    place_entry (self, settled, now); /* the worker is not idle yet: others first */
  irisd_leases_employ (self, worker, now);
  return end;
}

/* Lets the lease end @more_us from now, at most as long as a new lease. Returns FALSE if the worker
 * has no such lease. */
gboolean
irisd_leases_extend (IrisdLeases *self,
                     IrisdWorker *worker,
                     guint64 lease,
                     gint64 more_us,
                     gint64 now)
{
  IrisdLease *found = find_lease (self, worker, lease);
  if (found == NULL || found->entry == NULL)
    return FALSE;
  g_tree_remove (self->by_deadline, found);
  found->deadline = now + CLAMP (more_us, 0, self->rules.lease_us);
  g_tree_insert (self->by_deadline, found, found);
  return TRUE;
}

/* From now on nothing is leased; no worker has an item yet. */
void
irisd_leases_pause (IrisdLeases *self)
{
  self->paused = TRUE;
}

/* Ends irisd_leases_pause(); call irisd_leases_employ() for each worker then. */
void
irisd_leases_resume (IrisdLeases *self)
{
  self->paused = FALSE;
}

static IrisdLeaseQueue *
first_alarm (IrisdLeases *self)
{
  GTreeNode *node = g_tree_node_first (self->by_alarm);
  return node != NULL ? g_tree_node_key (node) : NULL;
}

static IrisdLease *
first_lease (IrisdLeases *self)
{
  GTreeNode *node = g_tree_node_first (self->by_deadline);
  return node != NULL ? g_tree_node_key (node) : NULL;
}

/* Returns when irisd_leases_expire() is to be called; G_MAXINT64 for never. */
gint64
irisd_leases_next (IrisdLeases *self)
{
  IrisdLease *lease = first_lease (self);
  IrisdLeaseQueue *queue = first_alarm (self);
  gint64 next = lease != NULL ? lease->deadline : G_MAXINT64;
  return queue != NULL ? MIN (next, queue->alarm) : next;
}

/* Fails items that have waited long enough for a worker, and drops a service with neither worker
 * nor items. */
static void
give_up (IrisdLeases *self, IrisdLeaseQueue *queue, gint64 now)
{
  IrisdLeaseEntry *entry;
  while ((entry = g_queue_peek_head (&queue->impatient)) != NULL
         && irisd_lease_queue_get_first_end (self, queue) <= now)
    {
      irisd_lease_queue_remove (self, entry);
      fail_entry (self, entry, IRIS_WIRE_ERROR_NO_WORKER);
    }
  if (entry == NULL && queue->alarm <= now)
    forget_queue (self, queue);
}

/* Ends expired leases, and drops services without a worker. */
void
irisd_leases_expire (IrisdLeases *self, gint64 now)
{
  IrisdLease *lease;
  while ((lease = first_lease (self)) != NULL && lease->deadline <= now)
    {
      if (lease->worker != NULL)
        lease->worker->lost++;
      IrisdLeaseEntry *entry = take_back (self, lease, IRIS_WIRE_ERROR_NO_SUCH_LEASE);
      lose (self, entry, now);
    }
  IrisdLeaseQueue *queue;
  while ((queue = first_alarm (self)) != NULL && queue->alarm <= now)
    give_up (self, queue, now);
}

static gboolean
collect_away (gpointer key, gpointer value, gpointer user_data)
{
  IrisdLease *lease = value;
  if (lease->worker == NULL || (lease->entry->tireless && lease->entry->patient))
    g_ptr_array_add (user_data, lease);
  return FALSE;
}

static void
put_off_away (IrisdLeases *self)
{
  g_autoptr (GPtrArray) leases = g_ptr_array_new ();
  g_tree_foreach (self->by_deadline, collect_away, leases);
  for (guint i = 0; i < leases->len; i++)
    {
      IrisdLeaseEntry *entry = take_back (self, leases->pdata[i], IRIS_WIRE_ERROR_SHUTTING_DOWN);
      fail_entry (self, entry, IRIS_WIRE_ERROR_SHUTTING_DOWN);
    }
}

/* From now on patient items that are not leased, are tireless, or whose worker is away, no longer
 * wait, because irisd is to end. */
void
irisd_leases_drain (IrisdLeases *self)
{
  self->draining = TRUE;
  put_off_away (self);
  put_off_waiting (self);
}

/* Ends all waiting and all leases, now and from now on, because irisd ends. */
void
irisd_leases_close (IrisdLeases *self)
{
  self->closed = TRUE;
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->queues);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      IrisdLeaseQueue *queue = value;
      for (guint i = 0; i <= self->rules.n_places; i++)
        while (queue->waiting[i].length > 0)
          {
            IrisdLeaseEntry *entry = g_queue_peek_head (&queue->waiting[i]);
            irisd_lease_queue_remove (self, entry);
            fail_entry (self, entry, IRIS_WIRE_ERROR_SHUTTING_DOWN);
          }
    }
  IrisdLease *lease;
  while ((lease = first_lease (self)) != NULL)
    {
      IrisdLeaseEntry *entry = take_back (self, lease, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      fail_entry (self, entry, IRIS_WIRE_ERROR_SHUTTING_DOWN);
    }
}
