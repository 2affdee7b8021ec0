/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output of commands, followed: from the beginning, by several, at their own speed, within limits.
 */
#include "irisd-home.h"

static Home *home;
static Irisd *irisd;
static Client *client;

static void
start (const char *config)
{
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
}

static void
set_up (void)
{
  home = home_new ();
  start (NULL);
}

static void
stop (void)
{
  g_clear_pointer (&client, client_free);
  irisd_stop (g_steal_pointer (&irisd));
}

static void
tear_down (void)
{
  stop ();
  home_free (g_steal_pointer (&home));
}

/* The message borrows @script. */
static void
fill_script (IrisWireMessage *item, const char *script)
{
  static const char *args[] = { "sh", "-c", NULL, NULL };
  args[2] = script;
  persistent_fill (client, item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_args (item, args);
}

static guint64
submit_script (const char *format, const char *gate)
{
  IrisWireMessage item;
  g_auto (GStrv) parts = g_strsplit (format, "GATE", -1);
  g_autofree char *script = g_strjoinv (gate, parts);
  fill_script (&item, script);
  return persistent_submit (client, &item);
}

/* Asks for the output of @item. Returns the id of the request. */
static guint64
follow (Client *who, guint64 item, guint64 offset, guint64 grant)
{
  IrisWireMessage request;
  client_init_message (who, &request, IRIS_WIRE_FOLLOW);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  if (offset > 0)
    iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_OFFSET, offset);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_GRANT, grant);
  client_send (who, &request);
  return who->next_id;
}

static void
take_output (GString *text, const IrisWireMessage *message)
{
  ck_assert_str_eq (iris_wire_type_name (message->type), "OUTPUT");
  ck_assert (iris_wire_message_has (message, IRIS_WIRE_KEY_OFFSET));
  if (message->channel == IRIS_WIRE_CHANNEL_ERRORS)
    g_string_append_c (text, '!');
  g_string_append_len (text, (const char *) message->body.data, (gssize) message->body.size);
}

/* Receives until all of @wanted has come. */
static void
assert_follows (Client *who, const char *wanted)
{
  g_autoptr (GString) text = g_string_new (NULL);
  while (text->len < strlen (wanted))
    take_output (text, client_receive (who));
  ck_assert_str_eq (text->str, wanted);
}

/* Receives to the end, granting what has come. */
static char *
take_all (Client *who, guint64 id, guint32 state, gboolean truncated)
{
  GString *text = g_string_new (NULL);
  guint64 end = 0;
  const IrisWireMessage *message;
  while ((message = client_receive (who))->type == IRIS_WIRE_OUTPUT)
    {
      take_output (text, message);
      end = message->offset + message->body.size;
      client_grant (who, id, message->body.size);
    }
  ck_assert_str_eq (iris_wire_type_name (message->type), "FOLLOWED");
  ck_assert_uint_eq (message_get_id (message), id);
  ck_assert_uint_eq (message->state, state);
  ck_assert_int_eq (message->truncated, truncated);
  ck_assert_uint_eq (message->offset, end);
  return g_string_free (text, FALSE);
}

static void
assert_all (Client *who, guint64 item, const char *wanted)
{
  g_autofree char *text = take_all (who, follow (who, item, 0, 65536), IRIS_WIRE_STATE_DONE, FALSE);
  ck_assert_str_eq (text, wanted);
}

TEST (several_follow_from_the_beginning_and_a_slow_one_stops_nothing)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) second = client_hello (irisd->front);
  g_autoptr (Client) slow = client_hello (irisd->front);
  guint64 item = submit_script ("printf one; cat GATE; printf oops >&2; cat GATE; printf two",
                                gate);
  guint64 first_id = follow (client, item, 0, 65536);
  guint64 slow_id = follow (slow, item, 0, 2);
  assert_follows (client, "one");
  assert_follows (slow, "on");
  gate_open (gate);
  assert_follows (client, "!oops");
  guint64 second_id = follow (second, item, 0, 65536);
  assert_follows (second, "one");
  assert_follows (second, "!oops");
  gate_open (gate);
  g_autofree char *rest = take_all (client, first_id, IRIS_WIRE_STATE_DONE, FALSE);
  ck_assert_str_eq (rest, "two");
  g_autofree char *second_rest = take_all (second, second_id, IRIS_WIRE_STATE_DONE, FALSE);
  ck_assert_str_eq (second_rest, "two");
  client_grant (slow, slow_id, 5);
  g_autofree char *slow_rest = take_all (slow, slow_id, IRIS_WIRE_STATE_DONE, FALSE);
  ck_assert_str_eq (slow_rest, "e!oopstwo");

  guint64 late_id = follow (second, item, 4, 65536);
  g_autofree char *late = take_all (second, late_id, IRIS_WIRE_STATE_DONE, FALSE);
  ck_assert_str_eq (late, "!opstwo");
}

