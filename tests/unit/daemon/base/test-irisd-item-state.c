/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state machine of an item: random events against a model that knows nothing of its table, a
 * restart in every state against the journal, and the page that shows it.
 *
 * The model tells an item by facts: what has its job, what the journal was given, what was asked.
 * Which events are legal, and what they do, it derives from those.
 */
#include "core-test-run.h"
#include "journal-fixture.h"

#include "daemon/exec/irisd-job.h"
#include "daemon/exec/irisd-service.h"
#include "daemon/base/irisd-item-state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_WALKS 4000
#define N_STEPS 60

/* What has the job. */
typedef enum
{
  NO_JOB,
  GATEWAY,
  STATION,   /* where only its own gateway lets it through */
  SCHEDULER, /* or the fair queue before it */
  LEASES,
  WORKER,
  MAILBOX, /* it is on its way back */
} Holder;

/* What the journal was given of it, and whether it has answered. */
typedef enum
{
  BLANK,
  ROW_SENT,
  ROW,
  END_SENT,
  END,
  BURIAL_SENT,
  BURIAL,
  ALL_SENT, /* the row with its end */
  FAILED,   /* the journal could not write its end or burial */
} Paper;

typedef struct
{
  gboolean persistent;
  Holder holder;
  IrisdItemState station; /* which, with STATION */
  Paper paper;
  gboolean accepted;
  gboolean leased;
  gboolean unwanted; /* it was cancelled before it ran, and something else has it */
  gboolean stopping;
  gboolean held;
  gboolean dropped;
  gboolean result; /* or an error */
  gboolean put_off;
  gboolean told;    /* its end was sent */
  gboolean spilled; /* with NO_JOB */
  gboolean gone;    /* irisd knows nothing more of it */
} Model;

static gboolean
is_out (const Model *m)
{
  return m->holder >= STATION;
}

static IrisdItemState
name_without_job (const Model *m)
{
  if (m->gone)
    return IRISD_ITEM_RELEASED;
  if (m->paper == BURIAL)
    return IRISD_ITEM_BURIED;
  return m->spilled ? IRISD_ITEM_SPILLED : IRISD_ITEM_STORED;
}

static IrisdItemState
name_of_written (const Model *m)
{
  switch (m->paper)
    {
    case ROW_SENT:
      return m->unwanted ? IRISD_ITEM_ACCEPTING_CANCELLED : IRISD_ITEM_ACCEPTING;
    case ALL_SENT:
      return IRISD_ITEM_DONE;
    case END_SENT:
      return is_out (m) ? IRISD_ITEM_COMPLETING_OUT : IRISD_ITEM_COMPLETING;
    case BURIAL_SENT:
      return is_out (m) ? IRISD_ITEM_BURYING_OUT : IRISD_ITEM_BURYING;
    case END:
      return IRISD_ITEM_COMPLETED;
    case BURIAL:
      return IRISD_ITEM_BURIED;
    default:
      return IRISD_ITEM_PUT_OFF;
    }
}

/* The state that the facts amount to. */
static IrisdItemState
name_of (const Model *m)
{
  if (m->holder == NO_JOB)
    return name_without_job (m);
  if (m->told && is_out (m))
    return IRISD_ITEM_SHELL;
  if ((m->paper != BLANK && m->paper != ROW) || m->put_off)
    return name_of_written (m);
  if (m->holder == GATEWAY)
    return !m->accepted ? IRISD_ITEM_SUBMITTED
           : m->told    ? IRISD_ITEM_COMPLETED
           : m->result  ? IRISD_ITEM_RETURNED
                        : IRISD_ITEM_ACCEPTED;
  if (m->unwanted)
    return IRISD_ITEM_CANCELLED;
  switch (m->holder)
    {
    case STATION:
      return m->station;
    case SCHEDULER:
      return IRISD_ITEM_QUEUED;
    case LEASES:
      return m->leased ? IRISD_ITEM_LEASED : IRISD_ITEM_OFFERED;
    case WORKER:
      return m->stopping ? IRISD_ITEM_STOPPING : IRISD_ITEM_RUNNING;
    default:
      return m->held ? IRISD_ITEM_HELD : IRISD_ITEM_DROPPED;
    }
}

