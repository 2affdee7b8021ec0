/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The worker processes that serve items beside irisd.
 */
#pragma once

#include <iris-client/base/iris-client-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_CLIENT_TYPE_WORKER (iris_client_worker_get_type ())

/**
 * IrisClientWorker:
 * @name: as it introduced itself
 * @services: (array zero-terminated=1): the names of what it serves
 * @place: the place that it works at, or -1
 * @capacity: how many items it takes at once
 * @leased: how many it has
 * @done: items that it ended well
 * @failed: items that it failed or gave back
 * @lost: items that were taken from it because their time was over
 * @silent_ms: milliseconds since irisd heard it
 *
 * A worker process, since it connected. Its fields are to be read only.
 */
typedef struct
{
  char *name;
  char **services;
  int place;
  guint capacity;
  guint leased;
  guint64 done;
  guint64 failed;
  guint64 lost;
  guint64 silent_ms;
} IrisClientWorker;

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_client_worker_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientWorker *iris_client_worker_ref (IrisClientWorker *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_worker_unref (IrisClientWorker *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisClientWorker, iris_client_worker_unref)

G_END_DECLS
