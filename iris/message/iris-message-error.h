/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can become of a message that is not handled or not answered.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib.h>

G_BEGIN_DECLS

#define IRIS_MESSAGE_ERROR (iris_message_error_quark ())

/**
 * IrisMessageError:
 * @IRIS_MESSAGE_ERROR_UNANSWERED: the message was handled or dropped, and no thread answered
 * @IRIS_MESSAGE_ERROR_TIMED_OUT: no answer came before the deadline
 * @IRIS_MESSAGE_ERROR_FULL: the port holds as many messages as its limit allows
 * @IRIS_MESSAGE_ERROR_PORT_GONE: the port ended while the message waited in it
 * @IRIS_MESSAGE_ERROR_CANCELLED: the request was cancelled
 *
 * Why a message was not accepted or a request not answered.
 */
typedef enum
{
  IRIS_MESSAGE_ERROR_UNANSWERED,
  IRIS_MESSAGE_ERROR_TIMED_OUT,
  IRIS_MESSAGE_ERROR_FULL,
  IRIS_MESSAGE_ERROR_PORT_GONE,
  IRIS_MESSAGE_ERROR_CANCELLED,
} IrisMessageError;

IRIS_AVAILABLE_IN_ALL
GQuark iris_message_error_quark (void);

G_END_DECLS
