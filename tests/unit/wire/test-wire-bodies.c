/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bodies with a structure of their own: batches, completions, and the records of replies.
 */
#include "core-test-run.h"
#include "wire-test-util.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void
make_item (IrisWireMessage *item, guint number, const char *service, const char *body)
{
  guint8 id[16] = { 0 };

  memcpy (id, &number, sizeof number);
  iris_wire_message_init (item, IRIS_WIRE_SUBMIT, id);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_body (item, body, strlen (body));
}

TEST (a_batch_gives_back_its_items_in_order)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (wire_test_seed ());
  g_autoptr (GPtrArray) arena = g_ptr_array_new_with_free_func (g_free);
  g_auto (IrisWireBatchBuilder) builder;
  IrisWireMessage items[300], got;
  IrisWireBatchIter iter;

  iris_wire_batch_builder_init (&builder, NULL);
  for (guint round = 0; round < 2; round++)
    {
      guint n = 0;
      while (n < G_N_ELEMENTS (items))
        {
          wire_test_random_message (rand, IRIS_WIRE_SUBMIT, arena, &items[n]);
          if (iris_wire_batch_builder_add (&builder, &items[n], NULL))
            n++;
        }
      ck_assert_uint_eq (builder.n_items, n);
      ck_assert (iris_wire_batch_iter_init (&iter, iris_wire_batch_builder_get_body (&builder),
                                            NULL, NULL));
      ck_assert_uint_eq (iter.n_items, n);
      for (guint i = 0; i < n; i++)
        {
          ck_assert_int_eq (iris_wire_batch_iter_next (&iter, &got, NULL), IRIS_WIRE_BATCH_ITEM);
          ck_assert_ptr_null (wire_test_difference (&items[i], &got));
        }
      ck_assert_int_eq (iris_wire_batch_iter_next (&iter, &got, NULL), IRIS_WIRE_BATCH_END);
      iris_wire_batch_builder_reset (&builder);
    }
}

TEST (a_full_batch_refuses_more_and_stays_as_it_was)
{
  IrisWireLimits limits = *iris_wire_limits_default ();
  g_auto (IrisWireBatchBuilder) few;
  g_auto (IrisWireBatchBuilder) small;
  g_autoptr (GError) error = NULL;
  IrisWireMessage item;
  IrisWireBatchIter iter;

  limits.max_batch = 2;
  iris_wire_batch_builder_init (&few, &limits);
  for (guint i = 0; i < 2; i++)
    {
      make_item (&item, i, "echo", "hello");
      ck_assert (iris_wire_batch_builder_add (&few, &item, NULL));
    }
  ck_assert (!iris_wire_batch_builder_add (&few, &item, &error));
  ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE));
  ck_assert_ptr_nonnull (strstr (error->message, "max-batch (2)"));
  ck_assert (
      iris_wire_batch_iter_init (&iter, iris_wire_batch_builder_get_body (&few), &limits, NULL));
  ck_assert_uint_eq (iter.n_items, 2);

  g_clear_error (&error);
  limits.max_body = 64;
  iris_wire_batch_builder_init (&small, &limits);
  ck_assert (iris_wire_batch_builder_add (&small, &item, NULL));
  ck_assert (!iris_wire_batch_builder_add (&small, &item, &error));
  ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE));
  ck_assert_ptr_nonnull (strstr (error->message, "max-body (64)"));
  ck_assert (
      iris_wire_batch_iter_init (&iter, iris_wire_batch_builder_get_body (&small), &limits, NULL));
  ck_assert_uint_eq (iter.n_items, 1);
}

