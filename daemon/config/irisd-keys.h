/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keys: the clients that may connect over TCP with CURVE, and what each may do.
 */
#pragma once

#include "daemon/config/irisd-role.h"

G_BEGIN_DECLS

/* Numbers of users are below, those of guests below zero. */
#define IRISD_KEY_FIRST_OWNER (G_GINT64_CONSTANT (1) << 33)
#define IRISD_KEY_LAST_OWNER  (IRISD_KEY_FIRST_OWNER + G_MAXUINT32)

/* A key in ZeroMQ's text form, Z85. */
#define IRISD_KEY_TEXT 40

typedef struct
{
  char *name;                          /* of its file, without the suffix */
  char public_key[IRISD_KEY_TEXT + 1]; /* empty if it was revoked */
  gint64 owner;                        /* of its items */
  IrisdRoles roles;
  char **services; /* NULL, or the only ones that it may use and serve */
  guint64 rate;    /* items a second; 0 for no limit */
} IrisdKey;

/* All keys of a folder. Constant once read. */
typedef struct _IrisdKeys IrisdKeys;

IrisdKeys *irisd_keys_load (const char *dir, GError **error);
void irisd_keys_free (IrisdKeys *self);
const char *irisd_keys_get_dir (const IrisdKeys *self);
guint irisd_keys_get_count (const IrisdKeys *self);
const IrisdKey *irisd_keys_get (const IrisdKeys *self, guint i);
const IrisdKey *irisd_keys_find_public (const IrisdKeys *self, const char *public_key);
const IrisdKey *irisd_keys_find_owner (const IrisdKeys *self, gint64 owner);
void irisd_keys_compare (const IrisdKeys *before, const IrisdKeys *after, GPtrArray *lines);
gboolean irisd_key_names_service (const IrisdKey *self, const char *service);
gboolean irisd_key_may_use (const IrisdKey *self, const char *service);
char *irisd_keys_load_secret (const char *path, GError **error);
char *irisd_keys_read_private_file (const char *path, GError **error);

static inline gboolean
irisd_owner_is_key (gint64 owner)
{
  return owner >= IRISD_KEY_FIRST_OWNER;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdKeys, irisd_keys_free)

G_END_DECLS
