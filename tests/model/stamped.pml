/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The stamped LIFO of iris/base/memory/iris-lifo-private.h, of which stack and free list are made, for
 * Spin: threads that pop and push nodes back, every interleaving of their single accesses.
 *
 * Memory: sequentially consistent. The ABA problem is one of interleaving, not of order; that the
 * orders suffice is for the drivers genmc-*.c to check. The word `top` is an index and a stamp that
 * are read and swapped together; pop moves the stamp, push does not. The stamp starts near the end
 * of its range, so it wraps in each run (-DSTAMPS: how many values it has).
 *
 * What is claimed: a popped node had no owner, a node on the LIFO has none, and in the end every
 * node is on the LIFO once or owned.
 *
 * Planted mistakes, each of which Spin must find: -DNO_STAMP pop does not move the stamp; a stamp
 * that wraps while a thread is between reading and swapping: of one bit (-DSTAMPS=2), or, with more
 * threads, of the two low bits of an aligned pointer (-DSTAMPS=4 -DTHREE).
 */
#ifndef N_NODES
#define N_NODES 3
#endif
#ifndef STAMPS
#define STAMPS 16
#endif

byte top_index = 1;
byte top_stamp = (STAMPS - 2 + STAMPS) % STAMPS;
byte below[N_NODES + 1];
bool owned[N_NODES + 1];
byte n_done;

/* One attempt after the other until a swap succeeds or nothing is there. */
inline pop (got) {
  do
  :: atomic { seen_index = top_index; seen_stamp = top_stamp };
     if
     :: seen_index == 0 -> got = 0; break
     :: else
     fi;
     next = below[seen_index];
     atomic {
       if
       :: top_index == seen_index && top_stamp == seen_stamp ->
          top_index = next;
#ifndef NO_STAMP
          top_stamp = (top_stamp + 1) % STAMPS;
#endif
          got = seen_index;
          assert (!owned[got]);
          owned[got] = true;
          break
       :: else
       fi
     }
  od
}

inline push (node) {
  do
  :: atomic { seen_index = top_index; seen_stamp = top_stamp };
     below[node] = seen_index;
     atomic {
       if
       :: top_index == seen_index && top_stamp == seen_stamp ->
          assert (owned[node]);
          owned[node] = false;
          top_index = node;
          break
       :: else
       fi
     }
  od
}

inline done () {
  seen_index = 0;
  seen_stamp = 0;
  next = 0;
  n_done++
}

/* Takes one, twice, and holds what it took. */
proctype taker () {
  byte seen_index, seen_stamp, next, one, two;

  pop (one);
  pop (two);
  done ()
}

/* Takes two and gives the first back: what it gives back is where it was, what was below is not. */
proctype shuffler () {
  byte seen_index, seen_stamp, next, one, two;

  pop (one);
  pop (two);
  if
  :: one != 0 -> push (one)
  :: else
  fi;
#ifdef MORE
  pop (one);
  if
  :: two != 0 -> push (two)
  :: else
  fi;
#endif
  done ()
}

init {
  byte node, n_found;

  atomic {
    for (node : 1 .. N_NODES) {
      below[node] = (node < N_NODES -> node + 1 : 0)
    }
    run taker ();
    run shuffler ();
#ifdef THREE
    run shuffler ();
#endif
  }
#ifdef THREE
  n_done == 3;
#else
  n_done == 2;
#endif
  atomic {
    node = top_index;
    do
    :: node != 0 && n_found <= N_NODES ->
       assert (!owned[node]);
       n_found++;
       node = below[node]
    :: else -> break
    od;
    for (node : 1 .. N_NODES) {
      if
      :: owned[node] -> n_found++
      :: else
      fi
    };
    assert (n_found == N_NODES)
  }
}
