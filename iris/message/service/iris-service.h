/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The service: an object whose messages are coordinated.
 */
#pragma once

#include <iris/message/port/iris-arbiter.h>

G_BEGIN_DECLS

/**
 * IrisService:
 *
 * An object that is reached by messages alone: exclusive ones, each of which runs by itself, and
 * concurrent ones, which run beside each other.
 *
 * To be derived from; what it does is in its class.
 */
#define IRIS_TYPE_SERVICE (iris_service_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (IrisService, iris_service, IRIS, SERVICE, GObject)

/**
 * IrisServiceClass:
 * @handle_start: the service starts; on the thread that starts it, before any message is handled
 * @handle_stop: the service has stopped; once for each start, after its last message, on a worker
 * @handle_exclusive: a message that is handled while no other is
 * @handle_concurrent: a message that is handled beside other concurrent ones
 *
 * What a service does. Each may be %NULL.
 */
struct _IrisServiceClass
{
  GObjectClass parent_class;

  void (*handle_start) (IrisService *self);
  void (*handle_stop) (IrisService *self);
  void (*handle_exclusive) (IrisService *self, IrisMessage *message);
  void (*handle_concurrent) (IrisService *self, IrisMessage *message);

  /*< private >*/
  gpointer padding[8];
};

IRIS_AVAILABLE_IN_ALL void iris_service_start (IrisService *self);
IRIS_AVAILABLE_IN_ALL void iris_service_stop (IrisService *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_service_is_started (IrisService *self);
IRIS_AVAILABLE_IN_ALL void iris_service_send_exclusive (IrisService *self, IrisMessage *message);
IRIS_AVAILABLE_IN_ALL void iris_service_send_concurrent (IrisService *self, IrisMessage *message);

G_END_DECLS
