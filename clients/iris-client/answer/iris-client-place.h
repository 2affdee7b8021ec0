/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A place of the machine, as irisd describes it to its clients.
 */
#pragma once

#include <iris-client/base/iris-client-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_CLIENT_TYPE_PLACE (iris_client_place_get_type ())

/**
 * IrisClientPlace:
 * @id: its number, from 0
 * @name: its stable name (`l2:1`)
 * @cpus: its cpus, as a list (`0-3,8`)
 * @memory_nodes: its memory nodes, as a list
 * @endpoint: the ZeroMQ endpoint of its gateway
 * @workers: how many workers it has
 * @bound: whether its workers are bound to its cpus
 * @distances: (array length=n_distances): the distance to each place, by id
 * @n_distances: how many distances there are
 *
 * A place of the machine: a part that shares memory close by. Its fields are to be read only.
 */
typedef struct
{
  int id;
  char *name;
  char *cpus;
  char *memory_nodes;
  char *endpoint;
  guint workers;
  gboolean bound;
  guint *distances;
  guint n_distances;
} IrisClientPlace;

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_client_place_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientPlace *iris_client_place_ref (IrisClientPlace *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_place_unref (IrisClientPlace *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisClientPlace, iris_client_place_unref)

G_END_DECLS
