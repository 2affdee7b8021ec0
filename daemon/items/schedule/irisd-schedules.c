/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedules of irisd: all of them, and the runs that they make.
 *
 * All wait in one heap, and one timer of the kernel is set to the first of them. So schedules cost
 * nothing while none is due, and the kernel tells when the clock was set (TFD_TIMER_CANCEL_ON_SET).
 *
 * A run is a durable item without a connection. What the schedule remembers of it is written in the
 * transaction of the item: after a crash either both are there or neither, so no run is lost and
 * none comes twice. Its key, of the schedule's name and the time at which it was due, holds against
 * a clock that is set back.
 *
 * A run that irisd has no room for is tried again; the schedule stays due meanwhile.
 *
 * A run for another node is an away item of this one: the gateway routes the schedule's item anew
 * for each run, as if its owner submitted it then. The end comes back by the journal, as that of
 * all runs. Where no more items may be away, the run was missed: that can last as long as this node
 * is cut off, and runs beyond the limit are not to come all at once then.
 *
 * Of the next of these runs the cluster keeps a copy, with which other nodes go on if this one is
 * down. So after a start it is asked first what it has. Runs that were made meanwhile become items
 * of this node, under the names that they have there, and so get the ends that they had. As each
 * run has one name, a run that this node and another one have made at once is one item.
 */
#include "daemon/items/schedule/irisd-schedules.h"

#include "daemon/base/irisd-log.h"
#include "daemon/cluster/members/irisd-chain-note.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-persistent.h"
#include "daemon/items/irisd-placement.h"
#include "daemon/items/schedule/irisd-schedule-chain.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Between two attempts to begin a run that irisd has no room for. */
#define RETRY_MS 2000

/* Of runs that were made without this node, the ends of older ones are not looked for: the cluster
 * keeps them for a day. */
#define OLDEST_HANDED_MS (G_GUINT64_CONSTANT (20) * 3600 * 1000)

/* The record of a schedule's state has its id and this behind it. */
#define STATE_SUFFIX "\0state"

struct _IrisdSchedules
{
  IrisdItems *items;
  GTree *all;         /* IrisdRecurring by id */
  GHashTable *by_run; /* guint64 *: the item of a run that has not ended -> IrisdRecurring */
  IrisdTimers timers;
  int fd;
  gint64 armed_us; /* for when the timer is set; G_MAXINT64: it is not */
};

static int
compare_ids (gconstpointer a, gconstpointer b, gpointer user_data)
{
  return g_bytes_compare (a, b);
}

IrisdSchedules *
irisd_schedules_new (IrisdItems *items, GError **error)
{
  IrisdSchedules *self = g_new0 (IrisdSchedules, 1);
  self->items = items;
  self->all = g_tree_new_full (compare_ids, NULL, NULL, (GDestroyNotify) irisd_recurring_free);
  self->by_run = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  irisd_timers_init (&self->timers);
  self->armed_us = G_MAXINT64;
  self->fd = timerfd_create (CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (self->fd >= 0)
    return self;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
               "cannot make a timer for schedules: %s", g_strerror (errno));
  irisd_schedules_free (self);
  return NULL;
}

static gboolean
drop_timer (gpointer key, gpointer value, gpointer user_data)
{
  IrisdSchedules *self = user_data;
  irisd_timers_remove (&self->timers, &((IrisdRecurring *) value)->timer);
  return FALSE;
}

void
irisd_schedules_free (IrisdSchedules *self)
{
  if (self == NULL)
    return;
  g_tree_foreach (self->all, drop_timer, self);
  irisd_timers_clear (&self->timers);
  g_hash_table_unref (self->by_run);
  g_tree_unref (self->all);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self);
}

/* Readable when a schedule is due, or the clock was set. */
int
irisd_schedules_get_fd (IrisdSchedules *self)
{
  return self->fd;
}

guint
irisd_schedules_get_count (IrisdSchedules *self)
{
  return (guint) g_tree_nnodes (self->all);
}

/* --- times ------------------------------------------------------------------------------------ */

static gboolean route (IrisdSchedules *self,
                       const IrisdRecurring *entry,
                       const IrisWireMessage *item,
                       IrisWireMessage *routed,
                       gint *home,
                       gboolean *hinted,
                       GError **error);

