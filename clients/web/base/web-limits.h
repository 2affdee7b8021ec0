/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The limits on what requests and pages may cost, by name.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint request_line_bytes;
  guint header_bytes;
  guint headers;
  guint body_bytes;
  guint connections;
  guint pages;
  guint requests;
  guint request_ms;
  guint slow_reader_ms;
  guint answer_ms;
  guint sessions;
  guint otlp_answer_ms;
  guint otlp_interval_ms;
  guint otlp_pause_ms;
  guint otlp_spans;
} WebLimits;

void web_limits_init (WebLimits *self);
/* @assignment is NAME=NUMBER. */
gboolean web_limits_set (WebLimits *self, const char *assignment, GError **error);
/* One line a limit, for --help. */
char *web_limits_describe (void);

G_END_DECLS
