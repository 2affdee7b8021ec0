/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parking lot of iris/base/iris-parking-parking lot-private.h and the loop of iris/sched/pool/iris-worker-pool.c around
 * it, for Spin: two or three workers, two publishers, every interleaving.
 *
 * Names are those of the code. What the code does in one atomic instruction, or under the lock with
 * nothing outside looking, is one step here; lot_add() is two, because its two words are. To take the
 * lock is one step with what comes next, to leave it one with what came before, and so is a token: the
 * rest cannot tell it from a thread that is slower.
 *
 * Memory: a store goes to the storer's buffer and to memory at any later time (TSO; Memory). The
 * light fence does nothing. The heavy fence empties everybody's buffer, as membarrier() does; with
 * -DFULL_FENCE the kernel refused that, and each side empties its own. A read-modify-write and a
 * full fence empty the buffer of who does it.
 *
 * Sources: `shared` is all that any worker may take, `strict[p]` the strict inbox of place p. How
 * many items there are is all that matters of them.
 *
 * Items: with -DBLOCKING the first item that is run ends only when all others were run, as one may
 * that waits for another; so an item that waits while a worker sleeps is a mistake even if the other
 * worker would come to it in the end. With -DSPAWN an item from a publisher queues another one.
 *
 * What is claimed: when nothing can happen any more, no item is left in any source (no wake-up was
 * lost), and after closing all workers have ended and everything was run.
 *
 * Shapes: -DN_WORKERS=2 or 3; -DPLACES=1 all at one place, 2 the last worker at a place of its own.
 * -DSTRICT0, -DSTRICT1: whether the items of a publisher are strict (at place 0, and at the last
 * place). -DCLOSE: closes at any moment after the publishers are done. -DRACE: closes at any moment;
 * what a publisher was too late with may be left for the sweep.
 *
 * -DOUT: at any moment a setter lowers the quota of place 0 to one worker; with -DBACK it raises it again
 * at any later moment. A worker that is out is not woken for items, and ends with the others.
 *
 * -DSTAND_IN (with OUT and BLOCKING): the last worker is out at first, and the item that blocks says
 * so: the quota of place 0 is one more meanwhile.
 *
 * Planted mistakes, each of which Spin must find (tests/model/meson.build says in which shape):
 *   NO_RECHECK           no look at the sources behind prepare
 *   NO_FENCE             no fence there
 *   NO_LIGHT_FENCE       none before a publisher reads the word (with FULL_FENCE)
 *   NO_CHAIN             no look behind end_search
 *   NO_FULL_FENCE        none before a publisher relies on a searcher
 *   NO_PLACE_IN_CHAIN    no look there while others search, be it at other places (three workers)
 *   NO_CONFIRM           all asleep by the words is taken for the end, whether or not all looked
 *   NOBODY_IN            the quota is lowered to 0
 *   OUT_SEARCHING        a searcher goes out without another look
 *   NO_END_FOR_OUT       a worker that is out is forgotten at the end
 *   END_OUT_AT_CLOSE     a worker that is out ends when the parking lot is closed
 */
#ifndef PLACES
#define PLACES 1
#endif
#ifndef STRICT0
#define STRICT0 0
#endif
#ifndef STRICT1
#define STRICT1 0
#endif
#ifndef N_WORKERS
#define N_WORKERS 2
#endif
#define N_PUBLISHERS 2
#define N_THREADS    (N_WORKERS + N_PUBLISHERS)

/* The place of a worker, and of a publisher's items. */
#define PLACE_OF(w)   ((w) * PLACES / N_WORKERS)
#define PLACE_FROM(p) ((p) * (PLACES - 1))
#define IS_STRICT(p)  ((p) == 0 -> STRICT0 : STRICT1)

typedef Buffer {
  byte shared;
  byte strict[PLACES]
}

/* Memory. */
byte shared;
byte strict[PLACES];
Buffer buffers[N_THREADS];

