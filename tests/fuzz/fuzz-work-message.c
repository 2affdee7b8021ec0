/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages between nodes. An input is the content of a message without its signature: it is signed
 * here, so that what a node believes is read as it would be, and refused as it would be.
 *
 * Without libFuzzer this is a test: one message of each kind, an item and an end whose bodies
 * are stored elsewhere, a run of a schedule, and as many changes of them as IRIS_FUZZ_CASES says,
 * the same in each run.
 */
#include "daemon/cluster/bridge/irisd-work-message.h"
#include "daemon/cluster/members/irisd-run-chain.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char key[] = "a secret of the cluster for tests";

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static IrisdClusterSecret *secret;
  gsize len = IRISD_WORK_MESSAGE_SIGNATURE_SIZE;
  g_autofree guint8 *signed_data = g_malloc (size + len);
  g_autoptr (GHmac) hmac = g_hmac_new (G_CHECKSUM_SHA256, (const guint8 *) key, strlen (key));
  IrisdWorkMessage message;
  IrisWireMessage opened;

  if (secret == NULL)
    secret = irisd_cluster_secret_new (key, strlen (key), NULL);
  if (size > 0)
    memcpy (signed_data, data, size);
  irisd_work_message_decode (&message, signed_data, size, secret, NULL);
  g_hmac_update (hmac, signed_data, (gssize) size);
  g_hmac_get_digest (hmac, signed_data + size, &len);
  if (!irisd_work_message_decode (&message, signed_data, size + len, secret, NULL))
    return 0;

  /* What was read is written again as it was. */
  g_autoptr (GError) error = NULL;
  gsize again_size;
  g_autofree guint8 *again = irisd_work_message_encode (&message, secret, &again_size, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (again, again_size, signed_data, size + len);
  irisd_work_message_open (&message, &opened, NULL);
  g_auto (IrisdRunChain) chain = { 0 };
  if (message.chain.size > 0 && irisd_run_chain_read (&chain, message.chain))
    irisd_run_chain_hand_on (&chain, chain.due_ms + 2 * IRISD_RUN_CHAIN_LATE_MS);
  return 0;
}

#ifndef IRISD_LIBFUZZER
#define N_CASES 200000

static GBytes *
make_chain (void)
{
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 7 };
  g_auto (IrisdRunChain) chain = { 0 };
  IrisWireMessage schedule;

  iris_wire_message_init (&schedule, IRIS_WIRE_SCHEDULE, NULL);
  iris_wire_message_set_string (&schedule, IRIS_WIRE_KEY_SCHEDULE, "nightly", -1);
  iris_wire_message_set_string (&schedule, IRIS_WIRE_KEY_CALENDAR, "0 3 * * 1-5", -1);
  iris_wire_message_set_string (&schedule, IRIS_WIRE_KEY_ZONE, "UTC", -1);
  if (!irisd_run_chain_init (&chain, id, 1767225600000, &schedule, NULL)
      || !irisd_run_chain_hand_on (&chain, chain.due_ms))
    g_error ("a chain cannot be made");
  return irisd_run_chain_pack (&chain);
}

/* @stored: its body is in the store of large bodies, and the message has a reference to it. @chain:
 * (nullable): of a run. */
static GByteArray *
make_seed (IrisWireMessage *wire, IrisdWorkMessageKind kind, gboolean stored, GBytes *chain)
{
  g_autoptr (IrisdClusterSecret) secret = irisd_cluster_secret_new (key, strlen (key), NULL);
  g_auto (IrisWireEncoder) encoder;
  IrisdWorkMessage message = { .kind = kind,
                               .type = wire->type,
                               .home = { "node-a", 6 },
                               .node = { "n2", 2 },
                               .key_name = { "k", 1 },
                               .tries = 2 };
  gsize size;

  iris_wire_encoder_init (&encoder, NULL);
  /* SHOW and PENDING have none. */
  if (kind <= IRISD_WORK_MESSAGE_END || wire->type == IRIS_WIRE_OUTPUT)
    iris_wire_message_set_body (wire, "body", 4);
  if (!iris_wire_encode (&encoder, wire, NULL))
    g_error ("a seed cannot be encoded");
  message.header = encoder.frames[3];
  message.body = encoder.frames[4];
  if (chain != NULL)
    message.chain = (IrisWireFrame){ g_bytes_get_data (chain, NULL), g_bytes_get_size (chain) };
  if (stored)
    {
      message.stored = TRUE;
      message.body = (IrisWireFrame){ 0 };
      message.reference.size = 3 << 20;
      memset (message.reference.digest, 0xa5, sizeof message.reference.digest);
      g_strlcpy (message.reference.nuid, "0123456789ABCDEFabcdef", sizeof message.reference.nuid);
    }
  guint8 *data = irisd_work_message_encode (&message, secret, &size, NULL);
  IrisdWorkMessage read;
  if (!irisd_work_message_decode (&read, data, size, secret, NULL) || read.stored != stored)
    g_error ("a seed cannot be read");
  return g_byte_array_new_take (data, size - IRISD_WORK_MESSAGE_SIGNATURE_SIZE);
}

