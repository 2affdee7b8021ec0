/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The seven programs of the workload locks, after the description of S. Sridharan et al., "Thread
 * Migration to Improve Synchronization Performance", section 3.2.1. What it does not say is chosen
 * here: the length of the work outside, of the FIFOs and of the list, and the number of locks.
 */
#include "tests/bench/workloads/locks/bench-lock-programs.h"
#include "tests/bench/measure/bench-measure.h"

#include <stdlib.h>
#include <string.h>

#define MAX_USERS 128
#define MAX_LOCKS 8
#define CAPACITY  64
#define NODES     256 /* more than users, each of which takes one out */

/* Steps of the work outside, at most; a step takes about a nanosecond. */
#define OUTSIDE 1024

#define LINE 64 /* bytes */

typedef struct
{
  guint64 value;
} BENCH_PADDED Cell;

typedef struct _Node Node;

struct _Node
{
  Node *next;
  Node *prev;
  guint64 value;
} BENCH_PADDED;

typedef struct
{
  BenchUser *first;
  BenchUser *last;
} Line;

/* Bounded; empty at first. */
typedef struct
{
  guint64 put;
  guint64 taken;
  guint64 sum; /* of what was taken */
  Line producers, consumers;
  Cell cells[CAPACITY];
} BENCH_PADDED Fifo;

struct _BenchShared
{
  const BenchLockProgram *program;
  guint n_users;
  guint n_locks;
  Cell done[MAX_LOCKS]; /* sections, each under its lock */
  Cell counters[MAX_USERS];
  Fifo fifos[MAX_LOCKS];
  Node list; /* the head of a ring */
  Node nodes[NODES];
  guint64 *data;
  gsize n_lines;
};

static guint32
next_random (guint32 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;

  return *state;
}

static guint64
sum_of_done (const BenchShared *shared)
{
  guint64 sum = 0;

  for (guint i = 0; i < shared->n_locks; i++)
    sum += shared->done[i].value;

  return sum;
}

/* --- counters --------------------------------------------------------------------------------- */

static BenchAfter
single_ctr (BenchShared *shared, BenchUser *user)
{
  shared->counters[0].value++;

  return BENCH_GO_ON;
}

static gboolean
single_ctr_is_good (const BenchShared *shared)
{
  return shared->counters[0].value == sum_of_done (shared);
}

/* A counter for each user; also with a lock for each segment of them. */
static BenchAfter
multiple_ctr (BenchShared *shared, BenchUser *user)
{
  shared->counters[user->index].value++;

  return BENCH_GO_ON;
}

static gboolean
multiple_ctr_is_good (const BenchShared *shared)
{
  for (guint i = 0; i < shared->n_users; i++)
    if (shared->counters[i].value * shared->n_users != sum_of_done (shared))
      return FALSE;

  return TRUE;
}

/* Two locks and two counters: in the second phase each lock protects the other counter. Users meet
 * between phases, so that a counter has one lock at a time. */
static BenchAfter
affinity (BenchShared *shared, BenchUser *user)
{
  shared->counters[(user->lock + user->phase) % 2].value++;
  user->phase++;

  return BENCH_BARRIER;
}

static gboolean
affinity_is_good (const BenchShared *shared)
{
  guint64 done = sum_of_done (shared);

  return shared->counters[0].value + shared->counters[1].value == done
         && shared->counters[0].value == shared->counters[1].value;
}

/* --- a list ----------------------------------------------------------------------------------- */

static void
list_append (Node *list, Node *node)
{
  node->prev = list->prev;
  node->next = list;
  list->prev->next = node;
  list->prev = node;
}

/* Takes the head out; in the next section, appends it. */
static BenchAfter
doubly_list (BenchShared *shared, BenchUser *user)
{
  Node *node = user->node;

  if (node != NULL)
    {
      node->value++;
      list_append (&shared->list, node);
      user->node = NULL;
    }
  else
    {
      node = shared->list.next;
      node->prev->next = node->next;
      node->next->prev = node->prev;
      user->node = node;
    }

  return BENCH_GO_ON;
}

static gboolean
doubly_list_is_good (const BenchShared *shared)
{
  guint64 n = 0, sum = 0;

  for (const Node *node = shared->list.next; node != &shared->list; node = node->next)
    {
      if (node->next->prev != node)
        return FALSE;
      n++;
      sum += node->value;
    }

  return n == NODES && sum * 2 == sum_of_done (shared);
}

/* --- queues ----------------------------------------------------------------------------------- */

static BenchAfter
line_join (Line *line, BenchUser *user)
{
  user->next = NULL;
  if (line->first == NULL)
    line->first = user;
  else
    line->last->next = user;
  line->last = user;

  return BENCH_WAIT;
}

static BenchUser *
line_leave (Line *line)
{
  BenchUser *user = line->first;

  if (user != NULL)
    line->first = user->next;

  return user;
}

/* One of each pair of users puts, the other takes; also with several FIFOs. Each user tries again
 * when another one made room, or put something there. */
