/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that survive: what irisd promises about durable and relaxed ones, and keeps.
 */
#include "irisd-fixture.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory for the sockets and one for the journal, which outlive an irisd. */
typedef struct
{
  char *base;
  char *dir;
  char *journal;
  char *option;
} Home;

static Home *
home_new (void)
{
  Home *self = g_new0 (Home, 1);
  self->base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  ck_assert_ptr_nonnull (self->base);
  self->dir = g_build_filename (self->base, "d", NULL);
  self->journal = g_build_filename (self->base, "j", NULL);
  self->option = g_strconcat ("--journal=", self->journal, NULL);
  return self;
}

static Irisd *
home_start (Home *self, const char *config)
{
  const char *const options[] = { TWO_PLACES, self->option, NULL };
  return irisd_start_in (self->dir, config, options);
}

/* Ends an irisd as a crash would; its directories stay. */
static void
kill_hard (Irisd *irisd)
{
  irisd_signal (irisd, SIGKILL);
  ck_assert_int_eq (irisd_wait (irisd), -SIGKILL);
  irisd_release (irisd);
}

static void
stop (Irisd *irisd)
{
  irisd_signal (irisd, SIGTERM);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_release (irisd);
}

static void
home_free (Home *self)
{
  irisd_remove_all (self->base);
  g_free (self->base);
  g_free (self->dir);
  g_free (self->journal);
  g_free (self->option);
  g_free (self);
}

static void
fill (Client *client, IrisWireMessage *item, const char *service, const char *payload, guint klass)
{
  client_init_message (client, item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_uint (item, IRIS_WIRE_KEY_CLASS, klass);
  iris_wire_message_set_body (item, payload, strlen (payload));
}

/* Submits and waits until it is accepted. Returns its number. */
static guint64
submit (Client *client, IrisWireMessage *item)
{
  client_send (client, item);
  const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
  ck_assert (iris_wire_message_has (accepted, IRIS_WIRE_KEY_ITEM));
  return accepted->item;
}

static guint64
submit_echo (Client *client, const char *payload, guint klass, gboolean detach)
{
  IrisWireMessage item;
  fill (client, &item, "echo", payload, klass);
  if (detach)
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  return submit (client, &item);
}

/* Lets everybody through who waits at the gate, or comes to it later: also what an irisd that was
 * killed has left running. The descriptor stays open, or the bytes would be gone. */
static void
open_wide (const char *gate)
{
  char bytes[64];
  int fd = open (gate, O_RDWR | O_CLOEXEC);
  ck_assert_int_ge (fd, 0);
  memset (bytes, 'x', sizeof bytes);
  ck_assert_int_eq (write (fd, bytes, sizeof bytes), sizeof bytes);
}

/* A durable item that holds the only worker of a place until its gate is opened; gives an x. */
static guint64
submit_occupier (Client *client, const char *gate, gint place)
{
  const char *const args[] = { "head", "-c", "1", gate, NULL };
  IrisWireMessage item;
  fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (&item, args);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, place);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  return submit (client, &item);
}

static const IrisWireMessage *
fetch (Client *client, guint64 item, guint64 wait_ms)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_FETCH);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, wait_ms);
  client_send (client, &request);
  return client_receive (client);
}

static void
assert_result (Client *client, guint64 item, const char *text)
{
  const IrisWireMessage *result = fetch (client, item, GIVE_UP_MS);
  ck_assert_str_eq (iris_wire_type_name (result->type), "RESULT");
  ck_assert (message_body_is (result, text));
  ck_assert_uint_eq (result->item, item);
}

static IrisWireKept *
list (Client *client, guint64 after, guint count)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_LIST);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, after);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_COUNT, count);
  client_send (client, &request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_LIST_REPLY);
  IrisWireKept *kept = iris_wire_kept_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (kept);
  return kept;
}

static guint
count_kept (Client *client)
{
  g_autoptr (IrisWireKept) kept = list (client, 0, 0);
  return kept->n_items;
}

