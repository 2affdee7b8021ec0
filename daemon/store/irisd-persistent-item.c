/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that outlive their client's connection, and, once written, irisd itself.
 *
 * Only an item's number, times and key stay in memory; its payload is with the job while it is
 * queued and not spilled (irisd-spilled.c), and its result is in the store once it has ended. The
 * row to be written is held here from the change to the commit that writes it. So an item that is
 * accepted, runs and ends between two commits is written once, and one that is fetched before the
 * next commit not at all.
 *
 * The state is relaxed: a worker sets "running" for clients that ask, and nothing else depends on
 * it. The journal reads what it sets itself in the same thread.
 */
#include "daemon/store/irisd-persistent-item.h"

#include <string.h>
#include <unistd.h>

guint64
irisd_unix_ms (void)
{
  return (guint64) (g_get_real_time () / 1000);
}

/* Most items are of the same service as the one before, so its name is tried first. */
static GRefString *
share_name (const IrisWireString *service, const IrisdPersistentItem *like)
{
  if (like != NULL && strlen (like->service) == service->len
      && memcmp (like->service, service->data, service->len) == 0)
    return g_ref_string_acquire (like->service);
  g_autofree char *name = iris_wire_string_dup (service);
  return g_ref_string_new_intern (name);
}

/* Copies @record, without header and body. @like may be an item of the same service. An item of the
 * first release, whose rows name no owner, belongs to irisd's own user. Returns an item that is in
 * no table. */
IrisdPersistentItem *
irisd_persistent_item_new (const IrisdRecord *record, const IrisdPersistentItem *like)
{
  IrisdPersistentItem *self = g_malloc0 (sizeof *self + record->key.len);
  self->item = record->item;
  self->owner = record->owner != IRISD_OWNER_UNKNOWN ? record->owner : (gint64) geteuid ();
  atomic_init (&self->state, (guint8) record->state);
  atomic_init (&self->started_ms, 0);
  irisd_item_word_init (&self->resting, record->state == IRIS_WIRE_STATE_BURIED ? IRISD_ITEM_BURIED
                                        : irisd_persistent_item_has_ended (self)
                                            ? IRISD_ITEM_RELEASED
                                            : IRISD_ITEM_STORED);
  self->suspended = record->state == IRIS_WIRE_STATE_SUSPENDED;
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
  if (record->reason.len > 0)
    self->reason = iris_wire_string_dup (&record->reason);
  if (record->key.len > 0)
    memcpy (self->key, record->key.data, record->key.len);
  self->key_size = (guint16) record->key.len;
  return self;
}

/* Takes @self, which is in no table and for which no request waits. */
void
irisd_persistent_item_free (IrisdPersistentItem *self)
{
  irisd_persistent_item_clear_row (self);
  g_ref_string_release (self->service);
  g_free (self->reason);
  g_free (self);
}

int
irisd_persistent_item_get_state (IrisdPersistentItem *self)
{
  return atomic_load_explicit (&self->state, memory_order_relaxed);
}

void
irisd_persistent_item_set_state (IrisdPersistentItem *self, IrisWireState state)
{
  atomic_store_explicit (&self->state, (guint8) state, memory_order_relaxed);
}

/* For an item without a job: the journal's thread calls this, and of an item that is spilled its
 * gateway. Returns FALSE if the event came too late. */
gboolean
irisd_persistent_item_advance (IrisdPersistentItem *self, IrisdItemEvent event)
{
  const IrisdItemTransition *transition = irisd_item_word_advance (&self->resting, event, TRUE,
                                                                   self->item);
  if (transition == NULL)
    return FALSE;
  guint told = irisd_item_state_get_told (transition->next);
  if (told != 0)
    irisd_persistent_item_set_state (self, (IrisWireState) told);
  return TRUE;
}

/* An attempt begins: @state is running, or leased. Any thread that has the item may call this. */
void
irisd_persistent_item_note_start (IrisdPersistentItem *self, IrisWireState state)
{
  /* Relaxed as the state is: both are only shown to clients. */
  atomic_store_explicit (&self->started_ms, irisd_unix_ms (), memory_order_relaxed);
  irisd_persistent_item_set_state (self, state);
}

gboolean
irisd_persistent_item_has_ended (IrisdPersistentItem *self)
{
  int state = irisd_persistent_item_get_state (self);
  return state >= IRIS_WIRE_STATE_DONE && state <= IRIS_WIRE_STATE_CANCELLED;
}

/* Returns the Unix time in milliseconds at which its end is removed; 0 if it has not ended. */
guint64
irisd_persistent_item_get_expiry (IrisdPersistentItem *self)
{
  guint64 expiry = 0;
  if (!irisd_persistent_item_has_ended (self))
    return 0;
  return g_uint64_checked_add (&expiry, self->ended_ms, self->keep_ms) ? expiry : G_MAXUINT64;
}

