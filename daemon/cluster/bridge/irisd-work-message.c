/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What nodes send each other about an item: the item itself, its end, and requests about items with
 * their answers.
 *
 * Nothing of the bytes is believed before the signature was checked but the three lengths that lead
 * to it, which are bounded by the number of bytes. What is signed is then read as strictly as if it
 * were not: a node with the secret may be of another version, or wrong.
 */
#include "irisd-work-message.h"

#include <string.h>

#define HEAD_SIZE 60

#define CANCELLED  1
#define ALL_OWNERS 2
#define STORED     4
#define CONTINUES  8
#define SURE       16
#define CHAINED    32

/* The first version in which a body may be stored elsewhere. */
#define STORED_VERSION 2

/* And in which an item may have a chain; not both. */
#define CHAINED_VERSION 3

struct _IrisdClusterSecret
{
  GHmac *hmac; /* keyed, and fed nothing */
};

G_DEFINE_QUARK (irisd - work - message - error, irisd_work_message_error)

IrisdClusterSecret *
irisd_cluster_secret_new (gconstpointer secret, gsize size, GError **error)
{
  if (size < IRISD_CLUSTER_SECRET_LEAST)
    {
      g_set_error (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_FORGED,
                   "the secret of the cluster has %" G_GSIZE_FORMAT
                   " bytes: it needs at least %d; make one with openssl rand -base64 32",
                   size, IRISD_CLUSTER_SECRET_LEAST);
      return NULL;
    }
  IrisdClusterSecret *self = g_new0 (IrisdClusterSecret, 1);
  self->hmac = g_hmac_new (G_CHECKSUM_SHA256, secret, size);
  return self;
}

void
irisd_cluster_secret_free (IrisdClusterSecret *self)
{
  g_hmac_unref (self->hmac);
  g_free (self);
}

static void
sign (IrisdClusterSecret *secret, const guint8 *data, gsize size, guint8 *signature)
{
  GHmac *hmac = g_hmac_copy (secret->hmac);
  gsize len = IRISD_WORK_MESSAGE_SIGNATURE_SIZE;

  /* GLib takes lengths as signed numbers; no message is that long. */
  g_hmac_update (hmac, data, (gssize) size);
  g_hmac_get_digest (hmac, signature, &len);
  g_hmac_unref (hmac);
}

/* In a time that does not tell how many bytes are right. */
static gboolean
signatures_equal (const guint8 *a, const guint8 *b)
{
  guint8 different = 0;

  for (guint i = 0; i < IRISD_WORK_MESSAGE_SIGNATURE_SIZE; i++)
    different |= a[i] ^ b[i];
  return different == 0;
}

static void
put_uint64 (guint8 *at, guint64 value)
{
  value = GUINT64_TO_BE (value);
  memcpy (at, &value, sizeof value);
}

static void
put_uint32 (guint8 *at, guint32 value)
{
  value = GUINT32_TO_BE (value);
  memcpy (at, &value, sizeof value);
}

static guint64
get_uint64 (const guint8 *at)
{
  guint64 value;

  memcpy (&value, at, sizeof value);
  return GUINT64_FROM_BE (value);
}

static guint32
get_uint32 (const guint8 *at)
{
  guint32 value;

  memcpy (&value, at, sizeof value);
  return GUINT32_FROM_BE (value);
}

static guint8 *
append (guint8 *at, gconstpointer data, gsize size)
{
  if (size > 0)
    memcpy (at, data, size);
  return at + size;
}

static gsize
get_chain_size (const IrisdWorkMessage *self)
{
  return self->chain.size > 0 ? sizeof (guint32) + self->chain.size : 0;
}

/* How many bytes it has when it is encoded. */
gsize
irisd_work_message_get_size (const IrisdWorkMessage *self)
{
  return IRISD_WORK_MESSAGE_OVERHEAD + self->home.len + self->node.len + self->key_name.len
         + self->header.size + get_chain_size (self)
         + (self->stored ? IRISD_OBJECT_REFERENCE_SIZE : self->body.size);
}

