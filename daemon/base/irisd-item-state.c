/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state machine of an item: its states, its events, and which event leads where.
 *
 * irisd_item_word_advance() is the only function that changes a state; irisd_job_advance() and
 * irisd_persistent_item_advance() call it, and do what the transition says. The table of
 * irisd-dispatch.c has, for each state in which an item waits, the function that takes it out.
 *
 * Owners. The item's gateway may change it in any state. In the shared states the worker, or the
 * thread that has the lock of the leases, may change it as well; there the change is a
 * compare-and-swap, and the swap that succeeds decides: after QUEUED to CANCELLED the worker
 * touches neither payload nor result. Acquire and release suffice, because all other data of the
 * two sides travels with the queues and mailboxes that a job goes through.
 *
 * Durability. A persistent item reaches ACCEPTED, COMPLETED and BURIED by WRITTEN alone, and only
 * the journal's answer raises that, which for a durable item comes after the sync. Each transition
 * says which items it is for, so the table has no other way.
 *
 * An illegal event ends irisd, in all builds, because two parts of irisd then take themselves for
 * the owner of an item. Ignoring the event would leave an item that never ends and a client that
 * waits for ever; obeying it would free or run an item twice. What the journal has goes on after
 * the restart, as after any crash.
 */
#include "daemon/base/irisd-item-state.h"

#include <iris/wire/iris-wire.h>

/* clang-format off */
/* Cells of the table: the next state, and more about the transition. */
#define TO(state, ...) { .rule = IRISD_RULE_MOVE, .next = IRISD_ITEM_##state, __VA_ARGS__ }
#define LATE { .rule = IRISD_RULE_LATE }
#define PERSISTENT_ONLY     .items = IRISD_FOR_PERSISTENT
#define VOLATILE_ONLY .items = IRISD_FOR_VOLATILE
#define DURABLE       .items = IRISD_FOR_PERSISTENT, .durable = TRUE
#define CANCELLED     .action = IRISD_ACTION_NAME_CANCELLED
#define STARTED       .action = IRISD_ACTION_NOTE_START

/* What a worker may find when it takes a job that its gateway has given up. */
#define WORKER_IS_LATE \
  [IRISD_EVENT_START] = LATE, [IRISD_EVENT_HOLD] = LATE, [IRISD_EVENT_DROP] = LATE

#define TOO_LATE_TO_CANCEL [IRISD_EVENT_CANCEL] = LATE, [IRISD_EVENT_ABANDON] = LATE

/* For states in which only the item's own gateway ends the wait. */
#define WAITS [IRISD_EVENT_PASS] = TO (ACCEPTED), [IRISD_EVENT_WITHDRAW] = TO (ACCEPTED)

/* For states in which the item may have been let through already, with a message on its way. */
#define TO_BE_GIVEN_BACK [IRISD_EVENT_CANCEL] = TO (CANCELLED), [IRISD_EVENT_ABANDON] = TO (CANCELLED)

#define MAY_BE_THROUGH TO_BE_GIVEN_BACK, [IRISD_EVENT_BURY] = TO (BURYING_OUT, PERSISTENT_ONLY)

