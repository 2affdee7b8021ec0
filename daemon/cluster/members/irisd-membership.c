/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Membership: this node's entry in the bucket, and what the bucket tells of the others.
 *
 * The entry. It lives for IRISD_MEMBER_LIFE_MS, and is put each IRISD_MEMBER_REPORT_MS, by
 * compare-and-set on its own key: the first put expects that there is no entry, each later one
 * expects this node's last. So of two daemons with one name the second never gets in. A daemon that
 * was killed finds its own old entry: it waits for the end of that, which comes by itself. It tells
 * the two apart by whether the entry is put again meanwhile.
 *
 * The others. Puts arrive as messages of core NATS, also those that the bucket refuses, so they are
 * hints: one with the incarnation that the bucket had refreshes that node, and all others have the
 * bucket read. It is read as a whole when this node joins and every now and then, because hints get
 * lost and the end of an entry gives none.
 *
 * The secret. An entry is signed. Nodes with different secrets would set aside each other's items
 * as forged, so a node reads the bucket before its first put, and stays out while more nodes there
 * have another secret than have its own. A node that is in stays in, and does as if the others were
 * not.
 *
 * Alone. A put without an answer within 2 s is the sign that there is no majority of servers. The
 * picture keeps the others as they were; after the next put that is stored the bucket is read.
 *
 * All of it runs in the cluster thread.
 */
#include "daemon/cluster/members/irisd-membership.h"

#include "daemon/base/irisd-log.h"
#include "daemon/cluster/engine/irisd-engine.h"
#include "daemon/cluster/members/irisd-leftovers.h"
#include "daemon/cluster/members/irisd-node-entry.h"

#include <iris/wire/iris-wire.h>
#include <string.h>

/* Before the name of a node in the key of its mark. */
#define MARK "mark."

/* The life of an entry, for JetStream. */
#define LIFE_HEADER "15s"

/* Hints and reports that come close together make one picture, and one reading of the bucket. */
#define PICTURE_MS 20
#define HINT_MS    100

/* The bucket is read each so many milliseconds for each member, within bounds. */
#define READ_MS_PER_MEMBER 100
#define LEAST_READ_MS      IRISD_MEMBER_REPORT_MS
#define MOST_READ_MS       30000

G_STATIC_ASSERT (IRISD_MEMBER_LIFE_MS == 15000); /* as LIFE_HEADER has it */

struct _IrisdMembership
{
  IrisdClusterContext *shared;
  IrisdMembershipHost host;
  char *stream; /* of the bucket */
  char *prefix; /* of its subjects */
  char *servers;
  IrisdMemberTable *table;
  IrisdEngineSubscription *hints;
  GSource *tick, *picture, *reading; /* NULL: not armed */
  GString *strangers; /* the names of nodes with another secret, as the last reading found them */
  guint n_strangers, n_known; /* these, and others that have this node's secret */

  IrisdClusterStatus status;
  guint64 since_ms;
  guint64 started_ms;
  gboolean was_joined; /* since its start */
  gint64 join_by_us;   /* until then it is said to be joining */
  char *reason;
  char *cause; /* (nullable): of the reason, as it was logged last */
  char *promise;
  char *fault; /* NULL, or what a check found that keeps this node out */
  gboolean takes_durable;
  gboolean told_ending;   /* and for irisd's phase */
  gboolean told_draining; /* the entry said so, for its mark */

  gboolean stopped;  /* answers of the engine change nothing any more */
  gboolean admitted; /* its secret is that of the others, as far as there are any */
  gboolean was_connected;
  gboolean putting;         /* the entry is on its way */
  IrisdNode *put;           /* (nullable): what was put last */
  gboolean put_again;       /* and is to be put once more after that */
  gboolean reads;           /* the bucket is being read */
  guint64 last_sequence;    /* of this node's last put; 0: none */
  guint64 foreign_sequence; /* of another's entry under this name; 0: none was seen */
  gint64 read_us;           /* when the bucket was last read */
  guint64 n_reports, n_failed, n_connects;
  void (*left) (gpointer user_data); /* NULL, or waits for the end of the entry */
  gpointer left_data;
};

static IrisdMoment
now (void)
{
  return (IrisdMoment){ g_get_monotonic_time (), (guint64) g_get_real_time () / 1000 };
}

