/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the gateways know of the other nodes of the cluster.
 */
#include "daemon/config/irisd-cluster-view.h"

#include <pthread.h>
#include <string.h>

/* Nodes that an error lists. */
#define MAX_LISTED 16

struct _IrisdClusterView
{
  pthread_mutex_t lock;
  char *own;
  guint64 max_away;
  GHashTable *nodes; /* utf8 GStrv: the services of each node but this one */
  char *refusal;     /* why durable items do not go to other nodes, or NULL */
  gboolean unknown;  /* nothing is known of the cluster yet */
  GPtrArray *names;  /* of nodes that were ever asked for by number, at the number less one */
};

/* @own_node: the name of this node. @max_away: how many of its items may be away. */
IrisdClusterView *
irisd_cluster_view_new (const char *own_node, guint64 max_away)
{
  IrisdClusterView *self = g_new0 (IrisdClusterView, 1);
  pthread_mutex_init (&self->lock, NULL);
  self->own = g_strdup (own_node);
  self->max_away = max_away;
  self->nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                       (GDestroyNotify) g_strfreev);
  self->names = g_ptr_array_new_with_free_func (g_free);
  return self;
}

/* No thread uses it any more. */
void
irisd_cluster_view_free (IrisdClusterView *self)
{
  if (self == NULL)
    return;
  pthread_mutex_destroy (&self->lock);
  g_hash_table_unref (self->nodes);
  g_ptr_array_unref (self->names);
  g_free (self->own);
  g_free (self->refusal);
  g_free (self);
}

const char *
irisd_cluster_view_get_own (const IrisdClusterView *self)
{
  return self->own;
}

guint64
irisd_cluster_view_get_max_away (const IrisdClusterView *self)
{
  return self->max_away;
}

/* @node, which is not this one, is in the cluster, and has @services. */
void
irisd_cluster_view_set_node (IrisdClusterView *self, const char *node, const char *const *services)
{
  char **copy = g_strdupv ((char **) services);
  pthread_mutex_lock (&self->lock);
  g_hash_table_replace (self->nodes, g_strdup (node), copy);
  pthread_mutex_unlock (&self->lock);
}

void
irisd_cluster_view_remove_node (IrisdClusterView *self, const char *node)
{
  pthread_mutex_lock (&self->lock);
  g_hash_table_remove (self->nodes, node);
  pthread_mutex_unlock (&self->lock);
}

/* From now on durable items for other nodes are refused, with @why; NULL: they are taken. */
void
irisd_cluster_view_set_refusal (IrisdClusterView *self, const char *why)
{
  pthread_mutex_lock (&self->lock);
  g_free (self->refusal);
  self->refusal = g_strdup (why);
  pthread_mutex_unlock (&self->lock);
}

/* Nothing is known yet of the cluster, as after irisd's start: what it lacks may be there. */
void
irisd_cluster_view_set_unknown (IrisdClusterView *self, gboolean unknown)
{
  pthread_mutex_lock (&self->lock);
  self->unknown = unknown;
  pthread_mutex_unlock (&self->lock);
}

/* Returns whether this node is alone. */
gboolean
irisd_cluster_view_is_empty (IrisdClusterView *self)
{
  pthread_mutex_lock (&self->lock);
  gboolean empty = g_hash_table_size (self->nodes) == 0;
  pthread_mutex_unlock (&self->lock);
  return empty;
}

gboolean
irisd_cluster_view_has_node (IrisdClusterView *self, const char *node)
{
  pthread_mutex_lock (&self->lock);
  gboolean has = g_hash_table_contains (self->nodes, node);
  pthread_mutex_unlock (&self->lock);
  return has;
}

/* Returns whether another node has @service. */
gboolean
irisd_cluster_view_has_service (IrisdClusterView *self, const char *service)
{
  GHashTableIter iter;
  gpointer services;
  gboolean has = FALSE;
  pthread_mutex_lock (&self->lock);
  g_hash_table_iter_init (&iter, self->nodes);
  while (!has && g_hash_table_iter_next (&iter, NULL, &services))
    has = g_strv_contains ((const char *const *) services, service);
  pthread_mutex_unlock (&self->lock);
  return has;
}

/* Returns (transfer full) the names of the nodes, this one first. */
char *
irisd_cluster_view_list_nodes (IrisdClusterView *self)
{
  GString *names = g_string_new (self->own);
  GHashTableIter iter;
  gpointer node;
  guint n = 1;
  pthread_mutex_lock (&self->lock);
  g_hash_table_iter_init (&iter, self->nodes);
  while (g_hash_table_iter_next (&iter, &node, NULL))
    if (n++ < MAX_LISTED)
      g_string_append_printf (names, ", %s", (const char *) node);
  pthread_mutex_unlock (&self->lock);
  if (n > MAX_LISTED)
    g_string_append_printf (names, " and %u more", n - MAX_LISTED);
  return g_string_free (names, FALSE);
}

/* Returns (transfer full) (nullable) why durable items do not go to other nodes. */
char *
irisd_cluster_view_get_refusal (IrisdClusterView *self)
{
  pthread_mutex_lock (&self->lock);
  char *why = g_strdup (self->refusal);
  pthread_mutex_unlock (&self->lock);
  return why;
}

gboolean
irisd_cluster_view_is_unknown (IrisdClusterView *self)
{
  pthread_mutex_lock (&self->lock);
  gboolean unknown = self->unknown;
  pthread_mutex_unlock (&self->lock);
  return unknown;
}

/* Returns a number from 1 that stands for @node as long as irisd runs; 0 if there are too many. */
guint
irisd_cluster_view_get_number (IrisdClusterView *self, const char *node)
{
  guint at = 0;
  pthread_mutex_lock (&self->lock);
  while (at < self->names->len && strcmp (g_ptr_array_index (self->names, at), node) != 0)
    at++;
  if (at == self->names->len && at < IRISD_CLUSTER_MOST_NUMBERS)
    g_ptr_array_add (self->names, g_strdup (node));
  guint number = at < self->names->len ? at + 1 : 0;
  pthread_mutex_unlock (&self->lock);
  return number;
}

/* Returns (transfer none) the node of that number, which lasts as long as the view. */
const char *
irisd_cluster_view_get_name (IrisdClusterView *self, guint number)
{
  pthread_mutex_lock (&self->lock);
  const char *name = number > 0 && number <= self->names->len
                         ? g_ptr_array_index (self->names, number - 1)
                         : NULL;
  pthread_mutex_unlock (&self->lock);
  return name;
}
