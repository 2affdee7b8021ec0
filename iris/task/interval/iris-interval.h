/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The interval: a task that says what it must come behind.
 */
#pragma once

#include <iris/task/interval/iris-interval-graph.h>
#include <iris/task/lock/iris-lock.h>

G_BEGIN_DECLS

/**
 * IRIS_INTERVAL_ERROR:
 *
 * The error domain of intervals; its codes are those of [enum@IntervalError].
 */
#define IRIS_INTERVAL_ERROR (iris_interval_error_quark ())
#define IRIS_TYPE_INTERVAL  (iris_interval_get_type ())

typedef struct _IrisInterval IrisInterval;

/**
 * IrisIntervalError:
 * @IRIS_INTERVAL_ERROR_CYCLE: the edge would make points wait for themselves
 * @IRIS_INTERVAL_ERROR_HAPPENED: what the edge leads to has happened, or is about to
 * @IRIS_INTERVAL_ERROR_OTHER_GRAPH: the intervals are not of the same graph
 * @IRIS_INTERVAL_ERROR_HAS_PARENT: the interval has a parent already
 * @IRIS_INTERVAL_ERROR_CANCELLED: the interval was cancelled before it started
 * @IRIS_INTERVAL_ERROR_FAILED: the interval's function failed without saying why
 *
 * Error codes of %IRIS_INTERVAL_ERROR.
 */
typedef enum
{
  IRIS_INTERVAL_ERROR_CYCLE,
  IRIS_INTERVAL_ERROR_HAPPENED,
  IRIS_INTERVAL_ERROR_OTHER_GRAPH,
  IRIS_INTERVAL_ERROR_HAS_PARENT,
  IRIS_INTERVAL_ERROR_CANCELLED,
  IRIS_INTERVAL_ERROR_FAILED,
} IrisIntervalError;

/**
 * IrisIntervalPoint:
 * @IRIS_INTERVAL_START: when the function is about to be called
 * @IRIS_INTERVAL_END: when the function has returned and all children have ended
 *
 * The two points of an interval between which there are edges.
 */
typedef enum
{
  IRIS_INTERVAL_START,
  IRIS_INTERVAL_END,
} IrisIntervalPoint;

/**
 * IrisIntervalState:
 * @IRIS_INTERVAL_NEW: not scheduled
 * @IRIS_INTERVAL_WAITING: scheduled, its start waits for others
 * @IRIS_INTERVAL_READY: queued, or in line for its locks
 * @IRIS_INTERVAL_RUNNING: in its function
 * @IRIS_INTERVAL_RETURNED: its end waits for others
 * @IRIS_INTERVAL_DONE: ended well
 * @IRIS_INTERVAL_FAILED: ran, and ended with an error, its own or one that came by an edge
 * @IRIS_INTERVAL_CANCELLED: ended without having started
 *
 * Where an interval is on its way.
 */
typedef enum
{
  IRIS_INTERVAL_NEW,
  IRIS_INTERVAL_WAITING,
  IRIS_INTERVAL_READY,
  IRIS_INTERVAL_RUNNING,
  IRIS_INTERVAL_RETURNED,
  IRIS_INTERVAL_DONE,
  IRIS_INTERVAL_FAILED,
  IRIS_INTERVAL_CANCELLED,
} IrisIntervalState;

/**
 * IrisIntervalEdge:
 * @IRIS_INTERVAL_EDGE_DEFAULT: order, and errors flow along
 * @IRIS_INTERVAL_EDGE_ORDER_ONLY: an error at the edge's beginning does not concern its end
 *
 * What an edge carries.
 */
typedef enum
{
  IRIS_INTERVAL_EDGE_DEFAULT = 0,
  IRIS_INTERVAL_EDGE_ORDER_ONLY = 1 << 0,
} IrisIntervalEdge;

/**
 * IrisIntervalFunc:
 * @interval: the interval that runs; lives until the function has returned, at least
 * @data: (closure): what was given to iris_interval_new()
 * @error: for an error
 *
 * The work of an interval. It may make more intervals and edges; it must not wait for an interval.
 *
 * Returns: %TRUE, or %FALSE with @error set
 */
typedef gboolean (*IrisIntervalFunc) (IrisInterval *interval, gpointer data, GError **error);

IRIS_AVAILABLE_IN_ALL GQuark iris_interval_error_quark (void);
IRIS_AVAILABLE_IN_ALL GType iris_interval_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisInterval *iris_interval_new (IrisIntervalGraph *graph,
                                                       const char *name,
                                                       IrisIntervalFunc func,
                                                       gpointer data,
                                                       GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisInterval *iris_interval_ref (IrisInterval *self);
IRIS_AVAILABLE_IN_ALL void iris_interval_unref (IrisInterval *self);

IRIS_AVAILABLE_IN_ALL void
iris_interval_set_place (IrisInterval *self, gint place, IrisItemFlags flags);
IRIS_AVAILABLE_IN_ALL void iris_interval_set_footprint (IrisInterval *self, guint64 bytes);
IRIS_AVAILABLE_IN_ALL void iris_interval_add_lock (IrisInterval *self, IrisLock *lock);
IRIS_AVAILABLE_IN_ALL gboolean iris_interval_set_parent (IrisInterval *self,
                                                         IrisInterval *parent,
                                                         GError **error);
IRIS_AVAILABLE_IN_ALL gboolean iris_interval_add_edge (IrisInterval *from,
                                                       IrisIntervalPoint from_point,
                                                       IrisInterval *to,
                                                       IrisIntervalPoint to_point,
                                                       IrisIntervalEdge flags,
                                                       GError **error);
IRIS_AVAILABLE_IN_ALL gboolean iris_interval_add_after (IrisInterval *self,
                                                        IrisInterval *before,
                                                        GError **error);

IRIS_AVAILABLE_IN_ALL void iris_interval_schedule (IrisInterval *self);
IRIS_AVAILABLE_IN_ALL void iris_interval_cancel (IrisInterval *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_interval_is_cancelled (IrisInterval *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_interval_wait (IrisInterval *self, GError **error);
IRIS_AVAILABLE_IN_ALL IrisIntervalState iris_interval_get_state (IrisInterval *self);
IRIS_AVAILABLE_IN_ALL const char *iris_interval_get_name (IrisInterval *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisInterval, iris_interval_unref)

G_END_DECLS
