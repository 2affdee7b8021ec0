/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Limits on how many items of one client, and of one service, run at once.
 *
 * An item needs a permit of its client and one of its service. It takes both or none, so a waiter
 * for one does not delay items at the other. Items of one client and one service are a *pair*: all
 * of them can have a permit or none, so only the first of each pair is examined.
 *
 * Invariant, after each call: no pair waits whose client and service both have permits left.
 * Entering keeps it, as an item waits only if a permit is missing or its pair waits. Leaving
 * returns permits to one client and one service, so only their pairs are examined, until none of
 * them can run.
 *
 * The next of the pairs that can run: the first item by `since - priority * aging`, as at the gates
 * (irisd-fair-queue.c), gives the level of priority, so nothing starves. Among the pairs whose
 * first item is of that level the one with the fewest permits is next, and of those the one whose
 * last permit is the oldest. So clients of a full service get equal shares of its permits, and none
 * waits for more than one item of each other one.
 *
 * Leaving costs a step for each client that waits for the service and for each service that the
 * client waits for, if any item waits. One lock guards all of it, and is not held while calling
 * out. Without limits it is never taken.
 *
 * The limits may change: a greater one gives permits to waiters at once, a lesser one takes none
 * back. Items that came while neither of their two limits was set have no permits.
 */
#include "daemon/exec/item/irisd-concurrency-limit.h"

/* The permits of a client or of a service. */
typedef struct
{
  gconstpointer key;
  char *name;    /* of a service */
  guint64 limit; /* 0: none */
  guint64 inside;
  guint n_pairs;
  GQueue waiting; /* pairs with waiters */
} Account;

struct _IrisdConcurrencyPair
{
  Account *client;
  Account *service;
  GSequence *waiting; /* waiters by rank */
  guint64 inside;
  guint64 turn; /* when it last got a permit */
  GHashTable *owner;
  GList of_client; /* while it has waiters */
  GList of_service;
};

typedef struct
{
  Account account;
  GHashTable *pairs; /* by the service's account */
} Client;

static gboolean
has_any (const IrisdFairRule *client, GHashTable *services)
{
  GHashTableIter iter;
  gpointer rule;
  gboolean any = client->concurrency > 0;
  g_hash_table_iter_init (&iter, services);
  while (g_hash_table_iter_next (&iter, NULL, &rule))
    any |= ((IrisdFairRule *) rule)->concurrency > 0;
  return any;
}

/* @client: the limits of each client, of which only the concurrency counts here. @services: the
 * limits of all clients together for a service, which are not changed any more. @aging_us: see
 * irisd_fair_queue_init(). */
void
irisd_concurrency_limit_init (IrisdConcurrencyLimit *self,
                              const IrisdFairRule *client,
                              GHashTable *services,
                              gint64 aging_us)
{
  *self = (IrisdConcurrencyLimit){ .client_limit = client->concurrency,
                                   .services = g_hash_table_ref (services) };
  self->aging_us = aging_us;
  atomic_init (&self->any, has_any (client, services));
  pthread_mutex_init (&self->lock, NULL);
  self->clients = g_hash_table_new (NULL, NULL);
  self->by_name = g_hash_table_new (g_str_hash, g_str_equal);
}

void
irisd_concurrency_limit_clear (IrisdConcurrencyLimit *self)
{
  g_warn_if_fail (g_hash_table_size (self->clients) == 0);
  g_clear_pointer (&self->services, g_hash_table_unref);
  g_clear_pointer (&self->clients, g_hash_table_unref);
  g_clear_pointer (&self->by_name, g_hash_table_unref);
  pthread_mutex_destroy (&self->lock);
}

static gboolean
has_room (const Account *account)
{
  return account->limit == 0 || account->inside < account->limit;
}

static gboolean
can_come_in (const IrisdConcurrencyPair *pair)
{
  return has_room (pair->client) && has_room (pair->service);
}

static Client *
get_client (IrisdConcurrencyLimit *self, gconstpointer key)
{
  Client *client = g_hash_table_lookup (self->clients, key);
  if (client != NULL)
    return client;
  client = g_new0 (Client, 1);
  client->account.key = key;
  client->account.limit = self->client_limit;
  client->pairs = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (self->clients, (gpointer) key, client);
  return client;
}

static Account *
get_service (IrisdConcurrencyLimit *self, const char *name, guint64 limit)
{
  Account *service = g_hash_table_lookup (self->by_name, name);
  if (service != NULL)
    return service;
  service = g_new0 (Account, 1);
  service->name = g_strdup (name);
  service->limit = limit;
  g_hash_table_insert (self->by_name, service->name, service);
  return service;
}