TEST (one_bad_item_is_refused_by_itself)
{
  /* A good item, one without a service, one whose hint is out of range, one with a string too long,
   * a good one. */
  g_autoptr (GByteArray) body = wire_test_from_hex (
      "95 "
      "93 c410 01000000000000000000000000000000 81 0a a465 63686f c400 "
      "93 c410 02000000000000000000000000000000 80 c400 "
      "93 c410 03000000000000000000000000000000 82 0a a161 0b fe c400 "
      "93 c410 04000000000000000000000000000000 81 0a a8 6161616161616161 c400 "
      "93 c410 05000000000000000000000000000000 81 0a a465 63686f c40178");
  static const guint codes[] = { 0, IRIS_WIRE_ERROR_MALFORMED, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                                 IRIS_WIRE_ERROR_TOO_LARGE, 0 };
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisWireBatchIter iter;
  IrisWireMessage item;

  limits.max_string = 7;
  ck_assert (iris_wire_batch_iter_init (&iter, wire_test_frame (body), &limits, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    {
      g_autoptr (GError) error = NULL;
      IrisWireBatchStep step = iris_wire_batch_iter_next (&iter, &item, &error);
      ck_assert_int_eq (step, codes[i] == 0 ? IRIS_WIRE_BATCH_ITEM : IRIS_WIRE_BATCH_REFUSED);
      ck_assert (codes[i] == 0 ? error == NULL
                               : g_error_matches (error, IRIS_WIRE_ERROR, (int) codes[i]));
      ck_assert_uint_eq (item.request_id[0], i + 1);
      ck_assert_int_eq (iris_wire_message_has (&item, IRIS_WIRE_KEY_LIMIT),
                        codes[i] == IRIS_WIRE_ERROR_TOO_LARGE);
    }
  ck_assert_int_eq (iris_wire_batch_iter_next (&iter, &item, NULL), IRIS_WIRE_BATCH_END);
}

#define ITEM "93 c410 01000000000000000000000000000000 81 0a a0 c400 "

static const struct
{
  const char *body;
  guint code;
} bad_batches[] = {
  { "", IRIS_WIRE_ERROR_MALFORMED },
  { "80", IRIS_WIRE_ERROR_MALFORMED },
  { "90", IRIS_WIRE_ERROR_MALFORMED },
  { "92" ITEM, IRIS_WIRE_ERROR_MALFORMED },
  { "91" ITEM "00", IRIS_WIRE_ERROR_MALFORMED },
  { "ddffffffff" ITEM, IRIS_WIRE_ERROR_MALFORMED },
  { "92" ITEM "92 c410 01000000000000000000000000000000 80", IRIS_WIRE_ERROR_MALFORMED },
  { "92" ITEM "94 c410 01000000000000000000000000000000 80 c400 c0", IRIS_WIRE_ERROR_MALFORMED },
  { "92" ITEM "93 c40f 010000000000000000000000000000 80 c400", IRIS_WIRE_ERROR_MALFORMED },
  { "92" ITEM "93 b0 61616161616161616161616161616161 80 c400", IRIS_WIRE_ERROR_MALFORMED },
  { "92" ITEM "93 c410 01000000000000000000000000000000 80 a0", IRIS_WIRE_ERROR_MALFORMED },
  { "92" ITEM "93 c410 01000000000000000000000000000000 80 c402 00", IRIS_WIRE_ERROR_MALFORMED },
  { "92" ITEM "93 c410 01000000000000000000000000000000 81 11 91919191919191919190 c400",
    IRIS_WIRE_ERROR_TOO_LARGE },
  { "94" ITEM ITEM ITEM ITEM, IRIS_WIRE_ERROR_TOO_LARGE },
};

LOOP_TEST (a_batch_of_bad_structure_is_refused_before_any_item_is_given_out,
           0,
           G_N_ELEMENTS (bad_batches))
{
  g_autoptr (GByteArray) body = wire_test_from_hex (bad_batches[_i].body);
  g_autoptr (GError) error = NULL;
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisWireBatchIter iter;
  IrisWireMessage item;

  limits.max_batch = 3;
  ck_assert (!iris_wire_batch_iter_init (&iter, wire_test_frame (body), &limits, &error));
  ck_assert_msg (g_error_matches (error, IRIS_WIRE_ERROR, (int) bad_batches[_i].code), "%s",
                 error->message);
  ck_assert_int_eq (iris_wire_batch_iter_next (&iter, &item, NULL), IRIS_WIRE_BATCH_END);
}

static IrisWireMap *
make_map (void)
{
  IrisWireMap *map = iris_wire_map_new (2);

  for (guint i = 0; i < 2; i++)
    {
      IrisWirePlace *place = &map->places[i];
      place->id = i;
      place->workers = 4 + i;
      place->name = g_strdup_printf ("l2:%u", i);
      place->cpus = g_strdup (i == 0 ? "0-3,8" : "4-7");
      place->endpoint = g_strdup_printf ("ipc:///run/iris/place-%u.ipc", i);
      place->nodes = g_strdup ("0");
      place->bound = i == 1;
      place->n_distances = 2;
      place->distances = g_new0 (guint32, 2);
      place->distances[1 - i] = 20;
    }
  return map;
}

/* Both are what was made, field by field. */
static void
check_map (const IrisWireMap *map)
{
  ck_assert_uint_eq (map->n_places, 2);
  ck_assert_uint_eq (map->places[0].workers, 4);
  ck_assert_str_eq (map->places[0].cpus, "0-3,8");
  ck_assert (!map->places[0].bound);
  ck_assert_uint_eq (map->places[1].id, 1);
  ck_assert_str_eq (map->places[1].name, "l2:1");
  ck_assert_str_eq (map->places[1].endpoint, "ipc:///run/iris/place-1.ipc");
  ck_assert_str_eq (map->places[1].nodes, "0");
  ck_assert (map->places[1].bound);
  ck_assert_uint_eq (map->places[1].n_distances, 2);
  ck_assert_uint_eq (map->places[1].distances[0], 20);
  ck_assert_uint_eq (map->places[1].distances[1], 0);
}

static IrisWireFrame
frame_of (GBytes *bytes)
{
  IrisWireFrame frame;

  frame.data = g_bytes_get_data (bytes, &frame.size);
  return frame;
}

/* The first completion is good, then: not an array of four, a type that ends nothing, an ERROR
 * without `ends`, a byte behind the last one. */
#define COMPLETION "94 c410 01000000000000000000000000000000 cc90 80 c400"
static const char *const bad_completions[] = {
  "92" COMPLETION "93 c410 01000000000000000000000000000000 cc90 80",
  "92" COMPLETION "94 c410 01000000000000000000000000000000 cc93 80 c400",
  "92" COMPLETION "94 c410 01000000000000000000000000000000 cc91 83 28 01 29 a1 61 2a a1 61 c400",
  "91" COMPLETION "00",
};

LOOP_TEST (behind_a_bad_completion_nothing_is_given_out, 0, G_N_ELEMENTS (bad_completions))
{
  g_autoptr (GByteArray) body = wire_test_from_hex (bad_completions[_i]);
  g_autoptr (GError) error = NULL;
  IrisWireBatchIter iter;
  IrisWireMessage completion;

  ck_assert (iris_wire_batch_iter_init_completions (&iter, wire_test_frame (body), NULL, NULL));
  ck_assert_int_eq (iris_wire_batch_iter_next (&iter, &completion, NULL), IRIS_WIRE_BATCH_ITEM);
  ck_assert_int_eq (completion.type, IRIS_WIRE_RESULT);
  ck_assert_int_eq (iris_wire_batch_iter_next (&iter, &completion, &error),
                    IRIS_WIRE_BATCH_REFUSED);
  ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_MALFORMED));
  ck_assert_int_eq (iris_wire_batch_iter_next (&iter, &completion, NULL), IRIS_WIRE_BATCH_END);
}

