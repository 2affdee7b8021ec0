/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * msgpack-c's packer, writing at the end of a GByteArray. The only place that sees msgpack-c.
 */
#pragma once

#include <glib.h>
#include <msgpack/pack.h>

G_BEGIN_DECLS

static inline int
iris_wire_packer_write (void *bytes, const char *data, size_t size)
{
  g_byte_array_append (bytes, (const guint8 *) data, (guint) size);
  return 0;
}

static inline void
iris_wire_packer_init (msgpack_packer *self, GByteArray *bytes)
{
  msgpack_packer_init (self, bytes, iris_wire_packer_write);
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
