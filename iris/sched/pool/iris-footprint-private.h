/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Footprints: how much memory an item declares to touch, and what of that is under way at a place.
 *
 * An item is one cache line and full, so what belongs to the footprint lies in the upper bits of
 * its flags:
 *
 *    31        30       29 .. 24   23 .. 8           7 .. 0
 *    proxy     counted  size       where counted     IrisItemFlags
 *
 * The size is the binary logarithm, rounded up, plus one; 0 is none. An item with a size is counted
 * while it is at a place: from the queueing on as waiting, and from the moment a worker takes it
 * until that worker looks for its next item as running. The place at which it is counted stands in
 * the item, because the hint is the caller's and stays.
 *
 * The counts are atomics that any thread adds to; what is added is subtracted from the same place,
 * so they end at zero. They are advice: a thief that reads them at a bad moment steals, or refuses,
 * one item too early. No order is needed, and only items with a footprint cost anything: one test
 * of the flags, on a line that the queue has touched, tells the others.
 *
 * The end of an item is seen in the next take of the worker that ran it. To be there without a test
 * in each take, the worker that takes such an item uses up the picks until the next fair one, and
 * takes that come to a fair pick go the long way. If the item itself takes others meanwhile
 * (waiting for its children, for instance), its end is counted too early; that, too, is advice.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <glib.h>

#define IRIS_FOOTPRINT_COUNTED     ((guint32) 1 << 30)
#define IRIS_FOOTPRINT_SIZE_SHIFT  24
#define IRIS_FOOTPRINT_SIZE        ((guint32) 0x3f << IRIS_FOOTPRINT_SIZE_SHIFT)
#define IRIS_FOOTPRINT_PLACE_SHIFT 8
#define IRIS_FOOTPRINT_PLACE       ((guint32) 0xffff << IRIS_FOOTPRINT_PLACE_SHIFT)

/* What a place has under way of items with a footprint. */
typedef struct
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t waiting; /* bytes */
  _Atomic uint64_t running;                           /* bytes */
  _Atomic uint64_t apart_waiting;                     /* items to be kept apart */
  _Atomic uint64_t apart_running;
  _Atomic uint64_t kept_apart; /* items dealt here for that */
} IrisFootprint;

/* The size for an item's flags. */
static inline guint32
iris_footprint_pack (guint64 bytes)
{
  guint32 log = bytes > 1 ? 64 - (guint32) __builtin_clzll (bytes - 1) : 0;

  return bytes == 0 ? 0 : (MIN (log, 62) + 1) << IRIS_FOOTPRINT_SIZE_SHIFT;
}

static inline guint64
iris_footprint_bytes (guint32 flags)
{
  guint32 size = (flags & IRIS_FOOTPRINT_SIZE) >> IRIS_FOOTPRINT_SIZE_SHIFT;

  return size == 0 ? 0 : (guint64) 1 << (size - 1);
}

static inline guint
iris_footprint_place (guint32 flags)
{
  return (flags & IRIS_FOOTPRINT_PLACE) >> IRIS_FOOTPRINT_PLACE_SHIFT;
}
