/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is asked of the servers next to go on with a schedule.
 *
 * The test goes through orders of the steps of a home, of hosts and of the servers, and checks that
 * no run is made twice and that the schedule goes on.
 */
#include "irisd-chain-step.h"

/* @run_ms: of a host: when the run is due that it has; 0: this is the home. */
void
irisd_chain_step_init (IrisdChainStep *self, guint64 run_ms)
{
  *self = (IrisdChainStep){ .run_ms = run_ms, .action = IRISD_CHAIN_DONE };
}

static IrisdChainAction
say (IrisdChainStep *self, IrisdChainAction action)
{
  self->action = action;
  return action;
}

static IrisdChainAction
put_head (IrisdChainStep *self)
{
  self->put_ms = self->wish == IRISD_CHAIN_KEEP ? self->due_ms : IRISD_CHAIN_EMPTY;
  return say (self, IRISD_CHAIN_PUT_HEAD);
}

static IrisdChainAction
put_copy (IrisdChainStep *self)
{
  self->put_ms = self->due_ms;
  return say (self, IRISD_CHAIN_PUT_COPY);
}

static IrisdChainAction
compare_host (IrisdChainStep *self)
{
  if (self->head == 0 || self->head_ms < self->run_ms)
    return say (self, IRISD_CHAIN_DONE); /* its home has dropped the schedule */
  if (self->head_ms == self->run_ms)
    return put_head (self);
  self->due_ms = self->head_ms;
  return say (self, IRISD_CHAIN_ASK_COPY);
}

/* The head is known, or that there is none. */
static IrisdChainAction
compare (IrisdChainStep *self)
{
  if (self->wish == IRISD_CHAIN_LOOK)
    return say (self, IRISD_CHAIN_DONE);
  if (self->run_ms > 0)
    return compare_host (self);
  if (self->wish == IRISD_CHAIN_KEEP && self->head > 0 && self->head_ms > self->due_ms)
    return say (self, IRISD_CHAIN_DONE); /* the run was made without this node */
  if (self->wish == IRISD_CHAIN_DROP && (self->head == 0 || self->head_ms == IRISD_CHAIN_EMPTY))
    return say (self, IRISD_CHAIN_REMOVE);
  return put_head (self);
}

static IrisdChainAction
begin (IrisdChainStep *self)
{
  self->changed = FALSE;
  if (self->wish == IRISD_CHAIN_LOOK || self->head == 0)
    return say (self, IRISD_CHAIN_ASK_HEAD);
  return compare (self);
}

/* @due_ms: of KEEP; of a host, of the run after its own. */
IrisdChainAction
irisd_chain_step_wish (IrisdChainStep *self, IrisdChainWish wish, guint64 due_ms)
{
  self->wish = wish;
  self->due_ms = due_ms;
  self->changed = TRUE;
  self->failed = FALSE;
  return self->action == IRISD_CHAIN_DONE || self->action == IRISD_CHAIN_PAUSE
             ? begin (self)
             : IRISD_CHAIN_NOTHING;
}

/* What is to be done after an answer that tells nothing. */
static gboolean
is_no_answer (IrisdChainStep *self, IrisdChainAnswer answer, IrisdChainAction *action)
{
  self->silent = answer == IRISD_CHAIN_SILENT;
  self->failed = answer == IRISD_CHAIN_NEVER;
  if (self->silent || self->failed)
    *action = say (self, self->silent ? IRISD_CHAIN_PAUSE : IRISD_CHAIN_DONE);
  return self->silent || self->failed;
}

IrisdChainAction
irisd_chain_step_head (IrisdChainStep *self,
                       IrisdChainAnswer answer,
                       guint64 sequence,
                       guint64 head_ms)
{
  IrisdChainAction action;

  self->changed = FALSE;
  self->head = answer == IRISD_CHAIN_YES ? sequence : 0;
  self->head_ms = answer == IRISD_CHAIN_YES ? head_ms : IRISD_CHAIN_EMPTY;
  if (is_no_answer (self, answer, &action))
    return action;
  return compare (self);
}

