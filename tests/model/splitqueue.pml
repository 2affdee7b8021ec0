/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The movement of the split of iris/queue/deque/iris-splitqueue-private.h, for Spin: an owner that
 * pushes, takes, exposes and serves wishes in any order, thieves that take up to two items with
 * one swap, ask for more, and force the private part open, every interleaving.
 *
 * Memory: all stores of the owner are delayed, and weaker than a store buffer with an order. Stores
 * to slots wait in one buffer, stores to bottom in another, and either may reach memory first, but
 * a store to bottom, which is a release, waits for the slots before it. A swap of the split's word
 * takes effect at once; it is a release, so it waits for all of them. A swap of top waits for
 * nothing: on no machine is it weaker. A heavy fence is a moment at which nothing of the owner's is
 * waiting; a light one only keeps the owner's statements in their order. A thief reads top and
 * split in either order, and the slots one by one. The owner knows its own bottom and slots;
 * positions are 0, 1, 2, ... as in C, and slot p mod CAPACITY is p's.
 *
 * What is claimed:
 *  - nothing is given twice, and in the end everything was given once;
 *  - a thief that found nothing and asked is not forgotten: when all is quiet, the wish is still
 *    there, or something was exposed after the split that the thief saw.
 *
 * Planted mistakes, each of which Spin must find:
 *  -DNO_SWAP        a reclaim reads top and stores it, without a compare-and-swap
 *  -DNO_RENUMBERING a reclaim leaves the positions as they are
 *  -DSPLIT_FIRST    a reclaim changes the split before it swaps top
 *  -DNO_RELEASE     the swap of the split's word does not wait for the slots
 *  -DNO_HEAVY_FENCE a thief that forces does not wait for the owner's stores
 *  -DNO_LIGHT_FENCE the owner looks at the split's word before it lowers bottom
 *  -DTAKE_BACK      a thief that finds nothing private takes FORCED back
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

/* In memory. The split's word is split, asked and forced. */
byte top, split, bottom;
bit asked, forced;
byte slots[CAPACITY];

chan plain = [6] of { byte, byte };   /* a slot, and what */
chan bottoms = [6] of { byte, byte }; /* what, and how many stores to slots come before it */
byte n_plain, n_plain_done;

byte n_given[N_ITEMS + 1];
byte n_thieves_done;
byte n_exposed;               /* swaps of the split's word that exposed something */
bit relies[N_THIEVES];        /* it found nothing, asked, and relies on being served */
byte relies_since[N_THIEVES]; /* n_exposed when it read split */

#define all_out (empty (plain) && empty (bottoms))

inline give (item) {
  assert (item != 0);
  n_given[item]++;
  assert (n_given[item] == 1)
}

inline store_bottom (what) {
  bottoms!what, n_plain
}

