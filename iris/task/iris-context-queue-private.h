/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The queue of a main context: items that others push run when the context is iterated.
 *
 * Each main context that was ever delivered to has one source of this kind, attached for as long
 * as the context lives; how items reach it is said in iris-source-items-private.h.
 *
 * Ownership: the context owns the source. The thread that may still push holds a reference to the
 * context and so keeps both; an item in the list holds neither, or a context that no thread
 * iterates any more would be held by its own source. When a context goes, the items that are left
 * are cancelled.
 */
#pragma once

#include "iris/sched/pool/iris-item-private.h"

#include <glib.h>

typedef struct _IrisContextQueue IrisContextQueue;

/* The queue of a context, valid while the caller holds a reference to the context. */
IrisContextQueue *iris_context_queue_of (GMainContext *context);

/* From any thread. The caller holds a reference to the context until this returns. */
void iris_context_queue_push (IrisContextQueue *self, IrisItem *item);
