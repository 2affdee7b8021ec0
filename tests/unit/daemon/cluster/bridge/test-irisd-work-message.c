/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages between nodes: what one writes the other reads, and nothing else is read.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-work-message.h"

#include <string.h>

#define STRING(text) ((IrisWireString){ text, sizeof text - 1 })

static const char key[] = "a secret of the cluster for tests";

static IrisdClusterSecret *
secret_new (const char *text)
{
  g_autoptr (GError) error = NULL;
  IrisdClusterSecret *secret = irisd_cluster_secret_new (text, strlen (text), &error);

  ck_assert_ptr_nonnull (secret);
  return secret;
}

static void
fill_item (IrisdWorkMessage *message, IrisWireEncoder *encoder)
{
  IrisWireMessage submit;

  iris_wire_message_init (&submit, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (&submit, IRIS_WIRE_KEY_SERVICE, "sha256", -1);
  iris_wire_message_set_uint (&submit, IRIS_WIRE_KEY_PRIORITY, 7);
  iris_wire_message_set_body (&submit, "hello", 5);
  ck_assert (iris_wire_encode (encoder, &submit, NULL));
  *message = (IrisdWorkMessage){
    .kind = IRISD_WORK_MESSAGE_ITEM,
    .type = IRIS_WIRE_SUBMIT,
    .owner = G_GUINT64_CONSTANT (0x200000007),
    .made_ms = 1767225600000,
    .begin_ms = 1767225700000,
    .tries = 3,
    .home = STRING ("node-a"),
    .key_name = STRING ("laptop"),
    .header = encoder->frames[3],
    .body = encoder->frames[4],
  };
  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i++)
    message->item[i] = (guint8) (i * 17);
}

static guint8 *
encode (const IrisdWorkMessage *message, IrisdClusterSecret *secret, gsize *size)
{
  g_autoptr (GError) error = NULL;
  guint8 *data = irisd_work_message_encode (message, secret, size, &error);

  ck_assert_ptr_nonnull (data);
  return data;
}

static gboolean
string_is (const IrisWireString *string, const char *text)
{
  return string->len == strlen (text) && memcmp (string->data, text, string->len) == 0;
}

TEST (an_item_comes_out_as_it_went_in)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_auto (IrisWireEncoder) encoder;
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage in, out;
  IrisWireMessage submit;
  gsize size;

  iris_wire_encoder_init (&encoder, NULL);
  fill_item (&in, &encoder);
  g_autofree guint8 *data = encode (&in, secret, &size);
  ck_assert_uint_eq (size, irisd_work_message_get_size (&in));
  ck_assert (irisd_work_message_decode (&out, data, size, secret, &error));
  ck_assert_int_eq (out.kind, IRISD_WORK_MESSAGE_ITEM);
  ck_assert_mem_eq (out.item, in.item, sizeof in.item);
  ck_assert_uint_eq (out.owner, in.owner);
  ck_assert_int_eq (out.made_ms, in.made_ms);
  ck_assert_int_eq (out.begin_ms, in.begin_ms);
  ck_assert_uint_eq (out.tries, 3);
  ck_assert (string_is (&out.home, "node-a"));
  ck_assert (string_is (&out.node, ""));
  ck_assert (string_is (&out.key_name, "laptop"));
  ck_assert (irisd_work_message_open (&out, &submit, &error));
  ck_assert_int_eq (submit.type, IRIS_WIRE_SUBMIT);
  ck_assert (string_is (&submit.service, "sha256"));
  ck_assert_uint_eq (submit.priority, 7);
  ck_assert_uint_eq (submit.body.size, 5);
  ck_assert_mem_eq (submit.body.data, "hello", 5);
  ck_assert_mem_eq (submit.request_id, in.item, sizeof in.item);
}

