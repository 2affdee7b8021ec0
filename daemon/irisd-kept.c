/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items that irisd keeps beyond a connection, and perhaps beyond its own life.
 *
 * Only an item's number, times and key stay in memory; what it brings along is with the job while
 * it is queued and not cold (irisd-cold.c), and what it gave is in the store once it has ended. The
 * row that is to be written is held here from the change to the commit that writes it, so that an
 * item which is accepted, runs and ends between two commits is written once, and one that is
 * fetched before the next commit not at all.
 *
 * The state is relaxed: a worker that sets "running" tells it to people who ask, and nothing else
 * depends on it. What the journal sets itself it reads in the same thread.
 */
#include "irisd-kept.h"

#include <string.h>
#include <unistd.h>

guint64
irisd_unix_ms (void)
{
  return (guint64) (g_get_real_time () / 1000);
}

/* Most items are of the same service as the one before them, whose name need not be looked for. */
static GRefString *
share_name (const IrisWireString *service, const IrisdKept *like)
{
  if (like != NULL && strlen (like->service) == service->len
      && memcmp (like->service, service->data, service->len) == 0)
    return g_ref_string_acquire (like->service);
  g_autofree char *name = iris_wire_string_dup (service);
  return g_ref_string_new_intern (name);
}

/**
 * irisd_kept_new:
 * @record: what is known about it; copied, without header and body
 * @like: (nullable): an item that is probably of the same service
 *
 * An item of the release before, whose rows name no owner, is that of irisd's own user.
 *
 * Returns: (transfer full): an item that is in no table
 */
IrisdKept *
irisd_kept_new (const IrisdRecord *record, const IrisdKept *like)
{
  IrisdKept *self = g_malloc0 (sizeof *self + record->key.len);
  self->item = record->item;
  self->owner = record->owner != IRISD_OWNER_UNKNOWN ? record->owner : (gint64) geteuid ();
  atomic_init (&self->state, (guint8) record->state);
  atomic_init (&self->started_ms, 0);
  self->attempts = record->attempts;
  self->crashes = record->crashes;
  self->home = record->home;
  self->klass = (guint8) record->klass;
  self->accepted_ms = record->accepted_ms;
  self->ended_ms = record->ended_ms;
  self->keep_ms = record->keep_ms;
  self->due_ms = record->due_ms;
  self->size = record->body.size;
  self->service = share_name (&record->service, like);
  self->code = (guint16) record->code;
  if (record->sentence.len > 0)
    self->sentence = iris_wire_string_dup (&record->sentence);
  if (record->key.len > 0)
    memcpy (self->key, record->key.data, record->key.len);
  self->key_size = (guint16) record->key.len;
  return self;
}

/**
 * irisd_kept_free:
 * @self: (transfer full): an item that is in no table, and for which nobody waits
 */
void
irisd_kept_free (IrisdKept *self)
{
  irisd_kept_clear_row (self);
  g_ref_string_release (self->service);
  g_free (self->sentence);
  g_free (self);
}

int
irisd_kept_get_state (IrisdKept *self)
{
  return atomic_load_explicit (&self->state, memory_order_relaxed);
}

void
irisd_kept_set_state (IrisdKept *self, IrisWireState state)
{
  atomic_store_explicit (&self->state, (guint8) state, memory_order_relaxed);
}

/**
 * irisd_kept_note_start:
 * @self: an item
 * @state: running, or leased
 *
 * An attempt begins. Any thread that has the item may call this.
 */
void
irisd_kept_note_start (IrisdKept *self, IrisWireState state)
{
  /* Relaxed as the state is: both are only told to people who ask. */
  atomic_store_explicit (&self->started_ms, irisd_unix_ms (), memory_order_relaxed);
  irisd_kept_set_state (self, state);
}

gboolean
irisd_kept_has_ended (IrisdKept *self)
{
  int state = irisd_kept_get_state (self);
  return state >= IRIS_WIRE_STATE_DONE && state <= IRIS_WIRE_STATE_CANCELLED;
}

/**
 * irisd_kept_get_expiry:
 * @self: an item
 *
 * Returns: when its end is forgotten, in Unix time in milliseconds; 0 if it has not ended
 */
guint64
irisd_kept_get_expiry (IrisdKept *self)
{
  guint64 expiry = 0;
  if (!irisd_kept_has_ended (self))
    return 0;
  return g_uint64_checked_add (&expiry, self->ended_ms, self->keep_ms) ? expiry : G_MAXUINT64;
}

/**
 * irisd_kept_set_row:
 * @self: an item
 * @state: the state to be written
 * @type: of the message that is to be written
 * @header: its header; copied
 * @body: its body; copied
 *
 * Sets what is to be written.
 */
