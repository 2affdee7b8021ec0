/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which of the items that irisd keeps are to be listed: the inside.
 */
#pragma once

#include <iris-client/request/iris-client-query.h>

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

struct _IrisClientQuery
{
  guint states; /* bit N for the state N; 0 for all */
  char *service;
  char *queue;
  IrisDurability durability; /* volatile for all */
  char *key_prefix;
  guint64 since_ms;
  guint64 until_ms;
  gboolean descending;
  gboolean with_args;
  guint count;

  guint64 position; /* behind which to go on */
  gboolean ended;   /* there is nothing more */
  gboolean asked;   /* an answer is under way */
};

void iris_client_query_fill (const IrisClientQuery *self, IrisWireMessage *message);

G_END_DECLS