/* Sets the row to be written; copies @header and @body. */
void
irisd_persistent_item_set_row (IrisdPersistentItem *self,
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
    .reason = { self->reason, self->reason != NULL ? strlen (self->reason) : 0 },
    .type = type,
    .header = header,
    .body = body,
  };
  IrisdRowBatch *row_batch = irisd_row_batch_new (1);
  irisd_row_batch_add (row_batch, &record);
  irisd_persistent_item_take_row (self, irisd_row_batch_get_row (row_batch, 0));
  irisd_row_batch_unref (row_batch);
}

/* Sets the row to be written, from a row batch. */
void
irisd_persistent_item_take_row (IrisdPersistentItem *self, IrisdBatchRow *row)
{
  irisd_persistent_item_clear_row (self);
  irisd_row_batch_ref (row->row_batch);
  self->row = row;
  self->size = row->body_size;
}

/* @self has a row to be written. Returns it, borrowed. */
IrisdRow
irisd_persistent_item_get_row (const IrisdPersistentItem *self)
{
  return irisd_batch_row_view (self->row);
}

void
irisd_persistent_item_clear_row (IrisdPersistentItem *self)
{
  IrisdBatchRow *row = g_steal_pointer (&self->row);
  if (row != NULL)
    irisd_row_batch_unref (row->row_batch);
}

/* @code is the IrisWireError for which it is buried, or the exit code of a command that is done, or
 * 0; @reason the same for a person, or NULL. */
void
irisd_persistent_item_set_reason (IrisdPersistentItem *self, guint32 code, const char *reason)
{
  g_free (self->reason);
  self->reason = g_strdup (reason);
  self->code = (guint16) code;
}

/* Whether its end stays after an acknowledgement, so that a second submission finds it. */
gboolean
irisd_persistent_item_has_own_key (const IrisdPersistentItem *self)
{
  return self->key_size > 0 && self->key[0] != IRISD_SESSION_MARK;
}

/* Keys are bytes; lists show text. */
static char *
key_as_text (IrisdPersistentItem *self)
{
  return irisd_persistent_item_has_own_key (self)
             ? g_utf8_make_valid (self->key, (gssize) self->key_size)
             : NULL;
}

/* Fills @out with memory of g_malloc(). */
void
irisd_persistent_item_describe (IrisdPersistentItem *self, IrisWirePersistentItem *out)
{
  *out = (IrisWirePersistentItem){
    .item = self->item,
    .state = (guint32) irisd_persistent_item_get_state (self),
    .klass = self->klass,
    .attempts = self->attempts,
    .service = g_strdup (self->service),
    .key = key_as_text (self),
    .bytes = self->size,
    .accepted_ms = self->accepted_ms,
    .ended_ms = self->ended_ms,
    .expires_ms = irisd_persistent_item_get_expiry (self),
    .code = self->ended_ms == 0 ? self->code : 0,
    .message = g_strdup (self->reason),
    .owner = irisd_owner_is_key (self->owner) ? (guint64) self->owner : (guint32) self->owner,
    .due_ms = self->due_ms,
    .started_ms = atomic_load_explicit (&self->started_ms, memory_order_relaxed),
    .place = self->home >= 0 ? (guint32) self->home : IRIS_WIRE_NO_PLACE,
    .crashes = self->crashes,
    .exit_code = self->ended_ms != 0 ? self->code : 0,
  };
}

static guint
key_hash (gconstpointer data)
{
  const IrisdPersistentItem *persistent = data;
  guint hash = 5381 + (guint) persistent->owner;
  for (gsize i = 0; i < persistent->key_size; i++)
    hash = hash * 33 + (guint8) persistent->key[i];
  return hash;
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  const IrisdPersistentItem *left = a, *right = b;
  return left->owner == right->owner && left->key_size == right->key_size
         && memcmp (left->key, right->key, left->key_size) == 0;
}

void
irisd_persistent_table_init (IrisdPersistentTable *self)
{
  *self = (IrisdPersistentTable){ 0 };
  /* A set, which takes half the room of a table with values: an item begins with its number. */
  self->by_item = g_hash_table_new (g_int64_hash, g_int64_equal);
  self->by_key = g_hash_table_new (key_hash, key_equal);
  TAILQ_INIT (&self->all);
  TAILQ_INIT (&self->cancelled);
  self->by_owner = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
}

/* Frees the items. */
void
irisd_persistent_table_clear (IrisdPersistentTable *self)
{
  g_hash_table_unref (self->by_item);
  g_hash_table_unref (self->by_key);
  g_hash_table_unref (self->by_owner);
  for (IrisdPersistentItem *persistent; (persistent = TAILQ_FIRST (&self->all)) != NULL;)
    {
      TAILQ_REMOVE (&self->all, persistent, in_all);
      irisd_persistent_item_free (persistent);
    }
}

