/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that worker processes do: the book of leases as all gateways share it.
 */
#pragma once

#include "irisd-job.h"
#include "irisd-lease.h"

G_BEGIN_DECLS

typedef struct _IrisdOutside IrisdOutside;
typedef struct _IrisdOutsideWorker IrisdOutsideWorker;
typedef struct _IrisdTask IrisdTask;
typedef struct _IrisdNotice IrisdNotice;

/* What items for worker processes name, whatever the name is. */
extern const IrisdService irisd_service_outside;

/**
 * IrisdOutsideWorker:
 *
 * A connection that said READY. It belongs to the thread of its gateway, but for what the lock
 * guards: @server.
 */
struct _IrisdOutsideWorker
{
  IrisdServer server;
  _Atomic guint refs;
  IrisdGateway *gateway;
  char *name;
  _Atomic gint64 heard_us; /* when it was heard last */

  /*< private >*/
  IrisdPeer *peer; /* NULL once it has gone */
  GList link;      /* of the gateway's, silent longest first */
};

/**
 * IrisdTask:
 *
 * What a worker process is told of an item. Constant once it was queued, but for what is marked.
 */
struct _IrisdTask
{
  IrisdErrand errand; /* under the lock */
  IrisdJob *job;      /* under the lock: whose it is while it is in the book */
  _Atomic guint refs;
  char *service;
  char *content_type;
  char **args;
  char *path;
  gboolean progress;
  gboolean parts;
  gboolean waits;    /* for a service that is not known */
  zmq_msg_t payload; /* under the lock */
  guint slot;        /* as errand is: in the record of attempts, or IRISD_ATTEMPT_NONE */
  guint n_leases;    /* under the lock; not begun anew when it is tried again */
  IrisdJob
      *letters_for; /* of the job's gateway: whose letters about parts are, NULL once it is gone */

  char *result_type; /* belongs to whoever holds the job */

  /* The latest REPORT, under the lock. */
  gboolean report_posted;
  gboolean has_fraction;
  guint32 fraction;
  char *note;
};

/**
 * IrisdNoticeKind:
 * @IRISD_NOTICE_LEASE: the worker has a new lease
 * @IRISD_NOTICE_STOP: the worker has lost a lease
 * @IRISD_NOTICE_REPORT: there is a report about an item
 * @IRISD_NOTICE_PART: a part of an item's result
 * @IRISD_NOTICE_GRANT: the worker may send more parts
 */
typedef enum
{
  IRISD_NOTICE_LEASE,
  IRISD_NOTICE_STOP,
  IRISD_NOTICE_REPORT,
  IRISD_NOTICE_PART,
  IRISD_NOTICE_GRANT,
} IrisdNoticeKind;

/**
 * IrisdNotice:
 *
 * A letter to the gateway of a worker or of an item.
 */
struct _IrisdNotice
{
  IrisdLetter letter;
  IrisdNoticeKind kind;
  IrisdOutsideWorker *worker; /* of a lease */
  IrisdTask *task;            /* of LEASE, REPORT and PART */
  guint64 lease;
  guint attempt;
  IrisWireError why;
  guint64 credit; /* of LEASE and GRANT, for parts */
  zmq_msg_t payload;
};

IrisdOutside *irisd_outside_new (IrisdCore *core);
void irisd_outside_free (IrisdOutside *self);

/* For the gateways of clients. */
gboolean irisd_outside_knows (IrisdOutside *self,
                              gint64 space,
                              const IrisWireMessage *item,
                              gboolean patient);
gboolean
irisd_outside_await (IrisdOutside *self, gint64 space, const IrisWireString *name, GError **error);
void irisd_outside_expect (IrisdOutside *self, gint64 space, const IrisWireString *name);
void irisd_outside_expect_configured (IrisdOutside *self);
void irisd_outside_adopt (IrisdJob *job, const IrisWireMessage *item, gint place);
void irisd_outside_renew (IrisdJob *job);
void irisd_outside_forget (IrisdJob *job);
void irisd_outside_queue (IrisdOutside *self, IrisdJob *job, gint64 space);
gboolean
irisd_outside_restore (IrisdOutside *self, IrisdJob *job, gint64 space, const IrisdLeased *leased);
IrisdErrandState irisd_outside_withdraw (IrisdOutside *self, IrisdJob *job);
IrisdErrandState irisd_outside_withdraw_waiting (IrisdOutside *self, IrisdJob *job);
IrisdJob *
irisd_outside_take_report (IrisdOutside *self, IrisdTask *task, IrisWireMessage *out, char **note);

/* For the gateways of workers. */
IrisdOutsideWorker *irisd_outside_worker_new (IrisdGateway *gateway, IrisdPeer *peer);
void irisd_outside_worker_unref (IrisdOutsideWorker *self);
gboolean irisd_outside_enroll (IrisdOutside *self,
                               IrisdOutsideWorker *worker,
                               gint place,
                               guint capacity,
                               const IrisWireServices *services,
                               GError **error);
void irisd_outside_leave (IrisdOutside *self, IrisdOutsideWorker *worker);
gboolean irisd_outside_done (IrisdOutside *self,
                             IrisdOutsideWorker *worker,
                             const IrisWireMessage *done,
                             zmq_msg_t *body);
gboolean
irisd_outside_fail (IrisdOutside *self, IrisdOutsideWorker *worker, const IrisWireMessage *fail);
gboolean irisd_outside_extend (IrisdOutside *self,
                               IrisdOutsideWorker *worker,
                               const IrisWireMessage *extend);
gboolean irisd_outside_report (IrisdOutside *self,
                               IrisdOutsideWorker *worker,
                               const IrisWireMessage *report);

/* irisd-outside-restore.c */
void irisd_outside_name_lease (IrisdOutside *self, guint64 lease, guint8 *id);

/* irisd-outside-part.c */
gboolean irisd_outside_part (IrisdOutside *self,
                             IrisdOutsideWorker *worker,
                             const IrisWireMessage *report,
                             zmq_msg_t *body);
gboolean irisd_outside_grant (IrisdOutside *self, IrisdJob *job, guint64 bytes, guint64 limit);

/* For the front door, which keeps the time, and for the main thread. */
gint64 irisd_outside_get_alarm (IrisdOutside *self);
void irisd_outside_expire (IrisdOutside *self);
void irisd_outside_resume (IrisdOutside *self);
void irisd_outside_drain (IrisdOutside *self);
void irisd_outside_close (IrisdOutside *self);

IrisWireWorkers *irisd_outside_describe_workers (IrisdOutside *self, gint64 view);
void irisd_outside_add_services (IrisdOutside *self, gint64 space, IrisWireServices *list);

void irisd_task_unref (IrisdTask *self);
void irisd_notice_free (IrisdNotice *self);

static inline IrisdNotice *
irisd_notice_from_letter (IrisdLetter *letter)
{
  return (IrisdNotice *) ((char *) letter - G_STRUCT_OFFSET (IrisdNotice, letter));
}

G_END_DECLS