/* IrisParkingLot: the words, and what the lock protects. */
byte searching, sleeping;
byte place_searching[PLACES], place_sleeping[PLACES];
bool lock_held;
bool linked[N_WORKERS], confirmed[N_WORKERS], token[N_WORKERS], is_searching[N_WORKERS];
byte n_confirmed;
bool closing, finished;
bool out[N_WORKERS];
byte n_in, place_in[PLACES], quota[PLACES];

/* What the claims need. */
byte n_queued, n_run, n_published, n_ended;
bool first_is_taken;

#define ALL_STRICT_EMPTY (strict[0] == 0 && strict[PLACES - 1] == 0)

inline flush (t) {
  d_step {
    shared = shared + buffers[t].shared;
    buffers[t].shared = 0;
    strict[0] = strict[0] + buffers[t].strict[0];
    buffers[t].strict[0] = 0;
    if
    :: PLACES > 1 ->
       strict[PLACES - 1] = strict[PLACES - 1] + buffers[t].strict[PLACES - 1];
       buffers[t].strict[PLACES - 1] = 0
    :: else
    fi
  }
}

inline light_fence (t) {
#if defined(FULL_FENCE) && !defined(NO_LIGHT_FENCE)
  flush (t)
#else
  skip
#endif
}

inline heavy_fence (t) {
#ifdef FULL_FENCE
  flush (t)
#else
  d_step {
    hf = 0;
    do
    :: hf < N_THREADS -> 
       shared = shared + buffers[hf].shared;
       buffers[hf].shared = 0;
       strict[0] = strict[0] + buffers[hf].strict[0];
       buffers[hf].strict[0] = 0;
       if
       :: PLACES > 1 ->
          strict[PLACES - 1] = strict[PLACES - 1] + buffers[hf].strict[PLACES - 1];
          buffers[hf].strict[PLACES - 1] = 0
       :: else
       fi;
       hf++
    :: else -> break
    od;
    hf = 0
  }
#endif
}

/* The lock's instructions are read-modify-writes. */
inline lock (t) {
  atomic { !lock_held -> lock_held = true; flush (t) }
}

inline unlock () {
  lock_held = false
}

/* A worker's look at every source at which it may take, its own buffer included. */
#define SEES_STRICT(t, p) (strict[p] + buffers[t].strict[p] > 0)
#define SEES_SHARED(t)    (shared + buffers[t].shared > 0)
#define SEES_WORK(t, p)   (SEES_STRICT (t, p) || SEES_SHARED (t))

/* lot_unlink() and lot_release(): under the lock. The words change one after the other, but who
 * reads both (iris_parking_lot_end_search()) changes them in the same order. */
inline release_place (w) {
  d_step {
    linked[w] = false;
    if
    :: confirmed[w] -> n_confirmed--; confirmed[w] = false
    :: else
    fi;
    place_searching[PLACE_OF (w)]++;
    place_sleeping[PLACE_OF (w)]--
  }
}

inline release_lot (w) {
  d_step { searching++; sleeping--; is_searching[w] = true }
}

#define TOO_MANY(w) (!closing && place_in[PLACE_OF (w)] > quota[PLACE_OF (w)])

/* lot_put_out(), and what lot_put_sleeper_out() does before: under the lock. */
inline put_out (w) {
  d_step { out[w] = true; place_in[PLACE_OF (w)]--; n_in-- }
}

inline put_sleeper_out (w) {
  d_step {
    linked[w] = false;
    if
    :: confirmed[w] -> n_confirmed--; confirmed[w] = false
    :: else
    fi;
    place_sleeping[PLACE_OF (w)]--
  }
  sleeping--;
  put_out (w)
}

/* lot_bring_back(): under the lock. */
inline bring_back (w) {
  d_step { out[w] = false; place_in[PLACE_OF (w)]++; n_in++; place_searching[PLACE_OF (w)]++ }
  d_step { searching++; is_searching[w] = true };
  token[w] = true
}

/* lot_end_out(): under the lock. */
inline end_out () {
#ifndef NO_END_FOR_OUT
  d_step {
    cw = 0;
    do
    :: cw < N_WORKERS ->
       if
       :: out[cw] -> out[cw] = false; token[cw] = true
       :: else
       fi;
       cw++
    :: else -> break
    od;
    cw = 0
  }
#else
  skip
#endif
}

