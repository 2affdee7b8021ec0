/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The file of tokens: the role of each, and its end.
 *
 * A token is 32 random bytes. The file has their SHA-256 only, so a copy of it lets no request in;
 * a slow hash, as for passwords, would add nothing to 256 random bits.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  WEB_ROLE_NONE,
  WEB_ROLE_SUMS,
  WEB_ROLE_OBSERVE,
  WEB_ROLE_CONTROL,
} WebRole;

typedef struct
{
  char *name;
  char *hash;
  WebRole role;
  gint64 expires_ms; /* since 1970 */
} WebToken;

typedef struct _WebTokens WebTokens;

const char *web_role_get_name (WebRole role);
gboolean web_role_parse (const char *name, WebRole *role, GError **error);

/* @path is NULL for the usual file. The file need not exist. */
WebTokens *web_tokens_new (const char *path);
void web_tokens_free (WebTokens *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebTokens, web_tokens_free)

const char *web_tokens_get_path (WebTokens *self);
/* Reads the file anew if it has changed. If it cannot be read, or others may write it, there are no
 * tokens. */
gboolean web_tokens_load (WebTokens *self, GError **error);
guint web_tokens_count (WebTokens *self);
/* NULL if there is no such token, or it has expired. Valid until the next call of
 * web_tokens_load(). */
const WebToken *web_tokens_find (WebTokens *self, const char *token);
const WebToken *web_tokens_find_hash (WebTokens *self, const char *hash);
GList *web_tokens_list (WebTokens *self);

/* The new token's text, which is stored nowhere. */
char *web_tokens_add (WebTokens *self, const char *name, WebRole role, guint days, GError **error);
gboolean web_tokens_revoke (WebTokens *self, const char *name, GError **error);

/* 32 random bytes in base64 for URLs. */
char *web_random_text (void);

G_END_DECLS
