/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a request is made of.
 */
#pragma once

#include <iris-client/request/iris-request.h>

G_BEGIN_DECLS

#define IRIS_REQUEST_ID_SIZE 16

/* What a function of the program is called with. */
typedef struct
{
  gpointer data;
  GDestroyNotify destroy;
} IrisRequestData;

struct _IrisRequest
{
  char *service;
  char *content_type;
  char *path;
  char **args;
  GBytes *payload;
  char *place_name;
  char *node; /* NULL: none */
  gboolean any_node;
  char *id;
  int place;
  gboolean strict;
  guint64 near_item; /* 0: none */
  char *near_path;
  char *traceparent;
  char *tracestate;
  guint64 footprint; /* bytes; 0: not declared */
  gboolean keep_apart;

  /* Of a persistent item. */
  IrisDurability durability;
  char *key;
  guint64 keep_ms;
  gboolean keep_set;
  gboolean detached;
  gboolean bury;

  /* Of a command. */
  char *directory;
  char **environment;
  char **limits;
  gboolean clear_environment;
  int nice;
  guint64 time_limit_ms;
  guint64 grace_ms;
  gboolean has_grace;
  char **hook; /* of any item */
  guint64 keep_output;
  gboolean has_keep_output;
  gboolean keep_tail;
  IrisRequestOutputFunc output;
  IrisRequestData output_data;
  gboolean sealed;

  IrisRequestProgressFunc progress;
  IrisRequestData progress_data;
  IrisRequestPartFunc part;
  IrisRequestData part_data;

  guint64 delay_ms;
  gboolean has_delay;
  gint64 at_ms;   /* -1: none */
  int priority;   /* -1: none */
  char *queue;    /* NULL: none */
  guint64 *after; /* numbers of items */
  guint n_after;
  char **after_away; /* or NULL */
  IrisRequestAfter after_how;
  guint retries;
  gboolean has_retries;
  guint64 backoff_ms;
  gboolean has_backoff;
  guint64 time_to_run_ms;
  guint64 deadline_ms; /* 0: none */
  gboolean wait_for_service;
  guint64 item;
  IrisRequestAcceptedFunc accepted;
  IrisRequestData accepted_data;
};

gboolean iris_request_is_for_others (const IrisRequest *self);
void iris_request_tell_accepted (IrisRequest *self, guint64 item);
void iris_request_seal (IrisRequest *self, const guint8 id[IRIS_REQUEST_ID_SIZE]);

G_END_DECLS
