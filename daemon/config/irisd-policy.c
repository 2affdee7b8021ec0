/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which requests reach whose items: the one table that every handler asks.
 *
 * An owner is a number: the user of a connection over ipc, as the kernel names it; irisd's own user
 * for a trusted connection over TCP; and for any other connection over TCP a negative number that
 * no other connection has. So a guest owns what it sends by its connection, and nothing outlives
 * that connection.
 *
 * A request with the reach "own" is answered about another owner's item as if there were no such
 * item, in the same words: numbers tell nothing. "Refused" is only said where the answer does not
 * depend on any item.
 */
#include "daemon/config/irisd-policy.h"

#include <iris/wire/iris-wire.h>
#include <stdatomic.h>

#define NONE IRISD_REACH_NONE
#define OWN  IRISD_REACH_OWN
#define ALL  IRISD_REACH_ALL

static const guint8 table[0x80][IRISD_N_ROLES] = {
  /*                       guest, user, operator */
  [IRISD_POLICY_KEEP] = { NONE, OWN, OWN }, /* keys are a name space of each owner */
  [IRIS_WIRE_HELLO] = { ALL, ALL, ALL },
  [IRIS_WIRE_PING] = { ALL, ALL, ALL },
  [IRIS_WIRE_BYE] = { OWN, OWN, OWN },
  [IRIS_WIRE_MAP] = { ALL, ALL, ALL },
  [IRIS_WIRE_STATUS] = { ALL, ALL, ALL },   /* sums over all owners, no items */
  [IRIS_WIRE_SERVICES] = { OWN, OWN, OWN }, /* one's own and the shared ones */
  [IRIS_WIRE_WORKERS] = { OWN, OWN, ALL },  /* likewise */
  [IRIS_WIRE_SUBMIT] = { OWN, OWN, ALL },   /* which items it may come after, or be near to */
  [IRIS_WIRE_BATCH] = { OWN, OWN, ALL },
  [IRIS_WIRE_ACK] = { OWN, OWN, OWN }, /* what this connection was told */
  [IRIS_WIRE_MORE] = { OWN, OWN, OWN },
  [IRIS_WIRE_CANCEL] = { OWN, OWN, ALL },
  [IRIS_WIRE_FETCH] = { NONE, OWN, ALL },
  [IRIS_WIRE_LIST] = { NONE, OWN, ALL },
  [IRIS_WIRE_SHOW] = { NONE, OWN, ALL },
  [IRIS_WIRE_KICK] = { NONE, OWN, ALL },
  [IRIS_WIRE_BURY] = { NONE, OWN, ALL },
  [IRIS_WIRE_DRAIN] = { NONE, NONE, ALL },
  [IRIS_WIRE_SET_WORKERS] = { NONE, NONE, ALL },
  [IRIS_WIRE_READY] = { NONE, OWN, ALL }, /* beyond one's own items: [access] serve */
  [IRIS_WIRE_DONE] = { OWN, OWN, OWN },   /* leases of this connection */
  [IRIS_WIRE_FAIL] = { OWN, OWN, OWN },
  [IRIS_WIRE_EXTEND] = { OWN, OWN, OWN },
  [IRIS_WIRE_REPORT] = { OWN, OWN, OWN },
};

/**
 * irisd_policy_get_reach:
 * @request: an #IrisWireType, or %IRISD_POLICY_KEEP
 * @role: what sends it
 *
 * Returns: how far it reaches; %IRISD_REACH_NONE for an operator if it is no request
 */
IrisdReach
irisd_policy_get_reach (guint8 request, IrisdRole role)
{
  return request < G_N_ELEMENTS (table) ? (IrisdReach) table[request][role] : IRISD_REACH_NONE;
}

/**
 * irisd_policy_get_view:
 * @request: a request that is not refused to @role
 * @role: what sends it
 * @owner: the owner that it acts for
 *
 * Returns: @owner, or %IRISD_VIEW_ALL
 */
gint64
irisd_policy_get_view (guint8 request, IrisdRole role, gint64 owner)
{
  return irisd_policy_get_reach (request, role) == IRISD_REACH_ALL ? IRISD_VIEW_ALL : owner;
}

/**
 * irisd_policy_new_guest:
 *
 * Returns: the owner that a connection without a user is: less than -1, and in 33 bits
 */
gint64
irisd_policy_new_guest (void)
{
  /* Only a counter, so nothing is ordered by it. It begins anew after two thousand million. */
  static _Atomic guint32 last;
  guint32 number = atomic_fetch_add_explicit (&last, 1, memory_order_relaxed);
  return -2 - (gint64) (number & G_MAXINT32);
}

/**
 * irisd_policy_check:
 * @request: an #IrisWireType, or %IRISD_POLICY_KEEP
 * @role: what sends it
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Returns: whether the request is taken; a number that is no request is not judged
 */
gboolean
irisd_policy_check (guint8 request, IrisdRole role, GError **error)
{
  const char *sentence = "places are changed for operators only: ask irisd's owner to name this "
                         "user under [access] operators";
  if (irisd_policy_get_reach (request, role) != NONE
      || irisd_policy_get_reach (request, IRISD_ROLE_OPERATOR) == NONE)
    return TRUE;
  if (request == IRISD_POLICY_KEEP)
    sentence = "items are not kept for clients over TCP, because no user owns them: send the item "
               "as volatile, connect over ipc, or, if all users of irisd's machine may act as its "
               "owner, set tcp-trusted in its configuration";
  else if (request == IRIS_WIRE_READY)
    sentence = "worker processes are not taken over TCP, because they read the items of users: "
               "connect over ipc, or, if all users of irisd's machine may do that, set tcp-trusted "
               "in its configuration";
  else if (role == IRISD_ROLE_GUEST)
    sentence =
        "persistent items and places are for clients over ipc, where the kernel names the user: "
        "connect over ipc, or, if all users of irisd's machine may act as its owner, set "
        "tcp-trusted in its configuration";
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED, sentence);
  return FALSE;
}