static const IrisdItemTransition table[IRISD_N_ITEM_STATES][IRISD_N_ITEM_EVENTS] = {
  [IRISD_ITEM_SUBMITTED] = {
    [IRISD_EVENT_ACCEPT] = TO (ACCEPTED, VOLATILE_ONLY),
    [IRISD_EVENT_DEPEND] = TO (DEPENDENT, VOLATILE_ONLY),
    [IRISD_EVENT_WRITE_ROW] = TO (ACCEPTING, PERSISTENT_ONLY),
    [IRISD_EVENT_RUN_AT_ONCE] = TO (DONE, PERSISTENT_ONLY),
    [IRISD_EVENT_REFUSE] = TO (RELEASED),
  },
  [IRISD_ITEM_ACCEPTING] = {
    [IRISD_EVENT_WRITTEN] = TO (ACCEPTED, DURABLE),
    [IRISD_EVENT_REFUSE] = TO (RELEASED, PERSISTENT_ONLY),
    [IRISD_EVENT_CANCEL] = TO (ACCEPTING_CANCELLED, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_ACCEPTING_CANCELLED] = {
    [IRISD_EVENT_WRITTEN] = TO (RETURNED, DURABLE, CANCELLED),
    [IRISD_EVENT_REFUSE] = TO (RELEASED, PERSISTENT_ONLY),
    TOO_LATE_TO_CANCEL,
  },
  [IRISD_ITEM_DONE] = {
    [IRISD_EVENT_WRITTEN] = TO (COMPLETED, DURABLE),
    [IRISD_EVENT_REFUSE] = TO (RELEASED, PERSISTENT_ONLY),
    TOO_LATE_TO_CANCEL,
  },
  [IRISD_ITEM_ACCEPTED] = {
    [IRISD_EVENT_RUN_AT_ONCE] = TO (RETURNED, VOLATILE_ONLY),
    [IRISD_EVENT_DELAY] = TO (DELAYED),
    [IRISD_EVENT_PAUSE] = TO (PAUSED, PERSISTENT_ONLY),
    [IRISD_EVENT_SUSPEND] = TO (SUSPENDED),
    [IRISD_EVENT_BLOCK] = TO (BLOCKED),
    [IRISD_EVENT_ASK_PERMIT] = TO (PERMIT),
    [IRISD_EVENT_ASK_SLOT] = TO (SLOT),
    [IRISD_EVENT_QUEUE] = TO (QUEUED),
    [IRISD_EVENT_OFFER] = TO (OFFERED),
    [IRISD_EVENT_RESUME] = TO (LEASED, PERSISTENT_ONLY),
    [IRISD_EVENT_SPILL] = TO (SPILLED, PERSISTENT_ONLY),
    [IRISD_EVENT_CANCEL] = TO (RETURNED, CANCELLED),
    [IRISD_EVENT_ABANDON] = LATE,
    [IRISD_EVENT_FAIL] = TO (RETURNED),
    [IRISD_EVENT_BURY] = TO (BURYING, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_DEPENDENT] = { WAITS, TO_BE_GIVEN_BACK },
  [IRISD_ITEM_DELAYED] = { WAITS },
  [IRISD_ITEM_PAUSED] = { WAITS },
  [IRISD_ITEM_SUSPENDED] = { WAITS },
  [IRISD_ITEM_BLOCKED] = { WAITS },
  [IRISD_ITEM_PERMIT] = { WAITS, MAY_BE_THROUGH },
  [IRISD_ITEM_SLOT] = { WAITS, MAY_BE_THROUGH },
  [IRISD_ITEM_QUEUED] = {
    [IRISD_EVENT_START] = TO (RUNNING, STARTED),
    [IRISD_EVENT_HOLD] = TO (HELD),
    [IRISD_EVENT_DROP] = TO (DROPPED),
    [IRISD_EVENT_WITHDRAW] = TO (ACCEPTED),
    MAY_BE_THROUGH,
  },
  [IRISD_ITEM_OFFERED] = {
    [IRISD_EVENT_LEASE] = TO (LEASED, STARTED),
    [IRISD_EVENT_UNLEASE] = LATE,
    [IRISD_EVENT_HOLD] = TO (HELD),
    [IRISD_EVENT_WITHDRAW] = TO (ACCEPTED),
    TO_BE_GIVEN_BACK,
    [IRISD_EVENT_BURY] = LATE,
    [IRISD_EVENT_RETURN] = TO (RETURNED),
  },
  [IRISD_ITEM_LEASED] = {
    [IRISD_EVENT_UNLEASE] = TO (OFFERED),
    [IRISD_EVENT_WITHDRAW] = TO (ACCEPTED),
    TO_BE_GIVEN_BACK,
    [IRISD_EVENT_BURY] = LATE,
    [IRISD_EVENT_RETURN] = TO (RETURNED),
  },
  [IRISD_ITEM_RUNNING] = {
    [IRISD_EVENT_CANCEL] = TO (STOPPING),
    [IRISD_EVENT_ABANDON] = LATE,
    [IRISD_EVENT_BURY] = LATE,
    [IRISD_EVENT_RETURN] = TO (RETURNED),
  },
  [IRISD_ITEM_STOPPING] = {
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_BURY] = LATE,
    [IRISD_EVENT_RETURN] = TO (RETURNED),
  },
  [IRISD_ITEM_HELD] = {
    MAY_BE_THROUGH,
    [IRISD_EVENT_RETURN] = TO (ACCEPTED),
  },
  [IRISD_ITEM_DROPPED] = {
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_BURY] = LATE,
    [IRISD_EVENT_RETURN] = TO (RETURNED),
  },
  [IRISD_ITEM_CANCELLED] = {
    WORKER_IS_LATE,
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_PASS] = LATE,
    [IRISD_EVENT_BURY] = LATE,
    [IRISD_EVENT_RETURN] = TO (RETURNED, CANCELLED),
    [IRISD_EVENT_TELL] = TO (SHELL, VOLATILE_ONLY),
    [IRISD_EVENT_WRITE_END] = TO (COMPLETING_OUT, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_RETURNED] = {
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_RETRY] = TO (ACCEPTED, .action = IRISD_ACTION_RESET),
    [IRISD_EVENT_COMPLETE] = TO (COMPLETED, VOLATILE_ONLY),
    [IRISD_EVENT_WRITE_END] = TO (COMPLETING, PERSISTENT_ONLY),
    [IRISD_EVENT_BURY] = TO (BURYING, PERSISTENT_ONLY),
    [IRISD_EVENT_PUT_OFF] = TO (PUT_OFF, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_COMPLETING] = {
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_WRITTEN] = TO (COMPLETED, DURABLE),
    [IRISD_EVENT_UNWRITTEN] = TO (PUT_OFF, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_COMPLETING_OUT] = {
    WORKER_IS_LATE,
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_PASS] = LATE,
    [IRISD_EVENT_RETURN] = TO (COMPLETING, PERSISTENT_ONLY),
    [IRISD_EVENT_WRITTEN] = TO (SHELL, DURABLE),
    [IRISD_EVENT_UNWRITTEN] = TO (SHELL, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_BURYING] = {
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_WRITTEN] = TO (BURIED, DURABLE),
    [IRISD_EVENT_UNWRITTEN] = TO (PUT_OFF, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_BURYING_OUT] = {
    WORKER_IS_LATE,
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_PASS] = LATE,
    [IRISD_EVENT_RETURN] = TO (BURYING, PERSISTENT_ONLY),
    [IRISD_EVENT_WRITTEN] = TO (SHELL, DURABLE),
    [IRISD_EVENT_UNWRITTEN] = TO (SHELL, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_SHELL] = {
    WORKER_IS_LATE,
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_PASS] = LATE,
    [IRISD_EVENT_RETURN] = TO (RELEASED),
  },
  [IRISD_ITEM_COMPLETED] = { TOO_LATE_TO_CANCEL, [IRISD_EVENT_RELEASE] = TO (RELEASED) },
  [IRISD_ITEM_PUT_OFF] = { TOO_LATE_TO_CANCEL, [IRISD_EVENT_RELEASE] = TO (STORED, PERSISTENT_ONLY) },
  [IRISD_ITEM_BURIED] = {
    TOO_LATE_TO_CANCEL,
    [IRISD_EVENT_KICK] = TO (STORED, DURABLE),
    [IRISD_EVENT_WRITE_END] = TO (RELEASED, DURABLE),
  },
  [IRISD_ITEM_SPILLED] = {
    [IRISD_EVENT_RESTORE] = TO (ACCEPTED, PERSISTENT_ONLY),
    [IRISD_EVENT_PUT_OFF] = TO (STORED, PERSISTENT_ONLY),
  },
  [IRISD_ITEM_STORED] = {
    [IRISD_EVENT_RESTORE] = TO (ACCEPTED, PERSISTENT_ONLY),
    [IRISD_EVENT_SPILL] = TO (SPILLED, PERSISTENT_ONLY),
    [IRISD_EVENT_BURY] = TO (BURIED, DURABLE),
  },
};
/* clang-format on */