TEST (output_is_there_after_a_crash_and_goes_with_its_item)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 ended = submit_script ("echo kept", NULL);
  assert_all (client, ended, "kept\n");
  guint64 running = submit_script ("echo attempt; cat GATE; echo over", gate);
  guint64 id = follow (client, running, 0, 65536);
  assert_follows (client, "attempt\n");
  g_clear_pointer (&client, client_free);
  irisd_kill (g_steal_pointer (&irisd));

  start (NULL);
  assert_all (client, ended, "kept\n");
  /* The second attempt begins anew. */
  id = follow (client, running, 0, 65536);
  const IrisWireMessage *message;
  g_autoptr (GString) text = g_string_new (NULL);
  while (strstr (text->str, "attempt\n") == NULL)
    {
      message = client_receive (client);
      if (message->offset == 0)
        g_string_truncate (text, 0);
      take_output (text, message);
    }
  gate_open (gate);
  g_autofree char *rest = take_all (client, id, IRIS_WIRE_STATE_DONE, FALSE);
  ck_assert (g_str_has_suffix (rest, "over\n"));

  g_autofree char *kept = g_build_filename (home->journal, "output", NULL);
  ck_assert (g_file_test (kept, G_FILE_TEST_IS_DIR));
  persistent_assert_result (client, ended, "kept\n");
  client_ack (client, 1);
  persistent_assert_result (client, running, "attempt\nover\n");
  client_ack (client, 1);
  ck_assert_uint_eq (persistent_count (client), 0);
  g_autoptr (GDir) dir = g_dir_open (kept, 0, NULL);
  ck_assert_ptr_null (g_dir_read_name (dir));
  persistent_ask (client, IRIS_WIRE_FOLLOW, ended);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
}

TEST (a_long_output_keeps_what_its_policy_says)
{
  IrisWireMessage item;
  fill_script (&item, "seq 1 20000; sleep 0");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_OUTPUT, 16384);
  guint64 both = persistent_submit (client, &item);
  fill_script (&item, "seq 1 20000");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_OUTPUT, 16384);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_OUTPUT_POLICY, IRIS_WIRE_OUTPUT_POLICY_TAIL);
  guint64 tail = persistent_submit (client, &item);
  fill_script (&item, "seq 1 20000");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_OUTPUT, 0);
  guint64 none = persistent_submit (client, &item);
  persistent_fetch (client, both, GIVE_UP_MS);
  persistent_fetch (client, tail, GIVE_UP_MS);
  persistent_fetch (client, none, GIVE_UP_MS);

  g_autofree char *kept = take_all (client, follow (client, both, 0, 65536), IRIS_WIRE_STATE_DONE,
                                    TRUE);
  ck_assert (g_str_has_prefix (kept, "1\n2\n3\n"));
  ck_assert (g_str_has_suffix (kept, "19999\n20000\n"));
  ck_assert_uint_le (strlen (kept), 16384);
  g_autofree char *last = take_all (client, follow (client, tail, 0, 65536), IRIS_WIRE_STATE_DONE,
                                    TRUE);
  ck_assert (!g_str_has_prefix (last, "1\n2\n"));
  ck_assert (g_str_has_suffix (last, "19999\n20000\n"));
  ck_assert_uint_ge (strlen (last), 16384 / 2);
  g_autofree char *nothing = take_all (client, follow (client, none, 0, 65536),
                                       IRIS_WIRE_STATE_DONE, FALSE);
  ck_assert_str_eq (nothing, "");
}

TEST (an_item_is_followed_before_it_runs_and_to_an_end_without_output)
{
  IrisWireMessage item;
  fill_script (&item, "echo never");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 3600000);
  guint64 delayed = persistent_submit (client, &item);
  guint64 id = follow (client, delayed, 0, 65536);
  g_autoptr (Client) other = client_hello (irisd->front);
  IrisWireMessage cancel;
  client_init_message (other, &cancel, IRIS_WIRE_CANCEL);
  iris_wire_message_set_uint (&cancel, IRIS_WIRE_KEY_ITEM, delayed);
  client_send (other, &cancel);
  client_receive_type (other, IRIS_WIRE_CANCELLING);
  g_autofree char *nothing = take_all (client, id, IRIS_WIRE_STATE_CANCELLED, FALSE);
  ck_assert_str_eq (nothing, "");

  guint64 echo = persistent_submit_echo (client, "no command", IRIS_WIRE_CLASS_DURABLE, TRUE);
  assert_all (other, echo, "");
}

