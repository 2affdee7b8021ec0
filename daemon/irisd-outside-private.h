/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the shared book, for the files that are parts of it.
 */
#pragma once

#include "irisd-outside.h"

#include <pthread.h>

G_BEGIN_DECLS

struct _IrisdOutside
{
  pthread_mutex_t lock;
  IrisdCore *core;
  IrisdLeases *book;
  GPtrArray *workers;  /* of IrisdOutsideWorker */
  guint8 epoch[8];     /* the first half of the leases' ids: those of another irisd are not ours */
  GPtrArray *restored; /* their ids, by number less 1; constant once items are taken */
  GHashTable *restored_by_id; /* the same → their numbers */
  _Atomic gint64 alarm_us;
};

static inline IrisdTask *
irisd_task_of (IrisdErrand *errand)
{
  return (IrisdTask *) (void *) ((char *) errand - G_STRUCT_OFFSET (IrisdTask, errand));
}

IrisdTask *irisd_task_ref (IrisdTask *task);
IrisdNotice *irisd_notice_new (IrisdNoticeKind kind);
gint64 irisd_outside_lock (IrisdOutside *self);
void irisd_outside_unlock (IrisdOutside *self);
void irisd_outside_set_terms (IrisdOutside *self, IrisdJob *job, gint64 space);
void irisd_outside_init_restored (IrisdOutside *self);
void irisd_outside_clear_restored (IrisdOutside *self);
void irisd_outside_note_lease (IrisdOutside *self, IrisdTask *task, gint64 owner, guint64 lease);
void irisd_outside_note_due (IrisdOutside *self, IrisdTask *task, guint64 left_ms);
void irisd_outside_tell_credit (IrisdOutside *self, IrisdTask *task, guint64 bytes);
guint64 irisd_outside_read_lease (IrisdOutside *self, const guint8 *id);

G_END_DECLS
