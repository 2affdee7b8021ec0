/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state machine of an item: its states, its events, and which event leads where.
 *
 * doc/item-states.md draws it; that page is printed from the table here.
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* Where an item is. The last four have no job: the entry of the journal says which it is. */
typedef enum
{
  IRISD_ITEM_SUBMITTED, /* it was read, and nothing is promised yet */
  /* its row is on its way to the journal; it is accepted when the journal has it */
  IRISD_ITEM_ACCEPTING,
  IRISD_ITEM_ACCEPTING_CANCELLED, /* the same, and it was cancelled meanwhile */
  /* its gateway ran it at once; its row and its end are on their way to the journal together */
  IRISD_ITEM_DONE,
  IRISD_ITEM_ACCEPTED,   /* its gateway has it in hand, and decides what it waits for next */
  IRISD_ITEM_DEPENDENT,  /* it waits for its dependencies */
  IRISD_ITEM_DELAYED,    /* it waits for its time, or for the time of its next try */
  IRISD_ITEM_PAUSED,     /* it was reloaded, and the requests that wait for it come first */
  IRISD_ITEM_SUSPENDED,  /* it waits until a request lets it go on */
  IRISD_ITEM_BLOCKED,    /* it waits until its client acknowledges earlier results */
  IRISD_ITEM_PERMIT,     /* it waits for a permit */
  IRISD_ITEM_SLOT,       /* it waits until fewer commands run */
  IRISD_ITEM_QUEUED,     /* it is in the fair queue of its place, or the scheduler has it */
  IRISD_ITEM_OFFERED,    /* it waits for a worker process */
  IRISD_ITEM_LEASED,     /* a worker process has it */
  IRISD_ITEM_RUNNING,    /* a worker runs it */
  IRISD_ITEM_STOPPING,   /* a worker runs it, and was asked to stop */
  IRISD_ITEM_HELD,       /* it comes back without having run, because its client owes too much */
  IRISD_ITEM_DROPPED,    /* it comes back without having run, with the reason as its error */
  IRISD_ITEM_CANCELLED,  /* it will not run; something else still has it, and gives it back */
  IRISD_ITEM_RETURNED,   /* its gateway has it in hand with a result or an error */
  IRISD_ITEM_COMPLETING, /* the journal is writing its end */
  IRISD_ITEM_COMPLETING_OUT, /* the same, and something else still has it */
  IRISD_ITEM_BURYING,        /* the journal is writing that it is buried */
  IRISD_ITEM_BURYING_OUT,    /* the same, and something else still has it */
  IRISD_ITEM_SHELL,          /* its completion is sent; something else still has its job */
  IRISD_ITEM_COMPLETED,      /* it has ended, and its completion is sent now */
  IRISD_ITEM_PUT_OFF,        /* its client gets the error that it runs after the next start */
  IRISD_ITEM_BURIED,         /* it is set aside until it is kicked; only the journal has it */
  IRISD_ITEM_SPILLED,        /* it waits, and only the journal has it */
  IRISD_ITEM_STORED,         /* it is to run, and only the journal has it */
  /* its job is freed; what the journal has of it stays: an end or, behind a shell, a burial */
  IRISD_ITEM_RELEASED,
  IRISD_N_ITEM_STATES,
} IrisdItemState;

