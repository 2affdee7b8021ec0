/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The service: three ports and a coordination arbiter, made anew with each start.
 *
 * The ports are the service's for its life; what is sent while it does not run waits in them. The
 * receivers know the service weakly, and hold it while a handler runs, so there is no cycle. The
 * state is under a lock, which is not held while anything is called.
 */
#include "iris/sched/iris-scheduler-private.h"

#include "iris/message/service/iris-service.h"

#include <pthread.h>

typedef enum
{
  STOPPED,
  STARTED,
  STOPPING,
  RESTARTING, /* stopping, and to be started then */
} State;

typedef struct
{
  IrisScheduler *scheduler;
  IrisPort *exclusive;
  IrisPort *concurrent;
  IrisPort *teardown;
  pthread_mutex_t lock;
  State state;
} IrisServicePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (IrisService, iris_service, G_TYPE_OBJECT)

/* What a receiver knows of the service. */
typedef struct
{
  GWeakRef service;
} Link;

static IrisServicePrivate *
get_private (IrisService *self)
{
  return iris_service_get_instance_private (self);
}

static void
iris_service_finalize (GObject *object)
{
  IrisServicePrivate *priv = get_private (IRIS_SERVICE (object));

  g_clear_object (&priv->exclusive);
  g_clear_object (&priv->concurrent);
  g_clear_object (&priv->teardown);
  g_clear_object (&priv->scheduler);
  pthread_mutex_destroy (&priv->lock);

  G_OBJECT_CLASS (iris_service_parent_class)->finalize (object);
}

static void
iris_service_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  IrisScheduler *scheduler = g_value_get_object (value);

  get_private (IRIS_SERVICE (object))->scheduler = iris_scheduler_dup_or_default (
      scheduler, IRIS_DEFAULT_CONTROL);
}

static void
iris_service_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  g_value_set_object (value, get_private (IRIS_SERVICE (object))->scheduler);
}

