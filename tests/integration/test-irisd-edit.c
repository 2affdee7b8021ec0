/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that are edited while they wait, and items that are submitted again.
 */
#include "irisd-home.h"

#include <unistd.h>

#define HOUR_MS G_GUINT64_CONSTANT (3600000)

static Home *home;
static Irisd *irisd;
static Client *client;
#define IN_MEMORY "[limits]\nwindow-us = 0\n"
#define SPILLED   "[limits]\nmemory-items = 0\nread-ahead-ms = 0\n"

static const char *config = IN_MEMORY;

static void
begin (void)
{
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
}

static void
end (gboolean kill)
{
  client_free (client);
  if (kill)
    irisd_kill (irisd);
  else
    irisd_stop (irisd);
}

static void
set_up (void)
{
  config = IN_MEMORY;
  home = home_new ();
  begin ();
}

static void
tear_down (void)
{
  end (FALSE);
  home_free (home);
}

static void
spill (void)
{
  end (FALSE);
  config = SPILLED;
  begin ();
}

/* A command that says @word. The item refers to its arguments, which last until the next call. */
static void
fill_command (IrisWireMessage *item, const char *word)
{
  static const char *args[] = { "echo", NULL, NULL };
  args[1] = word;
  persistent_fill (client, item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (item, args);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_DETACH, TRUE);
}

static guint64
submit_command (const char *word, guint64 delay_ms)
{
  IrisWireMessage item;
  fill_command (&item, word);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, delay_ms);
  return persistent_submit (client, &item);
}

static IrisWireMessage
edit_of (guint64 item)
{
  IrisWireMessage edit;
  client_init_message (client, &edit, IRIS_WIRE_EDIT);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_ITEM, item);
  return edit;
}

static void
assert_changed (const IrisWireMessage *request)
{
  client_send (client, request);
  const IrisWireMessage *reply = client_receive (client);
  g_autofree char *text = iris_wire_message_to_string (reply);
  ck_assert_msg (reply->type == IRIS_WIRE_CHANGED, "wanted CHANGED, got %s", text);
  ck_assert_uint_eq (reply->count, 1);
}

/* The refusal says @why. */
static void
assert_refused (const IrisWireMessage *request, IrisWireError code, const char *why)
{
  client_send (client, request);
  const IrisWireMessage *reply = client_receive (client);
  assert_error (reply, code);
  g_autofree char *text = iris_wire_string_dup (&reply->message);
  ck_assert_msg (strstr (text, why) != NULL, "“%s” is not in “%s”", why, text);
}

static void
edit_word (guint64 item, const char *word)
{
  IrisWireMessage edit = edit_of (item);
  iris_wire_message_set_args (&edit, (const char *const[]){ "echo", word, NULL });
  assert_changed (&edit);
}

static void
assert_edit_refused (guint64 item, IrisWireError code, const char *why)
{
  IrisWireMessage edit = edit_of (item);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_PRIORITY, 1);
  assert_refused (&edit, code, why);
}

static void
kick (guint64 item)
{
  persistent_ask (client, IRIS_WIRE_KICK, item);
  client_receive_type (client, IRIS_WIRE_CHANGED);
}

static void
change (IrisWireType type, guint64 item)
{
  persistent_ask (client, type, item);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
}

static guint64
again (guint64 item)
{
  persistent_ask (client, IRIS_WIRE_AGAIN, item);
  const IrisWireMessage *reply = client_receive (client);
  g_autofree char *text = iris_wire_message_to_string (reply);
  ck_assert_msg (reply->type == IRIS_WIRE_ACCEPTED, "wanted ACCEPTED, got %s", text);
  ck_assert_uint_ne (reply->item, item);
  return reply->item;
}

static void
assert_again_refused (guint64 item, IrisWireError code, const char *why)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_AGAIN);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  assert_refused (&request, code, why);
}

/* --- EDIT ----------------------------------------------------------------------------------------
 */

