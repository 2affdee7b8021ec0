/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bodies of SERVICES_REPLY and READY: what an item can name; and of WORKERS_REPLY: the worker
 * processes that serve items.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireService:
 * @name: key 0; owned
 * @summary: key 1, one line for people; owned
 *
 * One service. A string that is %NULL is sent as an empty one.
 */
typedef struct
{
  char *name;
  char *summary;
} IrisWireService;

/**
 * IrisWireServices:
 * @n_services: length of @services
 * @services: (array length=n_services): owned
 *
 * All services.
 */
typedef struct
{
  guint n_services;
  IrisWireService *services;
} IrisWireServices;

/**
 * iris_wire_services_new:
 *
 * Returns: (transfer full): services without names; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireServices *iris_wire_services_new (guint n_services);

/**
 * iris_wire_services_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_services_free (IrisWireServices *self);

/**
 * iris_wire_services_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *iris_wire_services_encode (const IrisWireServices *self,
                                   const IrisWireLimits *limits,
                                   GError **error);

/**
 * iris_wire_services_decode:
 * @body: the body of a SERVICES_REPLY
 *
 * Returns: (transfer full): the services, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireServices *
iris_wire_services_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireServices, iris_wire_services_free)

/**
 * IrisWireWorker:
 * @name: key 0, as it introduced itself; owned
 * @services: (array length=n_services): key 1, what it serves; owned
 * @n_services: length of @services
 * @places: (array length=n_places): key 2, the id of the place that it works at, or nothing; owned
 * @n_places: length of @places
 * @capacity: key 3, how many leases it will hold at once
 * @leased: key 4, leases that it holds
 * @done: key 5, leases that it ended with a result
 * @failed: key 6, leases that it ended with an error
 * @lost: key 7, leases that it let run out
 * @silent_ms: key 8, milliseconds since it was heard
 *
 * One worker process, that is, one connection that said READY.
 */
typedef struct
{
  char *name;
  guint n_services;
  guint32 n_places;
  IrisWireService *services;
  guint32 *places;
  guint32 capacity;
  guint32 leased;
  guint64 done;
  guint64 failed;
  guint64 lost;
  guint64 silent_ms;
} IrisWireWorker;

/**
 * IrisWireWorkers:
 * @n_workers: length of @workers
 * @workers: (array length=n_workers): owned
 *
 * All worker processes.
 */
typedef struct
{
  guint n_workers;
  IrisWireWorker *workers;
} IrisWireWorkers;

/**
 * iris_wire_workers_new:
 *
 * Returns: (transfer full): workers that are all zeroes; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireWorkers *iris_wire_workers_new (guint n_workers);

/**
 * iris_wire_workers_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_workers_free (IrisWireWorkers *self);

/**
 * iris_wire_workers_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *iris_wire_workers_encode (const IrisWireWorkers *self,
                                  const IrisWireLimits *limits,
                                  GError **error);

/**
 * iris_wire_workers_decode:
 * @body: the body of a WORKERS_REPLY
 *
 * Returns: (transfer full): the workers, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireWorkers *
iris_wire_workers_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireWorkers, iris_wire_workers_free)

G_END_DECLS
