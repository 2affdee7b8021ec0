/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A recurring item: one schedule, its times, and what is known of its last run.
 *
 * Its definition is kept as the SCHEDULE message that would make it, and its state as numbers: two
 * records of the journal, because the state changes with each run and the definition is larger.
 *
 * A run that irisd did not begin within a minute was missed: irisd did not run, the machine slept,
 * or the clock was set. One that irisd cannot begin for long was missed at once. All runs that were
 * missed are left out, or one makes up for them.
 */
#include "daemon/items/schedule/irisd-recurring.h"

#include <string.h>

/* Beyond a day a jitter is a calendar of its own. */
#define MOST_JITTER_MS (G_GUINT64_CONSTANT (24) * 3600 * 1000)

#define N_STATE (sizeof (IrisdRecurringState) / sizeof (guint64))

/* A state that was written before there were exit codes. */
#define N_FIRST_STATE (N_STATE - 1)

/* In front of header and body. */
typedef struct
{
  guint64 made_ms;
  guint64 header_size;
} Head;

/* Returns what tells it from all others: sorted, the schedules of an owner follow each other. */
GBytes *
irisd_recurring_make_id (gint64 owner, const char *name, gsize name_size)
{
  g_autoptr (GByteArray) id = g_byte_array_new ();
  guint64 number = GUINT64_TO_BE ((guint64) owner);
  g_byte_array_append (id, (const guint8 *) &number, sizeof number);
  g_byte_array_append (id, (const guint8 *) name, (guint) name_size);
  return g_byte_array_free_to_bytes (g_steal_pointer (&id));
}

static gboolean
fail (GError **error, const char *reason)
{
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT, reason);
  return FALSE;
}

static gboolean
check_name (const IrisWireString *name, GError **error)
{
  gboolean plain = name->len >= 1 && name->len <= IRISD_RECURRING_MOST_NAME;
  for (gsize i = 0; i < name->len && plain; i++)
    plain = (guint8) name->data[i] >= 0x20 && name->data[i] != 0x7f;
  return plain
         || fail (error, "the name of a schedule has 1 to 200 bytes, and no control characters");
}

static IrisdCalendar *
make_calendar (const IrisWireMessage *message, GError **error)
{
  if (!iris_wire_message_has (message, IRIS_WIRE_KEY_CALENDAR))
    return irisd_calendar_new_every (message->every_ms, error);
  g_autofree char *line = iris_wire_string_dup (&message->calendar);
  g_autofree char *zone = iris_wire_string_dup (&message->zone);
  return irisd_calendar_new (line, message->zone.len > 0 ? zone : NULL, error);
}

/* Returns whether @message, SCHEDULE, could make or change a schedule. */
gboolean
irisd_recurring_check (const IrisWireMessage *message, GError **error)
{
  gboolean line = iris_wire_message_has (message, IRIS_WIRE_KEY_CALENDAR);
  gboolean every = iris_wire_message_has (message, IRIS_WIRE_KEY_EVERY_MS);
  if (!check_name (&message->schedule, error))
    return FALSE;
  if (line && every)
    return fail (error, "a schedule has a calendar line or a time between two runs, not both: "
                        "leave out calendar or every-ms");
  if (every && iris_wire_message_has (message, IRIS_WIRE_KEY_ZONE))
    return fail (error, "the time between two runs is the same in all time zones: leave out zone");
  if (message->jitter_ms > MOST_JITTER_MS)
    return fail (error, "the jitter of a schedule is at most a day");
  if (!line && !every)
    return TRUE;
  g_autoptr (IrisdCalendar) calendar = make_calendar (message, error);
  return calendar != NULL;
}

/* @message is the SCHEDULE that would make it, and borrows from @self. */
gboolean
irisd_recurring_read (const IrisdRecurring *self, IrisWireMessage *message, GError **error)
{
  const guint8 type = IRIS_WIRE_SCHEDULE;
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 },
    { &type, 1 },
    { id, sizeof id },
    { self->header.data, self->header.size },
    { self->body.data, self->body.size },
  };
  return iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, NULL, message, error);
}