TEST (a_delayed_item_gets_a_new_command_and_runs_now)
{
  guint64 item = submit_command ("old", HOUR_MS);
  edit_word (item, "new");
  ck_assert_uint_eq (persistent_get_state (client, item, 0), IRIS_WIRE_STATE_DELAYED);
  IrisWireMessage edit = edit_of (item);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_DELAY_MS, 0);
  assert_changed (&edit);
  persistent_assert_result (client, item, "new\n");
}

TEST (a_suspended_item_stays_suspended)
{
  guint64 item = submit_command ("old", HOUR_MS);
  change (IRIS_WIRE_SUSPEND, item);
  edit_word (item, "new");
  IrisWireMessage edit = edit_of (item);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_AT_MS, 1);
  assert_changed (&edit);
  ck_assert_uint_eq (persistent_get_state (client, item, 0), IRIS_WIRE_STATE_SUSPENDED);
  change (IRIS_WIRE_RESUME, item);
  persistent_assert_result (client, item, "new\n");
}

/* The commands of place 0 wait for its only worker; the edited one is for place 1. */
TEST (a_queued_item_goes_to_another_place_and_its_client_gets_the_end)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 occupier = persistent_submit_occupier (client, gate, 0);
  Client *waiter = client_hello (irisd->front);
  IrisWireMessage item, second;
  persistent_fill (waiter, &item, "echo", "text", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  /* The first is with the scheduler already. */
  persistent_submit (waiter, &item);
  client_init_message (waiter, &second, IRIS_WIRE_SUBMIT);
  memcpy (item.request_id, second.request_id, IRIS_WIRE_ID_SIZE);
  guint64 number = persistent_submit (waiter, &item);
  IrisWireMessage edit = edit_of (number);
  iris_wire_message_set_string (&edit, IRIS_WIRE_KEY_HINT_NAME, "place:7", -1);
  assert_refused (&edit, IRIS_WIRE_ERROR_NO_SUCH_PLACE, "there is no place");
  edit = edit_of (number);
  iris_wire_message_set_int (&edit, IRIS_WIRE_KEY_HINT, 1);
  assert_changed (&edit);
  const IrisWireMessage *result = client_receive_type (waiter, IRIS_WIRE_RESULT);
  ck_assert (message_body_is (result, "text"));
  ck_assert_int_eq (result->place, 1);
  client_free (waiter);
  gate_open (gate);
  persistent_assert_result (client, occupier, "");
}

static void
check_restart (gboolean kill)
{
  guint64 item = submit_command ("old", HOUR_MS), soon = submit_command ("soon", HOUR_MS);
  edit_word (item, "new");
  IrisWireMessage edit = edit_of (soon);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_DELAY_MS, 1);
  iris_wire_message_set_args (&edit, (const char *const[]){ "echo", "later", NULL });
  change (IRIS_WIRE_SUSPEND, soon);
  assert_changed (&edit);
  end (kill);
  begin ();
  while (persistent_get_state (client, item, 0) != IRIS_WIRE_STATE_DELAYED)
    ; /* its gateway takes it from the journal */
  ck_assert_uint_eq (persistent_get_state (client, soon, 0), IRIS_WIRE_STATE_SUSPENDED);
  change (IRIS_WIRE_RESUME, soon);
  persistent_assert_result (client, soon, "later\n");
  kick (item);
  persistent_assert_result (client, item, "new\n");
}

TEST (an_edit_outlives_a_stop) { check_restart (FALSE); }

TEST (an_edit_outlives_a_crash) { check_restart (TRUE); }

TEST (a_spilled_item_is_edited)
{
  spill ();
  guint64 item = submit_command ("old", HOUR_MS);
  edit_word (item, "new");
  edit_word (item, "newer");
  ck_assert_uint_eq (persistent_get_state (client, item, 0), IRIS_WIRE_STATE_DELAYED);
  end (TRUE);
  begin ();
  edit_word (item, "newest");
  kick (item);
  persistent_assert_result (client, item, "newest\n");
}

