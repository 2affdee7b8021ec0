/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The default scheduler's queue and its end (iris/sched/schedulers/iris-gasyncqueue-scheduler.c), with the active workers
 * of its workers (iris/sched/pool/iris-active-workers.c), for Spin: workers, spares, blocking sections that are
 * begun at any moment of a shutdown, every interleaving.
 *
 * What the code does under one lock is one step here: a section of the queue's lock, of the pool's
 * with the parking lot's inside. No order of memory is modelled, because all words but `closed` are under
 * locks, and `closed` is set before the closing thread takes the queue's lock.
 *
 * Items: item 0 blocks until item 1 was run, and then until item 2 was, each of which it queues
 * first. With -DNEST item 1 blocks in the same way for item 3. With -DRACE a second thread queues
 * item 4 from outside at any moment; what comes too late is refused or left for the sweep.
 *
 * What is claimed: when nothing can happen any more, all workers that were made have ended and what
 * was queued in time was run; and never are more than MAX_SPARES workers made on top.
 *
 * Shapes: -DN_WORKERS, -DMAX_SPARES. -DOUT: at any moment one worker only is wanted; with -DBACK all
 * are again at any later moment.
 *
 * Planted mistakes, each of which Spin must find (tests/model/meson.build says in which shape):
 *   END_ALONE       a worker that finds the queue of a closed pool empty ends, and counts as in
 *   NONE_BLOCKS     the same, but only while no item blocks
 *   FORGOTTEN       closing releases the workers that are out without counting them in
 *   NO_LAST_LOOK    closing does not look whether all workers wait already
 *   NO_END_FOR_OUT  the end forgets the workers that are out
 */
#ifndef N_WORKERS
#define N_WORKERS 1
#endif
#ifndef MAX_SPARES
#define MAX_SPARES 1
#endif
#define N_THREADS (N_WORKERS + MAX_SPARES)
#define N_ITEMS   5

/* What is in the queue: items by their number, and marks. */
#define END   10
#define NUDGE 11

chan queue = [12] of { byte };
byte n_idle;
bool closed, closing, finished;
byte n_in = N_WORKERS, n_wanted = N_WORKERS, n_blocking;
bool made[N_THREADS], out[N_THREADS], token[N_THREADS];
byte n_made = N_WORKERS, n_ended;
bool done[N_ITEMS];

#define QUOTA (n_wanted + (n_blocking < MAX_SPARES -> n_blocking : MAX_SPARES))

/* lot_end_out(): under the parking lot's lock. */
inline end_out () {
  i = 0;
  do
  :: i < N_THREADS ->
     if
     :: out[i] -> out[i] = false; token[i] = true
     :: else
     fi;
     i++
  :: else -> break
  od;
  i = 0
}

/* default_end(): under the queue's lock, with the queue empty. */
inline end (n, n_waiting) {
  finished = true;
#ifndef NO_END_FOR_OUT
  end_out ();
#endif
  i = 0;
  do
  :: i < n_waiting -> queue ! END; i++
  :: else -> break
  od;
  i = 0
}

#define ENDS(n) (closed && closing && !finished && (n) == n_in)

/* active_workers_apply(): under the pool's lock, and the parking lot's. */
inline apply (may_grow) {
  i = 0;
  do
  :: i < N_THREADS && n_in < QUOTA && out[i] -> out[i] = false; token[i] = true; n_in++; i++
  :: i < N_THREADS && !(n_in < QUOTA && out[i]) -> i++
  :: i == N_THREADS -> break
  od;
  do
  :: may_grow && n_in < QUOTA ->
     assert (n_made < N_THREADS);
     made[n_made] = true;
     n_made++;
     n_in++
  :: else -> break
  od;
  i = n_in;
  do
  :: !closing && i > QUOTA -> queue ! NUDGE; i--
  :: else -> break
  od;
  i = 0
}

/* A blocking section of the running item: it queues @k and waits until that was run. */
inline await (k) {
  atomic { n_blocking++; apply (true) }
  atomic { queue ! k }
  done[k];
  atomic { n_blocking--; apply (true) }
}

proctype Worker (byte me) {
  byte i, got;

end_unmade:
  made[me];
next:
  /* iris_worker_leave(). */
  atomic {
    if
    :: !closing && n_in > QUOTA -> token[me] = false; out[me] = true; n_in--
    :: else -> goto pop
    fi
  }
end_away:
  token[me];
  if
  :: finished -> goto ended
  :: else
  fi;

pop:
  /* default_pop_idle(). */
  atomic {
    if
    :: nempty (queue) -> queue ? got; goto found
    :: empty (queue) ->
       if
#if defined(END_ALONE)
       :: closed -> goto ended
       :: !closed -> n_idle++
#elif defined(NONE_BLOCKS)
       :: closed && n_blocking == 0 -> goto ended
       :: !(closed && n_blocking == 0) -> n_idle++
#else
       :: ENDS (n_idle + 1) -> end (n_idle + 1, n_idle); goto ended
       :: !ENDS (n_idle + 1) -> n_idle++
#endif
       fi
    fi
  }
end_idle:
  atomic { nempty (queue) -> n_idle--; queue ? got }

found:
  if
  :: got == END -> goto ended
  :: got == NUDGE -> goto next
  :: got == 0 -> await (1); await (2)
#ifdef NEST
  :: got == 1 -> await (3)
  :: got > 1 && got < N_ITEMS -> skip
#else
  :: got > 0 && got < N_ITEMS -> skip
#endif
  fi;
  assert (!done[got]);
  done[got] = true;
  goto next;

ended:
  n_ended++
}

/* From outside: item 0, and then pool_close(). */
proctype Closer () {
  byte i;

  atomic { queue ! 0 }
  closed = true;
  atomic {
    closing = true;
#ifdef FORGOTTEN
    end_out ()
#endif
  }
#if defined(END_ALONE) || defined(NONE_BLOCKS)
  /* A mark for each, as if all that wait looked again. */
  atomic {
    i = n_idle;
    do
    :: i > 0 -> queue ! NUDGE; i--
    :: else -> break
    od
  }
#elif !defined(NO_LAST_LOOK)
  atomic {
    if
    :: empty (queue) && ENDS (n_idle) -> end (n_idle, n_idle)
    :: else
    fi
  }
#endif
}

proctype Racer () {
  if
  :: closed
  :: !closed -> queue ! 4
  fi
}

proctype Setter () {
  byte i;

  atomic { n_wanted = 1; apply (!closed) }
#ifdef BACK
  atomic { n_wanted = N_WORKERS; apply (!closed) }
#endif
}

/* Runs when nothing else can. */
proctype Claims () {
end_claims:
  timeout;
  assert (n_ended == n_made);
  assert (done[0] && done[1] && done[2])
#ifdef NEST
  assert (done[3])
#endif
}

init {
  byte w;

  atomic {
    do
    :: w < N_WORKERS -> made[w] = true; w++
    :: else -> break
    od;
    w = 0;
    do
    :: w < N_THREADS -> run Worker (w); w++
    :: else -> break
    od;
    run Closer ();
#ifdef RACE
    run Racer ();
#endif
#ifdef OUT
    run Setter ();
#endif
    run Claims ()
  }
}
