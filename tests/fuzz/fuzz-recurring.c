/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Feeds records of the journal to the reader of schedules and checks its guarantees: a refusal has
 * a reason, and an accepted schedule is written as a record that reads the same, has its next run
 * behind each run, and is due again after the clock is set. With -Dfuzz=true libFuzzer drives it;
 * else a seeded mutator in main().
 */
#include "daemon/items/schedule/irisd-recurring.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOW_MS G_GUINT64_CONSTANT (1795000000000)
#define DAY_MS G_GUINT64_CONSTANT (86400000)

/* Where a record says how long its header is, behind when it was made. */
#define HEADER_SIZE_AT 8
#define HEADER_AT      16

/* Its owner, and a byte of its name; the whole name is in the header. */
static const guint8 id[9] = { [7] = 3, [8] = 'l' };

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static IrisdRecurring *
load (const guint8 *data, gsize size, GError **error)
{
  const IrisdNamedRecord record = {
    .kind = IRISD_RECORD_SCHEDULE,
    .name = id,
    .name_size = sizeof id,
    .body = data,
    .body_size = size,
  };
  return irisd_recurring_load (&record, error);
}

static void
check_refusal (const GError *error)
{
  g_assert (error != NULL && error->domain == IRIS_WIRE_ERROR);
  g_assert (error->message[0] != '\0' && g_utf8_validate (error->message, -1, NULL));
}

static void
check_record (const IrisdRecurring *self)
{
  g_autoptr (GBytes) once = irisd_recurring_pack (self);
  gsize size;
  const guint8 *data = g_bytes_get_data (once, &size);
  IrisdRecurring *again = load (data, size, NULL);
  g_assert (again != NULL);
  g_autoptr (GBytes) twice = irisd_recurring_pack (again);
  g_assert (g_bytes_equal (once, twice) && g_bytes_equal (self->id, again->id));
  irisd_recurring_free (again);
}

static void
check_item (const IrisdRecurring *self)
{
  IrisWireMessage item;
  g_autoptr (GError) error = NULL;
  if (!irisd_recurring_read_item (self, &item, &error))
    check_refusal (error);
  else
    g_assert (item.service.len > 0);
}

/* As irisd does it: a run is begun when it is due, and the clock says what time it is. */
static void
aim (IrisdRecurring *self, guint64 now_ms)
{
  if (irisd_recurring_aim (self, now_ms))
    irisd_recurring_count_anew (self, now_ms);
  g_assert (self->state.handled_ms <= now_ms);
  g_assert (self->due_ms == 0 || self->due_ms > self->state.handled_ms);
}

static void
check_times (IrisdRecurring *self)
{
  guint64 now_ms = NOW_MS;
  aim (self, now_ms);
  for (guint i = 0; i < 3 && self->due_ms != 0; i++)
    {
      const guint64 due_ms = self->due_ms, begin_ms = irisd_recurring_get_begin (self);
      g_assert (begin_ms >= due_ms && begin_ms <= due_ms + DAY_MS);
      now_ms = MAX (now_ms, begin_ms);
      irisd_recurring_judge (self, now_ms);
      irisd_recurring_pass (self, now_ms);
      g_assert (self->due_ms == 0 || self->due_ms > due_ms);
      g_assert (self->state.handled_ms >= due_ms);
      /* A restart finds the same. */
      const guint64 next_ms = self->due_ms;
      aim (self, now_ms);
      g_assert (self->due_ms == next_ms);
    }
  /* Set back, it is due as one that is made then is. */
  aim (self, NOW_MS - 100 * DAY_MS);
  const guint64 due_ms = self->due_ms;
  IrisdRecurring *fresh = irisd_recurring_new (
      self->owner, NOW_MS - 100 * DAY_MS, (IrisWireFrame){ self->header.data, self->header.size },
      (IrisWireFrame){ self->body.data, self->body.size }, NULL);
  g_assert (fresh != NULL);
  aim (fresh, NOW_MS - 100 * DAY_MS);
  g_assert (fresh->due_ms == due_ms || irisd_calendar_is_every (self->calendar));
  irisd_recurring_free (fresh);
}

/* The body of a record. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  /* A copy of the exact size, so that a read beyond the end is a fault that a sanitizer sees. */
  g_autofree guint8 *exact = g_memdup2 (data, size);
  IrisdRecurring *self = load (exact, size, &error);
  if (self == NULL)
    {
      check_refusal (error);
      return 0;
    }
  check_record (self);
  check_item (self);
  check_times (self);
  irisd_recurring_free (self);
  return 0;
}

#ifndef IRISD_LIBFUZZER
typedef struct
{
  const char *line; /* NULL: every so often */
  const char *zone;
  guint64 every_ms;
  guint64 jitter_ms;
  guint missed;
  guint overlap;
} Seed;