#define NOTHING IRISD_FOUND_NOTHING
#define STORED  IRISD_FOUND_STORED
#define BURIED  IRISD_FOUND_BURIED
#define ENDED   IRISD_FOUND_ENDED

/* The state that SHOW reports, an IrisWireState; 0 leaves the state reported before. An end is
 * reported by the journal itself. While the journal writes, a crash leaves a durable item as it was
 * or as it is to be. */
static const struct
{
  const char *name;
  const char *where;
  guint8 found;
  guint8 told;
  gboolean shared;
} states[IRISD_N_ITEM_STATES] = {
  [IRISD_ITEM_SUBMITTED] = { "submitted", "gateway", NOTHING },
  [IRISD_ITEM_ACCEPTING] = { "accepting", "journal", NOTHING | STORED },
  [IRISD_ITEM_ACCEPTING_CANCELLED] = { "accepting-cancelled", "journal", NOTHING | STORED },
  [IRISD_ITEM_DONE] = { "done", "journal", NOTHING | ENDED },
  [IRISD_ITEM_ACCEPTED] = { "accepted", "gateway", STORED, IRIS_WIRE_STATE_QUEUED },
  [IRISD_ITEM_DEPENDENT] = { "dependent", "dependencies", NOTHING, IRIS_WIRE_STATE_QUEUED },
  [IRISD_ITEM_DELAYED] = { "delayed", "schedule", STORED, IRIS_WIRE_STATE_DELAYED },
  [IRISD_ITEM_PAUSED] = { "paused", "gateway", STORED, IRIS_WIRE_STATE_QUEUED },
  [IRISD_ITEM_SUSPENDED] = { "suspended", "gateway", STORED, IRIS_WIRE_STATE_SUSPENDED },
  [IRISD_ITEM_BLOCKED] = { "blocked", "connection", STORED, IRIS_WIRE_STATE_QUEUED },
  [IRISD_ITEM_PERMIT] = { "permit", "concurrency limit", STORED, IRIS_WIRE_STATE_QUEUED },
  [IRISD_ITEM_SLOT] = { "slot", "command slots", STORED, IRIS_WIRE_STATE_QUEUED },
  [IRISD_ITEM_QUEUED] = { "queued", "fair queue, scheduler", STORED, IRIS_WIRE_STATE_QUEUED, TRUE },
  [IRISD_ITEM_OFFERED] = { "offered", "leases", STORED, IRIS_WIRE_STATE_QUEUED, TRUE },
  [IRISD_ITEM_LEASED] = { "leased", "leases", STORED, IRIS_WIRE_STATE_LEASED, TRUE },
  [IRISD_ITEM_RUNNING] = { "running", "worker", STORED, IRIS_WIRE_STATE_RUNNING },
  [IRISD_ITEM_STOPPING] = { "stopping", "worker", STORED },
  [IRISD_ITEM_HELD] = { "held", "mailbox", STORED },
  [IRISD_ITEM_DROPPED] = { "dropped", "mailbox", STORED },
  [IRISD_ITEM_CANCELLED] = { "cancelled", "elsewhere", STORED },
  [IRISD_ITEM_RETURNED] = { "returned", "gateway", STORED },
  [IRISD_ITEM_COMPLETING] = { "completing", "journal", STORED | ENDED },
  [IRISD_ITEM_COMPLETING_OUT] = { "completing-out", "journal, elsewhere", STORED | ENDED },
  [IRISD_ITEM_BURYING] = { "burying", "journal", STORED | BURIED },
  [IRISD_ITEM_BURYING_OUT] = { "burying-out", "journal, elsewhere", STORED | BURIED },
  [IRISD_ITEM_SHELL] = { "shell", "elsewhere", STORED | BURIED | ENDED },
  [IRISD_ITEM_COMPLETED] = { "completed", "gateway", ENDED },
  [IRISD_ITEM_PUT_OFF] = { "put-off", "gateway", STORED, IRIS_WIRE_STATE_QUEUED },
  [IRISD_ITEM_BURIED] = { "buried", "disk", BURIED, IRIS_WIRE_STATE_BURIED },
  [IRISD_ITEM_SPILLED] = { "spilled", "disk", STORED },
  [IRISD_ITEM_STORED] = { "stored", "disk", STORED, IRIS_WIRE_STATE_QUEUED },
  [IRISD_ITEM_RELEASED] = { "released", "nothing", NOTHING | STORED | BURIED | ENDED },
};