TEST (an_end_names_the_node_that_ran_it)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_auto (IrisWireEncoder) encoder;
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage in, out;
  IrisWireMessage result;
  gsize size;

  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&result, IRIS_WIRE_RESULT, NULL);
  iris_wire_message_set_int (&result, IRIS_WIRE_KEY_PLACE, 1);
  ck_assert (iris_wire_encode (&encoder, &result, NULL));
  in = (IrisdWorkMessage){
    .kind = IRISD_WORK_MESSAGE_END,
    .type = IRIS_WIRE_RESULT,
    .cancelled = TRUE,
    .home = STRING ("a"),
    .node = STRING ("node-b"),
    .header = encoder.frames[3],
  };
  g_autofree guint8 *data = encode (&in, secret, &size);
  ck_assert (irisd_work_message_decode (&out, data, size, secret, &error));
  ck_assert_int_eq (out.kind, IRISD_WORK_MESSAGE_END);
  ck_assert (out.cancelled);
  ck_assert (string_is (&out.node, "node-b"));
  ck_assert (irisd_work_message_open (&out, &result, &error));
  ck_assert_int_eq (result.place, 1);
  ck_assert_uint_eq (result.body.size, 0);
}

/* A request about an item, or the answer to one. */
static void
fill_ask (IrisdWorkMessage *message, IrisWireEncoder *encoder, IrisdWorkMessageKind kind)
{
  gboolean asks = kind == IRISD_WORK_MESSAGE_ASK;
  IrisWireMessage wire;

  iris_wire_message_init (&wire, asks ? IRIS_WIRE_FETCH : IRIS_WIRE_RESULT, NULL);
  if (asks)
    iris_wire_message_set_uint (&wire, IRIS_WIRE_KEY_ITEM, 12);
  else
    iris_wire_message_set_body (&wire, "hello", 5);
  ck_assert (iris_wire_encode (encoder, &wire, NULL));
  *message = (IrisdWorkMessage){
    .kind = kind,
    .type = wire.type,
    .owner = asks ? 1000 : 0,
    .made_ms = 1767225600000,
    .home = STRING ("node-a"),
    .node = STRING ("node-b"),
    .header = encoder->frames[3],
    .body = encoder->frames[4],
  };
  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i++)
    message->item[i] = (guint8) (i * 29);
}

static void
sign_again (guint8 *data, gsize size)
{
  gsize len = IRISD_WORK_MESSAGE_SIGNATURE_SIZE;
  g_autoptr (GHmac) hmac = g_hmac_new (G_CHECKSUM_SHA256, (const guint8 *) key, strlen (key));

  g_hmac_update (hmac, data, (gssize) (size - len));
  g_hmac_get_digest (hmac, data + size - len, &len);
}

TEST (a_request_and_its_answer_come_out_as_they_went_in)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_auto (IrisWireEncoder) encoder;
  g_autoptr (GError) error = NULL;

  iris_wire_encoder_init (&encoder, NULL);
  for (guint kind = IRISD_WORK_MESSAGE_ASK; kind <= IRISD_WORK_MESSAGE_ANSWER; kind++)
    for (gboolean all = FALSE; all <= (kind == IRISD_WORK_MESSAGE_ASK); all++)
      {
        IrisdWorkMessage in, out;
        IrisWireMessage opened;
        gsize size;

        fill_ask (&in, &encoder, kind);
        in.all_owners = all;
        g_autofree guint8 *data = encode (&in, secret, &size);
        ck_assert (irisd_work_message_decode (&out, data, size, secret, &error));
        ck_assert_uint_eq (out.kind, kind);
        ck_assert_int_eq (out.all_owners, all);
        ck_assert (!out.cancelled);
        ck_assert_uint_eq (out.owner, in.owner);
        ck_assert_mem_eq (out.item, in.item, sizeof in.item);
        ck_assert (string_is (&out.node, "node-b"));
        ck_assert (irisd_work_message_open (&out, &opened, &error));
        ck_assert_uint_eq (opened.type, in.type);
        if (kind == IRISD_WORK_MESSAGE_ASK)
          ck_assert_uint_eq (opened.item, 12);
        else
          ck_assert_uint_eq (opened.body.size, 5);
      }
}

