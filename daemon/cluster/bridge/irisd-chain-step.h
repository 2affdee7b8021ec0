/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is asked of the servers next to go on with a schedule.
 *
 * Pure logic: no socket, no thread, no clock. Each function but the first says what is to be done,
 * which the function of that name answers.
 *
 * Of a schedule the servers have two messages. The *head* stays: it says which run is the next one,
 * and moves from run to run by compare-and-set, never back. The *copy* of that run waits for its
 * time; then the servers make it what is due. A run is due until it has an end.
 *
 * * First the head moves, then the copy is stored. It is stored on the condition that the head has
 *   not moved since; its message has an id of the run and of the head, so that the servers take it
 *   once. Where it may have been stored before, the copy, what is due and the end are asked for, in
 *   the order in which a run goes through them.
 * * So once the head has moved beyond a run, no copy of that run is stored any more. What its home
 *   has to know before it publishes the run itself is whether a copy was due: the copy that it has
 *   replaced was not, and of others it asks.
 * * A host moves the head on from the run that it has. If another one has moved it already, it
 *   makes sure that the copy is there, as that one may have been killed in between.
 *
 * DROP empties the head, with which no host goes on, and removes the copy.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* In place of the time of a run. */
#define IRISD_CHAIN_EMPTY   G_GUINT64_CONSTANT (0)
#define IRISD_CHAIN_DAMAGED G_GUINT64_CONSTANT (1)

typedef enum
{
  IRISD_CHAIN_LOOK, /* what is there? */
  IRISD_CHAIN_KEEP, /* the run at `due_ms` is the next one */
  IRISD_CHAIN_DROP, /* there is none */
} IrisdChainWish;

typedef enum
{
  IRISD_CHAIN_NOTHING, /* an answer is to come */
  IRISD_CHAIN_ASK_HEAD,
  IRISD_CHAIN_PUT_HEAD, /* if the last one has `head`; 0: if there is none */
  IRISD_CHAIN_ASK_COPY,
  IRISD_CHAIN_ASK_DUE,  /* whether the run at `due_ms` is due now */
  IRISD_CHAIN_ASK_END,  /* whether it has an end */
  IRISD_CHAIN_PUT_COPY, /* if the last one has `copy`; 0: if the head has `head` */
  IRISD_CHAIN_REMOVE,   /* the copy */
  IRISD_CHAIN_PAUSE,
  IRISD_CHAIN_DONE,
} IrisdChainAction;

typedef enum
{
  IRISD_CHAIN_YES,    /* it is there, or is stored */
  IRISD_CHAIN_NO,     /* it is not there, or the condition did not hold */
  IRISD_CHAIN_SILENT, /* not known */
  IRISD_CHAIN_BEFORE, /* of a copy: it was stored before */
  IRISD_CHAIN_NEVER,  /* the cluster keeps no copies */
} IrisdChainAnswer;

/* What is known of the copy of a run that its home is to publish. */
typedef enum
{
  IRISD_CHAIN_OTHER,  /* it is no run of a schedule that is known here */
  IRISD_CHAIN_BUSY,   /* ask again soon */
  IRISD_CHAIN_STUCK,  /* likewise: the servers do not answer */
  IRISD_CHAIN_SURE,   /* it never was due */
  IRISD_CHAIN_UNSURE, /* it may be or have been due; it does not become due any more */
} IrisdChainFound;

typedef struct
{
  guint64 run_ms; /* constant: of a host, the run that it has; 0: this is the home */
  IrisdChainWish wish;
  guint64 due_ms;
  IrisdChainAction action; /* what was said last */
  guint64 head;            /* its sequence; 0: not known, or there is none */
  guint64 head_ms;         /* which run it says */
  guint64 copy;            /* likewise of the copy */
  guint64 copy_ms;
  guint64 sure_ms; /* of a run whose copy never became due; 0: none */
  gboolean failed; /* the cluster keeps no copies */
  gboolean silent; /* the last answer was none */

  /*< private >*/
  gboolean changed;
  guint64 put_ms;
} IrisdChainStep;

void irisd_chain_step_init (IrisdChainStep *self, guint64 run_ms);
IrisdChainAction irisd_chain_step_wish (IrisdChainStep *self, IrisdChainWish wish, guint64 due_ms);
IrisdChainAction irisd_chain_step_head (IrisdChainStep *self,
                                        IrisdChainAnswer answer,
                                        guint64 sequence,
                                        guint64 head_ms);
IrisdChainAction
irisd_chain_step_put_head (IrisdChainStep *self, IrisdChainAnswer answer, guint64 sequence);
IrisdChainAction irisd_chain_step_copy (IrisdChainStep *self,
                                        IrisdChainAnswer answer,
                                        guint64 sequence,
                                        guint64 copy_ms);
IrisdChainAction irisd_chain_step_made (IrisdChainStep *self, IrisdChainAnswer answer);
IrisdChainAction
irisd_chain_step_put_copy (IrisdChainStep *self, IrisdChainAnswer answer, guint64 sequence);
IrisdChainAction irisd_chain_step_removed (IrisdChainStep *self, IrisdChainAnswer answer);
IrisdChainAction irisd_chain_step_resume (IrisdChainStep *self);
IrisdChainFound irisd_chain_step_find (const IrisdChainStep *self, guint64 due_ms);

G_END_DECLS
