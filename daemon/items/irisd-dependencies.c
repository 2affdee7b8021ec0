/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs that depend on others, of any gateway.
 *
 * What has ended and who waits for it is shared and under one lock, which only items with an id
 * take. A gateway that notes an end takes out those that are decided by it; their own gateways are
 * told by a message that each job carries for that, once. Until that message is read the job is
 * neither ended nor freed: a gateway that withdraws it is told that it is too late.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"

/**
 * irisd_dependencies_register:
 * @self: the gateway
 * @job: a new job
 * @item: (nullable): the SUBMIT that it was made of, if it can come after others
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Makes the job known under its id, if it has one, and has it wait for those that it comes after.
 *
 * Returns: whether all of those are known
 */
gboolean
irisd_dependencies_register (IrisdGateway *self,
                             IrisdJob *job,
                             const IrisWireMessage *item,
                             GError **error)
{
  if (job->id == 0)
    return TRUE;
  guint n = item != NULL ? item->after.n : 0;
  g_autofree guint64 *ids = g_new (guint64, n);
  if (n > 0)
    iris_wire_numbers_read (&item->after, ids);

  IrisdCore *core = self->core;
  IrisWireAfter how = n > 0 && item->after_how != 0 ? item->after_how : IRIS_WIRE_AFTER_ALL;
  guint64 unknown = 0;
  pthread_mutex_lock (&core->dependencies_lock);
  gint64 view = irisd_policy_get_view (IRIS_WIRE_SUBMIT, job->peer->role, job->owner);
  gboolean known = ids == NULL
                   || irisd_dependency_graph_wait (&core->dependencies, &job->schedule->dependent,
                                                   ids, n, view, how, &unknown);
  gboolean decided = ids != NULL && job->schedule->dependent.verdict != IRISD_VERDICT_NONE;
  if (known)
    irisd_dependency_graph_add (&core->dependencies, job->id, job, job->owner);
  pthread_mutex_unlock (&core->dependencies_lock);
  if (!known)
    {
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_UNKNOWN_DEPENDENCY,
                   "there is no item %" G_GUINT64_FORMAT
                   " to come after: it never was, or ended long ago (limit remembered-items)",
                   unknown);
      return FALSE;
    }
  if (decided)
    irisd_mailbox_post (&self->mailbox, &job->schedule->decided);
  return TRUE;
}

/**
 * irisd_dependencies_find_item:
 * @self: the gateway
 * @number: of an item
 * @view: an owner, or %IRISD_VIEW_ALL: there is nothing beyond it
 * @holder: (out): the mailbox of the gateway that has it, if it has not ended
 *
 * The gateway of an item notes its end under the lock before it frees the job, so a job found here
 * exists, and, if it is this gateway's own, stays as long as the gateway does nothing.
 *
 * Returns: (nullable): the job, if this gateway has it and it is not cold
 */
IrisdJob *
irisd_dependencies_find_item (IrisdGateway *self,
                              guint64 number,
                              gint64 view,
                              IrisdMailbox **holder)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  gboolean reached = irisd_dependency_graph_reaches (&core->dependencies, number, view);
  IrisdJob *job = reached ? irisd_dependency_graph_get_owner (&core->dependencies, number) : NULL;
  *holder = job != NULL ? job->mailbox
            : reached   ? irisd_dependency_graph_get_keeper (&core->dependencies, number)
                        : NULL;
  pthread_mutex_unlock (&core->dependencies_lock);
  return *holder == &self->mailbox ? job : NULL;
}

/**
 * irisd_dependencies_withdraw:
 * @self: the gateway
 * @job: a job that waits for others
 *
 * Returns: whether it waits no longer; otherwise it is decided, and a message says so
 */
gboolean
irisd_dependencies_withdraw (IrisdGateway *self, IrisdJob *job)
{
  IrisdCore *core = self->core;
  IrisdDependent *dependent = &job->schedule->dependent;
  pthread_mutex_lock (&core->dependencies_lock);
  gboolean waits = dependent->verdict == IRISD_VERDICT_NONE;
  if (waits)
    irisd_dependency_graph_withdraw (&core->dependencies, dependent);
  pthread_mutex_unlock (&core->dependencies_lock);
  return waits;
}

/**
 * irisd_dependencies_take_decision:
 * @self: the gateway
 * @message: of a job that waited for others, and is decided
 */
