/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Policy: the one table of which requests reach which owner's items.
 *
 * An owner is a number: the user of a connection over ipc, as the kernel names it; irisd's own user
 * for a trusted connection over TCP; and for any other connection over TCP a negative number of its
 * own. So a guest owns items only through its connection, and nothing outlives that connection. The
 * number of a key is in its file (irisd-keys.h).
 *
 * A request with the reach "own" is answered about another owner's item as if there were no such
 * item, in the same words, so numbers reveal nothing. "Refused" is only answered where it does not
 * depend on any item.
 */
#include "daemon/config/irisd-policy.h"

#include "daemon/base/irisd-error.h"

#include <iris/wire/iris-wire.h>
#include <stdatomic.h>

#define NONE IRISD_REACH_NONE
#define OWN  IRISD_REACH_OWN
#define ALL  IRISD_REACH_ALL

static const guint8 table[0x80][IRISD_N_ROLES] = {
  /* guest, user, operator; of keys: observe, submit, work, control */
  [IRISD_POLICY_KEEP] = { NONE, OWN, OWN, NONE, OWN, NONE,
                          NONE }, /* keys are a name space of each owner */
  [IRIS_WIRE_HELLO] = { ALL, ALL, ALL, ALL, ALL, ALL, ALL },
  [IRIS_WIRE_PING] = { ALL, ALL, ALL, ALL, ALL, ALL, ALL },
  [IRIS_WIRE_BYE] = { OWN, OWN, OWN, OWN, OWN, OWN, OWN },
  [IRIS_WIRE_MAP] = { ALL, ALL, ALL, ALL, ALL, ALL, ALL },
  [IRIS_WIRE_STATUS] = { ALL, ALL, ALL, ALL, ALL, ALL, ALL }, /* sums over all owners, no items */
  [IRIS_WIRE_STATISTICS] = { ALL, ALL, ALL, ALL, ALL, ALL, ALL }, /* likewise */
  [IRIS_WIRE_SERVICES] = { OWN, OWN, OWN, OWN, OWN, OWN,
                           OWN }, /* the client's own and the shared ones */
  [IRIS_WIRE_WORKERS] = { OWN, OWN, ALL, ALL, OWN, OWN, ALL }, /* likewise */
  [IRIS_WIRE_SUBMIT] = { OWN, OWN, ALL, NONE, OWN, NONE,
                         NONE }, /* the items that it may depend on, or be near to */
  [IRIS_WIRE_BATCH] = { OWN, OWN, ALL, NONE, OWN, NONE, NONE },
  [IRIS_WIRE_ACK] = { OWN, OWN, OWN, OWN, OWN, OWN, OWN }, /* completions of this connection */
  [IRIS_WIRE_MORE] = { OWN, OWN, OWN, OWN, OWN, OWN, OWN },
  [IRIS_WIRE_CANCEL] = { OWN, OWN, ALL, NONE, OWN, NONE, ALL },
  [IRIS_WIRE_FETCH] = { NONE, OWN, ALL, NONE, OWN, NONE, NONE },
  [IRIS_WIRE_LIST] = { NONE, OWN, ALL, ALL, OWN, NONE, ALL },
  [IRIS_WIRE_SHOW] = { NONE, OWN, ALL, ALL, OWN, NONE, ALL },
  [IRIS_WIRE_KICK] = { NONE, OWN, ALL, NONE, OWN, NONE, ALL },
  [IRIS_WIRE_BURY] = { NONE, OWN, ALL, NONE, OWN, NONE, ALL },
  [IRIS_WIRE_DRAIN] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
  [IRIS_WIRE_SET_WORKERS] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
  [IRIS_WIRE_READY] = { NONE, OWN, ALL, NONE, NONE, OWN,
                        NONE }, /* beyond the user's own items: [access] serve, or the key's
                                   services */
  [IRIS_WIRE_DONE] = { OWN, OWN, OWN, OWN, OWN, OWN, OWN }, /* leases of this connection */
  [IRIS_WIRE_FAIL] = { OWN, OWN, OWN, OWN, OWN, OWN, OWN },
  [IRIS_WIRE_EXTEND] = { OWN, OWN, OWN, OWN, OWN, OWN, OWN },
  [IRIS_WIRE_REPORT] = { OWN, OWN, OWN, OWN, OWN, OWN, OWN },
  [IRIS_WIRE_ANSWER] = { OWN, OWN, OWN, OWN, OWN, OWN, OWN }, /* of the bridge, which is checked */
  [IRIS_WIRE_TRACE] = { NONE, NONE, ALL, ALL, NONE, NONE, ALL },
  [IRIS_WIRE_SPANS] = { NONE, NONE, ALL, ALL, NONE, NONE, ALL },
  [IRIS_WIRE_RELOAD] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
  [IRIS_WIRE_KEYS] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
  [IRIS_WIRE_SUSPEND] = { NONE, OWN, ALL, NONE, OWN, NONE, ALL },
  [IRIS_WIRE_RESUME] = { NONE, OWN, ALL, NONE, OWN, NONE, ALL },
  [IRIS_WIRE_EDIT] = { NONE, OWN, ALL, NONE, OWN, NONE, ALL },
  [IRIS_WIRE_AGAIN] = { NONE, OWN, ALL, NONE, OWN, NONE, NONE },
  [IRIS_WIRE_SCHEDULE] = { NONE, OWN, ALL, NONE, OWN, NONE, NONE },
  [IRIS_WIRE_SCHEDULES] = { NONE, OWN, ALL, ALL, OWN, NONE, ALL },
  [IRIS_WIRE_QUEUE] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
  [IRIS_WIRE_QUEUES] = { ALL, ALL, ALL, ALL, ALL, ALL, ALL }, /* likewise */
  [IRIS_WIRE_FOLLOW] = { NONE, OWN, ALL, ALL, OWN, NONE, ALL },
  [IRIS_WIRE_NODES] = { ALL, ALL, ALL, ALL, ALL, ALL, ALL }, /* likewise */
  [IRIS_WIRE_NODE] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
  [IRIS_WIRE_CLUSTER_CHECK] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
  [IRIS_WIRE_CLUSTER_INIT] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
  [IRIS_WIRE_BACKUP] = { NONE, NONE, ALL, NONE, NONE, NONE, ALL },
};

