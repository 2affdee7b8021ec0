/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of unacknowledged completions of a connection: completions that were sent and are not
 * acknowledged yet, oldest first.
 *
 * A ring in the order of sending, which is the order in which most clients acknowledge: then the
 * ending that is named is the oldest one, and nothing is searched for. The first one that is named
 * out of turn has a hash table made over the ring, which is kept until the list of unacknowledged
 * completions is empty: how many completions there are, and in which order they are named, is the
 * client's choice, so a search through the ring for each of them would let it keep the gateway
 * busy. A chain of the table is in the order of sending, so of completions with the same request id
 * the oldest is found, and found first.
 *
 * What is paid out of turn leaves a gap in the ring. A ring that is full is packed if half of it
 * are gaps, and doubled otherwise, so a client that never acknowledges its first ending makes it no
 * larger than four times what it owes.
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
  TAKEN, /* named by the acknowledgement that is being looked at */
  PAID,  /* a gap */
} DebtState;

/* A completion that was sent. */
struct _IrisdUnackedCompletion
{
  guint8 id[IRIS_WIRE_ID_SIZE];
  guint64 size;
  guint64 item; /* the persistent item that may go when it is acknowledged, or 0 */
  guint next;   /* of its chain: its place in the ring */
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

/* Request ids are the client's choice, so their hash takes a seed that no client knows. */
static IrisdChain *
get_chain (const IrisdUnacknowledged *self, const guint8 *id)
{
  static gsize seed = 0;
  if (g_once_init_enter (&seed))
    g_once_init_leave (&seed, (gsize) g_random_int () | 1);

  guint64 words[2];
  memcpy (words, id, sizeof words);
  guint64 hash = (words[0] ^ seed) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  hash = (hash ^ (hash >> 29) ^ words[1]) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return &self->chains[(guint) (hash >> 32) & (self->capacity - 1)];
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

/**
 * irisd_unacknowledged_push:
 * @self: the list of unacknowledged completions
 * @id: (array fixed-size=16): the request id of a completion that is sent now
 * @size: its bytes
 * @item: the number of the persistent item that may go when it is acknowledged, or 0
 */
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

/**
 * irisd_unacknowledged_keep_items:
 * @self: the list of unacknowledged completions
 *
 * From now on acknowledging what is in it lets no item go.
 */
void
irisd_unacknowledged_keep_items (IrisdUnacknowledged *self)
{
  for (guint i = 0; i < self->span; i++)
    self->ring[get_index (self, i)].item = 0;
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

/* Takes the gaps at both ends out of the ring. */
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

/**
 * irisd_unacknowledged_pay_until:
 * @self: the list of unacknowledged completions
 * @last: (array fixed-size=16): a request id
 * @count: a number of completions, from 1
 * @let_go: (nullable): is called for each persistent item that may go
 * @user_data: for @let_go
 *
 * Takes the @count oldest completions out, if the last of them is that of @last.
 *
 * Returns: whether it is; otherwise nothing has changed
 */
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

/* The oldest ending with that id that is not taken yet. `turn` is the offset of the one that is
 * next if all are named in the order of sending. */
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

/**
 * irisd_unacknowledged_pay:
 * @self: the list of unacknowledged completions
 * @ids: request ids, 16 bytes each
 * @n: how many
 * @let_go: (nullable): is called for each persistent item that may go
 * @user_data: for @let_go
 *
 * Takes the completions of these requests out, in any order, if all of them are there. Of several
 * with the same request id the oldest is meant.
 *
 * Returns: (nullable): the first id of which there is no completion, and then nothing has changed;
 *   %NULL if all is well
 */
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
  /* The table has lost the ones that were taken; if they stay, it is made anew when needed. */
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