TEST (the_map_survives_a_round_trip)
{
  g_autoptr (IrisWireMap) map = make_map ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = iris_wire_map_encode (map, NULL, &error);

  ck_assert_ptr_nonnull (body);
  g_autoptr (IrisWireMap) got = iris_wire_map_decode (frame_of (body), NULL, &error);
  ck_assert_msg (got != NULL, "%s", error != NULL ? error->message : "");
  g_clear_pointer (&body, g_bytes_unref);
  check_map (got);

  g_autoptr (IrisWireMap) none = iris_wire_map_new (0);
  g_autoptr (GBytes) nothing = iris_wire_map_encode (none, NULL, NULL);
  g_autoptr (IrisWireMap) still_none = iris_wire_map_decode (frame_of (nothing), NULL, NULL);
  ck_assert_uint_eq (still_none->n_places, 0);
}

TEST (the_status_survives_a_round_trip)
{
  g_autoptr (IrisWireStatus) status = iris_wire_status_new (1);
  g_autoptr (GError) error = NULL;

  status->version = g_strdup ("0.1.0");
  status->scheduler = g_strdup ("place");
  status->pid = 4711;
  status->draining = TRUE;
  status->uptime_ms = 5;
  status->peers = 6;
  status->in_flight = 7;
  status->accepted = G_MAXUINT64;
  status->ended = 8;
  status->failed = 9;
  status->malformed = 10;
  status->refused = 11;
  status->places[0] = (IrisWirePlaceStatus){ .id = 3,
                                             .workers = 2,
                                             .name = g_strdup ("core:3"),
                                             .hinted = 12,
                                             .executed = 13,
                                             .stolen_in = 14,
                                             .stolen_out = 15,
                                             .bytes = 16,
                                             .busy_ns = 17 };
  g_autoptr (GBytes) body = iris_wire_status_encode (status, NULL, &error);
  ck_assert_ptr_nonnull (body);
  g_autoptr (IrisWireStatus) got = iris_wire_status_decode (frame_of (body), NULL, &error);
  ck_assert_msg (got != NULL, "%s", error != NULL ? error->message : "");
  g_clear_pointer (&body, g_bytes_unref);
  ck_assert_str_eq (got->version, "0.1.0");
  ck_assert_str_eq (got->scheduler, "place");
  ck_assert_uint_eq (got->pid, 4711);
  ck_assert (got->draining);
  ck_assert_uint_eq (got->uptime_ms, 5);
  ck_assert_uint_eq (got->peers, 6);
  ck_assert_uint_eq (got->in_flight, 7);
  ck_assert_uint_eq (got->accepted, G_MAXUINT64);
  ck_assert_uint_eq (got->ended, 8);
  ck_assert_uint_eq (got->failed, 9);
  ck_assert_uint_eq (got->malformed, 10);
  ck_assert_uint_eq (got->refused, 11);
  const IrisWirePlaceStatus *place = &got->places[0];
  ck_assert_uint_eq (place->id, 3);
  ck_assert_str_eq (place->name, "core:3");
  ck_assert_uint_eq (place->hinted, 12);
  ck_assert_uint_eq (place->executed, 13);
  ck_assert_uint_eq (place->stolen_in, 14);
  ck_assert_uint_eq (place->stolen_out, 15);
  ck_assert_uint_eq (place->bytes, 16);
  ck_assert_uint_eq (place->busy_ns, 17);
  ck_assert_uint_eq (place->workers, 2);
}

