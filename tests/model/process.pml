/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pumps of iris/task/iris-process.c, for Spin: a source and its sink with room for one item,
 * a process that enqueues and closes, one that may cancel, and two workers that run the pumps.
 *
 * Each atomic block is a critical section under the lock of one process, so the memory is in order.
 *
 * What is claimed: at most one pump of each runs, the sink never has more than it has room for, and
 * both come to their end: if a kick were lost, the workers would wait for ever.
 *
 * Planted mistakes, each of which Spin must find: -DNO_LOOK the source does not look again once it
 * has left its mark; -DMARK_FIRST it leaves the mark while a kick would not be heard yet;
 * -DNO_CANCEL_LOOK it does not ask again whether it was cancelled when it stops.
 */
#ifndef N_ITEMS
#define N_ITEMS 3
#endif
#define ROOM 1

byte src_q, sink_q;
bool src_closed, sink_closed;
bool src_pumping, sink_pumping;
bool src_item, sink_item; /* the pump is queued */
bool src_over, sink_over;
bool source_waits;
bool cancelled; /* the source */
bool sink_cancelled;
byte n_src, n_sink; /* pumps that run */

inline kick_source () {
  atomic {
    if
    :: !src_over && !src_pumping && (src_q > 0 || src_closed || cancelled) ->
       src_pumping = true;
       src_item = true
    :: else -> skip
    fi
  }
}

inline kick_sink () {
  atomic {
    if
    :: !sink_over && !sink_pumping && (sink_q > 0 || sink_closed || sink_cancelled) ->
       sink_pumping = true;
       sink_item = true
    :: else -> skip
    fi
  }
}

inline mark () {
  atomic {
    no_room = sink_q >= ROOM && !sink_over;
    source_waits = no_room
  }
}

/* Sets `stop` if there is no room. */
inline look_for_room () {
  atomic { no_room = sink_q >= ROOM && !sink_over };
  stop = no_room;
  if
  :: no_room ->
#ifdef MARK_FIRST
     mark ();
#endif
     atomic {
       src_pumping = false;
       n_src--
     };
#ifndef MARK_FIRST
#ifdef NO_LOOK
     atomic { source_waits = true };
     no_room = true;
#else
     mark ();
#endif
#endif
     if
#ifdef NO_CANCEL_LOOK
     :: !no_room -> kick_source ()
#else
     :: !no_room || cancelled -> kick_source ()
#endif
     :: else -> skip
     fi
  :: else -> skip
  fi
}

inline end_source () {
  atomic {
    src_over = true;
    n_src--;
    src_q = 0
  };
  if
  :: cancelled -> sink_cancelled = true
  :: else -> sink_closed = true
  fi;
  kick_sink ()
}

inline pump_source () {
  atomic {
    n_src++;
    assert (n_src == 1)
  };
  stop = false;
  do
  :: stop -> break
  :: !stop && cancelled -> end_source (); stop = true
  :: !stop && !cancelled ->
     look_for_room ();
     if
     :: stop -> skip
     :: else ->
        atomic {
          got = src_q > 0;
          src_q = (got -> src_q - 1 : 0)
        };
        if
        :: got ->
           atomic {
             sink_q = (sink_over -> 0 : sink_q + 1);
             assert (sink_q <= ROOM)
           };
           kick_sink ()
        :: else ->
           atomic {
             over = src_closed && src_q == 0;
             again = !over && src_q > 0;
             src_pumping = over || again;
             if
             :: !over -> n_src--
             :: else -> skip
             fi
           };
           if
           :: over -> end_source ()
           :: again -> src_item = true
           :: else ->
#ifndef NO_CANCEL_LOOK
              if
              :: cancelled -> kick_source ()
              :: else -> skip
              fi
#else
              skip
#endif
           fi;
           stop = true
        fi
     fi
  od
}

inline pump_sink () {
  atomic {
    n_sink++;
    assert (n_sink == 1)
  };
  stop = false;
  do
  :: stop -> break
  :: else ->
     atomic {
       got = sink_q > 0 && !sink_cancelled;
       sink_q = (got -> sink_q - 1 : sink_q);
       no_room = source_waits && sink_q <= ROOM / 2;
       source_waits = (no_room -> false : source_waits)
     };
     if
     :: no_room -> kick_source ()
     :: else -> skip
     fi;
     if
     :: got -> skip
     :: else ->
        atomic {
          over = sink_cancelled || (sink_closed && sink_q == 0);
          again = !over && sink_q > 0;
          sink_pumping = over || again;
          sink_over = over;
          n_sink--
        };
        if
        :: !over && again -> sink_item = true
        :: !over && !again && sink_cancelled -> kick_sink ()
        :: else -> skip
        fi;
        stop = true
     fi
  od
}

proctype worker () {
  bool no_room, stop, got, over, again;

  do
  :: atomic { src_item -> src_item = false }; pump_source ()
  :: atomic { sink_item -> sink_item = false }; pump_sink ()
  :: src_over && sink_over -> break
  od
}

proctype outside () {
  byte i;

  for (i : 1 .. N_ITEMS) {
    atomic {
      if
      :: !src_over -> src_q++
      :: else -> skip
      fi
    };
    kick_source ()
  }
#ifndef CANCEL_ONLY
  atomic { src_closed = true };
  kick_source ()
#endif
}

proctype canceller () {
  atomic { cancelled = true };
  kick_source ()
}

init {
  atomic {
    run worker ();
    run worker ();
    run outside ();
#ifdef CANCEL
    run canceller ()
#endif
  }
}
