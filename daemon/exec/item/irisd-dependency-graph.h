/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The dependency graph: items that run after others.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <sys/queue.h>

G_BEGIN_DECLS

typedef struct _IrisdDependencyLink IrisdDependencyLink;

/**
 * IrisdVerdict:
 * @IRISD_VERDICT_NONE: it has to wait
 * @IRISD_VERDICT_GO: it may run
 * @IRISD_VERDICT_FAIL: it cannot run, because a dependency failed
 * @IRISD_VERDICT_STUCK: it will not run, because a dependency is buried and irisd ends
 */
typedef enum
{
  IRISD_VERDICT_NONE,
  IRISD_VERDICT_GO,
  IRISD_VERDICT_FAIL,
  IRISD_VERDICT_STUCK,
} IrisdVerdict;

/**
 * IrisdAwayEnd:
 * @IRISD_AWAY_END_WELL: it has ended well
 * @IRISD_AWAY_END_FAILED: it has ended otherwise
 * @IRISD_AWAY_END_UNKNOWN: there is no such item: no dependent can run, whatever it waits for
 *
 * How an item of another node has ended.
 */
typedef enum
{
  IRISD_AWAY_END_WELL,
  IRISD_AWAY_END_FAILED,
  IRISD_AWAY_END_UNKNOWN,
} IrisdAwayEnd;

/**
 * IrisdDependent:
 * @verdict: whether it may run
 * @blame: with %IRISD_VERDICT_FAIL and %IRISD_VERDICT_STUCK, the dependency that is the reason
 * @reason: (nullable): why, if that is an item of another node; the dependent's
 * @next: the next one in a list that irisd_dependency_graph_end() gives
 *
 * An item with dependencies; embed it. All zeroes is one without.
 */
typedef struct _IrisdDependent IrisdDependent;

struct _IrisdDependent
{
  IrisdVerdict verdict;
  guint64 blame;
  char *reason;
  IrisdDependent *next;

  /*< private >*/
  IrisWireAfter how;
  guint n_pending;
  guint n_links;
  IrisdDependencyLink *links;
};

/* The known items, with their dependents. One thread at a time. */
typedef struct
{
  GHashTable *nodes; /* by id */
  GQueue ended;      /* ended ones, oldest first */
  guint n_remembered;
  gboolean closing;
} IrisdDependencyGraph;

void irisd_dependency_graph_init (IrisdDependencyGraph *self, guint n_remembered);
void irisd_dependency_graph_clear (IrisdDependencyGraph *self);
void
irisd_dependency_graph_add (IrisdDependencyGraph *self, guint64 id, gpointer owner, gint64 user);
gboolean irisd_dependency_graph_reaches (IrisdDependencyGraph *self, guint64 id, gint64 view);
void irisd_dependency_graph_set_aside (IrisdDependencyGraph *self, guint64 id, gpointer keeper);
gpointer irisd_dependency_graph_get_owner (IrisdDependencyGraph *self, guint64 id);
gpointer irisd_dependency_graph_get_keeper (IrisdDependencyGraph *self, guint64 id);
IrisdDependent *irisd_dependency_graph_end (IrisdDependencyGraph *self, guint64 id, gboolean well);
void irisd_dependency_graph_add_ended (IrisdDependencyGraph *self,
                                       guint64 id,
                                       gboolean well,
                                       gint64 user);
IrisdDependent *irisd_dependency_graph_bury (IrisdDependencyGraph *self, guint64 id);
IrisdDependent *irisd_dependency_graph_close (IrisdDependencyGraph *self);
void irisd_dependency_graph_add_away (IrisdDependencyGraph *self, guint64 id, gint64 user);
gboolean irisd_dependency_graph_is_awaited (IrisdDependencyGraph *self, guint64 id);
IrisdDependent *irisd_dependency_graph_end_away (IrisdDependencyGraph *self,
                                                 guint64 id,
                                                 IrisdAwayEnd end,
                                                 const char *reason);
gboolean irisd_dependency_graph_wait (IrisdDependencyGraph *self,
                                      IrisdDependent *dependent,
                                      const guint64 *ids,
                                      guint n,
                                      gint64 view,
                                      IrisWireAfter how,
                                      guint64 *unknown);
void irisd_dependency_graph_withdraw (IrisdDependencyGraph *self, IrisdDependent *dependent);

G_END_DECLS
