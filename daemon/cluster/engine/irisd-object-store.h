/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bodies that are larger than a message, in the stream of objects (irisd-object.h).
 *
 * Bodies go and come in chunks, few of which are under way at once, for few bodies at once; further
 * ones wait for their turn. So neither the connection nor the thread is taken for long.
 *
 * A store belongs to the thread of its engine. It is stopped while the engine lives, and freed when
 * the engine is gone. A callback comes at most once, never from inside of the call that begins, and
 * not after irisd_object_transfer_cancel(); the transfer ends with it. Only the end of the engine
 * may keep one away.
 */
#pragma once

#include "daemon/cluster/engine/irisd-engine.h"
#include "daemon/cluster/engine/irisd-object.h"

G_BEGIN_DECLS

typedef struct _IrisdObjectStore IrisdObjectStore;
typedef struct _IrisdObjectTransfer IrisdObjectTransfer;

typedef enum
{
  IRISD_OBJECT_DONE,
  IRISD_OBJECT_FULL,      /* there is no room now */
  IRISD_OBJECT_LATER,     /* no connection, no quorum, or no answer */
  IRISD_OBJECT_TOO_LARGE, /* it will never fit */
  IRISD_OBJECT_MISSING,   /* it is not there, or not all of it */
  IRISD_OBJECT_DAMAGED,   /* its digest is another one */
  IRISD_OBJECT_REFUSED,   /* the stream does not exist, or does not take it */
} IrisdObjectStatus;

/* @why is a sentence if it is not DONE. */
typedef void (*IrisdObjectPutFunc) (IrisdObjectStatus status,
                                    const char *why,
                                    const IrisdObjectReference *reference,
                                    gpointer user_data);
/* @body is NULL if it is not DONE. */
typedef void (*IrisdObjectGetFunc) (IrisdObjectStatus status,
                                    const char *why,
                                    GBytes *body,
                                    gpointer user_data);

/* How much of the store an object may take part in. */
typedef enum
{
  /* Half of the store: for what keeps others in it until its own result is there as well. */
  IRISD_OBJECT_HALF,
  IRISD_OBJECT_WHOLE,
} IrisdObjectShare;

IrisdObjectStore *irisd_object_store_new (IrisdEngine *engine,
                                          GMainContext *context,
                                          const char *stream,
                                          const char *bucket);
void irisd_object_store_stop (IrisdObjectStore *self);
void irisd_object_store_free (IrisdObjectStore *self);

IrisdObjectTransfer *irisd_object_store_put (IrisdObjectStore *self,
                                             const char *owner,
                                             const char *name,
                                             IrisdObjectShare share,
                                             GBytes *body,
                                             IrisdObjectPutFunc callback,
                                             gpointer user_data);
IrisdObjectTransfer *irisd_object_store_get (IrisdObjectStore *self,
                                             const char *owner,
                                             const IrisdObjectReference *reference,
                                             IrisdObjectGetFunc callback,
                                             gpointer user_data);
void irisd_object_transfer_cancel (IrisdObjectTransfer *self);

void irisd_object_store_remove (IrisdObjectStore *self, const char *owner, const char *nuid);
void irisd_object_store_remove_name (IrisdObjectStore *self, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdObjectStore, irisd_object_store_free)

G_END_DECLS
