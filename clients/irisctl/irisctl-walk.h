/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The regular files below some directories, one at a time.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _IrisctlWalk IrisctlWalk;

/* Called for what cannot be read; @why is a sentence. */
typedef void (*IrisctlWalkFailed) (const char *path, const char *why, gpointer user_data);

IrisctlWalk *irisctl_walk_new (char *const *paths, IrisctlWalkFailed failed, gpointer user_data);
const char *irisctl_walk_next (IrisctlWalk *self);
void irisctl_walk_free (IrisctlWalk *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisctlWalk, irisctl_walk_free)

G_END_DECLS