/* Numbers come nearly in order, so the search begins at the end. */
#define INSERT_IN_ORDER(list, persistent, field)                              \
  do                                                                          \
    {                                                                         \
      IrisdPersistentItem *before = TAILQ_LAST (list, _IrisdPersistentItems); \
      while (before != NULL && before->item > (persistent)->item)             \
        before = TAILQ_PREV (before, _IrisdPersistentItems, field);           \
      if (before != NULL)                                                     \
        TAILQ_INSERT_AFTER (list, before, persistent, field);                 \
      else                                                                    \
        TAILQ_INSERT_HEAD (list, persistent, field);                          \
    }                                                                         \
  while (0)

static IrisdPersistentOwner *
get_owner (IrisdPersistentTable *self, gint64 owner)
{
  IrisdPersistentOwner *own = g_hash_table_lookup (self->by_owner, &owner);
  if (own != NULL)
    return own;
  own = g_new0 (IrisdPersistentOwner, 1);
  own->owner = owner;
  TAILQ_INIT (&own->items);
  g_hash_table_add (self->by_owner, own);
  return own;
}

/* Returns the first item within @view, an owner or IRISD_VIEW_ALL; the last one if @descending; or
 * NULL. */
IrisdPersistentItem *
irisd_persistent_table_get_first (IrisdPersistentTable *self, gint64 view, gboolean descending)
{
  IrisdPersistentOwner *own = g_hash_table_lookup (self->by_owner, &view);
  const IrisdPersistentItems *items = view == IRISD_VIEW_ALL ? &self->all
                                      : own != NULL          ? &own->items
                                                             : NULL;
  if (items == NULL)
    return NULL;
  return descending ? TAILQ_LAST (items, _IrisdPersistentItems) : TAILQ_FIRST (items);
}

/* Returns the next item within @view, the previous one if @descending; or NULL. */
IrisdPersistentItem *
irisd_persistent_item_get_next (const IrisdPersistentItem *self, gint64 view, gboolean descending)
{
  if (view == IRISD_VIEW_ALL)
    return descending ? TAILQ_PREV (self, _IrisdPersistentItems, in_all)
                      : TAILQ_NEXT (self, in_all);
  return descending ? TAILQ_PREV (self, _IrisdPersistentItems, in_own) : TAILQ_NEXT (self, in_own);
}

/* Takes @persistent, whose number and key are not in the table. */
void
irisd_persistent_table_add (IrisdPersistentTable *self, IrisdPersistentItem *persistent)
{
  g_hash_table_add (self->by_item, persistent);
  if (persistent->key_size > 0)
    g_hash_table_add (self->by_key, persistent);
  IrisdPersistentOwner *own = get_owner (self, persistent->owner);
  INSERT_IN_ORDER (&self->all, persistent, in_all);
  INSERT_IN_ORDER (&own->items, persistent, in_own);
  self->n_items++;
  if (irisd_persistent_item_has_ended (persistent))
    irisd_persistent_table_note_end (self, persistent);
}

/* The caller owns @persistent then. */
void
irisd_persistent_table_remove (IrisdPersistentTable *self, IrisdPersistentItem *persistent)
{
  g_hash_table_remove (self->by_item, persistent);
  if (persistent->key_size > 0)
    g_hash_table_remove (self->by_key, persistent);
  IrisdPersistentOwner *own = get_owner (self, persistent->owner);
  TAILQ_REMOVE (&self->all, persistent, in_all);
  TAILQ_REMOVE (&own->items, persistent, in_own);
  self->n_items--;
  self->n_ended -= irisd_persistent_item_has_ended (persistent);
  self->n_failed -= irisd_persistent_item_get_state (persistent) == IRIS_WIRE_STATE_FAILED;
  if (irisd_persistent_item_get_state (persistent) != IRIS_WIRE_STATE_CANCELLED)
    return;
  TAILQ_REMOVE (&self->cancelled, persistent, in_queue);
  self->n_cancelled--;
}

/* @persistent's state says from now on that it has ended. */
void
irisd_persistent_table_note_end (IrisdPersistentTable *self, IrisdPersistentItem *persistent)
{
  self->n_ended++;
  self->n_failed += irisd_persistent_item_get_state (persistent) == IRIS_WIRE_STATE_FAILED;
  if (irisd_persistent_item_get_state (persistent) != IRIS_WIRE_STATE_CANCELLED)
    return;
  TAILQ_INSERT_TAIL (&self->cancelled, persistent, in_queue);
  self->n_cancelled++;
}

/* Returns the item that was cancelled first, or NULL. */
IrisdPersistentItem *
irisd_persistent_table_get_cancelled (IrisdPersistentTable *self)
{
  return TAILQ_FIRST (&self->cancelled);
}

IrisdPersistentItem *
irisd_persistent_table_lookup (IrisdPersistentTable *self, guint64 item)
{
  return g_hash_table_lookup (self->by_item, &item);
}

/* Returns the item with the owner and key of @other, or NULL. */
IrisdPersistentItem *
irisd_persistent_table_lookup_key (IrisdPersistentTable *self, IrisdPersistentItem *other)
{
  return g_hash_table_lookup (self->by_key, other);
}