/* What happens to an item. */
typedef enum
{
  IRISD_EVENT_ACCEPT,      /* a volatile item is accepted */
  IRISD_EVENT_DEPEND,      /* the same, and it has dependencies */
  IRISD_EVENT_WRITE_ROW,   /* its row goes to the journal */
  IRISD_EVENT_REFUSE,      /* it is not accepted, or there already */
  IRISD_EVENT_RUN_AT_ONCE, /* its gateway runs it itself */
  IRISD_EVENT_DELAY,       /* it has to wait for its time */
  IRISD_EVENT_PAUSE,       /* it has to wait for requests about it */
  IRISD_EVENT_SUSPEND,     /* it has to wait until a request lets it go on */
  IRISD_EVENT_BLOCK,       /* it has to wait for acknowledgements */
  IRISD_EVENT_ASK_PERMIT,  /* it has to wait for a permit */
  IRISD_EVENT_ASK_SLOT,    /* it has to wait for a slot */
  IRISD_EVENT_QUEUE,       /* it goes to the fair queue of its place */
  IRISD_EVENT_OFFER,       /* it goes to the table of leases */
  IRISD_EVENT_PASS,        /* what it waited for has come */
  IRISD_EVENT_WITHDRAW,    /* it is taken out of what it waits in */
  IRISD_EVENT_SPILL,       /* its job is freed; the journal has all of it */
  IRISD_EVENT_RESTORE,     /* it is read from the journal, and has a job again */
  IRISD_EVENT_RESUME,      /* a worker process has it since before a crash, and may come back */
  IRISD_EVENT_LEASE,       /* a worker process gets it */
  IRISD_EVENT_UNLEASE,     /* it waits for a worker process, perhaps again */
  IRISD_EVENT_START,       /* a worker begins to run it */
  IRISD_EVENT_HOLD,        /* a worker does not run it, because its client owes too much */
  IRISD_EVENT_DROP,      /* a worker does not run it, because irisd stops or its client has gone */
  IRISD_EVENT_CANCEL,    /* it is not wanted any more, or has run too long */
  IRISD_EVENT_ABANDON,   /* its client has gone; a run goes on */
  IRISD_EVENT_RETURN,    /* its gateway has it again */
  IRISD_EVENT_FAIL,      /* it ends with an error before it ran */
  IRISD_EVENT_RETRY,     /* it failed, and is tried again */
  IRISD_EVENT_COMPLETE,  /* a volatile item has ended */
  IRISD_EVENT_TELL,      /* a volatile item has ended before it is given back */
  IRISD_EVENT_WRITE_END, /* its end goes to the journal */
  IRISD_EVENT_BURY,      /* its burial goes to the journal */
  IRISD_EVENT_WRITTEN,   /* the journal has written it; of a durable item it is on the disk */
  IRISD_EVENT_UNWRITTEN, /* the journal could not write it */
  IRISD_EVENT_PUT_OFF,   /* irisd ends, and the item stays in the journal */
  IRISD_EVENT_KICK,      /* a buried one is to run */
  IRISD_EVENT_RELEASE,   /* its completion is sent; its job is freed */
  IRISD_N_ITEM_EVENTS,
} IrisdItemEvent;

/* What a transition does, besides setting the state that SHOW reports. */
typedef enum
{
  IRISD_ACTION_NONE,           /* nothing but the change */
  IRISD_ACTION_NOTE_START,     /* the journal's entry says when it began */
  IRISD_ACTION_NAME_CANCELLED, /* its error says that it was cancelled before it ran */
  IRISD_ACTION_RESET,          /* its result is thrown away */
} IrisdItemAction;

/* What an event means in a state. */
typedef enum
{
  IRISD_RULE_ILLEGAL, /* cannot be */
  IRISD_RULE_MOVE,    /* the state changes */
  IRISD_RULE_LATE,    /* the event comes too late, and changes nothing */
} IrisdItemRule;

/* Which items a transition is for. */
typedef enum
{
  IRISD_FOR_ALL,        /* every item */
  IRISD_FOR_VOLATILE,   /* items that the journal does not have */
  IRISD_FOR_PERSISTENT, /* items that it has */
} IrisdItemClass;

/* One cell of the table. */
typedef struct
{
  guint8 rule;    /* what the event means */
  guint8 next;    /* the state afterwards, with IRISD_RULE_MOVE */
  guint8 action;  /* what is done then */
  guint8 items;   /* which items it is for */
  guint8 durable; /* of a durable item something has to be on the disk before */
} IrisdItemTransition;

/* What irisd may find of a durable item after a crash. */
typedef enum
{
  IRISD_FOUND_NOTHING = 1 << 0, /* nothing: it was not accepted, or is volatile */
  IRISD_FOUND_STORED = 1 << 1,  /* an item that is to run */
  IRISD_FOUND_BURIED = 1 << 2,  /* a buried item */
  IRISD_FOUND_ENDED = 1 << 3,   /* an end, until it is acknowledged */
} IrisdItemFound;

/* The state of one item. Only irisd_item_word_advance() changes it. */
typedef _Atomic guint8 IrisdItemWord;

const IrisdItemTransition *irisd_item_get_transition (IrisdItemState state, IrisdItemEvent event);
const char *irisd_item_state_name (IrisdItemState state);
const char *irisd_item_event_name (IrisdItemEvent event);
guint irisd_item_state_get_told (IrisdItemState state);
IrisdItemFound irisd_item_state_get_found (IrisdItemState state);
gboolean irisd_item_state_has_job (IrisdItemState state);
gboolean irisd_item_state_is_over (IrisdItemState state);
gboolean irisd_item_state_is_burial (IrisdItemState state);
GString *irisd_item_states_describe (void);

void irisd_item_word_init (IrisdItemWord *self, IrisdItemState state);
IrisdItemState irisd_item_word_get (IrisdItemWord *self);
const IrisdItemTransition *irisd_item_word_advance (IrisdItemWord *self,
                                                    IrisdItemEvent event,
                                                    gboolean persistent,
                                                    guint64 item);

G_END_DECLS