static guint32
show_state (Client *client, guint64 item, guint64 wait_ms)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_SHOW);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, wait_ms);
  client_send (client, &request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_SHOW_REPLY);
  g_autoptr (IrisWireKept) kept = iris_wire_kept_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (kept);
  ck_assert_uint_eq (kept->n_items, 1);
  ck_assert_uint_eq (kept->items[0].item, item);
  return kept->items[0].state;
}

START_TEST (an_acknowledged_end_is_let_go_and_an_unacknowledged_one_is_kept)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 first = submit_echo (client, "one", IRIS_WIRE_CLASS_DURABLE, FALSE);
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (result->item, first);
  ck_assert (message_body_is (result, "one"));
  guint64 second = submit_echo (client, "two", IRIS_WIRE_CLASS_DURABLE, FALSE);
  ck_assert_uint_gt (second, first);
  client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (count_kept (client), 2);
  client_ack (client, 1);
  g_autoptr (IrisWireKept) kept = list (client, 0, 0);
  ck_assert_uint_eq (kept->n_items, 1);
  ck_assert_uint_eq (kept->items[0].item, second);
  ck_assert_uint_eq (kept->items[0].state, IRIS_WIRE_STATE_DONE);
  ck_assert_str_eq (kept->items[0].service, "echo");
  assert_error (fetch (client, first, 0), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  stop (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) other = client_hello (irisd->front);
  assert_result (other, second, "two");
  client_ack (other, 1);
  ck_assert_uint_eq (count_kept (other), 0);
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (what_was_accepted_survives_kill_9_and_runs)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 running = submit_occupier (client, gate, 0);
  guint64 other = submit_occupier (client, gate, 1);
  guint64 queued[20];
  for (guint i = 0; i < G_N_ELEMENTS (queued); i++)
    {
      g_autofree char *text = g_strdup_printf ("item %u", i);
      queued[i] = submit_echo (client, text, IRIS_WIRE_CLASS_DURABLE, TRUE);
    }
  kill_hard (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  ck_assert_uint_eq (count_kept (again), 2 + G_N_ELEMENTS (queued));
  const IrisWireMessage *pending = fetch (again, running, 0);
  ck_assert_str_eq (iris_wire_type_name (pending->type), "PENDING");
  open_wide (gate);
  for (guint i = 0; i < G_N_ELEMENTS (queued); i++)
    {
      g_autofree char *text = g_strdup_printf ("item %u", i);
      assert_result (again, queued[i], text);
    }
  assert_result (again, running, "x");
  assert_result (again, other, "x");
  client_ack (again, 2 + G_N_ELEMENTS (queued));
  ck_assert_uint_eq (count_kept (again), 0);
  guint64 next = submit_echo (again, "new", IRIS_WIRE_CLASS_DURABLE, FALSE);
  ck_assert_uint_gt (next, queued[19]);
  client_receive_ending (again);
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (a_second_item_with_the_same_key_is_the_first_one)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *file = g_build_filename (home->base, "ran", NULL);
  g_autofree char *script = g_strdup_printf ("echo x >> %s; cat %s", file, file);
  const char *const args[] = { "sh", "-c", script, NULL };
  guint64 first = 0;
  for (guint round = 0; round < 4; round++)
    {
      g_autoptr (Client) client = client_hello (irisd->front);
      IrisWireMessage item;
      fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_args (&item, args);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "order-7", -1);
      guint64 number = submit (client, &item);
      if (round == 0)
        first = number;
      ck_assert_uint_eq (number, first);
      const IrisWireMessage *result = client_receive_ending (client);
      ck_assert (message_body_is (result, "x\n"));
      ck_assert_uint_eq (result->item, first);
      client_ack (client, 1);
      if (round == 1)
        {
          kill_hard (irisd);
          irisd = home_start (home, NULL);
        }
    }
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (an_item_goes_on_when_its_connection_has_gone)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  const char *const args[] = { "cat", gate, NULL };
  Client *client = client_hello (irisd->front);
  IrisWireMessage item;
  fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (&item, args);
  guint64 number = submit (client, &item);
  client_init_message (client, &item, IRIS_WIRE_BYE);
  client_send (client, &item);
  client_free (client);

  g_autoptr (Client) other = client_hello (irisd->front);
  IrisWireMessage request;
  client_init_message (other, &request, IRIS_WIRE_FETCH);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, number);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, GIVE_UP_MS);
  client_send (other, &request);
  gate_open (gate);
  ck_assert_uint_eq (client_receive_ending (other)->item, number);
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (a_relaxed_item_is_on_the_disk_soon)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 occupiers[] = { submit_occupier (client, gate, 0), submit_occupier (client, gate, 1) };
  guint64 relaxed = submit_echo (client, "relaxed", IRIS_WIRE_CLASS_RELAXED, TRUE);
  /* A durable one that is accepted later takes it along. */
  guint64 durable = submit_echo (client, "durable", IRIS_WIRE_CLASS_DURABLE, TRUE);
  kill_hard (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  open_wide (gate);
  assert_result (again, relaxed, "relaxed");
  assert_result (again, durable, "durable");
  for (guint i = 0; i < G_N_ELEMENTS (occupiers); i++)
    assert_result (again, occupiers[i], "x");
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (without_a_journal_nothing_is_kept_and_nothing_pretended)
{
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  IrisWireMessage item;
  fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_DURABLE);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_DURABLE);
  assert_error (fetch (client, 1, 0), IRIS_WIRE_ERROR_NOT_DURABLE);
  fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, "k", -1);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  irisd_finish (irisd);
}
END_TEST