/* A gateway sends many at once, and others have their turn. */
TEST (many_followers_each_get_all_of_much_output)
{
  guint n = TIMES (200);
  guint64 item = submit_script ("seq 1 20000", NULL);
  g_autofree char *wanted = NULL;
  ck_assert (g_spawn_command_line_sync ("seq 1 20000", &wanted, NULL, NULL, NULL));
  g_autoptr (GHashTable) texts = g_hash_table_new (NULL, NULL);
  guint64 first = 0;
  for (guint i = 0; i < n; i++)
    {
      guint64 id = follow (client, item, 0, 5000);
      first = i == 0 ? id : first;
      g_hash_table_insert (texts, GSIZE_TO_POINTER (id), g_string_new (NULL));
    }
  for (guint n_ended = 0; n_ended < n;)
    {
      const IrisWireMessage *message = client_receive (client);
      guint64 id = message_get_id (message);
      GString *text = g_hash_table_lookup (texts, GSIZE_TO_POINTER (id));
      ck_assert_ptr_nonnull (text);
      if (message->type == IRIS_WIRE_OUTPUT)
        {
          take_output (text, message);
          client_grant (client, id, message->body.size);
          continue;
        }
      ck_assert_str_eq (iris_wire_type_name (message->type), "FOLLOWED");
      ck_assert_str_eq (text->str, wanted);
      g_string_free (text, TRUE);
      n_ended++;
    }
}

TEST (a_follower_leaves_and_the_command_goes_on)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 item = submit_script ("echo one; cat GATE; echo two", gate);
  Client *gone = client_hello (irisd->front);
  follow (gone, item, 0, 65536);
  assert_follows (gone, "one\n");
  client_free (gone);
  guint64 id = follow (client, item, 0, 65536);
  assert_follows (client, "one\n");
  client_grant (client, id, 0);
  const IrisWireMessage *followed = client_receive_type (client, IRIS_WIRE_FOLLOWED);
  ck_assert (!iris_wire_message_has (followed, IRIS_WIRE_KEY_STATE));
  gate_open (gate);
  assert_all (client, item, "one\ntwo\n");
}

TEST (a_retry_begins_anew)
{
  g_autofree char *mark = g_strdup_printf ("%s.mark", home->base);
  IrisWireMessage item;
  g_autofree char *script = g_strdup_printf (
      "if test -e %s; then echo second; else : >%s; echo first attempt; exit 1; fi", mark, mark);
  fill_script (&item, script);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, 1);
  guint64 number = persistent_submit (client, &item);
  persistent_fetch (client, number, GIVE_UP_MS);
  assert_all (client, number, "second\n");
}

TEST (what_cannot_be_followed_is_refused)
{
  guint64 item = submit_script ("echo x", NULL);
  persistent_ask (client, IRIS_WIRE_FOLLOW, 999999);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  follow (client, item, 0, G_MAXUINT64);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_TOO_LARGE);

  IrisWireMessage bad;
  persistent_fill (client, &bad, "echo", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&bad, IRIS_WIRE_KEY_KEEP_OUTPUT, 1);
  client_send (client, &bad);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);

  /* An id that is in use. */
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 running = submit_script ("cat GATE", gate);
  guint64 id = follow (client, running, 0, 65536);
  IrisWireMessage again;
  client_init_message (client, &again, IRIS_WIRE_FOLLOW);
  message_set_id (&again, id);
  iris_wire_message_set_uint (&again, IRIS_WIRE_KEY_ITEM, running);
  client_send (client, &again);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  client_grant (client, id, G_MAXUINT64);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_TOO_LARGE);
  gate_open (gate);
  g_autofree char *text = take_all (client, id, IRIS_WIRE_STATE_DONE, FALSE);
  ck_assert_str_eq (text, "");

  Irisd *without = irisd_start (NULL, TWO_PLACES, NULL);
  g_autoptr (Client) other = client_hello (without->front);
  persistent_ask (other, IRIS_WIRE_FOLLOW, 1);
  assert_error (client_receive (other), IRIS_WIRE_ERROR_NOT_DURABLE);
  irisd_finish (without);
}

TEST_MAIN ("irisd-follow", set_up, tear_down)
