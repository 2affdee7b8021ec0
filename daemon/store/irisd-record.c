/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A record: what the journal stores of one item, and its form.
 *
 * A row's head is a fixed part in little-endian order, in rows of this release a second one, then
 * the key, the service's name, the reason if it is buried, and the message's header. The store's
 * checksum tells whether the row is what was written; this file checks only the lengths, so that a
 * head of another version cannot lead beyond the row.
 */
#include "daemon/store/irisd-record.h"

#include <string.h>
#include <zlib.h>

/* Raised when the layout changes; a store of another version is refused when it is opened. */
typedef struct
{
  guint64 accepted_ms;
  guint64 ended_ms;
  guint64 keep_ms;
  guint32 attempts;
  gint32 home;
  guint32 key_size;
  guint32 service_size;
  guint8 klass;
  guint8 type;
  guint16 code;
  guint32 reason_size;
} Fixed;

G_STATIC_ASSERT (sizeof (Fixed) == 48);

/* In the class: the second part follows. A row of the first release has none. */
#define HAS_MORE 0x80

typedef struct
{
  gint64 owner;
  guint64 due_ms;
  guint32 crashes;
  guint32 spare;
} More;

G_STATIC_ASSERT (sizeof (More) == 24);

static guint8 *
append (guint8 *at, gconstpointer data, gsize size)
{
  if (size > 0)
    memcpy (at, data, size);
  return at + size;
}

/* Returns the length of the head of its row, in bytes. */
gsize
irisd_record_get_head_size (const IrisdRecord *self)
{
  return sizeof (Fixed) + sizeof (More) + self->key.len + self->service.len + self->reason.len
         + self->header.size;
}

/* Writes the head of its row to @at, which need not be aligned. */
void
irisd_record_pack_head (const IrisdRecord *self, guint8 *at)
{
  const Fixed fixed = {
    .accepted_ms = GUINT64_TO_LE (self->accepted_ms),
    .ended_ms = GUINT64_TO_LE (self->ended_ms),
    .keep_ms = GUINT64_TO_LE (self->keep_ms),
    .attempts = GUINT32_TO_LE (self->attempts),
    .home = GINT32_TO_LE (self->home),
    .key_size = GUINT32_TO_LE ((guint32) self->key.len),
    .service_size = GUINT32_TO_LE ((guint32) self->service.len),
    .klass = (guint8) self->klass | HAS_MORE,
    .type = self->type,
    .code = GUINT16_TO_LE ((guint16) self->code),
    .reason_size = GUINT32_TO_LE ((guint32) self->reason.len),
  };
  const More more = {
    .owner = GINT64_TO_LE (self->owner),
    .due_ms = GUINT64_TO_LE (self->due_ms),
    .crashes = GUINT32_TO_LE (self->crashes),
  };
  at = append (at, &fixed, sizeof fixed);
  at = append (at, &more, sizeof more);
  at = append (at, self->key.data, self->key.len);
  at = append (at, self->service.data, self->service.len);
  at = append (at, self->reason.data, self->reason.len);
  append (at, self->header.data, self->header.size);
}

/* The record borrows from @row. Returns whether @row holds one. */
gboolean
irisd_record_unpack (IrisdRecord *self, const IrisdRow *row)
{
  Fixed fixed;
  if (row->head_size < sizeof fixed)
    return FALSE;
  memcpy (&fixed, row->head, sizeof fixed);
  gsize rest = row->head_size - sizeof fixed;
  const char *key = (const char *) row->head + sizeof fixed;
  More more = { .owner = GINT64_TO_LE (IRISD_OWNER_UNKNOWN) };
  if ((fixed.klass & HAS_MORE) != 0)
    {
      if (rest < sizeof more)
        return FALSE;
      memcpy (&more, key, sizeof more);
      key += sizeof more;
      rest -= sizeof more;
    }
  gsize key_size = GUINT32_FROM_LE (fixed.key_size);
  gsize service_size = GUINT32_FROM_LE (fixed.service_size);
  gsize reason_size = GUINT32_FROM_LE (fixed.reason_size);
  if (key_size > rest || service_size > rest - key_size
      || reason_size > rest - key_size - service_size)
    return FALSE;

  const char *service = key + key_size;
  const char *reason = service + service_size;
  *self = (IrisdRecord){
    .item = row->id,
    .state = row->state,
    .klass = fixed.klass & ~HAS_MORE,
    .owner = GINT64_FROM_LE (more.owner),
    .due_ms = GUINT64_FROM_LE (more.due_ms),
    .attempts = GUINT32_FROM_LE (fixed.attempts),
    .crashes = GUINT32_FROM_LE (more.crashes),
    .home = GINT32_FROM_LE (fixed.home),
    .accepted_ms = GUINT64_FROM_LE (fixed.accepted_ms),
    .ended_ms = GUINT64_FROM_LE (fixed.ended_ms),
    .keep_ms = GUINT64_FROM_LE (fixed.keep_ms),
    .key = { key, key_size },
    .service = { service, service_size },
    .code = GUINT16_FROM_LE (fixed.code),
    .reason = { reason, reason_size },
    .type = fixed.type,
    .header = { (const guint8 *) reason + reason_size,
                rest - key_size - service_size - reason_size },
    .body = { row->body, row->body_size },
  };
  return TRUE;
}

guint32
irisd_row_checksum (const IrisdRow *row)
{
  const guint64 fixed[] = { GUINT64_TO_LE (row->id), GUINT64_TO_LE ((guint64) row->state),
                            GUINT64_TO_LE ((guint64) row->head_size),
                            GUINT64_TO_LE ((guint64) row->body_size) };
  uLong crc = crc32_z (0, (const Bytef *) fixed, sizeof fixed);
  if (row->head_size > 0)
    crc = crc32_z (crc, row->head, row->head_size);
  if (row->body_size > 0)
    crc = crc32_z (crc, row->body, row->body_size);
  return (guint32) crc;
}

guint32
irisd_named_record_checksum (const IrisdNamedRecord *record)
{
  const guint64 fixed[] = { GUINT64_TO_LE ((guint64) record->kind),
                            GUINT64_TO_LE ((guint64) record->name_size),
                            GUINT64_TO_LE ((guint64) record->body_size) };
  uLong crc = crc32_z (0, (const Bytef *) fixed, sizeof fixed);
  if (record->name_size > 0)
    crc = crc32_z (crc, record->name, record->name_size);
  if (record->body_size > 0)
    crc = crc32_z (crc, record->body, record->body_size);
  return (guint32) crc;
}
