/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which nodes there are, from what the bucket tells, over time.
 */
#pragma once

#include "daemon/cluster/members/irisd-members.h"

G_BEGIN_DECLS

/* An entry's life in the bucket: a node that tells nothing for so long is gone. */
#define IRISD_MEMBER_LIFE_MS 15000

/* How often a node tells of itself. With a life of five times as much no node expires while the
 * leader of the bucket is elected, which takes up to 8 s. */
#define IRISD_MEMBER_REPORT_MS 3000

/* What an operator has said about a node; it stays in the bucket. */
typedef enum
{
  IRISD_MARK_MEMBER, /* nothing: it has been here */
  IRISD_MARK_DRAINED,
  IRISD_MARK_REMOVED,
} IrisdMemberMark;

/* A moment; the caller gives the clock. */
typedef struct
{
  gint64 us;       /* of a clock that does not jump */
  guint64 unix_ms; /* what people read */
} IrisdMoment;

typedef struct _IrisdMemberTable IrisdMemberTable;

IrisdMemberTable *irisd_member_table_new (const char *own);
void irisd_member_table_free (IrisdMemberTable *self);
void irisd_member_table_put (IrisdMemberTable *self, IrisdNode *node, IrisdMoment now);
void irisd_member_table_lose (IrisdMemberTable *self, const char *name, IrisdMoment now);
void irisd_member_table_mark (IrisdMemberTable *self,
                              const char *name,
                              IrisdMemberMark mark,
                              IrisdMoment now);
void irisd_member_table_excuse (IrisdMemberTable *self, IrisdMoment now);
void irisd_member_table_sweep (IrisdMemberTable *self, IrisdMoment now);
void irisd_member_table_begin_reload (IrisdMemberTable *self);
void irisd_member_table_end_reload (IrisdMemberTable *self, IrisdMoment now);
gboolean irisd_member_table_refresh (IrisdMemberTable *self, IrisdNode *node, IrisdMoment now);
guint irisd_member_table_get_count (IrisdMemberTable *self);
gboolean irisd_member_table_has_mark (IrisdMemberTable *self, const char *name);
IrisdMemberMark irisd_member_table_get_mark (IrisdMemberTable *self, const char *name);
gboolean irisd_member_table_take_changed (IrisdMemberTable *self);
IrisdMembers *irisd_member_table_describe (IrisdMemberTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdMemberTable, irisd_member_table_free)

G_END_DECLS
