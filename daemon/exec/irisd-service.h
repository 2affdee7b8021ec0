/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A service, which items name; and the registry of services.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <zmq.h>

G_BEGIN_DECLS

typedef struct _IrisdJob IrisdJob;

/* A constant that describes a service. */
typedef struct
{
  const char *name;    /* its name in items */
  const char *summary; /* one line for people */
  /* its result may be larger than its payload, so items of a connection with too many
   * unacknowledged bytes wait */
  gboolean output_grows;
  /* it uses more than the item's payload; an item with a path does so as well */
  gboolean reaches_out;
  /* with a payload that lies in the job it needs some microseconds and never blocks, so that a
   * gateway may do it itself */
  gboolean brief;
  gboolean takes_options; /* the keys of commands apply to it */
  gboolean for_workers;   /* worker processes run its items */
  /* NULL, or checks an item before it is accepted; called by gateways, must not block */
  gboolean (*check) (const IrisWireMessage *item, GError **error);
  /* does the work on a worker, and may block; ends with a result or an error in the job */
  void (*run) (IrisdJob *job);
  /* NULL, or, instead of @run: begins the work, on a worker, of a job that has a slot
   * (irisd-command-slots.h), and irisd_job_end() ends it; FALSE if the job has failed */
  gboolean (*start) (IrisdJob *job);
  void (*wake) (IrisdJob *job); /* NULL, or when a job that was begun by @start is asked to stop */
  /* NULL, or when a job will not run, or has run: gives its slot to others */
  void (*leave) (IrisdJob *job);
  zmq_msg_t *(*get_payload) (IrisdJob *job); /* NULL, or where the payload is, if not in the job */
  void (*renew) (IrisdJob *job);             /* NULL, or when a job is to run again */
  void (*forget) (IrisdJob *job);            /* NULL, or when a job is about to be freed */
} IrisdService;

typedef struct _IrisdServices IrisdServices;

IrisdServices *irisd_services_new (void);
IrisdServices *irisd_services_new_builtin (void);
void irisd_services_free (IrisdServices *self);
gboolean irisd_services_add (IrisdServices *self, const IrisdService *service);
const IrisdService *irisd_services_lookup (IrisdServices *self, const IrisWireString *name);
IrisWireServices *irisd_services_describe (IrisdServices *self);
char *irisd_services_list_names (IrisdServices *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdServices, irisd_services_free)

G_END_DECLS