void
irisd_kept_set_row (IrisdKept *self,
                    IrisWireState state,
                    guint8 type,
                    IrisWireFrame header,
                    IrisWireFrame body)
{
  const IrisdRecord record = {
    .item = self->item,
    .state = state,
    .klass = self->klass,
    .owner = self->owner,
    .attempts = self->attempts,
    .crashes = self->crashes,
    .due_ms = self->due_ms,
    .home = self->home,
    .accepted_ms = self->accepted_ms,
    .ended_ms = self->ended_ms,
    .keep_ms = self->keep_ms,
    .key = { self->key, self->key_size },
    .service = { self->service, strlen (self->service) },
    .code = self->code,
    .sentence = { self->sentence, self->sentence != NULL ? strlen (self->sentence) : 0 },
    .type = type,
    .header = header,
    .body = body,
  };
  IrisdSheet *sheet = irisd_sheet_new (1);
  irisd_sheet_add (sheet, &record);
  irisd_kept_take_row (self, irisd_sheet_get_row (sheet, 0));
  irisd_sheet_unref (sheet);
}

/**
 * irisd_kept_take_row:
 * @self: an item
 * @row: what is to be written of it, a row of a sheet
 */
void
irisd_kept_take_row (IrisdKept *self, IrisdSheetRow *row)
{
  irisd_kept_clear_row (self);
  irisd_sheet_ref (row->sheet);
  self->row = row;
  self->size = row->body_size;
}

/**
 * irisd_kept_get_row:
 * @self: an item that has something to be written
 *
 * Returns: what, borrowed
 */
IrisdRow
irisd_kept_get_row (const IrisdKept *self)
{
  return irisd_sheet_row_view (self->row);
}

void
irisd_kept_clear_row (IrisdKept *self)
{
  IrisdSheetRow *row = g_steal_pointer (&self->row);
  if (row != NULL)
    irisd_sheet_unref (row->sheet);
}

/**
 * irisd_kept_set_reason:
 * @self: an item
 * @code: why it is buried, an #IrisWireError; 0 if it is not
 * @sentence: (nullable): the same for a person
 */
void
irisd_kept_set_reason (IrisdKept *self, guint32 code, const char *sentence)
{
  g_free (self->sentence);
  self->sentence = g_strdup (sentence);
  self->code = (guint16) code;
}

/* Keys are bytes; whoever reads a list wants text. */
static char *
key_as_text (IrisdKept *self)
{
  return self->key_size > 0 ? g_utf8_make_valid (self->key, (gssize) self->key_size) : NULL;
}

/**
 * irisd_kept_describe:
 * @self: an item
 * @out: (out caller-allocates): filled with memory of g_malloc()
 */
void
irisd_kept_describe (IrisdKept *self, IrisWireKeptItem *out)
{
  *out = (IrisWireKeptItem){
    .item = self->item,
    .state = (guint32) irisd_kept_get_state (self),
    .klass = self->klass,
    .attempts = self->attempts,
    .service = g_strdup (self->service),
    .key = key_as_text (self),
    .bytes = self->size,
    .accepted_ms = self->accepted_ms,
    .ended_ms = self->ended_ms,
    .expires_ms = irisd_kept_get_expiry (self),
    .code = self->code,
    .sentence = g_strdup (self->sentence),
    .owner = (guint32) self->owner,
    .due_ms = self->due_ms,
    .started_ms = atomic_load_explicit (&self->started_ms, memory_order_relaxed),
    .place = self->home >= 0 ? (guint32) self->home : IRIS_WIRE_NO_PLACE,
    .crashes = self->crashes,
  };
}

static guint
key_hash (gconstpointer data)
{
  const IrisdKept *kept = data;
  guint hash = 5381 + (guint) kept->owner;
  for (gsize i = 0; i < kept->key_size; i++)
    hash = hash * 33 + (guint8) kept->key[i];
  return hash;
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  const IrisdKept *left = a, *right = b;
  return left->owner == right->owner && left->key_size == right->key_size
         && memcmp (left->key, right->key, left->key_size) == 0;
}

void
irisd_kept_table_init (IrisdKeptTable *self)
{
  *self = (IrisdKeptTable){ 0 };
  /* A set, which takes half the room of a table with values: an item begins with its number. */
  self->by_item = g_hash_table_new (g_int64_hash, g_int64_equal);
  self->by_key = g_hash_table_new (key_hash, key_equal);
  TAILQ_INIT (&self->cancelled);
  self->by_owner = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
}

/**
 * irisd_kept_table_clear:
 * @self: a table; its items are freed
 */
void
irisd_kept_table_clear (IrisdKeptTable *self)
{
  g_hash_table_unref (self->by_item);
  g_hash_table_unref (self->by_key);
  g_hash_table_unref (self->by_owner);
  while (self->first != NULL)
    {
      IrisdKept *kept = self->first;
      self->first = kept->next;
      irisd_kept_free (kept);
    }
}

/* Numbers come nearly in order, so the place is found from the end. */
static void
link_in_order (IrisdKeptTable *self, IrisdKept *kept)
{
  IrisdKept *before = self->last;
  while (before != NULL && before->item > kept->item)
    before = before->previous;
  kept->previous = before;
  kept->next = before != NULL ? before->next : self->first;
  if (before != NULL)
    before->next = kept;
  else
    self->first = kept;
  if (kept->next != NULL)
    kept->next->previous = kept;
  else
    self->last = kept;
}

