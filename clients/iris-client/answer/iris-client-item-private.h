/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A work item that irisd keeps: how it is made of what irisd told.
 */
#pragma once

#include <iris-client/answer/iris-client-item.h>

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

IrisClientItem *iris_client_item_new_from_wire (const IrisWirePersistentItem *item);

G_END_DECLS
