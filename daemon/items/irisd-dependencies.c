/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs that depend on items of any gateway.
 *
 * All gateways share the dependency graph under one lock, which only items with an id take. A
 * gateway that notes an end takes out the dependents that it decides, and posts to each one's
 * gateway the message that the job carries for that, once. Until that message is read the job is
 * neither ended nor freed: a withdrawal fails.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"

/* @item: (nullable): the SUBMIT, if it can have dependencies.
 *
 * Makes the job known under its id, if it has one, and has it wait for its dependencies. Returns
 * whether all of those are known. */
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
                   "cannot run after item %" G_GUINT64_FORMAT
                   ": it never was, or ended longer ago than irisd remembers; leave it out, or "
                   "raise the limit remembered-items",
                   unknown);
      return FALSE;
    }
  if (decided)
    irisd_mailbox_post (&self->mailbox, &job->schedule->decided);
  return TRUE;
}

/* Finds the item @number within @view. @holder: the mailbox of the gateway that has it, or NULL if
 * it has ended. Returns the job, if this gateway has it and it is not spilled.
 *
 * The gateway of an item notes its end under the lock before it frees the job, so a job found here
 * exists, and, if it is this gateway's own, stays as long as the gateway does nothing. */
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

/* Returns whether it waits no longer; otherwise it is decided, and a message says so. */
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
                      "irisd ended while dependency %" G_GUINT64_FORMAT
                      " was buried: when irisd is back, kick that item, then send this one again",
                      schedule->dependent.blame);
      irisd_completion_end_job (self, job);
    }
  else
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_DEPENDENCY_FAILED,
                      "the item %" G_GUINT64_FORMAT
                      " failed, and this item runs only after its success (after-how 3): mend what "
                      "failed, then send both again",
                      schedule->dependent.blame);
      irisd_completion_end_job (self, job);
    }
}

/* The rules for clients and services no longer count @job. */
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

/* Decides the dependents of @job, which has its result or error. Once for each job. An item that
 * ran at once enters the graph only here. */
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

/* @buried: whether the job is about to be buried, or after all is not. To be called before the
 * journal gets the request: afterwards the item may have been kicked. */
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

/* Ends the dependents of buried items, because irisd ends. One gateway does it for all. */
void
irisd_dependencies_give_up_buried (IrisdGateway *self)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  IrisdDependent *decided = irisd_dependency_graph_close (&core->dependencies);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}

/* @item has no job; its dependents fail. */
void
irisd_dependencies_note_cancelled (IrisdGateway *self, guint64 item)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  IrisdDependent *decided = irisd_dependency_graph_end (&core->dependencies, item, FALSE);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}
