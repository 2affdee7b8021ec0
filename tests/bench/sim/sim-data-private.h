/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The data that items work on, by region: which caches hold it, and what touching it costs.
 */
#pragma once

#include "tests/bench/sim/sim.h"

void sim_data_init (const SimMachine *machine, const SimLoadSpec *spec);
void sim_data_clear (void);
void sim_data_touch (guint region, gboolean writes);
