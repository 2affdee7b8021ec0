/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An OTLP/HTTP collector: one request after the other.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  WEB_COLLECTOR_TAKEN,
  WEB_COLLECTOR_LATER,   /* the same request may succeed */
  WEB_COLLECTOR_REFUSED, /* it never will */
} WebCollectorOutcome;

typedef struct
{
  WebCollectorOutcome outcome;
  guint64 rejected;    /* spans of a request that was taken */
  guint retry_after_s; /* 0 if the collector did not say */
  char *message;       /* nullable */
} WebCollectorAnswer;

typedef void (*WebCollectorDone) (const WebCollectorAnswer *answer, gpointer user_data);

typedef struct _WebCollector WebCollector;

/* @headers and @ca are files, or NULL. */
WebCollector *web_collector_new (const char *url,
                                 const char *headers,
                                 const char *ca,
                                 guint answer_ms,
                                 GError **error);
/* @done of a request that is under way is not called any more. */
void web_collector_free (WebCollector *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebCollector, web_collector_free)

const char *web_collector_get_url (WebCollector *self);
/* Not while another request is under way. */
void
web_collector_send (WebCollector *self, GBytes *body, WebCollectorDone done, gpointer user_data);

G_END_DECLS