/* What each run of @entry submits. */
static gboolean
read_run (const IrisdRecurring *entry, const char *key, IrisWireMessage *run, GError **error)
{
  if (!irisd_recurring_read_item (entry, run, error))
    return FALSE;
  iris_wire_message_set_uint (run, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (run, IRIS_WIRE_KEY_KEY, key, -1);
  iris_wire_message_set_boolean (run, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_boolean (run, IRIS_WIRE_KEY_QUIET, TRUE);
  return TRUE;
}

static char *
make_key (const IrisdRecurring *entry, guint64 due_ms)
{
  return g_strdup_printf ("schedule/%s/%" G_GUINT64_FORMAT, entry->name, due_ms);
}

/* Of which run the cluster is to have a copy; 0: of none. While one waits for the end of the one
 * before, of the one that follows. */
static guint64
get_kept (const IrisdRecurring *entry)
{
  if (entry->suspended)
    return 0;
  return entry->waiting ? irisd_recurring_get_following (entry, irisd_unix_ms ()) : entry->due_ms;
}

/* The cluster is to have a copy of the next run of @entry, if that goes to another node. */
static void
keep_next (IrisdSchedules *self, IrisdRecurring *entry)
{
  const guint64 due_ms = get_kept (entry);
  g_autofree char *key = make_key (entry, due_ms);
  g_autoptr (GError) error = NULL;
  IrisWireMessage run, routed;
  gint home = IRIS_PLACE_ANY;
  gboolean hinted;
  if (!entry->chained || entry->asking || entry->pending != 0 || due_ms == entry->kept_ms
      || irisd_recurring_is_handed (entry))
    return;
  gboolean away = due_ms != 0 && read_run (entry, key, &run, &error)
                  && route (self, entry, &run, &routed, &home, &hinted, &error)
                  && irisd_is_away (&routed);
  /* This node does not know the others at this moment. */
  if (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY))
    return;
  if (!away || !irisd_schedule_chain_keep (self->items->core, entry, due_ms, &routed))
    irisd_schedule_chain_drop (self->items->core, entry);
}

/* Has @entry wait for its next run, or for no time. */
static void
set_timer (IrisdSchedules *self, IrisdRecurring *entry)
{
  irisd_timers_remove (&self->timers, &entry->timer);
  keep_next (self, entry);
  guint64 begin_ms = irisd_recurring_get_begin (entry);
  /* The copy of the run that follows is moved on. */
  if (entry->waiting)
    begin_ms = entry->chained ? irisd_recurring_get_begin_of (
                   entry, irisd_recurring_get_following (entry, irisd_unix_ms ()))
                              : 0;
  if (begin_ms == 0 || entry->suspended || entry->pending != 0 || entry->asking)
    return;
  irisd_timers_add (&self->timers, &entry->timer, IRISD_CLOCK_WALL, (gint64) begin_ms * 1000);
}

/* --- records ---------------------------------------------------------------------------------- */

static GBytes *
make_state_id (GBytes *id)
{
  GByteArray *bytes = g_byte_array_new ();
  gsize size;
  const guint8 *data = g_bytes_get_data (id, &size);
  g_byte_array_append (bytes, data, (guint) size);
  g_byte_array_append (bytes, (const guint8 *) STATE_SUFFIX, sizeof STATE_SUFFIX - 1);
  return g_byte_array_free_to_bytes (bytes);
}

/* @body: (nullable): what is put; NULL: it is removed. */
static IrisdRecordChange *
make_change (GBytes *id, GBytes *body)
{
  IrisdNamedRecord record = { .kind = IRISD_RECORD_SCHEDULE };
  record.name = g_bytes_get_data (id, &record.name_size);
  if (body != NULL)
    record.body = g_bytes_get_data (body, &record.body_size);
  return irisd_record_change_new (&record, body == NULL);
}

static IrisdRecordChange *
make_state_change (const IrisdRecurring *entry)
{
  g_autoptr (GBytes) id = make_state_id (entry->id);
  g_autoptr (GBytes) body = irisd_recurring_pack_state (&entry->state);
  return make_change (id, body);
}

/* @asked: (transfer full) (nullable): waits until it is written. */
static void
post_change (IrisdSchedules *self, IrisdRecordChange *change, IrisdBroadcast *asked)
{
  IrisdJournalRequest *request = irisd_journal_request_new (
      IRISD_JOURNAL_REQUEST_RECORD, asked != NULL ? self->items->mailbox : NULL);
  request->change = change;
  request->broadcast = asked;
  irisd_journal_post (self->items->core->journal, request);
}

/* --- the clock -------------------------------------------------------------------------------- */

/* @asked: (transfer full) (nullable): waits until it is written. */
static void
post_definition (IrisdSchedules *self, const IrisdRecurring *entry, IrisdBroadcast *asked)
{
  g_autoptr (GBytes) body = irisd_recurring_pack (entry);
  post_change (self, make_change (entry->id, body), asked);
}

/* Finds the next run of @entry. */
static void
aim (IrisdSchedules *self, IrisdRecurring *entry)
{
  const guint64 now_ms = irisd_unix_ms ();
  if (irisd_recurring_aim (entry, now_ms))
    {
      irisd_schedule_chain_drop (self->items->core, entry);
      irisd_recurring_count_anew (entry, now_ms);
      irisd_schedule_chain_init (self->items->core, entry);
      post_change (self, make_state_change (entry), NULL);
      post_definition (self, entry, NULL);
    }
  set_timer (self, entry);
}

static gboolean
aim_each (gpointer key, gpointer value, gpointer user_data)
{
  aim (user_data, value);
  return FALSE;
}

/* The kernel tells only once that the clock was set: by a read, or here. */
static void
arm (IrisdSchedules *self)
{
  for (;;)
    {
      gint64 first = irisd_timers_get_first (&self->timers, IRISD_CLOCK_WALL);
      struct itimerspec when = { 0 };
      if (first == self->armed_us)
        return;
      self->armed_us = first;
      if (first != G_MAXINT64)
        {
          when.it_value.tv_sec = MAX (first, 1) / G_USEC_PER_SEC;
          when.it_value.tv_nsec = MAX (first, 1) % G_USEC_PER_SEC * 1000;
        }
      if (timerfd_settime (self->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL) == 0
          || errno != ECANCELED)
        return;
      g_tree_foreach (self->all, aim_each, self);
    }
}

static gboolean
is_state_id (const IrisdNamedRecord *record)
{
  gsize suffix = sizeof STATE_SUFFIX - 1;
  return record->name_size > suffix
         && memcmp (record->name + record->name_size - suffix, STATE_SUFFIX, suffix) == 0;
}

/* A state comes right behind its schedule. One without a schedule is left over from a removal that
 * a crash has cut short. */
void
irisd_schedules_load (IrisdSchedules *self, const IrisdNamedRecord *record)
{
  g_autoptr (GError) error = NULL;
  if (is_state_id (record))
    {
      g_autoptr (GBytes)
          id = g_bytes_new (record->name, record->name_size - (sizeof STATE_SUFFIX - 1));
      IrisdRecurring *entry = irisd_schedules_find (self, id);
      if (entry != NULL)
        irisd_recurring_load_state (entry, record);
      return;
    }
  IrisdRecurring *entry = irisd_recurring_load (record, &error);
  if (entry != NULL)
    {
      irisd_schedule_chain_init (self->items->core, entry);
      entry->kept_ms = IRISD_RECURRING_KEPT_UNKNOWN;
      g_tree_replace (self->all, entry->id, entry);
    }
  else
    irisd_log (IRISD_LOG_ERROR,
               "a schedule of the journal cannot be used: %s; remove it and make it again",
               error->message);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void
watch_run (IrisdSchedules *self, IrisdRecurring *entry, guint64 item)
{
  g_hash_table_insert (self->by_run, g_memdup2 (&item, sizeof item), entry);
}

/* The journal tells when it has ended. */
static void
await_end (IrisdSchedules *self, IrisdRecurring *entry)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_FOLLOW,
                                                            self->items->mailbox);
  request->view = IRISD_VIEW_ALL;
  request->item = entry->state.item;
  request->wait_ms = IRISD_WAIT_FOREVER;
  entry->running = TRUE;
  watch_run (self, entry, entry->state.item);
  irisd_journal_post (self->items->core->journal, request);
}

