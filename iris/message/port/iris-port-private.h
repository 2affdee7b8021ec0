/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The port's insides, for what posts later and for tests.
 */
#pragma once

#include "iris/message/port/iris-receiver-private.h"

struct _IrisPort
{
  GObject parent_instance;

  _Atomic (IrisRundownGuard *) guard; /* NULL: no receiver; changed under the lock */
  pthread_mutex_t lock;
  GQueue waiting;           /* messages, a reference each; under the lock */
  IrisRundownGuard *paused; /* what iris_port_resume() publishes again; or NULL; under the lock */

  _Atomic (IrisBoundedBuffer *) buffer; /* of a bounded port; set once */
  IrisPortFullFunc full_func;           /* this and what goes with it: under the lock */
  gpointer full_data;
  GDestroyNotify full_notify;
};

void iris_port_post_or_refuse (IrisPort *self, IrisMessage *message);
