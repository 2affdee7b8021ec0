/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node knows of the others: distances, standing, services, lots.
 */
#include "daemon/cluster/policy/irisd-node-view.h"

#include <string.h>

/* Of two labels that are not said, none tells that they are the same. */
static gboolean
is_same (const char *a, const char *b)
{
  return a != NULL && b != NULL && strcmp (a, b) == 0;
}

/* A rack is one of its zone: each zone may have a rack "1". */
IrisdNodeDistance
irisd_node_view_get_distance (const IrisdNodeView *a, const IrisdNodeView *b)
{
  if (strcmp (a->name, b->name) == 0)
    return IRISD_NODE_SELF;
  if (is_same (a->rack, b->rack) && g_strcmp0 (a->zone, b->zone) == 0)
    return IRISD_NODE_RACK;

  return is_same (a->zone, b->zone) ? IRISD_NODE_ZONE : IRISD_NODE_FAR;
}

IrisdNodeStanding
irisd_node_view_get_standing (const IrisdNodeView *self, gint64 now_us)
{
  if (self->removed)
    return IRISD_NODE_REMOVED;
  if (now_us - self->seen_us > IRISD_NODE_LIFE_US)
    return IRISD_NODE_GONE;

  return self->draining ? IRISD_NODE_DRAINING : IRISD_NODE_ALIVE;
}

gboolean
irisd_node_view_has_service (const IrisdNodeView *self, const char *service)
{
  return self->services == NULL || g_strv_contains (self->services, service);
}

gboolean
irisd_node_view_can_replace (const IrisdNodeView *self, const IrisdNodeView *other)
{
  const char *const *mine = self->services;

  if (mine == NULL || mine == other->services)
    return TRUE;
  /* All of the other's are not known: it may have more. */
  if (other->services == NULL)
    return FALSE;
  for (const char *const *theirs = other->services; *theirs != NULL; theirs++)
    {
      while (*mine != NULL && strcmp (*mine, *theirs) < 0)
        mine++;
      if (*mine == NULL || strcmp (*mine, *theirs) != 0)
        return FALSE;
    }

  return TRUE;
}

gboolean
irisd_node_view_is_news (const IrisdNodeView *now, const IrisdNodeView *told, gint64 now_us)
{
  gboolean is_burst = now->backlog > 2 * told->backlog
                      && now->backlog > 2 * (guint64) now->n_workers;

  return now_us - told->seen_us >= IRISD_NODE_NEWS_US
         && (is_burst || now->draining != told->draining || now->full != told->full);
}

const IrisdNodeView *
irisd_node_map_find (const IrisdNodeMap *self, const char *name)
{
  for (guint i = 0; i < self->n_nodes; i++)
    if (strcmp (self->nodes[i].name, name) == 0)
      return &self->nodes[i];

  return NULL;
}

/* FNV-1a over both names, then the mixing of SplitMix64, because the last letters of names differ
 * and FNV leaves them in the low bits. */
static guint64
hash_name (guint64 hash, const char *name)
{
  for (; *name != '\0'; name++)
    hash = (hash ^ (guchar) *name) * G_GUINT64_CONSTANT (0x100000001b3);

  return (hash ^ 0xff) * G_GUINT64_CONSTANT (0x100000001b3);
}

guint64
irisd_node_lot (const char *a, const char *b, guint64 round)
{
  guint64 hash = hash_name (hash_name (G_GUINT64_CONSTANT (0xcbf29ce484222325), a), b);

  hash += round * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  hash = (hash ^ (hash >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  hash = (hash ^ (hash >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);

  return hash ^ (hash >> 31);
}
