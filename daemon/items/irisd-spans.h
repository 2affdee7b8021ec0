/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spans: items that have ended and that belong to a distributed trace.
 */
#pragma once

#include "daemon/items/irisd-item-counters.h"

G_BEGIN_DECLS

/* How many are kept. */
#define IRISD_MOST_SPANS 4096

IrisdSpans *irisd_spans_new (void);
void irisd_spans_free (IrisdSpans *self);
void irisd_spans_add (IrisdSpans *self, IrisdJob *job, IrisdOutcome outcome);
IrisWireSpans *irisd_spans_get (IrisdSpans *self, guint64 from, guint most, guint64 *next);

G_END_DECLS
