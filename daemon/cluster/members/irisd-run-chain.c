/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A chain: what the cluster needs to go on with a schedule whose node is down.
 *
 * As bytes, numbers big-endian:
 *
 *     0  16  id
 *    16   8  when the run is due, Unix time in milliseconds
 *    24   8  the time between two runs, or 0
 *    32   8  the jitter
 *    40   8  runs that were made without the home
 *    48   2  length of the calendar's line
 *    50   1  length of its zone
 *    51   1  length of the schedule's name
 *    52   1  how many of those runs are named
 *    53   3  0
 *    56      line, zone, name, and when those runs were due
 */
#include "daemon/cluster/members/irisd-run-chain.h"

#include <string.h>

#define HEAD_SIZE 56

/* Beyond it a schedule is refused. */
#define MOST_NAME   200
#define MOST_JITTER (G_GUINT64_CONSTANT (24) * 3600 * 1000)

static guint64
get_uint64 (const guint8 *at)
{
  guint64 value;

  memcpy (&value, at, sizeof value);
  return GUINT64_FROM_BE (value);
}

static void
put_uint64 (guint8 *at, guint64 value)
{
  value = GUINT64_TO_BE (value);
  memcpy (at, &value, sizeof value);
}

/* The same after each restart of the home; another one if the schedule is made anew, or its times
 * are changed. */
void
irisd_run_chain_make_id (const char *home,
                         gint64 owner,
                         const char *name,
                         guint64 made_ms,
                         guint8 *id)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 numbers[16], digest[32];
  gsize size = sizeof digest;

  put_uint64 (numbers, (guint64) owner);
  put_uint64 (numbers + 8, made_ms);
  g_checksum_update (sum, numbers, sizeof numbers);
  g_checksum_update (sum, (const guint8 *) home, (gssize) strlen (home) + 1);
  g_checksum_update (sum, (const guint8 *) name, -1);
  g_checksum_get_digest (sum, digest, &size);
  memcpy (id, digest, IRIS_WIRE_ID_SIZE);
}

/* Sets @run to the name of the run of the chain @id that is due at @due_ms. */
void
irisd_run_chain_get_run (const guint8 *id, guint64 due_ms, guint8 *run)
{
  memcpy (run, id, 8);
  put_uint64 (run + 8, get_uint64 (id + 8) ^ due_ms);
}

/* Returns when @run is due, which is one of the chain @id. */
guint64
irisd_run_chain_get_due (const guint8 *id, const guint8 *run)
{
  return get_uint64 (id + 8) ^ get_uint64 (run + 8);
}

static gboolean
make_calendar (IrisdRunChain *self, GError **error)
{
  self->calendar = self->every_ms > 0
                       ? irisd_calendar_new_every (self->every_ms, error)
                       : irisd_calendar_new (self->line, self->zone[0] != '\0' ? self->zone : NULL,
                                             error);
  return self->calendar != NULL;
}

/* The zone of this node, by a name that other nodes know; "" if it has none. */
static char *
name_own_zone (const char *line)
{
  g_autoptr (GTimeZone) zone = g_time_zone_new_local ();
  const char *name = g_time_zone_get_identifier (zone);
  g_autoptr (IrisdCalendar) calendar = NULL;

  if (name != NULL && strlen (name) <= IRISD_CALENDAR_MOST_ZONE)
    calendar = irisd_calendar_new (line, name, NULL);
  return g_strdup (calendar != NULL ? name : "");
}

/* @schedule, SCHEDULE, would make the schedule, of which the run at @due_ms is the next. On failure
 * there is nothing to clear. */
gboolean
irisd_run_chain_init (IrisdRunChain *self,
                      const guint8 *id,
                      guint64 due_ms,
                      const IrisWireMessage *schedule,
                      GError **error)
{
  *self = (IrisdRunChain){
    .due_ms = due_ms,
    .every_ms = schedule->every_ms,
    .jitter_ms = schedule->jitter_ms,
    .line = iris_wire_string_dup (&schedule->calendar),
    .name = iris_wire_string_dup (&schedule->schedule),
  };
  memcpy (self->id, id, IRIS_WIRE_ID_SIZE);
  self->zone = schedule->zone.len > 0 || self->every_ms > 0 ? iris_wire_string_dup (&schedule->zone)
                                                            : name_own_zone (self->line);
  if (make_calendar (self, error))
    return TRUE;
  irisd_run_chain_clear (self);
  return FALSE;
}

/* Reads what irisd_run_chain_pack() made, perhaps of another version. On failure there is nothing
 * to clear. */