TEST (the_services_survive_a_round_trip)
{
  g_autoptr (IrisWireServices) services = iris_wire_services_new (2);

  services->services[0].name = g_strdup ("echo");
  services->services[0].summary = g_strdup ("gives the body back");
  services->services[1].name = g_strdup ("sha256");
  g_autoptr (GBytes) body = iris_wire_services_encode (services, NULL, NULL);
  g_autoptr (IrisWireServices) got = iris_wire_services_decode (frame_of (body), NULL, NULL);
  g_clear_pointer (&body, g_bytes_unref);
  ck_assert_uint_eq (got->n_services, 2);
  ck_assert_str_eq (got->services[0].summary, "gives the body back");
  ck_assert_str_eq (got->services[1].name, "sha256");
  ck_assert_str_eq (got->services[1].summary, "");
}

TEST (the_workers_survive_a_round_trip)
{
  g_autoptr (IrisWireWorkers) workers = iris_wire_workers_new (2);
  IrisWireWorker *first = &workers->workers[0];

  first->name = g_strdup ("thumbnailer 2");
  first->n_services = 2;
  first->services = g_new0 (IrisWireService, 2);
  first->services[0].name = g_strdup ("thumbnail");
  first->services[1].summary = g_strdup ("a service without a name");
  first->n_places = 1;
  first->places = g_new0 (guint32, 1);
  first->places[0] = 3;
  first->capacity = 4;
  first->leased = 2;
  first->done = 5;
  first->failed = 6;
  first->lost = 7;
  first->silent_ms = 8;
  g_autoptr (GBytes) body = iris_wire_workers_encode (workers, NULL, NULL);
  g_autoptr (IrisWireWorkers) got = iris_wire_workers_decode (frame_of (body), NULL, NULL);
  g_clear_pointer (&body, g_bytes_unref);
  ck_assert_uint_eq (got->n_workers, 2);
  first = &got->workers[0];
  ck_assert_str_eq (first->name, "thumbnailer 2");
  ck_assert_uint_eq (first->n_services, 2);
  ck_assert_str_eq (first->services[0].name, "thumbnail");
  ck_assert_str_eq (first->services[1].summary, "a service without a name");
  ck_assert_uint_eq (first->n_places, 1);
  ck_assert_uint_eq (first->places[0], 3);
  ck_assert_uint_eq (first->capacity, 4);
  ck_assert_uint_eq (first->leased, 2);
  ck_assert_uint_eq (first->done, 5);
  ck_assert_uint_eq (first->failed, 6);
  ck_assert_uint_eq (first->lost, 7);
  ck_assert_uint_eq (first->silent_ms, 8);
  ck_assert_uint_eq (got->workers[1].n_services, 0);
  ck_assert_uint_eq (got->workers[1].n_places, 0);
}