/* --- what the cluster has --------------------------------------------------------------------- */

typedef struct
{
  IrisdBroadcast base;
  IrisdChainNote note;
  IrisdSchedules *schedules;
  GBytes *id; /* of the schedule */
} Question;

static void
question_free (IrisdBroadcast *broadcast)
{
  Question *question = (Question *) broadcast;
  irisd_chain_note_clear (&question->note);
  g_bytes_unref (question->id);
  g_free (question);
}

static void
take_chain (IrisdSchedules *self, IrisdRecurring *entry, const IrisdRunChain *chain)
{
  const guint64 now_ms = irisd_unix_ms ();
  const guint n = irisd_recurring_take_handed (entry, chain,
                                               now_ms - MIN (now_ms, OLDEST_HANDED_MS));
  entry->kept_ms = chain->due_ms;
  if (n == 0)
    return;
  irisd_log (IRISD_LOG_INFO,
             "other nodes have made %u runs of the schedule “%s” without this node, which takes "
             "the ends of the last %u of them",
             n, entry->name, entry->n_handed);
  post_change (self, make_state_change (entry), NULL);
}

/* In the thread of the schedules. */
static void
take_answer (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  Question *question = (Question *) broadcast;
  IrisdSchedules *self = question->schedules;
  IrisdRecurring *entry = irisd_schedules_find (self, question->id);
  if (entry != NULL && entry->asking
      && memcmp (entry->chain, question->note.chain, sizeof entry->chain) == 0)
    {
      entry->asking = FALSE;
      entry->kept_ms = IRISD_RECURRING_KEPT_UNKNOWN;
      if (question->note.has_found)
        take_chain (self, entry, &question->note.found);
      aim (self, entry);
      arm (self);
    }
  question_free (broadcast);
}