/* Returns: (transfer full): the bytes, or NULL when a name or the header is too long. */
guint8 *
irisd_work_message_encode (const IrisdWorkMessage *self,
                           IrisdClusterSecret *secret,
                           gsize *size,
                           GError **error)
{
  gsize total = irisd_work_message_get_size (self);

  if (self->home.len == 0 || self->home.len > 255 || self->node.len > 255
      || self->key_name.len > 255 || self->header.size > G_MAXINT32)
    {
      g_set_error_literal (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_DAMAGED,
                           "an item cannot be sent to another node: the name of its home, node or "
                           "key has more than 255 bytes; use a shorter name");
      return NULL;
    }
  guint8 *data = g_malloc (total);
  memcpy (data, "IRSC", 4);
  data[4] = self->chain.size > 0 ? CHAINED_VERSION : self->stored ? STORED_VERSION : 1;
  data[5] = (guint8) self->kind;
  data[6] = self->type;
  data[7] = (guint8) ((self->cancelled ? CANCELLED : 0) | (self->all_owners ? ALL_OWNERS : 0)
                      | (self->stored ? STORED : 0) | (self->continues ? CONTINUES : 0)
                      | (self->sure ? SURE : 0) | (self->chain.size > 0 ? CHAINED : 0));
  memcpy (data + 8, self->item, IRIS_WIRE_ID_SIZE);
  put_uint64 (data + 24, self->owner);
  put_uint64 (data + 32, (guint64) self->made_ms);
  put_uint64 (data + 40, (guint64) self->begin_ms);
  put_uint32 (data + 48, self->tries);
  data[52] = (guint8) self->home.len;
  data[53] = (guint8) self->node.len;
  data[54] = (guint8) self->key_name.len;
  data[55] = 0;
  put_uint32 (data + 56, (guint32) self->header.size);
  guint8 *at = append (data + HEAD_SIZE, self->home.data, self->home.len);
  at = append (at, self->node.data, self->node.len);
  at = append (at, self->key_name.data, self->key_name.len);
  at = append (at, self->header.data, self->header.size);
  if (self->chain.size > 0)
    {
      put_uint32 (at, (guint32) self->chain.size);
      at = append (at + sizeof (guint32), self->chain.data, self->chain.size);
    }
  if (self->stored)
    {
      irisd_object_reference_encode (&self->reference, at);
      at += IRISD_OBJECT_REFERENCE_SIZE;
    }
  else
    at = append (at, self->body.data, self->body.size);
  sign (secret, data, (gsize) (at - data), at);
  *size = total;
  return data;
}

static gboolean
refuse (GError **error, IrisdWorkMessageError code, const char *why)
{
  g_set_error_literal (error, IRISD_WORK_MESSAGE_ERROR, code, why);
  return FALSE;
}

static gboolean
is_name (const IrisWireString *name)
{
  return memchr (name->data, '\0', name->len) == NULL
         && g_utf8_validate (name->data, (gssize) name->len, NULL);
}

