/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the GenMC drivers of the deques share: things that are given once, and their owner and
 * thieves.
 *
 * A driver runs the very core that ships, in two or three threads of two to four operations, so
 * that a model checker can go through every execution that C11 allows:
 *
 *     tests/model/check-drivers --genmc PATH --model rc11 NAME
 *     tests/model/check-drivers --genmc PATH --model imm NAME
 *
 * `meson test` compiles and runs them as ordinary programs, many rounds each, so that they stay
 * what the checker can take. Things are plain memory: to give a thing twice is a data race,
 * which the checker reports, and so does a thing that is read before it is seen to be written.
 */
#pragma once

#include "genmc-fence.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef GENMC
/* A thief reads slots that were never written, and then fails to claim them. The checker reports a
 * read of memory that nothing wrote, so arrays start with zeros there. */
static inline void *
array_malloc (size_t size)
{
  _Atomic (uintptr_t) *words = malloc (size);

  for (size_t i = 0; i < size / sizeof *words; i++)
    atomic_store_explicit (&words[i], 0, memory_order_relaxed);

  return words;
}
#define malloc(size) array_malloc (size)

/* The checker cannot follow memset(), which the drivers need for static memory alone. */
#define memset(memory, byte, size) ((void) (size), (void *) (memory))
#endif

#ifndef SCENARIO
#define SCENARIO 1
#endif

#ifndef ROUNDS
#define ROUNDS 1
#endif
#define N_THINGS 8

typedef struct
{
  int value;
  int n_given;
} Thing;

static Thing things[N_THINGS];

/* A thing to push. */
static inline void *
thing_make (int i)
{
  things[i].value = i + 1;
  things[i].n_given = 0;

  return &things[i];
}

/* A thread got it; NULL is nothing. */
static inline void
thing_give (void *given)
{
  Thing *thing = given;

  if (thing == NULL)
    return;
  assert (thing->value == (int) (thing - things) + 1);
  thing->n_given++;
}

static inline void
thing_expect_once (int n)
{
  for (int i = 0; i < n; i++)
    assert (things[i].n_given == 1);
}

/* One execution. */
static void run (void);

int
main (void)
{
  for (int i = 0; i < ROUNDS; i++)
    run ();

  return 0;
}
