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
 * Everything is under the lock, and nothing is called under it. The box is counted, because tokens
 * outlive the port.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#define IRIS_INSIDE
#include "iris/message/iris-port-limit.h"
#undef IRIS_INSIDE

#include <glib.h>
#include <pthread.h>

typedef struct
{
  _Atomic gint ref_count;
  pthread_mutex_t lock;
  pthread_cond_t room;
  GQueue messages; /* a reference each */
  guint n_tokens;  /* under way */
  guint n_waiters; /* threads that wait for room */
  guint limit;
  IrisPortFull when_full;
  bool gone; /* the port is: waiting for room is over */
  IrisPortCounts counts;
} IrisPortBox;

/* What became of a message that was put in. */
typedef struct
{
  bool accepted;
  IrisMessage *dropped; /* to make room; with its reference; or NULL */
  guint limit;          /* at that moment */
  IrisPortFull when_full;
} IrisPortPut;

IrisPortBox *iris_port_box_new (guint limit, IrisPortFull when_full);
void iris_port_box_unref (IrisPortBox *self);
void iris_port_box_close (IrisPortBox *self);
IrisPortPut iris_port_box_put (IrisPortBox *self, IrisMessage *message, bool may_wait);
IrisPortBox *iris_port_box_claim_token (IrisPortBox *self);
void iris_port_box_return_token (IrisPortBox *self);
IrisMessage *iris_port_box_redeem (IrisPortBox *self);
