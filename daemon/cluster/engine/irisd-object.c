/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Objects of a stream, as the object store of NATS lays them out; see irisd-object.h. Pure.
 */
#include "daemon/cluster/engine/irisd-object.h"

#include <json-glib/json-glib.h>
#include <string.h>

/* What a message takes in a stream beside its data: subject, headers and the server's record. */
#define MESSAGE_COST 256

static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* @nuid has room for IRISD_OBJECT_NUID_LENGTH characters and a NUL. */
void
irisd_object_make_nuid (char *nuid)
{
  for (guint i = 0; i < IRISD_OBJECT_NUID_LENGTH; i++)
    nuid[i] = letters[g_random_int_range (0, (gint32) strlen (letters))];
  nuid[IRISD_OBJECT_NUID_LENGTH] = '\0';
}

/* The size, big-endian, the digest and the NUID. @bytes has room for IRISD_OBJECT_REFERENCE_SIZE.
 */
void
irisd_object_reference_encode (const IrisdObjectReference *self, guint8 *bytes)
{
  const guint64 size = GUINT64_TO_BE (self->size);

  memcpy (bytes, &size, sizeof size);
  memcpy (bytes + sizeof size, self->digest, sizeof self->digest);
  memcpy (bytes + sizeof size + sizeof self->digest, self->nuid, IRISD_OBJECT_NUID_LENGTH);
}

/* FALSE if @data is none. */
gboolean
irisd_object_reference_decode (IrisdObjectReference *self, gconstpointer data, gsize size)
{
  const guint8 *bytes = data;

  if (size != IRISD_OBJECT_REFERENCE_SIZE)
    return FALSE;
  memcpy (&self->size, bytes, sizeof self->size);
  self->size = GUINT64_FROM_BE (self->size);
  memcpy (self->digest, bytes + sizeof self->size, sizeof self->digest);
  memcpy (self->nuid, bytes + sizeof self->size + sizeof self->digest, IRISD_OBJECT_NUID_LENGTH);
  self->nuid[IRISD_OBJECT_NUID_LENGTH] = '\0';
  /* It becomes a part of a subject. */
  return self->size > 0 && self->size <= G_MAXINT64
         && strspn (self->nuid, letters) == IRISD_OBJECT_NUID_LENGTH;
}

guint64
irisd_object_count_chunks (guint64 size)
{
  return size / IRISD_OBJECT_CHUNK + (size % IRISD_OBJECT_CHUNK > 0);
}

guint64
irisd_object_get_cost (guint64 size)
{
  /* One more message tells of the chunks. */
  return size + (irisd_object_count_chunks (size) + 2) * MESSAGE_COST;
}

/* @nuid NULL: all of that owner, for a filter. */
char *
irisd_object_get_chunks_subject (const char *bucket, const char *owner, const char *nuid)
{
  return g_strconcat ("$O.", bucket, ".C.", owner, ".", nuid != NULL ? nuid : ">", NULL);
}

/* As tools do it: "-" and "_" in base64, and the "=" at the end kept. */
static char *
encode_base64 (gconstpointer data, gsize size)
{
  char *text = g_base64_encode (data, size);

  for (char *c = text; *c != '\0'; c++)
    if (*c == '+')
      *c = '-';
    else if (*c == '/')
      *c = '_';
  return text;
}

char *
irisd_object_get_meta_subject (const char *bucket, const char *name)
{
  g_autofree char *token = encode_base64 (name, strlen (name));

  return g_strconcat ("$O.", bucket, ".M.", token, NULL);
}

/* What tools read before the chunks. */
char *
irisd_object_make_meta (const char *bucket,
                        const char *owner,
                        const char *name,
                        const IrisdObjectReference *reference,
                        gint64 made_ms)
{
  g_autoptr (JsonObject) meta = json_object_new ();
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *options = json_object_new ();
  g_autofree char *nuid = g_strconcat (owner, ".", reference->nuid, NULL);
  g_autofree char *base64 = encode_base64 (reference->digest, sizeof reference->digest);
  g_autofree char *digest = g_strconcat ("SHA-256=", base64, NULL);
  g_autoptr (GDateTime) made = g_date_time_new_from_unix_utc (made_ms / 1000);
  g_autofree char *time = made != NULL ? g_date_time_format (made, "%Y-%m-%dT%H:%M:%SZ") : NULL;

  json_object_set_string_member (meta, "name", name);
  json_object_set_int_member (options, "max_chunk_size", IRISD_OBJECT_CHUNK);
  json_object_set_object_member (meta, "options", options);
  json_object_set_string_member (meta, "bucket", bucket);
  json_object_set_string_member (meta, "nuid", nuid);
  json_object_set_int_member (meta, "size", (gint64) reference->size);
  if (time != NULL)
    json_object_set_string_member (meta, "mtime", time);
  json_object_set_int_member (meta, "chunks", (gint64) irisd_object_count_chunks (reference->size));
  json_object_set_string_member (meta, "digest", digest);
  json_node_set_object (node, meta);
  return json_to_string (node, FALSE);
}
