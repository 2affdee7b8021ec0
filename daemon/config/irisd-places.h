/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes the places and the scheduler of the configuration.
 */
#pragma once

#include "daemon/config/irisd-config.h"

G_BEGIN_DECLS

IrisPlaces *irisd_places_new (const IrisdConfig *config, GError **error);
IrisScheduler *irisd_places_new_scheduler (const IrisdConfig *config, IrisPlaces *places);

G_END_DECLS
