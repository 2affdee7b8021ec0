/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The events of a simulation of nodes, in the order of their time, and of their making where that
 * is the same: so a seed gives the same run each time.
 */
#pragma once

#include <glib.h>

typedef struct
{
  gint64 at_ns;
  guint64 number;
  guint32 kind;
  guint32 a, b;
} NodesEvent;

typedef struct
{
  GArray *events;
  guint64 n_made;
} NodesHeap;

/* A queue of numbers. */
typedef struct
{
  guint32 *values;
  guint begin, length, size; /* a power of two */
} NodesRing;

void nodes_heap_init (NodesHeap *self);
void nodes_heap_clear (NodesHeap *self);
void nodes_heap_push (NodesHeap *self, gint64 at_ns, guint32 kind, guint32 a, guint32 b);
gboolean nodes_heap_pop (NodesHeap *self, NodesEvent *event);

void nodes_ring_push (NodesRing *self, guint32 value);
guint32 nodes_ring_pop (NodesRing *self);
