/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the stack. 1: a popper against one that pops two and pushes one
 * back (the ABA problem). 2: pushers against a popper. The last node's stamp wraps in both.
 */
#include "genmc.h"

#include "iris/queue/stamped/iris-stack-private.h"

static IrisStackCore stack;

#if SCENARIO == 1
static void *
take_one (void *data)
{
  (void) data;
  thing_take (iris_stack_core_pop (&stack));

  return NULL;
}

static void *
shuffle (void *data)
{
  Thing *one = iris_stack_core_pop (&stack);
  Thing *two = iris_stack_core_pop (&stack);

  (void) data;
  if (one != NULL)
    assert (iris_stack_core_push (&stack, one));
  thing_take (two);

  return NULL;
}

static void
start (void)
{
  for (int i = 0; i < 3; i++)
    {
      thing_fill (i);
      assert (iris_stack_core_push (&stack, &things[i]));
    }
  GENMC_RUN (take_one, shuffle);
}
#else
static void *
push_one (void *data)
{
  (void) data;
  thing_fill (0);
  assert (iris_stack_core_push (&stack, &things[0]));

  return NULL;
}

static void *
push_another (void *data)
{
  (void) data;
  thing_fill (1);
  assert (iris_stack_core_push (&stack, &things[1]));

  return NULL;
}

static void *
take_two (void *data)
{
  (void) data;
  thing_take (iris_stack_core_pop (&stack));
  thing_take (iris_stack_core_pop (&stack));

  return NULL;
}

static void
start (void)
{
  thing_fill (2);
  assert (iris_stack_core_push (&stack, &things[2]));
  GENMC_RUN (push_one, push_another, take_two);
}
#endif

int
main (void)
{
  iris_stack_core_init (&stack, UINT32_MAX);
  start ();
  for (int i = 0; i < 3; i++)
    thing_take (iris_stack_core_pop (&stack));
  assert (iris_stack_core_is_empty (&stack));
  for (int i = 0; i < 3; i++)
    assert (thing_is_taken (i));
  iris_stack_core_clear (&stack);

  return 0;
}
