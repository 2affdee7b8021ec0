/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The message: a number that says what it is, and a value that goes with it.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_MESSAGE (iris_message_get_type ())

typedef struct _IrisMessage IrisMessage;

/**
 * IrisMessage:
 * @what: what the message is about; the meaning is the program's
 *
 * A message. It is made with a floating reference, which posting it takes; after that it must not
 * be changed.
 */
struct _IrisMessage
{
  gint what;
};

IRIS_AVAILABLE_IN_ALL
GType iris_message_get_type (void);
IRIS_AVAILABLE_IN_ALL
IrisMessage *iris_message_new (gint what);
IRIS_AVAILABLE_IN_ALL
IrisMessage *iris_message_new_sunk (gint what);
IRIS_AVAILABLE_IN_ALL
IrisMessage *iris_message_new_data (gint what, GType type, ...);
IRIS_AVAILABLE_IN_ALL
IrisMessage *iris_message_ref (IrisMessage *self);
IRIS_AVAILABLE_IN_ALL
IrisMessage *iris_message_ref_sink (IrisMessage *self);
IRIS_AVAILABLE_IN_ALL
void iris_message_unref (IrisMessage *self);
IRIS_AVAILABLE_IN_ALL
IrisMessage *iris_message_copy (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL
IrisMessage *iris_message_copy_sunk (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL
const GValue *iris_message_get_data (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_data (IrisMessage *self, const GValue *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisMessage, iris_message_unref)

G_END_DECLS
