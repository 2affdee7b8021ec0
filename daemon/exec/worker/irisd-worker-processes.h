/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that worker processes run: the table of leases, shared by all gateways.
 */
#pragma once

#include "daemon/exec/worker/irisd-away-item.h"
#include "daemon/exec/worker/irisd-leases.h"

G_BEGIN_DECLS

typedef struct _IrisdWorkerProcesses IrisdWorkerProcesses;
typedef struct _IrisdWorkerProcess IrisdWorkerProcess;
typedef struct _IrisdLeasedItem IrisdLeasedItem;
typedef struct _IrisdWorkerEvent IrisdWorkerEvent;

/* The service of all items for worker processes, under any name. */
extern const IrisdService irisd_service_worker_processes;

/* A connection that has sent READY. It belongs to the thread of its gateway, except @worker, which
 * the lock guards. */
struct _IrisdWorkerProcess
{
  IrisdWorker base;
  _Atomic guint refs;
  IrisdMailbox *mailbox; /* of its gateway */
  char *name;
  _Atomic gint64 heard_us; /* when a message last came */

  /* NULL once it has ended */
  IrisdPeer *peer; /* NULL once it has gone */
  GList link;      /* of the gateway's, silent longest first */
};

/* The part of an item that a worker process receives. Constant once it was queued, except marked
 * members. */
struct _IrisdLeasedItem
{
  IrisdLeaseEntry entry; /* under the lock */
  IrisdJob *job;         /* under the lock: its job while it is in the table */
  _Atomic guint refs;
  char *service;
  char *content_type;
  char **args;
  char *path;
  gboolean progress;
  gboolean parts;
  gboolean waits;         /* for a service that is not known */
  zmq_msg_t payload;      /* under the lock */
  IrisdAwayItem *away;    /* NULL, or what an item for another node has besides */
  guint slot;             /* in the record of attempts, or IRISD_ATTEMPT_NONE; as item is */
  guint n_leases;         /* under the lock; goes on when it is tried again */
  IrisdJob *messages_for; /* for the job's gateway: the job of messages about parts, NULL once it is
                             freed */

  char *result_type; /* for the thread that has the job */

  /* The latest REPORT, under the lock. */
  gboolean report_posted;
  gboolean has_fraction;
  guint32 fraction;
  char *note;
};

typedef enum
{
  IRISD_WORKER_EVENT_LEASE,  /* the worker has a new lease */
  IRISD_WORKER_EVENT_STOP,   /* the worker has lost a lease */
  IRISD_WORKER_EVENT_REPORT, /* there is a report about an item */
  IRISD_WORKER_EVENT_PART,   /* a part of an item's result */
  IRISD_WORKER_EVENT_GRANT,  /* the worker may send more parts */
} IrisdWorkerEventKind;

/* A message to the gateway of a worker or of an item. */
struct _IrisdWorkerEvent
{
  IrisdMessage message;
  IrisdWorkerEventKind kind;
  IrisdWorkerProcess *worker;   /* of a lease */
  IrisdLeasedItem *leased_item; /* of LEASE, REPORT and PART */
  guint64 lease;
  guint attempt;
  IrisWireError why;
  guint64 credit;           /* of LEASE and GRANT, for parts */
  IrisdTraceContext *trace; /* of LEASE; NULL: the item belongs to no trace */
  guint channel;            /* of PART: of a command that runs on another node, or 0 */
  GBytes *header;           /* of LEASE of an item for another node, also below; else NULL */
  guint64 item;
  gint64 owner;
  guint retries;
  guint64 deadline_ms; /* 0 for none */
  zmq_msg_t payload;
};

IrisdWorkerProcesses *irisd_worker_processes_new (IrisdCore *core);
void irisd_worker_processes_free (IrisdWorkerProcesses *self);

/* For the gateways of clients. */
gboolean irisd_worker_processes_knows (IrisdWorkerProcesses *self,
                                       gint64 space,
                                       const IrisWireMessage *item,
                                       gboolean patient);
gboolean irisd_worker_processes_await (IrisdWorkerProcesses *self,
                                       gint64 space,
                                       const IrisWireString *name,
                                       GError **error);
