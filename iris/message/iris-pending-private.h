/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pending request: it waits for the answer to a message, and gets exactly one.
 *
 * The message holds the request. An answer, a deadline, a cancellation and the end of the message
 * each try to settle it; the first swaps `settled` and calls the function, on its own thread and
 * under no lock. So whatever becomes of a message, the thread that asked is told: freeing an
 * unanswered one settles it with an error.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/message/iris-message.h"
#include "iris/message/iris-timer.h"

typedef struct _IrisPending IrisPending;

/* @reply is NULL when there is an error, of which @code says what it is. */
typedef void (*IrisPendingFunc) (IrisMessage *reply, IrisMessageError code, gpointer data);

struct _IrisPending
{
  _Atomic gint ref_count;
  _Atomic bool settled;
  IrisPendingFunc func;
  gpointer data;
  GDestroyNotify notify; /* of data, when no thread holds the request any more */
  IrisTimer *timer;      /* the deadline's; set before the message is posted */
};

IrisPending *iris_pending_new (IrisPendingFunc func, gpointer data, GDestroyNotify notify);
IrisPending *iris_pending_ref (IrisPending *self);
void iris_pending_unref (IrisPending *self);
void iris_pending_set_deadline (IrisPending *self, gint64 timeout_us);
gboolean iris_pending_settle (IrisPending *self, IrisMessage *reply, IrisMessageError code);

/* Of a message that was not posted. */
void iris_message_set_request (IrisMessage *message, IrisPending *request);
/* The request that waits for an answer to @message; NULL if there is none. */
IrisPending *iris_message_get_request (IrisMessage *message);
/* A request that waits for an answer to @message gets this error. */
void iris_message_fail (IrisMessage *message, IrisMessageError code);
