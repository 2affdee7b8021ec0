/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The buffer: what a bounded port holds.
 *
 * Messages wait in the buffer, at most `limit`, and not on their way: what goes to the receiver is
 * a token for each, which is worth the oldest message in the buffer at the moment at which it is
 * redeemed. So the oldest can be dropped to make room however far its token has got, and a stuck
 * receiver bounds what is held. There are as many tokens under way as messages, or fewer while
 * there is no receiver.
 *
 * What the timers' thread posts must not make that thread wait: all timers and deadlines of the
 * process hang on it. Of a full port that lets posters wait it leaves the message in `late`,
 * outside of the limit. The redemption of a token, or a higher limit, makes room: then the oldest
 * late message comes in before any thread that waits, and as it has no token yet, the thread that
 * made room sends one (iris_port_send_late()). So as long as there are late messages the buffer is
 * full, and no wake-up is owed to any thread.
 *
 * Everything is under the lock, and nothing is called under it. The buffer is counted, because
 * tokens outlive the port; hence it knows the port by a weak reference.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/message/port/iris-port-limit.h"

#include <glib-object.h>
#include <pthread.h>

typedef struct
{
  _Atomic gint ref_count;
  pthread_mutex_t lock;
  pthread_cond_t room;
  GWeakRef port;
  GQueue messages; /* a reference each */
  GQueue late;     /* the same: left by a thread that must not wait */
  guint n_tokens;  /* under way */
  guint n_waiters; /* threads that wait for room */
  guint limit;
  IrisPortFull when_full;
  bool gone; /* the port is: waiting for room is over */
  IrisPortCounts counts;
} IrisBoundedBuffer;

/* What a thread does that finds a port full which lets posters wait. */
typedef enum
{
  IRIS_PORT_PATIENCE_WAIT,   /* for room */
  IRIS_PORT_PATIENCE_REFUSE, /* takes the message back */
  IRIS_PORT_PATIENCE_LEAVE,  /* leaves it in `late` */
} IrisPortPatience;

/* What became of a message that was put in. */
typedef struct
{
  bool accepted;
  IrisMessage *dropped; /* to make room; with its reference; or NULL */
  guint limit;          /* at that moment */
  IrisPortFull when_full;
} IrisPortPut;

IrisBoundedBuffer *iris_bounded_buffer_new (gpointer port, guint limit, IrisPortFull when_full);
void iris_bounded_buffer_unref (IrisBoundedBuffer *self);
void iris_bounded_buffer_close (IrisBoundedBuffer *self);
IrisPortPut
iris_bounded_buffer_put (IrisBoundedBuffer *self, IrisMessage *message, IrisPortPatience patience);
bool iris_bounded_buffer_set_limit (IrisBoundedBuffer *self, guint limit, IrisPortFull when_full);
IrisBoundedBuffer *iris_bounded_buffer_claim_token (IrisBoundedBuffer *self);
void iris_bounded_buffer_return_token (IrisBoundedBuffer *self);
IrisMessage *iris_bounded_buffer_redeem (IrisBoundedBuffer *self, bool *admitted);

/* After a late message came in: sends what has no token. In iris-port.c. */
void iris_port_send_late (IrisBoundedBuffer *self);