TEST (an_item_for_worker_processes_is_edited)
{
  IrisWireMessage item, edit;
  Client *worker = client_hello (irisd->front);
  persistent_fill (client, &item, "paint", "payload", IRIS_WIRE_CLASS_RELAXED);
  iris_wire_message_set_args (&item, (const char *const[]){ "red", NULL });
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_WAIT_FOR_SERVICE, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  edit = edit_of (number);
  iris_wire_message_set_args (&edit, (const char *const[]){ "blue", "green", NULL });
  assert_changed (&edit);
  client_enroll (worker, "paint", 1);
  const IrisWireMessage *lease = client_receive_type (worker, IRIS_WIRE_LEASE);
  g_auto (GStrv) args = iris_wire_args_dup (&lease->args);
  ck_assert_str_eq (args[0], "blue");
  ck_assert_uint_eq (g_strv_length (args), 2);
  ck_assert (message_body_is (lease, "payload"));
  assert_edit_refused (number, IRIS_WIRE_ERROR_BAD_ARGUMENT, "is running");
  client_free (worker);
}

/* It counts from the edit, not from the acceptance. An item that waits longer than that stays in
 * memory. */
LOOP_TEST (a_deadline_is_edited, 0, 2)
{
  if (_i == 1)
    spill ();
  guint64 item = submit_command ("late", HOUR_MS);
  IrisWireMessage edit = edit_of (item);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_DEADLINE_MS, 1);
  assert_changed (&edit);
  assert_error (persistent_fetch (client, item, GIVE_UP_MS), IRIS_WIRE_ERROR_DEADLINE_PASSED);
  guint64 other = submit_command ("in time", HOUR_MS);
  edit = edit_of (other);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_DEADLINE_MS, HOUR_MS);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_DELAY_MS, 0);
  assert_changed (&edit);
  persistent_assert_result (client, other, "in time\n");
}

/* Its time comes later, also in the next life of irisd. */
TEST (the_deadline_of_what_could_be_spilled_passes)
{
  IrisWireMessage item;
  spill ();
  fill_command (&item, "late");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DEADLINE_MS, 200);
  guint64 first = persistent_submit (client, &item);
  assert_error (persistent_fetch (client, first, GIVE_UP_MS), IRIS_WIRE_ERROR_DEADLINE_PASSED);
  guint64 second = persistent_submit (client, &item);
  end (TRUE);
  begin ();
  assert_error (persistent_fetch (client, second, GIVE_UP_MS), IRIS_WIRE_ERROR_DEADLINE_PASSED);
}

TEST (what_cannot_be_edited_is_refused_with_the_reason)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 running = persistent_submit_occupier (client, gate, 0);
  assert_edit_refused (running, IRIS_WIRE_ERROR_BAD_ARGUMENT, "is running");
  gate_open (gate);
  persistent_assert_result (client, running, "");
  assert_edit_refused (running, IRIS_WIRE_ERROR_BAD_ARGUMENT, "is done");
  assert_edit_refused (running + 1000, IRIS_WIRE_ERROR_NO_SUCH_ITEM, "there is no persistent item");

  guint64 buried = submit_command ("x", HOUR_MS);
  change (IRIS_WIRE_BURY, buried);
  assert_edit_refused (buried, IRIS_WIRE_ERROR_BAD_ARGUMENT, "is buried");

  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  assert_edit_refused (persistent_submit (client, &item), IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "is volatile");
}

