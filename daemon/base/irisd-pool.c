/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pool: memory that a thread has freed, for its next allocations.
 *
 * A gateway makes jobs by the hundred, a batch at a time, and frees as many a moment later. The
 * allocator holds only a few pieces of a size ready (glibc: seven) and splits and joins the others
 * over and over. Here each thread has a short list for each of some sizes; further pieces go to the
 * allocator. Memory may be freed by another thread than its maker, and stays with the one that
 * freed it: a list belongs to its thread and ends with it.
 *
 * The library's slabs (iris/base/memory/iris-slab-private.h) return memory to the thread that made
 * it, which jobs do not need, because a gateway makes and frees its own. Slabs have two sizes, of
 * an item and of a message, and never shrink; jobs are larger, and contain their payloads.
 */
#include "daemon/base/irisd-pool.h"

#include <iris/base/iris-atomic-private.h>

/* Sizes in steps, up to MOST_SIZE. */
#define STEP      16
#define MOST_SIZE 1024
#define N_LISTS   (MOST_SIZE / STEP)

/* Pieces of one size. */
#define MOST_PIECES 512

typedef struct _Piece Piece;

struct _Piece
{
  Piece *next;
};

typedef struct
{
  Piece *pieces[N_LISTS];
  guint counts[N_LISTS];
} Pool;

/* AddressSanitizer must see each allocation. */
#ifdef IRIS_ADDRESS_SANITIZER
#define IS_USED FALSE
#else
#define IS_USED TRUE
#endif

static void
free_pool (gpointer data)
{
  Pool *self = data;
  for (guint i = 0; i < N_LISTS; i++)
    while (self->pieces[i] != NULL)
      {
        Piece *piece = self->pieces[i];
        self->pieces[i] = piece->next;
        g_free (piece);
      }
  g_free (self);
}

static GPrivate pools = G_PRIVATE_INIT (free_pool);

static Pool *
get_pool (void)
{
  Pool *self = g_private_get (&pools);
  if (self == NULL)
    {
      self = g_new0 (Pool, 1);
      g_private_set (&pools, self);
    }
  return self;
}

/* Returns memory of @size bytes, not cleared, for irisd_pool_give(). */
gpointer
irisd_pool_take (gsize size)
{
  gsize list = (size + STEP - 1) / STEP;
  if (!IS_USED || list >= N_LISTS)
    return g_malloc (size);
  Pool *self = get_pool ();
  Piece *piece = self->pieces[list];
  if (piece == NULL)
    return g_malloc (list * STEP);
  self->pieces[list] = piece->next;
  self->counts[list]--;
  return piece;
}

void
irisd_pool_give (gpointer memory, gsize size)
{
  gsize list = (size + STEP - 1) / STEP;
  Pool *self = IS_USED && list < N_LISTS ? get_pool () : NULL;
  if (self == NULL || self->counts[list] >= MOST_PIECES)
    {
      g_free (memory);
      return;
    }
  Piece *piece = memory;
  piece->next = self->pieces[list];
  self->pieces[list] = piece;
  self->counts[list]++;
}
