/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fair rules: what one client, or all clients of one service, may have in flight, and how fast.
 *
 * There is an account for each client and each service with a rule, under one lock that is taken
 * once when an item comes and once when it ends; without rules it is never taken.
 *
 * The rules may change while items are in flight. Items that were admitted while no rule was set
 * were not counted, so an account may be asked to release more than it has; it then stays at zero,
 * and the new rule holds in full once those items have ended.
 *
 * The rate is kept by a bucket of tokens, one for each item, that holds a second's worth, so a
 * client that was silent for a second may send that many at once. The caller gives the time. An
 * account in its initial state is dropped, so that clients that come and go leave nothing.
 */
#include "daemon/config/irisd-fair-rules.h"

#include "daemon/base/irisd-error.h"

#include <string.h>

/* When to try again if only a completion makes room. */
#define RETRY_MS 20

/* The least number of accounts for which a sweep is worth its cost. */
#define LEAST_SWEEP 32

typedef struct
{
  guint64 items;
  guint64 bytes;
  gint64 debt_us; /* until when its tokens are spent; in the past: it has some */
} Account;

static gboolean
has_any (const IrisdFairRule *client, GHashTable *services)
{
  return client->items > 0 || client->bytes > 0 || client->rate > 0
         || g_hash_table_size (services) > 0;
}

/* @client is the rule of each client; @services (IrisdFairRule by name), which is not changed any
 * more, that of all clients of a service together. */
