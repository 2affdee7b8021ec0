/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What came of a work item.
 */
#pragma once

#include <iris-client/base/iris-client-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_RESULT (iris_result_get_type ())

/**
 * IrisResult:
 * @content_type: (nullable): what the body is
 * @body: what the service gave back; for a command its standard output, then its standard error
 * @output: the part of @body that is standard output; the whole body where nothing was split
 * @errors: the part of @body that is standard error; empty where nothing was split
 * @home: the place that the item was queued at
 * @place: the place that it ran at
 * @stolen: whether those two differ
 * @worker: the worker that ran it
 * @exit_status: the exit status of a command, or -1
 * @signal: the signal that ended a command, or 0
 * @truncated: whether the command wrote more than irisd keeps
 * @queue_ns: nanoseconds that it waited at its places
 * @run_ns: nanoseconds that it ran
 * @bytes: bytes that it worked on
 * @item: the number that irisd gave it, or 0 if it gave none
 * @attempts: how often it was run; 1 unless it was tried again
 * @node: (nullable): the other node of irisd's cluster where it ran, which has @place and @worker;
 * or %NULL
 *
 * What came of a work item. Its fields are to be read only.
 */
typedef struct
{
  char *content_type;
  GBytes *body;
  GBytes *output;
  GBytes *errors;
  int home;
  int place;
  gboolean stolen;
  int worker;
  int exit_status;
  int signal;
  gboolean truncated;
  guint64 queue_ns;
  guint64 run_ns;
  guint64 bytes;
  guint64 item;
  guint attempts;
  char *node;
} IrisResult;

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_result_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisResult *iris_result_ref (IrisResult *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_result_unref (IrisResult *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
char *iris_result_dup_text (IrisResult *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisResult, iris_result_unref)

G_END_DECLS
