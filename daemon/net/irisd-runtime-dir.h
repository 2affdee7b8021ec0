/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A directory of irisd, for its sockets or its journal, and the lock that reserves it for one
 * irisd.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define IRISD_LOCK_NAME "irisd.lock"

typedef struct _IrisdRuntimeDir IrisdRuntimeDir;

IrisdRuntimeDir *
irisd_runtime_dir_open (const char *path, const char *option, gboolean shared, GError **error);
void irisd_runtime_dir_close (IrisdRuntimeDir *self);
const char *irisd_runtime_dir_get_path (const IrisdRuntimeDir *self);
void irisd_runtime_dir_add_endpoint (IrisdRuntimeDir *self, const char *endpoint);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdRuntimeDir, irisd_runtime_dir_close)

G_END_DECLS