/* @header and @body are those of a SCHEDULE that makes it, which irisd_recurring_check() let pass.
 * It has no time yet. */
IrisdRecurring *
irisd_recurring_new (gint64 owner,
                     guint64 made_ms,
                     IrisWireFrame header,
                     IrisWireFrame body,
                     GError **error)
{
  IrisdRecurring *self = g_new0 (IrisdRecurring, 1);
  IrisWireMessage message;
  self->owner = owner;
  self->made_ms = self->state.made_ms = self->state.handled_ms = made_ms;
  self->header = (IrisdBlob){ g_memdup2 (header.data, header.size), header.size };
  self->body = (IrisdBlob){ g_memdup2 (body.data, body.size), body.size };
  if (irisd_recurring_read (self, &message, error) && irisd_recurring_check (&message, error)
      && (self->calendar = make_calendar (&message, error)) != NULL)
    {
      const IrisWireString *name = &message.schedule;
      self->name = iris_wire_string_dup (name);
      self->id = irisd_recurring_make_id (owner, name->data, name->len);
      self->suspended = message.suspended;
      self->jitter_ms = message.jitter_ms;
      self->missed = message.missed != 0 ? message.missed : IRIS_WIRE_MISSED_ONE;
      self->overlap = message.overlap != 0 ? message.overlap : IRIS_WIRE_OVERLAP_SKIP;
      return self;
    }
  irisd_recurring_free (self);
  return NULL;
}

void
irisd_recurring_free (IrisdRecurring *self)
{
  g_clear_pointer (&self->id, g_bytes_unref);
  g_clear_pointer (&self->calendar, irisd_calendar_free);
  g_free (self->name);
  g_free (self->handed);
  g_free (self->header.data);
  g_free (self->body.data);
  g_free (self);
}

/* Returns the schedule of a record that irisd_recurring_pack() made. */
IrisdRecurring *
irisd_recurring_load (const IrisdNamedRecord *record, GError **error)
{
  Head head;
  guint64 owner;
  if (record->name_size <= sizeof owner || record->body_size < sizeof head)
    {
      fail (error, "the record is too short");
      return NULL;
    }
  memcpy (&owner, record->name, sizeof owner);
  memcpy (&head, record->body, sizeof head);
  const guint64 header_size = GUINT64_FROM_LE (head.header_size);
  if (header_size > record->body_size - sizeof head)
    {
      fail (error, "the record is too short");
      return NULL;
    }
  const guint8 *at = record->body + sizeof head;
  return irisd_recurring_new (
      (gint64) GUINT64_FROM_BE (owner), GUINT64_FROM_LE (head.made_ms),
      (IrisWireFrame){ at, header_size },
      (IrisWireFrame){ at + header_size, record->body_size - sizeof head - header_size }, error);
}

GBytes *
irisd_recurring_pack (const IrisdRecurring *self)
{
  const Head head = { GUINT64_TO_LE (self->made_ms), GUINT64_TO_LE ((guint64) self->header.size) };
  GByteArray *bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *) &head, sizeof head);
  g_byte_array_append (bytes, self->header.data, (guint) self->header.size);
  g_byte_array_append (bytes, self->body.data, (guint) self->body.size);
  return g_byte_array_free_to_bytes (bytes);
}

/* @item is what each run submits, and borrows from @self. */
gboolean
irisd_recurring_read_item (const IrisdRecurring *self, IrisWireMessage *item, GError **error)
{
  IrisWireBatchIter iter;
  if (!iris_wire_batch_iter_init (&iter, (IrisWireFrame){ self->body.data, self->body.size }, NULL,
                                  error))
    return FALSE;
  IrisWireBatchStep step = iris_wire_batch_iter_next (&iter, item, error);
  if (step == IRIS_WIRE_BATCH_ITEM && iter.n_items == 1)
    return TRUE;
  if (step != IRIS_WIRE_BATCH_REFUSED)
    fail (error, "a schedule has exactly one item, which each run submits");
  return FALSE;
}