/* A node with the secret makes another do nothing but what is listed. */
TEST (no_other_type_is_a_request_or_an_answer)
{
  static const guint8 requests[] = { IRIS_WIRE_CANCEL,  IRIS_WIRE_FETCH,  IRIS_WIRE_LIST,
                                     IRIS_WIRE_SHOW,    IRIS_WIRE_KICK,   IRIS_WIRE_BURY,
                                     IRIS_WIRE_SUSPEND, IRIS_WIRE_RESUME, IRIS_WIRE_EDIT,
                                     IRIS_WIRE_AGAIN,   IRIS_WIRE_FOLLOW };
  static const guint8 answers[] = { IRIS_WIRE_ACCEPTED,   IRIS_WIRE_CANCELLING,  IRIS_WIRE_PENDING,
                                    IRIS_WIRE_LIST_REPLY, IRIS_WIRE_SHOW_REPLY,  IRIS_WIRE_CHANGED,
                                    IRIS_WIRE_RESULT,     IRIS_WIRE_ERROR_REPLY, IRIS_WIRE_BUSY,
                                    IRIS_WIRE_OUTPUT,     IRIS_WIRE_FOLLOWED };
  static const guint8 told[] = { IRIS_WIRE_OUTPUT, IRIS_WIRE_PART, IRIS_WIRE_PROGRESS,
                                 IRIS_WIRE_PING };
  static const guint8 words[] = { IRIS_WIRE_PONG };
  static const struct
  {
    const guint8 *types;
    gsize n;
    guint flags; /* that it may have */
  } kinds[] = {
    [IRISD_WORK_MESSAGE_ASK] = { requests, sizeof requests, 2 },
    [IRISD_WORK_MESSAGE_ANSWER] = { answers, sizeof answers, 0 },
    [IRISD_WORK_MESSAGE_TOLD] = { told, sizeof told, 8 },
    [IRISD_WORK_MESSAGE_WORD] = { words, sizeof words, 1 | 16 },
  };
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_auto (IrisWireEncoder) encoder;

  iris_wire_encoder_init (&encoder, NULL);
  for (guint kind = IRISD_WORK_MESSAGE_ASK; kind <= IRISD_WORK_MESSAGE_WORD; kind++)
    for (guint type = 0; type < 256; type++)
      for (guint flags = 0; flags < 64; flags++)
        {
          gboolean fits = memchr (kinds[kind].types, (int) type, kinds[kind].n) != NULL
                          && (flags & ~kinds[kind].flags) == 0;
          IrisdWorkMessage in, out;
          gsize size;

          fill_ask (&in, &encoder, kind);
          g_autofree guint8 *data = encode (&in, secret, &size);
          data[6] = (guint8) type;
          data[7] = (guint8) flags;
          sign_again (data, size);
          ck_assert_int_eq (irisd_work_message_decode (&out, data, size, secret, NULL), fits);
        }
}

/* Each bit of each byte, and each length. */
static void
damage_everywhere (const IrisdWorkMessage *in)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  IrisdWorkMessage out;
  gsize size;
  g_autofree guint8 *data = encode (in, secret, &size);

  for (gsize i = 0; i < size; i++)
    for (guint bit = 0; bit < 8; bit++)
      {
        g_autoptr (GError) error = NULL;

        data[i] ^= (guint8) (1 << bit);
        ck_assert (!irisd_work_message_decode (&out, data, size, secret, &error));
        ck_assert (error->domain == IRISD_WORK_MESSAGE_ERROR);
        if (i < 4)
          ck_assert_int_eq (error->code, IRISD_WORK_MESSAGE_ERROR_FOREIGN);
        else if (i > 4)
          ck_assert_int_eq (error->code, IRISD_WORK_MESSAGE_ERROR_FORGED);
        data[i] ^= (guint8) (1 << bit);
      }
  for (gsize cut = 0; cut < size; cut++)
    {
      g_autoptr (GError) error = NULL;
      /* Of the exact size, so that a read beyond the end is seen by a sanitizer. */
      g_autofree guint8 *shorter = g_memdup2 (data, cut);

      ck_assert (!irisd_work_message_decode (&out, shorter, cut, secret, &error));
    }
}

TEST (a_damaged_message_is_refused_wherever_it_is_damaged)
{
  g_auto (IrisWireEncoder) encoder;
  IrisdWorkMessage in;

  iris_wire_encoder_init (&encoder, NULL);
  fill_item (&in, &encoder);
  damage_everywhere (&in);
  fill_ask (&in, &encoder, IRISD_WORK_MESSAGE_ASK);
  damage_everywhere (&in);
  fill_ask (&in, &encoder, IRISD_WORK_MESSAGE_ANSWER);
  damage_everywhere (&in);
}

