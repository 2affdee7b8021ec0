/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The movement of the split of iris/queue/iris-splitqueue-private.h, for Spin: an owner that
 * pushes, takes, exposes and serves wishes in any order, thieves that take up to two items with
 * one swap and ask for more, every interleaving.
 *
 * Memory: all stores of the owner are delayed, and weaker than a store buffer with an order. Stores
 * to slots and to `want` wait in one buffer, stores to `split` in another, and either may reach
 * memory first, but a store to split that is a release waits for the others before it. The
 * compare-and-swap on `top` takes effect at once and waits for nothing: on no machine is it weaker.
 * A thief reads top and split in either order, and the slots one by one. The owner knows its own
 * bottom, split and slots; positions are 0, 1, 2, ... as in C, and slot p mod CAPACITY is p's.
 *
 * What is claimed:
 *  - nothing is given twice, and in the end everything was given once;
 *  - a thief that found nothing and asked is not forgotten: when all is quiet, the wish is still
 *    there, or something was exposed after the split that the thief saw.
 *
 * Planted mistakes, each of which Spin must find:
 *  -DNO_SWAP        a reclaim reads top and stores it, without a compare-and-swap
 *  -DNO_RENUMBERING a reclaim leaves the positions as they are
 *  -DSPLIT_FIRST    a reclaim stores the new split before it swaps top
 *  -DNO_RELEASE     the store to split does not wait for the slots
 *  -DCLEAR_LATE     want is cleared after split is stored
 */
#ifndef N_ITEMS
#define N_ITEMS 3
#endif
#ifndef N_OPERATIONS
#define N_OPERATIONS 6
#endif
#ifndef N_THIEVES
#define N_THIEVES 2
#endif
#ifndef N_STEALS
#define N_STEALS 2
#endif
#define CAPACITY 4

#ifdef NO_RENUMBERING
#define LAP 0
#else
#define LAP CAPACITY
#endif

/* In memory. */
byte top, split;
bit want;
byte slots[CAPACITY];

chan plain = [6] of { byte, byte };  /* a slot, or CAPACITY for want; and what */
chan splits = [4] of { byte, byte, bit }; /* what; how many plain stores come before; whether it
                                            exposes */
byte n_plain, n_plain_done;

byte n_given[N_ITEMS + 1];
byte n_thieves_done;
byte n_exposed_done;          /* stores to split that exposed something, in memory */
bit asked[N_THIEVES];         /* it found nothing and relies on being served */
byte asked_after[N_THIEVES];  /* n_exposed_done when it read split */

inline give (item) {
  assert (item != 0);
  n_given[item]++;
  assert (n_given[item] == 1)
}

inline store_plain (where, what) {
  atomic {
    plain!where, what;
    n_plain++
  }
}

inline store_split (what, exposes) {
#ifdef NO_RELEASE
  splits!what, 0, exposes
#else
  splits!what, n_plain, exposes
#endif
}

/* Owner, with something private. */
inline expose (n) {
  mine = mine + n;
#ifdef CLEAR_LATE
  store_split (mine, 1);
  if
  :: want -> store_plain (CAPACITY, 0)
  :: else
  fi
#else
  if
  :: want -> store_plain (CAPACITY, 0)
  :: else
  fi;
  store_split (mine, 1)
#endif
}

inline poll () {
  if
  :: want && bottom != mine -> expose ((bottom - mine + 1) / 2)
  :: else
  fi
}

inline push (item) {
  t = top;
  if
  :: bottom - t < CAPACITY - 1 ->
     atomic {
       my_slots[bottom % CAPACITY] = item;
       store_plain (bottom % CAPACITY, item);
       bottom++;
       t = 0
     };
     poll ()
  :: else -> n_pushed--; t = 0
  fi
}

/* Takes back half of what is public, with nothing private; t is top. */
inline reclaim () {
  t = top;
  do
  :: t == mine -> t = 0; break
  :: else ->
#ifdef SPLIT_FIRST
     store_split (t + LAP + (mine - t) / 2, 0);
#endif
#ifdef NO_SWAP
     swapped = 1;
     top = t + LAP;
#else
     atomic {
       swapped = (top == t);
       if
       :: swapped -> top = t + LAP
       :: else -> t = top
       fi
     }
#endif
     if
     :: swapped ->
        atomic {
          bottom = mine + LAP;
          mine = t + LAP + (mine - t) / 2;
#ifndef SPLIT_FIRST
          store_split (mine, 0);
#endif
          swapped = 0;
          t = 0
        }
        break
     :: else
     fi
  od
}

inline take () {
  if
  :: bottom == mine -> reclaim ()
  :: else
  fi;
  if
  :: bottom != mine ->
     atomic {
       bottom--;
       give (my_slots[bottom % CAPACITY])
     };
     poll ()
  :: else
  fi
}

proctype Owner () {
  byte my_slots[CAPACITY];
  byte bottom, mine; /* mine is what split says */
  byte n_pushed, n_done, t;
  bit swapped;

  do
  :: n_done < N_OPERATIONS ->
     n_done++;
     if
     :: n_pushed < N_ITEMS -> n_pushed++; push (n_pushed)
     :: take ()
     :: bottom != mine -> expose (1)
     :: bottom - mine > 1 -> expose (bottom - mine)
     fi
  :: break
  od;

  /* All is quiet. */
  n_thieves_done == N_THIEVES && empty (plain) && empty (splits);
  t = 0;
  do
  :: t < N_THIEVES -> assert (!asked[t] || want || n_exposed_done > asked_after[t]); t++
  :: else -> break
  od;

  /* It takes what is left. */
  t = 0;
  do
  :: bottom != mine || top != mine -> take ()
  :: else -> break
  od;
  t = 1;
  do
  :: t <= n_pushed -> assert (n_given[t] == 1); t++
  :: else -> break
  od
}

proctype Thief (byte id) {
  byte t, s, n, seen, first, second;

  do
  :: n < N_STEALS ->
     n++;
     asked[id] = 0;
     if
     :: t = top; atomic { s = split; seen = n_exposed_done }
     :: atomic { s = split; seen = n_exposed_done }; t = top
     fi;
     if
     :: s < t
     :: s == t ->
        atomic {
          want = 1; /* if it is not */
          asked[id] = 1;
          asked_after[id] = seen
        }
     :: s > t ->
        first = slots[t % CAPACITY];
        if
        :: s - t > 2 -> second = slots[(t + 1) % CAPACITY]
        :: else
        fi;
        atomic {
          if
          :: top == t && s - t > 2 -> top = t + 2; give (first); give (second)
          :: top == t && s - t <= 2 -> top = t + 1; give (first)
          :: else
          fi
        }
     fi;
     atomic { t = 0; s = 0; seen = 0; first = 0; second = 0 }
  :: n == N_STEALS -> break
  od;
  n_thieves_done++
}

/* Stores reach memory at any time. */
proctype Memory () {
  byte where, what, before;
  bit exposes;

end_memory:
  do
  :: atomic {
       plain?where, what;
       if
       :: where == CAPACITY -> want = what
       :: else -> slots[where] = what
       fi;
       n_plain_done++;
       where = 0;
       what = 0
     }
  :: atomic {
       splits?<what, before, exposes> ->
       if
       :: before <= n_plain_done ->
          splits?what, before, exposes;
          split = what;
          n_exposed_done = n_exposed_done + exposes
       :: else
       fi;
       what = 0;
       before = 0;
       exposes = 0
     }
  od
}

init {
  byte i;

  atomic {
    run Owner ();
    do
    :: i < N_THIEVES -> run Thief (i); i++
    :: else -> break
    od;
    run Memory ()
  }
}
