/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What IRIS_DEBUG asks for; doc/tracing.md says what each key prints.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

typedef enum
{
  IRIS_DEBUG_PLACES = 1 << 0,
  IRIS_DEBUG_SCHEDULER = 1 << 1,
  IRIS_DEBUG_STEAL = 1 << 2,
  IRIS_DEBUG_PARK = 1 << 3,
  IRIS_DEBUG_STATS = 1 << 4,
  IRIS_DEBUG_EXACT = 1 << 5,
} IrisDebug;

/* Written once, by iris_debug_init(), before the first worker of the process starts. */
extern unsigned iris_debug_keys;

/* Reads IRIS_DEBUG, the first time; later calls only wait for that. Any thread. */
void iris_debug_init (void);

static inline bool
iris_debug_has (unsigned keys)
{
  return iris_unlikely ((iris_debug_keys & keys) != 0);
}

/* A line on standard error, in one piece. */
void iris_debug_print (const char *format, ...) __attribute__ ((format (printf, 1, 2), cold));
