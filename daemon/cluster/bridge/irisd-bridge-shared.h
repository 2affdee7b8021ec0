/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What both halves of the bridge use. All of it is the cluster thread's.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-link.h"
#include "daemon/cluster/bridge/irisd-bridge-timer.h"
#include "daemon/cluster/bridge/irisd-work-message.h"
#include "daemon/cluster/engine/irisd-engine.h"
#include "daemon/cluster/engine/irisd-object-store.h"
#include "daemon/cluster/engine/irisd-subjects.h"

G_BEGIN_DECLS

/* Room that the headers of a message take, which count against the server's max_payload. */
#define IRISD_BRIDGE_HEADERS_ROOM 512

/* Has a message of an item that may have come before, or may have an end: that is looked for before
 * it runs. */
#define IRISD_BRIDGE_AGAIN_HEADER "Iris-Again"

/* Where hosts hear of cancelled items: the signed end. */
#define IRISD_BRIDGE_CANCEL_SUBJECT "iris.n.cancel"

/* Constant but for what it points to. */
typedef struct
{
  IrisdEngine *engine;
  GMainContext *context;
  void *zmq;
  const char *endpoint; /* irisd's own front door */
  const char *token;    /* with which routing ids begin there */
  char *node;           /* this one */
  IrisdClusterSecret *secret;
  char *work_stream;
  char *ends_stream;
  char *later_stream;       /* of items that wait for their time */
  char *end_subject;        /* where this node hears of ends */
  gint64 lease_us;          /* ack_wait */
  IrisdObjectStore *bodies; /* those that are larger than a message */
} IrisdBridgeShared;

/* The subject of the end of an item. */
static inline char *
irisd_bridge_end_subject (const char *home, const guint8 *item)
{
  char text[IRISD_ITEM_TEXT_SIZE];

  irisd_item_to_text (item, text);
  return irisd_subject_for_end (home, text);
}

/* Whether a message of so many bytes can be sent; while that is not known it is tried. */
static inline gboolean
irisd_bridge_fits (const IrisdBridgeShared *self, gsize size)
{
  gsize most = irisd_engine_get_max_payload (self->engine);

  return most == 0 || size + IRISD_BRIDGE_HEADERS_ROOM <= most;
}

G_END_DECLS