gboolean
irisd_run_chain_read (IrisdRunChain *self, IrisWireFrame bytes)
{
  const guint8 *data = bytes.data;

  memset (self, 0, sizeof *self);
  if (bytes.size < HEAD_SIZE)
    return FALSE;
  const gsize line = (gsize) data[48] << 8 | data[49], zone = data[50], name = data[51];
  const guint n_latest = data[52];
  if (data[53] != 0 || data[54] != 0 || data[55] != 0 || n_latest > IRISD_RUN_CHAIN_MOST_HANDED
      || name > MOST_NAME
      || bytes.size != HEAD_SIZE + line + zone + name + n_latest * sizeof (guint64))
    return FALSE;
  memcpy (self->id, data, IRIS_WIRE_ID_SIZE);
  self->due_ms = get_uint64 (data + 16);
  self->every_ms = get_uint64 (data + 24);
  self->jitter_ms = get_uint64 (data + 32);
  self->n_handed = get_uint64 (data + 40);
  self->n_latest = n_latest;
  data += HEAD_SIZE;
  self->line = g_strndup ((const char *) data, line);
  self->zone = g_strndup ((const char *) data + line, zone);
  self->name = g_strndup ((const char *) data + line + zone, name);
  data += line + zone + name;
  for (guint i = 0; i < n_latest; i++)
    self->latest[i] = get_uint64 (data + i * sizeof (guint64));
  if (self->due_ms > 0 && self->due_ms <= G_MAXINT64 / 2 && self->jitter_ms <= MOST_JITTER
      && strlen (self->line) == line && strlen (self->zone) == zone && strlen (self->name) == name
      && make_calendar (self, NULL))
    return TRUE;
  irisd_run_chain_clear (self);
  return FALSE;
}

static void
append (GByteArray *bytes, const char *text)
{
  g_byte_array_append (bytes, (const guint8 *) text, (guint) strlen (text));
}

GBytes *
irisd_run_chain_pack (const IrisdRunChain *self)
{
  GByteArray *bytes = g_byte_array_new ();
  const gsize line = strlen (self->line);
  guint8 head[HEAD_SIZE] = { 0 };

  memcpy (head, self->id, IRIS_WIRE_ID_SIZE);
  put_uint64 (head + 16, self->due_ms);
  put_uint64 (head + 24, self->every_ms);
  put_uint64 (head + 32, self->jitter_ms);
  put_uint64 (head + 40, self->n_handed);
  head[48] = (guint8) (line >> 8);
  head[49] = (guint8) line;
  head[50] = (guint8) strlen (self->zone);
  head[51] = (guint8) strlen (self->name);
  head[52] = (guint8) self->n_latest;
  g_byte_array_append (bytes, head, sizeof head);
  append (bytes, self->line);
  append (bytes, self->zone);
  append (bytes, self->name);
  for (guint i = 0; i < self->n_latest; i++)
    {
      guint8 number[sizeof (guint64)];
      put_uint64 (number, self->latest[i]);
      g_byte_array_append (bytes, number, sizeof number);
    }
  return g_byte_array_free_to_bytes (bytes);
}

void
irisd_run_chain_clear (IrisdRunChain *self)
{
  g_clear_pointer (&self->calendar, irisd_calendar_free);
  g_clear_pointer (&self->line, g_free);
  g_clear_pointer (&self->zone, g_free);
  g_clear_pointer (&self->name, g_free);
}

static guint64
get_begin_of (const IrisdRunChain *self, guint64 due_ms)
{
  return due_ms + irisd_calendar_get_jitter (self->name, (gint64) due_ms, self->jitter_ms);
}

/* Returns when the run begins, with its jitter. */
guint64
irisd_run_chain_get_begin (const IrisdRunChain *self)
{
  return get_begin_of (self, self->due_ms);
}

static guint64
next_after (const IrisdRunChain *self, guint64 after_ms)
{
  gint64 next = irisd_calendar_get_next (self->calendar, (gint64) self->due_ms, (gint64) after_ms);

  return next > 0 ? (guint64) next : 0;
}

static void
note_handed (IrisdRunChain *self)
{
  if (self->n_latest == IRISD_RUN_CHAIN_MOST_HANDED)
    {
      self->n_latest--;
      memmove (self->latest, self->latest + 1, self->n_latest * sizeof *self->latest);
    }
  self->latest[self->n_latest++] = self->due_ms;
  self->n_handed++;
}

/* The run is made without the home: the chain goes on to the next one. If the run is late, it makes
 * up for all that were missed. Returns FALSE if there is no next run; the chain is as it was. */
gboolean
irisd_run_chain_hand_on (IrisdRunChain *self, guint64 now_ms)
{
  guint64 due_ms = next_after (self, self->due_ms);

  if (now_ms > irisd_run_chain_get_begin (self) + IRISD_RUN_CHAIN_LATE_MS)
    {
      const guint64 before = now_ms - MIN (now_ms, self->jitter_ms + IRISD_RUN_CHAIN_LATE_MS);

      due_ms = next_after (self, MAX (before, self->due_ms));
      while (due_ms != 0 && get_begin_of (self, due_ms) <= now_ms)
        due_ms = next_after (self, due_ms);
    }
  if (due_ms == 0)
    return FALSE;
  note_handed (self);
  self->due_ms = due_ms;
  return TRUE;
}
