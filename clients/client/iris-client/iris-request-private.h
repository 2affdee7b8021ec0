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
  IrisDurability durability;
  char *key;
  guint64 keep_ms;
  gboolean keep_set;
  gboolean detached;
  gboolean sealed;
};

void iris_request_seal (IrisRequest *self, const guint8 id[IRIS_REQUEST_ID_SIZE]);

G_END_DECLS