/* Bodies of SERVICES_REPLY, whose records are the smallest: what holds for them holds for all. */
static const struct
{
  const char *body;
  guint code;
} bad_records[] = {
  { "91 82 00 a161 01 a0", 0 },
  { "91 83 00 a161 01 a0 18 93c0c0c0", 0 },
  { "", IRIS_WIRE_ERROR_MALFORMED },
  { "80", IRIS_WIRE_ERROR_MALFORMED },
  { "91 90", IRIS_WIRE_ERROR_MALFORMED },
  { "91 81 00 a161", IRIS_WIRE_ERROR_MALFORMED },
  { "91 83 00 a161 01 a0 00 a0", IRIS_WIRE_ERROR_MALFORMED },
  { "91 82 00 c0 01 a0", IRIS_WIRE_ERROR_MALFORMED },
  { "91 82 00 a1ff 01 a0", IRIS_WIRE_ERROR_MALFORMED },
  { "91 82 00 a161 01 a0 c0", IRIS_WIRE_ERROR_MALFORMED },
  { "92 82 00 a161 01 a0", IRIS_WIRE_ERROR_MALFORMED },
  { "ddffffffff", IRIS_WIRE_ERROR_MALFORMED },
  { "95 80 80 80 80 80", IRIS_WIRE_ERROR_TOO_LARGE },
  { "91 82 00 a9 616161616161616161 01 a0", IRIS_WIRE_ERROR_TOO_LARGE },
  { "91 82 00 a161 a0 a0", IRIS_WIRE_ERROR_MALFORMED },
};

LOOP_TEST (each_bad_record_is_refused, 0, G_N_ELEMENTS (bad_records))
{
  g_autoptr (GByteArray) body = wire_test_from_hex (bad_records[_i].body);
  g_autoptr (GError) error = NULL;
  IrisWireLimits limits = *iris_wire_limits_default ();

  limits.max_entries = 4;
  limits.max_string = 8;
  g_autoptr (IrisWireServices)
      services = iris_wire_services_decode (wire_test_frame (body), &limits, &error);
  if (bad_records[_i].code == 0)
    ck_assert_ptr_nonnull (services);
  else
    {
      ck_assert_ptr_null (services);
      ck_assert_msg (g_error_matches (error, IRIS_WIRE_ERROR, (int) bad_records[_i].code), "%s",
                     error->message);
    }
}

TEST (numbers_in_records_have_their_ranges)
{
  g_autoptr (IrisWireMap) map = make_map ();
  g_autoptr (GBytes) bytes = iris_wire_map_encode (map, NULL, NULL);
  g_autoptr (GByteArray) body = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  IrisWireFrame frame = frame_of (bytes);

  /* Key 0 of the first place, after the heads of the list and of its map: 2^32 instead of 0. */
  ck_assert_uint_eq (frame.data[2], 0);
  ck_assert_uint_eq (frame.data[3], 0);
  g_byte_array_append (body, frame.data, 3);
  g_byte_array_append (body, (const guint8 *) "\xcf\0\0\0\1\0\0\0\0", 9);
  g_byte_array_append (body, frame.data + 4, (guint) frame.size - 4);
  ck_assert_ptr_null (iris_wire_map_decode (wire_test_frame (body), NULL, &error));
  ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT));
}

TEST (bodies_that_exceed_a_limit_are_not_encoded)
{
  g_autoptr (IrisWireMap) map = make_map ();
  IrisWireLimits limits = *iris_wire_limits_default ();
  g_autoptr (GError) entries = NULL;
  g_autoptr (GError) size = NULL;
  g_autoptr (GError) string = NULL;

  limits.max_entries = 1;
  ck_assert_ptr_null (iris_wire_map_encode (map, &limits, &entries));
  ck_assert_ptr_nonnull (strstr (entries->message, "max-entries (1)"));
  limits = *iris_wire_limits_default ();
  limits.max_body = 20;
  ck_assert_ptr_null (iris_wire_map_encode (map, &limits, &size));
  ck_assert_ptr_nonnull (strstr (size->message, "max-body (20)"));
  limits = *iris_wire_limits_default ();
  limits.max_string = 10;
  ck_assert_ptr_null (iris_wire_map_encode (map, &limits, &string));
  ck_assert_ptr_nonnull (strstr (string->message, "max-string (10)"));
}

TEST_MAIN ("wire-bodies", NULL, NULL)
