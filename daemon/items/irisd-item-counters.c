/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Item counters: what became of the items of one gateway, by class, service and place.
 *
 * Each end of an item is counted once, also of an item that its gateway ran itself, of one whose
 * client has gone, and of one that was cancelled while something else still had its job. An item
 * that no place ran, because a worker process did, counts at its home.
 *
 * A gateway counts in memory of its own, so counting takes neither a lock nor a line that another
 * thread writes; the reader sums over the gateways. A group of services is published by its pointer
 * (release and acquire: the reader sees zeroes where nothing was counted yet) and stays until the
 * gateway ends.
 */
#include "daemon/items/irisd-item-counters.h"

#include "daemon/exec/worker/irisd-worker-processes.h"

void
irisd_item_counters_init (IrisdItemCounters *self, guint n_places, IrisdNameSlots *names)
{
  self->runs = g_aligned_alloc0 (n_places, sizeof *self->runs, _Alignof(IrisdRunCounters));
  self->names = names;
  self->slots = g_hash_table_new (g_str_hash, g_str_equal);
}

void
irisd_item_counters_clear (IrisdItemCounters *self)
{
  for (guint i = 0; i < IRISD_N_SERVICE_GROUPS; i++)
    g_aligned_free (atomic_load_explicit (&self->services[i], memory_order_relaxed));
  g_hash_table_unref (self->slots);
  g_aligned_free (self->runs);
}

static const char *
get_service_name (const IrisdJob *job)
{
  return job->leased_item != NULL ? job->leased_item->service : job->service->name;
}

static guint
find_slot (IrisdItemCounters *self, const char *name)
{
  gpointer known, slot;
  if (g_hash_table_lookup_extended (self->slots, name, &known, &slot))
    return GPOINTER_TO_UINT (slot);
  guint taken = irisd_name_slots_take (self->names, name);
  /* The names that share a slot are without bound, so they are looked up each time. */
  if (taken != IRISD_OTHER_SLOT)
    g_hash_table_insert (self->slots, (gpointer) irisd_name_slots_get_name (self->names, taken),
                         GUINT_TO_POINTER (taken));
  return taken;
}

/* The name of a service of irisd itself is a constant, so its address tells it; the name of another
 * service lies in the item. */
static guint
get_slot (IrisdItemCounters *self, const IrisdJob *job)
{
  const char *name = get_service_name (job);
  if (job->leased_item != NULL)
    return find_slot (self, name);
  if (self->latest_name != name)
    {
      self->latest_slot = find_slot (self, name);
      self->latest_name = name;
    }
  return self->latest_slot;
}

static IrisdServiceCounters *
get_service (IrisdItemCounters *self, guint slot)
{
  IrisdServiceCounters *_Atomic *group = &self->services[slot / IRISD_SERVICES_AT_ONCE];
  IrisdServiceCounters *counters = atomic_load_explicit (group, memory_order_relaxed);
  if (G_UNLIKELY (counters == NULL))
    {
      counters = g_aligned_alloc0 (IRISD_SERVICES_AT_ONCE, sizeof *counters,
                                   _Alignof(IrisdServiceCounters));
      atomic_store_explicit (group, counters, memory_order_release);
    }
  return &counters[slot % IRISD_SERVICES_AT_ONCE];
}

/* Returns the counters of a slot of the names; NULL if the gateway has counted nothing there. */
const IrisdServiceCounters *
irisd_item_counters_get_service (IrisdItemCounters *self, guint slot)
{
  const IrisdServiceCounters *group = atomic_load_explicit (
      &self->services[slot / IRISD_SERVICES_AT_ONCE], memory_order_acquire);
  return group != NULL ? &group[slot % IRISD_SERVICES_AT_ONCE] : NULL;
}

/* @job is accepted, or an item that was accepted before irisd was started has it now. */
void
irisd_item_counters_note_accepted (IrisdItemCounters *self, IrisdJob *job)
{
  irisd_count (&self->accepted, 1);
  irisd_count (&get_service (self, get_slot (self, job))->accepted, 1);
}

/* An item that was accepted before irisd was started has no job yet. */
void
irisd_item_counters_note_spilled (IrisdItemCounters *self, const char *service)
{
  irisd_count (&self->accepted, 1);
  irisd_count (&get_service (self, find_slot (self, service))->accepted, 1);
}

/* A run of @job failed, and another follows. */
void
irisd_item_counters_note_retried (IrisdItemCounters *self, IrisdJob *job)
{
  irisd_count (&get_service (self, get_slot (self, job))->retried, 1);
}

static IrisdOutcome
get_outcome (const IrisdJob *job, gboolean buried)
{
  if (buried)
    return IRISD_OUTCOME_BURIED;
  if (job->result.error == NULL)
    return IRISD_OUTCOME_DONE;
  switch (job->result.error->code)
    {
    case IRIS_WIRE_ERROR_CANCELLED:
      return IRISD_OUTCOME_CANCELLED;
    case IRIS_WIRE_ERROR_DEADLINE_PASSED:
      return IRISD_OUTCOME_EXPIRED;
    default:
      return IRISD_OUTCOME_FAILED;
    }
}

static void
note_run (IrisdItemCounters *self, IrisdServiceCounters *service, IrisdJob *job)
{
  gint64 delay_ns = job->started_ns - job->accepted_ns;
  gint64 run_ns = job->ended_ns - job->started_ns;
  IrisdRunCounters *runs = &self->runs[job->place != IRIS_PLACE_ANY ? job->place : job->home];
  irisd_histogram_add (&runs->delays, delay_ns);
  irisd_histogram_add (&runs->runs, run_ns);
  irisd_count (&runs->failed, irisd_job_has_failed (job));
  irisd_count (&service->queue_ns, MAX (delay_ns, 0));
  irisd_count (&service->run_ns, MAX (run_ns, 0));
}

/* @job has ended, and its connection, if one waits for it, is about to be told. Returns how it
 * ended. */
IrisdOutcome
irisd_item_counters_note_end (IrisdItemCounters *self, IrisdJob *job, gboolean buried)
{
  IrisdServiceCounters *service = get_service (self, get_slot (self, job));
  IrisdOutcome outcome = get_outcome (job, buried);
  irisd_count (&self->ended, 1);
  if (irisd_job_is (job, IRISD_ITEM_PUT_OFF))
    return IRISD_N_OUTCOMES;
  irisd_count (&self->outcomes[job->klass][outcome], 1);
  irisd_count (&service->outcomes[outcome], 1);
  if (irisd_job_has_run (job))
    note_run (self, service, job);
  return outcome;
}
