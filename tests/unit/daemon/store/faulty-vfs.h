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
 * @fail_read: what the next read of a file ends with, a code of SQLite; 0: as it should
 * @full_while: (nullable): the disk is full as long as this file exists
 * @over_quota: it is not the disk that is full then, but the user's quota
 */
typedef struct
{
  _Atomic guint n_syncs;
  _Atomic guint fail_sync;
  _Atomic int fail_read;
  const char *_Atomic full_while;
  _Atomic gboolean over_quota;
} FaultyVfs;

extern FaultyVfs faulty_vfs;

/* Makes it the one that databases are opened with, without faults. */
void faulty_vfs_install (void);

/* The next sync takes until faulty_vfs_let_go(): a disk that is as slow as the test likes. */
void faulty_vfs_hold (void);
void faulty_vfs_wait_held (void);
void faulty_vfs_let_go (void);

G_END_DECLS