/* The lengths and fields of a message that this cluster has signed are checked too. */
TEST (what_is_signed_is_read_as_strictly)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_auto (IrisWireEncoder) encoder;
  IrisdWorkMessage in, out;
  gsize size;

  iris_wire_encoder_init (&encoder, NULL);
  fill_item (&in, &encoder);
  g_autofree guint8 *data = encode (&in, secret, &size);
  for (guint i = 5; i < 60; i++)
    for (guint value = 0; value < 256; value += i < 8 || i > 51 ? 1 : 85)
      {
        g_autoptr (GError) error = NULL;
        guint8 before = data[i];

        data[i] = (guint8) value;
        sign_again (data, size);
        if (irisd_work_message_decode (&out, data, size, secret, &error))
          {
            IrisWireMessage opened;

            ck_assert_uint_le (out.header.size + out.body.size, size);
            ck_assert (out.stored || out.header.data + out.header.size == out.body.data);
            ck_assert (out.stored
                       || out.body.data + out.body.size
                              == data + size - IRISD_WORK_MESSAGE_SIGNATURE_SIZE);
            ck_assert_uint_gt (out.home.len, 0);
            irisd_work_message_open (&out, &opened, NULL);
          }
        else
          ck_assert_int_eq (error->code, IRISD_WORK_MESSAGE_ERROR_DAMAGED);
        data[i] = before;
      }
}

TEST (another_secret_is_another_cluster)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_autoptr (IrisdClusterSecret) other = secret_new ("a secret of the cluster for testy");
  g_auto (IrisWireEncoder) encoder;
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage in, out;
  gsize size;

  iris_wire_encoder_init (&encoder, NULL);
  fill_item (&in, &encoder);
  g_autofree guint8 *data = encode (&in, secret, &size);
  ck_assert (!irisd_work_message_decode (&out, data, size, other, &error));
  ck_assert_int_eq (error->code, IRISD_WORK_MESSAGE_ERROR_FORGED);
}

/* A message that a host could take for one without a body is of the second version. */
TEST (a_message_refers_to_a_stored_body)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_auto (IrisWireEncoder) encoder;
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage in, out;
  IrisWireMessage submit;
  gsize size;

  iris_wire_encoder_init (&encoder, NULL);
  fill_item (&in, &encoder);
  g_autofree guint8 *plain = encode (&in, secret, &size);
  ck_assert_uint_eq (plain[4], 1);
  in.stored = TRUE;
  in.reference.size = 50 << 20;
  memset (in.reference.digest, 0xab, sizeof in.reference.digest);
  irisd_object_make_nuid (in.reference.nuid);
  g_autofree guint8 *data = encode (&in, secret, &size);
  ck_assert_uint_eq (size, irisd_work_message_get_size (&in));
  ck_assert_uint_eq (data[4], 2);
  ck_assert (irisd_work_message_decode (&out, data, size, secret, &error));
  ck_assert (out.stored);
  ck_assert_uint_eq (out.body.size, 0);
  ck_assert_uint_eq (out.reference.size, 50 << 20);
  ck_assert_mem_eq (out.reference.digest, in.reference.digest, sizeof in.reference.digest);
  ck_assert_str_eq (out.reference.nuid, in.reference.nuid);
  ck_assert (irisd_work_message_open (&out, &submit, &error));
  ck_assert_uint_eq (submit.priority, 7);
}

TEST (a_reference_that_leads_nowhere_is_damage)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_auto (IrisWireEncoder) encoder;
  IrisdWorkMessage in, out;
  gsize size;

  iris_wire_encoder_init (&encoder, NULL);
  fill_item (&in, &encoder);
  in.stored = TRUE;
  in.reference.size = 7;
  memset (in.reference.nuid, '>', IRISD_OBJECT_NUID_LENGTH);
  g_autofree guint8 *data = encode (&in, secret, &size);
  g_autoptr (GError) error = NULL;
  ck_assert (!irisd_work_message_decode (&out, data, size, secret, &error));
  ck_assert_int_eq (error->code, IRISD_WORK_MESSAGE_ERROR_DAMAGED);
}

/* What irisd 0.1.0 sends, made from the head of irisd-work-message.h by another program. A later
 * irisd reads them, and writes them so that this one does. */
