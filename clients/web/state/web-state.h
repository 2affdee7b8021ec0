/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisd-web knows of irisd: its statistics, asked for again and again.
 */
#pragma once

#include "clients/web/base/web-limits.h"

#include <iris-client/iris-client.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* Statistics, and when they came. */
typedef struct
{
  IrisWireStatistics *statistics;
  GVariant
      *nodes;   /* of the cluster, as iris_client_get_nodes_finish() has them; NULL without one */
  gint64 at_us; /* of the monotonic clock */
  gint64 at_ms; /* since 1970 */
} WebSample;

WebSample *web_sample_ref (WebSample *self);
void web_sample_unref (WebSample *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebSample, web_sample_unref)

/* The map of irisd as a whole; NULL if it was not told. */
const IrisWireDaemonStatistics *web_sample_get_daemon (const WebSample *self);

typedef struct _WebState WebState;

/* @sample is NULL if irisd did not answer: @error says why. */
typedef void (*WebStateAnswer) (WebSample *sample, const GError *error, gpointer user_data);

/* @where is an endpoint or a directory, NULL for the usual one. */
WebState *web_state_new (const char *where, const WebLimits *limits);
void web_state_free (WebState *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebState, web_state_free)

IrisClient *web_state_get_client (WebState *self);
/* A client that fetches results and leaves them at irisd; the caller's. */
IrisClient *web_state_new_reader (WebState *self);
/* Asks irisd now. Calls that come while another is under way share its answer. */
void web_state_ask (WebState *self, WebStateAnswer answer, gpointer user_data);

/* Is told of each step, after the state has changed. */
typedef void (*WebStateStepped) (WebState *self, gpointer user_data);
void web_state_add_listener (WebState *self, WebStateStepped stepped, gpointer user_data);
void web_state_remove_listener (WebState *self, gpointer user_data);
/* Steps each second while pages watch, and each 5 seconds for the history. */
void web_state_set_watched (WebState *self, gboolean watched);

/* The latest step and the one before it, NULL if irisd did not answer then. */
WebSample *web_state_get_now (WebState *self);
WebSample *web_state_get_before (WebState *self);
/* Why there is no latest one, or NULL. */
const char *web_state_get_why (WebState *self);
guint64 web_state_get_seq (WebState *self);

/* Why irisd is not ready, a text each; empty if it is. @why is for a sample of NULL. */
GPtrArray *web_state_list_reasons (const WebSample *sample, const char *why);
/* A sentence if irisd is configured for a cluster and not in it; else NULL. */
char *web_state_describe_cluster (const WebSample *sample);

G_END_DECLS
