/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Intervals, their points, edges and graph.
 *
 * A point (the start or the end of an interval) counts what it waits for: each edge into it, and
 * one more: of a start, being scheduled; of an end, the interval's function. The thread that takes
 * the last one away makes the point due, and it happens once: a start by running or skipping the
 * function, an end when there is nothing more to wait for. A point that happens closes its list of
 * edges by setting a bit in it, and takes one from the count of each point that they lead to.
 *
 * Who may call what: anything any thread. Edges are added under the graph's lock, which a point
 * that happens does not take.
 *
 * Why no edge is forgotten: adding counts at the far end first, and only if the count is not 0
 * (else that point is due already, and the edge is refused); then it pushes the edge by
 * compare-and-swap. If the bit came first, the swap fails, and the adder takes the count away
 * itself. If not, the edge is in the list that the bit closes. Setting the bit is an acquire and
 * sees the whole list; taking from a count is a release and an acquire, so what happened in front
 * of any edge is visible behind the point: happens-before in the sense of C11.
 *
 * Lifetime: an interval is pinned by its users together, by itself from being scheduled to its end,
 * and by each edge into it until that is dealt with. Edges stay in memory, with where they led as a
 * number, as long as the interval that they come from. There are no cycles: users' pins go when
 * they go (dropping the last reference to an interval that is not scheduled cancels it); the rest
 * follows the order of happening. Freeing takes the graph's lock to leave its list; so who holds
 * the lock and found a list of edges open may look at the points that they lead to.
 *
 * No recursion: what becomes due on a thread, while something happens there, waits in a list of the
 * thread (iris-interval.c). A chain of a million cancelled intervals is a loop.
 *
 * Cycles: each point has a rank, and edges lead from lower to higher. Only an edge that does not
 * fit is looked into: the points behind its far end are searched for its near end, but only those
 * whose rank is below the near end's, since no path to it leads over others; if it is not found
 * they are raised. A near end that nothing leads to is lowered instead. So graphs that are built
 * forwards, or backwards, cost nothing but the comparison for each edge, and the worst case is that
 * of a search through the unhappened part of the graph. Two points of one lock: it is held during
 * the search, and delays threads that add and free, not those that run.
 *
 * Source: intervals with points, edges and locks: N. Matsakis and Th. Gross, "A Time-Aware Type
 * System for Data-Race Protection and Guaranteed Initialization" (OOPSLA 2010); place hints: Th.
 * Weibel (ETH Zuerich, 2010). Ranks: the one-way search of A. Marchetti-Spaccamela, U. Nanni and
 * H. Rohnert, "Maintaining a Topological Order under Edge Insertions" (IPL 1996), in levels.
 */
#pragma once

#include "iris/base/sync/iris-eventcount-private.h"
#include "iris/task/lock/iris-lock-private.h"
#include "iris/task/interval/iris-interval.h"

#define IRIS_POINT_HAPPENED ((uintptr_t) 1)

typedef struct IrisEdge IrisEdge;
typedef struct IrisPoint IrisPoint;

struct IrisEdge
{
  IrisEdge *next;
  IrisPoint *to;     /* alive while the list is open */
  guint64 to_serial; /* of its interval, for ever */
  IrisIntervalPoint to_which;
  IrisIntervalEdge flags;
  bool is_parental; /* between parent and child */
};

struct IrisPoint
{
  _Atomic uintptr_t edges; /* IrisEdge *, newest first, and IRIS_POINT_HAPPENED */
  _Atomic guint32 waits;
  IrisIntervalPoint which;
  _Atomic (GError *) error; /* the first that came; set before the point is due */
  IrisPoint *next_due;      /* list of the thread that made it due */

  /* Under the graph's lock. */
  gint64 rank;
  guint n_in;     /* edges into it, happened ones included */
  guint64 search; /* the last search that met it */
  IrisPoint *via; /* from where that search came */
};

struct _IrisInterval
{
  IrisItem item;
  IrisPoint points[2];
  IrisIntervalGraph *graph;
  IrisIntervalFunc func;
  gpointer data;
  GDestroyNotify notify;
  char *name;
  guint64 serial;
  gint place;
  IrisItemFlags item_flags;
  guint64 footprint; /* bytes; 0: not declared */
  bool ran;          /* written before its start happens */

  IrisLock **locks; /* in the order in which they are taken */
  guint n_locks;
  guint n_held; /* of the thread that carries the interval on */
  gint home;
  IrisLockNode node;

  gatomicrefcount refs;
  _Atomic guint32 pins;
  _Atomic bool scheduled;
  _Atomic bool cancelled;
  _Atomic guint32 state; /* IrisIntervalState */

  /* Under the graph's lock. */
  guint64 parent_serial; /* 0: none */
  IrisInterval *prev;
  IrisInterval *next;
};

struct _IrisIntervalGraph
{
  GObject parent_instance;

  IrisScheduler *scheduler;
  IrisEventcount *ended; /* a thread may wait for an end */
  _Atomic guint64 n_active;

  _Atomic guint64 last_serial;

  pthread_mutex_t lock;
  IrisInterval *first; /* all that are in memory, newest first */
  guint64 last_search;
};

static inline IrisInterval *
iris_point_get_interval (IrisPoint *self)
{
  char *start = (char *) (self - self->which);

  return (IrisInterval *) (start - G_STRUCT_OFFSET (IrisInterval, points));
}

static inline bool
iris_point_has_happened (IrisPoint *self)
{
  return (atomic_load_explicit (&self->edges, memory_order_acquire) & IRIS_POINT_HAPPENED) != 0;
}

/* The open list of edges; NULL when the point has happened. Under the graph's lock. */
static inline IrisEdge *
iris_point_open_edges (IrisPoint *self)
{
  uintptr_t edges = atomic_load_explicit (&self->edges, memory_order_acquire);

  return (edges & IRIS_POINT_HAPPENED) ? NULL : (IrisEdge *) edges;
}

static inline gboolean
iris_interval_is_new (IrisInterval *self)
{
  return !atomic_load_explicit (&self->scheduled, memory_order_relaxed);
}

static inline void
iris_interval_pin (IrisInterval *self)
{
  atomic_fetch_add_explicit (&self->pins, 1, memory_order_relaxed);
}

/* iris-interval.c */
void iris_interval_unpin (IrisInterval *self);

/* iris-interval-graph.c */
void iris_interval_graph_enter (IrisIntervalGraph *self, IrisInterval *interval);
void iris_interval_graph_leave (IrisIntervalGraph *self, IrisInterval *interval);
gboolean
iris_interval_graph_allow (IrisIntervalGraph *self, IrisPoint *from, IrisPoint *to, GError **error);
