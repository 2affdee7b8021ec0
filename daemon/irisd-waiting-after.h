/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that come after others.
 */
#pragma once

#include <iris/iris.h>
#include <sys/queue.h>

G_BEGIN_DECLS

typedef struct _IrisdAfterLink IrisdAfterLink;

/**
 * IrisdVerdict:
 * @IRISD_VERDICT_NONE: it has to wait
 * @IRISD_VERDICT_GO: it may run
 * @IRISD_VERDICT_FAIL: it cannot run any more, because what it comes after failed
 * @IRISD_VERDICT_STUCK: it will not run any more, because what it comes after is buried and irisd
 *   ends
 */
typedef enum
{
  IRISD_VERDICT_NONE,
  IRISD_VERDICT_GO,
  IRISD_VERDICT_FAIL,
  IRISD_VERDICT_STUCK,
} IrisdVerdict;

/**
 * IrisdDependent:
 * @verdict: what came of it
 * @blame: with %IRISD_VERDICT_FAIL and %IRISD_VERDICT_STUCK, the item that is to blame
 * @next: the next one in a list that irisd_after_end() gives
 *
 * Something that comes after items; embed it. All zeroes is one that comes after none.
 */
typedef struct _IrisdDependent IrisdDependent;

struct _IrisdDependent
{
  IrisdVerdict verdict;
  guint64 blame;
  IrisdDependent *next;

  /*< private >*/
  IrisWireAfter how;
  guint n_pending;
  guint n_links;
  IrisdAfterLink *links;
};

/**
 * IrisdAfter:
 *
 * The items that can be named, with who waits for them. One thread at a time.
 */
typedef struct
{
  GHashTable *nodes; /* by id */
  GQueue ended;      /* those that have ended, oldest first */
  guint n_remembered;
  gboolean closing;
} IrisdAfter;

void irisd_after_init (IrisdAfter *self, guint n_remembered);
void irisd_after_clear (IrisdAfter *self);
void irisd_after_add (IrisdAfter *self, guint64 id, gpointer owner, gint64 user);
gboolean irisd_after_reaches (IrisdAfter *self, guint64 id, gint64 view);
void irisd_after_set_aside (IrisdAfter *self, guint64 id, gpointer keeper);
gpointer irisd_after_get_owner (IrisdAfter *self, guint64 id);
gpointer irisd_after_get_keeper (IrisdAfter *self, guint64 id);
IrisdDependent *irisd_after_end (IrisdAfter *self, guint64 id, gboolean well);
void irisd_after_add_ended (IrisdAfter *self, guint64 id, gboolean well, gint64 user);
IrisdDependent *irisd_after_bury (IrisdAfter *self, guint64 id);
IrisdDependent *irisd_after_close (IrisdAfter *self);
gboolean irisd_after_wait (IrisdAfter *self,
                           IrisdDependent *dependent,
                           const guint64 *ids,
                           guint n,
                           gint64 view,
                           IrisWireAfter how,
                           guint64 *unknown);
void irisd_after_withdraw (IrisdAfter *self, IrisdDependent *dependent);

G_END_DECLS