/* The item is as it was after each. */
TEST (an_edit_that_does_not_fit_changes_nothing)
{
  guint64 item = submit_command ("same", HOUR_MS);
  IrisWireMessage edit = edit_of (item);
  iris_wire_message_set_args (&edit, (const char *const[]){ NULL });
  assert_refused (&edit, IRIS_WIRE_ERROR_BAD_ARGUMENT, "");
  edit = edit_of (item);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_BACKOFF_MS, 5);
  assert_refused (&edit, IRIS_WIRE_ERROR_BAD_ARGUMENT, "retries");
  edit = edit_of (item);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_KEEP_MS, G_MAXUINT64);
  assert_refused (&edit, IRIS_WIRE_ERROR_BAD_ARGUMENT, "max-keep-ms");
  edit = edit_of (item);
  iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_DELAY_MS, G_MAXUINT64);
  assert_refused (&edit, IRIS_WIRE_ERROR_TOO_LARGE, "max-delay-ms");
  ck_assert_uint_eq (persistent_get_state (client, item, 0), IRIS_WIRE_STATE_DELAYED);
  kick (item);
  persistent_assert_result (client, item, "same\n");
}

/* Of requests that are on their way together one after the other counts, or is told to ask again.
 */
TEST (many_edits_and_suspensions_at_once)
{
  enum
  {
    N = 60
  };
  guint64 item = submit_command ("old", HOUR_MS);
  for (guint i = 0; i < N; i++)
    {
      IrisWireMessage edit = edit_of (item);
      iris_wire_message_set_uint (&edit, IRIS_WIRE_KEY_PRIORITY, i % 10);
      client_send (client, &edit);
      persistent_ask (client, i % 2 == 0 ? IRIS_WIRE_SUSPEND : IRIS_WIRE_RESUME, item);
    }
  guint changed = 0;
  for (guint i = 0; i < 2 * N; i++)
    {
      const IrisWireMessage *reply = client_receive (client);
      if (reply->type == IRIS_WIRE_CHANGED)
        changed++;
      else
        assert_error (reply, IRIS_WIRE_ERROR_BAD_ARGUMENT);
    }
  ck_assert_uint_gt (changed, 0);
  persistent_ask (client, IRIS_WIRE_RESUME, item);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  edit_word (item, "end");
  kick (item);
  persistent_assert_result (client, item, "end\n");
}

/* --- AGAIN ---------------------------------------------------------------------------------------
 */

static void
check_again (void (*between) (void))
{
  guint64 item = submit_command ("twice", 0);
  persistent_assert_result (client, item, "twice\n");
  if (between != NULL)
    between ();
  guint64 second = again (item);
  persistent_assert_result (client, second, "twice\n");
  persistent_assert_result (client, again (second), "twice\n");
  persistent_assert_result (client, item, "twice\n");
}

static void
crash (void)
{
  end (TRUE);
  begin ();
}

TEST (an_ended_item_is_submitted_again) { check_again (NULL); }

TEST (an_ended_item_is_submitted_again_after_a_crash) { check_again (crash); }

TEST (items_in_any_state_are_submitted_again)
{
  guint64 delayed = submit_command ("delayed", HOUR_MS),
          buried = submit_command ("buried", HOUR_MS);
  change (IRIS_WIRE_BURY, buried);
  ck_assert_uint_eq (persistent_get_state (client, again (delayed), 0), IRIS_WIRE_STATE_DELAYED);
  guint64 second = again (buried);
  ck_assert_uint_eq (persistent_get_state (client, second, 0), IRIS_WIRE_STATE_DELAYED);
  persistent_ask (client, IRIS_WIRE_CANCEL, second);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (persistent_fetch (client, second, GIVE_UP_MS), IRIS_WIRE_ERROR_CANCELLED);
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_AGAIN);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, second);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_DELAY_MS, 0);
  client_send (client, &request);
  guint64 third = client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
  persistent_assert_result (client, third, "buried\n");
}