/* A state of another definition of that name is no news. Returns whether it was taken. */
gboolean
irisd_recurring_load_state (IrisdRecurring *self, const IrisdNamedRecord *record)
{
  guint64 numbers[N_STATE] = { 0 };
  if (record->body_size != sizeof numbers && record->body_size != N_FIRST_STATE * sizeof numbers[0])
    return FALSE;
  memcpy (numbers, record->body, record->body_size);
  for (guint i = 0; i < N_STATE; i++)
    numbers[i] = GUINT64_FROM_LE (numbers[i]);
  if (numbers[0] != self->made_ms)
    return FALSE;
  memcpy (&self->state, numbers, sizeof numbers);
  return TRUE;
}

GBytes *
irisd_recurring_pack_state (const IrisdRecurringState *state)
{
  guint64 numbers[N_STATE];
  memcpy (numbers, state, sizeof numbers);
  for (guint i = 0; i < N_STATE; i++)
    numbers[i] = GUINT64_TO_LE (numbers[i]);
  return g_bytes_new (numbers, sizeof numbers);
}

static guint64
next_after (const IrisdRecurring *self, guint64 after_ms)
{
  gint64 next = irisd_calendar_get_next (self->calendar, (gint64) self->made_ms, (gint64) after_ms);
  return next > 0 ? (guint64) next : 0;
}

guint64
irisd_recurring_get_begin_of (const IrisdRecurring *self, guint64 due_ms)
{
  return due_ms + irisd_calendar_get_jitter (self->name, (gint64) due_ms, self->jitter_ms);
}

/* Sets the time of the next run by the clock: if that was set back, times are due again that were
 * dealt with. Returns whether they are those of a time between two runs, which is to be counted
 * anew then: the keys of the old runs would hold up the new ones. */
gboolean
irisd_recurring_aim (IrisdRecurring *self, guint64 now_ms)
{
  const guint64 handled_ms = self->state.handled_ms;
  if (self->waiting)
    {
      self->due_ms = MIN (self->due_ms, now_ms);
      return FALSE;
    }
  if (irisd_recurring_is_handed (self))
    {
      self->due_ms = self->handed[self->next_handed];
      return FALSE;
    }
  self->overdue = FALSE;
  self->state.handled_ms = MIN (handled_ms, now_ms);
  self->due_ms = next_after (self, self->state.handled_ms);
  return irisd_calendar_is_every (self->calendar)
         && (self->made_ms > now_ms || (self->due_ms != 0 && self->due_ms <= handled_ms));
}

/* Counts the time between two runs from @now_ms on. */
void
irisd_recurring_count_anew (IrisdRecurring *self, guint64 now_ms)
{
  self->made_ms = self->state.made_ms = self->before.made_ms = now_ms;
  self->state.handled_ms = now_ms;
  self->due_ms = next_after (self, now_ms);
}

/* Returns when the next run begins, with its jitter; 0: never. */
guint64
irisd_recurring_get_begin (const IrisdRecurring *self)
{
  return self->due_ms != 0 ? irisd_recurring_get_begin_of (self, self->due_ms) : 0;
}

static gboolean
is_late (const IrisdRecurring *self, guint64 now_ms)
{
  return self->overdue || now_ms > irisd_recurring_get_begin (self) + IRISD_RECURRING_LATE_MS;
}

/* The run at `due_ms` is due. */
IrisdRecurringStep
irisd_recurring_judge (const IrisdRecurring *self, guint64 now_ms)
{
  const gboolean late = is_late (self, now_ms);
  if (irisd_recurring_is_handed (self))
    return IRISD_RECURRING_RUN;
  if (late && !self->waiting && self->missed == IRIS_WIRE_MISSED_SKIP)
    return IRISD_RECURRING_SKIP;
  if (!self->running || self->overlap == IRIS_WIRE_OVERLAP_ALLOW)
    return IRISD_RECURRING_RUN;
  return self->overlap == IRIS_WIRE_OVERLAP_QUEUE ? IRISD_RECURRING_WAIT : IRISD_RECURRING_SKIP;
}

