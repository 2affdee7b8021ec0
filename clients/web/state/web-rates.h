/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What happened between two samples: rates, load, quantiles of histograms.
 */
#pragma once

#include "clients/web/state/web-state.h"

G_BEGIN_DECLS

/* Why a look for work was not made, in the order of the wire. */
#define WEB_N_REFUSALS 4
extern const char *const web_refusal_names[WEB_N_REFUSALS];

/* Seconds from @before to @now; 0 if one is NULL: all rates are 0 then. */
double web_rates_interval (const WebSample *before, const WebSample *now);
/* 0 if there is no interval, or the counter was set back. */
double web_rates_of (guint64 before, guint64 now, double interval_s);
/* How full the time of a place's workers was, 0 to 1. @before is NULL without an interval. */
double web_rates_load (const IrisWirePlaceStatistics *before,
                       const IrisWirePlaceStatistics *now,
                       double interval_s);
/* The bound in seconds that the part @q of what came between stays below; not a number if nothing
 * came. */
double web_rates_quantile (const guint64 *before,
                           guint n_before,
                           const guint64 *now,
                           guint n_now,
                           double q);
/* The same over all places: of their queue delays. */
double web_rates_queue_quantile (const WebSample *before, const WebSample *now, double q);

/* Items that have ended with an error, and all that have ended. */
void
web_rates_count_ended (const IrisWireDaemonStatistics *daemon, guint64 *ended, guint64 *failed);
guint64 web_rates_count_stolen (const WebSample *sample);

G_END_DECLS