/* In the thread of the cluster. */
static void
return_question (IrisdChainNote *note)
{
  Question *question = IRISD_CONTAINER (note, Question, note);
  irisd_mailbox_post (question->schedules->items->mailbox, &question->base.message);
}

static void
ask_cluster (IrisdSchedules *self, IrisdRecurring *entry)
{
  static const IrisdBroadcastClass question_class = { .run = take_answer, .free = question_free };
  Question *question = g_new (Question, 1);
  irisd_broadcast_init (&question->base, &question_class);
  irisd_chain_note_init (&question->note, IRISD_CHAIN_NOTE_ASK, entry->chain);
  question->note.done = return_question;
  question->schedules = self;
  question->id = g_bytes_ref (entry->id);
  entry->asking = TRUE;
  irisd_mailbox_post (self->items->core->cluster_mailbox, &question->note.message);
}

static gboolean
start_entry (gpointer key, gpointer value, gpointer user_data)
{
  IrisdSchedules *self = user_data;
  IrisdRecurring *entry = value;
  if (entry->chained && !entry->suspended)
    ask_cluster (self, entry);
  aim (self, entry);
  if (entry->state.item != 0 && entry->state.state == 0)
    await_end (self, entry);
  return FALSE;
}

/* All records are loaded. */
void
irisd_schedules_start (IrisdSchedules *self)
{
  g_tree_foreach (self->all, start_entry, self);
  irisd_schedule_chain_rest (self->items->core);
  arm (self);
  if (irisd_schedules_get_count (self) > 0)
    irisd_log (IRISD_LOG_INFO, "the journal holds %u schedules", irisd_schedules_get_count (self));
}

static const IrisdService *
find_service (IrisdSchedules *self, const IrisdRecurring *entry, const IrisWireMessage *item)
{
  IrisdCore *core = self->items->core;
  if (irisd_is_away (item))
    return &irisd_service_worker_processes;
  const IrisdService *service = irisd_services_lookup (core->services, &item->service);
  if (service != NULL)
    return service;
  g_autofree char *name = iris_wire_string_dup (&item->service);
  irisd_worker_processes_expect (core->worker_processes,
                                 irisd_items_get_space (self->items, entry->owner), name, FALSE);
  return &irisd_service_worker_processes;
}

/* What its owner may do can have changed since the schedule was made. */
static gboolean
is_permitted (IrisdSchedules *self,
              const IrisdRecurring *entry,
              const IrisWireMessage *item,
              GError **error)
{
  const IrisdConfig *settings = irisd_core_get_settings (self->items->core);
  const IrisdService *own = irisd_services_lookup (self->items->core->services, &item->service);
  gboolean runs_program = (own != NULL && own->reaches_out)
                          || iris_wire_message_has (item, IRIS_WIRE_KEY_HOOK);
  if (entry->owner > G_MAXUINT32)
    {
      const IrisdKey *key = irisd_keys_find_owner (settings->keys, entry->owner);
      g_autofree char *name = iris_wire_string_dup (&item->service);
      if (key != NULL && irisd_key_may_use (key, name))
        return TRUE;
    }
  else if (!runs_program
           || irisd_access_allows (&settings->access, IRISD_ACCESS_COMMANDS, entry->owner))
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                       "its owner may not submit its item any more");
  return FALSE;
}

static gboolean
may_go_away (IrisdSchedules *self, GError **error)
{
  IrisdCore *core = self->items->core;
  const guint64 most = irisd_cluster_view_get_max_away (core->cluster);
  if (atomic_load_explicit (&core->away, memory_order_relaxed) < most)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY,
               "the limit max-away (%" G_GUINT64_FORMAT ") is reached", most);
  return FALSE;
}