/* The end of a run is taken that was made without this node. */
static void
pass_handed (IrisdRecurring *self)
{
  self->next_handed++;
  self->due_ms = irisd_recurring_is_handed (self) ? self->handed[self->next_handed]
                                                  : next_after (self, self->resume_ms - 1);
  self->state.handled_ms = (self->due_ms != 0 ? self->due_ms : self->resume_ms) - 1;
  self->overdue = FALSE;
}

/* The run at `due_ms` is dealt with, and so are those that were missed or have waited with it: the
 * next one is the first that is not late. */
void
irisd_recurring_pass (IrisdRecurring *self, guint64 now_ms)
{
  const gboolean late = is_late (self, now_ms);
  if (irisd_recurring_is_handed (self))
    {
      pass_handed (self);
      return;
    }
  guint64 due_ms = next_after (self, self->due_ms);
  if (late || self->waiting)
    {
      guint64 before = now_ms - MIN (now_ms, self->jitter_ms + IRISD_RECURRING_LATE_MS);
      gboolean left_out = !self->waiting && self->missed == IRIS_WIRE_MISSED_SKIP;
      guint64 floor = left_out ? now_ms - MIN (now_ms, IRISD_RECURRING_LATE_MS) : now_ms;
      due_ms = next_after (self, MAX (before, self->due_ms));
      while (due_ms != 0 && irisd_recurring_get_begin_of (self, due_ms) <= floor)
        due_ms = next_after (self, due_ms);
    }
  self->state.handled_ms = due_ms != 0 ? due_ms - 1 : self->due_ms;
  self->due_ms = due_ms;
  self->waiting = self->overdue = FALSE;
}

/* Returns when the first run is due that begins after @now_ms; 0: never. */
guint64
irisd_recurring_get_following (const IrisdRecurring *self, guint64 now_ms)
{
  guint64 due_ms = next_after (self, now_ms - MIN (now_ms, self->jitter_ms));
  while (due_ms != 0 && irisd_recurring_get_begin_of (self, due_ms) <= now_ms)
    due_ms = next_after (self, due_ms);
  return due_ms;
}

/* @chain is what the cluster has, which has made runs without this node. Their ends are taken, but
 * for those that were due before @oldest_ms: they only count. Returns how many runs there were. */
guint
irisd_recurring_take_handed (IrisdRecurring *self, const IrisdRunChain *chain, guint64 oldest_ms)
{
  const guint64 handled_ms = self->state.handled_ms;
  guint n_known = 0;
  if (chain->n_handed == 0 || chain->due_ms <= handled_ms)
    return 0;
  g_free (self->handed);
  self->handed = g_new (guint64, MAX (chain->n_latest, 1));
  self->n_handed = self->next_handed = self->before_handed = 0;
  for (guint i = 0; i < chain->n_latest; i++)
    if (chain->latest[i] <= handled_ms)
      n_known++;
    else if (chain->latest[i] >= oldest_ms && chain->latest[i] < chain->due_ms)
      self->handed[self->n_handed++] = chain->latest[i];
  const guint64 n_new = chain->n_handed - MIN (chain->n_handed, n_known);
  self->state.n_runs += n_new - MIN (n_new, self->n_handed);
  self->resume_ms = chain->due_ms;
  if (n_new > 0)
    self->state.handled_ms = (self->n_handed > 0 ? self->handed[0] : chain->due_ms) - 1;
  self->due_ms = self->n_handed > 0 ? self->handed[0] : next_after (self, self->state.handled_ms);
  self->waiting = self->overdue = FALSE;
  return (guint) MIN (n_new, G_MAXUINT);
}