static GSource *
arm (IrisdMembership *self, guint ms, GSourceFunc run)
{
  GSource *source = g_timeout_source_new (ms);
  g_source_set_callback (source, run, self, NULL);
  g_source_attach (source, self->shared->context);
  return source;
}

static void
disarm (GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

/* --- the picture ------------------------------------------------------------------------------ */

static gboolean
put_picture (gpointer data)
{
  IrisdMembership *self = data;
  disarm (&self->picture);
  IrisdMembers *members = irisd_member_table_describe (self->table);
  irisd_member_table_take_changed (self->table);
  members->status = self->status;
  members->since_ms = self->since_ms;
  members->reason = g_strdup (self->reason != NULL ? self->reason : "");
  members->servers = g_strdup (self->servers);
  members->promise = g_strdup (self->promise != NULL ? self->promise : "");
  members->takes_durable = self->takes_durable;
  members->own_member = self->was_joined && self->status != IRISD_CLUSTER_REFUSED;
  members->n_reports = self->n_reports;
  members->n_failed = self->n_failed;
  members->n_connects = self->n_connects;
  irisd_members_box_put (&self->shared->members, members);
  self->host.changed (self->host.user_data);
  return G_SOURCE_REMOVE;
}

static void
want_picture (IrisdMembership *self)
{
  if (self->picture == NULL)
    self->picture = arm (self, PICTURE_MS, put_picture);
}

static void
log_status (const IrisdMembership *self)
{
  if (self->status == IRISD_CLUSTER_JOINED)
    irisd_log (IRISD_LOG_INFO, "joined the cluster at %s as node %s", self->servers,
               self->shared->node);
  else if (self->status == IRISD_CLUSTER_REFUSED)
    irisd_log (IRISD_LOG_ERROR, "%s", self->reason);
  else
    irisd_log (IRISD_LOG_WARNING, "%s; local work goes on", self->reason);
}

/* Takes @reason; NULL if it joined. @cause: the reason without what changes from try to try; it is
 * logged when it is another one. */
static void
set_status (IrisdMembership *self, IrisdClusterStatus status, char *reason, const char *cause)
{
  const gboolean logs = status != self->status || g_strcmp0 (cause, self->cause) != 0;
  const gboolean same = status == self->status && g_strcmp0 (reason, self->reason) == 0;
  /* One that never joined has been alone since its start. */
  if (status != self->status)
    self->since_ms = status == IRISD_CLUSTER_ALONE && !self->was_joined ? self->started_ms
                                                                        : now ().unix_ms;
  g_free (self->reason);
  self->reason = reason;
  self->status = status;
  if (logs)
    {
      g_free (self->cause);
      self->cause = g_strdup (cause);
      log_status (self);
    }
  if (!same)
    want_picture (self);
}

/* Waiting does not help. */
static gboolean
is_refused (IrisdEngine *engine)
{
  const IrisdEngineTrouble trouble = irisd_engine_get_trouble (engine);
  return trouble == IRISD_ENGINE_TROUBLE_LOGIN || trouble == IRISD_ENGINE_TROUBLE_RIGHT
         || trouble == IRISD_ENGINE_TROUBLE_TLS;
}

/* What it is without the cluster. */
static IrisdClusterStatus
get_status_without (const IrisdMembership *self)
{
  return self->was_joined || g_get_monotonic_time () >= self->join_by_us ? IRISD_CLUSTER_ALONE
                                                                         : IRISD_CLUSTER_JOINING;
}

/* The bucket or the servers are out of reach. */
static void
be_alone (IrisdMembership *self, const char *why)
{
  IrisdEngine *engine = self->shared->engine;
  const IrisdClusterStatus status = get_status_without (self);
  const char *what = self->was_joined ? "without" : "cannot join";
  const char *last = irisd_engine_get_last_error (engine);
  g_autofree char *text = last != NULL ? irisd_cluster_config_scrub (self->shared->config, last)
                                       : NULL;
  g_autofree char *clean = irisd_cluster_config_scrub (self->shared->config, why);
  if (text != NULL && is_refused (engine))
    set_status (self, IRISD_CLUSTER_REFUSED,
                g_strdup_printf ("cannot join the cluster at %s as node %s: %s", self->servers,
                                 self->shared->node, text),
                "refused");
  else if (self->fault != NULL)
    set_status (self, status,
                g_strdup_printf ("%s the cluster at %s: %s", what, self->servers, self->fault),
                self->fault);
  else if (irisd_engine_get_state (engine) != IRISD_ENGINE_CONNECTED)
    set_status (
        self, status,
        g_strdup_printf ("%s the cluster at %s: there is no connection: %s", what, self->servers,
                         text != NULL ? text : "start its NATS servers, or look at their logs"),
        "no connection");
  else
    set_status (self, status,
                g_strdup_printf ("%s the cluster at %s: %s; start its NATS servers, or look at "
                                 "their logs",
                                 what, self->servers, clean),
                "no answer");
}

/* --- reading the bucket ----------------------------------------------------------------------- */

static gboolean
is_end_of_key (const IrisdEngineMessage *message)
{
  return irisd_engine_message_get_header (message, "KV-Operation") != NULL
         || irisd_engine_message_get_header (message, "Nats-Marker-Reason") != NULL;
}

static void
log_damaged (const char *key, const GError *error)
{
  static IrisdLogSite site;
  irisd_log_each_minute (&site, IRISD_LOG_WARNING,
                         "ignored the key %s of the cluster's nodes: %s; another program may "
                         "write there",
                         key, error->message);
}

/* Nodes with another secret are counted, and not put into the table. */
static gboolean
is_stranger (IrisdMembership *self, const IrisdNode *node)
{
  if (strcmp (node->name, self->shared->node) == 0)
    return FALSE;
  if (!irisd_node_has_other_secret (node, self->shared->secret))
    {
      self->n_known += *node->signature != '\0';
      return FALSE;
    }
  g_string_append_printf (self->strangers, "%s%s", self->n_strangers > 0 ? ", " : "", node->name);
  self->n_strangers++;
  return TRUE;
}

static void
log_strangers (const IrisdMembership *self)
{
  static IrisdLogSite site;
  if (self->n_strangers > 0 && self->status == IRISD_CLUSTER_JOINED)
    irisd_log_each_minute (&site, IRISD_LOG_WARNING,
                           "the cluster has nodes with another secret than this one, which do not "
                           "run its items, nor it theirs: %s; give all nodes the same secret-file, "
                           "and start those again",
                           self->strangers->str);
}

/* Of a message of the bucket. */
static void
take_key (IrisdMembership *self, const IrisdEngineMessage *message)
{
  g_autoptr (GError) error = NULL;
  const char *key = message->subject;
  if (!g_str_has_prefix (key, self->prefix))
    return;
  key += strlen (self->prefix);
  if (is_end_of_key (message))
    {
      /* Its node itself has ended it. */
      if (irisd_engine_message_get_header (message, "KV-Operation") != NULL)
        irisd_member_table_lose (self->table, key, now ());
      return;
    }
  if (g_str_has_prefix (key, MARK))
    {
      IrisdMemberMark mark;
      if (irisd_cluster_check_node_name (key + strlen (MARK), &error)
          && irisd_member_mark_decode (message->data, message->length, &mark, &error))
        irisd_member_table_mark (self->table, key + strlen (MARK), mark, now ());
    }
  else
    {
      g_autoptr (IrisdNode) node = irisd_node_decode (key, message->data, message->length, &error);
      if (node != NULL && !is_stranger (self, node))
        irisd_member_table_put (self->table, node, now ());
    }
  if (error != NULL)
    log_damaged (key, error);
}

/* @first: only if it has none. */
static void
put_mark (IrisdMembership *self,
          const char *name,
          IrisdMemberMark mark,
          gboolean first,
          IrisdPublishFunc callback,
          gpointer user_data)
{
  g_autofree char *subject = g_strconcat (self->prefix, MARK, name, NULL);
  g_autoptr (GBytes) value = irisd_member_mark_encode (mark);
  gsize length;
  gconstpointer data = g_bytes_get_data (value, &length);
  irisd_engine_publish (
      self->shared->engine,
      &(IrisdEnginePublication){
          .subject = subject, .data = data, .length = length, .check_last = first },
      callback, user_data);
}

static void
note_own_mark (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  /* If it was not stored, the next reading finds that and has it written again. */
  (void) engine;
  (void) result;
  (void) user_data;
}

/* A node that is here is a member: it is known after its end, and no longer removed. An operator
 * may have drained it before it has a mark. */
static void
mark_own (IrisdMembership *self)
{
  const gboolean marked = irisd_member_table_has_mark (self->table, self->shared->node);
  if (marked && irisd_member_table_get_mark (self->table, self->shared->node) != IRISD_MARK_REMOVED)
    return;
  put_mark (self, self->shared->node, IRISD_MARK_MEMBER, !marked, note_own_mark, NULL);
}

/* Whether this node may put its entry, now that the bucket was read. */
static void
judge_secret (IrisdMembership *self)
{
  self->admitted = self->n_strangers <= self->n_known;
  if (self->admitted)
    irisd_membership_report (self);
  else
    set_status (self, IRISD_CLUSTER_REFUSED,
                g_strdup_printf ("cannot join the cluster at %s as node %s: its secret is not that "
                                 "of %s; give this node the same secret-file, and start it again",
                                 self->servers, self->shared->node, self->strangers->str),
                "secret");
}

static void ask_later (IrisdMembership *self, const char *why);

static void
finish_reading (IrisdMembership *self, const GError *error)
{
  self->reads = FALSE;
  self->read_us = g_get_monotonic_time ();
  if (error != NULL && !g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NOT_FOUND))
    {
      if (!self->admitted)
        ask_later (self, error->message);
      return;
    }
  gboolean drained = irisd_member_table_get_mark (self->table, self->shared->node)
                     == IRISD_MARK_DRAINED;
  irisd_member_table_end_reload (self->table, now ());
  if (irisd_member_table_take_changed (self->table))
    want_picture (self);
  log_strangers (self);
  if (!self->admitted)
    judge_secret (self);
  else if (drained != self->told_draining)
    irisd_membership_report (self);
  if (self->status == IRISD_CLUSTER_JOINED)
    mark_own (self);
}

