/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What one message may cost.
 */
#include "iris-wire-limits.h"

static const IrisWireLimits default_limits = {
  .max_header = IRIS_WIRE_DEFAULT_MAX_HEADER,
  .max_body = IRIS_WIRE_DEFAULT_MAX_BODY,
  .max_batch = IRIS_WIRE_DEFAULT_MAX_BATCH,
  .max_depth = IRIS_WIRE_DEFAULT_MAX_DEPTH,
  .max_string = IRIS_WIRE_DEFAULT_MAX_STRING,
  .max_args = IRIS_WIRE_DEFAULT_MAX_ARGS,
  .max_entries = IRIS_WIRE_DEFAULT_MAX_ENTRIES,
};

const IrisWireLimits *
iris_wire_limits_default (void)
{
  return &default_limits;
}