static const char *const recorded[] = {
  /* an item, with a key that this irisd does not know */
  "4952534301010300101112131415161718191a1b1c1d1e1f00000000000003e80000019b76daa8000000019b"
  "76dc2ea00000000302000600000000156e316c6170746f70830aa67368613235364807cd138891a56c617465"
  "7268656c6c6f4e65530fc42251c8f2d126af23f66188a59ed5eea2502ae52a5585e9410d9160",
  /* an item whose body is stored */
  "4952534302010304101112131415161718191a1b1c1d1e1f00000000000003e80000019b76daa80000000000"
  "0000000000000000020000000000000d6e31830aa46563686f1fa26e320cc30000000003200000ababababab"
  "ababababababababababababababababababababababababababab3031323334353637383941424344454647"
  "48494a4b4cf79aee9a691aed70bac360d652bc817c38b13f11c21c3d949727d5fc40fd1143",
  /* its end */
  "4952534301029000101112131415161718191a1b1c1d1e1f00000000000003e80000019b76daa80000000000"
  "000000000000000102020000000000036e316e3281140168656c6c6f7b40a48ac533ead98b4746826e6c6cce"
  "62231ffee01967a0abec6d6c63dd5558",
  /* the end of a cancelled one */
  "4952534301029101101112131415161718191a1b1c1d1e1f00000000000000000000019b76daa80000000000"
  "000000000000000002000000000000206e3183280a29a963616e63656c6c65642ab06974207761732063616e"
  "63656c6c6564a8331f9596026d2dfac4e1d41a10dba43524971972642e75b91b22a6bb9057cc",
  /* a request */
  "4952534301030d02101112131415161718191a1b1c1d1e1f00000000000000000000019b76daa80000000000"
  "000000000000000002020000000000036e316e32813f0cbaccfefc400c434a293b309226bdd69642178673d5"
  "0baf539e0074753c8fa7fc",
  /* an answer */
  "4952534301049000101112131415161718191a1b1c1d1e1f00000000000000000000019b76daa80000000000"
  "000000000000000002020000000000016e316e328068656c6c6fb3a8f57cec5f69e0ff5b65e1c06f78950cf2"
  "b96bd3407de9afff940a6e6dd235",
  /* what an item writes */
  "4952534301059300101112131415161718191a1b1c1d1e1f00000000000010000000019b76daa80000000000"
  "000000000000000102020000000000036e316e3281620168656c6c6fdd00c090c6552c3f71c2ae922054e308"
  "b6b8efa3ad07decc8f5cffaab167ca1c",
  /* the home's word about that */
  "4952534301068910101112131415161718191a1b1c1d1e1f00000000000010050000019b76daa80000000000"
  "000110050000000102020000000000016e316e32808a9b90d43ab14e87d230be8d948864c7074e4e9696bfcd"
  "31e1253deae0f0c994",
};

static guint8 *
from_hex (const char *text, gsize *size)
{
  *size = strlen (text) / 2;
  guint8 *data = g_malloc (*size);

  for (gsize i = 0; i < *size; i++)
    data[i] = (guint8) (g_ascii_xdigit_value (text[2 * i]) << 4
                        | g_ascii_xdigit_value (text[2 * i + 1]));
  return data;
}

LOOP_TEST (a_recorded_message_is_read_and_written, 0, G_N_ELEMENTS (recorded))
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage message;
  IrisWireMessage opened;
  gsize size, again_size;
  g_autofree guint8 *data = from_hex (recorded[_i], &size);

  ck_assert_msg (irisd_work_message_decode (&message, data, size, secret, &error), "%s",
                 error != NULL ? error->message : "");
  ck_assert_msg (irisd_work_message_open (&message, &opened, &error), "%s",
                 error != NULL ? error->message : "");
  ck_assert_int_eq (message.made_ms, 1767225600000);
  ck_assert_uint_eq (message.item[15], 31);
  ck_assert (string_is (&message.home, "n1"));
  g_autofree guint8 *again = encode (&message, secret, &again_size);
  ck_assert_uint_eq (again_size, size);
  ck_assert_mem_eq (again, data, size);
}