static void
take_mark_of_reading (IrisdEngine *engine,
                      const IrisdEngineMessage *message,
                      const GError *error,
                      gpointer user_data)
{
  IrisdMembership *self = user_data;
  (void) engine;
  if (self->stopped)
    return;
  if (message != NULL)
    take_key (self, message);
  else
    finish_reading (self, error);
}

/* First the entries, then the marks: the server reads at most 1,024 keys at once. */
static void
take_entry_of_reading (IrisdEngine *engine,
                       const IrisdEngineMessage *message,
                       const GError *error,
                       gpointer user_data)
{
  IrisdMembership *self = user_data;
  if (self->stopped)
    return;
  if (message != NULL)
    {
      take_key (self, message);
      return;
    }
  if (error != NULL && !g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NOT_FOUND))
    {
      finish_reading (self, error);
      return;
    }
  g_autofree char *marks = g_strconcat (self->prefix, MARK "*", NULL);
  irisd_engine_get_last_of_each (engine, self->stream, marks, take_mark_of_reading, self);
}

static gboolean
read_bucket (gpointer data)
{
  IrisdMembership *self = data;
  disarm (&self->reading);
  if (self->reads || irisd_engine_get_state (self->shared->engine) != IRISD_ENGINE_CONNECTED)
    return G_SOURCE_REMOVE;
  g_autofree char *entries = g_strconcat (self->prefix, "*", NULL);
  self->reads = TRUE;
  self->n_strangers = self->n_known = 0;
  g_string_truncate (self->strangers, 0);
  irisd_member_table_begin_reload (self->table);
  irisd_engine_get_last_of_each (self->shared->engine, self->stream, entries, take_entry_of_reading,
                                 self);
  return G_SOURCE_REMOVE;
}