static BenchAfter
prod_cons (BenchShared *shared, BenchUser *user)
{
  Fifo *fifo = &shared->fifos[user->lock];

  if (user->index % 2 == 0)
    {
      if (fifo->put - fifo->taken == CAPACITY)
        return line_join (&fifo->producers, user);
      fifo->cells[fifo->put % CAPACITY].value = fifo->put;
      fifo->put++;
      user->wake = line_leave (&fifo->consumers);
    }
  else
    {
      if (fifo->put == fifo->taken)
        return line_join (&fifo->consumers, user);
      fifo->sum += fifo->cells[fifo->taken % CAPACITY].value;
      fifo->taken++;
      user->wake = line_leave (&fifo->producers);
    }

  return BENCH_GO_ON;
}

static gboolean
prod_cons_is_good (const BenchShared *shared)
{
  for (guint i = 0; i < shared->n_locks; i++)
    {
      const Fifo *fifo = &shared->fifos[i];

      if (fifo->put != fifo->taken || fifo->put + fifo->taken != shared->done[i].value
          || fifo->sum != fifo->put * (fifo->put - 1) / 2 || fifo->producers.first != NULL
          || fifo->consumers.first != NULL)
        return FALSE;
    }

  return TRUE;
}

/* --- data ------------------------------------------------------------------------------------- */

static BenchAfter
change_data (BenchShared *shared, BenchUser *user)
{
  for (gsize i = 0; i < shared->n_lines; i++)
    shared->data[i * (LINE / sizeof *shared->data)]++;

  return BENCH_GO_ON;
}

static gboolean
data_is_good (const BenchShared *shared)
{
  for (gsize i = 0; i < shared->n_lines; i++)
    if (shared->data[i * (LINE / sizeof *shared->data)] != shared->done[0].value)
      return FALSE;

  return TRUE;
}

const BenchLockProgram bench_lock_program_data = { "data", FALSE, 1, change_data, data_is_good };

/* --- all of them ------------------------------------------------------------------------------ */

static const BenchLockProgram programs[] = {
  { "single_ctr", FALSE, 1, single_ctr, single_ctr_is_good },
  { "multiple_ctr", FALSE, 1, multiple_ctr, multiple_ctr_is_good },
  { "doubly_list", FALSE, 1, doubly_list, doubly_list_is_good },
  { "prod_cons", FALSE, 1, prod_cons, prod_cons_is_good },
  { "affinity", TRUE, 8, affinity, affinity_is_good },
  { "mlt_ctr_mlt_lock", TRUE, 1, multiple_ctr, multiple_ctr_is_good },
  { "multiple_fifo", TRUE, 1, prod_cons, prod_cons_is_good },
};

const BenchLockProgram *
bench_lock_program_nth (guint n)
{
  return n < G_N_ELEMENTS (programs) ? &programs[n] : NULL;
}

guint
bench_lock_program_n_locks (const BenchLockProgram *self, guint n_users)
{
  if (self->section == affinity)
    return 2;

  return self->many_locks ? CLAMP (n_users / 4, 2, MAX_LOCKS) : 1;
}

BenchShared *
bench_shared_new (const BenchLockProgram *program, guint n_users, gsize bytes)
{
  BenchShared *self = aligned_alloc (128, sizeof *self);

  if (self == NULL)
    g_error ("out of memory");
  memset (self, 0, sizeof *self);
  self->program = program;
  self->n_users = n_users;
  self->n_locks = bench_lock_program_n_locks (program, n_users);
  self->list.next = self->list.prev = &self->list;
  for (guint i = 0; i < NODES; i++)
    list_append (&self->list, &self->nodes[i]);
  self->n_lines = bytes / LINE;
  if (bytes > 0 && (self->data = aligned_alloc (LINE, bytes)) == NULL)
    g_error ("out of memory");
  if (bytes > 0)
    memset (self->data, 0, bytes);

  return self;
}

gboolean
bench_shared_check (const BenchShared *self, guint64 expected, GError **error)
{
  guint64 done = sum_of_done (self);
  gboolean good = self->program->is_good (self);

  if (done == expected && good)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " sections ran%s",
               self->program->name, done, expected,
               good ? "" : ", and what the locks protect is broken");

  return FALSE;
}

void
bench_shared_free (BenchShared *self)
{
  free (self->data);
  free (self);
}

/* Pairs of a producer and a consumer share a lock, as do the users of a segment of counters. */
static guint
lock_of (const BenchShared *shared, guint index)
{
  if (shared->program->section == prod_cons)
    index /= 2;

  return index % shared->n_locks;
}

void
bench_user_init (BenchUser *self, const BenchShared *shared, guint index, guint sections)
{
  memset (self, 0, sizeof *self);
  self->index = index;
  self->lock = lock_of (shared, index);
  self->left = sections;
  self->random = (index + 1) * 2654435761u | 1;
  sem_init (&self->woken, 0, 0);
}

void
bench_user_clear (BenchUser *self)
{
  sem_destroy (&self->woken);
}

void
bench_user_work (BenchUser *self)
{
  for (guint i = next_random (&self->random) % OUTSIDE; i > 0; i--)
    __asm__ __volatile__("" ::: "memory");
}

BenchAfter
bench_user_section (BenchUser *self, BenchShared *shared)
{
  BenchAfter after;

  self->wake = NULL;
  after = shared->program->section (shared, self);
  if (after != BENCH_WAIT)
    {
      shared->done[self->lock].value++;
      self->left--;
    }

  return after;
}
