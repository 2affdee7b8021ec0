/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an attempt to steal comes to; all deques say it in the same words.
 */
#pragma once

typedef enum
{
  IRIS_STEAL_EMPTY,
  IRIS_STEAL_LOST, /* another thread moved the deque at the same moment: another try may succeed */
  IRIS_STEAL_PRIVATE, /* nothing may be stolen now, and the owner has been asked for more */
  IRIS_STEAL_TAKEN,
} IrisStealResult;
