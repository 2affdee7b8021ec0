/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The box: what a bounded port holds.
 *
 * Messages wait in the box, at most `limit`, and not on their way: what goes to the receiver is a
 * token for each, which is worth the oldest message in the box at the moment at which it is
 * redeemed. So the oldest can be dropped to make room however far its token has got, and a stuck
 * receiver bounds what is held. There are as many tokens under way as messages, or fewer while
 * there is no receiver.
 *
 * What the timers' thread posts must not make that thread wait: all timers and deadlines of the
 * process hang on it. Of a full port that lets posters wait it leaves the message in `late`,
 * outside of the limit. The redemption of a token, or a higher limit, makes room: then the oldest
 * late message comes in before any thread that waits, and as it has no token yet, the thread that
 * made room sends one (iris_port_send_late()). So as long as there are late messages the box is
 * full, and no wake-up is owed to anybody.
 *
 * Everything is under the lock, and nothing is called under it. The box is counted, because tokens
 * outlive the port; hence it knows the port by a weak reference.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#define IRIS_INSIDE
#include "iris/message/iris-port-limit.h"
#undef IRIS_INSIDE

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
} IrisPortBox;

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

IrisPortBox *iris_port_box_new (gpointer port, guint limit, IrisPortFull when_full);
void iris_port_box_unref (IrisPortBox *self);
void iris_port_box_close (IrisPortBox *self);
IrisPortPut iris_port_box_put (IrisPortBox *self, IrisMessage *message, IrisPortPatience patience);
bool iris_port_box_set_limit (IrisPortBox *self, guint limit, IrisPortFull when_full);
IrisPortBox *iris_port_box_claim_token (IrisPortBox *self);
void iris_port_box_return_token (IrisPortBox *self);
IrisMessage *iris_port_box_redeem (IrisPortBox *self, bool *admitted);

/* After a late message came in: sends what has no token. In iris-port.c. */
void iris_port_send_late (IrisPortBox *self);