/* Requests that one node may make of another: those that reach items. */
static gboolean
is_request (guint8 type)
{
  switch (type)
    {
    case IRIS_WIRE_CANCEL:
    case IRIS_WIRE_FETCH:
    case IRIS_WIRE_LIST:
    case IRIS_WIRE_SHOW:
    case IRIS_WIRE_KICK:
    case IRIS_WIRE_BURY:
    case IRIS_WIRE_SUSPEND:
    case IRIS_WIRE_RESUME:
    case IRIS_WIRE_EDIT:
    case IRIS_WIRE_AGAIN:
    case IRIS_WIRE_FOLLOW:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
is_answer (guint8 type)
{
  switch (type)
    {
    case IRIS_WIRE_ACCEPTED:
    case IRIS_WIRE_CANCELLING:
    case IRIS_WIRE_PENDING:
    case IRIS_WIRE_LIST_REPLY:
    case IRIS_WIRE_SHOW_REPLY:
    case IRIS_WIRE_CHANGED:
    case IRIS_WIRE_RESULT:
    case IRIS_WIRE_ERROR_REPLY:
    case IRIS_WIRE_BUSY:
    case IRIS_WIRE_OUTPUT:
    case IRIS_WIRE_FOLLOWED:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
type_fits (guint8 kind, guint8 type)
{
  switch (kind)
    {
    case IRISD_WORK_MESSAGE_ITEM:
      return type == IRIS_WIRE_SUBMIT;
    case IRISD_WORK_MESSAGE_END:
      return type == IRIS_WIRE_RESULT || type == IRIS_WIRE_ERROR_REPLY;
    case IRISD_WORK_MESSAGE_ASK:
      return is_request (type);
    case IRISD_WORK_MESSAGE_ANSWER:
      return is_answer (type);
    case IRISD_WORK_MESSAGE_TOLD:
      return type == IRIS_WIRE_OUTPUT || type == IRIS_WIRE_PART || type == IRIS_WIRE_PROGRESS
             || type == IRIS_WIRE_PING;
    case IRISD_WORK_MESSAGE_WORD:
      return type == IRIS_WIRE_PONG;
    default:
      return FALSE;
    }
}

static gboolean
flags_fit (guint8 version, guint8 kind, guint8 flags)
{
  if ((version == STORED_VERSION) != ((flags & STORED) != 0)
      || (version == CHAINED_VERSION) != ((flags & CHAINED) != 0))
    return FALSE;
  switch (kind)
    {
    case IRISD_WORK_MESSAGE_ASK:
      return (flags & ~ALL_OWNERS) == 0;
    case IRISD_WORK_MESSAGE_ANSWER:
      return flags == 0;
    case IRISD_WORK_MESSAGE_TOLD:
      return (flags & ~CONTINUES) == 0;
    case IRISD_WORK_MESSAGE_WORD:
      return (flags & ~(CANCELLED | SURE)) == 0;
    case IRISD_WORK_MESSAGE_ITEM:
      return (flags & ~(CANCELLED | STORED | CHAINED)) == 0;
    default:
      return (flags & ~(CANCELLED | STORED)) == 0;
    }
}

static const guint8 *
take_string (const guint8 *at, gsize len, IrisWireString *out)
{
  *out = (IrisWireString){ (const char *) at, len };
  return at + len;
}

/* Takes the chain from the begin of the body. */
static gboolean
take_chain (IrisdWorkMessage *self)
{
  const gsize head = sizeof (guint32);
  const gsize size = self->body.size >= head ? get_uint32 (self->body.data) : 0;

  if (size == 0 || size > self->body.size - head)
    return FALSE;
  self->chain = (IrisWireFrame){ (const guint8 *) self->body.data + head, size };
  self->body = (IrisWireFrame){ (const guint8 *) self->body.data + head + size,
                                self->body.size - head - size };
  return TRUE;
}

static gboolean
decode_signed (IrisdWorkMessage *self, const guint8 *data, gsize size, GError **error)
{
  gsize names = (gsize) data[52] + data[53] + data[54];
  gsize header = get_uint32 (data + 56);

  self->kind = data[5];
  self->type = data[6];
  self->cancelled = (data[7] & CANCELLED) != 0;
  self->all_owners = (data[7] & ALL_OWNERS) != 0;
  self->continues = (data[7] & CONTINUES) != 0;
  self->sure = (data[7] & SURE) != 0;
  memcpy (self->item, data + 8, IRIS_WIRE_ID_SIZE);
  self->owner = get_uint64 (data + 24);
  self->made_ms = (gint64) get_uint64 (data + 32);
  self->begin_ms = (gint64) get_uint64 (data + 40);
  self->tries = get_uint32 (data + 48);
  if (names + header < header || names + header > size - HEAD_SIZE)
    return refuse (error, IRISD_WORK_MESSAGE_ERROR_DAMAGED, "its lengths exceed its size");
  const guint8 *at = take_string (data + HEAD_SIZE, data[52], &self->home);
  at = take_string (at, data[53], &self->node);
  at = take_string (at, data[54], &self->key_name);
  self->header = (IrisWireFrame){ at, header };
  at += header;
  self->body = (IrisWireFrame){ at, (gsize) (data + size - at) };
  if (!type_fits (data[5], data[6]) || !flags_fit (data[4], data[5], data[7]) || data[55] != 0
      || self->made_ms < 0 || self->begin_ms < 0)
    return refuse (error, IRISD_WORK_MESSAGE_ERROR_DAMAGED, "a field has no meaning");
  if (self->home.len == 0 || !is_name (&self->home) || !is_name (&self->node)
      || !is_name (&self->key_name))
    return refuse (error, IRISD_WORK_MESSAGE_ERROR_DAMAGED, "a name is no text");
  if ((data[7] & CHAINED) != 0)
    return take_chain (self)
           || refuse (error, IRISD_WORK_MESSAGE_ERROR_DAMAGED, "its chain has another length");
  self->stored = (data[7] & STORED) != 0;
  if (!self->stored)
    return TRUE;
  if (!irisd_object_reference_decode (&self->reference, self->body.data, self->body.size))
    return refuse (error, IRISD_WORK_MESSAGE_ERROR_DAMAGED, "what leads to its body does not");
  self->body = (IrisWireFrame){ 0 };
  return TRUE;
}

/* Believes nothing. @self borrows from @data. */
gboolean
irisd_work_message_decode (IrisdWorkMessage *self,
                           gconstpointer data,
                           gsize size,
                           IrisdClusterSecret *secret,
                           GError **error)
{
  const guint8 *bytes = data;
  guint8 signature[IRISD_WORK_MESSAGE_SIGNATURE_SIZE];

  memset (self, 0, sizeof *self);
  if (size < 5 || memcmp (bytes, "IRSC", 4) != 0)
    return refuse (error, IRISD_WORK_MESSAGE_ERROR_FOREIGN, "it is no message of irisd");
  if (bytes[4] > IRISD_WORK_MESSAGE_VERSION)
    return refuse (error, IRISD_WORK_MESSAGE_ERROR_NEWER, "it was made by a later irisd");
  if (bytes[4] == 0 || size < IRISD_WORK_MESSAGE_OVERHEAD)
    return refuse (error, IRISD_WORK_MESSAGE_ERROR_DAMAGED, "it is cut off, or of no version");
  sign (secret, bytes, size - IRISD_WORK_MESSAGE_SIGNATURE_SIZE, signature);
  if (!signatures_equal (signature, bytes + size - IRISD_WORK_MESSAGE_SIGNATURE_SIZE))
    return refuse (error, IRISD_WORK_MESSAGE_ERROR_FORGED,
                   "its signature is not that of this cluster");
  return decode_signed (self, bytes, size - IRISD_WORK_MESSAGE_SIGNATURE_SIZE, error);
}

/* Reads the IRS1 message in it, with the item's id as its request id. */
gboolean
irisd_work_message_open (const IrisdWorkMessage *self, IrisWireMessage *out, GError **error)
{
  IrisWireLimits limits = *iris_wire_limits_default ();
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 },
    { &self->type, 1 },
    { self->item, IRIS_WIRE_ID_SIZE },
    self->header,
    self->body,
  };

  limits.max_body = G_MAXSIZE; /* the server's max_payload bounds it */
  return iris_wire_decode (frames, G_N_ELEMENTS (frames), &limits, out, error);
}

void
irisd_item_to_text (const guint8 *item, char *text)
{
  static const char digits[] = "0123456789abcdef";

  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i++)
    {
      text[2 * i] = digits[item[i] >> 4];
      text[2 * i + 1] = digits[item[i] & 15];
    }
  text[2 * IRIS_WIRE_ID_SIZE] = '\0';
}

gboolean
irisd_item_from_text (const char *text, gsize len, guint8 *item)
{
  if (len != 2 * IRIS_WIRE_ID_SIZE)
    return FALSE;
  for (gsize i = 0; i < len; i++)
    {
      int digit = g_ascii_isupper (text[i]) ? -1 : g_ascii_xdigit_value (text[i]);

      if (digit < 0)
        return FALSE;
      item[i / 2] = (guint8) (i % 2 == 0 ? digit << 4 : item[i / 2] | digit);
    }
  return TRUE;
}
