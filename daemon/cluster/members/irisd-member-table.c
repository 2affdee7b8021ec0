/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which nodes there are, from what the bucket tells, over time.
 *
 * A node has two keys: its entry, which lives for IRISD_MEMBER_LIFE_MS and which it puts again and
 * again, and its mark, which stays and which operators change. The entry says that it is here; the
 * mark is why a node that is gone is still known, also to an irisd that was started after its end.
 *
 * The bucket tells of the end of an entry. It may be that this does not arrive, so an entry that
 * was not put for its life, by this node's own clock, ends here too. That clock is one that does
 * not jump, and clocks of nodes are never compared. While the bucket is out of reach nothing is
 * swept: silence then says nothing about the others. After that everything is read again.
 */
#include "daemon/cluster/members/irisd-member-table.h"

#include <string.h>

typedef struct
{
  IrisdNode *node; /* NULL: it has told nothing yet */
  gboolean here;   /* its entry has not ended */
  gboolean marked; /* it has a mark */
  IrisdMemberMark mark;
  gint64 put_us;
  guint64 seen_ms, since_ms;
  IrisdMemberState state;
  gboolean entry_found, mark_found; /* in the present reload */
} Row;

struct _IrisdMemberTable
{
  char *own;
  GHashTable *rows;  /* utf8 Row */
  gint64 excused_us; /* until then an entry that is missing says nothing; 0: never */
  gboolean changed;
};

static void
row_free (gpointer data)
{
  Row *row = data;
  irisd_node_unref (row->node);
  g_free (row);
}

IrisdMemberTable *
irisd_member_table_new (const char *own)
{
  IrisdMemberTable *self = g_new0 (IrisdMemberTable, 1);
  self->own = g_strdup (own);
  self->rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, row_free);
  return self;
}

void
irisd_member_table_free (IrisdMemberTable *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->rows);
  g_free (self->own);
  g_free (self);
}

static IrisdMemberState
judge (const Row *row)
{
  if (row->here)
    return row->node->draining || (row->marked && row->mark == IRISD_MARK_DRAINED)
               ? IRISD_MEMBER_DRAINING
               : IRISD_MEMBER_HERE;
  return row->marked && row->mark == IRISD_MARK_REMOVED ? IRISD_MEMBER_REMOVED : IRISD_MEMBER_GONE;
}

static void
settle (IrisdMemberTable *self, Row *row, IrisdMoment now)
{
  IrisdMemberState state = judge (row);
  self->changed = TRUE;
  if (state == row->state)
    return;
  row->state = state;
  row->since_ms = now.unix_ms;
}

static Row *
get_row (IrisdMemberTable *self, const char *name)
{
  Row *row = g_hash_table_lookup (self->rows, name);
  if (row == NULL)
    {
      row = g_new0 (Row, 1);
      g_hash_table_insert (self->rows, g_strdup (name), row);
    }
  return row;
}

/* The entry of @node was put. */
void
irisd_member_table_put (IrisdMemberTable *self, IrisdNode *node, IrisdMoment now)
{
  Row *row = get_row (self, node->name);
  irisd_node_ref (node);
  irisd_node_unref (row->node);
  row->node = node;
  row->here = row->entry_found = TRUE;
  row->put_us = now.us;
  row->seen_ms = now.unix_ms;
  settle (self, row, now);
}

/* @node may have put its entry. Returns FALSE, and does nothing, unless it is here and of the same
 * run. */
gboolean
irisd_member_table_refresh (IrisdMemberTable *self, IrisdNode *node, IrisdMoment now)
{
  const Row *row = g_hash_table_lookup (self->rows, node->name);
  if (row == NULL || !row->here || strcmp (row->node->incarnation, node->incarnation) != 0)
    return FALSE;
  irisd_member_table_put (self, node, now);
  return TRUE;
}

/* The entry of @name has ended. */
void
irisd_member_table_lose (IrisdMemberTable *self, const char *name, IrisdMoment now)
{
  Row *row = g_hash_table_lookup (self->rows, name);
  if (row == NULL || !row->here)
    return;
  row->here = FALSE;
  settle (self, row, now);
}

void
irisd_member_table_mark (IrisdMemberTable *self,
                         const char *name,
                         IrisdMemberMark mark,
                         IrisdMoment now)
{
  Row *row = get_row (self, name);
  row->marked = row->mark_found = TRUE;
  row->mark = mark;
  settle (self, row, now);
}