/* The key of the first is not the second's, which may have one of its own. */
TEST (an_item_with_a_key_is_submitted_again)
{
  IrisWireMessage item, request;
  fill_command (&item, "keyed");
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "k", -1);
  guint64 first = persistent_submit (client, &item);
  persistent_assert_result (client, first, "keyed\n");
  guint64 second = again (first), third = 0;
  persistent_assert_result (client, second, "keyed\n");
  for (guint i = 0; i < 2; i++)
    {
      client_init_message (client, &request, IRIS_WIRE_AGAIN);
      iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, first);
      iris_wire_message_set_string (&request, IRIS_WIRE_KEY_KEY, "other", -1);
      client_send (client, &request);
      const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
      ck_assert (i == 0 || accepted->item == third);
      third = accepted->item;
    }
  persistent_assert_result (client, third, "keyed\n");
}

TEST (what_cannot_be_submitted_again_is_refused_with_the_reason)
{
  guint64 forgotten = submit_command ("x", 0);
  persistent_assert_result (client, forgotten, "x\n");
  client_ack (client, 1);
  assert_again_refused (forgotten, IRIS_WIRE_ERROR_NO_SUCH_ITEM, "there is no persistent item");
  assert_again_refused (forgotten + 1000, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
                        "there is no persistent item");
  guint64 at_once = persistent_submit_echo (client, "x", IRIS_WIRE_CLASS_DURABLE, TRUE);
  persistent_assert_result (client, at_once, "x");
  IrisWireMessage item;
  persistent_fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (&item, (const char *const[]){ "echo", "waited", NULL });
  guint64 waited = persistent_submit (client, &item);
  client_receive_type (client, IRIS_WIRE_RESULT);
  assert_again_refused (waited, IRIS_WIRE_ERROR_BAD_ARGUMENT, "did not keep");
  g_autofree char *large = g_strnfill (70000, 'x');
  fill_command (&item, "large");
  iris_wire_message_set_body (&item, large, strlen (large));
  guint64 big = persistent_submit (client, &item);
  persistent_assert_result (client, big, "large\n");
  assert_again_refused (big, IRIS_WIRE_ERROR_BAD_ARGUMENT, "did not keep");
}

/* What is kept of the submissions of items that are not in the journal: "N\n"; 0 without a look
 * where there is no sqlite3. */
static char *
count_left (void)
{
  static const char *const count =
      "SELECT count(*) FROM records WHERE hex(name) NOT IN (SELECT printf('%016X', id) FROM items)";

  g_autofree char *file = g_build_filename (home->journal, "items.sqlite", NULL);
  g_autofree char *sqlite = g_find_program_in_path ("sqlite3");
  const char *const query[] = { sqlite, file, count, NULL };
  char *counted = NULL;
  if (sqlite == NULL)
    return g_strdup ("0\n");
  g_autoptr (GError) error = NULL;
  g_spawn_sync (NULL, (char **) query, NULL, G_SPAWN_DEFAULT, NULL, NULL, &counted, NULL, NULL,
                &error);
  return error == NULL ? counted : g_strdup (error->message);
}

/* What was kept goes with the item, also when that is forgotten in another life of irisd. The
 * acknowledgement just before the crash may be lost, and the first item be there again. */
TEST (a_forgotten_item_leaves_nothing)
{
  guint64 first = submit_command ("a", 0);
  persistent_assert_result (client, first, "a\n");
  client_ack (client, 1);
  assert_again_refused (first, IRIS_WIRE_ERROR_NO_SUCH_ITEM, "there is no persistent item");
  /* Its acceptance is durable, and so is what was removed before it. */
  guint64 second = submit_command ("b", 0);
  persistent_assert_result (client, second, "b\n");
  crash ();
  persistent_assert_result (client, second, "b\n");
  client_ack (client, 1);
  assert_again_refused (second, IRIS_WIRE_ERROR_NO_SUCH_ITEM, "there is no persistent item");
  end (FALSE);
  g_autofree char *counted = count_left ();
  begin ();
  ck_assert_str_eq (counted, "0\n");
}

TEST_MAIN ("irisd-edit", set_up, tear_down)