/* Owner. Goes by the split's word, and makes the @n oldest private items public. */
inline expose (n) {
#ifdef NO_RELEASE
  atomic {
#else
  atomic {
    all_out;
#endif
    mine = split;
    if
    :: mine >= my_bottom
    :: else ->
       if
       :: n <= my_bottom - mine -> mine = mine + n
       :: else -> mine = my_bottom
       fi;
       split = mine;
       asked = 0;
       forced = 0;
       n_exposed++
    fi
  }
}

inline poll () {
  if
  :: atomic { split != mine || asked || forced ->
       mine = split;
       flagged = asked || forced }
     if
     :: flagged -> expose ((my_bottom - mine + 1) / 2)
     :: else
     fi;
     flagged = 0
  :: split == mine && !asked && !forced
  fi
}

inline push (item) {
  t = top;
  if
  :: my_bottom - t < CAPACITY - 1 ->
     atomic {
       my_slots[my_bottom % CAPACITY] = item;
       plain!(my_bottom % CAPACITY), item;
       n_plain++;
       my_bottom++;
       store_bottom (my_bottom);
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
     split = t + LAP + (mine - t) / 2;
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
#ifndef NO_RELEASE
          all_out;
#endif
          my_bottom = mine + LAP;
          mine = t + LAP + (mine - t) / 2;
          split = mine;
          forced = 0;
          swapped = 0;
          t = 0
        }
        store_bottom (my_bottom);
        break
     :: else
     fi
  od
}

inline take () {
  if
  :: my_bottom == mine -> reclaim ()
  :: else
  fi;
  if
  :: my_bottom != mine ->
#ifdef NO_LIGHT_FENCE
     atomic { s = split; a = asked; f = forced };
     my_bottom--;
     store_bottom (my_bottom);
#else
     atomic { my_bottom--; store_bottom (my_bottom) };
     atomic { s = split; a = asked; f = forced };
#endif
     if
     :: s == mine && !f ->
        give (my_slots[my_bottom % CAPACITY]);
        if
        :: a -> expose ((my_bottom - mine + 1) / 2)
        :: else
        fi
     :: else ->
        atomic { my_bottom++; store_bottom (my_bottom) };
        poll ()
     fi;
     atomic { s = 0; a = 0; f = 0 }
  :: else
  fi
}

proctype Owner () {
  byte my_slots[CAPACITY];
  byte my_bottom, mine; /* mine is the split as the owner knows it */
  byte n_pushed, n_done, t, s;
  bit swapped, flagged, a, f;

  do
  :: n_done < N_OPERATIONS ->
     n_done++;
     if
     :: n_pushed < N_ITEMS -> n_pushed++; push (n_pushed)
     :: take ()
     :: my_bottom != mine -> expose (1)
     :: my_bottom - mine > 1 -> expose (my_bottom - mine)
     fi
  :: break
  od;

  /* All is quiet. */
  n_thieves_done == N_THIEVES && all_out;
  t = 0;
  do
  :: t < N_THIEVES -> assert (!relies[t] || asked || n_exposed > relies_since[t]); t++
  :: else -> break
  od;

  /* It takes what is left. */
  t = 0;
  do
  :: my_bottom != mine || top != mine -> take ()
  :: else -> break
  od;
  t = 1;
  do
  :: t <= n_pushed -> assert (n_given[t] == 1); t++
  :: else -> break
  od
}

/* Thief. From t and s, which it has read. */
inline swap_top () {
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
    fi;
    first = 0;
    second = 0
  }
}

inline force () {
  atomic { s = split; asked = 1; forced = 1 };
#ifndef NO_HEAVY_FENCE
  all_out;
#endif
  t = bottom;
  atomic {
    if
    :: t > s && split == s && forced ->
       split = s + (t - s + 1) / 2;
       asked = 0;
       forced = 0;
       n_exposed++
#ifdef TAKE_BACK
    :: t <= s && split == s -> forced = 0
#endif
    :: else
    fi;
    t = 0;
    s = 0
  }
}

proctype Thief (byte id) {
  byte t, s, n, seen, first, second;

  do
  :: n < N_STEALS ->
     n++;
     relies[id] = 0;
     if
     :: t = top; atomic { s = split; seen = n_exposed }
     :: atomic { s = split; seen = n_exposed }; t = top
     fi;
     if
     :: s < t
     :: s == t ->
        atomic {
          asked = 1; /* if it is not */
          relies[id] = 1;
          relies_since[id] = seen
        }
     :: s == t -> force ()
     :: s > t -> swap_top ()
     fi;
     atomic { t = 0; s = 0; seen = 0 }
  :: n == N_STEALS -> break
  od;
  n_thieves_done++
}

/* Stores reach memory at any time. */
proctype Memory () {
  byte where, what, before;

end_memory:
  do
  :: atomic {
       plain?where, what;
       slots[where] = what;
       n_plain_done++;
       where = 0;
       what = 0
     }
  :: atomic {
       bottoms?<what, before> ->
       if
       :: before <= n_plain_done -> bottoms?what, before; bottom = what
       :: else
       fi;
       what = 0;
       before = 0
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
