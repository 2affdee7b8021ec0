/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of unacknowledged completions of a connection: completions that were sent and are not
 * acknowledged yet, oldest first.
 *
 * A ring in the order of sending. Most clients acknowledge in that order: then the completion named
 * is the oldest one, and needs no search. The first one named out of order makes a hash table over
 * the ring, which stays until the list is empty: the client chooses how many completions there are
 * and in which order it names them, so a search for each would let it keep the gateway busy. A
 * chain of the table is in the order of sending, so of completions with the same request id the
 * oldest is found first.
 *
 * A completion acknowledged out of order leaves a gap in the ring. A full ring is packed if half of
 * it are gaps, else doubled. So a client that never acknowledges its first completion makes the
 * ring at most four times as large as what is unacknowledged.
 */
#include "daemon/net/irisd-unacknowledged.h"

#include <iris/wire/iris-wire.h>
#include <string.h>

#define FIRST_CAPACITY 16

/* The end of a chain. */
#define NONE G_MAXUINT

typedef enum
{
  OWED,
  TAKEN, /* named by the acknowledgement in hand */
  PAID,  /* a gap */
} DebtState;

/* A completion that was sent. */
struct _IrisdUnackedCompletion
{
  guint8 id[IRIS_WIRE_ID_SIZE];
  guint64 size;
  guint64 item; /* the persistent item that may be deleted when it is acknowledged, or 0 */
  guint next;   /* next of its chain: an index into the ring */
  DebtState state;
};

struct _IrisdChain
{
  guint first;
  guint last;
};

static guint
get_index (const IrisdUnacknowledged *self, guint offset)
{
  return (self->first + offset) & (self->capacity - 1);
}

static gboolean
has_id (const IrisdUnackedCompletion *unacked, const guint8 *id)
{
  return memcmp (unacked->id, id, IRIS_WIRE_ID_SIZE) == 0;
}

/* --- the table ------------------------------------------------------------------------------- */

/* Clients choose request ids, so their hash takes a seed that no client knows. */
guint
irisd_request_id_hash (gconstpointer id)
{
  static gsize seed = 0;
  if (g_once_init_enter (&seed))
    g_once_init_leave (&seed, (gsize) g_random_int () | 1);

  guint64 words[2];
  memcpy (words, id, sizeof words);
  guint64 hash = (words[0] ^ seed) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  hash = (hash ^ (hash >> 29) ^ words[1]) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return (guint) (hash >> 32);
}

gboolean
irisd_request_id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

static IrisdChain *
get_chain (const IrisdUnacknowledged *self, const guint8 *id)
{
  return &self->chains[irisd_request_id_hash (id) & (self->capacity - 1)];
}

static void
link_debt (IrisdUnacknowledged *self, guint index)
{
  IrisdChain *chain = get_chain (self, self->ring[index].id);
  self->ring[index].next = NONE;
  if (chain->first == NONE)
    chain->first = index;
  else
    self->ring[chain->last].next = index;
  chain->last = index;
}

static void
unlink_debt (IrisdUnacknowledged *self, guint index)
{
  IrisdChain *chain = get_chain (self, self->ring[index].id);
  guint before = NONE;
  for (guint at = chain->first; at != index; at = self->ring[at].next)
    before = at;
  if (before == NONE)
    chain->first = self->ring[index].next;
  else
    self->ring[before].next = self->ring[index].next;
  if (chain->last == index)
    chain->last = before;
}

static void
make_table (IrisdUnacknowledged *self)
{
  self->chains = g_new (IrisdChain, self->capacity);
  /* Each byte of NONE is 0xff. */
  memset (self->chains, 0xff, self->capacity * sizeof *self->chains);
  for (guint i = 0; i < self->span; i++)
    if (self->ring[get_index (self, i)].state == OWED)
      link_debt (self, get_index (self, i));
}

/* --- the ring -------------------------------------------------------------------------------- */

static void
make_room (IrisdUnacknowledged *self)
{
  guint capacity = self->count > self->capacity / 2 ? self->capacity * 2 : self->capacity;
  capacity = MAX (capacity, FIRST_CAPACITY);
  IrisdUnackedCompletion *ring = g_new0 (IrisdUnackedCompletion, capacity);
  guint n = 0;
  for (guint i = 0; i < self->span; i++)
    if (self->ring[get_index (self, i)].state == OWED)
      ring[n++] = self->ring[get_index (self, i)];
  g_free (self->ring);
  self->ring = ring;
  self->capacity = capacity;
  self->first = 0;
  self->span = n;
  if (self->chains == NULL)
    return;
  g_clear_pointer (&self->chains, g_free);
  make_table (self);
}

void
irisd_unacknowledged_clear (IrisdUnacknowledged *self)
{
  g_free (self->ring);
  g_free (self->chains);
  *self = (IrisdUnacknowledged){ 0 };
}

/* Notes that the completion of request @id, of @size bytes, is sent now. @item is the number of the
 * persistent item that may be deleted when it is acknowledged, or 0. */