/* Returns the reach of @request, an IrisWireType or IRISD_POLICY_KEEP, of the most powerful of
 * @roles; IRISD_REACH_NONE for an operator if it is no request. */
IrisdReach
irisd_policy_get_reach (guint8 request, IrisdRoles roles)
{
  IrisdReach reach = NONE;
  for (guint role = 0; role < IRISD_N_ROLES && request < G_N_ELEMENTS (table); role++)
    if ((roles & IRISD_ROLES (role)) != 0)
      reach = MAX (reach, (IrisdReach) table[request][role]);
  return reach;
}

/* Returns @owner or IRISD_VIEW_ALL. @request is not refused to @roles. */
gint64
irisd_policy_get_view (guint8 request, IrisdRoles roles, gint64 owner)
{
  return irisd_policy_get_reach (request, roles) == IRISD_REACH_ALL ? IRISD_VIEW_ALL : owner;
}

/* Returns the owner number of a connection without a user: less than -1, and in 33 bits. */
gint64
irisd_policy_new_guest (void)
{
  /* Only a counter, so nothing is ordered by it. It begins again after two thousand million. */
  static _Atomic guint32 last;
  guint32 number = atomic_fetch_add_explicit (&last, 1, memory_order_relaxed);
  return -2 - (gint64) (number & G_MAXINT32);
}

/* Of a client with a key. */
static gboolean
refuse_key (guint8 request, IrisdRoles roles, GError **error)
{
  IrisdRoles enough = 0;
  for (guint role = 0; role < IRISD_N_ROLES; role++)
    if (table[request][role] != NONE)
      enough |= IRISD_ROLES (role);
  g_autofree char *has = irisd_roles_to_text (roles);
  g_autofree char *needs = irisd_roles_to_text (enough);
  return irisd_fail (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
      "this key has the roles %s, and the request needs one of %s; ask irisd's owner "
      "to give it (irisctl key allow --roles)",
      has, needs);
}

/* Returns whether @roles may send @request, an IrisWireType or IRISD_POLICY_KEEP; a number that is
 * no request passes. */
gboolean
irisd_policy_check (guint8 request, IrisdRoles roles, GError **error)
{
  const char *reason = "only operators may do that; ask irisd's owner to name this "
                       "user under [access] operators";
  const IrisdRoles without_key = IRISD_ROLES (IRISD_ROLE_GUEST) | IRISD_ROLES (IRISD_ROLE_USER)
                                 | IRISD_ROLES (IRISD_ROLE_OPERATOR);
  if (irisd_policy_get_reach (request, roles) != NONE
      || irisd_policy_get_reach (request, IRISD_ROLES (IRISD_ROLE_OPERATOR)) == NONE)
    return TRUE;
  if ((roles & without_key) == 0)
    return refuse_key (request, roles, error);
  if (request == IRISD_POLICY_KEEP)
    reason =
        "clients over TCP cannot have persistent items, because no user owns them; send the item "
        "as volatile, connect over ipc, or, if all users of irisd's machine may act as its "
        "owner, set tcp-trusted in its configuration";
  else if (request == IRIS_WIRE_READY)
    reason = "worker processes cannot connect over TCP, because they read the items of users; "
             "connect over ipc, or, if all users of irisd's machine may do that, set tcp-trusted "
             "in its configuration";
  else if (roles == IRISD_ROLES (IRISD_ROLE_GUEST))
    reason =
        "persistent items and places are for clients over ipc, where the kernel names the user; "
        "connect over ipc, or, if all users of irisd's machine may act as its owner, set "
        "tcp-trusted in its configuration";
  return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED, "%s", reason);
}
