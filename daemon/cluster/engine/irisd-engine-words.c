/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What libnats and the servers say of a connection, in words that say what to do. Pure.
 *
 * libnats gives a status and a detail as one text for people, and the server's own words are in it;
 * there are no codes that tell a wrong password from a certificate. So the text is searched.
 */
#include "irisd-engine-words.h"

#include <string.h>

#define CONNECTING "Connecting to "

/* The first that is found counts. */
static const struct
{
  const char *part; /* of the text in lower case */
  IrisdEngineTrouble trouble;
  const char *words;
} known[] = {
#define LOGIN                                                                                  \
  IRISD_ENGINE_TROUBLE_LOGIN, "the NATS servers do not accept its user, or that has expired; " \
                              "correct the user and password in [cluster] url, or [cluster] "  \
                              "credentials"
#define TLS                                                                                        \
  IRISD_ENGINE_TROUBLE_TLS, "TLS with the NATS servers fails; correct [cluster] tls-ca, tls-cert " \
                            "and tls-key, and begin url with tls:// if they demand it"
#define SILENT                                                                               \
  IRISD_ENGINE_TROUBLE_SERVER, "a NATS server does not answer in time; look at its log and " \
                               "at the network"
#define CLOSED \
  IRISD_ENGINE_TROUBLE_SERVER, "the connection to a NATS server has ended; look at its log"
  { "authoriz", LOGIN },
  { "authentic", LOGIN },
  { "jwt", LOGIN },
  { "nkey", LOGIN },
  { "credential", LOGIN },
  { "certificate", TLS },
  { "secure connection", TLS },
  { "ssl", TLS },
  { "tls", TLS },
  { "maximum connections", IRISD_ENGINE_TROUBLE_SERVER,
    "the NATS servers take no more connections; raise their max_connections" },
  { "no server available", IRISD_ENGINE_TROUBLE_SERVER,
    "no NATS server answers there; start one, or correct [cluster] url" },
  { "timeout", SILENT },
  { "stale", SILENT },
  { "silent", SILENT },
  { "closed", CLOSED },
  { "i/o error", CLOSED },
#undef LOGIN
#undef TLS
#undef SILENT
#undef CLOSED
};

/* Behind the URL, in which any word may be. */
static const char *
skip_url (const char *raw)
{
  const char *end = g_str_has_prefix (raw, CONNECTING) ? strstr (raw, ": ") : NULL;

  return end != NULL ? end + 2 : raw;
}

/* "Permissions Violation for Publish to "SUBJECT"", or "for Subscription to". */
static char *
explain_right (const char *raw, const char *lower)
{
  const char *begin = strchr (raw, '"');
  const char *end = begin != NULL ? strchr (begin + 1, '"') : NULL;
  const char *verb = strstr (lower, "subscription") != NULL ? "subscribe" : "publish";

  if (end == NULL)
    return g_strdup ("the NATS servers refuse what its user may not do; their log has the subject: "
                     "give the user that right");
  return g_strdup_printf ("at the NATS servers its user may not %s to %.*s; give it that right",
                          verb, (int) (end + 1 - begin), begin);
}

/* @words: (out): a sentence for people. */
IrisdEngineTrouble
irisd_engine_explain (const char *raw, char **words)
{
  const char *text = skip_url (raw);
  g_autofree char *lower = g_ascii_strdown (text, -1);

  if (strstr (lower, "permissions violation") != NULL)
    {
      *words = explain_right (text, lower);
      return IRISD_ENGINE_TROUBLE_RIGHT;
    }
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strstr (lower, known[i].part) != NULL)
      {
        *words = g_strdup (known[i].words);
        return known[i].trouble;
      }
  *words = g_strdup_printf ("the NATS library says “%s”; look at the servers' logs", text);
  return IRISD_ENGINE_TROUBLE_OTHER;
}
