/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Takes spans from irisd, and sends them to an OTLP/HTTP collector.
 */
#pragma once

#include "clients/web/state/web-metrics.h"
#include "clients/web/state/web-state.h"

G_BEGIN_DECLS

typedef struct
{
  const char *url;
  const char *headers; /* a file; nullable */
  const char *ca;      /* a file; nullable */
} WebExporterOptions;

typedef struct _WebExporter WebExporter;

/* @state and @limits live as long as the result. */
WebExporter *web_exporter_new (const WebExporterOptions *options,
                               WebState *state,
                               const WebLimits *limits,
                               GError **error);
void web_exporter_free (WebExporter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebExporter, web_exporter_free)

const char *web_exporter_get_url (WebExporter *self);
/* Valid as long as @self. */
const WebExportCounts *web_exporter_get_counts (WebExporter *self);

G_END_DECLS