/* The bucket is in reach again. While it was not no node could put an entry, so that of a node that
 * is well may have ended: they all have a moment to put it again. */
void
irisd_member_table_excuse (IrisdMemberTable *self, IrisdMoment now)
{
  self->excused_us = now.us + 2 * IRISD_MEMBER_REPORT_MS * 1000;
}

/* Ends the entries that were not put for their life. Do not call it while the bucket is out of
 * reach. */
void
irisd_member_table_sweep (IrisdMemberTable *self, IrisdMoment now)
{
  GHashTableIter iter;
  gpointer data;
  if (now.us < self->excused_us)
    return;
  g_hash_table_iter_init (&iter, self->rows);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      Row *row = data;
      /* With a report's time more: the bucket ends it first, by the one clock that counts. */
      const gint64 life_us = (IRISD_MEMBER_LIFE_MS + IRISD_MEMBER_REPORT_MS) * 1000;
      if (!row->here || now.us - row->put_us <= life_us)
        continue;
      row->here = FALSE;
      settle (self, row, now);
    }
}

/* The whole bucket is put and marked again, then comes irisd_member_table_end_reload(). */
void
irisd_member_table_begin_reload (IrisdMemberTable *self)
{
  GHashTableIter iter;
  gpointer data;
  g_hash_table_iter_init (&iter, self->rows);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    ((Row *) data)->entry_found = ((Row *) data)->mark_found = FALSE;
}

/* What the bucket does not have has ended. A node without entry and mark is forgotten. */
void
irisd_member_table_end_reload (IrisdMemberTable *self, IrisdMoment now)
{
  GHashTableIter iter;
  gpointer data;
  g_hash_table_iter_init (&iter, self->rows);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      Row *row = data;
      row->entry_found = row->entry_found || (row->here && now.us < self->excused_us);
      if (!row->entry_found && !row->mark_found)
        {
          g_hash_table_iter_remove (&iter);
          self->changed = TRUE;
          continue;
        }
      if (row->here == row->entry_found && row->marked == row->mark_found)
        continue;
      row->here = row->entry_found;
      row->marked = row->mark_found;
      settle (self, row, now);
    }
}

guint
irisd_member_table_get_count (IrisdMemberTable *self)
{
  return g_hash_table_size (self->rows);
}

gboolean
irisd_member_table_has_mark (IrisdMemberTable *self, const char *name)
{
  const Row *row = g_hash_table_lookup (self->rows, name);
  return row != NULL && row->marked;
}

IrisdMemberMark
irisd_member_table_get_mark (IrisdMemberTable *self, const char *name)
{
  const Row *row = g_hash_table_lookup (self->rows, name);
  return row != NULL && row->marked ? row->mark : IRISD_MARK_MEMBER;
}

/* Returns whether there was a change since it was last asked. */
gboolean
irisd_member_table_take_changed (IrisdMemberTable *self)
{
  gboolean changed = self->changed;
  self->changed = FALSE;
  return changed;
}

static int
compare_members (gconstpointer a, gconstpointer b)
{
  return strcmp (((const IrisdMember *) a)->name, ((const IrisdMember *) b)->name);
}

/* Returns a picture with the members; the rest of it is the caller's. */
IrisdMembers *
irisd_member_table_describe (IrisdMemberTable *self)
{
  IrisdMembers *members = irisd_members_new (self->own, g_hash_table_size (self->rows));
  GHashTableIter iter;
  gpointer name, data;
  guint n = 0;
  g_hash_table_iter_init (&iter, self->rows);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const Row *row = data;
      members->members[n++] = (IrisdMember){
        .name = g_strdup (name),
        .state = row->state,
        .since_ms = row->since_ms,
        .seen_ms = row->seen_ms,
        .heard_us = row->put_us,
        .node = row->node != NULL ? irisd_node_ref (row->node) : NULL,
      };
    }
  if (n > 0)
    qsort (members->members, n, sizeof *members->members, compare_members);
  irisd_members_make_views (members);
  const IrisdMember *own = irisd_members_find (members, self->own);
  members->own_draining = irisd_member_table_get_mark (self, self->own) == IRISD_MARK_DRAINED
                          || (own != NULL && own->state == IRISD_MEMBER_DRAINING);
  return members;
}
