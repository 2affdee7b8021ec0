/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the library makes results.
 */
#pragma once

#include <iris-client/answer/iris-result.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

IrisResult *iris_result_new_from_wire (const IrisWireMessage *message);

G_END_DECLS
