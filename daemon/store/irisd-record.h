/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A record: what the journal stores of one item, and its form.
 */
#pragma once

#include "daemon/store/irisd-store.h"

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* The owner in a row of a version without owners: the daemon's own user. */
#define IRISD_OWNER_UNKNOWN G_GINT64_CONSTANT (-1)

/**
 * IrisdRecord:
 * @item: its number
 * @state: an #IrisWireState; queued also while it runs or is leased: see irisd-attempts.c
 * @klass: an #IrisWireClass
 * @owner: the user that submitted it, or %IRISD_OWNER_UNKNOWN
 * @due_ms: Unix time in milliseconds until which a delay, or the pause before the next attempt,
 *   lasts; 0: no such time. Only read when irisd starts: a running irisd measures delays by the
 *   monotonic clock
 * @attempts: how often it ran to an end
 * @crashes: how often irisd crashed while it ran, since an attempt last ran to its end
 * @home: the place at which it was queued
 * @accepted_ms: Unix time in milliseconds
 * @ended_ms: the same, 0 before its end
 * @keep_ms: how long its end is kept
 * @key: its idempotency key; borrowed
 * @service: its service's name; borrowed
 * @code: an #IrisWireError, why it is buried; 0 if it is not
 * @reason: the same for a person; borrowed
 * @type: of the message that @header belongs to: SUBMIT, or RESULT or ERROR once it has ended
 * @header: that message's header; borrowed
 * @body: and its body; borrowed
 *
 * An item that has not ended, buried or not, is stored as the message that submitted it, an ended
 * one as the message with its end.
 */
typedef struct
{
  guint64 item;
  guint32 state;
  guint32 klass;
  gint64 owner;
  guint64 due_ms;
  guint32 attempts;
  guint32 crashes;
  gint32 home;
  guint64 accepted_ms;
  guint64 ended_ms;
  guint64 keep_ms;
  IrisWireString key;
  IrisWireString service;
  guint32 code;
  IrisWireString reason;
  guint8 type;
  IrisWireFrame header;
  IrisWireFrame body;
} IrisdRecord;

/**
 * IrisdBlob:
 * @data: (nullable): memory of g_malloc()
 * @size: its length
 */
typedef struct
{
  guint8 *data;
  gsize size;
} IrisdBlob;

gsize irisd_record_get_head_size (const IrisdRecord *self);
void irisd_record_pack_head (const IrisdRecord *self, guint8 *at);
gboolean irisd_record_unpack (IrisdRecord *self, const IrisdRow *row);

G_END_DECLS