/* iris_parking_lot_wake(). */
inline wake (t, p, only_there) {
  atomic {
    lock (t);
    d_step {
      chosen = N_WORKERS;
      if
      :: (only_there -> place_searching[p] : searching) == 0 ->
         cw = 0;
         do
         :: cw < N_WORKERS ->
            if
            :: linked[cw] && PLACE_OF (cw) == p -> chosen = cw
            :: linked[cw] && PLACE_OF (cw) != p && !only_there && chosen == N_WORKERS -> chosen = cw
            :: else
            fi;
            cw++
         :: else -> break
         od;
         cw = 0
      :: else
      fi;
      if
      :: chosen == N_WORKERS -> lock_held = false
      :: else
      fi
    }
  }
  if
  :: chosen < N_WORKERS ->
     release_place (chosen);
     atomic { release_lot (chosen); token[chosen] = true; chosen = 0; unlock () }
  :: else -> chosen = 0
  fi
}

/* Puts an item into a source, and iris_parking_lot_publish(). The store goes to the buffer. The second look
 * at the word is that of iris_parking_lot_wake(). */
inline publish (t, p, only_there) {
  d_step {
    if
    :: only_there -> buffers[t].strict[p]++
    :: else -> buffers[t].shared++
    fi;
    n_queued++
  }
  light_fence (t);
  seen = (only_there -> place_sleeping[p] : sleeping) != 0;
  atomic {
    if
    :: seen ->
#ifndef NO_FULL_FENCE
       flush (t);
#endif
       seen = (only_there -> (place_sleeping[p] != 0 && place_searching[p] == 0)
                           : (sleeping != 0 && searching == 0))
    :: else
    fi
  }
  if
  :: seen -> seen = false; wake (t, p, only_there)
  :: else
  fi
}

/* lot_wake_all(): under the lock. */
inline wake_all () {
  cw = 0;
  do
  :: cw < N_WORKERS && linked[cw] ->
     release_place (cw);
     release_lot (cw);
     token[cw] = true;
     cw++
  :: cw < N_WORKERS && !linked[cw] -> cw++
  :: cw == N_WORKERS -> break
  od;
  cw = 0
}

/* A source is emptied by a compare-and-swap, or by its owner, who sees its own buffer. */
inline take (t, p) {
  atomic {
    got = false;
    if
    :: SEES_WORK (t, p) ->
       flush (t);
       got = true;
       if
       :: strict[p] > 0 -> strict[p]--
       :: shared > 0 -> shared--
       fi
    :: else
    fi
  }
}

/* iris_worker_begin_blocking() and iris_worker_end_blocking(), of which iris_parking_lot_set_quota() is left. */
inline begin_blocking (me) {
#ifdef STAND_IN
  lock (me);
  quota[0]++;
  do
  :: cw < N_WORKERS ->
     if
     :: out[cw] && place_in[0] < quota[0] -> bring_back (cw)
     :: else
     fi;
     cw++
  :: else -> break
  od;
  cw = 0;
  unlock ()
#else
  skip
#endif
}

inline end_blocking (me) {
#ifdef STAND_IN
  lock (me);
  quota[0]--;
  do
  :: cw < N_WORKERS ->
     if
     :: linked[cw] && confirmed[cw] && TOO_MANY (cw) -> put_sleeper_out (cw)
     :: else
     fi;
     cw++
  :: else -> break
  od;
  cw = 0;
  unlock ()
#else
  skip
#endif
}

