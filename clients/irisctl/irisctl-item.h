/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What commands print about one item.
 */
#pragma once

#include "irisctl-command.h"

G_BEGIN_DECLS

void irisctl_item_as_json (IrisRequest *request, IrisResult *result, const GError *error);
void irisctl_item_describe (IrisResult *result);
gboolean irisctl_write (int fd, GBytes *bytes);

G_END_DECLS