void
irisd_dependencies_take_decision (IrisdGateway *self, IrisdMessage *message)
{
  IrisdSchedule *schedule = (IrisdSchedule *) ((char *) message
                                               - G_STRUCT_OFFSET (IrisdSchedule, decided));
  IrisdJob *job = schedule->job;
  if (!irisd_job_advance (job, IRISD_EVENT_PASS))
    irisd_completion_take_back (self, job);
  else if (schedule->dependent.verdict == IRISD_VERDICT_GO)
    irisd_dispatch_advance (self, job);
  else if (schedule->dependent.verdict == IRISD_VERDICT_STUCK)
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd ended while item %" G_GUINT64_FORMAT
                      ", after which this one was to run, was buried: kick that item and send this "
                      "one again when irisd is back",
                      schedule->dependent.blame);
      irisd_completion_end_job (self, job);
    }
  else
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_DEPENDENCY_FAILED,
                      "the item %" G_GUINT64_FORMAT
                      ", after whose success this one was to run, did not end well",
                      schedule->dependent.blame);
      irisd_completion_end_job (self, job);
    }
}

/**
 * irisd_dependencies_uncount:
 * @self: the gateway
 * @job: a job that was admitted by the rules for clients and services
 *
 * Takes it out of what is counted for them.
 */
void
irisd_dependencies_uncount (IrisdGateway *self, IrisdJob *job)
{
  if (!job->counted)
    return;
  job->counted = FALSE;
  irisd_fair_rules_release (&self->core->rules, job->peer->client,
                            job->leased_item != NULL ? job->leased_item->service
                                                     : job->service->name,
                            job->payload_size, g_get_monotonic_time ());
}

static void
tell_decided (IrisdDependent *decided)
{
  while (decided != NULL)
    {
      IrisdDependent *next = decided->next;
      IrisdSchedule *schedule = (IrisdSchedule *) ((char *) decided
                                                   - G_STRUCT_OFFSET (IrisdSchedule, dependent));
      irisd_mailbox_post (schedule->job->mailbox, &schedule->decided);
      decided = next;
    }
}

/**
 * irisd_dependencies_note_end:
 * @self: the gateway
 * @job: a job that ends, with its result or error
 *
 * Takes it out of what is counted, and tells those that come after it. Once for each job. One that
 * was done at once is known from here on only.
 */
void
irisd_dependencies_note_end (IrisdGateway *self, IrisdJob *job)
{
  IrisdCore *core = self->core;
  irisd_dependencies_uncount (self, job);
  if (job->id == 0)
    return;
  const gboolean done_at_once = job->lasting && job->persistent == NULL;
  gboolean well = !irisd_job_has_failed (job);
  IrisdDependent *decided = NULL;
  pthread_mutex_lock (&core->dependencies_lock);
  if (done_at_once)
    irisd_dependency_graph_add_ended (&core->dependencies, job->id, well, job->owner);
  else
    decided = irisd_dependency_graph_end (&core->dependencies, job->id, well);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}

/**
 * irisd_dependencies_note_burial:
 * @self: the gateway
 * @job: a job
 * @buried: whether it is about to be buried, or after all is not
 *
 * Before the journal knows of it: afterwards the item may have been kicked.
 */
void
irisd_dependencies_note_burial (IrisdGateway *self, IrisdJob *job, gboolean buried)
{
  IrisdCore *core = self->core;
  IrisdDependent *decided = NULL;
  pthread_mutex_lock (&core->dependencies_lock);
  if (buried)
    decided = irisd_dependency_graph_bury (&core->dependencies, job->id);
  else
    irisd_dependency_graph_add (&core->dependencies, job->id, job, job->owner);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}

/**
 * irisd_dependencies_give_up_buried:
 * @self: the gateway; one of them is enough
 *
 * Ends what comes after buried items, because irisd ends.
 */
void
irisd_dependencies_give_up_buried (IrisdGateway *self)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  IrisdDependent *decided = irisd_dependency_graph_close (&core->dependencies);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}

/**
 * irisd_dependencies_note_cancelled:
 * @self: the gateway
 * @item: the number of an item without a job, which was cancelled
 *
 * Tells those that come after it.
 */
void
irisd_dependencies_note_cancelled (IrisdGateway *self, guint64 item)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  IrisdDependent *decided = irisd_dependency_graph_end (&core->dependencies, item, FALSE);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}
