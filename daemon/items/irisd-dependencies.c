/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs that depend on items of any gateway.
 *
 * All gateways share the dependency graph under one lock, which only items with an id take. A
 * gateway that notes an end takes out the dependents that it decides, and posts to each one's
 * gateway the message that the job carries for that, once. Until that message is read the job is
 * neither ended nor freed: a withdrawal fails.
 */
#include "daemon/items/irisd-dependencies.h"

#include "daemon/exec/worker/irisd-worker-processes.h"

/* @item: (nullable): the SUBMIT, if it can have dependencies.
 *
 * Makes the job known under its id, if it has one, and has it wait for its dependencies. Returns
 * whether all of those are known. */
gboolean
irisd_dependencies_register (IrisdItems *self,
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
  gint64 view = irisd_policy_get_view (IRIS_WIRE_SUBMIT, job->peer->roles, job->owner);
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
    irisd_mailbox_post (self->mailbox, &job->schedule->decided);
  return TRUE;
}

/* Finds the item @number within @view. @holder: the mailbox of the gateway that has it, or NULL if
 * it has ended. Returns the job, if this gateway has it and it is not spilled.
 *
 * The gateway of an item notes its end under the lock before it frees the job, so a job found here
 * exists, and, if it is this gateway's own, stays as long as the gateway does nothing. */
IrisdJob *
irisd_dependencies_find_item (IrisdItems *self, guint64 number, gint64 view, IrisdMailbox **holder)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  gboolean reached = irisd_dependency_graph_reaches (&core->dependencies, number, view);
  IrisdJob *job = reached ? irisd_dependency_graph_get_owner (&core->dependencies, number) : NULL;
  *holder = job != NULL ? job->mailbox
            : reached   ? irisd_dependency_graph_get_keeper (&core->dependencies, number)
                        : NULL;
  pthread_mutex_unlock (&core->dependencies_lock);
  return *holder == self->mailbox ? job : NULL;
}

/* Returns whether it waits no longer; otherwise it is decided, and a message says so. */
gboolean
irisd_dependencies_withdraw (IrisdItems *self, IrisdJob *job)
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

/* The rules for clients and services no longer count @job. */
void
irisd_dependencies_uncount (IrisdItems *self, IrisdJob *job)
{
  if (!job->counted)
    return;
  job->counted = FALSE;
  irisd_fair_rules_release (&self->core->rules, job->client,
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
irisd_dependencies_note_end (IrisdItems *self, IrisdJob *job)
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
irisd_dependencies_note_burial (IrisdItems *self, IrisdJob *job, gboolean buried)
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
irisd_dependencies_give_up_buried (IrisdItems *self)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  IrisdDependent *decided = irisd_dependency_graph_close (&core->dependencies);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}

/* This gateway, which was not started, will make a job of @item. A request that comes to another
 * gateway sooner follows the item into the mailbox of this one. */
void
irisd_dependencies_note_recovered (IrisdItems *self, guint64 item, gint64 owner)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  irisd_dependency_graph_add (&core->dependencies, item, NULL, owner);
  irisd_dependency_graph_set_aside (&core->dependencies, item, self->mailbox);
  pthread_mutex_unlock (&core->dependencies_lock);
}

/* @item, which has no job yet, gets none, because irisd ends: for others that is as if it were
 * buried. */
void
irisd_dependencies_note_put_off (IrisdItems *self, guint64 item)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  IrisdDependent *decided = irisd_dependency_graph_bury (&core->dependencies, item);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}

/* @item has no job; its dependents fail. */
void
irisd_dependencies_note_cancelled (IrisdItems *self, guint64 item)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  IrisdDependent *decided = irisd_dependency_graph_end (&core->dependencies, item, FALSE);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}

/* Returns whether @view includes the item; FALSE also for an unknown one. */
gboolean
irisd_dependencies_reaches (IrisdItems *self, gint64 view, guint64 item)
{
  IrisdCore *core = self->core;
  if (view == IRISD_VIEW_ALL)
    return TRUE;
  pthread_mutex_lock (&core->dependencies_lock);
  gboolean reached = irisd_dependency_graph_reaches (&core->dependencies, item, view);
  pthread_mutex_unlock (&core->dependencies_lock);
  return reached;
}

/* Returns the number, which no client learns, of an item of another node. It lasts until
 * irisd_dependencies_end_away(). */
guint64
irisd_dependencies_add_away (IrisdItems *self, gint64 owner)
{
  IrisdCore *core = self->core;
  const guint64 number = irisd_core_new_item_id (core);
  pthread_mutex_lock (&core->dependencies_lock);
  irisd_dependency_graph_add_away (&core->dependencies, number, owner);
  pthread_mutex_unlock (&core->dependencies_lock);
  return number;
}

/* Returns whether an item waits for @number. */
gboolean
irisd_dependencies_is_awaited (IrisdItems *self, guint64 number)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  gboolean awaited = irisd_dependency_graph_is_awaited (&core->dependencies, number);
  pthread_mutex_unlock (&core->dependencies_lock);
  return awaited;
}

/* @reason: why its dependents cannot run, if they cannot. */
void
irisd_dependencies_end_away (IrisdItems *self, guint64 number, IrisdAwayEnd end, const char *reason)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  IrisdDependent *decided = irisd_dependency_graph_end_away (&core->dependencies, number, end,
                                                             reason);
  pthread_mutex_unlock (&core->dependencies_lock);
  tell_decided (decided);
}
