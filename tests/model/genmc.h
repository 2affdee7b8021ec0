/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the drivers for a C11 model checker have in common.
 *
 * Each driver genmc-NAME.c includes the very core that ships and runs two or three threads of a
 * few operations over it. It is an ordinary program, which the tests run as such; and it is what a
 * stateless model checker for C11 takes, for instance (from the root of the sources)
 *
 *     tests/model/check-drivers --genmc PATH NAME.1
 *
 * It explores every execution that RC11 (or IMM, --imm) allows, and reports a failed assertion, a
 * data race on plain memory, and any access to memory that was freed. The scenarios of a driver
 * are numbered from 1. No driver loops without a bound; the cores' own loops go round again only
 * when another thread has got on.
 */
#pragma once

/* Few nodes, since every one of them costs the checker time. */
#define IRIS_ARENA_FIRST_BITS 2

#ifndef SCENARIO
#define SCENARIO 1
#endif

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#ifdef GENMC
/* The checker cannot follow memset(). What the drivers clear by it is fresh or static memory, every
 * field of which is either zero or written before it is read; the checker reports one that is not.
 */
#define memset(memory, byte, size) ((void) (size), (void *) (memory))
#endif

/* What goes through the containers: written before it is pushed, read after it was taken. */
typedef struct
{
  int payload;
  void *link;
  atomic_int n_taken;
} Thing;

#define N_THINGS 4

static Thing things[N_THINGS];

static inline void
thing_fill (int i)
{
  things[i].payload = i + 1;
}

/* Once, and not before it was filled. */
static inline void
thing_take (Thing *thing)
{
  if (thing == NULL)
    return;
  assert (thing->payload == (int) (thing - things) + 1);
  assert (atomic_fetch_add_explicit (&thing->n_taken, 1, memory_order_relaxed) == 0);
}

static inline int
thing_is_taken (int i)
{
  return atomic_load_explicit (&things[i].n_taken, memory_order_relaxed);
}

typedef void *(*GenmcThread) (void *);

static inline void
genmc_run (const GenmcThread *threads, int n)
{
  pthread_t ids[4];

  for (int i = 0; i < n; i++)
    pthread_create (&ids[i], NULL, threads[i], NULL);
  for (int i = 0; i < n; i++)
    pthread_join (ids[i], NULL);
}

#define GENMC_RUN(...)                                                    \
  do                                                                      \
    {                                                                     \
      static const GenmcThread threads_[] = { __VA_ARGS__ };              \
                                                                          \
      genmc_run (threads_, (int) (sizeof threads_ / sizeof threads_[0])); \
    }                                                                     \
  while (0)