proctype Worker (byte me) {
  byte hf, cw, chosen;
  bool got, seen, look, look_strict, look_shared;

#ifdef STAND_IN
  if
  :: out[me] -> goto end_away
  :: else
  fi;
#endif
next:
#ifdef OUT
  /* iris_worker_leave() and iris_parking_lot_leave(). */
  if
#ifdef OUT_SEARCHING
  :: TOO_MANY (me) ->
#else
  :: TOO_MANY (me) && !is_searching[me] ->
#endif
     lock (me);
     if
     :: TOO_MANY (me) ->
#ifdef OUT_SEARCHING
        if
        :: is_searching[me] ->
           place_searching[PLACE_OF (me)]--;
           d_step { searching--; is_searching[me] = false }
        :: else
        fi;
#endif
        token[me] = false;
        put_out (me);
        unlock ();
end_away:
        atomic {
          token[me];
          if
          :: finished -> goto ended
          :: else
          fi
        }
     :: else -> unlock ()
     fi
  :: else
  fi;
#endif
  atomic {
    take (me, PLACE_OF (me));
    if
    :: got -> goto found
    :: else
    fi
  }

search:
  /* iris_parking_lot_begin_search(). */
  if
  :: is_searching[me] -> skip
  :: !is_searching[me] ->
     if
     :: 2 * searching >= N_WORKERS -> skip
     :: else ->
        d_step { flush (me); place_searching[PLACE_OF (me)]++ }
        d_step { searching++; is_searching[me] = true }
     fi
  fi;
  atomic {
    take (me, PLACE_OF (me));
    if
    :: got -> goto found
    :: else
    fi
  }

  /* iris_parking_lot_prepare(). */
  atomic {
    lock (me);
    d_step {
      token[me] = false;
      linked[me] = true;
      place_sleeping[PLACE_OF (me)]++;
      if
      :: is_searching[me] -> place_searching[PLACE_OF (me)]--
      :: else
      fi
    }
  }
  d_step {
    sleeping++;
    if
    :: is_searching[me] -> searching--
    :: else
    fi;
    is_searching[me] = false;
    unlock ()
  }
#ifndef NO_FENCE
  heavy_fence (me);
#endif

#ifndef NO_RECHECK
  /* Three sources are looked at one after the other. */
  look = SEES_STRICT (me, PLACE_OF (me));
  if
  :: !look -> look = SEES_SHARED (me)
  :: else
  fi;
  if
  :: look ->
     look = false;
     /* iris_parking_lot_cancel(). */
     atomic {
       lock (me);
       if
       :: linked[me] -> release_place (me)
       :: else -> unlock (); goto search
       fi
     }
     atomic { release_lot (me); unlock () }
     goto search
  :: else
  fi;
#endif

  /* iris_parking_lot_sleep(). */
  atomic {
    lock (me);
    if
    :: linked[me] -> confirmed[me] = true; n_confirmed++
    :: else
    fi;
#ifdef OUT
  }
  if
  :: linked[me] && TOO_MANY (me) -> put_sleeper_out (me)
  :: else
  fi;
  atomic {
#endif
    if
#ifdef NO_CONFIRM
    :: closing && sleeping == N_WORKERS ->
#else
    :: closing && n_confirmed == n_in ->
#endif
       finished = true
    :: else -> unlock (); goto end_asleep
    fi
  }
  end_out ();
  wake_all ();
  unlock ();
end_asleep:
  atomic {
    token[me];
    if
    :: finished -> goto ended
    :: else -> goto next
    fi
  }

found:
  /* worker_end_search(): iris_parking_lot_end_search(), and what it asks for. */
  if
  :: is_searching[me] ->
     d_step {
       is_searching[me] = false;
       got = false;
       flush (me);
       place_searching[PLACE_OF (me)]--;
       seen = place_searching[PLACE_OF (me)] > 0
     }
     d_step {
       searching--;
#ifdef NO_PLACE_IN_CHAIN
       look = sleeping > 0 && searching == 0;
#else
       look = sleeping > 0 && !(searching > 0 && seen);
#endif
       seen = false
     }
#ifdef NO_CHAIN
     look = false;
#endif
     if
     :: look ->
        look = false;
        /* The full fence is in the read-modify-writes above. */
        look_strict = SEES_STRICT (me, PLACE_OF (me));
        look_shared = SEES_SHARED (me);
        if
        :: look_strict -> look_strict = false; wake (me, PLACE_OF (me), true)
        :: else
        fi;
        if
        :: look_shared -> look_shared = false; wake (me, PLACE_OF (me), false)
        :: else
        fi
     :: else
     fi
  :: else -> got = false
  fi;

  /* worker_run(). */
#if defined(BLOCKING) || defined(SPAWN)
  atomic {
    if
    :: first_is_taken -> n_run++; goto next
    :: else -> first_is_taken = true
    fi
  }
#endif
#ifdef BLOCKING
  begin_blocking (me);
  n_published == N_PUBLISHERS && n_run == n_queued - 1;
  end_blocking (me);
#endif
#ifdef SPAWN
  /* The first item queues another one, at the other end of the row of places. */
  publish (me, (PLACES - 1) - PLACE_OF (me), SPAWN);
#endif
  n_run++;
  goto next;

ended:
  n_ended++
}