#undef NOTHING
#undef STORED
#undef BURIED
#undef ENDED

static const char *const events[IRISD_N_ITEM_EVENTS] = {
  [IRISD_EVENT_ACCEPT] = "accept",
  [IRISD_EVENT_DEPEND] = "depend",
  [IRISD_EVENT_WRITE_ROW] = "write-row",
  [IRISD_EVENT_REFUSE] = "refuse",
  [IRISD_EVENT_RUN_AT_ONCE] = "run-at-once",
  [IRISD_EVENT_DELAY] = "delay",
  [IRISD_EVENT_PAUSE] = "pause",
  [IRISD_EVENT_SUSPEND] = "suspend",
  [IRISD_EVENT_BLOCK] = "block",
  [IRISD_EVENT_ASK_PERMIT] = "ask-permit",
  [IRISD_EVENT_ASK_SLOT] = "ask-slot",
  [IRISD_EVENT_QUEUE] = "queue",
  [IRISD_EVENT_OFFER] = "offer",
  [IRISD_EVENT_PASS] = "pass",
  [IRISD_EVENT_WITHDRAW] = "withdraw",
  [IRISD_EVENT_SPILL] = "spill",
  [IRISD_EVENT_RESTORE] = "restore",
  [IRISD_EVENT_RESUME] = "resume",
  [IRISD_EVENT_LEASE] = "lease",
  [IRISD_EVENT_UNLEASE] = "unlease",
  [IRISD_EVENT_START] = "start",
  [IRISD_EVENT_HOLD] = "hold",
  [IRISD_EVENT_DROP] = "drop",
  [IRISD_EVENT_CANCEL] = "cancel",
  [IRISD_EVENT_ABANDON] = "abandon",
  [IRISD_EVENT_RETURN] = "return",
  [IRISD_EVENT_FAIL] = "fail",
  [IRISD_EVENT_RETRY] = "retry",
  [IRISD_EVENT_COMPLETE] = "complete",
  [IRISD_EVENT_TELL] = "tell",
  [IRISD_EVENT_WRITE_END] = "write-end",
  [IRISD_EVENT_BURY] = "bury",
  [IRISD_EVENT_WRITTEN] = "written",
  [IRISD_EVENT_UNWRITTEN] = "unwritten",
  [IRISD_EVENT_PUT_OFF] = "put-off",
  [IRISD_EVENT_KICK] = "kick",
  [IRISD_EVENT_RELEASE] = "release",
};

