/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The request: asking, answering, and the three ways to wait. The design is in
 * iris-pending-private.h.
 */
#include "iris/message/iris-pending-private.h"

#include "iris/message/iris-message-private.h"
#include "iris/message/iris-timer-private.h"
#include "iris/message/service/iris-port-request.h"
#include "iris/sched/pool/iris-worker.h"

/**
 * iris_message_wants_reply:
 *
 * Tells whether a thread waits for an answer to the message, and has none yet.
 */
gboolean
iris_message_wants_reply (IrisMessage *self)
{
  IrisPending *request;

  g_return_val_if_fail (self != NULL, FALSE);

  request = iris_message_get_request (self);
  return request != NULL && !atomic_load_explicit (&request->settled, memory_order_acquire);
}

/**
 * iris_message_reply:
 * @self: a message that was posted as a request
 * @reply: the answer; its reference is taken if it floats, otherwise the caller keeps its own
 *
 * Answers a request. It can be answered once, from any thread, also after its handler has returned:
 * the thread that wants to do that keeps a reference to the request. A request that no thread
 * answered before its last reference went fails with %IRIS_MESSAGE_ERROR_UNANSWERED.
 *
 * Returns: whether the answer came in time and was the first
 */
gboolean
iris_message_reply (IrisMessage *self, IrisMessage *reply)
{
  g_autoptr (IrisMessage) keep = NULL;
  IrisPending *request;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (reply != NULL, FALSE);

  keep = iris_message_ref_sink (reply);
  request = iris_message_get_request (self);

  return request != NULL && iris_pending_settle (request, reply, IRIS_MESSAGE_ERROR_UNANSWERED);
}

static GError *
make_error (IrisMessageError code)
{
  static const char *const texts[] = {
    [IRIS_MESSAGE_ERROR_UNANSWERED] = "the message was handled or dropped without an answer",
    [IRIS_MESSAGE_ERROR_TIMED_OUT] = "no answer came before the deadline",
    [IRIS_MESSAGE_ERROR_FULL] = "the port was full; iris_port_set_limit() sets how much it holds",
    [IRIS_MESSAGE_ERROR_PORT_GONE] = "the port ended while the message waited in it",
    [IRIS_MESSAGE_ERROR_CANCELLED] = "the request was cancelled",
  };

  return g_error_new_literal (IRIS_MESSAGE_ERROR, code, texts[code]);
}

/* Posts, with the request that the message holds from then on. Takes @request. */
static void
post_request (IrisPort *port, IrisMessage *message, IrisPending *request, gint64 timeout_us)
{
  iris_message_set_request (message, request);
  iris_pending_set_deadline (request, timeout_us);
  iris_port_post (port, message);
  iris_pending_unref (request);
}

/* A message can be asked with once: the thread that got it would answer another thread. */
static gboolean
may_ask (IrisMessage *message)
{
  return !iris_message_is_sealed ((IrisMessageReal *) message)
         && iris_message_get_request (message) == NULL;
}

typedef struct
{
  _Atomic gint ref_count;
  GMutex lock;
  GCond changed;
  gboolean settled;
  IrisMessage *reply;
  IrisMessageError code;
} Waiter;

