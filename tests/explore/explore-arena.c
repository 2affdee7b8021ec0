/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arena: memory of the explored code.
 *
 * It is handed out from one end and taken back as a whole in front of each interleaving, so that
 * the same choices give the same addresses, and an interleaving that is given up leaks nothing.
 * Freed memory is not handed out again within an interleaving; touching it is a failure.
 */
#include "explore-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef EXPLORE_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define ARENA_SIZE ((size_t) 4 * 1024 * 1024)
#define GRANULE    ((size_t) 16)
#define DIRTY      ((size_t) 256) /* so much of a block is filled, to show what is not initialised */

typedef struct
{
  size_t size;
  size_t unused;
} Header;

static _Alignas(4096) char arena[ARENA_SIZE];
static unsigned char freed[ARENA_SIZE / GRANULE];
static size_t used;
static bool any_freed;

void
explore_arena_reset (void)
{
  if (any_freed)
    memset (freed, 0, (used + GRANULE - 1) / GRANULE);
#ifdef EXPLORE_ASAN
  /* Slabs poison what they do not use. */
  __asan_unpoison_memory_region (arena, used);
#endif
  any_freed = false;
  used = 0;
}

void *
explore_aligned_alloc (size_t align, size_t size)
{
  /* Aligned is the address, not the place in the arena. */
  uintptr_t start = (uintptr_t) arena + used + sizeof (Header);
  size_t at = (size_t) ((start + align - 1) / align * align - (uintptr_t) arena);
  Header *header;

  if (at % GRANULE != 0)
    at += GRANULE - at % GRANULE;
  if (size > ARENA_SIZE - at || at > ARENA_SIZE)
    explore_fail ("the scenario needs more memory than the explorer's %zu bytes", ARENA_SIZE);
  header = (Header *) (arena + at) - 1;
  header->size = size;
  used = (at + size + GRANULE - 1) / GRANULE * GRANULE;
  memset (arena + at, 0xa5, size < DIRTY ? size : DIRTY);

  return arena + at;
}

void *
explore_malloc (size_t size)
{
  return explore_aligned_alloc (GRANULE, size);
}

void *
explore_calloc (size_t n, size_t size)
{
  void *memory = explore_malloc (n * size);

  return memset (memory, 0, n * size);
}

void *
explore_realloc (void *memory, size_t size)
{
  void *larger = explore_malloc (size);

  if (memory != NULL)
    {
      size_t old = ((Header *) memory - 1)->size;

      memcpy (larger, memory, old < size ? old : size);
      explore_free (memory, __func__);
    }

  return larger;
}

void
explore_free (void *memory, const char *where)
{
  char *start = memory;
  size_t size;

  if (memory == NULL)
    return;
  if (start < arena || start >= arena + used)
    explore_fail ("%s frees %p, which it was not given", where, memory);
  explore_arena_check (memory, where);
  size = ((Header *) memory - 1)->size;
  memset (freed + (size_t) (start - arena) / GRANULE, 1, (size + GRANULE - 1) / GRANULE);
  any_freed = true;
}

/* Fails if @address is freed memory. */
void
explore_arena_check (const void *address, const char *where)
{
  const char *at = address;

  if (any_freed && at >= arena && at < arena + used && freed[(size_t) (at - arena) / GRANULE])
    explore_fail ("%s uses memory that was freed", where);
}
