/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Objects of a stream, as the object store of NATS lays them out, so that its tools can read them.
 *
 * An object of the bucket B is its chunks, messages of one subject in their order, and then a
 * message about them in JSON:
 *
 *     $O.B.C.NUID       128 KiB each, the last one shorter
 *     $O.B.M.NAME       NAME in base64
 *
 * Here the NUID begins with the owner of the object, two tokens of a subject: all that was ever
 * stored for an owner has subjects that match "$O.B.C.OWNER.>", also what a killed node has left.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define IRISD_OBJECT_CHUNK ((gsize) 128 << 10)

/* Letters and digits of the random part of a NUID. */
#define IRISD_OBJECT_NUID_LENGTH 22

#define IRISD_OBJECT_DIGEST_SIZE 32

/* What leads to an object and shows that it is whole. */
typedef struct
{
  guint64 size;
  guint8 digest[IRISD_OBJECT_DIGEST_SIZE]; /* SHA-256 */
  char nuid[IRISD_OBJECT_NUID_LENGTH + 1];
} IrisdObjectReference;

/* Bytes of an encoded reference. */
#define IRISD_OBJECT_REFERENCE_SIZE (8 + IRISD_OBJECT_DIGEST_SIZE + IRISD_OBJECT_NUID_LENGTH)

void irisd_object_make_nuid (char *nuid);
void irisd_object_reference_encode (const IrisdObjectReference *self, guint8 *bytes);
gboolean irisd_object_reference_decode (IrisdObjectReference *self, gconstpointer data, gsize size);

guint64 irisd_object_count_chunks (guint64 size);
/* About what an object of so many bytes takes in a stream. */
guint64 irisd_object_get_cost (guint64 size);

char *irisd_object_get_chunks_subject (const char *bucket, const char *owner, const char *nuid);
char *irisd_object_get_meta_subject (const char *bucket, const char *name);
char *irisd_object_make_meta (const char *bucket,
                              const char *owner,
                              const char *name,
                              const IrisdObjectReference *reference,
                              gint64 made_ms);

G_END_DECLS