/* Its gateway has it, and nothing is decided about its end. */
static gboolean
in_hand (const Model *m)
{
  return m->holder == GATEWAY && m->accepted && !m->told && !m->put_off
         && (m->paper == BLANK || m->paper == ROW);
}

/* Nothing is decided about it, and a worker or a message may have it. */
static gboolean
under_way (const Model *m)
{
  return is_out (m) && !m->told && !m->unwanted && (m->paper == BLANK || m->paper == ROW);
}

/* It can be let through, while a message about it is on its way. */
static gboolean
may_be_through (const Model *m)
{
  return m->holder == SCHEDULER || (m->holder == MAILBOX && m->held)
         || (m->holder == STATION
             && (m->station == IRISD_ITEM_DEPENDENT || m->station == IRISD_ITEM_PERMIT
                 || m->station == IRISD_ITEM_SLOT));
}

static IrisdItemRule
go_to_station (Model *m, IrisdItemState station)
{
  if (!in_hand (m) || m->result || (station == IRISD_ITEM_PAUSED && !m->persistent))
    return IRISD_RULE_ILLEGAL;
  m->holder = STATION;
  m->station = station;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
go_to (Model *m, Holder holder)
{
  if (!in_hand (m) || m->result)
    return IRISD_RULE_ILLEGAL;
  m->holder = holder;
  m->leased = m->stopping = m->held = m->dropped = FALSE;
  return IRISD_RULE_MOVE;
}

/* Returns whether the item was given up while a worker or a message has it. */
static gboolean
is_given_up (const Model *m)
{
  return is_out (m) && !under_way (m);
}

static IrisdItemRule
by_worker (Model *m, Holder to)
{
  if (is_given_up (m))
    return IRISD_RULE_LATE;
  if (!under_way (m) || m->holder != SCHEDULER)
    return IRISD_RULE_ILLEGAL;
  m->holder = to;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
cancel (Model *m, gboolean stop)
{
  if (m->holder == NO_JOB)
    return m->paper == BURIAL && !m->gone ? IRISD_RULE_LATE : IRISD_RULE_ILLEGAL;
  if (!m->accepted && m->paper == BLANK)
    return IRISD_RULE_ILLEGAL;
  if (m->paper == ROW_SENT && !m->unwanted)
    {
      m->unwanted = stop;
      return stop ? IRISD_RULE_MOVE : IRISD_RULE_ILLEGAL;
    }
  if (in_hand (m) && !m->result)
    {
      m->result = stop;
      return stop ? IRISD_RULE_MOVE : IRISD_RULE_LATE;
    }
  if (!under_way (m))
    return IRISD_RULE_LATE;
  if (may_be_through (m) || m->holder == LEASES)
    {
      m->unwanted = TRUE;
      return IRISD_RULE_MOVE;
    }
  if (m->holder == STATION)
    return IRISD_RULE_ILLEGAL; /* it is withdrawn first */
  if (m->holder != WORKER || m->stopping || !stop)
    return IRISD_RULE_LATE;
  m->stopping = TRUE;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
come_back (Model *m)
{
  if (!is_out (m) || m->holder == STATION || m->holder == SCHEDULER)
    {
      if (!is_out (m) || under_way (m))
        return IRISD_RULE_ILLEGAL;
    }
  if (m->told)
    {
      m->holder = NO_JOB;
      m->gone = TRUE;
      return IRISD_RULE_MOVE;
    }
  m->result = !(m->holder == MAILBOX && m->held && under_way (m));
  m->holder = GATEWAY;
  m->unwanted = m->held = FALSE;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
bury (Model *m)
{
  if (!m->persistent)
    return IRISD_RULE_ILLEGAL;
  if (m->holder == NO_JOB)
    {
      if (name_of (m) != IRISD_ITEM_STORED)
        return IRISD_RULE_ILLEGAL;
      m->paper = BURIAL;
      return IRISD_RULE_MOVE;
    }
  if (!in_hand (m) && !(under_way (m) && may_be_through (m)))
    return IRISD_RULE_ILLEGAL;
  m->paper = BURIAL_SENT;
  return IRISD_RULE_MOVE;
}

/* Returns whether a burial comes too late; also for volatile items, which are never buried. */
static gboolean
bury_is_late (const Model *m)
{
  return is_out (m) && !m->told && (m->paper == BLANK || m->paper == ROW)
         && (m->unwanted || m->holder == WORKER || m->holder == LEASES
             || (m->holder == MAILBOX && m->dropped));
}

static IrisdItemRule
answered (Model *m, gboolean written)
{
  if (m->paper == ROW_SENT && written)
    {
      m->paper = ROW;
      m->accepted = TRUE;
      m->result = m->unwanted;
      m->unwanted = FALSE;
      return IRISD_RULE_MOVE;
    }
  if (m->paper == ALL_SENT && written)
    m->paper = END;
  else if (m->paper == END_SENT)
    m->paper = written ? END : FAILED;
  else if (m->paper == BURIAL_SENT)
    m->paper = written ? BURIAL : FAILED;
  else
    return IRISD_RULE_ILLEGAL;
  if (is_out (m))
    m->told = TRUE;
  else if (m->paper == BURIAL)
    m->holder = NO_JOB;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
write_end (Model *m)
{
  if (!m->persistent)
    return IRISD_RULE_ILLEGAL;
  if (m->holder == NO_JOB && m->paper == BURIAL && !m->gone)
    {
      m->paper = END;
      m->gone = TRUE;
      return IRISD_RULE_MOVE;
    }
  gboolean cancelled = is_out (m) && m->unwanted && !m->told && m->paper == ROW;
  if (!cancelled && !(in_hand (m) && m->result))
    return IRISD_RULE_ILLEGAL;
  m->paper = END_SENT;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
accept (Model *m, Holder holder)
{
  if (m->persistent || m->holder != GATEWAY || m->accepted)
    return IRISD_RULE_ILLEGAL;
  m->accepted = TRUE;
  m->holder = holder;
  m->station = IRISD_ITEM_DEPENDENT;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
pass (Model *m, gboolean withdrawn)
{
  if (!withdrawn && is_given_up (m))
    return IRISD_RULE_LATE;
  if (!under_way (m)
      || !(m->holder == STATION || (withdrawn && (m->holder == SCHEDULER || m->holder == LEASES))))
    return IRISD_RULE_ILLEGAL;
  m->holder = GATEWAY;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
leave_disk (Model *m, gboolean job)
{
  IrisdItemState state = name_of (m);
  if (m->holder != NO_JOB || (state != IRISD_ITEM_SPILLED && state != IRISD_ITEM_STORED))
    return IRISD_RULE_ILLEGAL;
  *m = (Model){ .persistent = TRUE,
                .paper = ROW,
                .accepted = TRUE,
                .holder = job ? GATEWAY : NO_JOB,
                .spilled = !job };
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
lease (Model *m)
{
  if (!under_way (m) || m->holder != LEASES || m->leased)
    return IRISD_RULE_ILLEGAL;
  m->leased = TRUE;
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
unlease (Model *m)
{
  if (!under_way (m) || m->holder != LEASES)
    return IRISD_RULE_ILLEGAL;
  IrisdItemRule rule = m->leased ? IRISD_RULE_MOVE : IRISD_RULE_LATE;
  m->leased = FALSE;
  return rule;
}

static IrisdItemRule
hold (Model *m)
{
  IrisdItemRule rule = IRISD_RULE_MOVE;
  if (under_way (m) && m->holder == LEASES && !m->leased)
    m->holder = MAILBOX;
  else
    rule = by_worker (m, MAILBOX);
  m->held |= rule == IRISD_RULE_MOVE;
  return rule;
}

static IrisdItemRule
put_off (Model *m)
{
  if (!m->persistent)
    return IRISD_RULE_ILLEGAL;
  if (name_of (m) == IRISD_ITEM_SPILLED)
    {
      m->spilled = FALSE;
      return IRISD_RULE_MOVE;
    }
  m->put_off = in_hand (m) && m->result;
  return m->put_off ? IRISD_RULE_MOVE : IRISD_RULE_ILLEGAL;
}

static IrisdItemRule
release (Model *m)
{
  IrisdItemState state = name_of (m);
  if (state != IRISD_ITEM_COMPLETED && state != IRISD_ITEM_PUT_OFF)
    return IRISD_RULE_ILLEGAL;
  m->holder = NO_JOB;
  m->gone = state == IRISD_ITEM_COMPLETED;
  if (!m->gone)
    *m = (Model){ .persistent = TRUE, .paper = ROW, .accepted = TRUE };
  return IRISD_RULE_MOVE;
}

static IrisdItemRule
submit (Model *m, IrisdItemEvent event)
{
  gboolean fresh = m->holder == GATEWAY && !m->accepted && m->paper == BLANK;
  switch (event)
    {
    case IRISD_EVENT_WRITE_ROW:
      m->paper = ROW_SENT;
      return fresh && m->persistent ? IRISD_RULE_MOVE : IRISD_RULE_ILLEGAL;
    case IRISD_EVENT_REFUSE:
      if (!fresh && m->paper != ROW_SENT && m->paper != ALL_SENT)
        return IRISD_RULE_ILLEGAL;
      m->holder = NO_JOB;
      m->gone = TRUE;
      return IRISD_RULE_MOVE;
    default:
      if (fresh && m->persistent)
        m->paper = ALL_SENT;
      else if (in_hand (m) && !m->persistent && !m->result)
        m->result = TRUE;
      else
        return IRISD_RULE_ILLEGAL;
      return IRISD_RULE_MOVE;
    }
}

static IrisdItemRule
finish (Model *m, IrisdItemEvent event)
{
  switch (event)
    {
    case IRISD_EVENT_FAIL:
      if (!in_hand (m) || m->result)
        return IRISD_RULE_ILLEGAL;
      m->result = TRUE;
      return IRISD_RULE_MOVE;
    case IRISD_EVENT_RETRY:
      if (!in_hand (m) || !m->result)
        return IRISD_RULE_ILLEGAL;
      m->result = FALSE;
      return IRISD_RULE_MOVE;
    case IRISD_EVENT_COMPLETE:
      if (m->persistent || !in_hand (m) || !m->result)
        return IRISD_RULE_ILLEGAL;
      m->told = TRUE;
      return IRISD_RULE_MOVE;
    default: /* TELL */
      if (m->persistent || !is_out (m) || !m->unwanted || m->told)
        return IRISD_RULE_ILLEGAL;
      m->told = TRUE;
      return IRISD_RULE_MOVE;
    }
}

/* Events of a gateway that has the item in hand, or wants it back. */
static IrisdItemRule
step_of_gateway (Model *m, IrisdItemEvent event)
{
  switch (event)
    {
    case IRISD_EVENT_ACCEPT:
      return accept (m, GATEWAY);
    case IRISD_EVENT_DEPEND:
      return accept (m, STATION);
    case IRISD_EVENT_DELAY:
      return go_to_station (m, IRISD_ITEM_DELAYED);
    case IRISD_EVENT_PAUSE:
      return go_to_station (m, IRISD_ITEM_PAUSED);
    case IRISD_EVENT_SUSPEND:
      return go_to_station (m, IRISD_ITEM_SUSPENDED);
    case IRISD_EVENT_BLOCK:
      return go_to_station (m, IRISD_ITEM_BLOCKED);
    case IRISD_EVENT_ASK_PERMIT:
      return go_to_station (m, IRISD_ITEM_PERMIT);
    case IRISD_EVENT_ASK_SLOT:
      return go_to_station (m, IRISD_ITEM_SLOT);
    case IRISD_EVENT_QUEUE:
      return go_to (m, SCHEDULER);
    case IRISD_EVENT_OFFER:
      return go_to (m, LEASES);
    case IRISD_EVENT_PASS:
      return pass (m, FALSE);
    case IRISD_EVENT_WITHDRAW:
      return pass (m, TRUE);
    case IRISD_EVENT_CANCEL:
      return cancel (m, TRUE);
    case IRISD_EVENT_ABANDON:
      return cancel (m, FALSE);
    case IRISD_EVENT_RETURN:
      return come_back (m);
    case IRISD_EVENT_FAIL:
    case IRISD_EVENT_RETRY:
    case IRISD_EVENT_COMPLETE:
    case IRISD_EVENT_TELL:
      return finish (m, event);
    case IRISD_EVENT_RELEASE:
      return release (m);
    default:
      return submit (m, event);
    }
}

/* Events of the disk. */
static IrisdItemRule
step_of_journal (Model *m, IrisdItemEvent event)
{
  switch (event)
    {
    case IRISD_EVENT_SPILL:
      if (name_of (m) == IRISD_ITEM_STORED)
        return leave_disk (m, FALSE);
      m->spilled = TRUE;
      return m->persistent ? go_to (m, NO_JOB) : IRISD_RULE_ILLEGAL;
    case IRISD_EVENT_RESTORE:
      return leave_disk (m, TRUE);
    case IRISD_EVENT_WRITE_END:
      return write_end (m);
    case IRISD_EVENT_BURY:
      return bury_is_late (m) ? IRISD_RULE_LATE : bury (m);
    case IRISD_EVENT_WRITTEN:
      return answered (m, TRUE);
    case IRISD_EVENT_UNWRITTEN:
      return answered (m, FALSE);
    case IRISD_EVENT_PUT_OFF:
      return put_off (m);
    case IRISD_EVENT_KICK:
      if (name_of (m) != IRISD_ITEM_BURIED)
        return IRISD_RULE_ILLEGAL;
      *m = (Model){ .persistent = TRUE, .paper = ROW, .accepted = TRUE };
      return IRISD_RULE_MOVE;
    default:
      return step_of_gateway (m, event);
    }
}

/* Returns what an event means for the model, which changes if it moves. */
static IrisdItemRule
step (Model *m, IrisdItemEvent event)
{
  IrisdItemRule rule;
  if (m->gone)
    return IRISD_RULE_ILLEGAL;
  switch (event)
    {
    case IRISD_EVENT_RESUME:
      if (!m->persistent || go_to (m, LEASES) != IRISD_RULE_MOVE)
        return IRISD_RULE_ILLEGAL;
      return lease (m);
    case IRISD_EVENT_LEASE:
      return lease (m);
    case IRISD_EVENT_UNLEASE:
      return unlease (m);
    case IRISD_EVENT_START:
      return by_worker (m, WORKER);
    case IRISD_EVENT_HOLD:
      return hold (m);
    case IRISD_EVENT_DROP:
      rule = by_worker (m, MAILBOX);
      m->dropped |= rule == IRISD_RULE_MOVE;
      return rule;
    default:
      return step_of_journal (m, event);
    }
}

/* Returns what the journal may have of a durable item. */
static guint
find (const Model *m)
{
  if (!m->persistent)
    return IRISD_FOUND_NOTHING;
  switch (m->paper)
    {
    case BLANK:
      return IRISD_FOUND_NOTHING;
    case ROW_SENT:
      return IRISD_FOUND_NOTHING | (m->gone ? 0 : IRISD_FOUND_STORED);
    case ALL_SENT:
      return IRISD_FOUND_NOTHING | (m->gone ? 0 : IRISD_FOUND_ENDED);
    case ROW:
      return IRISD_FOUND_STORED;
    case END_SENT:
      return IRISD_FOUND_STORED | IRISD_FOUND_ENDED;
    case END:
      return IRISD_FOUND_ENDED | (m->gone ? IRISD_FOUND_NOTHING : 0);
    case BURIAL_SENT:
      return IRISD_FOUND_STORED | IRISD_FOUND_BURIED;
    case BURIAL:
      return IRISD_FOUND_BURIED;
    default:
      return IRISD_FOUND_STORED;
    }
}

static IrisdItemRule
rule_for (IrisdItemState state, IrisdItemEvent event, gboolean persistent)
{
  const IrisdItemTransition *transition = irisd_item_get_transition (state, event);
  if (transition->items == (persistent ? IRISD_FOR_VOLATILE : IRISD_FOR_PERSISTENT))
    return IRISD_RULE_ILLEGAL;
  return (IrisdItemRule) transition->rule;
}

/* Items are volatile and persistent in turn; the next event is drawn among the legal ones. */
START_TEST (random_events_lead_where_the_model_says)
{
  guint visits[IRISD_N_ITEM_STATES] = { 0 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  for (guint walk = 0; walk < N_WALKS; walk++)
    {
      Model model = { .persistent = walk % 2 == 1, .holder = GATEWAY };
      IrisdItemState state = IRISD_ITEM_SUBMITTED;
      for (guint i = 0; i < N_STEPS; i++)
        {
          IrisdItemEvent legal[IRISD_N_ITEM_EVENTS];
          guint n_legal = 0;
          visits[state]++;
          for (guint event = 0; event < IRISD_N_ITEM_EVENTS; event++)
            {
              Model after = model;
              IrisdItemRule rule = step (&after, event);
              ck_assert_msg (rule == rule_for (state, event, model.persistent),
                             "%s item, %s, %s: the model says %d, the table %d",
                             model.persistent ? "kept" : "volatile", irisd_item_state_name (state),
                             irisd_item_event_name (event), (int) rule,
                             (int) rule_for (state, event, model.persistent));
              if (rule == IRISD_RULE_MOVE)
                legal[n_legal++] = event;
            }
          if (n_legal == 0)
            break;
          IrisdItemEvent event = legal[g_rand_int_range (rand, 0, (gint32) n_legal)];
          IrisdItemState next = irisd_item_get_transition (state, event)->next;
          step (&model, event);
          ck_assert_msg (name_of (&model) == next, "%s, %s: the model says %s, the table %s",
                         irisd_item_state_name (state), irisd_item_event_name (event),
                         irisd_item_state_name (name_of (&model)), irisd_item_state_name (next));
          state = next;
          if (model.persistent)
            ck_assert_msg ((find (&model) & ~(guint) irisd_item_state_get_found (state)) == 0, "%s",
                           irisd_item_state_name (state));
        }
    }
  for (guint state = 0; state < IRISD_N_ITEM_STATES; state++)
    ck_assert_msg (visits[state] > 0, "no walk came to %s", irisd_item_state_name (state));
}
END_TEST

/* --- restarts ------------------------------------------------------------------------------------
 */

static const IrisdService no_service = { .name = "none" };
static IrisdCore core;

/* A durable item, what the model says of it, and the journal's entry. */
typedef struct
{
  Model model;
  IrisdItemState state;
  guint64 number;
  IrisdJob *job;                   /* NULL: the journal alone has it */
  IrisdPersistentItem *persistent; /* NULL: the journal has not */
} Walker;

static IrisdJob *
new_job (guint64 number)
{
  IrisdJob *job = g_aligned_alloc0 (1, sizeof *job, 64);
  irisd_item_word_init (&job->state, IRISD_ITEM_SUBMITTED);
  job->core = &core;
  job->service = &no_service;
  job->lasting = TRUE;
  job->id = number;
  zmq_msg_init (&job->result.body);
  return job;
}

static void
lose_job (Walker *self)
{
  if (self->job == NULL)
    return;
  g_clear_error (&self->job->result.error);
  g_clear_pointer (&self->job, g_aligned_free);
}

static void
tell_journal (IrisdJournalRequest *request)
{
  IrisdJournalRequest *answer = ask (request);
  ck_assert_msg (answer->error == NULL, "%s", answer->error->message);
  irisd_journal_request_free (answer);
}

static IrisdJournalRequest *
new_request (const Walker *self, IrisdJournalRequestKind kind)
{
  IrisdJournalRequest *request = irisd_journal_request_new (kind, &home);
  request->item = self->number;
  request->view = IRISD_VIEW_ALL;
  request->persistent = kind == IRISD_JOURNAL_REQUEST_BURY ? self->persistent : NULL;
  return request;
}

static void
kick (Walker *self)
{
  irisd_journal_post (journal, new_request (self, IRISD_JOURNAL_REQUEST_KICK));
  for (guint i = 0; i < 2; i++)
    {
      IrisdJournalRequest *request = receive (); /* the item, and the answer */
      ck_assert_ptr_null (request->error);
      irisd_journal_request_free (request);
    }
}

/* The journal writes what it was sent; that of a test answers at once. */
static void
write_what_was_sent (Walker *self, Paper sent)
{
  if (sent == ROW_SENT)
    self->persistent = keep (self->number, IRIS_WIRE_CLASS_DURABLE);
  else if (sent == ALL_SENT)
    tell_journal (new_done (self->number, 1, IRIS_WIRE_CLASS_DURABLE, "end"));
  else if (sent == END_SENT)
    end (self->persistent, "end");
  else
    tell_journal (new_request (self, IRISD_JOURNAL_REQUEST_BURY));
}

/* The same event for the item and the journal. */
static void
take_step (Walker *self, IrisdItemEvent event)
{
  const Paper sent = self->model.paper;
  const gboolean had_job = self->job != NULL;
  ck_assert_int_eq (step (&self->model, event), IRISD_RULE_MOVE);
  if (event == IRISD_EVENT_WRITTEN)
    write_what_was_sent (self, sent);
  if (event == IRISD_EVENT_RESTORE)
    {
      self->job = new_job (self->number);
      self->job->persistent = self->persistent;
      irisd_job_restore (self->job);
    }
  else if (event == IRISD_EVENT_KICK)
    kick (self);
  else if (event == IRISD_EVENT_WRITE_END && !had_job)
    {
      IrisdJournalRequest *request = new_request (self, IRISD_JOURNAL_REQUEST_CANCEL);
      request->type = IRIS_WIRE_ERROR_REPLY;
      request->header = (IrisdBlob){ g_memdup2 (header, HEADER_SIZE), HEADER_SIZE };
      tell_journal (request);
    }
  else if (had_job)
    ck_assert (irisd_job_advance (self->job, event));
  else
    ck_assert (irisd_persistent_item_advance (self->persistent, event));
  if (self->job != NULL && sent == ROW_SENT)
    self->job->persistent = self->persistent;
  self->state = name_of (&self->model);
  if (self->job != NULL)
    ck_assert_int_eq (irisd_job_get_state (self->job), self->state);
  if (!irisd_item_state_has_job (self->state))
    lose_job (self);
  if (event == IRISD_EVENT_SPILL)
    irisd_persistent_item_advance (self->persistent, event); /* as the gateway that spills it */
  if (self->job == NULL && self->persistent != NULL && self->state != IRISD_ITEM_RELEASED)
    ck_assert_int_eq (self->persistent->resting, self->state);
}

/* Returns whether the journal of a test, whose disk is well, can raise the event. */
static gboolean
can_be (const Walker *self, IrisdItemEvent event)
{
  if (event == IRISD_EVENT_REFUSE || event == IRISD_EVENT_UNWRITTEN)
    return FALSE;
  return self->state != IRISD_ITEM_STORED || event == IRISD_EVENT_RESTORE;
}

/* Returns FALSE if nothing can happen to the item any more. */
static gboolean
walk_on (Walker *self, GRand *rand)
{
  IrisdItemEvent legal[IRISD_N_ITEM_EVENTS];
  guint n_legal = 0;
  for (guint event = 0; event < IRISD_N_ITEM_EVENTS; event++)
    {
      Model after = self->model;
      if (can_be (self, event) && step (&after, event) == IRISD_RULE_MOVE)
        legal[n_legal++] = event;
    }
  if (n_legal > 0)
    take_step (self, legal[g_rand_int_range (rand, 0, (gint32) n_legal)]);
  return n_legal > 0;
}

static guint
look_in_journal (const Walker *self)
{
  for (guint i = 0; i < again->len; i++)
    {
      const IrisdPersistentItem *persistent = g_ptr_array_index (again, i);
      if (persistent->item == self->number)
        return persistent->resting == IRISD_ITEM_BURIED ? IRISD_FOUND_BURIED : IRISD_FOUND_STORED;
    }
  g_autoptr (GError) error = NULL;
  IrisdJournalRequest *request = ask (new_fetch (self->number, 0));
  error = g_steal_pointer (&request->error);
  irisd_journal_request_free (request);
  return error == NULL ? IRISD_FOUND_ENDED : IRISD_FOUND_NOTHING;
}

static void
restart (Walker *self)
{
  lose_job (self);
  close_journal ();
  open_journal ();
  start_journal ();
  guint found = look_in_journal (self);
  ck_assert_msg ((found & find (&self->model)) != 0, "%s item: found %u, the model says %u",
                 irisd_item_state_name (self->state), found, find (&self->model));
  ck_assert_msg ((found & irisd_item_state_get_found (self->state)) != 0, "%s item: found %u",
                 irisd_item_state_name (self->state), found);
}

/* Walks until the item has been in each state of a persistent one, and was restarted there. Then it
 * goes on: it runs, or is kicked. */
START_TEST (after_a_restart_in_any_state_the_journal_has_what_was_promised)
{
  gboolean restarted[IRISD_N_ITEM_STATES] = { FALSE };
  guint n_left = IRISD_N_ITEM_STATES - 1; /* only a volatile item depends on others */
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  start_journal ();
  for (guint64 number = 1; n_left > 0; number++)
    {
      Walker walker = { .model = { .persistent = TRUE, .holder = GATEWAY }, .number = number };
      walker.job = new_job (number);
      guint n = (guint) g_rand_int_range (rand, 0, N_STEPS);
      while (restarted[walker.state] && n-- > 0 && walk_on (&walker, rand))
        ;
      if (!restarted[walker.state])
        {
          restart (&walker);
          restarted[walker.state] = TRUE;
          n_left--;
        }
      lose_job (&walker);
    }
}
END_TEST

/* --- the rest ------------------------------------------------------------------------------------
 */

static void
say_nothing (const char *domain, GLogLevelFlags level, const char *message, gpointer user_data)
{
}

START_TEST (an_event_that_cannot_be_ends_irisd)
{
  int status = 0;
  pid_t pid = fork ();
  if (pid == 0)
    {
      g_log_set_default_handler (say_nothing, NULL);
      irisd_job_advance (new_job (1), IRISD_EVENT_START);
      _exit (EXIT_SUCCESS);
    }
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert (WIFSIGNALED (status));
}
END_TEST

/* The worker and the gateway that cancels: one of them has the job. */
static gpointer
cancel_it (gpointer data)
{
  return GINT_TO_POINTER (irisd_job_advance (data, IRISD_EVENT_CANCEL));
}

START_TEST (of_a_start_and_a_cancel_at_the_same_time_each_knows_how_it_ended)
{
  for (guint i = 0; i < 500; i++)
    {
      IrisdJob *job = new_job (1);
      job->lasting = FALSE;
      irisd_job_advance (job, IRISD_EVENT_ACCEPT);
      irisd_job_advance (job, IRISD_EVENT_QUEUE);
      GThread *thread = g_thread_new ("cancel", cancel_it, job);
      gboolean started = irisd_job_advance (job, IRISD_EVENT_START);
      ck_assert (GPOINTER_TO_INT (g_thread_join (thread)));
      ck_assert_int_eq (irisd_job_get_state (job),
                        started ? IRISD_ITEM_STOPPING : IRISD_ITEM_CANCELLED);
      g_aligned_free (job);
    }
}
END_TEST

static const char *source_root;

START_TEST (the_page_is_what_the_table_says)
{
  g_autofree char *path = g_build_filename (source_root, "doc", "item-states.md", NULL);
  g_autofree char *page = NULL;
  ck_assert (g_file_get_contents (path, &page, NULL, NULL));
  g_autoptr (GString) table = irisd_item_states_describe ();
  ck_assert_msg (strstr (page, table->str) != NULL,
                 "doc/item-states.md differs from the table: print that with --print, and put it "
                 "where the diagram and the table are");
}
END_TEST

int
main (int argc, char **argv)
{
  if (argc > 1 && g_str_equal (argv[1], "--print"))
    {
      g_autoptr (GString) table = irisd_item_states_describe ();
      fputs (table->str, stdout);
      return EXIT_SUCCESS;
    }
  source_root = argv[1];
  Suite *suite = suite_create ("irisd-item-state");
  TCase *tcase = tcase_create ("table");
  tcase_set_timeout (tcase, 0);
  tcase_add_test (tcase, random_events_lead_where_the_model_says);
  tcase_add_test (tcase, of_a_start_and_a_cancel_at_the_same_time_each_knows_how_it_ended);
  tcase_add_test (tcase, the_page_is_what_the_table_says);
  tcase_add_test (tcase, an_event_that_cannot_be_ends_irisd);
  suite_add_tcase (suite, tcase);
  TCase *restarts = tcase_create ("restarts");
  tcase_add_checked_fixture (restarts, set_up, tear_down);
  tcase_set_timeout (restarts, 0);
  tcase_add_test (restarts, after_a_restart_in_any_state_the_journal_has_what_was_promised);
  suite_add_tcase (suite, restarts);
  return core_test_run (suite);
}