static void
read_soon (IrisdMembership *self)
{
  if (self->reading == NULL)
    self->reading = arm (self, HINT_MS, read_bucket);
}

static gboolean
is_time_to_read (const IrisdMembership *self)
{
  guint n = irisd_member_table_get_count (self->table);
  gint64 each_ms = CLAMP ((gint64) n * READ_MS_PER_MEMBER, LEAST_READ_MS, MOST_READ_MS);
  return g_get_monotonic_time () - self->read_us >= each_ms * 1000 - 1000;
}

/* A put, which the bucket may have refused. */
static void
take_hint (IrisdEngine *engine, const IrisdEngineMessage *message, gpointer user_data)
{
  IrisdMembership *self = user_data;
  (void) engine;
  const char *key = message->subject + MIN (strlen (self->prefix), strlen (message->subject));
  if (strcmp (key, self->shared->node) == 0)
    return;
  g_autoptr (IrisdNode) node = !g_str_has_prefix (key, MARK) && !is_end_of_key (message)
                                   ? irisd_node_decode (key, message->data, message->length, NULL)
                                   : NULL;
  if (node != NULL && irisd_node_has_other_secret (node, self->shared->secret))
    return; /* the next reading finds it */
  if (node == NULL || !irisd_member_table_refresh (self->table, node, now ()))
    read_soon (self);
  else if (irisd_member_table_take_changed (self->table))
    want_picture (self);
}

