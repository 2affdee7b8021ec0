/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where an item goes that is submitted here. The rules are in the header.
 */
#include "daemon/cluster/policy/irisd-item-route.h"

#include <string.h>

/* Of the nodes that take items: how many there are, and how many have the service. */
typedef struct
{
  guint n_alive;
  guint n_able;
} Census;

static gboolean
is_other (const IrisdOwnNode *own, const IrisdNodeView *node)
{
  return strcmp (own->view.name, node->name) != 0;
}

static gboolean
takes (const IrisdNodeView *node, const char *service, gint64 now_us)
{
  return irisd_node_view_get_standing (node, now_us) == IRISD_NODE_ALIVE
         && irisd_node_view_has_service (node, service);
}

static Census
count (const IrisdOwnNode *own, const IrisdNodeMap *map, const char *service, gint64 now_us)
{
  gboolean is_here = irisd_node_view_has_service (&own->view, service);
  Census census = { !own->view.draining, is_here && !own->view.draining };

  for (guint i = 0; i < map->n_nodes; i++)
    {
      const IrisdNodeView *node = &map->nodes[i];

      if (!is_other (own, node) || irisd_node_view_get_standing (node, now_us) != IRISD_NODE_ALIVE)
        continue;
      census.n_alive++;
      census.n_able += irisd_node_view_has_service (node, service);
    }

  return census;
}

/* The nth of the others that have the service. */
static const IrisdNodeView *
nth_able (const IrisdOwnNode *own,
          const IrisdNodeMap *map,
          const char *service,
          gint64 now_us,
          guint n)
{
  for (guint i = 0; i < map->n_nodes; i++)
    if (is_other (own, &map->nodes[i]) && takes (&map->nodes[i], service, now_us) && n-- == 0)
      return &map->nodes[i];

  return NULL;
}

/* How long what waits there lasts; of what was never measured, by the number of items. */
static gdouble
drain (const IrisdNodeView *node)
{
  return (gdouble) (node->backlog + 1) * (gdouble) MAX (node->mean_run_ns, 1)
         / MAX (node->n_workers, 1);
}

/* One of two drawn by lot. A node at a limit is the last choice. */
static const IrisdNodeView *
draw (const IrisdOwnNode *own,
      const IrisdNodeMap *map,
      const IrisdItemWish *wish,
      gint64 now_us,
      guint n_able)
{
  guint first = (guint) (wish->lot % n_able);
  guint second = n_able > 1 ? (guint) ((first + 1 + (wish->lot >> 32) % (n_able - 1)) % n_able)
                            : first;
  const IrisdNodeView *a = nth_able (own, map, wish->service, now_us, first);
  const IrisdNodeView *b = nth_able (own, map, wish->service, now_us, second);

  if (a->full != b->full)
    return a->full ? b : a;

  return drain (b) < drain (a) ? b : a;
}

/* To whichever node has the service. */
static IrisdItemRoute
route_anywhere (const IrisdOwnNode *own,
                const IrisdNodeMap *map,
                const IrisdItemWish *wish,
                gint64 now_us,
                const char **node)
{
  Census census = count (own, map, wish->service, now_us);
  gboolean is_here = irisd_node_view_has_service (&own->view, wish->service);

  if (census.n_able == 0)
    return is_here ? IRISD_ITEM_LOCAL : IRISD_ITEM_NO_SERVICE;
  if (census.n_able == census.n_alive)
    return IRISD_ITEM_ANY;
  /* Where it is one of those that have it, the own node is the nearest. */
  if (is_here && !own->view.draining)
    return IRISD_ITEM_LOCAL;
  *node = draw (own, map, wish, now_us, census.n_able)->name;

  return IRISD_ITEM_SOFT;
}

static IrisdItemRoute
route_to (const IrisdOwnNode *own,
          const IrisdNodeMap *map,
          const IrisdItemWish *wish,
          gint64 now_us,
          const char **node)
{
  const IrisdNodeView *found = irisd_node_map_find (map, wish->node);

  if (found == NULL || (found->removed && wish->strict))
    return IRISD_ITEM_NO_NODE;
  *node = found->name;
  if (wish->strict)
    return IRISD_ITEM_STRICT;
  if (takes (found, wish->service, now_us))
    return IRISD_ITEM_SOFT;
  *node = NULL;

  return route_anywhere (own, map, wish, now_us, node);
}

IrisdItemRoute
irisd_item_route_choose (const IrisdOwnNode *own,
                         const IrisdNodeMap *map,
                         const IrisdItemWish *wish,
                         gint64 now_us,
                         const char **node)
{
  *node = NULL;
  if (wish->node != NULL && strcmp (wish->node, own->view.name) == 0)
    return IRISD_ITEM_LOCAL;
  if (wish->node != NULL)
    return route_to (own, map, wish, now_us, node);
  if (!wish->any_node && irisd_node_view_has_service (&own->view, wish->service))
    return IRISD_ITEM_LOCAL;

  return route_anywhere (own, map, wish, now_us, node);
}
