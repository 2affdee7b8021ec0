/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Feeds bytes to every decoder of the wire and checks its guarantees: no crash, each refusal has a
 * code and a sentence fit for a reply, and an accepted message can be encoded again and means the
 * same.
 */
#include "fuzz-wire.h"

#include "../unit/wire/wire-test-util.h"

#define MOST_FRAMES 8

static const IrisWireLimits tight = {
  .max_header = 48,
  .max_body = 96,
  .max_batch = 3,
  .max_depth = 5,
  .max_string = 12,
  .max_args = 3,
  .max_entries = 2,
};

static guint
split_frames (const uint8_t *data, size_t size, IrisWireFrame *frames)
{
  guint n = 0;

  while (size >= 2 && n < MOST_FRAMES)
    {
      gsize length = (gsize) data[0] | (gsize) data[1] << 8;
      data += 2;
      size -= 2;
      length = n == 4 ? size : MIN (length, size);
      frames[n++] = (IrisWireFrame){ data, length };
      data += length;
      size -= length;
    }
  return n;
}

/* A refusal must be fit for a reply. */
static void
check_refusal (const IrisWireMessage *refused, const GError *error)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage reply;

  g_assert (error != NULL && error->domain == IRIS_WIRE_ERROR);
  g_assert (error->code >= 1 && error->code <= IRIS_WIRE_N_ERRORS);
  iris_wire_message_init (&reply, IRIS_WIRE_ERROR_REPLY, refused->request_id);
  iris_wire_message_set_error (&reply, error);
  iris_wire_encoder_init (&encoder, NULL);
  g_assert (iris_wire_encode (&encoder, &reply, NULL));
}

static void
check_accepted (const IrisWireMessage *message, const IrisWireLimits *limits)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage again;

  iris_wire_encoder_init (&encoder, limits);
  g_assert (iris_wire_encode (&encoder, message, NULL));
  g_assert (iris_wire_decode (encoder.frames, IRIS_WIRE_N_FRAMES, limits, &again, NULL));
  g_assert (wire_test_difference (message, &again) == NULL);
  g_autofree char *text = iris_wire_message_to_string (message);
  g_assert (g_utf8_validate (text, -1, NULL));
}

static void
read_batch (IrisWireFrame body, const IrisWireLimits *limits)
{
  g_auto (IrisWireBatchBuilder) builder = { 0 };
  IrisWireBatchIter iter;
  IrisWireMessage item;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  iris_wire_message_init (&item, IRIS_WIRE_BATCH, NULL);
  if (!iris_wire_batch_iter_init (&iter, body, limits, &error))
    {
      check_refusal (&item, error);
      return;
    }
  iris_wire_batch_builder_init (&builder, NULL);
  for (;;)
    {
      g_autoptr (GError) refusal = NULL;
      IrisWireBatchStep step = iris_wire_batch_iter_next (&iter, &item, &refusal);
      if (step == IRIS_WIRE_BATCH_END)
        break;
      if (step == IRIS_WIRE_BATCH_REFUSED)
        check_refusal (&item, refusal);
      else
        {
          check_accepted (&item, limits);
          g_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
        }
      n++;
    }
  g_assert (n == iter.n_items);
}

static void
read_completions (IrisWireFrame body, const IrisWireLimits *limits)
{
  g_auto (IrisWireBatchBuilder) builder = { 0 };
  IrisWireBatchIter iter;
  IrisWireMessage completion;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  iris_wire_batch_builder_init_completions (&builder, NULL);
  if (iris_wire_batch_iter_init_completions (&iter, body, limits, &error))
    while (iris_wire_batch_iter_next (&iter, &completion, &error) == IRIS_WIRE_BATCH_ITEM)
      {
        IrisWireFrame frames[IRIS_WIRE_N_FRAMES];
        IrisWireMessage again;

        check_accepted (&completion, limits);
        iris_wire_batch_builder_reset (&builder);
        g_assert (iris_wire_batch_builder_add (&builder, &completion, NULL));
        iris_wire_batch_builder_get_first (&builder, frames);
        g_assert (iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, NULL, &again, NULL));
        g_assert (wire_test_difference (&completion, &again) == NULL);
        n++;
      }
  g_assert (error != NULL || n == iter.n_items);
}

/* A value read from a body must be written as a body that reads the same: writing it twice gives
 * the same bytes. */
