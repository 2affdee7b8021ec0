/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory that threads keep for what they make next: one thread at a time has a piece, and as many
 * are given back as were taken.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-pool.h"

#include <check.h>
#include <string.h>

#define N_PIECES 20000

/* More of one size than a thread keeps. */
#define MANY 1500

typedef struct
{
  gsize size;
  guint8 marks[]; /* the same in all of a piece */
} Piece;

static Piece *
take (gsize size, guint number)
{
  Piece *self = irisd_pool_take (size);
  self->size = size;
  memset (self->marks, (int) (number & 0xff), size - sizeof (Piece));
  return self;
}

/* Pieces that overlap have each other's marks. */
static void
give (Piece *self)
{
  gsize n = self->size - sizeof (Piece);
  ck_assert (memcmp (self->marks, self->marks + 1, n - 1) == 0);
  irisd_pool_give (self, self->size);
}

TEST (one_thread_at_a_time_has_a_piece)
{
  Piece *pieces[MANY];
  for (guint size = 0; size < 3; size++)
    for (guint round = 0; round < 3; round++)
      {
        for (guint i = 0; i < MANY; i++)
          {
            /* The last size that has a list, the first that has none, and many. */
            gsize some = size == 2 ? 32 + i % 1200 : 1008 + size;
            pieces[i] = take (some, i);
          }
        for (guint i = 0; i < MANY; i++)
          {
            ck_assert_uint_eq (pieces[i]->marks[0], i & 0xff);
            give (pieces[i]);
          }
      }
}

static GAsyncQueue *queues[2];
static guint n_given[2];

/* Gives what the other thread took. */
static gpointer
exchange (gpointer data)
{
  guint me = GPOINTER_TO_UINT (data);
  Piece *piece;
  for (guint i = 0; i < N_PIECES; i++)
    {
      g_async_queue_push (queues[1 - me], take (32 + i * 37 % 1200, i));
      /* Some by one, and then many at once. */
      while (i % MANY < MANY / 2 && (piece = g_async_queue_try_pop (queues[me])) != NULL)
        {
          give (piece);
          n_given[me]++;
        }
    }
  for (; n_given[me] < N_PIECES; n_given[me]++)
    give (g_async_queue_pop (queues[me]));
  return NULL;
}

TEST (a_piece_may_be_given_by_another_thread)
{
  GThread *threads[2];
  for (guint i = 0; i < 2; i++)
    queues[i] = g_async_queue_new ();
  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("exchange", exchange, GUINT_TO_POINTER (i));
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  for (guint i = 0; i < 2; i++)
    {
      ck_assert_uint_eq (n_given[i], N_PIECES);
      ck_assert_int_eq (g_async_queue_length (queues[i]), 0);
      g_async_queue_unref (queues[i]);
    }
}

TEST_MAIN ("irisd-pool", NULL, NULL)
