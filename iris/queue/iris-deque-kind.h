/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kinds of deque, by name. Needs nothing, so that the cores can use it without GLib.
 */
#pragma once

/**
 * IrisDequeKind:
 * @IRIS_DEQUE_CHASE_LEV: a full fence for each take of the owner; one item for each steal. The
 *   work-stealing queue of Chase and Lev (2005) with the orders of Lê and others (2013).
 * @IRIS_DEQUE_SPLIT: neither fence nor compare-and-swap for the owner while it uses the part that
 *   it has not exposed; several items for each steal; a thief asks for more, and in the end forces
 *   it. After Lace (van Dijk and van de Pol, 2014).
 * @IRIS_DEQUE_ABP: bounded, one item for each steal. Arora, Blumofe and Plaxton (1998).
 * @IRIS_DEQUE_STEAL_HALF: a full fence for each take of the owner; half of all there is for each
 *   steal. After Hendler and Shavit (2002).
 * @IRIS_DEQUE_LOCKED: a lock around everything.
 * @IRIS_DEQUE_IDEMPOTENT: bounded, neither fence nor compare-and-swap for the owner, and an item
 *   may be given out more than once. Michael, Vechev and Saraswat (2009).
 *
 * How a deque works inside. All kinds keep the same contract but for what is said here.
 */
typedef enum
{
  IRIS_DEQUE_CHASE_LEV,
  IRIS_DEQUE_SPLIT,
  IRIS_DEQUE_ABP,
  IRIS_DEQUE_STEAL_HALF,
  IRIS_DEQUE_LOCKED,
  IRIS_DEQUE_IDEMPOTENT,
} IrisDequeKind;
