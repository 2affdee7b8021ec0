/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of the cluster as this one sees them.
 *
 * The cluster thread makes a new picture for each change, fills it, and puts it into the box; from
 * then on it is constant. A reader takes a reference under the lock of the box, so the picture
 * that it has lives until it lets go. The lock is held for a few instructions and while nothing is
 * called out; the old picture is let go after it.
 */
#include "daemon/cluster/members/irisd-members.h"

#include <string.h>

/* With room for @n_members, which are all zeroes; fill them in the order of their names. */
IrisdMembers *
irisd_members_new (const char *own, guint n_members)
{
  IrisdMembers *self = g_atomic_rc_box_new0 (IrisdMembers);
  self->own = g_strdup (own);
  self->status = IRISD_CLUSTER_JOINING;
  self->n_members = n_members;
  self->members = g_new0 (IrisdMember, n_members);
  return self;
}

IrisdMembers *
irisd_members_ref (IrisdMembers *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
clear (gpointer data)
{
  IrisdMembers *self = data;
  for (guint i = 0; i < self->n_members; i++)
    {
      g_free (self->members[i].name);
      irisd_node_unref (self->members[i].node);
    }
  g_free (self->members);
  g_free (self->views);
  g_free (self->own);
  g_free (self->reason);
  g_free (self->servers);
  g_free (self->promise);
}

void
irisd_members_unref (IrisdMembers *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear);
}

static int
compare (gconstpointer name, gconstpointer member)
{
  return strcmp (name, ((const IrisdMember *) member)->name);
}

/* Returns NULL if this node knows none of that name. */
const IrisdMember *
irisd_members_find (const IrisdMembers *self, const char *name)
{
  return self->n_members > 0
             ? bsearch (name, self->members, self->n_members, sizeof *self->members, compare)
             : NULL;
}

guint
irisd_members_count (const IrisdMembers *self, IrisdMemberState state)
{
  guint n = 0;
  for (guint i = 0; i < self->n_members; i++)
    n += self->members[i].state == state;
  return n;
}

/* An irisd that does not tell what its consumer has tells at least what waits at its places. */
static void
view_load (IrisdNodeView *view, const IrisdNode *node)
{
  const guint n_workers = irisd_node_count_workers (node);
  view->n_workers = n_workers;
  view->n_idle = n_workers - (guint) MIN (node->running, n_workers);
  view->backlog = node->load.known ? node->load.pending : node->backlog;
  view->n_begun = node->load.begun;
  view->mean_run_ns = node->load.mean_run_ns;
  view->mean_bytes = node->load.mean_bytes;
  view->full = node->load.full;
}

static IrisdNodeView
view_member (const IrisdMember *member)
{
  const IrisdNode *node = member->node;
  IrisdNodeView view = {
    .name = member->name,
    .seen_us = member->state == IRISD_MEMBER_GONE ? -IRISD_NODE_LIFE_US - 1 : member->heard_us,
    .draining = member->state == IRISD_MEMBER_DRAINING,
    .removed = member->state == IRISD_MEMBER_REMOVED,
  };
  if (node == NULL)
    return view;
  view.rack = irisd_node_get_label (node, "rack");
  view.zone = irisd_node_get_label (node, "zone");
  view.services = (const char *const *) node->services;
  view_load (&view, node);
  return view;
}

/* Before another thread gets it. */
void
irisd_members_make_views (IrisdMembers *self)
{
  g_free (self->views);
  self->views = g_new0 (IrisdNodeView, self->n_members);
  for (guint i = 0; i < self->n_members; i++)
    self->views[i] = view_member (&self->members[i]);
}

/* The map is that of @self, and lives as long. */
IrisdNodeMap
irisd_members_get_map (const IrisdMembers *self)
{
  return (IrisdNodeMap){ self->views, self->views != NULL ? self->n_members : 0, 0 };
}

/* --- the box ---------------------------------------------------------------------------------- */

/* Takes @first. */
void
irisd_members_box_init (IrisdMembersBox *self, IrisdMembers *first)
{
  pthread_mutex_init (&self->lock, NULL);
  self->now = first;
  self->counts = (IrisdClusterCounts){ 0 };
}

/* No thread reads any more. */
void
irisd_members_box_clear (IrisdMembersBox *self)
{
  g_clear_pointer (&self->now, irisd_members_unref);
  pthread_mutex_destroy (&self->lock);
}

/* Takes @members. */
void
irisd_members_box_put (IrisdMembersBox *self, IrisdMembers *members)
{
  pthread_mutex_lock (&self->lock);
  IrisdMembers *before = self->now;
  self->now = members;
  pthread_mutex_unlock (&self->lock);
  irisd_members_unref (before);
}

/* Returns the newest picture; let go of it with irisd_members_unref(). */
IrisdMembers *
irisd_members_box_get (IrisdMembersBox *self)
{
  pthread_mutex_lock (&self->lock);
  IrisdMembers *members = irisd_members_ref (self->now);
  pthread_mutex_unlock (&self->lock);
  return members;
}

void
irisd_members_box_put_counts (IrisdMembersBox *self, const IrisdClusterCounts *counts)
{
  pthread_mutex_lock (&self->lock);
  self->counts = *counts;
  pthread_mutex_unlock (&self->lock);
}

void
irisd_members_box_get_counts (IrisdMembersBox *self, IrisdClusterCounts *counts)
{
  pthread_mutex_lock (&self->lock);
  *counts = self->counts;
  pthread_mutex_unlock (&self->lock);
}