static void
iris_service_class_init (IrisServiceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = iris_service_finalize;
  object_class->set_property = iris_service_set_property;
  object_class->get_property = iris_service_get_property;

  /**
   * IrisService:scheduler:
   *
   * Where the handlers run; %NULL for the default scheduler.
   */
  g_object_class_install_property (
      object_class, 1,
      g_param_spec_object ("scheduler", NULL, NULL, IRIS_TYPE_SCHEDULER,
                           G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

static void
iris_service_init (IrisService *self)
{
  IrisServicePrivate *priv = get_private (self);

  priv->exclusive = iris_port_new ();
  priv->concurrent = iris_port_new ();
  priv->teardown = iris_port_new ();
  pthread_mutex_init (&priv->lock, NULL);
}

static Link *
link_new (IrisService *service)
{
  Link *self = g_new (Link, 1);

  g_weak_ref_init (&self->service, service);

  return self;
}

static void
link_free (gpointer data)
{
  Link *self = data;

  g_weak_ref_clear (&self->service);
  g_free (self);
}

static void
handle_exclusive (IrisMessage *message, gpointer data)
{
  g_autoptr (IrisService) self = g_weak_ref_get (&((Link *) data)->service);

  if (self != NULL && IRIS_SERVICE_GET_CLASS (self)->handle_exclusive != NULL)
    IRIS_SERVICE_GET_CLASS (self)->handle_exclusive (self, message);
}

static void
handle_concurrent (IrisMessage *message, gpointer data)
{
  g_autoptr (IrisService) self = g_weak_ref_get (&((Link *) data)->service);

  if (self != NULL && IRIS_SERVICE_GET_CLASS (self)->handle_concurrent != NULL)
    IRIS_SERVICE_GET_CLASS (self)->handle_concurrent (self, message);
}

static void service_run (IrisService *self);

static void
handle_teardown (IrisMessage *message, gpointer data)
{
  g_autoptr (IrisService) self = g_weak_ref_get (&((Link *) data)->service);
  IrisServicePrivate *priv;
  gboolean again;

  if (self == NULL)
    return;
  if (IRIS_SERVICE_GET_CLASS (self)->handle_stop != NULL)
    IRIS_SERVICE_GET_CLASS (self)->handle_stop (self);

  priv = get_private (self);
  pthread_mutex_lock (&priv->lock);
  again = priv->state == RESTARTING;
  priv->state = again ? STARTED : STOPPED;
  pthread_mutex_unlock (&priv->lock);
  if (again)
    service_run (self);
}

/* New receivers: those of the last run have left the ports. */
static void
service_run (IrisService *self)
{
  IrisServicePrivate *priv = get_private (self);
  g_autoptr (IrisReceiver) exclusive = NULL, concurrent = NULL, teardown = NULL;

  if (IRIS_SERVICE_GET_CLASS (self)->handle_start != NULL)
    IRIS_SERVICE_GET_CLASS (self)->handle_start (self);
  exclusive = iris_receiver_new (priv->scheduler, handle_exclusive, link_new (self), link_free);
  concurrent = iris_receiver_new (priv->scheduler, handle_concurrent, link_new (self), link_free);
  teardown = iris_receiver_new (priv->scheduler, handle_teardown, link_new (self), link_free);
  iris_arbiter_coordinate (exclusive, concurrent, teardown);
  /* The teardown last: of what waits, all else comes before a stop that was sent early. */
  iris_port_set_receiver (priv->exclusive, exclusive);
  iris_port_set_receiver (priv->concurrent, concurrent);
  iris_port_set_receiver (priv->teardown, teardown);
}

/**
 * iris_service_start:
 *
 * Starts a service. Messages sent to it before are handled now. A service that is stopping starts
 * again when it has stopped; one that runs goes on.
 */
void
iris_service_start (IrisService *self)
{
  IrisServicePrivate *priv;
  gboolean run;

  g_return_if_fail (IRIS_IS_SERVICE (self));

  priv = get_private (self);
  pthread_mutex_lock (&priv->lock);
  run = priv->state == STOPPED;
  if (run)
    priv->state = STARTED;
  else if (priv->state == STOPPING)
    priv->state = RESTARTING;
  pthread_mutex_unlock (&priv->lock);
  if (run)
    service_run (self);
}

/**
 * iris_service_stop:
 *
 * Stops a service: messages sent before are still handled, then `handle_stop` is called, once. What
 * is sent later waits until it is started again. This returns at once. A service that is dropped by
 * its last owner while it runs handles no more, and is not stopped.
 */
void
iris_service_stop (IrisService *self)
{
  IrisServicePrivate *priv;
  gboolean stop;

  g_return_if_fail (IRIS_IS_SERVICE (self));

  priv = get_private (self);
  pthread_mutex_lock (&priv->lock);
  stop = priv->state == STARTED;
  if (priv->state != STOPPED)
    priv->state = STOPPING;
  pthread_mutex_unlock (&priv->lock);
  if (stop)
    iris_port_post (priv->teardown, iris_message_new (0));
}

/**
 * iris_service_is_started:
 *
 * Tells whether the service was started, and not stopped after that.
 */
gboolean
iris_service_is_started (IrisService *self)
{
  IrisServicePrivate *priv;
  gboolean started;

  g_return_val_if_fail (IRIS_IS_SERVICE (self), FALSE);

  priv = get_private (self);
  pthread_mutex_lock (&priv->lock);
  started = priv->state == STARTED || priv->state == RESTARTING;
  pthread_mutex_unlock (&priv->lock);

  return started;
}

/**
 * iris_service_send_exclusive:
 * @message: a message; its reference is taken if it floats, otherwise the caller keeps its own
 *
 * Sends a message that is handled while no other message of the service is.
 */
void
iris_service_send_exclusive (IrisService *self, IrisMessage *message)
{
  g_return_if_fail (IRIS_IS_SERVICE (self));

  iris_port_post (get_private (self)->exclusive, message);
}

/**
 * iris_service_send_concurrent:
 * @message: a message; its reference is taken if it floats, otherwise the caller keeps its own
 *
 * Sends a message that may be handled beside other concurrent ones.
 */
void
iris_service_send_concurrent (IrisService *self, IrisMessage *message)
{
  g_return_if_fail (IRIS_IS_SERVICE (self));

  iris_port_post (get_private (self)->concurrent, message);
}
