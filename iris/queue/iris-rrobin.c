/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The round-robin ring: the face of iris-rrobin-private.h, where the argument is.
 */
#include "iris/queue/iris-rrobin.h"

#include "iris/queue/iris-container-private.h"
#include "iris/queue/iris-rrobin-private.h"

/**
 * IrisRRobin:
 *
 * Members that get their turn one after the other.
 *
 * Any thread may ask, add and remove at any time. Asking takes no lock. The thread that goes
 * through the members goes through those that were there when it began, each once; functions that
 * are called may add and remove members themselves.
 */
struct _IrisRRobin
{
  IrisRRobinCore core;
  _Atomic gint n_refs;
  guint max_members;
};

G_DEFINE_BOXED_TYPE (IrisRRobin, iris_rrobin, iris_rrobin_ref, iris_rrobin_unref)

/**
 * iris_rrobin_new:
 * @max_members: how many members there may be at once; 0: as many as memory holds
 *
 * Returns: (transfer full): a ring without members
 */
IrisRRobin *
iris_rrobin_new (guint max_members)
{
  IrisRRobin *self = iris_container_alloc (sizeof *self);

  iris_rrobin_core_init (&self->core, 0);
  atomic_init (&self->n_refs, 1);
  self->max_members = max_members != 0 ? max_members : G_MAXUINT;

  return self;
}

/**
 * iris_rrobin_ref:
 *
 * Returns: (transfer full): @self, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisRRobin, iris_rrobin, iris_container_ref (&self->n_refs))

/**
 * iris_rrobin_unref:
 * @self: (transfer full): a ring
 *
 * Drops a reference; the last one frees it, but not its items, which are the program's.
 * Any thread.
 */
void
iris_rrobin_unref (IrisRRobin *self)
{
  g_return_if_fail (self != NULL);

  if (!iris_container_unref (&self->n_refs))
    return;
  iris_rrobin_core_clear (&self->core);
  free (self);
}

/**
 * iris_rrobin_append:
 * @member: (nullable): the new member; the ring does not take ownership
 *
 * Adds a member behind the others. One that is added twice has two turns. Any thread.
 *
 * Returns: %FALSE when there are as many members as there may be, or there is no memory
 */
gboolean
iris_rrobin_append (IrisRRobin *self, gpointer member)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return iris_rrobin_core_append (&self->core, member, self->max_members);
}

/**
 * iris_rrobin_remove:
 * @member: (nullable): a member
 *
 * Removes a member, or one of its turns if it was added more than once. Threads that began before
 * to go through the members can still meet it. Any thread. Aborts when there is no memory.
 *
 * Returns: %FALSE when there is no such member
 */
gboolean
iris_rrobin_remove (IrisRRobin *self, gpointer member)
{
  IrisRRobinRemove result;

  g_return_val_if_fail (self != NULL, FALSE);

  result = iris_rrobin_core_remove (&self->core, member);
  if (G_UNLIKELY (result == IRIS_RROBIN_NO_MEMORY))
    g_error ("iris: out of memory for the members of a ring");

  return result == IRIS_RROBIN_REMOVED;
}

/**
 * iris_rrobin_apply:
 * @func: (scope call): what to offer
 * @user_data: passed to @func
 *
 * Offers the member whose turn it is something, and if it declines, the next one, until one accepts
 * or all have declined. Any thread; @func is called on the same.
 *
 * Returns: whether one accepted; %FALSE also when there are no members
 */
gboolean
iris_rrobin_apply (IrisRRobin *self, IrisRRobinFunc func, gpointer user_data)
{
  const IrisRRobinArray *array;
  gboolean accepted = FALSE;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (func != NULL, FALSE);

  array = iris_rrobin_core_enter (&self->core);
  if (array != NULL)
    {
      gsize first = iris_rrobin_core_next (&self->core, array);

      for (gsize i = 0; i < array->n && !accepted; i++)
        accepted = func (array->members[(first + i) % array->n], user_data);
    }
  iris_rrobin_core_leave (&self->core);

  return accepted;
}

/**
 * iris_rrobin_foreach:
 * @func: (scope call): what to call
 * @user_data: passed to @func
 *
 * Calls @func with each member, in the order in which they were added, until it returns %FALSE. No
 * member loses its turn by that. Any thread; @func is called on the same.
 */
void
iris_rrobin_foreach (IrisRRobin *self, IrisRRobinForeachFunc func, gpointer user_data)
{
  const IrisRRobinArray *array;

  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);

  array = iris_rrobin_core_enter (&self->core);
  for (gsize i = 0; array != NULL && i < array->n; i++)
    if (!func (self, array->members[i], user_data))
      break;
  iris_rrobin_core_leave (&self->core);
}

/**
 * iris_rrobin_get_length:
 *
 * Gets the number of members, at some moment during the call.
 */
guint
iris_rrobin_get_length (IrisRRobin *self)
{
  const IrisRRobinArray *array;
  guint n;

  g_return_val_if_fail (self != NULL, 0);

  array = iris_rrobin_core_enter (&self->core);
  n = array != NULL ? (guint) array->n : 0;
  iris_rrobin_core_leave (&self->core);

  return n;
}