/* --- the entry of this node ------------------------------------------------------------------- */

static void
ask_later (IrisdMembership *self, const char *why)
{
  self->n_failed++;
  be_alone (self, why);
  self->host.ask_why (self->host.user_data);
}

static void
join (IrisdMembership *self)
{
  gboolean first = self->status != IRISD_CLUSTER_JOINED;
  if (self->status == IRISD_CLUSTER_ALONE)
    irisd_member_table_excuse (self->table, now ());
  self->foreign_sequence = 0;
  g_clear_pointer (&self->fault, g_free);
  self->was_joined = TRUE;
  set_status (self, IRISD_CLUSTER_JOINED, NULL, NULL);
  if (first || is_time_to_read (self))
    read_bucket (self);
}

/* There is an entry under this name that this run of irisd has not put. */
static void
meet_foreign (IrisdMembership *self, const IrisdEngineMessage *message)
{
  const char *node = self->shared->node;
  gboolean renewed = self->foreign_sequence != 0 && self->foreign_sequence != message->sequence;
  g_autoptr (IrisdNode) other = irisd_node_decode (node, message->data, message->length, NULL);
  const char *where = other != NULL && other->endpoints != NULL && other->endpoints[0] != NULL
                          ? other->endpoints[0]
                          : "an unknown endpoint";
  self->foreign_sequence = message->sequence;
  if (renewed || self->status == IRISD_CLUSTER_REFUSED)
    set_status (self, IRISD_CLUSTER_REFUSED,
                g_strdup_printf ("cannot join the cluster at %s: another irisd is its node %s, at "
                                 "%s; give this one another name, [cluster] node",
                                 self->servers, node, where),
                "name");
  else
    set_status (self, get_status_without (self),
                g_strdup_printf ("cannot join the cluster at %s yet: there is an entry of node %s, "
                                 "at %s; if it is from this irisd's last run it ends within %d s",
                                 self->servers, node, where, IRISD_MEMBER_LIFE_MS / 1000),
                "entry");
}

/* What is there where the put expected something else. */
static void
take_own_entry (IrisdEngine *engine,
                const IrisdEngineMessage *message,
                const GError *error,
                gpointer user_data)
{
  IrisdMembership *self = user_data;
  (void) engine;
  if (self->stopped)
    return;
  self->putting = FALSE;
  if (message == NULL)
    {
      if (g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NOT_FOUND))
        {
          /* A follower may have answered that has not heard of it yet: the next tick asks again. */
          gboolean fresh = self->last_sequence != 0;
          self->last_sequence = 0;
          if (fresh)
            irisd_membership_report (self);
        }
      else
        ask_later (self, error->message);
      return;
    }
  g_autoptr (IrisdNode)
      found = is_end_of_key (message)
                  ? NULL
                  : irisd_node_decode (self->shared->node, message->data, message->length, NULL);
  gboolean is_own = found != NULL && strcmp (found->incarnation, self->shared->incarnation) == 0;
  if (!is_end_of_key (message) && !is_own)
    {
      self->last_sequence = 0;
      meet_foreign (self, message);
      return;
    }
  if (self->last_sequence == message->sequence)
    return; /* the same as the put expected: another try at the next tick */
  self->last_sequence = message->sequence;
  irisd_membership_report (self);
}