/* What is in them, of which the codes are not to be those of something else one day. */
TEST (recorded_messages_say_what_they_said)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  IrisdWorkMessage messages[G_N_ELEMENTS (recorded)];
  IrisWireMessage opened[G_N_ELEMENTS (recorded)];
  guint8 *data[G_N_ELEMENTS (recorded)];

  for (guint i = 0; i < G_N_ELEMENTS (recorded); i++)
    {
      gsize size;
      data[i] = from_hex (recorded[i], &size);
      ck_assert (irisd_work_message_decode (&messages[i], data[i], size, secret, NULL));
      ck_assert (irisd_work_message_open (&messages[i], &opened[i], NULL));
    }
  ck_assert_uint_eq (messages[0].owner, 1000);
  ck_assert_int_eq (messages[0].begin_ms, 1767225700000);
  ck_assert_uint_eq (messages[0].tries, 3);
  ck_assert (string_is (&messages[0].key_name, "laptop"));
  ck_assert (string_is (&opened[0].service, "sha256"));
  ck_assert_uint_eq (opened[0].priority, 7);
  ck_assert_uint_eq (opened[0].body.size, 5);
  ck_assert (messages[1].stored && opened[1].strict && string_is (&opened[1].node, "n2"));
  ck_assert_uint_eq (messages[1].reference.size, 50 << 20);
  ck_assert_uint_eq (opened[2].type, IRIS_WIRE_RESULT);
  ck_assert (messages[3].cancelled && opened[3].code == IRIS_WIRE_ERROR_CANCELLED);
  ck_assert (messages[4].all_owners && opened[4].type == IRIS_WIRE_SHOW && opened[4].item == 12);
  ck_assert_int_eq (messages[5].kind, IRISD_WORK_MESSAGE_ANSWER);
  ck_assert_uint_eq (messages[6].owner, 4096);
  ck_assert_uint_eq (opened[6].channel, 1);
  ck_assert (messages[7].sure && messages[7].begin_ms == 69637);
  for (guint i = 0; i < G_N_ELEMENTS (recorded); i++)
    g_free (data[i]);
}

/* A kind that is new needs a later version, or is none. */
TEST (a_kind_that_is_not_known_is_damage)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage message;
  gsize size;
  g_autofree guint8 *data = from_hex (recorded[0], &size);

  data[5] = IRISD_WORK_MESSAGE_WORD + 1;
  sign_again (data, size);
  ck_assert (!irisd_work_message_decode (&message, data, size, secret, &error));
  ck_assert_int_eq (error->code, IRISD_WORK_MESSAGE_ERROR_DAMAGED);
}

/* A host that does not know chains gives the run back, for one that goes on with the schedule. */
TEST (an_item_has_a_chain_before_its_body)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_auto (IrisWireEncoder) encoder;
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage in, out;
  gsize size;

  iris_wire_encoder_init (&encoder, NULL);
  fill_item (&in, &encoder);
  in.chain = (IrisWireFrame){ (const guint8 *) "chained", 7 };
  g_autofree guint8 *data = encode (&in, secret, &size);
  ck_assert_uint_eq (size, irisd_work_message_get_size (&in));
  ck_assert_uint_eq (data[4], 3);
  ck_assert (irisd_work_message_decode (&out, data, size, secret, &error));
  ck_assert_uint_eq (out.chain.size, 7);
  ck_assert_mem_eq (out.chain.data, "chained", 7);
  ck_assert_uint_eq (out.body.size, in.body.size);
  ck_assert_mem_eq (out.body.data, in.body.data, in.body.size);
  in.kind = IRISD_WORK_MESSAGE_END;
  in.type = IRIS_WIRE_RESULT;
  g_autofree guint8 *end = encode (&in, secret, &size);
  ck_assert (!irisd_work_message_decode (&out, end, size, secret, &error));
  ck_assert_int_eq (error->code, IRISD_WORK_MESSAGE_ERROR_DAMAGED);
}

/* It is for a newer irisd, and is not thrown away. */
TEST (a_later_version_is_told_from_damage)
{
  g_autoptr (IrisdClusterSecret) secret = secret_new (key);
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage out;
  const guint8 later[] = { 'I', 'R', 'S', 'C', IRISD_WORK_MESSAGE_VERSION + 1, 0 };

  ck_assert (!irisd_work_message_decode (&out, later, sizeof later, secret, &error));
  ck_assert_int_eq (error->code, IRISD_WORK_MESSAGE_ERROR_NEWER);
}

TEST (a_short_secret_is_refused)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (irisd_cluster_secret_new ("short", 5, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "at least 16"));
}

TEST (an_item_has_one_text)
{
  guint8 item[IRIS_WIRE_ID_SIZE];
  char text[IRISD_ITEM_TEXT_SIZE];

  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i++)
    item[i] = (guint8) (i * 31 + 5);
  irisd_item_to_text (item, text);
  ck_assert_str_eq (text, "0524436281a0bfdefd1c3b5a7998b7d6");
}

TEST_MAIN ("irisd-work-message", NULL, NULL)