START_TEST (a_second_irisd_on_the_journal_is_refused)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *dir = g_build_filename (home->base, "d2", NULL);
  const char *const options[] = { ONE_WORKER, home->option, NULL };
  g_autoptr (GSubprocess) second = irisd_spawn (dir, NULL, options, -1);
  ck_assert (g_subprocess_wait (second, NULL, NULL));
  ck_assert (g_subprocess_get_if_exited (second));
  ck_assert_int_eq (g_subprocess_get_exit_status (second), 3);
  g_autofree char *log = NULL;
  g_autofree char *log_path = g_strconcat (dir, ".log", NULL);
  ck_assert (g_file_get_contents (log_path, &log, NULL, NULL));
  ck_assert_ptr_nonnull (strstr (log, "another irisd"));
  ck_assert_ptr_nonnull (strstr (log, "--journal"));
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (a_cancelled_item_stays_cancelled)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) client = client_hello (irisd->front);
  submit_occupier (client, gate, 0);
  submit_occupier (client, gate, 1);
  IrisWireMessage item;
  fill (client, &item, "echo", "never", IRIS_WIRE_CLASS_DURABLE);
  guint64 id = message_get_id (&item);
  guint64 number = submit (client, &item);
  client_cancel (client, id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  open_wide (gate);
  const IrisWireMessage *ending = client_receive_ending (client);
  assert_error (ending, IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_uint_eq (ending->item, number);
  kill_hard (irisd);

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  ck_assert_uint_eq (show_state (again, number, 0), IRIS_WIRE_STATE_CANCELLED);
  assert_error (fetch (again, number, 0), IRIS_WIRE_ERROR_CANCELLED);
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (the_numbers_of_a_batch_follow_each_other)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  g_auto (IrisWireBatchBuilder) builder;
  iris_wire_batch_builder_init (&builder, NULL);
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);
      IrisWireMessage item;
      fill (client, &item, i == 4 ? "ecko" : "echo", text, IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      ck_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
    }
  IrisWireMessage batch;
  client_init_message (client, &batch, IRIS_WIRE_BATCH);
  batch.body = iris_wire_batch_builder_get_body (&builder);
  client_send (client, &batch);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_UNKNOWN_SERVICE);
  const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
  ck_assert_uint_eq (accepted->count, 9);
  guint64 first = accepted->item;
  for (guint i = 0; i < 9; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i < 4 ? i : i + 1);
      assert_result (client, first + i, text);
    }
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (an_end_expires)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  IrisWireMessage item;
  fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_MS, 0);
  guint64 number = submit (client, &item);
  client_receive_ending (client);
  assert_error (fetch (client, number, 0), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_MS, G_MAXUINT64);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  stop (irisd);
  home_free (home);
}
END_TEST

