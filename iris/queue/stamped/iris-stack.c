/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-free stack: the face of iris-stack-private.h, where the argument is.
 */
#include "iris/queue/stamped/iris-stack.h"

#include "iris/queue/iris-container-private.h"
#include "iris/queue/stamped/iris-stack-private.h"

/**
 * IrisStack:
 *
 * A stack of pointers, last in, first out, that any number of threads may use without a lock. A
 * thread that is preempted anywhere in it holds up no other thread.
 *
 * Its memory grows with the largest number of items that were on it at once, and goes with the
 * stack. At most 2^32 - 64 items fit. The algorithm is R. K. Treiber's (1986), on stamped pointers.
 */
struct _IrisStack
{
  IrisStackCore core;
  _Atomic gint n_refs;
};

G_DEFINE_BOXED_TYPE (IrisStack, iris_stack, iris_stack_ref, iris_stack_unref)

/**
 * iris_stack_new:
 *
 * Returns: (transfer full): an empty stack
 */
IrisStack *
iris_stack_new (void)
{
  IrisStack *self = iris_container_alloc (sizeof *self);

  iris_stack_core_init (&self->core, 0);
  atomic_init (&self->n_refs, 1);

  return self;
}

/**
 * iris_stack_ref:
 *
 * Returns: (transfer full): @self, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisStack, iris_stack, iris_container_ref (&self->n_refs))

/**
 * iris_stack_unref:
 * @self: (transfer full): a stack
 *
 * Drops a reference; the last one frees it, but not its items, which are the program's.
 * Any thread.
 */
void
iris_stack_unref (IrisStack *self)
{
  g_return_if_fail (self != NULL);

  if (!iris_container_unref (&self->n_refs))
    return;
  iris_stack_core_clear (&self->core);
  free (self);
}

/**
 * iris_stack_push:
 * @item: (not nullable): what to lay on top; the stack does not take ownership
 *
 * Lays an item on top. Any thread. Aborts when there is no memory.
 */
void
iris_stack_push (IrisStack *self, gpointer item)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (item != NULL);

  if (G_UNLIKELY (!iris_stack_core_push (&self->core, item)))
    g_error ("iris: out of memory for an item of a stack");
}

/**
 * iris_stack_pop:
 *
 * Returns: (transfer none) (nullable): the item on top, or %NULL when the stack is empty; any
 *   thread may call it
 */
gpointer
iris_stack_pop (IrisStack *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return iris_stack_core_pop (&self->core);
}

/**
 * iris_stack_is_empty:
 *
 * Tells whether nothing was on the stack at some moment during the call.
 */
gboolean
iris_stack_is_empty (IrisStack *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return iris_stack_core_is_empty (&self->core);
}
