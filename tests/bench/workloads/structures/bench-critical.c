/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Seven microbenchmarks of critical sections: single_ctr, multiple_ctr, doubly_list, prod_cons,
 * affinity, mlt_ctr_mlt_lock and multiple_fifo, written anew after what their names say.
 */
#include "tests/bench/workloads/structures/bench-critical.h"
#include "tests/bench/measure/bench-measure.h"

#include <stdlib.h>
#include <string.h>

/* Steps of the work outside, at most; a step takes about a nanosecond. */
#define OUTSIDE 1024

static guint32
next_random (guint32 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;

  return *state;
}

static void
single_ctr (BenchProtected *data, BenchCustomer *customer)
{
  data->counters[0].value++;
}

static gboolean
single_ctr_is_good (const BenchProtected *data)
{
  return data->counters[0].value == data->done.value;
}

static void
multiple_ctr (BenchProtected *data, BenchCustomer *customer)
{
  for (guint i = 0; i < BENCH_CRITICAL_COUNTERS; i++)
    data->counters[i].value++;
}

static gboolean
multiple_ctr_is_good (const BenchProtected *data)
{
  for (guint i = 0; i < BENCH_CRITICAL_COUNTERS; i++)
    if (data->counters[i].value != data->done.value)
      return FALSE;

  return TRUE;
}

static void
list_remove (BenchNode *node)
{
  node->prev->next = node->next;
  node->next->prev = node->prev;
}

static void
list_append (BenchNode *list, BenchNode *node)
{
  node->prev = list->prev;
  node->next = list;
  list->prev->next = node;
  list->prev = node;
}

/* Takes a node near the head out and appends it. */
static void
doubly_list (BenchProtected *data, BenchCustomer *customer)
{
  BenchNode *node = data->list.next;

  for (guint i = next_random (&customer->random) % 8; i > 0; i--)
    node = node->next;
  list_remove (node);
  node->value++;
  list_append (&data->list, node);
}

static gboolean
doubly_list_is_good (const BenchProtected *data)
{
  guint64 n = 0, sum = 0;

  for (const BenchNode *node = data->list.next; node != &data->list; node = node->next)
    {
      if (node->next->prev != node)
        return FALSE;
      n++;
      sum += node->value;
    }

  return n == BENCH_CRITICAL_NODES && sum == data->done.value;
}

/* Half of the waiters put, the others take. */
static void
prod_cons (BenchProtected *data, BenchCustomer *customer)
{
  if (customer->index % 2 == 0 && data->length < BENCH_CRITICAL_NODES)
    {
      data->nodes[data->put % BENCH_CRITICAL_NODES].value = data->put;
      data->put++;
      data->length++;
    }
  else if (customer->index % 2 == 1 && data->length > 0)
    {
      customer->own[0].value += data->nodes[data->taken++ % BENCH_CRITICAL_NODES].value;
      data->length--;
    }
}

static gboolean
prod_cons_is_good (const BenchProtected *data)
{
  return data->put == data->taken + data->length && data->length <= BENCH_CRITICAL_NODES;
}

/* As much of what the waiter has as of what the lock protects: moving the waiter costs too. */
static void
affinity (BenchProtected *data, BenchCustomer *customer)
{
  for (guint i = 0; i < BENCH_CRITICAL_COUNTERS; i++)
    {
      customer->own[i].value += data->counters[i].value;
      data->counters[i].value++;
    }
}

/* One FIFO of eight: takes the oldest, puts it back as the newest. */
static void
multiple_fifo (BenchProtected *data, BenchCustomer *customer)
{
  BenchNode *node = data->list.next;

  list_remove (node);
  node->value++;
  list_append (&data->list, node);
}

static const BenchCritical loads[] = {
  { "single_ctr", 1, single_ctr, single_ctr_is_good },
  { "multiple_ctr", 1, multiple_ctr, multiple_ctr_is_good },
  { "doubly_list", 1, doubly_list, doubly_list_is_good },
  { "prod_cons", 1, prod_cons, prod_cons_is_good },
  { "affinity", 1, affinity, multiple_ctr_is_good },
  { "mlt_ctr_mlt_lock", BENCH_CRITICAL_LOCKS, single_ctr, single_ctr_is_good },
  { "multiple_fifo", BENCH_CRITICAL_LOCKS, multiple_fifo, doubly_list_is_good },
};

const BenchCritical *
bench_critical_nth (guint n)
{
  return n < G_N_ELEMENTS (loads) ? &loads[n] : NULL;
}

BenchProtected *
bench_protected_new (void)
{
  BenchProtected *self = aligned_alloc (128, BENCH_CRITICAL_LOCKS * sizeof *self);

  if (self == NULL)
    g_error ("out of memory");
  memset (self, 0, BENCH_CRITICAL_LOCKS * sizeof *self);
  for (guint i = 0; i < BENCH_CRITICAL_LOCKS; i++)
    {
      self[i].list.next = self[i].list.prev = &self[i].list;
      for (guint j = 0; j < BENCH_CRITICAL_NODES; j++)
        list_append (&self[i].list, &self[i].nodes[j]);
    }

  return self;
}

gboolean
bench_protected_check (const BenchProtected *self,
                       const BenchCritical *load,
                       guint64 expected,
                       GError **error)
{
  guint64 done = 0;
  gboolean good = TRUE;

  for (guint i = 0; i < BENCH_CRITICAL_LOCKS; i++)
    {
      done += self[i].done.value;
      good = good && load->is_good (&self[i]);
    }
  if (done == expected && good)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " sections ran%s", load->name,
               done, expected, good ? "" : ", and what the lock protects is broken");

  return FALSE;
}

void
bench_protected_free (BenchProtected *self)
{
  free (self);
}

void
bench_customer_init (BenchCustomer *self, guint index)
{
  memset (self, 0, sizeof *self);
  self->index = index;
  self->random = (index + 1) * 2654435761u | 1;
}

guint
bench_customer_choose (BenchCustomer *self, const BenchCritical *load)
{
  for (guint i = next_random (&self->random) % OUTSIDE; i > 0; i--)
    __asm__ __volatile__("" ::: "memory");

  return load->n_locks == 1 ? 0 : next_random (&self->random) % load->n_locks;
}
