/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A request of an operator that the cluster thread deals with.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"

G_BEGIN_DECLS

typedef enum
{
  IRISD_CLUSTER_DRAIN_NODE,
  IRISD_CLUSTER_RESUME_NODE,
  IRISD_CLUSTER_REMOVE_NODE,
  IRISD_CLUSTER_CHECK, /* compare streams and consumers with what they ought to be */
  IRISD_CLUSTER_INIT,  /* and make those that are missing */
} IrisdClusterRequestKind;

typedef struct _IrisdClusterRequest IrisdClusterRequest;

/* Embed it. It is posted to the mailbox of the cluster thread, which calls @done exactly once, also
 * when irisd ends. */
struct _IrisdClusterRequest
{
  IrisdMessage message;
  IrisdClusterRequestKind kind;
  char *node; /* NULL, or the node that it is about; owned */
  /* in the cluster thread: takes the request back, with what follows */
  void (*done) (IrisdClusterRequest *self);
  guint count;   /* how many things were changed, or for CHECK: are not as they ought to be */
  char *text;    /* NULL, or lines that say what was done or found; owned */
  GError *error; /* NULL, or of the domain IRIS_WIRE_ERROR; owned */
};

static inline void
irisd_cluster_request_clear (IrisdClusterRequest *self)
{
  g_clear_pointer (&self->node, g_free);
  g_clear_pointer (&self->text, g_free);
  g_clear_error (&self->error);
}

#define irisd_cluster_request_from_message(pointer) \
  IRISD_CONTAINER (pointer, IrisdClusterRequest, message)

G_END_DECLS