static gboolean
has_room (IrisdSchedules *self, gboolean for_workers, gsize size, GError **error)
{
  IrisdCore *core = self->items->core;
  const IrisdLimits *limits = &irisd_core_get_settings (core)->limits;
  IrisdJournal *journal = core->journal;
  const char *why = NULL;
  if (irisd_journal_get_health (journal) != IRISD_JOURNAL_READY)
    why = irisd_journal_get_reason (journal);
  else if (irisd_core_get_persistent_in_memory (core, for_workers) >= limits->total_items)
    why = "the limit total-items is reached";
  else if (irisd_core_get_bytes (core) + size > limits->total_bytes)
    why = "the limit total-bytes is reached";
  else if (irisd_journal_get_n_taken (journal) >= core->config->limits.persistent_items)
    why = "the limit persistent-items is reached";
  else if (!irisd_core_begin_item (core))
    why = "irisd is ending";
  if (why == NULL)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY, why);
  return FALSE;
}

/* Sets @routed to what a run of @entry submits now, with the rights of its owner, and @home to its
 * place. */
static gboolean
route (IrisdSchedules *self,
       const IrisdRecurring *entry,
       const IrisWireMessage *item,
       IrisWireMessage *routed,
       gint *home,
       gboolean *hinted,
       GError **error)
{
  IrisdItems *items = self->items;
  IrisdPeer *peer = irisd_items_get_journal_peer (items);
  const IrisdRoles roles = peer->roles;
  peer->owner = entry->owner;
  peer->roles = irisd_config_find_roles (irisd_core_get_settings (items->core), entry->owner);
  const gboolean routed_well = items->klass->route_run (items, peer, item, routed, error)
                               && is_permitted (self, entry, routed, error)
                               && irisd_placement_choose_home (items, peer, routed, home, hinted,
                                                               error);
  peer->owner = IRISD_OWNER_UNKNOWN;
  peer->roles = roles;
  return routed_well;
}

/* Whether the run at @due_ms, which was passed, was made without this node. */
static gboolean
was_handed (const IrisdRecurring *entry, guint64 due_ms)
{
  return due_ms != 0 && entry->next_handed > 0 && entry->handed[entry->next_handed - 1] == due_ms;
}

/* Gives @run, which is due at @due_ms, the name that it has in the cluster. If that may have it,
 * it goes by the cluster, also where it would stay here by now; then returns TRUE. */
static gboolean
name_run (IrisdSchedules *self, const IrisdRecurring *entry, guint64 due_ms, IrisWireMessage *run)
{
  const IrisWireKeys places = IRISD_AWAY_KEYS | IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT)
                              | IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME)
                              | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_ITEM)
                              | IRIS_WIRE_BIT (IRIS_WIRE_KEY_STRICT);
  const gboolean away = irisd_is_away (run);
  const gboolean may_be_there = entry->kept_ms == due_ms
                                || entry->kept_ms == IRISD_RECURRING_KEPT_UNKNOWN
                                || was_handed (entry, due_ms);
  if (!entry->chained || due_ms == 0 || (!away && !may_be_there))
    return FALSE;
  if (!away)
    {
      run->present &= ~places;
      run->hint = IRIS_PLACE_ANY;
      run->strict = run->any_node = FALSE;
      iris_wire_message_set_string (run, IRIS_WIRE_KEY_NODE,
                                    irisd_cluster_view_get_own (self->items->core->cluster), -1);
    }
  irisd_schedule_chain_name (entry, due_ms, run);
  return !away;
}

/* Gives a new run to the journal, with the state that the schedule has then. On success the state
 * is changed, and irisd_schedules_take_run() is called. BUSY: it may be tried again; @missed: not
 * soon. @due_ms: 0: it is beside those of the calendar. */
