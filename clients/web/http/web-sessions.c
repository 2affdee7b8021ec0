/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sessions of pages: a cookie that stands for a token, so that the page keeps no token.
 *
 * They are in memory only: they end with irisd-web. A session has the hash of its token, which is
 * looked up for each request, so revoking the token ends it.
 */
#include "clients/web/http/web-sessions.h"

#define FAILURES_PER_MINUTE 10
#define MOST_ADDRESSES      1024

typedef struct
{
  char *id;
  char *token_hash;
  GList link;
} WebSession;

struct _WebSessions
{
  WebTokens *tokens;
  guint most;
  GHashTable *by_id;
  GQueue by_age; /* the oldest first */
  GHashTable *failures;
  gint64 minute;
};

static void
web_session_free (WebSession *session)
{
  g_free (session->id);
  g_free (session->token_hash);
  g_free (session);
}

WebSessions *
web_sessions_new (WebTokens *tokens, guint most)
{
  WebSessions *self = g_new0 (WebSessions, 1);

  self->tokens = tokens;
  self->most = most;
  self->by_id = g_hash_table_new (g_str_hash, g_str_equal);
  g_queue_init (&self->by_age);
  self->failures = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  return self;
}

static void
end_session (WebSessions *self, WebSession *session)
{
  g_hash_table_remove (self->by_id, session->id);
  g_queue_unlink (&self->by_age, &session->link);
  web_session_free (session);
}

void
web_sessions_free (WebSessions *self)
{
  while (self->by_age.head != NULL)
    end_session (self, self->by_age.head->data);
  g_hash_table_unref (self->by_id);
  g_hash_table_unref (self->failures);
  g_free (self);
}

const char *
web_sessions_begin (WebSessions *self, const WebToken *token)
{
  WebSession *session = g_new0 (WebSession, 1);

  if (self->by_age.length >= self->most)
    end_session (self, self->by_age.head->data);
  session->id = web_random_text ();
  session->token_hash = g_strdup (token->hash);
  session->link.data = session;
  g_queue_push_tail_link (&self->by_age, &session->link);
  g_hash_table_insert (self->by_id, session->id, session);

  return session->id;
}

void
web_sessions_end (WebSessions *self, const char *id)
{
  WebSession *session = g_hash_table_lookup (self->by_id, id);

  if (session != NULL)
    end_session (self, session);
}

const WebToken *
web_sessions_find (WebSessions *self, const char *id)
{
  WebSession *session = g_hash_table_lookup (self->by_id, id);
  const WebToken *token;

  if (session == NULL)
    return NULL;
  token = web_tokens_find_hash (self->tokens, session->token_hash);
  if (token == NULL)
    end_session (self, session);

  return token;
}

gboolean
web_sessions_may_try (WebSessions *self, const char *address)
{
  gint64 minute = g_get_monotonic_time () / (60 * G_USEC_PER_SEC);

  if (minute != self->minute)
    g_hash_table_remove_all (self->failures);
  self->minute = minute;

  return GPOINTER_TO_UINT (g_hash_table_lookup (self->failures, address)) < FAILURES_PER_MINUTE;
}

void
web_sessions_note_failure (WebSessions *self, const char *address)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (self->failures, address));

  /* Of more addresses the counts begin anew: a token cannot be guessed, the count only saves time.
   */
  if (g_hash_table_size (self->failures) >= MOST_ADDRESSES)
    g_hash_table_remove_all (self->failures);
  g_hash_table_replace (self->failures, g_strdup (address), GUINT_TO_POINTER (n + 1));
}