static void
run_case (GRand *rand, const GByteArray *seed)
{
  g_autofree guint8 *data = g_memdup2 (seed->data, seed->len);
  gsize size = seed->len;

  for (gint n = g_rand_int_range (rand, 0, 5); n > 0; n--)
    {
      gint at = g_rand_int_range (rand, 0, (gint32) seed->len);

      if (g_rand_int_range (rand, 0, 8) == 0)
        size = (gsize) at;
      else
        data[at] = g_rand_boolean (rand) ? (guint8) g_rand_int (rand)
                                         : data[at] ^ (guint8) (1 << g_rand_int_range (rand, 0, 8));
    }
  /* Of the exact size, so that a read beyond the end is seen by a sanitizer. */
  g_autofree guint8 *exact = g_memdup2 (data, size);
  LLVMFuzzerTestOneInput (exact, size);
}

int
main (void)
{
  const char *cases = g_getenv ("IRIS_FUZZ_CASES");
  guint64 n = cases != NULL ? g_ascii_strtoull (cases, NULL, 0) : N_CASES;
  g_autoptr (GRand) rand = g_rand_new_with_seed (20260101);
  IrisWireMessage submit, result, show, pending, output, pong;

  iris_wire_message_init (&submit, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (&submit, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_string (&submit, IRIS_WIRE_KEY_NODE, "n2", -1);
  iris_wire_message_init (&result, IRIS_WIRE_RESULT, NULL);
  iris_wire_message_set_int (&result, IRIS_WIRE_KEY_PLACE, 1);
  g_autoptr (GByteArray) item = make_seed (&submit, IRISD_WORK_MESSAGE_ITEM, FALSE, NULL);
  g_autoptr (GByteArray) end = make_seed (&result, IRISD_WORK_MESSAGE_END, FALSE, NULL);
  iris_wire_message_init (&show, IRIS_WIRE_SHOW, NULL);
  iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_ITEM, 7);
  g_autoptr (GByteArray) ask = make_seed (&show, IRISD_WORK_MESSAGE_ASK, FALSE, NULL);
  iris_wire_message_init (&pending, IRIS_WIRE_PENDING, NULL);
  iris_wire_message_set_uint (&pending, IRIS_WIRE_KEY_STATE, IRIS_WIRE_STATE_RUNNING);
  iris_wire_message_set_uint (&pending, IRIS_WIRE_KEY_ITEM, 7);
  g_autoptr (GByteArray) answer = make_seed (&pending, IRISD_WORK_MESSAGE_ANSWER, FALSE, NULL);
  iris_wire_message_init (&output, IRIS_WIRE_OUTPUT, NULL);
  iris_wire_message_set_uint (&output, IRIS_WIRE_KEY_CHANNEL, IRIS_WIRE_CHANNEL_ERRORS);
  g_autoptr (GByteArray) told = make_seed (&output, IRISD_WORK_MESSAGE_TOLD, FALSE, NULL);
  iris_wire_message_init (&pong, IRIS_WIRE_PONG, NULL);
  g_autoptr (GByteArray) word = make_seed (&pong, IRISD_WORK_MESSAGE_WORD, FALSE, NULL);
  g_autoptr (GByteArray) large_item = make_seed (&submit, IRISD_WORK_MESSAGE_ITEM, TRUE, NULL);
  g_autoptr (GByteArray) large_end = make_seed (&result, IRISD_WORK_MESSAGE_END, TRUE, NULL);
  g_autoptr (GBytes) chain = make_chain ();
  g_autoptr (GByteArray) run = make_seed (&submit, IRISD_WORK_MESSAGE_ITEM, FALSE, chain);
  const GByteArray *seeds[] = { item, end, ask, answer, told, word, large_item, large_end, run };
  printf ("1..1\n# %" G_GUINT64_FORMAT " cases\n", n);
  for (guint64 i = 0; i < n; i++)
    run_case (rand, seeds[i % G_N_ELEMENTS (seeds)]);
  printf ("ok 1 - messages between nodes are read strictly\n");
  return 0;
}
#endif