static gboolean
submit (IrisdSchedules *self,
        IrisdRecurring *entry,
        const char *key,
        guint64 due_ms,
        gboolean *missed,
        GError **error)
{
  IrisdItems *items = self->items;
  IrisdPeer *nowhere = irisd_items_get_journal_peer (items);
  IrisWireMessage stored, item;
  g_autoptr (IrisdAwayItem) away = NULL;
  gint home = IRIS_PLACE_ANY;
  gboolean hinted = FALSE;
  *missed = FALSE;
  if (!read_run (entry, key, &stored, error)
      || !route (self, entry, &stored, &item, &home, &hinted, error))
    return FALSE;
  if (name_run (self, entry, due_ms, &item))
    {
      home = IRIS_PLACE_ANY;
      hinted = FALSE;
    }
  const IrisdService *service = find_service (self, entry, &item);
  gboolean for_workers = service == &irisd_service_worker_processes;
  if (irisd_is_away (&item))
    {
      away = irisd_away_item_new (&item, &items->core->wire_limits, error);
      if (away == NULL)
        return FALSE;
      *missed = !may_go_away (self, error);
      if (*missed)
        return FALSE;
    }
  if (!has_room (self, for_workers, item.body.size, error))
    return FALSE;
  IrisdJob *job = irisd_job_new (items->core, items->mailbox, nowhere, service, &item, NULL);
  if (for_workers)
    irisd_worker_processes_adopt (job, &item, hinted ? home : IRIS_PLACE_ANY);
  if (away != NULL)
    irisd_worker_processes_send_away (job, &item, g_steal_pointer (&away));
  irisd_job_set_home (job, home, hinted, item.strict);
  job->owner = entry->owner;
  irisd_job_set_number (job, irisd_core_new_item_id (items->core));
  if (item.queue.len > 0)
    job->queue = irisd_named_queues_join_stored (&items->core->queues, &item.queue);
  irisd_items_settle_schedule (items, job, &item);
  irisd_core_add_bytes (items->core, (gint64) job->charge);
  entry->pending = entry->state.item = job->id;
  entry->state.state = 0;
  entry->state.exit_code = 0;
  entry->state.last_ms = was_handed (entry, due_ms) ? due_ms : irisd_unix_ms ();
  entry->state.n_runs++;
  watch_run (self, entry, job->id);
  irisd_persistent_keep_with (items, job, &item, make_state_change (entry));
  return TRUE;
}

/* The last item, if there is one, is not followed any more. */
static void
leave_last (IrisdSchedules *self, IrisdRecurring *entry)
{
  if (entry->running)
    g_hash_table_remove (self->by_run, &entry->state.item);
}

static void
try_later (IrisdSchedules *self, IrisdRecurring *entry, const GError *error)
{
  static IrisdLogSite site;
  irisd_log_each_minute (&site, IRISD_LOG_WARNING,
                         "the schedule “%s” is due and cannot run yet: %s; it is tried again",
                         entry->name, error->message);
  irisd_timers_remove (&self->timers, &entry->timer);
  irisd_timers_add (&self->timers, &entry->timer, IRISD_CLOCK_WALL,
                    g_get_real_time () + (gint64) RETRY_MS * 1000);
}

static void
skip (IrisdSchedules *self, IrisdRecurring *entry, guint64 now_ms)
{
  irisd_recurring_pass (entry, now_ms);
  entry->state.n_skipped++;
  post_change (self, make_state_change (entry), NULL);
  set_timer (self, entry);
}

/* Begins the run that is due. */
static void
begin_run (IrisdSchedules *self, IrisdRecurring *entry, guint64 now_ms)
{
  g_autofree char *key = make_key (entry, entry->due_ms);
  g_autoptr (GError) error = NULL;
  const IrisdRecurringState before = entry->state;
  const guint64 due_ms = entry->due_ms;
  const guint handed = entry->next_handed;
  gboolean was_running = entry->running;
  gboolean was_waiting = entry->waiting;
  gboolean was_overdue = entry->overdue;
  gboolean missed;
  irisd_recurring_pass (entry, now_ms);
  if (submit (self, entry, key, due_ms, &missed, &error))
    {
      if (was_running)
        g_hash_table_remove (self->by_run, &before.item);
      entry->running = FALSE;
      entry->before = before;
      entry->before_handed = handed;
      irisd_timers_remove (&self->timers, &entry->timer);
      return;
    }
  entry->state = before;
  entry->next_handed = handed;
  entry->due_ms = due_ms;
  entry->waiting = was_waiting;
  entry->overdue = was_overdue || missed;
  if (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY)
      && irisd_recurring_judge (entry, now_ms) != IRISD_RECURRING_SKIP)
    {
      try_later (self, entry, error);
      return;
    }
  irisd_log (IRISD_LOG_ERROR, "a run of the schedule “%s” is left out: %s", entry->name,
             error->message);
  skip (self, entry, now_ms);
}

