/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a worker, for the two files that are parts of it.
 */
#pragma once

#include <iris-client/iris-worker-process.h>

#include "iris-client-link-private.h"

G_BEGIN_DECLS

#define IRIS_WORKER_PROCESS_FIRST_PAUSE_MS 100

typedef enum
{
  IRIS_WORKER_PROCESS_DISCONNECTED,
  IRIS_WORKER_PROCESS_HANDSHAKE,
  IRIS_WORKER_PROCESS_REGISTERING,
  IRIS_WORKER_PROCESS_SERVING,
} IrisWorkerProcessState;

typedef struct
{
  char *name;
  char *summary;
  IrisWorkerProcessFunc func;
  gpointer user_data;
  GDestroyNotify destroy;
} IrisWorkerProcessService;

struct _IrisWorkerProcess
{
  GObject parent_instance;
  char *address;
  char *name;
  guint capacity;
  int place;
  gboolean renew_leases;

  GMainContext *context;
  GPtrArray *services; /* of IrisWorkerProcessService */
  IrisWorkerProcessState state;
  IrisClientLink *link;
  IrisWireEncoder encoder;
  GQueue outbox;  /* of GBytes: packed messages that wait for the link */
  GQueue answers; /* the same: those that irisd may not have read, no more than leases */
  guint n_pinged; /* how many of those were sent before the PING */
  guint8 ping[IRIS_WIRE_ID_SIZE];
  GHashTable *leases; /* by id; each belongs to whoever works on it */
  GTask *run;
  GSource *cancel_source;
  GSource *timer;
  guint pause_ms;
  guint64 last_id;
  gboolean draining;
  guint8 last_ping[IRIS_WIRE_ID_SIZE]; /* of the PING whose PONG ends it */
};

/* iris-worker-process-session.c */
void iris_worker_process_connect (IrisWorkerProcess *self);
void iris_worker_process_drain (IrisWorkerProcess *self);
const IrisWorkerProcessService *
iris_worker_process_find_service (IrisWorkerProcess *self, const char *name);

G_END_DECLS
