/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is asked of the servers to go on with a schedule, and what they answer.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"
#include "daemon/cluster/bridge/irisd-chain-step.h"
#include "daemon/cluster/members/irisd-run-chain.h"

G_BEGIN_DECLS

typedef struct _IrisdChainRequest IrisdChainRequest;

typedef void (*IrisdChainRequestFunc) (IrisdChainRequest *self, IrisdChainAction action);

/* Embed it first. One thing is asked at a time. */
struct _IrisdChainRequest
{
  const IrisdBridgeShared *shared;
  char *home;
  guint8 chain[IRIS_WIRE_ID_SIZE];
  IrisdChainStep step;
  char *work;      /* the subject of the work of the next run */
  guint8 *message; /* of that run; NULL: there is none yet */
  gsize size;
  guint64 begin_ms;    /* when it begins */
  gboolean has_found;  /* the head was read, and says: */
  IrisdRunChain found; /* what the next run is */
  guint n_silent;      /* questions that got no answer, one after the other */
  gboolean stopped;    /* no answer leads to anything */
  /* The step goes on with PAUSE or DONE. May free @self. */
  IrisdChainRequestFunc go_on;
};

void irisd_chain_request_init (IrisdChainRequest *self,
                               const IrisdBridgeShared *shared,
                               const char *home,
                               const guint8 *chain,
                               guint64 run_ms,
                               IrisdChainRequestFunc go_on);
void irisd_chain_request_clear (IrisdChainRequest *self);
void irisd_chain_request_act (IrisdChainRequest *self, IrisdChainAction action);

G_END_DECLS
