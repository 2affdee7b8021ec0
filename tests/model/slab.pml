/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A page of a slab (iris/base/memory/iris-slab-private.h), for Spin: its owner, two threads that free
 * what the owner gave them, and the page pool, from which another slab may have the page meanwhile.
 *
 * Names are those of the code. Objects are alike, so how many of them are where is all that matters:
 * in the owner's free list, in its hands, in other threads' hands, in the page's local list, and in
 * the page's word. Each object is a part: every push that finds the page not held sorts it in. What
 * the code does in one atomic instruction is one step, and so is what it does under the slab's lock,
 * whose word the pushers change meanwhile: the look at the word, and what comes of it, are two.
 *
 * What is claimed: a page is given away only when no thread has an object of it and the owner does not
 * use it; a thread that comes late to sort it in touches only a page of this slab; and when nothing
 * can happen any more, a page with free objects is current, on a shelf, or given away.
 *
 * Planted mistakes, each of which Spin must find:
 *   NO_LOOK     a thread that comes late does not look whose page it is
 *   NO_HOLD     the owner takes a page from the shelf without holding it
 *   FORGETS     the owner does not look what was pushed while it let go
 *   GIVES_HELD  a page that is held is given away too
 *   LEAVES_HELD a thread that ends leaves its page held
 */
#ifndef CAPACITY
#define CAPACITY 2
#endif
#ifndef N_STEPS
#define N_STEPS 7
#endif

#define NONE  0
#define MINE  1
#define OTHER 2

byte count = 0;   /* the word: how many were pushed, */
bool held = true; /* and whether the page is held */

byte slab = MINE; /* under the lock, as are the next two */
byte n_local_known = 0;
bool shelf = false;
bool lock = false;

byte n_local = 0; /* the owner's, as are the next three */
byte n_free = CAPACITY;
byte n_mine = 0;
bool current = true;

byte n_out = 0; /* with the other threads */
byte n_late = 0; /* threads that pushed and have still to sort in */
bool owner_done = false;

inline take_lock () { atomic { !lock; lock = true } }
inline leave_lock () { lock = false }

/* Under the lock. */
inline sort_in (seen, seen_held)
{
  atomic { seen = count; seen_held = held }
#ifdef GIVES_HELD
  seen_held = false;
#endif
  if
  :: seen_held -> skip
  :: !seen_held && seen + n_local_known == CAPACITY ->
     atomic {
       assert (slab == MINE);
       assert (!current && n_free == 0 && n_mine == 0 && n_out == 0);
       assert (n_local == n_local_known);
       shelf = false;
       slab = NONE
     }
  :: else ->
     atomic { assert (slab == MINE); shelf = (seen + n_local_known > 0) }
  fi
}

inline put_on_shelf (seen, seen_held)
{
  take_lock ();
  if
#ifdef NO_LOOK
  :: true -> sort_in (seen, seen_held)
#else
  :: slab == MINE -> sort_in (seen, seen_held)
  :: else -> skip
#endif
  fi;
  leave_lock ()
}

inline let_go (seen, seen_held)
{
  current = false;
  atomic { held = false; seen = count }
#ifndef FORGETS
  if
  :: seen > 0 -> put_on_shelf (seen, seen_held)
  :: else -> skip
  fi
#endif
}

/* The owner's thread ends, or the next one has adopted its slab and ends: what it has of the page is
 * others' to know. */
inline leave_current (seen, seen_held)
{
  take_lock ();
  atomic { n_local = n_free; n_free = 0; n_local_known = n_local; current = false };
#ifdef LEAVES_HELD
  skip;
#else
  held = false;
#endif
  sort_in (seen, seen_held);
  leave_lock ()
}

/* From the shelf, or, when it was given away and came back, from the pool. */
inline change_page ()
{
  take_lock ();
  if
  :: slab == MINE && shelf ->
     shelf = false;
#ifndef NO_HOLD
     held = true;
#endif
     n_local_known = 0;
     current = true;
     n_free = n_local;
     n_local = 0
  :: slab == NONE ->
     atomic {
       slab = MINE; held = true; count = 0;
       n_local = 0; n_local_known = 0;
       n_free = CAPACITY; current = true
     }
  :: else -> skip
  fi;
  leave_lock ()
}

active proctype owner ()
{
  byte seen, steps = 0;
  bool seen_held;

  do
  :: steps == N_STEPS -> break
  :: steps < N_STEPS && current && n_free > 0 ->
     steps++;
     if
     :: atomic { n_free--; n_mine++ }
     :: atomic { n_free--; n_out++ }
     fi
  :: steps < N_STEPS && n_mine > 0 ->
     steps++;
     if
     :: current -> atomic { n_mine--; n_free++ }
     :: else ->
        atomic { n_mine--; n_local++ };
        take_lock ();
        n_local_known = n_local;
        sort_in (seen, seen_held);
        leave_lock ()
     fi
  :: steps < N_STEPS && current && n_free == 0 ->
     steps++;
     if
     :: count > 0 -> atomic { n_free = count; count = 0 }
     :: count == 0 -> let_go (seen, seen_held)
     fi
  :: steps < N_STEPS && current ->
     steps++;
     leave_current (seen, seen_held)
  :: steps < N_STEPS && !current ->
     steps++;
     change_page ()
  od;
  owner_done = true
}

active [2] proctype freer ()
{
  byte seen;
  bool seen_held;

  do
  :: atomic { n_out > 0 -> n_out--; count++; seen_held = held; n_late++ };
     if
     :: seen_held -> skip
     :: else -> put_on_shelf (seen, seen_held)
     fi;
     n_late--
  :: owner_done && n_out == 0 -> break
  od
}

/* Takes the page from the pool and gives it back, empty, to that. */
active proctype other ()
{
  do
  :: atomic { slab == NONE && !lock -> slab = OTHER; held = true; count = 0;
              n_local = 0; n_local_known = 0 };
     atomic { assert (!current && !shelf); held = false; slab = NONE }
  :: owner_done -> break
  od
}

active proctype judge ()
{
  (owner_done && n_out == 0 && n_late == 0);
  assert (slab != MINE || current || shelf || count + n_local == 0)
}