IrisdChainAction
irisd_chain_step_put_head (IrisdChainStep *self, IrisdChainAnswer answer, guint64 sequence)
{
  IrisdChainAction action;

  self->head = answer == IRISD_CHAIN_YES ? sequence : 0;
  self->head_ms = self->put_ms;
  if (is_no_answer (self, answer, &action))
    return action;
  if (answer != IRISD_CHAIN_YES || self->changed)
    return begin (self);
  if (self->wish == IRISD_CHAIN_DROP)
    return say (self, IRISD_CHAIN_REMOVE);
  return self->copy > 0 ? put_copy (self) : say (self, IRISD_CHAIN_ASK_COPY);
}

/* @copy_ms: of which run the copy with @sequence is. */
IrisdChainAction
irisd_chain_step_copy (IrisdChainStep *self,
                       IrisdChainAnswer answer,
                       guint64 sequence,
                       guint64 copy_ms)
{
  IrisdChainAction action;

  if (is_no_answer (self, answer, &action))
    return action;
  if (self->changed)
    return begin (self);
  if (answer == IRISD_CHAIN_NO)
    return say (self, IRISD_CHAIN_ASK_DUE);
  /* The copy of an earlier run becomes due, and its host goes on. */
  if (self->run_ms > 0)
    return say (self, IRISD_CHAIN_DONE);
  self->copy = sequence;
  self->copy_ms = copy_ms;
  return put_copy (self);
}

/* Whether the run was made: the answer to ASK_DUE and ASK_END. */
IrisdChainAction
irisd_chain_step_made (IrisdChainStep *self, IrisdChainAnswer answer)
{
  IrisdChainAction action;

  if (is_no_answer (self, answer, &action))
    return action;
  if (self->changed)
    return begin (self);
  if (answer == IRISD_CHAIN_YES)
    return say (self, IRISD_CHAIN_DONE); /* the host that has that run goes on */
  return self->action == IRISD_CHAIN_ASK_DUE ? say (self, IRISD_CHAIN_ASK_END) : put_copy (self);
}

IrisdChainAction
irisd_chain_step_put_copy (IrisdChainStep *self, IrisdChainAnswer answer, guint64 sequence)
{
  IrisdChainAction action;
  const gboolean replaced = self->copy > 0;

  if (answer == IRISD_CHAIN_YES && replaced && self->copy_ms != self->put_ms)
    self->sure_ms = self->copy_ms;
  self->copy = answer == IRISD_CHAIN_YES ? sequence : 0;
  self->copy_ms = self->put_ms;
  if (is_no_answer (self, answer, &action))
    return action;
  if (self->changed)
    return begin (self);
  if (answer != IRISD_CHAIN_NO)
    return say (self, IRISD_CHAIN_DONE);
  /* It was due; or another one has moved the head. */
  if (replaced)
    return say (self, IRISD_CHAIN_ASK_COPY);
  self->head = 0;
  return begin (self);
}

/* The copy is removed, if there was one. */
IrisdChainAction
irisd_chain_step_removed (IrisdChainStep *self, IrisdChainAnswer answer)
{
  IrisdChainAction action;

  if (is_no_answer (self, answer, &action))
    return action;
  self->copy = 0;
  return self->changed ? begin (self) : say (self, IRISD_CHAIN_DONE);
}

/* After a pause. */
IrisdChainAction
irisd_chain_step_resume (IrisdChainStep *self)
{
  return self->action == IRISD_CHAIN_PAUSE ? begin (self) : IRISD_CHAIN_NOTHING;
}

/* Of a home: what became of the copy of the run at @due_ms. */
IrisdChainFound
irisd_chain_step_find (const IrisdChainStep *self, guint64 due_ms)
{
  const guint64 next_ms = self->wish == IRISD_CHAIN_KEEP   ? self->due_ms
                          : self->wish == IRISD_CHAIN_LOOK ? self->head_ms
                                                           : IRISD_CHAIN_EMPTY;

  if (self->action != IRISD_CHAIN_DONE)
    return self->silent ? IRISD_CHAIN_STUCK : IRISD_CHAIN_BUSY;
  /* The next run has not been told of yet. */
  if (next_ms > IRISD_CHAIN_DAMAGED && next_ms <= due_ms && !self->failed)
    return IRISD_CHAIN_BUSY;
  return self->sure_ms == due_ms ? IRISD_CHAIN_SURE : IRISD_CHAIN_UNSURE;
}
