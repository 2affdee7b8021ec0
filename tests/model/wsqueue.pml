/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The race of take and steal of iris/queue/deque/iris-wsqueue-private.h, for Spin: one owner that pushes
 * and takes in any order, two thieves, every interleaving.
 *
 * Memory: the owner's stores to `bottom` and to slots go through its store buffer, in order (TSO).
 * A full fence and a compare-and-swap wait until it is empty. `top` changes by compare-and-swap
 * alone, so it needs no buffer. Items are numbers from 1; arrays that are replaced are the business
 * of the unit test.
 *
 * What is claimed: nothing is taken twice, and in the end everything was taken once.
 *
 * Planted mistakes, each of which Spin must find: -DNO_FENCE no fence in take; -DNO_SWAP the owner
 * takes the last item without a compare-and-swap.
 */
#ifndef N_PUSHES
#define N_PUSHES 3
#endif
#define N_STEALS 2

byte top = 1, bottom = 1; /* in memory; 1, so that bottom - 1 is no negative number */
byte slots[N_PUSHES + 1];
chan buffer = [3] of { byte, byte }; /* where to: a slot, or 0 for bottom; and what */
byte n_taken[N_PUSHES + 1];
byte n_thieves_done;

inline note (item) {
  n_taken[item]++;
  assert (n_taken[item] == 1)
}

/* The owner sees its own stores: `mine` is bottom, `my_slots` are the slots. */
inline push (item) {
  my_slots[mine] = item;
  buffer!mine, item;
  mine++;
  buffer!0, mine
}

inline take () {
  t = top;
  if
  :: t >= mine -> skip
  :: else ->
     mine--;
     buffer!0, mine;
#ifndef NO_FENCE
     empty (buffer);
#endif
     t = top;
     if
     :: t < mine -> note (my_slots[mine])
     :: else ->
        if
        :: t == mine ->
#ifdef NO_SWAP
           top = t + 1;
           note (my_slots[mine])
#else
           atomic {
             empty (buffer);
             if
             :: top == t -> top = t + 1; note (my_slots[mine])
             :: else
             fi
           }
#endif
        :: else
        fi;
        mine++;
        buffer!0, mine
     fi
  fi
}

proctype Owner () {
  byte my_slots[N_PUSHES + 1];
  byte mine = 1, pushed, t;

  do
  :: pushed < N_PUSHES -> pushed++; push (pushed)
  :: take ()
  :: pushed == N_PUSHES -> break
  od;

  /* In the end it takes what the thieves have left. */
  n_thieves_done == 2;
  do
  :: top < mine -> take ()
  :: top >= mine -> break
  od;
  t = 1;
  do
  :: t <= N_PUSHES -> assert (n_taken[t] == 1); t++
  :: t > N_PUSHES -> break
  od
}

proctype Thief () {
  byte t, n, item;

  do
  :: n < N_STEALS ->
     n++;
     t = top;
     if
     :: t < bottom ->
        item = slots[t];
        atomic {
          if
          :: top == t -> top = t + 1; note (item)
          :: else
          fi
        }
     :: else
     fi
  :: n == N_STEALS -> break
  od;
  n_thieves_done++
}

/* Stores reach memory in order, at any time. */
proctype Memory () {
  byte where, what;

end_memory:
  do
  :: atomic {
       buffer?where, what;
       if
       :: where == 0 -> bottom = what
       :: else -> slots[where] = what
       fi;
       where = 0;
       what = 0
     }
  od
}

init {
  atomic {
    run Owner ();
    run Thief ();
    run Thief ();
    run Memory ()
  }
}
