/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the worker knows of its leases.
 */
#pragma once

#include <iris-client/worker/iris-lease.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

typedef struct _IrisWorkerProcess IrisWorkerProcess;

IrisLease *iris_lease_new_from_wire (IrisWorkerProcess *worker, const IrisWireMessage *message);
const guint8 *iris_lease_get_id (IrisLease *self);
void iris_lease_stop (IrisLease *self);
void iris_lease_grant (IrisLease *self, guint64 bytes);
gboolean iris_lease_survives (IrisLease *self, gint64 until);
gint64 iris_lease_get_until (IrisLease *self);
void iris_lease_claim (IrisLease *self, gboolean anew);
void iris_lease_forget_worker (IrisLease *self);

/* For leases, in iris-worker-process.c. */
void iris_worker_process_say (IrisWorkerProcess *self, IrisWireMessage *message);
gboolean iris_worker_process_say_of_lease (IrisWorkerProcess *self, IrisWireMessage *message);
void
iris_worker_process_settle (IrisWorkerProcess *self, IrisLease *lease, IrisWireMessage *message);

G_END_DECLS
