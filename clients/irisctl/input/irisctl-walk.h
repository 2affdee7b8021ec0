/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Walking directories: the regular files below them, one at a time, in a fixed order.
 */
#pragma once

#include <glib.h>

typedef struct _CtlWalk CtlWalk;

/* @roots: files and directories. */
CtlWalk *ctl_walk_new (const char *const *roots);
void ctl_walk_free (CtlWalk *self);

/* The next regular file, as a shell would name it from here; each directory's entries sorted by
 * name, byte by byte. Symbolic links are followed where they are a root, and left out below. NULL
 * with @error set: something could not be read, and the next call goes on behind it; NULL without:
 * the end. */
char *ctl_walk_next (CtlWalk *self, GError **error);

/* Whether there is nothing left, neither a file nor an error. */
gboolean ctl_walk_is_done (CtlWalk *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtlWalk, ctl_walk_free)