const IrisdItemTransition *
irisd_item_get_transition (IrisdItemState state, IrisdItemEvent event)
{
  return &table[state][event];
}

const char *
irisd_item_state_name (IrisdItemState state)
{
  return states[state].name;
}

const char *
irisd_item_event_name (IrisdItemEvent event)
{
  return events[event];
}

/* Returns all that a crash may leave of a durable item in that state. */
IrisdItemFound
irisd_item_state_get_found (IrisdItemState state)
{
  return (IrisdItemFound) states[state].found;
}

/* Returns the state that SHOW reports, an IrisWireState; 0 leaves the state reported before. */
guint
irisd_item_state_get_told (IrisdItemState state)
{
  return states[state].told;
}

/* Returns whether there is a job; an item without one is the journal's. */
gboolean
irisd_item_state_has_job (IrisdItemState state)
{
  return state < IRISD_ITEM_BURIED;
}

/* Returns whether its end or its burial is decided. */
gboolean
irisd_item_state_is_over (IrisdItemState state)
{
  return state == IRISD_ITEM_DONE || state >= IRISD_ITEM_COMPLETING;
}

/* Returns whether it is buried, or about to be. */
gboolean
irisd_item_state_is_burial (IrisdItemState state)
{
  return state == IRISD_ITEM_BURYING || state == IRISD_ITEM_BURYING_OUT
         || state == IRISD_ITEM_BURIED;
}

void
irisd_item_word_init (IrisdItemWord *self, IrisdItemState state)
{
  atomic_init (self, (guint8) state);
}

IrisdItemState
irisd_item_word_get (IrisdItemWord *self)
{
  return (IrisdItemState) atomic_load_explicit (self, memory_order_acquire);
}

static const IrisdItemTransition *
look_up (guint64 item, gboolean persistent, guint8 state, IrisdItemEvent event)
{
  const IrisdItemTransition *transition = &table[state][event];
  const IrisdItemClass other = persistent ? IRISD_FOR_VOLATILE : IRISD_FOR_PERSISTENT;
  if (transition->rule == IRISD_RULE_ILLEGAL || transition->items == other)
    g_error ("item %" G_GUINT64_FORMAT " is %s, where there is no %s", item, states[state].name,
             events[event]);
  return transition;
}

