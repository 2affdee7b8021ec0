/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The actor: handles its messages one at a time.
 */
#pragma once

#include <iris/message/port/iris-receiver.h>

G_BEGIN_DECLS

#define IRIS_TYPE_ACTOR (iris_actor_get_type ())

/**
 * IRIS_ACTOR_BATCH:
 *
 * How many messages an actor or an exclusive receiver handles in a turn, unless it is told another
 * number. Then it goes back into its scheduler, so that others have their turn; but what had come
 * when it last looked it handles first, as long as the turn is no longer than 1024 messages or, if
 * they are handled quickly, than a millisecond.
 */
#define IRIS_ACTOR_BATCH 64

/**
 * IrisActor:
 *
 * A handler with a mailbox. It handles one message at a time, each sender's in the order in which
 * that sender posted them, on whichever worker is free, rather where it last ran. While it has no
 * messages it costs 64 bytes and nothing else.
 */
typedef struct _IrisActor IrisActor;

IRIS_AVAILABLE_IN_ALL GType iris_actor_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisActor *iris_actor_new (IrisScheduler *scheduler,
                                                 IrisMessageHandler handler,
                                                 gpointer data,
                                                 GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisActor *iris_actor_ref (IrisActor *self);
IRIS_AVAILABLE_IN_ALL void iris_actor_unref (IrisActor *self);
IRIS_AVAILABLE_IN_ALL IrisActor *iris_actor_current (void);
IRIS_AVAILABLE_IN_ALL void iris_actor_post (IrisActor *self, IrisMessage *message);
IRIS_AVAILABLE_IN_ALL void iris_actor_set_batch (IrisActor *self, guint n_messages);
IRIS_AVAILABLE_IN_ALL guint iris_actor_get_batch (IrisActor *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisActor, iris_actor_unref)

G_END_DECLS
