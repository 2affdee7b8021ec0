/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Policy: which requests reach which owner's items.
 */
#pragma once

#include "daemon/config/irisd-role.h"

#include <iris/iris.h>

G_BEGIN_DECLS

/* The view of all items: no owner. */
#define IRISD_VIEW_ALL G_MININT64

/* A row of the table that is no message: a persistent item in SUBMIT or BATCH. */
#define IRISD_POLICY_KEEP 0

/* How far a request reaches. */
typedef enum
{
  IRISD_REACH_NONE, /* the request is refused */
  IRISD_REACH_OWN,  /* it reaches items of the same owner; others do not exist for it */
  IRISD_REACH_ALL,  /* it reaches everything */
} IrisdReach;

IrisdReach irisd_policy_get_reach (guint8 request, IrisdRoles roles);
gint64 irisd_policy_get_view (guint8 request, IrisdRoles roles, gint64 owner);
gint64 irisd_policy_new_guest (void);
gboolean irisd_policy_check (guint8 request, IrisdRoles roles, GError **error);

/* Whether a view, an owner or IRISD_VIEW_ALL, includes @owner. */
static inline gboolean
irisd_view_reaches (gint64 view, gint64 owner)
{
  return view == IRISD_VIEW_ALL || view == owner;
}

G_END_DECLS
