/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a configuration that is read again changes, and what it cannot change.
 */
#pragma once

#include "daemon/config/irisd-config.h"

G_BEGIN_DECLS

typedef struct
{
  IrisdConfig *config; /* the one to apply: the new one, with what cannot change as it was */
  GPtrArray *changed;  /* of utf8, a sentence about each setting that changes */
  GPtrArray *kept;     /* of utf8, the same about each that stays as it was */
} IrisdConfigDiff;

IrisdConfigDiff *
irisd_config_diff_new (const IrisdConfig *now, const IrisdConfig *fresh, GError **error);
void irisd_config_diff_free (IrisdConfigDiff *self);
gboolean irisd_config_may_change (const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdConfigDiff, irisd_config_diff_free)

G_END_DECLS
