/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The round-robin ring: members that get their turn one after the other.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_RROBIN (iris_rrobin_get_type ())

typedef struct _IrisRRobin IrisRRobin;

/**
 * IrisRRobinFunc:
 * @member: a member
 * @user_data: what was given to [method@RRobin.apply]
 *
 * Offers a member its turn.
 *
 * Returns: %FALSE when the member declines, and the next one is to be asked
 */
typedef gboolean (*IrisRRobinFunc) (gpointer member, gpointer user_data);

/**
 * IrisRRobinForeachFunc:
 * @rrobin: the ring
 * @member: a member
 * @user_data: what was given to [method@RRobin.foreach]
 *
 * Meets a member.
 *
 * Returns: %FALSE to stop
 */
typedef gboolean (*IrisRRobinForeachFunc) (IrisRRobin *rrobin, gpointer member, gpointer user_data);

IRIS_AVAILABLE_IN_ALL GType iris_rrobin_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisRRobin *iris_rrobin_new (guint max_members);
IRIS_AVAILABLE_IN_ALL IrisRRobin *iris_rrobin_ref (IrisRRobin *self);
IRIS_AVAILABLE_IN_ALL void iris_rrobin_unref (IrisRRobin *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_rrobin_append (IrisRRobin *self, gpointer member);
IRIS_AVAILABLE_IN_ALL gboolean iris_rrobin_remove (IrisRRobin *self, gpointer member);
IRIS_AVAILABLE_IN_ALL gboolean iris_rrobin_apply (IrisRRobin *self,
                                                  IrisRRobinFunc func,
                                                  gpointer user_data);
IRIS_AVAILABLE_IN_ALL void
iris_rrobin_foreach (IrisRRobin *self, IrisRRobinForeachFunc func, gpointer user_data);
IRIS_AVAILABLE_IN_ALL guint iris_rrobin_get_length (IrisRRobin *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisRRobin, iris_rrobin_unref)

G_END_DECLS
