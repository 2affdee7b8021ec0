/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What libnats says is told to people as what to do, and its kind is known.
 */
#include "core-test-run.h"

#include "daemon/cluster/engine/irisd-engine-words.h"

#include <string.h>

static void
assert_explained (const char *raw, IrisdEngineTrouble trouble, const char *part)
{
  g_autofree char *words = NULL;
  ck_assert_int_eq (irisd_engine_explain (raw, &words), trouble);
  ck_assert_msg (strstr (words, part) != NULL, "%s: %s", raw, words);
  ck_assert_msg (trouble == IRISD_ENGINE_TROUBLE_OTHER || strstr (words, raw) == NULL, "%s", words);
}

TEST (each_kind_says_what_to_do)
{
  assert_explained ("Connecting to nats://a:4222: No server available for connection",
                    IRISD_ENGINE_TROUBLE_SERVER, "correct [cluster] url");
  assert_explained ("Connecting to nats://a:4222: Timeout", IRISD_ENGINE_TROUBLE_SERVER,
                    "look at its log");
  assert_explained ("the server is silent", IRISD_ENGINE_TROUBLE_SERVER, "in time");
  assert_explained ("the connection was closed", IRISD_ENGINE_TROUBLE_SERVER, "has ended");
  assert_explained ("Connecting to nats://a:4222: Connection Auth Failed: Authorization Violation",
                    IRISD_ENGINE_TROUBLE_LOGIN, "credentials");
  assert_explained ("User Authentication Expired", IRISD_ENGINE_TROUBLE_LOGIN, "has expired");
  assert_explained ("Connecting to nats://a:4222: SSL Error: SSL handshake error: 1:error:0A000086:"
                    "SSL routines::certificate verify failed",
                    IRISD_ENGINE_TROUBLE_TLS, "tls-ca");
  assert_explained ("Connecting to nats://a:4222: Secure Connection Required",
                    IRISD_ENGINE_TROUBLE_TLS, "tls://");
}

TEST (a_missing_right_is_named_with_its_subject)
{
  assert_explained ("Error: Permissions Violation for Publish to \"$KV.iris_nodes.n1\"",
                    IRISD_ENGINE_TROUBLE_RIGHT, "may not publish to \"$KV.iris_nodes.n1\"; give");
  assert_explained ("permissions violation for subscription to \"iris.n.n1.>\"",
                    IRISD_ENGINE_TROUBLE_RIGHT, "may not subscribe to \"iris.n.n1.>\"; give");
  assert_explained ("Permissions Violation", IRISD_ENGINE_TROUBLE_RIGHT, "their log");
}

TEST (the_url_is_no_part_of_what_is_said)
{
  assert_explained ("Connecting to nats://tls-jwt.example:4222: No server available for connection",
                    IRISD_ENGINE_TROUBLE_SERVER, "start one");
}

TEST (what_is_not_known_is_told_as_it_is)
{
  assert_explained ("Protocol Error", IRISD_ENGINE_TROUBLE_OTHER, "“Protocol Error”");
}

TEST_MAIN ("engine-words", NULL, NULL)