static void
take_put (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdMembership *self = user_data;
  g_autofree char *key = NULL;
  if (self->stopped)
    return;
  switch (result->status)
    {
    case IRISD_PUBLISH_STORED:
    case IRISD_PUBLISH_DUPLICATE:
      self->putting = FALSE;
      self->last_sequence = result->sequence;
      self->n_reports++;
      self->host.told (self->put, self->host.user_data);
      join (self);
      break;
    case IRISD_PUBLISH_WRONG_SEQUENCE:
      key = g_strconcat (self->prefix, self->shared->node, NULL);
      irisd_engine_get_last (engine, self->stream, key, take_own_entry, self);
      return;
    default:
      self->putting = FALSE;
      ask_later (self, result->text != NULL ? result->text : "no answer");
      break;
    }
  if (self->put_again)
    irisd_membership_report (self);
}

/* Returns what this node tells of itself now. */
static IrisdNode *
describe (IrisdMembership *self)
{
  IrisdNode *node = irisd_node_new ();
  node->name = g_strdup (self->shared->node);
  node->incarnation = g_strdup (self->shared->incarnation);
  node->signature = irisd_node_sign (node, self->shared->secret);
  node->labels = irisd_cluster_config_list_labels (self->shared->config);
  self->host.describe (node, self->host.user_data);
  self->told_ending = node->draining;
  self->told_draining = irisd_member_table_get_mark (self->table, self->shared->node)
                        == IRISD_MARK_DRAINED;
  node->draining = node->draining || self->told_draining;
  return node;
}

/* Puts the entry of this node, unless the servers are out of reach. */
void
irisd_membership_report (IrisdMembership *self)
{
  if (self->left != NULL || irisd_engine_get_state (self->shared->engine) != IRISD_ENGINE_CONNECTED)
    return;
  if (!self->admitted)
    {
      read_bucket (self);
      return;
    }
  self->put_again = self->putting;
  if (self->putting)
    return;
  g_autoptr (IrisdNode) node = describe (self);
  g_autofree char *subject = g_strconcat (self->prefix, node->name, NULL);
  g_autoptr (GBytes) value = irisd_node_encode (node);
  const IrisdEngineHeader life = { "Nats-TTL", LIFE_HEADER };
  gsize length;
  gconstpointer data = g_bytes_get_data (value, &length);
  self->putting = TRUE;
  irisd_node_unref (self->put);
  self->put = irisd_node_ref (node);
  irisd_engine_publish (self->shared->engine,
                        &(IrisdEnginePublication){ .subject = subject,
                                                   .headers = &life,
                                                   .n_headers = 1,
                                                   .data = data,
                                                   .length = length,
                                                   .check_last = TRUE,
                                                   .expected_last = self->last_sequence },
                        take_put, self);
  /* Its own entry is in the picture at once: no other can have put it. */
  if (self->status == IRISD_CLUSTER_JOINED)
    irisd_member_table_put (self->table, node, now ());
  if (irisd_member_table_take_changed (self->table))
    want_picture (self);
}

static gboolean
tick (gpointer data)
{
  IrisdMembership *self = data;
  if (irisd_engine_get_state (self->shared->engine) != IRISD_ENGINE_CONNECTED)
    be_alone (self, "there is no connection");
  irisd_membership_report (self);
  if (self->status == IRISD_CLUSTER_JOINED)
    irisd_member_table_sweep (self->table, now ());
  if (irisd_member_table_take_changed (self->table))
    want_picture (self);
  return G_SOURCE_CONTINUE;
}

/* irisd may have begun to end. */
void
irisd_membership_follow_host (IrisdMembership *self)
{
  g_autoptr (IrisdNode) node = irisd_node_new ();
  self->host.describe (node, self->host.user_data);
  if (node->draining != self->told_ending)
    irisd_membership_report (self);
}

/* The state of the engine has changed, or its last error. */
void
irisd_membership_follow_engine (IrisdMembership *self)
{
  gboolean connected = irisd_engine_get_state (self->shared->engine) == IRISD_ENGINE_CONNECTED;
  if (connected == self->was_connected)
    {
      if (!connected && irisd_engine_get_last_error (self->shared->engine) != NULL)
        be_alone (self, "there is no connection");
      return;
    }
  self->was_connected = connected;
  if (connected)
    {
      self->n_connects++;
      irisd_membership_report (self);
    }
  else
    be_alone (self, "there is no connection");
}

/* --- requests --------------------------------------------------------------------------------- */

static void
refuse (IrisdClusterRequest *request, IrisWireError code, char *message)
{
  request->error = g_error_new_literal (IRIS_WIRE_ERROR, (gint) code, message);
  g_free (message);
  request->done (request);
}

