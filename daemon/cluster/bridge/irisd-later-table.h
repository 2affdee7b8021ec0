/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items of this node that wait for their time, of which the cluster keeps a copy.
 *
 * Pure logic: no socket, no thread, no clock of its own. Its owner tells it what irisd wishes and
 * what the servers have answered, and it says by IrisdLaterFuncs what is to be asked of them. Of
 * each item one thing is asked at a time, because a purge and a publication may overtake each
 * other; a wish that comes meanwhile is met afterwards.
 *
 * * KEEP: the cluster is to have the copy, as its data say.
 * * RECALL: it is to have none. The item waits on in irisd.
 * * DROP: likewise, and the item has ended in irisd. If there was no copy to remove, it may have
 *   become an item of the cluster, so the cancel is written as its end.
 */
#pragma once

#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

typedef struct _IrisdLaterTable IrisdLaterTable;

typedef enum
{
  IRISD_LATER_KEEP,
  IRISD_LATER_RECALL,
  IRISD_LATER_DROP,
} IrisdLaterWish;

typedef enum
{
  IRISD_LATER_KEPT,
  IRISD_LATER_FIRED,   /* the copy that was there is gone */
  IRISD_LATER_SILENT,  /* not decided: again */
  IRISD_LATER_REFUSED, /* the cluster keeps no copies */
} IrisdLaterVerdict;

/* What is known of the copy of an item that irisd leases now. */
typedef enum
{
  IRISD_LATER_NONE,   /* nothing was wished */
  IRISD_LATER_BUSY,   /* ask again soon */
  IRISD_LATER_WAITED, /* it was there, under its sequence */
  IRISD_LATER_UNSURE, /* ask the servers */
} IrisdLaterFound;

/* Public members are read-only, but for @data. */
typedef struct
{
  guint8 item[IRIS_WIRE_ID_SIZE];
  guint64 sequence; /* of the copy; 0: not known */
  gpointer data;    /* of the owner, freed by `forget` */

  gboolean changed; /* another wish came while the servers were asked */

  /*< private >*/
  IrisdLaterWish wish;
  gboolean busy;    /* the servers have not answered yet */
  gboolean purged;  /* the servers have said that there is no copy */
  gboolean removed; /* because it was removed */
  gint64 due;
  GList link; /* among those that are tried again */
  gboolean waits;
} IrisdLaterItem;

typedef struct
{
  /* irisd_later_table_kept() follows */
  void (*keep) (IrisdLaterItem *item, gpointer user_data);
  /* irisd_later_table_purged() follows */
  void (*purge) (IrisdLaterItem *item, gpointer user_data);
  /* irisd_later_table_claimed() follows */
  void (*claim) (IrisdLaterItem *item, gpointer user_data);
  void (*forget) (IrisdLaterItem *item, gpointer user_data);
} IrisdLaterFuncs;

IrisdLaterTable *
irisd_later_table_new (gint64 again_us, const IrisdLaterFuncs *funcs, gpointer user_data);
void irisd_later_table_free (IrisdLaterTable *self);

IrisdLaterItem *irisd_later_table_get (IrisdLaterTable *self, const guint8 *id);
void irisd_later_table_wish (IrisdLaterTable *self,
                             IrisdLaterItem *item,
                             IrisdLaterWish wish,
                             gint64 now);
void irisd_later_table_kept (IrisdLaterTable *self,
                             IrisdLaterItem *item,
                             IrisdLaterVerdict verdict,
                             guint64 sequence,
                             gint64 now);
void irisd_later_table_purged (IrisdLaterTable *self,
                               IrisdLaterItem *item,
                               gboolean sure,
                               gboolean removed,
                               gint64 now);
void
irisd_later_table_claimed (IrisdLaterTable *self, IrisdLaterItem *item, gboolean sure, gint64 now);
IrisdLaterFound irisd_later_table_take (IrisdLaterTable *self, const guint8 *id, guint64 *sequence);
void irisd_later_table_set_shut (IrisdLaterTable *self, gboolean shut);
gint64 irisd_later_table_tick (IrisdLaterTable *self, gint64 now);
guint irisd_later_table_get_size (const IrisdLaterTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdLaterTable, irisd_later_table_free)

G_END_DECLS