void
irisd_fair_rules_init (IrisdFairRules *self, const IrisdFairRule *client, GHashTable *services)
{
  *self = (IrisdFairRules){ .client = *client, .services = g_hash_table_ref (services) };
  atomic_init (&self->any, has_any (client, services));
  pthread_mutex_init (&self->lock, NULL);
  self->client_accounts = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->service_accounts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

static gboolean
has_no_rule (gpointer name, gpointer account, gpointer services)
{
  return !g_hash_table_contains (services, name);
}

/* From now on these rules hold, see irisd_fair_rules_init(). */
void
irisd_fair_rules_change (IrisdFairRules *self, const IrisdFairRule *client, GHashTable *services)
{
  pthread_mutex_lock (&self->lock);
  self->client = *client;
  g_hash_table_unref (self->services);
  self->services = g_hash_table_ref (services);
  /* What such a service has in flight is not released. */
  g_hash_table_foreach_remove (self->service_accounts, has_no_rule, services);
  pthread_mutex_unlock (&self->lock);
  /* Only a hint to take the lock, which orders everything else. It stays set, so that what was
   * counted is released. */
  if (has_any (client, services))
    atomic_store_explicit (&self->any, TRUE, memory_order_relaxed);
}

void
irisd_fair_rules_clear (IrisdFairRules *self)
{
  g_hash_table_unref (self->services);
  g_hash_table_unref (self->client_accounts);
  g_hash_table_unref (self->service_accounts);
  pthread_mutex_destroy (&self->lock);
}

/* The time that a token takes to come. */
static gint64
token_us (const IrisdFairRule *rule)
{
  return MAX (G_USEC_PER_SEC / (gint64) rule->rate, 1);
}

/* Whether one more fits. Its debt may reach a second ahead: that is the bucket. */
static gboolean
fits (const IrisdFairRule *rule,
      const Account *account,
      guint64 bytes,
      gint64 now_us,
      IrisdFairRefusal *refusal)
{
  if (rule->items > 0 && account->items >= rule->items)
    *refusal = (IrisdFairRefusal){ "items", rule->items, RETRY_MS };
  else if (rule->bytes > 0 && account->items > 0 && account->bytes + bytes > rule->bytes)
    *refusal = (IrisdFairRefusal){ "bytes", rule->bytes, RETRY_MS };
  else if (rule->rate > 0 && account->debt_us + token_us (rule) > now_us + G_USEC_PER_SEC)
    {
      gint64 wait_us = account->debt_us + token_us (rule) - now_us - G_USEC_PER_SEC;
      *refusal = (IrisdFairRefusal){ "rate", rule->rate, (guint) (wait_us / 1000 + 1) };
    }
  else
    return TRUE;
  return FALSE;
}

static void
charge (const IrisdFairRule *rule, Account *account, guint64 bytes, gint64 now_us)
{
  account->items++;
  account->bytes += bytes;
  if (rule->rate > 0)
    account->debt_us = MAX (account->debt_us, now_us) + token_us (rule);
}

static gboolean
is_as_new (const Account *account, gint64 now_us)
{
  return account->items == 0 && account->debt_us <= now_us;
}

/* Drops accounts in their initial state. The interval grows with their number. */
static void
sweep (IrisdFairRules *self, gint64 now_us)
{
  GHashTableIter iter;
  gpointer account;
  g_hash_table_iter_init (&iter, self->client_accounts);
  while (g_hash_table_iter_next (&iter, NULL, &account))
    if (is_as_new (account, now_us))
      g_hash_table_iter_remove (&iter);
  self->sweep_at = 2 * g_hash_table_size (self->client_accounts) + LEAST_SWEEP;
}

static Account *
get_client (IrisdFairRules *self, gconstpointer client, gint64 now_us)
{
  Account *account = g_hash_table_lookup (self->client_accounts, client);
  if (account == NULL)
    {
      if (g_hash_table_size (self->client_accounts) >= self->sweep_at)
        sweep (self, now_us);
      account = g_new0 (Account, 1);
      g_hash_table_insert (self->client_accounts, (gpointer) client, account);
    }
  return account;
}

static Account *
get_service (IrisdFairRules *self, const char *service)
{
  Account *account = g_hash_table_lookup (self->service_accounts, service);
  if (account == NULL)
    {
      account = g_new0 (Account, 1);
      g_hash_table_insert (self->service_accounts, g_strdup (service), account);
    }
  return account;
}

static const char *
full_name (const char *whose, const char *limit)
{
  g_autofree char *name = g_strdup_printf ("%s-%s", whose, limit);
  return g_intern_string (name);
}

static gboolean
admit (IrisdFairRules *self,
       gconstpointer client,
       const char *service,
       guint64 bytes,
       gint64 now_us,
       IrisdFairRefusal *refusal)
{
  const IrisdFairRule *rule = g_hash_table_lookup (self->services, service);
  Account *of_client = get_client (self, client, now_us);
  Account *of_service = rule != NULL ? get_service (self, service) : NULL;
  if (!fits (&self->client, of_client, bytes, now_us, refusal))
    {
      refusal->limit = full_name ("client", refusal->limit);
      return FALSE;
    }
  if (rule != NULL && !fits (rule, of_service, bytes, now_us, refusal))
    {
      refusal->limit = full_name ("service", refusal->limit);
      return FALSE;
    }
  charge (&self->client, of_client, bytes, now_us);
  if (rule != NULL)
    charge (rule, of_service, bytes, now_us);
  return TRUE;
}

/* Returns whether the item is admitted; then it counts until irisd_fair_rules_release(). Otherwise
 * @refusal says why not. An item that is larger than the rule allows is admitted when no other is
 * in flight. */
gboolean
irisd_fair_rules_admit (IrisdFairRules *self,
                        gconstpointer client,
                        const char *service,
                        guint64 bytes,
                        gint64 now_us,
                        IrisdFairRefusal *refusal)
{
  if (!irisd_fair_rules_is_set (self))
    return TRUE;
  pthread_mutex_lock (&self->lock);
  gboolean admitted = admit (self, client, service, bytes, now_us, refusal);
  pthread_mutex_unlock (&self->lock);
  return admitted;
}

static void
discharge (Account *account, guint64 bytes)
{
  account->items -= account->items > 0;
  account->bytes -= MIN (account->bytes, bytes);
}

/* Takes back irisd_fair_rules_admit() when the item has ended. */
void
irisd_fair_rules_release (IrisdFairRules *self,
                          gconstpointer client,
                          const char *service,
                          guint64 bytes,
                          gint64 now_us)
{
  if (!irisd_fair_rules_is_set (self))
    return;
  pthread_mutex_lock (&self->lock);
  Account *account = get_client (self, client, now_us);
  discharge (account, bytes);
  if (is_as_new (account, now_us))
    g_hash_table_remove (self->client_accounts, client);
  if (g_hash_table_contains (self->services, service))
    discharge (get_service (self, service), bytes);
  pthread_mutex_unlock (&self->lock);
}

guint
irisd_fair_rules_get_count (IrisdFairRules *self)
{
  pthread_mutex_lock (&self->lock);
  guint count = g_hash_table_size (self->client_accounts);
  pthread_mutex_unlock (&self->lock);
  return count;
}

static guint64
get_measure (guint64 items, guint64 bytes, IrisdFairMeasure of)
{
  return of == IRISD_FAIR_ITEMS ? items : bytes;
}

/* A client over ipc is known by its process (irisd_peer_set_client()), another by its address in
 * memory only. */
static char *
name_client (gconstpointer client)
{
  gsize number = GPOINTER_TO_SIZE (client);
  return number % 2 == 1 ? g_strdup_printf ("process %zu", number / 2) : g_strdup ("over TCP");
}

/* Whether @a uses a greater part of its limit than @b. */
static gboolean
is_nearer (const IrisdFairUser *a, const IrisdFairUser *b)
{
  return (double) a->used * (double) b->value > (double) b->used * (double) a->value;
}

/* Inserts @user among the @n that are nearest to their limit; takes its name. Returns how many
 * there are then. */
static guint
insert_user (IrisdFairUser *users, guint n, guint most, IrisdFairUser user)
{
  if (n == most && (most == 0 || !is_nearer (&user, &users[n - 1])))
    {
      g_free (user.name);
      return n;
    }
  if (n == most)
    g_free (users[--n].name);
  guint at = n;
  for (; at > 0 && is_nearer (&user, &users[at - 1]); at--)
    users[at] = users[at - 1];
  users[at] = user;
  return n + 1;
}

/* Fills @users with at most @most of the clients, or services, that use something of @of, nearest
 * to their limit first. Returns how many. */
guint
irisd_fair_rules_get_users (IrisdFairRules *self,
                            gboolean services,
                            IrisdFairMeasure of,
                            IrisdFairUser *users,
                            guint most)
{
  GHashTableIter iter;
  gpointer key, value;
  guint n = 0;
  pthread_mutex_lock (&self->lock);
  g_hash_table_iter_init (&iter, services ? self->service_accounts : self->client_accounts);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      const Account *account = value;
      const IrisdFairRule *rule = services ? g_hash_table_lookup (self->services, key)
                                           : &self->client;
      guint64 limit = rule != NULL ? get_measure (rule->items, rule->bytes, of) : 0;
      guint64 used = get_measure (account->items, account->bytes, of);
      if (limit > 0 && used > 0)
        n = insert_user (
            users, n, most,
            (IrisdFairUser){ services ? g_strdup (key) : name_client (key), used, limit });
    }
  pthread_mutex_unlock (&self->lock);
  return n;
}

/* Sets @key, `items`, `bytes`, `rate` or `concurrency`, from text; 0 for no limit. Returns whether
 * there is such a key and it may have that value. */
gboolean
irisd_fair_rule_set (IrisdFairRule *self, const char *key, const char *value, GError **error)
{
  guint64 *field = strcmp (key, "items") == 0         ? &self->items
                   : strcmp (key, "bytes") == 0       ? &self->bytes
                   : strcmp (key, "rate") == 0        ? &self->rate
                   : strcmp (key, "concurrency") == 0 ? &self->concurrency
                                                      : NULL;
  if (field == NULL)
    return irisd_fail (
        error, IRISD_ERROR, IRISD_ERROR_USAGE,
        "there is no limit “%s” of a client or a service; choose items, bytes, rate or "
        "concurrency",
        key);
  guint64 most = field == &self->rate ? G_USEC_PER_SEC : G_MAXINT64;
  if (g_ascii_string_to_unsigned (value, 10, 0, most, field, NULL))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "“%s” is no value for %s; give a number from 1 to %" G_GUINT64_FORMAT
                     ", or 0 for no limit",
                     value, key, most);
}
