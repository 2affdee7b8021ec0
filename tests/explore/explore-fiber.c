/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fibers: the stacks of the logical threads and the jumps between them.
 *
 * A fiber is entered once with setcontext(); from then on _setjmp() and _longjmp() are enough,
 * which, unlike swapcontext(), make no system call. AddressSanitizer wants to be told of each
 * jump, and understands swapcontext().
 */
#include "explore-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef EXPLORE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_SIZE ((size_t) 256 * 1024)

static char *stacks;
static unsigned n_stacks;

/* Part of one mapping, so that a stack's address is told from others by a comparison. */
static char *
stack_new (void)
{
  if (stacks == NULL)
    {
      stacks = mmap (NULL, STACK_SIZE * EXPLORE_MAX_THREADS, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (stacks == MAP_FAILED)
        {
          perror ("explore: no memory for the stacks of the threads");
          exit (2);
        }
    }

  return stacks + STACK_SIZE * n_stacks++;
}

bool
explore_is_stack (const char *address)
{
  return address >= stacks && address < stacks + STACK_SIZE * EXPLORE_MAX_THREADS;
}

static void (*entry) (void);

#ifdef EXPLORE_ASAN
/* Of the kernel thread; learnt when the first fiber is entered. */
static const void *main_stack;
static size_t main_stack_size;
#endif

static void
fiber_main (void)
{
#ifdef EXPLORE_ASAN
  const void *stack;
  size_t size;

  __sanitizer_finish_switch_fiber (NULL, &stack, &size);
  if (main_stack == NULL)
    {
      main_stack = stack;
      main_stack_size = size;
    }
#endif
  entry ();
}

/* The next switch to @fiber starts @body, which must not return. */
void
explore_fiber_prepare (Fiber *fiber, void (*body) (void))
{
  if (fiber->stack == NULL)
    fiber->stack = stack_new ();
#ifdef EXPLORE_ASAN
  __asan_unpoison_memory_region (fiber->stack, STACK_SIZE);
#endif
  getcontext (&fiber->start);
  fiber->start.uc_stack.ss_sp = fiber->stack;
  fiber->start.uc_stack.ss_size = STACK_SIZE;
  fiber->start.uc_link = NULL;
  makecontext (&fiber->start, fiber_main, 0);
  fiber->started = false;
  fiber->fake_stack = NULL;
  entry = body;
}

#ifdef EXPLORE_ASAN

void
explore_fiber_switch (Fiber *from, Fiber *to)
{
  const void *stack = to->stack != NULL ? to->stack : main_stack;
  size_t size = to->stack != NULL ? STACK_SIZE : main_stack_size;

  to->started = true;
  __sanitizer_start_switch_fiber (&from->fake_stack, stack, size);
  swapcontext (&from->start, &to->start);
  __sanitizer_finish_switch_fiber (from->fake_stack, NULL, NULL);
}

#else

void
explore_fiber_switch (Fiber *from, Fiber *to)
{
  if (_setjmp (from->at) != 0)
    return;
  if (!to->started)
    {
      to->started = true;
      setcontext (&to->start);
    }
  _longjmp (to->at, 1);
}

#endif
