/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What one message may cost: the bounds that encoder and decoder both keep.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

#define IRIS_WIRE_DEFAULT_MAX_HEADER  65536u
#define IRIS_WIRE_DEFAULT_MAX_BODY    16777216u
#define IRIS_WIRE_DEFAULT_MAX_BATCH   1024u
#define IRIS_WIRE_DEFAULT_MAX_DEPTH   8u
#define IRIS_WIRE_DEFAULT_MAX_STRING  4096u
#define IRIS_WIRE_DEFAULT_MAX_ARGS    1024u
#define IRIS_WIRE_DEFAULT_MAX_ENTRIES 4096u

/**
 * IRIS_WIRE_LEAST_DEPTH:
 *
 * The protocol's own nesting; a smaller `max_depth` counts as this.
 */
#define IRIS_WIRE_LEAST_DEPTH 4u

/**
 * IRIS_WIRE_MOST_DEPTH:
 *
 * A larger `max_depth` counts as this, so that no configuration can exhaust the stack.
 */
#define IRIS_WIRE_MOST_DEPTH 64u

/**
 * IRIS_WIRE_MOST_BYTES:
 *
 * A larger `max_header`, `max_string` or `max_body` counts as this where something is encoded, so
 * that no configuration can overflow a buffer's count.
 */
#define IRIS_WIRE_MOST_BYTES 1073741824u

/**
 * IrisWireLimits:
 * @max_header: `max-header`: bytes of a header, also of one inside a batch
 * @max_body: `max-body`: bytes of a body, also of one inside a batch
 * @max_batch: `max-batch`: items in a batch
 * @max_depth: `max-depth`: how deep values may nest; the header's map is the first level
 * @max_string: `max-string`: bytes of one string (service, path, an argument, a sentence, ...)
 * @max_args: `max-args`: strings in `args`
 * @max_entries: `max-entries`: places, services or distances in one list of a reply
 *
 * Bounds of one message. A message beyond one of them is refused with %IRIS_WIRE_ERROR_TOO_LARGE,
 * and the sentence names the limit as written between back quotes above.
 */
typedef struct
{
  gsize max_header;
  gsize max_body;
  guint max_batch;
  guint max_depth;
  gsize max_string;
  guint max_args;
  guint max_entries;
} IrisWireLimits;

/**
 * iris_wire_limits_default:
 *
 * The limits of a daemon without configuration. Functions that take limits use these for %NULL.
 *
 * Returns: (transfer none): constant limits
 */
IRIS_AVAILABLE_IN_ALL
const IrisWireLimits *iris_wire_limits_default (void);

G_END_DECLS
