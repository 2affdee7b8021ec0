/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can stop irisd from starting, and the status that it then exits with.
 */
#include "daemon/base/irisd-error.h"

/* clang-format off */
G_DEFINE_QUARK (irisd-error-quark, irisd_error)
/* clang-format on */
