/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Initialisation: for programs that want to say when.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL void iris_init (void);

G_END_DECLS