/* As before, in the list of its owner. */
static void
link_to_owner (IrisdKeptTable *self, IrisdKept *kept)
{
  IrisdKeptOwner *own = g_hash_table_lookup (self->by_owner, &kept->owner);
  if (own == NULL)
    {
      own = g_new0 (IrisdKeptOwner, 1);
      own->owner = kept->owner;
      g_hash_table_add (self->by_owner, own);
    }
  IrisdKept *before = own->last;
  while (before != NULL && before->item > kept->item)
    before = before->own_previous;
  kept->own_previous = before;
  kept->own_next = before != NULL ? before->own_next : own->first;
  *(before != NULL ? &before->own_next : &own->first) = kept;
  *(kept->own_next != NULL ? &kept->own_next->own_previous : &own->last) = kept;
}

static void
unlink_from_owner (IrisdKeptTable *self, IrisdKept *kept)
{
  IrisdKeptOwner *own = g_hash_table_lookup (self->by_owner, &kept->owner);
  *(kept->own_previous != NULL ? &kept->own_previous->own_next : &own->first) = kept->own_next;
  *(kept->own_next != NULL ? &kept->own_next->own_previous : &own->last) = kept->own_previous;
  kept->own_previous = kept->own_next = NULL;
}

/**
 * irisd_kept_table_get_first:
 * @self: a table
 * @view: an owner, or %IRISD_VIEW_ALL
 * @descending: whether to begin with the last one
 *
 * Returns: (nullable): the first item within the view
 */
IrisdKept *
irisd_kept_table_get_first (IrisdKeptTable *self, gint64 view, gboolean descending)
{
  if (view == IRISD_VIEW_ALL)
    return descending ? self->last : self->first;
  const IrisdKeptOwner *own = g_hash_table_lookup (self->by_owner, &view);
  if (own == NULL)
    return NULL;
  return descending ? own->last : own->first;
}

/**
 * irisd_kept_get_next:
 * @self: an item within the view, in a table
 * @view: an owner, or %IRISD_VIEW_ALL
 * @descending: whether to go backwards
 *
 * Returns: (nullable): the next item within the view
 */
IrisdKept *
irisd_kept_get_next (const IrisdKept *self, gint64 view, gboolean descending)
{
  if (view == IRISD_VIEW_ALL)
    return descending ? self->previous : self->next;
  return descending ? self->own_previous : self->own_next;
}

/**
 * irisd_kept_table_add:
 * @self: a table
 * @kept: (transfer full): an item whose number and key are not in it
 */
void
irisd_kept_table_add (IrisdKeptTable *self, IrisdKept *kept)
{
  g_hash_table_add (self->by_item, kept);
  if (kept->key_size > 0)
    g_hash_table_add (self->by_key, kept);
  link_in_order (self, kept);
  link_to_owner (self, kept);
  self->n_items++;
  if (irisd_kept_has_ended (kept))
    irisd_kept_table_note_end (self, kept);
}

/**
 * irisd_kept_table_remove:
 * @self: a table
 * @kept: an item in it, which the caller then owns
 */
void
irisd_kept_table_remove (IrisdKeptTable *self, IrisdKept *kept)
{
  g_hash_table_remove (self->by_item, kept);
  if (kept->key_size > 0)
    g_hash_table_remove (self->by_key, kept);
  if (kept->previous != NULL)
    kept->previous->next = kept->next;
  else
    self->first = kept->next;
  if (kept->next != NULL)
    kept->next->previous = kept->previous;
  else
    self->last = kept->previous;
  kept->previous = kept->next = NULL;
  unlink_from_owner (self, kept);
  self->n_items--;
  self->n_ended -= irisd_kept_has_ended (kept);
  if (irisd_kept_get_state (kept) != IRIS_WIRE_STATE_CANCELLED)
    return;
  TAILQ_REMOVE (&self->cancelled, kept, in_queue);
  self->n_cancelled--;
}

/**
 * irisd_kept_table_note_end:
 * @self: a table
 * @kept: an item in it whose state says from now on that it has ended
 */
void
irisd_kept_table_note_end (IrisdKeptTable *self, IrisdKept *kept)
{
  self->n_ended++;
  if (irisd_kept_get_state (kept) != IRIS_WIRE_STATE_CANCELLED)
    return;
  TAILQ_INSERT_TAIL (&self->cancelled, kept, in_queue);
  self->n_cancelled++;
}

/**
 * irisd_kept_table_get_cancelled:
 * @self: a table
 *
 * Returns: (nullable): the item that was cancelled first of those in it
 */
IrisdKept *
irisd_kept_table_get_cancelled (IrisdKeptTable *self)
{
  return TAILQ_FIRST (&self->cancelled);
}

IrisdKept *
irisd_kept_table_lookup (IrisdKeptTable *self, guint64 item)
{
  return g_hash_table_lookup (self->by_item, &item);
}

/**
 * irisd_kept_table_lookup_key:
 * @self: a table
 * @other: an item with a key
 *
 * Returns: (nullable): the item in the table with the same owner and key
 */
IrisdKept *
irisd_kept_table_lookup_key (IrisdKeptTable *self, IrisdKept *other)
{
  return g_hash_table_lookup (self->by_key, other);
}