static void
handle_due (IrisdSchedules *self, IrisdRecurring *entry, guint64 now_ms)
{
  if (entry->waiting && entry->running)
    {
      set_timer (self, entry);
      return;
    }
  switch (irisd_recurring_judge (entry, now_ms))
    {
    case IRISD_RECURRING_RUN:
      begin_run (self, entry, now_ms);
      break;
    case IRISD_RECURRING_SKIP:
      skip (self, entry, now_ms);
      break;
    case IRISD_RECURRING_WAIT:
      entry->waiting = TRUE;
      set_timer (self, entry);
      break;
    }
}

/* The descriptor is readable: the time has come, or the clock was set. */
void
irisd_schedules_note_event (IrisdSchedules *self)
{
  guint64 n;
  if (read (self->fd, &n, sizeof n) >= 0 || errno != ECANCELED)
    return;
  g_tree_foreach (self->all, aim_each, self);
  self->armed_us = 0;
  arm (self);
}

/* Begins what is due. For each turn of the gateway. */
void
irisd_schedules_run_due (IrisdSchedules *self)
{
  if (self->armed_us == G_MAXINT64 || self->armed_us > g_get_real_time ()
      || irisd_items_get_phase (self->items) != IRISD_PHASE_SERVING)
    return;
  IrisdTimes now = irisd_times_now ();
  for (IrisdTimer *timer; (timer = irisd_timers_pop_due (&self->timers, &now)) != NULL;)
    handle_due (self, irisd_recurring_from_timer (timer),
                (guint64) now.us[IRISD_CLOCK_WALL] / 1000);
  arm (self);
}