static GBytes *
make_seed (const Seed *seed)
{
  g_auto (IrisWireEncoder) encoder;
  g_auto (IrisWireBatchBuilder) builder = { 0 };
  IrisWireMessage item, schedule;
  iris_wire_message_init (&item, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_batch_builder_init (&builder, NULL);
  g_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
  iris_wire_message_init (&schedule, IRIS_WIRE_SCHEDULE, NULL);
  iris_wire_message_set_string (&schedule, IRIS_WIRE_KEY_SCHEDULE, "look", -1);
  if (seed->line != NULL)
    {
      iris_wire_message_set_string (&schedule, IRIS_WIRE_KEY_CALENDAR, seed->line, -1);
      iris_wire_message_set_string (&schedule, IRIS_WIRE_KEY_ZONE, seed->zone, -1);
    }
  else
    iris_wire_message_set_uint (&schedule, IRIS_WIRE_KEY_EVERY_MS, seed->every_ms);
  iris_wire_message_set_uint (&schedule, IRIS_WIRE_KEY_JITTER_MS, seed->jitter_ms);
  iris_wire_message_set_uint (&schedule, IRIS_WIRE_KEY_MISSED, seed->missed);
  iris_wire_message_set_uint (&schedule, IRIS_WIRE_KEY_OVERLAP, seed->overlap);
  iris_wire_encoder_init (&encoder, NULL);
  g_assert (iris_wire_encode (&encoder, &schedule, NULL));
  IrisdRecurring *self = irisd_recurring_new (3, NOW_MS - DAY_MS, encoder.frames[3],
                                              iris_wire_batch_builder_get_body (&builder), NULL);
  g_assert (self != NULL);
  GBytes *bytes = irisd_recurring_pack (self);
  irisd_recurring_free (self);
  return bytes;
}

/* The length of the header follows what is put into it or taken away, or is anything. */
static void
mutate_once (GRand *rand, GByteArray *input)
{
  static const guint8 heads[] = {
    0x00, 0x7f, 0x80, 0x8f, 0x90, 0xa0, 0xbf, 0xc0, 0xc4, 0xcf, 0xd9
  };
  guint at = (guint) g_rand_int_range (rand, 0, (gint32) input->len);
  gint8 grown = 0;
  switch (g_rand_int_range (rand, 0, 5))
    {
    case 0:
      input->data[at] = (guint8) g_rand_int (rand);
      break;
    case 1:
      input->data[at] = heads[g_rand_int_range (rand, 0, G_N_ELEMENTS (heads))];
      break;
    case 2:
      input->data[at] ^= (guint8) (1 << g_rand_int_range (rand, 0, 8));
      break;
    case 3:
      g_byte_array_remove_index (input, at);
      grown = -1;
      break;
    default:
      g_byte_array_append (input, (const guint8 *) "", 1);
      memmove (input->data + at + 1, input->data + at, input->len - 1 - at);
      grown = 1;
    }
  if (at >= HEADER_AT && input->len > HEADER_AT && at - HEADER_AT < input->data[HEADER_SIZE_AT])
    input->data[HEADER_SIZE_AT] = (guint8) (input->data[HEADER_SIZE_AT] + grown);
}

int
main (void)
{
  static const Seed seeds[] = {
    { "*/5 * * * *", "UTC", 0, 0, 1, 1 },
    { "0 4 1-7 * mon", "Europe/Berlin", 0, 3600000, 2, 2 },
    { "30 2 29 feb *", "+05:30", 0, 86400000, 1, 3 },
    { "@daily", "Australia/Lord_Howe", 0, 60000, 2, 1 },
    { NULL, NULL, 1000, 0, 2, 3 },
    { NULL, NULL, 86400000, 600000, 1, 2 },
  };
  const char *cases = g_getenv ("IRIS_FUZZ_CASES");
  guint64 n_cases = cases != NULL ? g_ascii_strtoull (cases, NULL, 0) : 20000;
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  printf ("1..1\n# %" G_GUINT64_FORMAT " cases\n", n_cases);
  fflush (stdout);
  for (guint64 i = 0; i < n_cases; i++)
    {
      g_autoptr (GBytes) seed = make_seed (&seeds[i % G_N_ELEMENTS (seeds)]);
      g_autoptr (GByteArray) input = g_byte_array_new ();
      gsize size;
      const guint8 *data = g_bytes_get_data (seed, &size);
      g_byte_array_append (input, data, (guint) size);
      for (gint n = g_rand_int_range (rand, 0, 5); n > 0 && input->len > 0; n--)
        mutate_once (rand, input);
      LLVMFuzzerTestOneInput (input->data, input->len);
    }
  printf ("ok 1 - mutated records break no promise\n");
  return 0;
}
#endif