proctype Publisher (byte p) {
  byte hf, cw, chosen;
  bool seen;

  publish (N_WORKERS + p, PLACE_FROM (p), IS_STRICT (p));
  n_published++
}

#define HOLDS(t) \
  (buffers[t].shared + buffers[t].strict[0] + buffers[t].strict[PLACES - 1] > 0)

/* Stores reach memory at any time. */
proctype Memory () {
end_memory:
  do
  :: atomic { HOLDS (0) -> flush (0) }
  :: atomic { HOLDS (1) -> flush (1) }
  :: atomic { HOLDS (2) -> flush (2) }
  :: atomic { HOLDS (3) -> flush (3) }
#if N_THREADS > 4
  :: atomic { HOLDS (4) -> flush (4) }
#endif
  od
}

/* iris_parking_lot_close(). */
proctype Closer () {
  byte cw;

#ifndef RACE
  n_published == N_PUBLISHERS;
#endif
  atomic { !lock_held -> lock_held = true }
  closing = true;
#ifdef END_OUT_AT_CLOSE
  /* As lot_end_out() would: they see the parking lot finished. */
  d_step {
    cw = 0;
    do
    :: cw < N_WORKERS ->
       if
       :: out[cw] -> out[cw] = false; n_ended++
       :: else
       fi;
       cw++
    :: else -> break
    od;
    cw = 0
  }
#endif
  wake_all ();
  unlock ()
}

/* iris_parking_lot_set_quota(), once or twice. */
proctype Setter () {
  byte cw;

  atomic { !lock_held -> lock_held = true }
#ifdef NOBODY_IN
  quota[0] = 0;
#else
  quota[0] = 1;
#endif
  do
  :: cw < N_WORKERS ->
     if
     :: linked[cw] && confirmed[cw] && TOO_MANY (cw) -> put_sleeper_out (cw)
     :: else
     fi;
     cw++
  :: else -> break
  od;
  lock_held = false;

#ifdef BACK
  atomic { !lock_held -> lock_held = true }
  d_step { quota[0] = N_WORKERS; cw = 0 }
  do
  :: cw < N_WORKERS ->
     if
     :: out[cw] && PLACE_OF (cw) == 0 -> bring_back (cw)
     :: else
     fi;
     cw++
  :: else -> break
  od;
  lock_held = false
#endif
}

/* Runs when nothing else can. */
proctype Claims () {
end_claims:
  timeout;
#if defined(CLOSE) || defined(RACE)
  assert (n_ended == N_WORKERS);
#endif
#ifndef RACE
  assert (shared == 0 && ALL_STRICT_EMPTY);
  assert (n_run == n_queued);
#endif
#ifndef BLOCKING
  assert (n_run <= n_queued)
#endif
}

init {
  byte w;

  d_step {
    do
    :: w < N_WORKERS -> place_in[PLACE_OF (w)]++; quota[PLACE_OF (w)]++; n_in++; w++
    :: else -> break
    od;
#ifdef STAND_IN
    out[N_WORKERS - 1] = true;
    place_in[0]--;
    quota[0]--;
    n_in--
#endif
  }
  atomic {
    run Worker (0);
    run Worker (1);
#if N_WORKERS > 2
    run Worker (2);
#endif
    run Publisher (0);
    run Publisher (1);
    run Memory ();
#if defined(CLOSE) || defined(RACE)
    run Closer ();
#endif
#if defined(OUT) && !defined(STAND_IN)
    run Setter ();
#endif
    run Claims ()
  }
}