void
irisd_unacknowledged_push (IrisdUnacknowledged *self, const guint8 *id, guint64 size, guint64 item)
{
  if (self->span == self->capacity)
    make_room (self);
  guint index = get_index (self, self->span++);
  IrisdUnackedCompletion *unacked = &self->ring[index];
  *unacked = (IrisdUnackedCompletion){ .size = size, .item = item, .state = OWED };
  memcpy (unacked->id, id, IRIS_WIRE_ID_SIZE);
  self->count++;
  self->sum += size;
  if (self->chains != NULL)
    link_debt (self, index);
}

/* From now on acknowledging a completion in the list deletes no item. */
void
irisd_unacknowledged_keep_items (IrisdUnacknowledged *self)
{
  for (guint i = 0; i < self->span; i++)
    self->ring[get_index (self, i)].item = 0;
}

/* Whether acknowledging a completion in the list deletes an item. */
gboolean
irisd_unacknowledged_has_items (const IrisdUnacknowledged *self)
{
  for (guint i = 0; self->count > 0 && i < self->span; i++)
    {
      const IrisdUnackedCompletion *unacked = &self->ring[get_index (self, i)];
      if (unacked->state != PAID && unacked->item != 0)
        return TRUE;
    }
  return FALSE;
}

static void
pay (IrisdUnacknowledged *self, guint index, IrisdLetGo let_go, gpointer user_data)
{
  IrisdUnackedCompletion *unacked = &self->ring[index];
  unacked->state = PAID;
  self->count--;
  self->sum -= unacked->size;
  if (unacked->item != 0 && let_go != NULL)
    let_go (unacked->item, user_data);
}

/* Removes the gaps at both ends of the ring. */
static void
trim (IrisdUnacknowledged *self)
{
  if (self->count == 0)
    {
      g_clear_pointer (&self->chains, g_free);
      self->first = self->span = 0;
      return;
    }
  for (; self->ring[self->first].state == PAID; self->span--)
    self->first = get_index (self, 1);
  while (self->ring[get_index (self, self->span - 1)].state == PAID)
    self->span--;
}

/* Removes the @count oldest completions if the last of them is that of @last, and calls @let_go
 * for each persistent item that may be deleted. Returns FALSE if it is not; then nothing has
 * changed. */
gboolean
irisd_unacknowledged_pay_until (IrisdUnacknowledged *self,
                                const guint8 *last,
                                guint count,
                                IrisdLetGo let_go,
                                gpointer user_data)
{
  if (count == 0 || count > self->count)
    return FALSE;
  guint n = 0, end = 0;
  for (; n < count; end++)
    n += self->ring[get_index (self, end)].state == OWED;
  if (!has_id (&self->ring[get_index (self, end - 1)], last))
    return FALSE;
  for (guint i = 0; i < end; i++)
    {
      guint index = get_index (self, i);
      if (self->ring[index].state != OWED)
        continue;
      if (self->chains != NULL)
        unlink_debt (self, index);
      pay (self, index, let_go, user_data);
    }
  trim (self);
  return TRUE;
}

/* Returns the oldest completion with that id that is not taken yet. `turn` is the offset of the
 * next one if ids come in the order of sending. */
static guint
find_debt (IrisdUnacknowledged *self, const guint8 *id, guint *turn)
{
  while (*turn < self->span && self->ring[get_index (self, *turn)].state != OWED)
    ++*turn;
  if (*turn < self->span && has_id (&self->ring[get_index (self, *turn)], id))
    return get_index (self, *turn);
  if (self->chains == NULL)
    make_table (self);
  guint index = get_chain (self, id)->first;
  while (index != NONE && !has_id (&self->ring[index], id))
    index = self->ring[index].next;
  return index;
}

/* Removes the completions of @n request ids, 16 bytes each, in any order, if all of them are
 * there, and calls @let_go for each persistent item that may be deleted. Of several with the
 * same id it takes the oldest. Returns NULL, or the first id without a completion; then nothing
 * has changed. */
const guint8 *
irisd_unacknowledged_pay (IrisdUnacknowledged *self,
                          const guint8 *ids,
                          guint n,
                          IrisdLetGo let_go,
                          gpointer user_data)
{
  const guint8 *pending = NULL;
  guint turn = 0, taken = NONE;
  if (self->count == 0)
    return n > 0 ? ids : NULL;
  for (guint i = 0; i < n && pending == NULL; i++)
    {
      const guint8 *id = ids + (gsize) i * IRIS_WIRE_ID_SIZE;
      guint index = find_debt (self, id, &turn);
      if (index == NONE)
        {
          pending = id;
          continue;
        }
      if (self->chains != NULL)
        unlink_debt (self, index);
      self->ring[index].state = TAKEN;
      self->ring[index].next = taken;
      taken = index;
    }
  /* The table has lost those that were taken; if they stay, it is made anew when needed. */
  if (pending != NULL)
    g_clear_pointer (&self->chains, g_free);
  for (guint next; taken != NONE; taken = next)
    {
      next = self->ring[taken].next;
      if (pending != NULL)
        self->ring[taken].state = OWED;
      else
        pay (self, taken, let_go, user_data);
    }
  trim (self);
  return pending;
}