static IrisdConcurrencyPair *
get_pair (IrisdConcurrencyLimit *self, gconstpointer key, const char *name, guint64 limit)
{
  Client *client = get_client (self, key);
  Account *service = get_service (self, name, limit);
  IrisdConcurrencyPair *pair = g_hash_table_lookup (client->pairs, service);
  if (pair != NULL)
    return pair;
  pair = g_new0 (IrisdConcurrencyPair, 1);
  pair->client = &client->account;
  pair->service = service;
  pair->waiting = g_sequence_new (NULL);
  pair->owner = client->pairs;
  pair->of_client.data = pair->of_service.data = pair;
  client->account.n_pairs++;
  service->n_pairs++;
  g_hash_table_insert (client->pairs, service, pair);
  return pair;
}

/* Frees a pair without permits and waiters, and its accounts if it was their last. */
static void
drop_pair (IrisdConcurrencyLimit *self, IrisdConcurrencyPair *pair)
{
  if (pair->inside > 0 || !g_sequence_is_empty (pair->waiting))
    return;
  Account *client = pair->client, *service = pair->service;
  GHashTable *pairs = pair->owner;
  g_hash_table_remove (pairs, service);
  g_sequence_free (pair->waiting);
  g_free (pair);
  if (--client->n_pairs == 0)
    {
      g_hash_table_remove (self->clients, client->key);
      g_hash_table_unref (pairs);
      g_free (client);
    }
  if (--service->n_pairs == 0)
    {
      g_hash_table_remove (self->by_name, service->name);
      g_free (service->name);
      g_free (service);
    }
}

static int
compare_ranks (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const IrisdConcurrencyWaiter *left = a, *right = b;
  if (left->rank != right->rank)
    return left->rank < right->rank ? -1 : 1;
  return left->number < right->number ? -1 : left->number > right->number;
}

static void
wait_in (IrisdConcurrencyLimit *self, IrisdConcurrencyPair *pair, IrisdConcurrencyWaiter *waiter)
{
  if (g_sequence_is_empty (pair->waiting))
    {
      g_queue_push_tail_link (&pair->client->waiting, &pair->of_client);
      g_queue_push_tail_link (&pair->service->waiting, &pair->of_service);
    }
  waiter->at = g_sequence_insert_sorted (pair->waiting, waiter, compare_ranks, NULL);
  atomic_fetch_add_explicit (&self->n_waiting, 1, memory_order_relaxed);
}

static void
wait_no_more (IrisdConcurrencyLimit *self, IrisdConcurrencyWaiter *waiter)
{
  IrisdConcurrencyPair *pair = waiter->pair;
  g_sequence_remove (waiter->at);
  waiter->at = NULL;
  atomic_fetch_sub_explicit (&self->n_waiting, 1, memory_order_relaxed);
  if (g_sequence_is_empty (pair->waiting))
    {
      g_queue_unlink (&pair->client->waiting, &pair->of_client);
      g_queue_unlink (&pair->service->waiting, &pair->of_service);
    }
}

static void
let_in (IrisdConcurrencyLimit *self, IrisdConcurrencyPair *pair)
{
  pair->client->inside++;
  pair->service->inside++;
  pair->inside++;
  pair->turn = ++self->n_turns;
}

static guint64
find_limit (IrisdConcurrencyLimit *self, const char *service)
{
  const IrisdFairRule *rule = g_hash_table_lookup (self->services, service);
  return rule != NULL ? rule->concurrency : 0;
}

/* @waiter is all zeroes; @client is only compared. Returns whether it has a permit, until
 * irisd_concurrency_limit_leave(). Otherwise it waits until irisd_concurrency_limit_leave() returns
 * it or irisd_concurrency_limit_withdraw() takes it out. */
gboolean
irisd_concurrency_limit_enter (IrisdConcurrencyLimit *self,
                               IrisdConcurrencyWaiter *waiter,
                               gconstpointer client,
                               const char *service,
                               guint priority,
                               gint64 now_us)
{
  pthread_mutex_lock (&self->lock);
  guint64 limit = find_limit (self, service);
  if (limit == 0 && self->client_limit == 0)
    {
      pthread_mutex_unlock (&self->lock);
      return TRUE;
    }
  IrisdConcurrencyPair *pair = get_pair (self, client, service, limit);
  waiter->pair = pair;
  waiter->priority = (guint8) priority;
  waiter->rank = now_us - (gint64) priority * self->aging_us;
  waiter->number = ++self->n_entered;
  gboolean inside = g_sequence_is_empty (pair->waiting) && can_come_in (pair);
  if (inside)
    let_in (self, pair);
  else
    wait_in (self, pair, waiter);
  pthread_mutex_unlock (&self->lock);
  return inside;
}

/* Returns whether @waiter still waited, and does no longer. */
gboolean
irisd_concurrency_limit_withdraw (IrisdConcurrencyLimit *self, IrisdConcurrencyWaiter *waiter)
{
  pthread_mutex_lock (&self->lock);
  gboolean waited = waiter->at != NULL;
  if (waited)
    {
      IrisdConcurrencyPair *pair = waiter->pair;
      wait_no_more (self, waiter);
      waiter->pair = NULL;
      drop_pair (self, pair);
    }
  pthread_mutex_unlock (&self->lock);
  return waited;
}

