/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The errors of messages.
 */
#include <glib.h>

#define IRIS_INSIDE
#include "iris/message/iris-message-error.h"
#undef IRIS_INSIDE

/**
 * iris_message_error_quark:
 *
 * Gets the domain of the errors of messages, whose codes are those of [error@MessageError].
 *
 * Returns: the domain
 */
/* The formatter would put spaces into the name. */
/* clang-format off */
G_DEFINE_QUARK (iris-message-error-quark, iris_message_error)
/* clang-format on */
