/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Damage to a journal: flipped bits, a full disk, a second irisd.
 */
#include "irisd-home.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

TEST (a_second_irisd_on_the_journal_is_refused)
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
  irisd_stop (irisd);
  home_free (home);
}

/* Flips one bit at each place of the file where `text` stands: beside the item, the journal may
 * keep what was submitted. */
static gboolean
flip_bit (const char *path, const char *text)
{
  g_autofree char *data = NULL;
  gsize size = 0;
  if (!g_file_get_contents (path, &data, &size, NULL))
    return FALSE;
  gboolean found = FALSE;
  for (char *at; (at = memmem (data, size, text, strlen (text))) != NULL; found = TRUE)
    *at ^= 4;
  if (!found)
    return FALSE;
  ck_assert (g_file_set_contents (path, data, (gssize) size, NULL));
  return TRUE;
}

/* In the database after an ordinary end, in its log after a crash. */
LOOP_TEST (a_flipped_bit_costs_one_item_and_is_reported, 0, 2)
{
  gboolean crash = _i == 1;
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 numbers[30];
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autofree char *text = g_strdup_printf ("the payload %02u of many", i);
      numbers[i] = persistent_submit_echo (client, text, IRIS_WIRE_CLASS_DURABLE, TRUE);
      ck_assert_uint_eq (persistent_get_state (client, numbers[i], GIVE_UP_MS),
                         IRIS_WIRE_STATE_DONE);
    }
  g_autofree char *name = g_strconcat (home->journal, "/items.sqlite", crash ? "-wal" : "", NULL);
  if (crash)
    irisd_kill (irisd);
  else
    irisd_stop (irisd);
  ck_assert (flip_bit (name, "the payload 07 of many"));

  irisd = home_start (home, NULL);
  g_autoptr (Client) again = client_hello (irisd->front);
  guint lost = 0;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autofree char *text = g_strdup_printf ("the payload %02u of many", i);
      const IrisWireMessage *reply = persistent_fetch (again, numbers[i], GIVE_UP_MS);
      if (reply->type == IRIS_WIRE_RESULT)
        ck_assert (message_body_is (reply, text));
      else
        {
          assert_error (reply, IRIS_WIRE_ERROR_NO_SUCH_ITEM);
          lost++;
        }
    }
  ck_assert_uint_eq (lost, 1);
  g_autofree char *log = irisd_read_log (irisd);
  ck_assert_ptr_nonnull (strstr (log, "damaged"));
  irisd_stop (irisd);
  home_free (home);
}

/* Runs `irisd --check-journal`; returns its exit status. */
static int
check_journal (Home *home, char **said)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess)
      check = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE,
                                &error, g_getenv ("IRISD"), "--check-journal", home->journal, NULL);
  ck_assert_msg (check != NULL, "%s", error != NULL ? error->message : "");
  ck_assert (g_subprocess_communicate_utf8 (check, NULL, NULL, said, NULL, NULL));
  ck_assert (g_subprocess_get_if_exited (check));
  return g_subprocess_get_exit_status (check);
}