typedef struct
{
  IrisdMembership *self;
  IrisdClusterRequest *request;
  IrisdMemberMark mark;
} Marking;

static const char *
get_verb (IrisdClusterRequestKind kind)
{
  return kind == IRISD_CLUSTER_DRAIN_NODE    ? "drain"
         : kind == IRISD_CLUSTER_RESUME_NODE ? "resume"
                                             : "remove";
}

static void
take_marked (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  g_autofree Marking *marking = user_data;
  IrisdMembership *self = marking->self;
  IrisdClusterRequest *request = marking->request;
  (void) engine;
  if (result->status != IRISD_PUBLISH_STORED && result->status != IRISD_PUBLISH_DUPLICATE)
    {
      refuse (request, IRIS_WIRE_ERROR_BUSY,
              g_strdup_printf ("cannot %s node %s: %s; try again when the cluster's servers answer",
                               get_verb (request->kind), request->node,
                               result->text != NULL ? result->text : "no answer"));
      return;
    }
  irisd_member_table_mark (self->table, request->node, marking->mark, now ());
  put_picture (self);
  if (strcmp (request->node, self->shared->node) == 0)
    irisd_membership_report (self);
  request->count = 1;
  request->done (request);
}

static gboolean
may_mark (IrisdMembership *self, IrisdClusterRequest *request, IrisdMemberState *state)
{
  g_autoptr (IrisdMembers) members = irisd_member_table_describe (self->table);
  const IrisdMember *member = irisd_members_find (members, request->node);
  if (self->status != IRISD_CLUSTER_JOINED)
    {
      refuse (request, IRIS_WIRE_ERROR_BUSY,
              g_strdup_printf ("cannot %s node %s: this irisd is not in the cluster: %s",
                               get_verb (request->kind), request->node,
                               self->reason != NULL ? self->reason : "it joins just now"));
      return FALSE;
    }
  if (member == NULL)
    {
      refuse (request, IRIS_WIRE_ERROR_NO_SUCH_NODE,
              g_strdup_printf ("there is no node “%s”; irisctl nodes lists them", request->node));
      return FALSE;
    }
  *state = member->state;
  if (request->kind != IRISD_CLUSTER_REMOVE_NODE || *state >= IRISD_MEMBER_GONE)
    return TRUE;
  refuse (request, IRIS_WIRE_ERROR_BAD_ARGUMENT,
          g_strdup_printf ("cannot remove node %s: it is here; end its irisd first, or have it "
                           "take no items: irisctl node drain %s",
                           request->node, request->node));
  return FALSE;
}

static void
mark_node (Marking *marking)
{
  put_mark (marking->self, marking->request->node, marking->mark, FALSE, take_marked, marking);
}

/* Strict items of a node that does not come back would wait for ever, unseen. */
static void
take_leftovers (guint64 n_strict, const GError *error, gpointer user_data)
{
  Marking *marking = user_data;
  IrisdClusterRequest *request = marking->request;
  if (error == NULL && n_strict == 0)
    {
      mark_node (marking);
      return;
    }
  if (error != NULL)
    refuse (request, IRIS_WIRE_ERROR_BUSY,
            g_strdup_printf ("cannot remove node %s: whether items wait for it is not known: %s; "
                             "try again when the cluster's servers answer",
                             request->node, error->message));
  else
    refuse (request, IRIS_WIRE_ERROR_BAD_ARGUMENT,
            g_strdup_printf ("cannot remove node %s: %" G_GUINT64_FORMAT
                             " strict items wait for it, and no other node may run them; start "
                             "its irisd once more, or cancel them at the nodes that sent them",
                             request->node, n_strict));
  g_free (marking);
}

/* Drains, resumes or removes a node. Its mark in the bucket tells it, and all others. */
void
irisd_membership_handle (IrisdMembership *self, IrisdClusterRequest *request)
{
  IrisdMemberState state;
  if (!may_mark (self, request, &state))
    return;
  IrisdMemberMark mark = request->kind == IRISD_CLUSTER_DRAIN_NODE    ? IRISD_MARK_DRAINED
                         : request->kind == IRISD_CLUSTER_REMOVE_NODE ? IRISD_MARK_REMOVED
                                                                      : IRISD_MARK_MEMBER;
  if (irisd_member_table_has_mark (self->table, request->node)
      && irisd_member_table_get_mark (self->table, request->node) == mark)
    {
      request->done (request);
      return;
    }
  Marking *marking = g_new (Marking, 1);
  *marking = (Marking){ self, request, mark };
  if (mark == IRISD_MARK_REMOVED)
    irisd_leftovers_count (self->shared->engine, self->shared->config->stream, request->node,
                           take_leftovers, marking);
  else
    mark_node (marking);
}