void irisd_worker_processes_expect (IrisdWorkerProcesses *self,
                                    gint64 space,
                                    const char *name,
                                    gboolean lasting);
void irisd_worker_processes_adopt (IrisdJob *job, const IrisWireMessage *item, gint place);
void
irisd_worker_processes_send_away (IrisdJob *job, const IrisWireMessage *item, IrisdAwayItem *away);
void irisd_worker_processes_name_nodes (IrisdWorkerProcesses *self, IrisWirePersistentList *list);
void irisd_worker_processes_queue (IrisdWorkerProcesses *self, IrisdJob *job, gint64 space);
void irisd_worker_processes_restore (IrisdWorkerProcesses *self,
                                     IrisdJob *job,
                                     gint64 space,
                                     const IrisdLeased *leased);
IrisdLeaseEntryState irisd_worker_processes_withdraw (IrisdWorkerProcesses *self, IrisdJob *job);
IrisdLeaseEntryState
irisd_worker_processes_withdraw_waiting (IrisdWorkerProcesses *self, IrisdJob *job);
IrisdJob *irisd_worker_processes_take_report (IrisdWorkerProcesses *self,
                                              IrisdLeasedItem *leased_item,
                                              IrisWireMessage *out,
                                              char **note);

/* For the gateways of workers. */
IrisdWorkerProcess *irisd_worker_process_new (IrisdMailbox *mailbox, IrisdPeer *peer);
void irisd_worker_process_unref (IrisdWorkerProcess *self);
gboolean irisd_worker_processes_enroll (IrisdWorkerProcesses *self,
                                        IrisdWorkerProcess *worker,
                                        gint place,
                                        guint capacity,
                                        const IrisWireServices *services,
                                        GError **error);
gboolean
irisd_worker_processes_is_entitled (IrisdWorkerProcesses *self, IrisdWorkerProcess *worker);
void irisd_worker_processes_leave (IrisdWorkerProcesses *self, IrisdWorkerProcess *worker);
gboolean irisd_worker_processes_done (IrisdWorkerProcesses *self,
                                      IrisdWorkerProcess *worker,
                                      const IrisWireMessage *done,
                                      zmq_msg_t *body);
gboolean irisd_worker_processes_fail (IrisdWorkerProcesses *self,
                                      IrisdWorkerProcess *worker,
                                      const IrisWireMessage *fail);
gboolean irisd_worker_processes_extend (IrisdWorkerProcesses *self,
                                        IrisdWorkerProcess *worker,
                                        const IrisWireMessage *extend);
gboolean irisd_worker_processes_report (IrisdWorkerProcesses *self,
                                        IrisdWorkerProcess *worker,
                                        const IrisWireMessage *report);

void irisd_worker_processes_name_lease (IrisdWorkerProcesses *self, guint64 lease, guint8 *id);

gboolean irisd_worker_processes_part (IrisdWorkerProcesses *self,
                                      IrisdWorkerProcess *worker,
                                      const IrisWireMessage *report,
                                      zmq_msg_t *body);
gboolean irisd_worker_processes_grant (IrisdWorkerProcesses *self,
                                       IrisdJob *job,
                                       guint64 bytes,
                                       guint64 limit);

/* For the front gateway, which keeps the time, and for the main thread. */
gint64 irisd_worker_processes_get_alarm (IrisdWorkerProcesses *self);
void irisd_worker_processes_expire (IrisdWorkerProcesses *self);
void irisd_worker_processes_resume (IrisdWorkerProcesses *self);
void irisd_worker_processes_drain (IrisdWorkerProcesses *self);
void irisd_worker_processes_close (IrisdWorkerProcesses *self);

IrisWireWorkers *irisd_worker_processes_describe_workers (IrisdWorkerProcesses *self, gint64 view);
void irisd_worker_processes_add_services (IrisdWorkerProcesses *self,
                                          gint64 space,
                                          IrisWireServices *list);

guint irisd_worker_processes_count_leased (IrisdWorkerProcesses *self, GHashTable *by_name);

void irisd_worker_event_free (IrisdWorkerEvent *self);

#define irisd_worker_event_from_message(pointer) \
  IRISD_CONTAINER (pointer, IrisdWorkerEvent, message)

G_END_DECLS