static void
waiter_settled (IrisMessage *reply, IrisMessageError code, gpointer data)
{
  Waiter *self = data;

  g_mutex_lock (&self->lock);
  self->settled = TRUE;
  self->reply = reply != NULL ? iris_message_ref (reply) : NULL;
  self->code = code;
  g_cond_signal (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Held by the thread that waits and by the request. */
static void
waiter_unref (gpointer data)
{
  Waiter *self = data;

  if (atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) != 1)
    return;
  g_clear_pointer (&self->reply, iris_message_unref);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}

/**
 * iris_port_request:
 * @message: a message that was not posted; its reference is taken if it floats
 * @timeout_us: how many microseconds to wait at most; less than 0 sets no limit
 * @error: (nullable): for an #IrisMessageError
 *
 * Posts a message and waits for the answer that its handler gives with iris_message_reply().
 *
 * Must not be called by a worker, which must not wait for others: there, see
 * iris_port_request_to(). Whatever becomes of the message, the call ends: without an answer it
 * fails.
 *
 * Returns: (transfer full) (nullable): the answer, or %NULL with @error set
 */
IrisMessage *
iris_port_request (IrisPort *self, IrisMessage *message, gint64 timeout_us, GError **error)
{
  IrisMessage *reply;
  Waiter *waiter;

  g_return_val_if_fail (IRIS_IS_PORT (self), NULL);
  g_return_val_if_fail (message != NULL && may_ask (message), NULL);
  g_return_val_if_fail (iris_worker_current () == NULL && !iris_timers_here, NULL);

  waiter = g_new0 (Waiter, 1);
  atomic_init (&waiter->ref_count, 2);
  g_mutex_init (&waiter->lock);
  g_cond_init (&waiter->changed);
  post_request (self, message, iris_pending_new (waiter_settled, waiter, waiter_unref), timeout_us);

  g_mutex_lock (&waiter->lock);
  while (!waiter->settled)
    g_cond_wait (&waiter->changed, &waiter->lock);
  g_mutex_unlock (&waiter->lock);
  reply = g_steal_pointer (&waiter->reply);
  if (reply == NULL)
    g_propagate_error (error, make_error (waiter->code));
  waiter_unref (waiter);

  return reply;
}

typedef struct
{
  GTask *task;
  GCancellable *cancellable;
  _Atomic gulong connected; /* 0: not, or not any more */
} Asked;

static void
asked_disconnect (Asked *self)
{
  gulong id = atomic_exchange_explicit (&self->connected, 0, memory_order_seq_cst);

  /* Not g_cancellable_disconnect(), which waits for the handler, and this may be it. */
  if (id != 0)
    g_signal_handler_disconnect (self->cancellable, id);
}

static void
asked_settled (IrisMessage *reply, IrisMessageError code, gpointer data)
{
  Asked *self = data;
  /* Given up here, because it holds the port, which may hold the message, which holds us. */
  g_autoptr (GTask) task = g_steal_pointer (&self->task);

  if (reply != NULL)
    g_task_return_pointer (task, iris_message_ref (reply), (GDestroyNotify) iris_message_unref);
  else
    g_task_return_error (task, make_error (code));
  asked_disconnect (self);
}

static void
asked_free (gpointer data)
{
  Asked *self = data;

  g_clear_object (&self->task);
  g_clear_object (&self->cancellable);
  g_free (self);
}

static void
asked_cancelled (GCancellable *cancellable, gpointer data)
{
  iris_pending_settle (data, NULL, IRIS_MESSAGE_ERROR_CANCELLED);
}

/**
 * iris_port_request_async:
 * @message: a message that was not posted; its reference is taken if it floats
 * @timeout_us: how many microseconds to wait at most; less than 0 sets no limit
 * @cancellable: (nullable): ends the waiting, not the handling
 * @callback: (scope async): called in the thread-default main context of the caller
 * @user_data: (nullable): for @callback
 *
 * Posts a message and calls back with the answer; see iris_port_request().
 *
 * By GIO's custom the port is kept until the call ends. So no other thread needs to hold it, but a
 * port without a receiver that all others has dropped does not go, and its request ends only by its
 * deadline or by @cancellable: give it one of them.
 */
void
iris_port_request_async (IrisPort *self,
                         IrisMessage *message,
                         gint64 timeout_us,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  IrisPending *request;
  Asked *asked;

  g_return_if_fail (IRIS_IS_PORT (self));
  g_return_if_fail (message != NULL && may_ask (message));

  asked = g_new0 (Asked, 1);
  asked->task = g_task_new (self, cancellable, callback, user_data);
  /* What settles the request says what the result is. */
  g_task_set_check_cancellable (asked->task, FALSE);
  g_task_set_source_tag (asked->task, iris_port_request_async);
  request = iris_pending_new (asked_settled, asked, asked_free);
  iris_pending_set_deadline (request, timeout_us);
  if (cancellable != NULL)
    {
      asked->cancellable = g_object_ref (cancellable);
      atomic_store_explicit (&asked->connected,
                             g_cancellable_connect (cancellable, G_CALLBACK (asked_cancelled),
                                                    iris_pending_ref (request),
                                                    (GDestroyNotify) iris_pending_unref),
                             memory_order_seq_cst);
      /* Settled meanwhile, by a thread that may not have seen the connection. That thread changes
       * `settled` and then looks at `connected`, here it is the other way round: all four are
       * sequentially consistent, so one of the two disconnects. Or else the handler would keep the
       * request, and with it the cancellable, for ever. */
      if (atomic_load_explicit (&request->settled, memory_order_seq_cst))
        asked_disconnect (asked);
    }
  post_request (self, message, request, -1);
}

/**
 * iris_port_request_finish:
 * @result: what the callback got
 * @error: (nullable): for an #IrisMessageError
 *
 * Returns: (transfer full) (nullable): the answer, or %NULL with @error set
 */
IrisMessage *
iris_port_request_finish (IrisPort *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

typedef struct
{
  IrisPort *reply_to;
  IrisMessage *failure;
} Forward;

static void
forward_settled (IrisMessage *reply, IrisMessageError code, gpointer data)
{
  Forward *self = data;

  if (reply != NULL)
    iris_port_post (self->reply_to, reply);
  else if (self->failure != NULL)
    iris_port_post (self->reply_to, self->failure);
}

static void
forward_free (gpointer data)
{
  Forward *self = data;

  g_object_unref (self->reply_to);
  g_clear_pointer (&self->failure, iris_message_unref);
  g_free (self);
}

/**
 * iris_port_request_to:
 * @message: a message that was not posted; its reference is taken if it floats
 * @timeout_us: how many microseconds to wait at most; less than 0 sets no limit
 * @reply_to: the port that the answer is posted to
 * @failure: (nullable): posted there if there is no answer; its reference is taken if it
 * floats
 *
 * Posts a message whose answer comes as a message. No thread waits, so this is what handlers use.
 * Exactly one of the answer and @failure is posted to @reply_to.
 */
void
iris_port_request_to (IrisPort *self,
                      IrisMessage *message,
                      gint64 timeout_us,
                      IrisPort *reply_to,
                      IrisMessage *failure)
{
  Forward *forward;

  g_return_if_fail (IRIS_IS_PORT (self));
  g_return_if_fail (message != NULL && may_ask (message));
  g_return_if_fail (IRIS_IS_PORT (reply_to));

  forward = g_new (Forward, 1);
  forward->reply_to = g_object_ref (reply_to);
  forward->failure = failure != NULL ? iris_message_ref_sink (failure) : NULL;
  post_request (self, message, iris_pending_new (forward_settled, forward, forward_free),
                timeout_us);
}
