/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock of iris/task/lock/iris-lock-core-private.h: threads that sleep and items that are handed the
 * lock, in any mixture.
 *
 * The first N_THREADS waiters are threads, the rest are items; each wants the lock N_TURNS times.
 * What the code does in one swap is one step here, and everything may come in between. Memory is
 * sequentially consistent: all that the protocol hangs on is one word, which is only ever changed by
 * swaps, and `heir`, which is set in front of such a swap. The orders of the code are watched by
 * ThreadSanitizer and by the explorer.
 *
 * It must hold that one at a time is inside, that an heir is overtaken at most OVERTAKES times, and
 * that no waiter waits for ever: a thread that does is an invalid end, and so are the items' own
 * processes, which wait until all items have run.
 *
 * Planted mistakes: BLIND_RELEASE lets go without looking for newcomers; SECRET_SLEEP has the heir
 * sleep without ASLEEP; ONE_WAKE wakes a new heir only where it slept before; NO_RESERVE lets
 * newcomers overtake for ever; OLD_SLEEP has the heir sleep whatever the word is meanwhile.
 */
#ifndef N
#define N 3
#endif
#ifndef N_THREADS
#define N_THREADS 3
#endif
#ifndef N_TURNS
#define N_TURNS 1
#endif
#ifndef OVERTAKES
#define OVERTAKES 1
#endif

/* The word. */
bool held, reserved, asleep;
byte n_new;
byte newcomers[N];
#define WORD (held + 2 * reserved + 4 * asleep + 8 * (n_new > 0 -> newcomers[n_new - 1] + 1 : 0))

/* The holder's. */
chan line = [N] of { byte };
byte overtaken;

bool heir[N];
bool sleeps_on_node[N];
bool sleeps_on_word[N];

byte inside;
bool item_ran[N]; /* it comes again only then */
byte n_items_left = (N - N_THREADS) * N_TURNS;

inline hold ()
{
  inside++;
  assert (inside == 1);
  inside--
}

/* Moves the waiters of the word into the empty line, oldest first. */
inline collect ()
{
  atomic {
    i = 0;
    do
    :: i < n_new -> line ! newcomers[i]; i++
    :: else -> break
    od;
    n_new = 0
  }
}

/* Lets the lock go: free, to an heir, or from item to item. */
inline pass_on ()
{
  do
  :: if
     :: empty (line) ->
#ifdef BLIND_RELEASE
        if
        :: n_new == 0 -> held = false; n_new = 0; break
        :: else -> collect ()
        fi
#else
        if
        :: atomic { n_new == 0 -> held = false }; break
        :: atomic { n_new > 0 }; collect ()
        fi
#endif
     :: nempty (line)
     fi;
     line ? <first>;
     if
     :: first >= N_THREADS ->
        /* From hand to hand. */
        line ? first;
        hold ();
        n_items_left--;
        item_ran[first] = true
     :: first < N_THREADS ->
        is_new = !heir[first];
        if
        :: is_new -> heir[first] = true
        :: else -> overtaken++; assert (overtaken <= OVERTAKES)
        fi;
        atomic {
          was_asleep = asleep;
          held = false;
          asleep = false;
#ifndef NO_RESERVE
          reserved = reserved || (!is_new && overtaken >= OVERTAKES)
#endif
        };
        if
        :: is_new -> sleeps_on_node[first] = false
        :: else
        fi;
#ifdef ONE_WAKE
        was_asleep = was_asleep && !is_new;
#endif
        if
        :: was_asleep -> sleeps_on_word[first] = false
        :: else
        fi;
        break
     fi
  od
}

/* In is_held: the lock, or a place among the newcomers. */
inline enter (me)
{
  if
  :: atomic { !held && !reserved -> held = true; is_held = true }
  :: atomic { held || reserved -> newcomers[n_new] = me; n_new++; is_held = false }
  fi
}

inline wait (me)
{
  do
  :: heir[me] -> break
  :: atomic { !heir[me] -> sleeps_on_node[me] = true }; !sleeps_on_node[me]
  od;
  do
  :: atomic { !held -> held = true; reserved = false; break }
  :: atomic { held -> seen = WORD };
#ifdef SECRET_SLEEP
     skip;
#else
     atomic {
       if
       :: WORD == seen -> asleep = true; seen = WORD
       :: else -> seen = 255
       fi
     };
#endif
     if
     :: seen == 255
     :: else ->
        atomic {
          if
#ifdef OLD_SLEEP
          :: true -> sleeps_on_word[me] = true
#else
          :: WORD == seen -> sleeps_on_word[me] = true
          :: else
#endif
          fi
        };
        !sleeps_on_word[me]
     fi
  od;
  line ? first;
  assert (first == me);
  heir[me] = false;
  overtaken = 0
}

proctype thread (byte me)
{
  byte turn, first, seen, i;
  bool is_held, is_new, was_asleep;

  for (turn : 1 .. N_TURNS) {
    enter (me);
    if
    :: is_held
    :: else -> wait (me)
    fi;
    hold ();
    pass_on ()
  }
}

proctype item (byte me)
{
  byte first, i, turn;
  bool is_held, is_new, was_asleep;

  for (turn : 1 .. N_TURNS) {
    enter (me);
    if
    :: is_held -> hold (); n_items_left--; pass_on ()
    :: else -> atomic { item_ran[me] -> item_ran[me] = false }
    fi
  };
  n_items_left == 0
}

init
{
  byte who;

  atomic {
    for (who : 0 .. N - 1) {
      if
      :: who < N_THREADS -> run thread (who)
      :: else -> run item (who)
      fi
    }
  }
}
