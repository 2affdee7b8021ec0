/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node of the cluster tells the others about itself.
 */
#include "daemon/cluster/members/irisd-node.h"

#include <stdlib.h>
#include <string.h>

/* All is empty but the format; fill it before another thread gets it. */
IrisdNode *
irisd_node_new (void)
{
  IrisdNode *self = g_atomic_rc_box_new0 (IrisdNode);
  self->format = IRISD_NODE_FORMAT;
  return self;
}

IrisdNode *
irisd_node_ref (IrisdNode *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
clear_places (IrisdNode *self)
{
  for (guint i = 0; i < self->n_places; i++)
    {
      g_free (self->places[i].name);
      g_free (self->places[i].cpus);
    }
  g_clear_pointer (&self->places, g_free);
  self->n_places = 0;
}

static void
clear (gpointer data)
{
  IrisdNode *self = data;
  clear_places (self);
  g_free (self->name);
  g_free (self->version);
  g_free (self->incarnation);
  g_free (self->signature);
  g_strfreev (self->labels);
  g_strfreev (self->services);
  g_strfreev (self->endpoints);
}

void
irisd_node_unref (IrisdNode *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear);
}

/* Makes room for @n places, which are all zeroes. */
void
irisd_node_set_n_places (IrisdNode *self, guint n)
{
  clear_places (self);
  self->places = g_new0 (IrisdNodePlace, n);
  self->n_places = n;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* In order, as two lists of them are compared; entries of older irisd are in none. */
void
irisd_node_sort_services (IrisdNode *self)
{
  if (self->services != NULL && self->services[0] != NULL)
    qsort (self->services, g_strv_length (self->services), sizeof *self->services, compare_names);
}

guint
irisd_node_count_workers (const IrisdNode *self)
{
  guint n = 0;
  for (guint i = 0; i < self->n_places; i++)
    n += self->places[i].workers;
  return n;
}

/* Returns the value of the label @kind; NULL if the node has none. */
const char *
irisd_node_get_label (const IrisdNode *self, const char *kind)
{
  gsize length = strlen (kind);
  for (char **label = self->labels; label != NULL && *label != NULL; label++)
    if (strncmp (*label, kind, length) == 0 && (*label)[length] == '=')
      return *label + length + 1;
  return NULL;
}
