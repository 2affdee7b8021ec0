/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of KEYS_REPLY: the keys of clients, and their use.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireClientKey:
 * @name: key 0, of its file, without the suffix; owned
 * @public_key: key 1, in ZeroMQ's text form, empty if it was revoked; owned
 * @roles: key 2, as in its file, with `;` between them; owned
 * @any_service: key 3, whether it may use every service but `command`
 * @services: key 4, (nullable) (array zero-terminated=1): those that it names; owned
 * @rate: key 5, items a second, 0 for no limit
 * @owner: key 6, the number of the owner of its items
 * @connections: key 7, connections that stand now
 * @seen_ms: key 8, when a connection last began or ended, Unix time in milliseconds; 0 if none did
 * since irisd started
 *
 * One key. A string that is %NULL is sent as an empty one.
 */
typedef struct
{
  char *name;
  char *public_key;
  char *roles;
  gboolean any_service;
  char **services;
  guint64 rate;
  guint64 owner;
  guint32 connections;
  guint64 seen_ms;
} IrisWireClientKey;

/**
 * IrisWireClientKeys:
 * @n_keys: length of @keys
 * @keys: (array length=n_keys): in the order of their names; owned
 *
 * The keys.
 */
typedef struct
{
  guint n_keys;
  IrisWireClientKey *keys;
} IrisWireClientKeys;

/**
 * iris_wire_client_keys_new:
 *
 * Returns: (transfer full): keys that are all zeroes; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireClientKeys *iris_wire_client_keys_new (guint n_keys);

/**
 * iris_wire_client_keys_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_client_keys_free (IrisWireClientKeys *self);

/**
 * iris_wire_client_keys_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *iris_wire_client_keys_encode (const IrisWireClientKeys *self,
                                      const IrisWireLimits *limits,
                                      GError **error);

/**
 * iris_wire_client_keys_decode:
 * @body: the body of a KEYS_REPLY
 *
 * Returns: (transfer full): the keys, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireClientKeys *
iris_wire_client_keys_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_client_keys_to_variant:
 *
 * The same by the names of the protocol: an array of dictionaries, "aa{sv}".
 *
 * Returns: (transfer none): a floating value
 */
IRIS_AVAILABLE_IN_ALL
GVariant *iris_wire_client_keys_to_variant (const IrisWireClientKeys *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireClientKeys, iris_wire_client_keys_free)

G_END_DECLS
