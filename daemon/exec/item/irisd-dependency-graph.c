/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The dependency graph: items that run after others.
 *
 * An item can depend only on items whose ids are known, and its own id is made after theirs. So
 * each edge leads from a lower id to a higher one: there can be no cycle, and the code looks for
 * none.
 *
 * The graph remembers ended items, with their outcome, because a client that names a dependency
 * cannot know whether that item has ended meanwhile. The number of remembered items is bounded; a
 * forgotten id is as unknown as one that never was.
 *
 * A buried item has not ended: its dependents wait until it is kicked and ends, or is cancelled. An
 * irisd that ends does not wait for that: the dependents are then stuck.
 *
 * An item of another node has a number here that no client knows. Of it the graph hears only its
 * end, which an irisd that ends does not wait for either, and remembers nothing.
 *
 * (The library's intervals order functions that are known when the graph is built, and hold each of
 * them alive. Here outcomes are recorded by number, also of items that ended long ago, and `any`
 * has no counterpart among points of intervals.)
 */
#include "daemon/exec/item/irisd-dependency-graph.h"

#include "daemon/config/irisd-keys.h"
#include "daemon/config/irisd-policy.h"

typedef struct _IrisdDependencyNode IrisdDependencyNode;

struct _IrisdDependencyLink
{
  IrisdDependencyNode *node; /* NULL: decided */
  IrisdDependent *dependent;
  TAILQ_ENTRY (_IrisdDependencyLink) among;
};

struct _IrisdDependencyNode
{
  guint64 id; /* first, because it is the key of the set of nodes */
  gpointer owner;
  guint ended : 1; /* bits, because there may be millions of nodes */
  guint well : 1;
  guint buried : 1;
  guint aside : 1; /* set aside: the owner is the keeper */
  guint away : 1;  /* an item of another node */
  guint guest : 1; /* the owner of the item, in 34 bits: the sign, */
  guint key : 1;   /* whether it is a key's (IRISD_KEY_FIRST_OWNER), */
  guint32 user;    /* and the rest */
  TAILQ_HEAD (, _IrisdDependencyLink) links;
};

/* @n_remembered: how many ended items are remembered */
void
irisd_dependency_graph_init (IrisdDependencyGraph *self, guint n_remembered)
{
  *self = (IrisdDependencyGraph){ .nodes = g_hash_table_new_full (g_int64_hash, g_int64_equal,
                                                                  g_free, NULL),
                                  .n_remembered = n_remembered };
  g_queue_init (&self->ended);
}

/* @self has no waiting items. */
void
irisd_dependency_graph_clear (IrisdDependencyGraph *self)
{
  g_queue_clear (&self->ended);
  g_clear_pointer (&self->nodes, g_hash_table_unref);
}

static void
set_user (IrisdDependencyNode *node, gint64 user)
{
  node->guest = user < 0;
  node->key = irisd_owner_is_key (user);
  node->user = (guint32) (guint64) user;
}

static gint64
get_user (const IrisdDependencyNode *node)
{
  if (node->guest)
    return (gint64) node->user - (G_GINT64_CONSTANT (1) << 32);
  return (node->key ? IRISD_KEY_FIRST_OWNER : 0) + (gint64) node->user;
}

/* Returns the node of an id within the view. */
static IrisdDependencyNode *
find (IrisdDependencyGraph *self, guint64 id, gint64 view)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  return node != NULL && irisd_view_reaches (view, get_user (node)) ? node : NULL;
}

/* Returns whether the item is known and within @view. */
gboolean
irisd_dependency_graph_reaches (IrisdDependencyGraph *self, guint64 id, gint64 view)
{
  return find (self, id, view) != NULL;
}

/* Adds a new item, or one that was buried and runs again. @owner: what
 * irisd_dependency_graph_get_owner() returns until the item has ended, is buried, or is set aside.
 * @user: the user that the item belongs to; a buried item retains its own. */
void
irisd_dependency_graph_add (IrisdDependencyGraph *self, guint64 id, gpointer owner, gint64 user)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  if (node != NULL)
    {
      node->buried = node->aside = FALSE;
      node->owner = owner;
      return;
    }
  node = g_new0 (IrisdDependencyNode, 1);
  node->id = id;
  node->owner = owner;
  set_user (node, user);
  TAILQ_INIT (&node->links);
  g_hash_table_add (self->nodes, node);
}

/* Returns what @id was added with; NULL if it is not known, has ended or is set aside. */
gpointer
irisd_dependency_graph_get_owner (IrisdDependencyGraph *self, guint64 id)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  return node != NULL && !node->ended && !node->aside ? node->owner : NULL;
}

/* @keeper: what irisd_dependency_graph_get_keeper() returns until the item is added again or has
 * ended. */
