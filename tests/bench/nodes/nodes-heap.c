/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The events of a simulation of nodes: a binary heap, and rings for queues.
 */
#include "tests/bench/nodes/nodes-heap.h"

#define EVENT(i) g_array_index (self->events, NodesEvent, i)

void
nodes_heap_init (NodesHeap *self)
{
  self->events = g_array_new (FALSE, FALSE, sizeof (NodesEvent));
  self->n_made = 0;
}

void
nodes_heap_clear (NodesHeap *self)
{
  g_array_unref (self->events);
}

static inline gboolean
is_before (const NodesEvent *a, const NodesEvent *b)
{
  return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

void
nodes_heap_push (NodesHeap *self, gint64 at_ns, guint32 kind, guint32 a, guint32 b)
{
  NodesEvent event = { at_ns, self->n_made++, kind, a, b };
  guint i = self->events->len;

  g_array_append_val (self->events, event);
  for (; i > 0 && is_before (&event, &EVENT ((i - 1) / 2)); i = (i - 1) / 2)
    EVENT (i) = EVENT ((i - 1) / 2);
  EVENT (i) = event;
}

gboolean
nodes_heap_pop (NodesHeap *self, NodesEvent *event)
{
  guint n = self->events->len, i = 0;
  NodesEvent last;

  if (n == 0)
    return FALSE;
  *event = EVENT (0);
  last = EVENT (--n);
  g_array_set_size (self->events, n);
  while (2 * i + 1 < n)
    {
      guint child = 2 * i + 1;

      if (child + 1 < n && is_before (&EVENT (child + 1), &EVENT (child)))
        child++;
      if (!is_before (&EVENT (child), &last))
        break;
      EVENT (i) = EVENT (child);
      i = child;
    }
  if (n > 0)
    EVENT (i) = last;

  return TRUE;
}

void
nodes_ring_push (NodesRing *self, guint32 value)
{
  if (self->length == self->size)
    {
      guint size = MAX (16, 2 * self->size);
      guint32 *values = g_new (guint32, size);

      for (guint i = 0; i < self->length; i++)
        values[i] = self->values[(self->begin + i) & (self->size - 1)];
      g_free (self->values);
      *self = (NodesRing){ values, 0, self->length, size };
    }
  self->values[(self->begin + self->length++) & (self->size - 1)] = value;
}

guint32
nodes_ring_pop (NodesRing *self)
{
  guint32 value = self->values[self->begin];

  self->begin = (self->begin + 1) & (self->size - 1);
  self->length--;

  return value;
}
