/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SQLite's view of the file system, with faults that a test switches on.
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/**
 * FaultyVfs:
 * @n_syncs: how often a file was synced, or should have been
 * @fail_sync: the sync that fails, counted from now on; 0: none does
 * @sync_us: how much longer each sync takes, in microseconds
 * @full_while: (nullable): the disk is full as long as this file exists
 */
typedef struct
{
  _Atomic guint n_syncs;
  _Atomic guint fail_sync;
  _Atomic guint sync_us;
  const char *_Atomic full_while;
} FaultyVfs;

extern FaultyVfs faulty_vfs;

/* Makes it the one that databases are opened with, without faults. */
void faulty_vfs_install (void);

G_END_DECLS
