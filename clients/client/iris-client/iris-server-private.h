/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a server, for the two files that are parts of it.
 */
#pragma once

#include <iris-client/iris-server.h>

#include "iris-client-link-private.h"

G_BEGIN_DECLS

#define IRIS_SERVER_FIRST_PAUSE_MS 100

typedef enum
{
  IRIS_SERVER_AWAY,
  IRIS_SERVER_GREETING,
  IRIS_SERVER_ENROLLING,
  IRIS_SERVER_SERVING,
} IrisServerState;

typedef struct
{
  char *name;
  char *summary;
  IrisServerFunc func;
  gpointer user_data;
  GDestroyNotify destroy;
} IrisServerService;

struct _IrisServer
{
  GObject parent_instance;
  char *address;
  char *name;
  guint capacity;
  int place;
  gboolean keep_leases;

  GMainContext *context;
  GPtrArray *services; /* of IrisServerService */
  IrisServerState state;
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
  guint8 farewell[IRIS_WIRE_ID_SIZE]; /* of the PING whose PONG ends it */
};

/* iris-server-session.c */
void iris_server_connect (IrisServer *self);
void iris_server_drain (IrisServer *self);
const IrisServerService *iris_server_find_service (IrisServer *self, const char *name);

G_END_DECLS