static IrisdConcurrencyWaiter *
first_of (const IrisdConcurrencyPair *pair)
{
  return g_sequence_get (g_sequence_get_begin_iter (pair->waiting));
}

/* Calls @visit for those pairs that can run after items of @client and @service left. */
typedef void (*Visit) (IrisdConcurrencyPair *pair, gpointer data);

static void
each_candidate (Account *client, Account *service, Visit visit, gpointer data)
{
  for (GList *link = client->waiting.head; link != NULL; link = link->next)
    if (can_come_in (link->data))
      visit (link->data, data);
  for (GList *link = service->waiting.head; link != NULL; link = link->next)
    if (((IrisdConcurrencyPair *) link->data)->client != client && can_come_in (link->data))
      visit (link->data, data);
}

static void
find_first (IrisdConcurrencyPair *pair, gpointer data)
{
  IrisdConcurrencyWaiter **first = data;
  if (*first == NULL || compare_ranks (first_of (pair), *first, NULL) < 0)
    *first = first_of (pair);
}

static gboolean
comes_before (const IrisdConcurrencyPair *a, const IrisdConcurrencyPair *b)
{
  if (a->inside != b->inside)
    return a->inside < b->inside;
  if (a->turn != b->turn)
    return a->turn < b->turn;
  return compare_ranks (first_of (a), first_of (b), NULL) < 0;
}

typedef struct
{
  guint8 priority;
  IrisdConcurrencyPair *best;
} Choice;

static void
find_best (IrisdConcurrencyPair *pair, gpointer data)
{
  Choice *choice = data;
  if (first_of (pair)->priority == choice->priority
      && (choice->best == NULL || comes_before (pair, choice->best)))
    choice->best = pair;
}

static IrisdConcurrencyPair *
choose (Account *client, Account *service)
{
  IrisdConcurrencyWaiter *first = NULL;
  each_candidate (client, service, find_first, &first);
  if (first == NULL)
    return NULL;
  Choice choice = { .priority = first->priority };
  each_candidate (client, service, find_best, &choice);
  return choice.best;
}

/* Gives the permits of a client and a service to waiters, and puts those at @tail, the end of a
 * list. Returns its new end. */
static IrisdConcurrencyWaiter **
fill (IrisdConcurrencyLimit *self, Account *client, Account *service, IrisdConcurrencyWaiter **tail)
{
  IrisdConcurrencyPair *pair;
  while ((pair = choose (client, service)) != NULL)
    {
      IrisdConcurrencyWaiter *waiter = first_of (pair);
      wait_no_more (self, waiter);
      let_in (self, pair);
      waiter->next = NULL;
      *tail = waiter;
      tail = &waiter->next;
    }
  return tail;
}

/* Returns the waiters that have got a permit instead, in their order, linked by `next`. */
IrisdConcurrencyWaiter *
irisd_concurrency_limit_leave (IrisdConcurrencyLimit *self, IrisdConcurrencyWaiter *waiter)
{
  IrisdConcurrencyPair *pair = waiter->pair;
  if (pair == NULL)
    return NULL;
  pthread_mutex_lock (&self->lock);
  waiter->pair = NULL;
  pair->inside--;
  pair->client->inside--;
  pair->service->inside--;
  IrisdConcurrencyWaiter *list = NULL;
  fill (self, pair->client, pair->service, &list);
  drop_pair (self, pair);
  pthread_mutex_unlock (&self->lock);
  return list;
}

/* From now on these limits hold, see irisd_concurrency_limit_init(). Returns the waiters that have
 * got a permit thereby, in their order for each service, linked by `next`. */
IrisdConcurrencyWaiter *
irisd_concurrency_limit_change (IrisdConcurrencyLimit *self,
                                const IrisdFairRule *client,
                                GHashTable *services)
{
  IrisdConcurrencyWaiter *list = NULL, **tail = &list;
  Account none = { 0 }; /* no pair has this client, so only the service's are examined */
  GHashTableIter iter;
  gpointer account;
  pthread_mutex_lock (&self->lock);
  self->client_limit = client->concurrency;
  g_hash_table_unref (self->services);
  self->services = g_hash_table_ref (services);
  g_hash_table_iter_init (&iter, self->clients);
  while (g_hash_table_iter_next (&iter, NULL, &account))
    ((Client *) account)->account.limit = self->client_limit;
  g_hash_table_iter_init (&iter, self->by_name);
  while (g_hash_table_iter_next (&iter, NULL, &account))
    ((Account *) account)->limit = find_limit (self, ((Account *) account)->name);
  g_hash_table_iter_init (&iter, self->by_name);
  while (g_hash_table_iter_next (&iter, NULL, &account))
    tail = fill (self, &none, account, tail);
  pthread_mutex_unlock (&self->lock);
  if (has_any (client, services))
    atomic_store_explicit (&self->any, TRUE, memory_order_relaxed);
  return list;
}

guint64
irisd_concurrency_limit_get_n_waiting (IrisdConcurrencyLimit *self)
{
  return atomic_load_explicit (&self->n_waiting, memory_order_relaxed);
}
