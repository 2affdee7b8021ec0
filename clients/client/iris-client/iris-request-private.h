/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a request is made of.
 */
#pragma once

#include <iris-client/iris-request.h>

G_BEGIN_DECLS

#define IRIS_REQUEST_ID_SIZE 16

struct _IrisRequest
{
  char *service;
  char *content_type;
  char *path;
  char **args;
  GBytes *payload;
  char *place_name;
  char *id;
  int place;
  gboolean strict;

  /* Of a kept item. */
  IrisDurability durability;
  char *key;
  guint64 keep_ms;
  gboolean keep_set;
  gboolean detached;

  /* Of a command. */
  char *directory;
  char **environment;
  char **limits;
  gboolean clear_environment;
  int nice;
  guint64 time_limit_ms;
  guint64 grace_ms;
  gboolean has_grace;
  IrisRequestOutputFunc output;
  gpointer output_data;
  GDestroyNotify output_destroy;
  gboolean sealed;
};

void iris_request_seal (IrisRequest *self, const guint8 id[IRIS_REQUEST_ID_SIZE]);

G_END_DECLS