void
irisd_dependency_graph_set_aside (IrisdDependencyGraph *self, guint64 id, gpointer keeper)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  g_return_if_fail (node != NULL);
  node->aside = TRUE;
  node->owner = keeper;
}

/* Returns the keeper of @id, if it is set aside; otherwise NULL. */
gpointer
irisd_dependency_graph_get_keeper (IrisdDependencyGraph *self, guint64 id)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  return node != NULL && !node->ended && node->aside ? node->owner : NULL;
}

/* Removes all edges to unfinished dependencies. */
static void
unlink_all (IrisdDependent *dependent)
{
  for (guint i = 0; i < dependent->n_links; i++)
    {
      IrisdDependencyLink *link = &dependent->links[i];
      if (link->node != NULL)
        TAILQ_REMOVE (&link->node->links, link, among);
    }
  g_clear_pointer (&dependent->links, g_free);
  dependent->n_links = 0;
}

/* The dependency @id has ended. */
static void
judge (IrisdDependent *dependent, guint64 id, gboolean well)
{
  dependent->n_pending--;
  if (!well && dependent->how == IRIS_WIRE_AFTER_SUCCESS)
    {
      dependent->verdict = IRISD_VERDICT_FAIL;
      dependent->blame = id;
    }
  else if (dependent->n_pending == 0 || dependent->how == IRIS_WIRE_AFTER_ANY)
    dependent->verdict = IRISD_VERDICT_GO;
}

/* The dependency @id will not end as long as irisd runs. */
static void
judge_stuck (IrisdDependent *dependent, guint64 id)
{
  dependent->n_pending--;
  if (dependent->how == IRIS_WIRE_AFTER_ANY && dependent->n_pending > 0)
    return;
  dependent->verdict = IRISD_VERDICT_STUCK;
  dependent->blame = id;
}

static void
forget_oldest (IrisdDependencyGraph *self)
{
  while (self->ended.length > self->n_remembered)
    {
      IrisdDependencyNode *node = g_queue_pop_head (&self->ended);
      g_hash_table_remove (self->nodes, &node->id);
    }
}

static const char away_is_stuck[] =
    "irisd ended while the item waited for one of another node: send it again when irisd is back";

static void
note_stuck (IrisdDependent *dependent, const IrisdDependencyNode *node)
{
  if (node->away && dependent->verdict == IRISD_VERDICT_STUCK)
    dependent->reason = g_strdup (away_is_stuck);
}

/* Whether an irisd that ends does not wait for its end. */
static gboolean
is_stuck (const IrisdDependencyNode *node)
{
  return node->buried || (node->away && !node->ended);
}

/* Judges the dependents of a node that has ended, or is buried while irisd ends, and appends those
 * with a verdict to the list. */
static void
decide (IrisdDependencyNode *node, IrisdDependent **list)
{
  IrisdDependencyLink *link;
  while (*list != NULL)
    list = &(*list)->next;
  while ((link = TAILQ_FIRST (&node->links)) != NULL)
    {
      IrisdDependent *dependent = link->dependent;
      TAILQ_REMOVE (&node->links, link, among);
      link->node = NULL;
      if (node->ended)
        judge (dependent, node->id, node->well);
      else
        judge_stuck (dependent, node->id);
      note_stuck (dependent, node);
      if (dependent->verdict == IRISD_VERDICT_NONE)
        continue;
      unlink_all (dependent);
      *list = dependent;
      list = &dependent->next;
    }
}

/* Ignores an @id that is not known or has ended. Returns the dependents that have got their
 * verdict, in the order in which they began to wait. */
IrisdDependent *
irisd_dependency_graph_end (IrisdDependencyGraph *self, guint64 id, gboolean well)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  if (node == NULL || node->ended)
    return NULL;
  IrisdDependent *decided = NULL;
  node->ended = TRUE;
  node->buried = FALSE;
  node->well = well;
  decide (node, &decided);
  g_queue_push_tail (&self->ended, node);
  forget_oldest (self);
  return decided;
}

/* Returns a node that is in no table: the oldest remembered one, once there are enough. */
static GList *
take_node (IrisdDependencyGraph *self)
{
  if (self->n_remembered == 0 || self->ended.length < self->n_remembered)
    return g_list_prepend (NULL, g_new (IrisdDependencyNode, 1));
  GList *link = g_queue_pop_head_link (&self->ended);
  g_hash_table_steal (self->nodes, link->data);
  return link;
}

/* Adds a new item that has ended already. */
void
irisd_dependency_graph_add_ended (IrisdDependencyGraph *self,
                                  guint64 id,
                                  gboolean well,
                                  gint64 user)
{
  GList *link = take_node (self);
  IrisdDependencyNode *node = link->data;
  *node = (IrisdDependencyNode){ .id = id, .ended = TRUE, .well = well };
  set_user (node, user);
  TAILQ_INIT (&node->links);
  g_hash_table_add (self->nodes, node);
  g_queue_push_tail_link (&self->ended, link);
  forget_oldest (self);
}

