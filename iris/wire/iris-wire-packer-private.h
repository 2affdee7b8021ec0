/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * msgpack-c's packer, writing at the end of a GByteArray. The only place that sees msgpack-c.
 */
#pragma once

#include <glib.h>
#include <msgpack/pack.h>
#include <string.h>

G_BEGIN_DECLS

/* Bytes that are appended at once when there is no more room. */
#define IRIS_WIRE_PACKER_STEP 256

/**
 * IrisWireSink:
 * @bytes: as long as there is room for; only the first @used are written
 * @used: bytes
 * @base: bytes that were there before
 *
 * Where a packer writes. It writes a few bytes at a time, for each of which GByteArray would look
 * for room.
 */
typedef struct
{
  GByteArray *bytes;
  guint used;
  guint base;
} IrisWireSink;

static inline int
iris_wire_packer_write (void *data_of_packer, const char *data, size_t size)
{
  IrisWireSink *sink = data_of_packer;
  if (size == 0)
    return 0;
  if (G_UNLIKELY (sink->bytes->len - sink->used < size))
    g_byte_array_set_size (sink->bytes, sink->used + (guint) size + IRIS_WIRE_PACKER_STEP);
  memcpy (sink->bytes->data + sink->used, data, size);
  sink->used += (guint) size;
  return 0;
}

/* Appends. The bytes are in the array after iris_wire_sink_finish(). */
static inline void
iris_wire_packer_init (msgpack_packer *self, IrisWireSink *sink, GByteArray *bytes)
{
  *sink = (IrisWireSink){ bytes, bytes->len, bytes->len };
  msgpack_packer_init (self, sink, iris_wire_packer_write);
}

static inline void
iris_wire_sink_finish (IrisWireSink *sink)
{
  g_byte_array_set_size (sink->bytes, sink->used);
}

static inline void
iris_wire_pack_string (msgpack_packer *self, const char *data, gsize len)
{
  msgpack_pack_str (self, len);
  msgpack_pack_str_body (self, data, len);
}

static inline void
iris_wire_pack_binary (msgpack_packer *self, gconstpointer data, gsize size)
{
  msgpack_pack_bin (self, size);
  msgpack_pack_bin_body (self, data, size);
}

static inline void
iris_wire_pack_boolean (msgpack_packer *self, gboolean value)
{
  if (value)
    msgpack_pack_true (self);
  else
    msgpack_pack_false (self);
}

G_END_DECLS