TEST (check_journal_says_what_is_there_and_what_is_missing)
{
  g_autofree char *in_use = NULL, *whole = NULL, *missing = NULL;
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 item = 0;
  for (guint i = 0; i < 5; i++)
    {
      item = persistent_submit_echo (client, "payload", IRIS_WIRE_CLASS_DURABLE, TRUE);
      ck_assert_uint_eq (persistent_get_state (client, item, GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
    }
  ck_assert_int_eq (check_journal (home, &in_use), 3);
  ck_assert_ptr_nonnull (strstr (in_use, "stop it, or check a copy"));
  irisd_kill (irisd);
  ck_assert_int_eq (check_journal (home, &whole), 0);
  ck_assert_ptr_nonnull (strstr (whole, "5 items are whole"));
  ck_assert_ptr_nonnull (strstr (whole, "the journal is whole"));

  g_autofree char *log = g_build_filename (home->journal, "items.sqlite-wal", NULL);
  ck_assert_int_eq (g_unlink (log), 0);
  ck_assert_int_eq (check_journal (home, &missing), 1);
  ck_assert_ptr_nonnull (strstr (missing, "5 of 5 items are lost"));
  irisd = home_start (home, NULL);
  g_autofree char *said = irisd_read_log (irisd);
  ck_assert_ptr_nonnull (strstr (said, "5 of 5 items are lost"));
  g_autoptr (Client) again = client_hello (irisd->front);
  g_autoptr (IrisWireStatus) status = client_get_status (again);
  ck_assert_uint_eq (status->damaged, 5);
  irisd_stop (irisd);
  home_free (home);
}

/* A small file system for the journal, which only this test and its irisd see; FALSE if this user
 * may not mount one. */
static gboolean
mount_small (Home *home, const char *options)
{
  ck_assert_int_eq (g_mkdir (home->journal, 0700), 0);
  return unshare (CLONE_NEWNS) == 0 && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
         && mount ("irisd-test", home->journal, "tmpfs", 0, options) == 0;
}

/* Fills the disk, except that many bytes and those freed with the file. */
static char *
fill_up (Home *home, gsize left)
{
  char *path = g_build_filename (home->journal, "ballast", NULL);
  static const char block[4096];
  struct statvfs fs;
  int fd = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ck_assert_int_ge (fd, 0);
  do
    ck_assert_int_eq (fstatvfs (fd, &fs), 0);
  while (fs.f_bavail * fs.f_frsize > left && write (fd, block, sizeof block) > 0);
  close (fd);
  return path;
}

TEST (a_full_disk_lets_items_end_also_after_a_restart)
{
  static const char config[] = "[journal]\nreserve = 512K\n";
  Home *home = home_new ();
  if (!mount_small (home, "size=4m,mode=0700"))
    {
      fprintf (stderr, "# SKIP no file system can be mounted here\n");
      home_free (home);
      return;
    }
  Irisd *irisd = home_start (home, config);
  g_autofree char *first_gate = gate_new (irisd, "first");
  g_autofree char *gate = gate_new (irisd, "second");
  g_autoptr (Client) client = client_hello (irisd->front);
  guint64 occupiers[] = { persistent_submit_occupier (client, first_gate, 0),
                          persistent_submit_occupier (client, gate, 1) };
  guint64 queued = persistent_submit_echo (client, "queued", IRIS_WIRE_CLASS_DURABLE, TRUE);
  g_autofree char *ballast = fill_up (home, 0);

  /* One small item may still find room in the last block. */
  IrisWireMessage item;
  const IrisWireMessage *reply;
  do
    {
      persistent_fill (client, &item, "echo", "more", IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      client_send (client, &item);
      reply = client_receive (client);
    }
  while (reply->type == IRIS_WIRE_ACCEPTED);
  assert_error (reply, IRIS_WIRE_ERROR_JOURNAL_FAILED);
  gate_open (first_gate);
  persistent_assert_result (client, occupiers[0], "");
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_str_eq (status->journal, "full");
  ck_assert (!status->ready);
  irisd_kill (irisd);

  irisd = home_start (home, config);
  g_autoptr (Client) again = client_hello (irisd->front);
  gate_pass (gate);
  persistent_assert_result (again, occupiers[1], "");
  persistent_assert_result (again, queued, "queued");
  ck_assert_int_eq (g_unlink (ballast), 0);
  do
    {
      persistent_fill (again, &item, "echo", "room", IRIS_WIRE_CLASS_DURABLE);
      client_send (again, &item);
      reply = client_receive (again);
    }
  while (reply->type == IRIS_WIRE_ERROR_REPLY && reply->code == IRIS_WIRE_ERROR_JOURNAL_FAILED);
  ck_assert_str_eq (iris_wire_type_name (reply->type), "ACCEPTED");
  client_receive_type (again, IRIS_WIRE_RESULT);
  irisd_stop (irisd);
  ck_assert_int_eq (umount2 (home->journal, MNT_DETACH), 0);
  home_free (home);
}

#define MOST_ITEMS 4000

/* Returns @number, or NULL if the journal did not take the item. */
static guint64 *
submit_detached (Client *client, const char *payload, guint64 *number)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", payload, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  client_send (client, &item);
  const IrisWireMessage *reply = client_receive (client);
  if (reply->type != IRIS_WIRE_ACCEPTED)
    {
      assert_error (reply, IRIS_WIRE_ERROR_JOURNAL_FAILED);
      return NULL;
    }
  *number = reply->item;
  return number;
}

/* Returns irisd's status, for a wait that has lasted since `begin_us` at most. */
static IrisWireStatus *
watch_status (Client *client, gint64 begin_us)
{
  IrisWireStatus *status = client_get_status (client);
  ck_assert_msg (g_get_monotonic_time () - begin_us < GIVE_UP_MS * (gint64) 1000,
                 "the wait does not end: the journal is %s, %" G_GUINT64_FORMAT " items are kept",
                 status->journal, status->persistent);
  return status;
}

static void
wait_until_ready (Client *client)
{
  gint64 begin_us = g_get_monotonic_time ();
  for (gboolean ready = FALSE; !ready;)
    {
      g_autoptr (IrisWireStatus) status = watch_status (client, begin_us);
      ready = status->ready;
    }
}

/* A large item makes the database's log large; the log must not keep the disk full afterwards. On
 * the second disk the configured reserve has no room beside as much again. */
LOOP_TEST (a_full_disk_takes_items_again_once_those_it_held_are_gone, 0, 2)
{
  static const char *const disks[] = { "size=32m,mode=0700", "size=12m,mode=0700" };
  static const gsize large_sizes[] = { 6 * 1000 * 1000, 1000 * 1000 };
  Home *home = home_new ();
  if (!mount_small (home, disks[_i]))
    {
      fprintf (stderr, "# SKIP no file system can be mounted here\n");
      home_free (home);
      return;
    }
  Irisd *irisd = home_start (home, "[journal]\nreserve = 8M\n");
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autofree guint64 *numbers = g_new (guint64, MOST_ITEMS);
  g_autofree char *large = g_strnfill (large_sizes[_i], 'l');
  g_autofree char *small = g_strnfill (30 * 1000, 's');
  wait_until_ready (client);
  numbers[0] = persistent_submit_echo (client, large, IRIS_WIRE_CLASS_DURABLE, TRUE);
  persistent_assert_result (client, numbers[0], large);
  guint n = 1;
  while (submit_detached (client, small, &numbers[n]) != NULL)
    ck_assert_uint_lt (++n, MOST_ITEMS);
  for (guint i = 0; i < n; i++)
    {
      persistent_assert_result (client, numbers[i], i == 0 ? large : small);
      client_ack (client, 1);
    }
  /* A disk at its limit may be full once more before the last rows have gone. */
  do
    wait_until_ready (client);
  while (submit_detached (client, small, numbers) == NULL);
  persistent_assert_result (client, numbers[0], small);
  irisd_stop (irisd);
  ck_assert_int_eq (umount2 (home->journal, MNT_DETACH), 0);
  home_free (home);
}

#define LARGE   (6 * 1000 * 1000)
#define SMALL   (30 * 1000)
#define N_SMALL 300
#define LEFT    (1000 * 1000)

/* Returns the size of a file of the journal. */
static gsize
get_size (Home *home, const char *name)
{
  struct stat st;
  g_autofree char *path = g_build_filename (home->journal, name, NULL);
  ck_assert_int_eq (stat (path, &st), 0);
  return (gsize) st.st_size;
}

static void
wait_for_size (Client *client, Home *home, const char *name, gsize at_most)
{
  gint64 begin_us = g_get_monotonic_time ();
  while (get_size (home, name) > at_most)
    iris_wire_status_free (watch_status (client, begin_us));
}

/* Submits until the journal takes no more, then fills all but `LEFT` of the reserve's space. */
static char *
exhaust (Home *home, Client *client)
{
  guint64 number;
  g_autofree char *small = g_strnfill (SMALL, 's');
  g_free (fill_up (home, LEFT));
  while (submit_detached (client, small, &number) != NULL)
    persistent_assert_result (client, number, small);
  wait_for_size (client, home, "items.sqlite-wal", 0);
  return fill_up (home, LEFT);
}

/* The log of a removal has to be smaller than the removed row, or the disk would stay full. */
TEST (a_large_item_goes_from_a_full_disk)
{
  Home *home = home_new ();
  if (!mount_small (home, "size=32m,mode=0700"))
    {
      fprintf (stderr, "# SKIP no file system can be mounted here\n");
      home_free (home);
      return;
    }
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autofree char *large = g_strnfill (LARGE, 'l');
  wait_until_ready (client);
  guint64 number = persistent_submit_echo (client, large, IRIS_WIRE_CLASS_DURABLE, TRUE);
  persistent_assert_result (client, number, large);
  g_autofree char *ballast = exhaust (home, client);
  gsize before = get_size (home, "items.sqlite");
  client_ack (client, 1);
  wait_for_size (client, home, "items.sqlite", before - LARGE);
  ck_assert_int_eq (g_unlink (ballast), 0);
  wait_until_ready (client);
  irisd_stop (irisd);
  ck_assert_int_eq (umount2 (home->journal, MNT_DETACH), 0);
  home_free (home);
}

/* An end that finds no space must not delay the removals that make some. */
TEST (a_large_end_finds_room_on_a_full_disk_once_other_items_go)
{
  Home *home = home_new ();
  if (!mount_small (home, "size=48m,mode=0700"))
    {
      fprintf (stderr, "# SKIP no file system can be mounted here\n");
      home_free (home);
      return;
    }
  Irisd *irisd = home_start (home, NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autofree char *large = g_strnfill (LARGE, 'l');
  g_autofree char *small = g_strnfill (SMALL, 's');
  wait_until_ready (client);
  guint64 occupier = persistent_submit_occupier (client, gate, 1);
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", large, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  for (guint i = 0; i < N_SMALL; i++)
    persistent_assert_result (
        client, persistent_submit_echo (client, small, IRIS_WIRE_CLASS_DURABLE, TRUE), small);
  g_free (exhaust (home, client));
  gate_open (gate);
  gint64 begin_us = g_get_monotonic_time ();
  for (gboolean ran = FALSE; !ran;)
    {
      g_autoptr (IrisWireStatus) status = watch_status (client, begin_us);
      ran = status->places[1].executed == 2;
    }
  client_ack (client, N_SMALL);
  persistent_assert_result (client, occupier, "");
  persistent_assert_result (client, number, large);
  irisd_stop (irisd);
  ck_assert_int_eq (umount2 (home->journal, MNT_DETACH), 0);
  home_free (home);
}

TEST_MAIN ("irisd-damage", NULL, NULL)