#define READ_RECORD(Type, name, body, limits)                                       \
  G_STMT_START                                                                      \
  {                                                                                 \
    g_autoptr (GError) error = NULL;                                                \
    g_autoptr (Type) value = iris_wire_##name##_decode (body, limits, &error);      \
    g_assert ((value == NULL) == (error != NULL));                                  \
    if (value != NULL)                                                              \
      {                                                                             \
        g_autoptr (GBytes) once = iris_wire_##name##_encode (value, limits, NULL);  \
        IrisWireFrame frame = { NULL, 0 };                                          \
        g_assert (once != NULL);                                                    \
        frame.data = g_bytes_get_data (once, &frame.size);                          \
        g_autoptr (Type) again = iris_wire_##name##_decode (frame, limits, NULL);   \
        g_assert (again != NULL);                                                   \
        g_autoptr (GBytes) twice = iris_wire_##name##_encode (again, limits, NULL); \
        g_assert (g_bytes_equal (once, twice));                                     \
      }                                                                             \
  }                                                                                 \
  G_STMT_END

static void
read_body (guint type, IrisWireFrame body, const IrisWireLimits *limits)
{
  if (type == IRIS_WIRE_BATCH || type == IRIS_WIRE_SCHEDULE)
    read_batch (body, limits);
  else if (type == IRIS_WIRE_COMPLETIONS)
    read_completions (body, limits);
  else if (type == IRIS_WIRE_MAP_REPLY)
    READ_RECORD (IrisWireMap, map, body, limits);
  else if (type == IRIS_WIRE_STATUS_REPLY)
    READ_RECORD (IrisWireStatus, status, body, limits);
  else if (type == IRIS_WIRE_STATISTICS_REPLY)
    READ_RECORD (IrisWireStatistics, statistics, body, limits);
  else if (type == IRIS_WIRE_SPANS_REPLY)
    READ_RECORD (IrisWireSpans, spans, body, limits);
  else if (type == IRIS_WIRE_KEYS_REPLY)
    READ_RECORD (IrisWireClientKeys, client_keys, body, limits);
  else if (type == IRIS_WIRE_SCHEDULES_REPLY)
    READ_RECORD (IrisWireSchedules, schedules, body, limits);
  else if (type == IRIS_WIRE_SERVICES_REPLY || type == IRIS_WIRE_READY)
    READ_RECORD (IrisWireServices, services, body, limits);
  else if (type == IRIS_WIRE_WORKERS_REPLY)
    READ_RECORD (IrisWireWorkers, workers, body, limits);
  else if (type == IRIS_WIRE_LIST_REPLY)
    READ_RECORD (IrisWirePersistentList, persistent_list, body, limits);
}

/* What is read as a trace context is written as version 00, and means the same then. */
static void
check_traceparent (const uint8_t *data, size_t size)
{
  IrisWireTraceparent once, twice;

  if (!iris_wire_traceparent_parse ((const char *) data, size, &once))
    return;
  g_autofree char *text = iris_wire_traceparent_format (&once);
  g_assert (iris_wire_traceparent_parse (text, strlen (text), &twice));
  g_assert (memcmp (&once, &twice, sizeof once) == 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const guint8 bodies[] = { IRIS_WIRE_BATCH,          IRIS_WIRE_MAP_REPLY,
                                   IRIS_WIRE_STATUS_REPLY,   IRIS_WIRE_SERVICES_REPLY,
                                   IRIS_WIRE_WORKERS_REPLY,  IRIS_WIRE_LIST_REPLY,
                                   IRIS_WIRE_COMPLETIONS,    IRIS_WIRE_STATISTICS_REPLY,
                                   IRIS_WIRE_SPANS_REPLY,    IRIS_WIRE_KEYS_REPLY,
                                   IRIS_WIRE_SCHEDULES_REPLY };
  IrisWireFrame frames[MOST_FRAMES];
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;

  if (size < 1)
    return 0;
  check_traceparent (data + 1, size - 1);
  const IrisWireLimits *limits = (data[0] & 1) != 0 ? &tight : iris_wire_limits_default ();
  if ((data[0] & 2) != 0)
    {
      /* The rest is a body. */
      read_body (bodies[(data[0] >> 2) % G_N_ELEMENTS (bodies)],
                 (IrisWireFrame){ data + 1, size - 1 }, limits);
      return 0;
    }
  guint n = split_frames (data + 1, size - 1, frames);
  if (!iris_wire_decode (frames, n, limits, &message, &error))
    {
      check_refusal (&message, error);
      return 0;
    }
  g_assert (error == NULL);
  check_accepted (&message, limits);
  read_body (message.type, message.body, limits);
  return 0;
}
