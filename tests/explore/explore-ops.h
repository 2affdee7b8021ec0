/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The operations of explored code: what the header in shadow/ turns atomics, locks and memory into.
 *
 * @what is the operand as it stands in the source and @where the function; both are for traces.
 * Orders are those of <stdatomic.h>.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum
{
  EXPLORE_EXCHANGE,
  EXPLORE_ADD,
  EXPLORE_SUB,
  EXPLORE_OR,
  EXPLORE_AND,
  EXPLORE_XOR,
} ExploreRmw;

void explore_init (void *word, unsigned size, uint64_t value);
uint64_t
explore_load (const void *word, unsigned size, int order, const char *what, const char *where);
void explore_store (void *word,
                    unsigned size,
                    uint64_t value,
                    int order,
                    const char *what,
                    const char *where);
uint64_t explore_rmw (void *word,
                      unsigned size,
                      ExploreRmw op,
                      uint64_t operand,
                      int order,
                      const char *what,
                      const char *where);
bool explore_cas (void *word,
                  unsigned size,
                  uint64_t *expected,
                  uint64_t desired,
                  int success,
                  int failure,
                  const char *what,
                  const char *where);

void explore_fence (int order, const char *where);
void explore_fence_full (const char *where);
void explore_fence_heavy (const char *where);
void explore_fence_light (const char *where);
int explore_yield (const char *where);

void *explore_malloc (size_t size);
void *explore_calloc (size_t n, size_t size);
void *explore_realloc (void *memory, size_t size);
void *explore_aligned_alloc (size_t align, size_t size);
void explore_free (void *memory, const char *where);

long explore_syscall (const char *where, long number, ...);

int explore_mutex_init (pthread_mutex_t *mutex);
int explore_mutex_lock (pthread_mutex_t *mutex, const char *what, const char *where);
int explore_mutex_trylock (pthread_mutex_t *mutex, const char *what, const char *where);
int explore_mutex_unlock (pthread_mutex_t *mutex, const char *what, const char *where);
int explore_once (pthread_once_t *once, void (*func) (void));
int explore_key_create (pthread_key_t *key, void (*destroy) (void *));
int explore_setspecific (pthread_key_t key, const void *value);
void *explore_getspecific (pthread_key_t key);
