/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a node enters the bucket of nodes. The engine is a double: the bucket's answers are the
 * test's.
 */
#include "core-test-run.h"
#include "daemon/cluster/engine/irisd-engine.h"
#include "daemon/cluster/members/irisd-membership.h"
#include "daemon/cluster/members/irisd-node-entry.h"

#include <string.h>

#define PREFIX "$KV.iris_nodes."
#define SECRET "a secret of thirty-two characters"

/* What was published last, and has no answer. */
typedef struct
{
  char *subject;
  gboolean check_last;
  guint64 expected_last;
  IrisdPublishFunc callback;
  gpointer user_data;
} Published;

static IrisdClusterConfig config;
static IrisdClusterContext context;
static IrisdMembership *membership;
static Published published;
static IrisdEngineMessageFunc read_func;
static gpointer read_data;

void
irisd_engine_publish (IrisdEngine *self,
                      const IrisdEnginePublication *publication,
                      IrisdPublishFunc callback,
                      gpointer user_data)
{
  g_free (published.subject);
  published = (Published){
    g_strdup (publication->subject),
    publication->check_last,
    publication->expected_last,
    callback,
    user_data,
  };
}

void
irisd_engine_get_last_of_each (IrisdEngine *self,
                               const char *stream,
                               const char *filter,
                               IrisdEngineMessageFunc callback,
                               gpointer user_data)
{
  read_func = callback;
  read_data = user_data;
}

void
irisd_engine_get_last (IrisdEngine *self,
                       const char *stream,
                       const char *subject,
                       IrisdEngineMessageFunc callback,
                       gpointer user_data)
{
  g_assert_not_reached ();
}

void
irisd_engine_request (IrisdEngine *self,
                      const char *subject,
                      const char *json,
                      guint timeout_ms,
                      IrisdEngineReplyFunc callback,
                      gpointer user_data)
{
  g_assert_not_reached ();
}

IrisdEngineSubscription *
irisd_engine_subscribe (IrisdEngine *self,
                        const char *subject,
                        IrisdEngineReceiveFunc callback,
                        gpointer user_data)
{
  return (IrisdEngineSubscription *) &published;
}

void
irisd_engine_unsubscribe (IrisdEngineSubscription *subscription)
{
}

IrisdEngineState
irisd_engine_get_state (IrisdEngine *self)
{
  return IRISD_ENGINE_CONNECTED;
}

const char *
irisd_engine_get_last_error (IrisdEngine *self)
{
  return NULL;
}

IrisdEngineTrouble
irisd_engine_get_trouble (IrisdEngine *self)
{
  return IRISD_ENGINE_TROUBLE_NONE;
}

const char *
irisd_engine_message_get_header (const IrisdEngineMessage *message, const char *name)
{
  return NULL;
}

static void
describe (IrisdNode *node, gpointer user_data)
{
  node->version = g_strdup ("0.1.0");
}

static void
changed (gpointer user_data)
{
}

static void
told (const IrisdNode *node, gpointer user_data)
{
}

static void
set_up (void)
{
  const IrisdMembershipHost host = { describe, changed, told, changed, NULL };
  irisd_cluster_config_init (&config);
  config.url = g_strdup ("nats://192.0.2.1:4222");
  context = (IrisdClusterContext){ .config = &config,
                                   .node = (char *) "n1",
                                   .incarnation = "0123456789abcdef",
                                   .secret = g_bytes_new_static (SECRET, sizeof SECRET - 1),
                                   .context = g_main_context_new () };
  irisd_members_box_init (&context.members, irisd_members_new ("n1", 0));
  membership = irisd_membership_new (&context, "KV_iris_nodes", PREFIX, &host);
}

static void
tear_down (void)
{
  irisd_membership_stop (membership);
  irisd_membership_free (membership);
  irisd_members_box_clear (&context.members);
  g_bytes_unref (context.secret);
  irisd_cluster_config_clear (&config);
  g_main_context_unref (context.context);
  g_clear_pointer (&published.subject, g_free);
}

static void
answer_publication (IrisdPublishStatus status, guint64 sequence)
{
  const IrisdPublishResult result = { .status = status, .sequence = sequence, .text = "no" };
  const Published one = published;
  published.subject = NULL;
  one.callback (NULL, &result, one.user_data);
  g_free (one.subject);
}

/* The bucket has the mark, or none, and no entry but the own one. */
static void
answer_reading (const IrisdMemberMark *mark)
{
  read_func (NULL, NULL, NULL, read_data);
  if (mark != NULL)
    {
      g_autoptr (GBytes) value = irisd_member_mark_encode (*mark);
      gsize length;
      gconstpointer data = g_bytes_get_data (value, &length);
      const IrisdEngineMessage message = { .subject = PREFIX "mark.n1",
                                           .data = data,
                                           .length = length };
      read_func (NULL, &message, NULL, read_data);
    }
  read_func (NULL, NULL, NULL, read_data);
}

/* A node reads the bucket before it puts its entry, and once more when it has joined. */
static void
join (const IrisdMemberMark *mark)
{
  irisd_membership_follow_engine (membership);
  ck_assert_ptr_null (published.subject);
  answer_reading (mark);
  ck_assert_str_eq (published.subject, PREFIX "n1");
  ck_assert (published.check_last && published.expected_last == 0);
  answer_publication (IRISD_PUBLISH_STORED, 1);
  ck_assert (irisd_membership_is_joined (membership));
  answer_reading (mark);
}

/* An operator may drain it after it has read that it has no mark. */
TEST (the_first_mark_of_a_node_replaces_none)
{
  join (NULL);
  ck_assert_str_eq (published.subject, PREFIX "mark.n1");
  ck_assert (published.check_last && published.expected_last == 0);
}

TEST (a_node_that_was_removed_is_one_again)
{
  const IrisdMemberMark removed = IRISD_MARK_REMOVED;
  join (&removed);
  ck_assert_str_eq (published.subject, PREFIX "mark.n1");
  ck_assert (!published.check_last);
}

TEST (a_drained_node_keeps_its_mark)
{
  const IrisdMemberMark drained = IRISD_MARK_DRAINED;
  join (&drained);
  /* Its first entry has said so already. */
  ck_assert_ptr_null (published.subject);
}

TEST_MAIN ("irisd-membership", set_up, tear_down)
