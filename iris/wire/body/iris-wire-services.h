/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of SERVICES_REPLY: what an item can name.
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
 * @n_services: how many services
 *
 * Returns: (transfer full): services without names; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireServices *iris_wire_services_new (guint n_services);

/**
 * iris_wire_services_copy:
 * @self: services
 *
 * Returns: (transfer full): a deep copy
 */
IRIS_AVAILABLE_IN_ALL
IrisWireServices *iris_wire_services_copy (const IrisWireServices *self);

/**
 * iris_wire_services_free:
 * @self: (transfer full) (nullable): services
 *
 * Frees @self and all that it owns.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_services_free (IrisWireServices *self);

/**
 * iris_wire_services_encode:
 * @self: services
 * @limits: (nullable): what the body may cost
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
 * @limits: (nullable): what the body may cost
 *
 * Returns: (transfer full): the services, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireServices *
iris_wire_services_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireServices, iris_wire_services_free)

G_END_DECLS