/* --- life ------------------------------------------------------------------------------------- */

void
irisd_membership_set_promise (IrisdMembership *self, const char *promise, gboolean takes_durable)
{
  g_free (self->promise);
  self->promise = g_strdup (promise);
  self->takes_durable = takes_durable;
  want_picture (self);
}

/* @fault: (nullable): why the bucket does not answer, and what to do. */
void
irisd_membership_set_fault (IrisdMembership *self, const char *fault)
{
  g_free (self->fault);
  self->fault = g_strdup (fault);
  if (fault != NULL && self->status != IRISD_CLUSTER_JOINED)
    be_alone (self, fault);
}

gboolean
irisd_membership_is_joined (const IrisdMembership *self)
{
  return self->status == IRISD_CLUSTER_JOINED;
}

static void
take_left (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdMembership *self = user_data;
  (void) engine;
  (void) result;
  if (!self->stopped)
    self->left (self->left_data);
}

/* Ends the entry, so that the others need not wait for the end of its life. Calls @done, perhaps at
 * once. */
void
irisd_membership_leave (IrisdMembership *self,
                        void (*done) (gpointer user_data),
                        gpointer user_data)
{
  g_autofree char *subject = g_strconcat (self->prefix, self->shared->node, NULL);
  const IrisdEngineHeader headers[] = { { "KV-Operation", "DEL" }, { "Nats-TTL", "5s" } };
  self->left = done;
  self->left_data = user_data;
  if (self->status != IRISD_CLUSTER_JOINED || self->last_sequence == 0)
    {
      done (user_data);
      return;
    }
  irisd_engine_publish (self->shared->engine,
                        &(IrisdEnginePublication){ .subject = subject,
                                                   .headers = headers,
                                                   .n_headers = G_N_ELEMENTS (headers) },
                        take_left, self);
}

/* @bucket_stream and @bucket_prefix: of the bucket of nodes, and of its subjects. The engine
 * exists, and the context does not run yet. */
IrisdMembership *
irisd_membership_new (IrisdClusterContext *shared,
                      const char *bucket_stream,
                      const char *bucket_prefix,
                      const IrisdMembershipHost *host)
{
  IrisdMembership *self = g_new0 (IrisdMembership, 1);
  g_autofree char *all = g_strconcat (bucket_prefix, ">", NULL);
  self->shared = shared;
  self->host = *host;
  self->stream = g_strdup (bucket_stream);
  self->prefix = g_strdup (bucket_prefix);
  self->servers = irisd_cluster_config_hide_secrets (shared->config->url);
  self->table = irisd_member_table_new (shared->node);
  self->strangers = g_string_new (NULL);
  self->status = IRISD_CLUSTER_JOINING;
  self->started_ms = self->since_ms = now ().unix_ms;
  self->join_by_us = now ().us + (gint64) shared->config->join_ms * 1000;
  self->hints = irisd_engine_subscribe (shared->engine, all, take_hint, self);
  self->tick = arm (self, IRISD_MEMBER_REPORT_MS, tick);
  put_picture (self);
  return self;
}

/* Before the engine ends, which answers with an error what it was asked. */
void
irisd_membership_stop (IrisdMembership *self)
{
  self->stopped = TRUE;
  disarm (&self->tick);
  disarm (&self->picture);
  disarm (&self->reading);
  irisd_engine_unsubscribe (self->hints);
}

/* @self was stopped, and the engine has ended. */
void
irisd_membership_free (IrisdMembership *self)
{
  if (self == NULL)
    return;
  irisd_member_table_free (self->table);
  g_string_free (self->strangers, TRUE);
  irisd_node_unref (self->put);
  g_free (self->stream);
  g_free (self->prefix);
  g_free (self->servers);
  g_free (self->reason);
  g_free (self->cause);
  g_free (self->promise);
  g_free (self->fault);
  g_free (self);
}