START_TEST (kept_items_are_listed_in_pages)
{
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  for (guint i = 0; i < 25; i++)
    show_state (client, submit_echo (client, "x", IRIS_WIRE_CLASS_RELAXED, TRUE), GIVE_UP_MS);
  guint64 after = 0;
  guint n = 0;
  for (;;)
    {
      g_autoptr (IrisWireKept) page = list (client, after, 10);
      if (page->n_items == 0)
        break;
      for (guint i = 0; i < page->n_items; i++)
        {
          ck_assert_uint_gt (page->items[i].item, after);
          ck_assert_uint_eq (page->items[i].state, IRIS_WIRE_STATE_DONE);
          after = page->items[i].item;
        }
      n += page->n_items;
    }
  ck_assert_uint_eq (n, 25);
  stop (irisd);
  home_free (home);
}
END_TEST

/* Turns one bit over in the file, at the first place where `text` stands. */
static gboolean
flip_bit (const char *path, const char *text)
{
  g_autofree char *data = NULL;
  gsize size = 0;
  if (!g_file_get_contents (path, &data, &size, NULL))
    return FALSE;
  char *at = memmem (data, size, text, strlen (text));
  if (at == NULL)
    return FALSE;
  *at ^= 4;
  ck_assert (g_file_set_contents (path, data, (gssize) size, NULL));
  return TRUE;
}

/* In the database after an ordinary end, in its log after a crash. */
START_TEST (a_flipped_bit_costs_one_item_and_is_reported)
{
  gboolean crash = _i == 1;
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 numbers[30];
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autofree char *text = g_strdup_printf ("the payload %02u of many", i);
      numbers[i] = submit_echo (client, text, IRIS_WIRE_CLASS_DURABLE, TRUE);
      ck_assert_uint_eq (show_state (client, numbers[i], GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
    }
  g_autofree char *name = g_strconcat (home->journal, "/items.sqlite", crash ? "-wal" : "", NULL);
  if (crash)
    kill_hard (irisd);
  else
    stop (irisd);
  ck_assert (flip_bit (name, "the payload 07 of many"));

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  guint lost = 0;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autofree char *text = g_strdup_printf ("the payload %02u of many", i);
      const IrisWireMessage *reply = fetch (again, numbers[i], GIVE_UP_MS);
      if (reply->type == IRIS_WIRE_RESULT)
        ck_assert (message_body_is (reply, text));
      else
        {
          assert_error (reply, IRIS_WIRE_ERROR_NO_SUCH_ITEM);
          lost++;
        }
    }
  /* A page of the log may be there again further on, whole. */
  ck_assert_uint_le (lost, 1);
  ck_assert (crash || lost == 1);
  g_autofree char *log = irisd_read_log (irisd);
  ck_assert_ptr_nonnull (strstr (log, "damaged"));
  stop (irisd);
  home_free (home);
}
END_TEST

/* A small file system for the journal, which only this test and its irisd see; FALSE if this user
 * may not mount one. */
static gboolean
mount_small (Home *home)
{
  ck_assert_int_eq (g_mkdir (home->journal, 0700), 0);
  return unshare (CLONE_NEWNS) == 0 && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
         && mount ("irisd-test", home->journal, "tmpfs", 0, "size=4m,mode=0700") == 0;
}