/* @persistent: whether the journal is to have @item, its number. Returns the transition that was
 * made; NULL if the event came too late. */
const IrisdItemTransition *
irisd_item_word_advance (IrisdItemWord *self,
                         IrisdItemEvent event,
                         gboolean persistent,
                         guint64 item)
{
  guint8 state = atomic_load_explicit (self, memory_order_acquire);
  for (;;)
    {
      const IrisdItemTransition *transition = look_up (item, persistent, state, event);
      if (transition->rule == IRISD_RULE_LATE)
        return NULL;
      if (!states[state].shared)
        {
          /* Release: a thread that finds the new state finds what was written before. */
          atomic_store_explicit (self, transition->next, memory_order_release);
          return transition;
        }
      if (atomic_compare_exchange_weak_explicit (self, &state, transition->next,
                                                 memory_order_acq_rel, memory_order_acquire))
        return transition;
    }
}

/* --- the page ------------------------------------------------------------------------------------
 */

static void
add_id (GString *out, IrisdItemState state)
{
  gsize at = out->len;
  g_string_append (out, states[state].name);
  g_strdelimit (out->str + at, "-", '_');
}

/* One arrow for all events that lead from one state to another. */
static void
add_arrow (GString *out, IrisdItemState from, IrisdItemState to)
{
  const char *separator = " : ";
  for (guint event = 0; event < IRISD_N_ITEM_EVENTS; event++)
    {
      const IrisdItemTransition *transition = &table[from][event];
      if (transition->rule != IRISD_RULE_MOVE || transition->next != to)
        continue;
      if (separator[1] == ':')
        {
          g_string_append (out, "    ");
          add_id (out, from);
          g_string_append (out, " --> ");
          add_id (out, to);
        }
      g_string_append_printf (out, "%s%s%s", separator, events[event],
                              transition->durable ? " (durable)" : "");
      separator = ", ";
    }
  if (separator[1] != ':')
    g_string_append_c (out, '\n');
}

static void
add_events (GString *out, IrisdItemState state, IrisdItemRule rule)
{
  static const char *const items[] = { [IRISD_FOR_ALL] = "",
                                       [IRISD_FOR_VOLATILE] = " (volatile)",
                                       [IRISD_FOR_PERSISTENT] = " (persistent)" };
  const char *separator = "";
  for (guint event = 0; event < IRISD_N_ITEM_EVENTS; event++)
    {
      const IrisdItemTransition *transition = &table[state][event];
      if (transition->rule != rule)
        continue;
      g_string_append_printf (out, "%s%s", separator, events[event]);
      if (rule == IRISD_RULE_MOVE)
        g_string_append_printf (out, " → %s%s", states[transition->next].name,
                                transition->durable ? " (persistent, durable)"
                                                    : items[transition->items]);
      separator = "; ";
    }
}

static void
add_found (GString *out, guint found)
{
  static const char *const names[] = { "nothing", "to run", "buried", "its end" };
  const char *separator = "";
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if ((found & (1u << i)) != 0)
      {
        g_string_append_printf (out, "%s%s", separator, names[i]);
        separator = " or ";
      }
}

/* Returns the diagram and the table of doc/item-states.md. */
GString *
irisd_item_states_describe (void)
{
  GString *out = g_string_new ("```mermaid\nstateDiagram-v2\n    [*] --> submitted\n");
  for (guint from = 0; from < IRISD_N_ITEM_STATES; from++)
    for (guint to = 0; to < IRISD_N_ITEM_STATES; to++)
      add_arrow (out, from, to);
  g_string_append (out, "    released --> [*]\n```\n\n| state | what has it | told as | after a "
                        "crash | event → state | comes too late |\n|---|---|---|---|---|---|\n");
  for (guint state = 0; state < IRISD_N_ITEM_STATES; state++)
    {
      const char *told = states[state].told != 0 ? iris_wire_state_name (states[state].told) : "";
      g_string_append_printf (out, "| `%s`%s | %s | %s | ", states[state].name,
                              states[state].shared ? " (shared)" : "", states[state].where, told);
      add_found (out, states[state].found);
      g_string_append (out, " | ");
      add_events (out, state, IRISD_RULE_MOVE);
      g_string_append (out, " | ");
      add_events (out, state, IRISD_RULE_LATE);
      g_string_append (out, " |\n");
    }
  return out;
}
