/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Answers of irisd-web: their headers, JSON, text and errors.
 */
#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* Those that libsoup has no names for. */
enum
{
  WEB_STATUS_TOO_MANY_REQUESTS = 429,
  WEB_STATUS_HEADERS_TOO_LARGE = 431,
};

const char *web_reply_get_phrase (guint status);

/* Headers of each answer: nothing is stored, framed, guessed or loaded from elsewhere. */
void web_reply_add_headers (SoupMessageHeaders *headers);

void web_reply_bytes (SoupServerMessage *message, guint status, const char *type, GBytes *body);
/* Takes @text. */
void web_reply_json (SoupServerMessage *message, guint status, GString *text);
void web_reply_text (SoupServerMessage *message, guint status, const char *text);
void web_reply_error (SoupServerMessage *message,
                      guint status,
                      const char *name,
                      const char *format,
                      ...) G_GNUC_PRINTF (4, 5);
/* The text of an error's object. */
GString *web_reply_error_text (const char *name, const char *message);

G_END_DECLS
