/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A trace as JSON: the trace event format, which Perfetto and Chromium read.
 */
#pragma once

#include "iris/sched/trace/iris-trace-events-private.h"

#include <gio/gio.h>

/* What one worker noted, and what it did besides. */
typedef struct
{
  guint index;
  guint place;
  const IrisTraceEvent *events; /* oldest first */
  uint64_t n_events;
  uint64_t n_lost;  /* events before those, which were overwritten */
  uint64_t n_items; /* items that it ran meanwhile, noted or not */
} IrisTraceLine;

typedef struct IrisTraceJson IrisTraceJson;

IrisTraceJson *
iris_trace_json_new (GOutputStream *stream, gint64 from_ns, gint64 to_ns, guint n_places);
gboolean iris_trace_json_add (IrisTraceJson *self,
                              const IrisTraceLine *line,
                              GCancellable *cancellable,
                              GError **error);
gboolean iris_trace_json_end (IrisTraceJson *self, GCancellable *cancellable, GError **error);
void iris_trace_json_free (IrisTraceJson *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisTraceJson, iris_trace_json_free)
