/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The statistics as text for Prometheus.
 */
#pragma once

#include "clients/web/state/web-state.h"

G_BEGIN_DECLS

/* What the exporter of spans counts. */
typedef struct
{
  guint64 sent;
  guint64 dropped; /* refused by the collector, or overwritten at irisd before they were sent */
  guint64 waiting;
  guint64 failures; /* of requests */
} WebExportCounts;

/* What irisd-web counts of itself. */
typedef struct
{
  guint64 pages;
  guint64 connections;
  guint64 requests;
  WebExportCounts exports;
} WebOwnCounts;

/* @sample is NULL if irisd does not answer: irisd_up is 0 then. @open: OpenMetrics 1.0, else the
 * classic format. */
void
web_metrics_write (GString *text, const WebSample *sample, const WebOwnCounts *own, gboolean open);

G_END_DECLS