/* Takes all the room that there is, but for what is given back with the file. */
static char *
fill_up (Home *home)
{
  char *path = g_build_filename (home->journal, "ballast", NULL);
  static const char block[4096];
  int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ck_assert_int_ge (fd, 0);
  while (write (fd, block, sizeof block) > 0)
    ;
  close (fd);
  return path;
}

START_TEST (a_full_disk_lets_items_end_also_after_a_restart)
{
  static const char config[] = "[journal]\nreserve = 512K\n";
  Home *home = home_new ();
  if (!mount_small (home))
    {
      fprintf (stderr, "# SKIP no file system can be mounted here\n");
      home_free (home);
      return;
    }
  Irisd *irisd = home_start (home, config);
  g_autofree char *first_gate = gate_new (irisd, "first");
  g_autofree char *gate = gate_new (irisd, "second");
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 occupiers[] = { submit_occupier (client, first_gate, 0),
                          submit_occupier (client, gate, 1) };
  guint64 queued = submit_echo (client, "queued", IRIS_WIRE_CLASS_DURABLE, TRUE);
  g_autofree char *ballast = fill_up (home);

  /* One small item may still find room in the last block. */
  IrisWireMessage item;
  const IrisWireMessage *reply;
  do
    {
      fill (client, &item, "echo", "more", IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      client_send (client, &item);
      reply = client_receive (client);
    }
  while (reply->type == IRIS_WIRE_ACCEPTED);
  assert_error (reply, IRIS_WIRE_ERROR_JOURNAL_FAILED);
  open_wide (first_gate);
  assert_result (client, occupiers[0], "x");
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_str_eq (status->journal, "full");
  ck_assert (!status->ready);
  kill_hard (irisd);

  irisd = home_start (home, config);
  g_autoptr (Client) again = client_hello (irisd->front);
  open_wide (gate);
  assert_result (again, occupiers[1], "x");
  assert_result (again, queued, "queued");
  ck_assert_int_eq (g_unlink (ballast), 0);
  do
    {
      fill (again, &item, "echo", "room", IRIS_WIRE_CLASS_DURABLE);
      client_send (again, &item);
      reply = client_receive (again);
    }
  while (reply->type == IRIS_WIRE_ERROR_REPLY && reply->code == IRIS_WIRE_ERROR_JOURNAL_FAILED);
  ck_assert_str_eq (iris_wire_type_name (reply->type), "ACCEPTED");
  client_receive_type (again, IRIS_WIRE_RESULT);
  stop (irisd);
  ck_assert_int_eq (umount2 (home->journal, MNT_DETACH), 0);
  home_free (home);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-durable");
  TCase *tcase = tcase_create ("durable");
  tcase_set_timeout (tcase, 0);
  tcase_add_test (tcase, an_acknowledged_end_is_let_go_and_an_unacknowledged_one_is_kept);
  tcase_add_test (tcase, what_was_accepted_survives_kill_9_and_runs);
  tcase_add_test (tcase, a_second_item_with_the_same_key_is_the_first_one);
  tcase_add_test (tcase, an_item_goes_on_when_its_connection_has_gone);
  tcase_add_test (tcase, a_relaxed_item_is_on_the_disk_soon);
  tcase_add_test (tcase, without_a_journal_nothing_is_kept_and_nothing_pretended);
  tcase_add_test (tcase, a_second_irisd_on_the_journal_is_refused);
  tcase_add_test (tcase, a_cancelled_item_stays_cancelled);
  tcase_add_test (tcase, the_numbers_of_a_batch_follow_each_other);
  tcase_add_test (tcase, an_end_expires);
  tcase_add_test (tcase, kept_items_are_listed_in_pages);
  tcase_add_test (tcase, a_full_disk_lets_items_end_also_after_a_restart);
  tcase_add_loop_test (tcase, a_flipped_bit_costs_one_item_and_is_reported, 0, 2);
  suite_add_tcase (suite, tcase);
  return run_suite (suite);
}
