/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The request: somebody who waits for the answer to a message, and gets exactly one.
 *
 * The message holds the request. An answer, a deadline, a cancellation and the end of the message
 * each try to settle it; the first swaps `settled` and calls the function, on its own thread and
 * under no lock. So whatever becomes of a message, whoever asked is told: freeing an unanswered one
 * settles it with an error.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#define IRIS_INSIDE
#include "iris/message/iris-message-error.h"
#include "iris/message/iris-message.h"
#include "iris/message/iris-timer.h"
#undef IRIS_INSIDE

typedef struct _IrisRequest IrisRequest;

/* @reply is NULL when there is an error, of which @code says what it is. */
typedef void (*IrisRequestFunc) (IrisMessage *reply, IrisMessageError code, gpointer data);

struct _IrisRequest
{
  _Atomic gint ref_count;
  _Atomic bool settled;
  IrisRequestFunc func;
  gpointer data;
  GDestroyNotify notify; /* of data, when nobody holds the request any more */
  IrisTimer *timer;      /* the deadline's; set before the message is posted */
};

IrisRequest *iris_request_new (IrisRequestFunc func, gpointer data, GDestroyNotify notify);
IrisRequest *iris_request_ref (IrisRequest *self);
void iris_request_unref (IrisRequest *self);
void iris_request_set_deadline (IrisRequest *self, gint64 timeout_us);
gboolean iris_request_settle (IrisRequest *self, IrisMessage *reply, IrisMessageError code);

/* Of a message that was not posted. */
void iris_message_set_request (IrisMessage *message, IrisRequest *request);
/* Of any: if somebody waits for an answer to it, they get this error. */
void iris_message_fail (IrisMessage *message, IrisMessageError code);
