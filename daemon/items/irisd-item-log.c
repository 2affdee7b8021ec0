/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The log's events about items: from their acceptance to their end.
 *
 * The level decides how much: plain ends are of the level `debug`, and failures of `info`. At
 * `debug` every event is written; else failures are limited, because a client can cause them at
 * will. An item that no client knows by its number is found by the id of its request.
 */
#include "daemon/items/irisd-item-log.h"

#include "daemon/base/irisd-log.h"
#include "daemon/exec/worker/irisd-worker-processes.h"

static IrisdLogSubject
describe (const IrisdJob *job)
{
  gint place = irisd_job_has_run (job) && job->place != IRIS_PLACE_ANY ? job->place : job->home;
  return (IrisdLogSubject){
    .item = job->id,
    .request = job->request_id,
    .has_place = place >= 0,
    .place = place,
    .service = job->leased_item != NULL ? job->leased_item->service : job->service->name,
    .client = job->peer != NULL ? job->peer->name : NULL,
  };
}

/* As "item 17" or, without a number, "an item", with its service. */
static char *
name_item (const IrisdLogSubject *subject)
{
  return subject->item != 0
             ? g_strdup_printf ("item %" G_GUINT64_FORMAT " (%s)", subject->item, subject->service)
             : g_strdup_printf ("an item (%s)", subject->service);
}

void
irisd_item_log_accepted (IrisdItems *self, IrisdJob *job)
{
  if (!irisd_log_is_on (IRISD_LOG_DEBUG))
    return;
  IrisdLogSubject subject = describe (job);
  g_autofree char *name = name_item (&subject);
  irisd_log_about (&subject, IRISD_LOG_DEBUG, "%s was accepted: %s, %" G_GSIZE_FORMAT " bytes",
                   name, job->lasting ? "persistent" : "volatile", job->payload_size);
}

/* @job was found in the journal. */
void
irisd_item_log_restored (IrisdItems *self, IrisdJob *job)
{
  if (!irisd_log_is_on (IRISD_LOG_DEBUG))
    return;
  IrisdLogSubject subject = describe (job);
  g_autofree char *name = name_item (&subject);
  irisd_log_about (&subject, IRISD_LOG_DEBUG, "%s goes on: the journal has kept it", name);
}

static void
log_success (const IrisdJob *job)
{
  IrisdLogSubject subject = describe (job);
  g_autofree char *name = name_item (&subject);
  irisd_log_about (&subject, IRISD_LOG_DEBUG,
                   "%s is done: it waited %" G_GINT64_FORMAT " ns and ran %" G_GINT64_FORMAT
                   " ns; exit status %d",
                   name, job->started_ns - job->accepted_ns, job->ended_ns - job->started_ns,
                   MAX (job->result.exit_status, 0));
}

static void
log_put_off (const IrisdJob *job)
{
  if (!irisd_log_is_on (IRISD_LOG_DEBUG))
    return;
  IrisdLogSubject subject = describe (job);
  g_autofree char *name = name_item (&subject);
  irisd_log_about (&subject, IRISD_LOG_DEBUG, "%s is put off until the next start of irisd", name);
}

static char *
explain (const IrisdResult *result)
{
  if (result->error != NULL)
    return g_strdup (result->error->message);
  if (result->signal > 0)
    return g_strdup_printf ("the command was killed by signal %d", result->signal);

  return g_strdup_printf ("the command exited with status %d", result->exit_status);
}

/* @job has failed, and runs again after a pause. */
void
irisd_item_log_retried (IrisdItems *self, IrisdJob *job, guint64 pause_us)
{
  if (!irisd_log_is_on (IRISD_LOG_DEBUG))
    return;
  IrisdLogSubject subject = describe (job);
  g_autofree char *name = name_item (&subject);
  g_autofree char *why = explain (&job->result);
  irisd_log_about (&subject, IRISD_LOG_DEBUG,
                   "%s failed for the %u. time, and is tried again in %" G_GUINT64_FORMAT " ms: %s",
                   name, job->schedule->attempts, pause_us / 1000, why);
}

void
irisd_item_log_cancelled (guint64 item, const IrisdPeer *peer)
{
  static IrisdLogSite site;
  const IrisdLogSubject subject = { .item = item, .client = peer->name };
  if (irisd_log_is_on (IRISD_LOG_DEBUG))
    irisd_log_about (&subject, IRISD_LOG_INFO,
                     "item %" G_GUINT64_FORMAT " was cancelled while it was buried", item);
  else
    irisd_log_limited_about (&site, &subject, IRISD_LOG_INFO,
                             "item %" G_GUINT64_FORMAT " was cancelled while it was buried", item);
}

static void
log_failure (const IrisdJob *job, gboolean buried)
{
  static IrisdLogSite site;
  IrisdLogSubject subject = describe (job);
  g_autofree char *name = name_item (&subject);
  g_autofree char *why = explain (&job->result);
  const char *what = buried ? "is buried" : "failed";
  if (irisd_log_is_on (IRISD_LOG_DEBUG))
    irisd_log_about (&subject, IRISD_LOG_INFO, "%s %s: %s", name, what, why);
  else
    irisd_log_limited_about (&site, &subject, IRISD_LOG_INFO, "%s %s: %s", name, what, why);
}

/* @job has ended, and is told so. */
void
irisd_item_log_end (IrisdItems *self, IrisdJob *job, gboolean buried)
{
  if (irisd_job_is (job, IRISD_ITEM_PUT_OFF))
    log_put_off (job);
  else if (buried || irisd_job_has_failed (job))
    log_failure (job, buried);
  else if (irisd_log_is_on (IRISD_LOG_DEBUG))
    log_success (job);
}
