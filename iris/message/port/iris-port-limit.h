/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many messages a port may hold, and what happens to more.
 */
#pragma once

#include <iris/message/iris-message.h>

G_BEGIN_DECLS

/**
 * IrisPortFull:
 * @IRIS_PORT_FULL_WAIT: the thread that posts waits for room; a worker, which must not wait for
 * others, is refused as with @IRIS_PORT_FULL_FAIL; a message that a timer or a deadline posts waits
 * outside of the limit, without a thread
 * @IRIS_PORT_FULL_FAIL: the new message is refused
 * @IRIS_PORT_FULL_DROP_OLDEST: the message that has waited longest is dropped, the new one accepted
 * @IRIS_PORT_FULL_TELL: the new message is refused, and the function given with
 *   iris_port_set_full_func() is called with it, on the thread that posts
 *
 * What a bounded port does with a message for which it has no room.
 */
typedef enum
{
  IRIS_PORT_FULL_WAIT,
  IRIS_PORT_FULL_FAIL,
  IRIS_PORT_FULL_DROP_OLDEST,
  IRIS_PORT_FULL_TELL,
} IrisPortFull;

/**
 * IrisPortCounts:
 * @posted: messages that were posted, accepted or not
 * @refused: of them, those for which there was no room
 * @dropped: messages that were accepted, and dropped to make room
 * @waited: posts that waited for room
 * @held: messages that the port holds now
 * @most_held: the most that it held at once
 *
 * What a bounded port has seen so far.
 */
typedef struct
{
  guint64 posted;
  guint64 refused;
  guint64 dropped;
  guint64 waited;
  guint64 held;
  guint64 most_held;
} IrisPortCounts;

G_END_DECLS