/* Begins a run beside those of the calendar. */
gboolean
irisd_schedules_run_now (IrisdSchedules *self, IrisdRecurring *entry, GError **error)
{
  g_autofree char *key = g_strdup_printf ("schedule/%s/now-%" G_GINT64_FORMAT, entry->name,
                                          g_get_real_time ());
  const IrisdRecurringState before = entry->state;
  gboolean was_running = entry->running;
  gboolean missed;
  if (entry->pending != 0)
    return TRUE; /* one begins just now */
  if (!submit (self, entry, key, 0, &missed, error))
    return FALSE;
  if (was_running)
    g_hash_table_remove (self->by_run, &before.item);
  entry->running = FALSE;
  entry->before = before;
  entry->before_handed = entry->next_handed;
  irisd_timers_remove (&self->timers, &entry->timer);
  return TRUE;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* @request is KEEP of a run, with the journal's answer. */
void
irisd_schedules_take_run (IrisdSchedules *self, IrisdJournalRequest *request)
{
  const guint64 item = request->job->id;
  IrisdRecurring *entry = g_hash_table_lookup (self->by_run, &item);
  g_hash_table_remove (self->by_run, &item);
  if (entry == NULL || entry->pending != item)
    return; /* it was removed or replaced meanwhile */
  entry->pending = 0;
  if (request->error != NULL)
    {
      entry->state = entry->before;
      entry->next_handed = entry->before_handed;
      aim (self, entry);
      if (entry->state.item != 0 && entry->state.state == 0)
        await_end (self, entry);
      try_later (self, entry, request->error);
    }
  else
    {
      if (request->duplicate) /* the clock was set back; that run was before */
        {
          entry->state.item = request->item;
          entry->state.n_runs = entry->before.n_runs;
          entry->state.last_ms = entry->before.last_ms;
        }
      await_end (self, entry);
      set_timer (self, entry);
    }
  arm (self);
}

/* @request is FOLLOW of a run, with the journal's answer: it has ended, or is not there any more.
 */
void
irisd_schedules_take_end (IrisdSchedules *self, IrisdJournalRequest *request)
{
  IrisdRecurring *entry = g_hash_table_lookup (self->by_run, &request->item);
  g_hash_table_remove (self->by_run, &request->item);
  if (entry == NULL || !entry->running || entry->state.item != request->item)
    return;
  entry->running = FALSE;
  entry->state.state = request->error == NULL ? request->state : IRIS_WIRE_STATE_DONE;
  entry->state.exit_code = request->error == NULL ? request->code : 0;
  if (irisd_items_get_phase (self->items) != IRISD_PHASE_SERVING)
    return;
  post_change (self, make_state_change (entry), NULL);
  if (entry->waiting && !entry->suspended)
    begin_run (self, entry, irisd_unix_ms ());
  arm (self);
}

/* --- changes ---------------------------------------------------------------------------------- */

IrisdRecurring *
irisd_schedules_find (IrisdSchedules *self, GBytes *id)
{
  return g_tree_lookup (self->all, id);
}

typedef struct
{
  const char *name;
  IrisdRecurring *found;
  gboolean several;
} Search;

static gboolean
compare_name (gpointer key, gpointer value, gpointer user_data)
{
  Search *search = user_data;
  IrisdRecurring *entry = value;
  if (strcmp (entry->name, search->name) != 0)
    return FALSE;
  search->several = search->found != NULL;
  search->found = entry;
  return search->several;
}

/* Returns the schedule of that name, whosever it is; NULL if there is none, or several. */
IrisdRecurring *
irisd_schedules_find_foreign (IrisdSchedules *self, const char *name, gboolean *several)
{
  Search search = { .name = name };
  g_tree_foreach (self->all, compare_name, &search);
  *several = search.several;
  return search.several ? NULL : search.found;
}

/* Takes it out of everything but the tree. */
static void
detach (IrisdSchedules *self, IrisdRecurring *entry)
{
  irisd_timers_remove (&self->timers, &entry->timer);
  leave_last (self, entry);
  if (entry->pending != 0)
    g_hash_table_remove (self->by_run, &entry->pending);
}

/* What a changed schedule goes on with. */
static void
inherit (IrisdSchedules *self, IrisdRecurring *entry, IrisdRecurring *old)
{
  const guint64 now_ms = irisd_unix_ms ();
  gboolean resumed = old->suspended && !entry->suspended;
  gboolean same_times = entry->made_ms == old->made_ms;
  const guint64 handled_ms = entry->state.handled_ms;
  gboolean running = old->running;
  detach (self, old);
  if (same_times && entry->chained && old->chained)
    {
      entry->asking = old->asking;
      entry->kept_ms = IRISD_RECURRING_KEPT_UNKNOWN;
      entry->handed = g_steal_pointer (&old->handed);
      entry->n_handed = old->n_handed;
      entry->next_handed = old->next_handed;
      entry->before_handed = old->before_handed;
      entry->resume_ms = old->resume_ms;
    }
  else
    irisd_schedule_chain_drop (self->items->core, old);
  entry->state = old->state;
  entry->state.made_ms = entry->made_ms;
  if (!same_times)
    entry->state.handled_ms = handled_ms;
  else if (resumed)
    entry->state.handled_ms = MAX (now_ms, old->state.handled_ms);
  if (old->pending != 0)
    {
      entry->pending = old->pending;
      entry->before = old->before;
      entry->before.made_ms = entry->made_ms;
      watch_run (self, entry, entry->pending);
    }
  if (running)
    {
      entry->running = TRUE;
      watch_run (self, entry, entry->state.item);
    }
}

/* Takes @entry, new or in place of the one with its id. */
void
irisd_schedules_put (IrisdSchedules *self, IrisdRecurring *entry, IrisdBroadcast *asked)
{
  IrisdRecurring *old = irisd_schedules_find (self, entry->id);
  irisd_schedule_chain_init (self->items->core, entry);
  if (old != NULL)
    inherit (self, entry, old);
  g_tree_replace (self->all, entry->id, entry);
  aim (self, entry);
  if (old != NULL)
    post_change (self, make_state_change (entry), NULL);
  post_definition (self, entry, asked);
  arm (self);
}

void
irisd_schedules_remove (IrisdSchedules *self, IrisdRecurring *entry, IrisdBroadcast *asked)
{
  g_autoptr (GBytes) id = g_bytes_ref (entry->id);
  g_autoptr (GBytes) state_id = make_state_id (id);
  irisd_schedule_chain_drop (self->items->core, entry);
  detach (self, entry);
  g_tree_remove (self->all, id);
  post_change (self, make_change (state_id, NULL), NULL);
  post_change (self, make_change (id, NULL), asked);
  arm (self);
}

/* The schedule that was made at @made_ms could not be written, so there is none. */
void
irisd_schedules_forget (IrisdSchedules *self, GBytes *id, guint64 made_ms)
{
  IrisdRecurring *entry = irisd_schedules_find (self, id);
  if (entry == NULL || entry->made_ms != made_ms)
    return;
  irisd_schedule_chain_drop (self->items->core, entry);
  detach (self, entry);
  g_tree_remove (self->all, id);
  arm (self);
}

/* Returns the first one behind @behind (nullable), or NULL. */
GTreeNode *
irisd_schedules_first (IrisdSchedules *self, GBytes *behind)
{
  return behind != NULL ? g_tree_upper_bound (self->all, behind) : g_tree_node_first (self->all);
}