/* Returns dependents as irisd_dependency_graph_end() does; none unless irisd ends. */
IrisdDependent *
irisd_dependency_graph_bury (IrisdDependencyGraph *self, guint64 id)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  IrisdDependent *decided = NULL;
  if (node == NULL || node->ended)
    return NULL;
  node->buried = TRUE;
  node->aside = FALSE;
  node->owner = NULL;
  if (self->closing)
    decide (node, &decided);
  return decided;
}

/* From now on no item waits for a buried one. Returns dependents as irisd_dependency_graph_end()
 * does. */
IrisdDependent *
irisd_dependency_graph_close (IrisdDependencyGraph *self)
{
  IrisdDependent *decided = NULL;
  GHashTableIter iter;
  gpointer value;
  self->closing = TRUE;
  g_hash_table_iter_init (&iter, self->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (is_stuck (value))
      decide (value, &decided);
  return decided;
}

/* @id is a new number, for an item of another node. @user: that of its dependents. */
void
irisd_dependency_graph_add_away (IrisdDependencyGraph *self, guint64 id, gint64 user)
{
  IrisdDependencyNode *node = g_new0 (IrisdDependencyNode, 1);
  node->id = id;
  node->away = TRUE;
  set_user (node, user);
  TAILQ_INIT (&node->links);
  g_hash_table_add (self->nodes, node);
}

/* Returns whether an item waits for @id. */
gboolean
irisd_dependency_graph_is_awaited (IrisdDependencyGraph *self, guint64 id)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  return node != NULL && !TAILQ_EMPTY (&node->links);
}

/* Forgets @id, of irisd_dependency_graph_add_away(). @reason: why its dependents cannot run, if
 * they cannot. Returns dependents as irisd_dependency_graph_end() does. */
IrisdDependent *
irisd_dependency_graph_end_away (IrisdDependencyGraph *self,
                                 guint64 id,
                                 IrisdAwayEnd end,
                                 const char *reason)
{
  IrisdDependencyNode *node = g_hash_table_lookup (self->nodes, &id);
  IrisdDependent *decided = NULL;
  IrisdDependencyLink *link;
  g_return_val_if_fail (node != NULL && node->away, NULL);
  for (link = TAILQ_FIRST (&node->links); link != NULL; link = TAILQ_NEXT (link, among))
    if (end == IRISD_AWAY_END_UNKNOWN)
      link->dependent->how = IRIS_WIRE_AFTER_SUCCESS;
  node->ended = TRUE;
  node->well = end == IRISD_AWAY_END_WELL;
  decide (node, &decided);
  for (IrisdDependent *one = decided; one != NULL; one = one->next)
    if (one->verdict == IRISD_VERDICT_FAIL)
      one->reason = g_strdup (reason);
  g_hash_table_remove (self->nodes, &id);
  return decided;
}

/* Links to a node, or judges at once if it has ended. */
static void
link_to (IrisdDependencyGraph *self, IrisdDependent *dependent, IrisdDependencyNode *node)
{
  if (node->ended)
    {
      judge (dependent, node->id, node->well);
      return;
    }
  if (is_stuck (node) && self->closing)
    {
      judge_stuck (dependent, node->id);
      note_stuck (dependent, node);
      return;
    }
  IrisdDependencyLink *link = &dependent->links[dependent->n_links++];
  link->node = node;
  link->dependent = dependent;
  TAILQ_INSERT_TAIL (&node->links, link, among);
}

/* @dependent waits for the @n items @ids within @view, from 1; @how tells which of them have to
 * end, and how. If all that matter have ended, it has its verdict at once. Returns whether all ids
 * are known; otherwise sets @unknown to one that is not, and changes nothing. */
gboolean
irisd_dependency_graph_wait (IrisdDependencyGraph *self,
                             IrisdDependent *dependent,
                             const guint64 *ids,
                             guint n,
                             gint64 view,
                             IrisWireAfter how,
                             guint64 *unknown)
{
  for (guint i = 0; i < n; i++)
    if (find (self, ids[i], view) == NULL)
      {
        *unknown = ids[i];
        return FALSE;
      }
  dependent->how = how;
  dependent->n_pending = n;
  dependent->links = g_new0 (IrisdDependencyLink, n);
  for (guint i = 0; i < n && dependent->verdict == IRISD_VERDICT_NONE; i++)
    link_to (self, dependent, g_hash_table_lookup (self->nodes, &ids[i]));
  if (dependent->verdict != IRISD_VERDICT_NONE)
    unlink_all (dependent);
  return TRUE;
}

void
irisd_dependency_graph_withdraw (IrisdDependencyGraph *self, IrisdDependent *dependent)
{
  unlink_all (dependent);
}
