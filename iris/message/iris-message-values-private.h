/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table behind the named values.
 */
#pragma once

#include "iris/message/iris-message-private.h"
#define IRIS_INSIDE
#include "iris/message/iris-message-values.h"
#undef IRIS_INSIDE

/* NULL when there is none of that name. */
const GValue *iris_message_lookup (const IrisMessage *self, const char *name);
/* An unset value of a message that was not posted, in place of the one of that name. */
GValue *iris_message_add_value (IrisMessage *self, const char *name);
