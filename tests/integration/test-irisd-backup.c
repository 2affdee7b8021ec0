/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal copied while irisd runs, and mended while it does not.
 */
#include "irisd-home.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

static Home *home;
static Irisd *irisd;
static Client *client;
static char *copy;

static void
start (void)
{
  irisd = home_start (home, NULL);
  client = client_hello (irisd->front);
}

static void
set_up (void)
{
  home = home_new ();
  copy = g_build_filename (home->base, "copy", NULL);
  start ();
}

static void
stop (void)
{
  g_clear_pointer (&client, client_free);
  if (irisd != NULL)
    irisd_stop (g_steal_pointer (&irisd));
}

static void
tear_down (void)
{
  stop ();
  g_clear_pointer (&copy, g_free);
  home_free (g_steal_pointer (&home));
}

static void
send_backup (Client *who, const char *path)
{
  IrisWireMessage request;
  client_init_message (who, &request, IRIS_WIRE_BACKUP);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_PATH, path, -1);
  client_send (who, &request);
}

/* Runs irisd --check-journal. Returns what it says. */
static char *
check (const char *dir, gboolean repair, int wanted)
{
  char *const words[] = { (char *) g_getenv ("IRISD"), (char *) "--check-journal", (char *) dir,
                          repair ? (char *) "--repair" : NULL, NULL };
  g_autoptr (GError) error = NULL;
  g_autofree char *errors = NULL;
  g_autofree char *output = NULL;
  int status = 0;
  ck_assert (g_spawn_sync (NULL, (char **) words, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output,
                           &errors, &status, &error));
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == wanted, "%s%s", output, errors);
  return g_strconcat (output, errors, NULL);
}

TEST (a_copy_made_while_items_come_is_whole_and_goes_on)
{
  guint n = TIMES (2000);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *large = g_strnfill (20000, 'x');
  guint64 held = persistent_submit_occupier (client, gate, 0);
  for (guint i = 0; i < n; i++)
    /* The last one brings those before it to the disk. */
    persistent_submit_echo (client, large,
                            i == n - 1 ? IRIS_WIRE_CLASS_DURABLE : IRIS_WIRE_CLASS_RELAXED, TRUE);
  g_autoptr (Client) other = client_hello (irisd->front);
  send_backup (other, copy);
  /* Items go on meanwhile. */
  guint64 last = 0;
  for (guint i = 0; i < 100; i++)
    last = persistent_submit_echo (client, "during", IRIS_WIRE_CLASS_DURABLE, TRUE);
  const IrisWireMessage *changed = client_receive_type (other, IRIS_WIRE_CHANGED);
  guint count = changed->count;
  ck_assert_uint_ge (count, n + 1);
  ck_assert_uint_le (count, n + 101);
  ck_assert_uint_gt (last, held);
  g_autofree char *said = check (copy, FALSE, 0);
  ck_assert_ptr_nonnull (strstr (said, "the journal is whole"));
  gate_open (gate);
  stop ();

  g_free (home->option);
  home->option = g_strconcat ("--journal=", copy, NULL);
  start ();
  /* The occupier ran when the copy was made, and runs again. */
  gate_pass (gate);
  ck_assert_uint_eq (persistent_get_state (client, held, GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->damaged, 0);
  ck_assert_uint_eq (status->persistent, count);
}

TEST (what_cannot_be_copied_to_is_refused)
{
  persistent_submit_echo (client, "x", IRIS_WIRE_CLASS_DURABLE, TRUE);
  const char *const bad[] = { "relative", "/no/such/directory/copy", home->base };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      send_backup (client, bad[i]);
      assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
    }
  send_backup (client, copy);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  send_backup (client, copy);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  /* What was there is untouched. */
  g_autofree char *said = check (copy, FALSE, 0);
  ck_assert_ptr_nonnull (strstr (said, "1 items are whole"));

  Irisd *without = irisd_start (NULL, TWO_PLACES, NULL);
  g_autoptr (Client) other = client_hello (without->front);
  send_backup (other, copy);
  assert_error (client_receive (other), IRIS_WIRE_ERROR_NOT_DURABLE);
  irisd_finish (without);
}

static void
overwrite (const char *path, off_t at, gsize size)
{
  g_autofree char *bytes = g_strnfill (size, '?');
  int fd = open (path, O_WRONLY);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (pwrite (fd, bytes, size, at), (ssize_t) size);
  close (fd);
}

TEST (a_damaged_journal_is_mended_and_its_old_files_are_kept)
{
  for (guint i = 0; i < 300; i++)
    persistent_submit_echo (client, "some payload that fills the pages of the file",
                            IRIS_WIRE_CLASS_RELAXED, TRUE);
  persistent_submit_echo (client, "last", IRIS_WIRE_CLASS_DURABLE, TRUE);
  g_autofree char *in_use = check (home->journal, TRUE, 3);
  ck_assert_ptr_nonnull (strstr (in_use, "stop it"));
  stop ();
  g_autofree char *whole = check (home->journal, TRUE, 0);
  ck_assert_ptr_null (strstr (whole, "repaired"));

  g_autofree char *path = g_build_filename (home->journal, "items.sqlite", NULL);
  g_autofree char *before = NULL, *kept_bytes = NULL;
  gsize before_size = 0, kept_size = 0;
  GStatBuf st;
  ck_assert_int_eq (g_stat (path, &st), 0);
  /* The second half: a single page may be a free one, which nothing is lost with. */
  off_t half = st.st_size / 4096 / 2 * 4096;
  overwrite (path, half, (gsize) (st.st_size - half));
  ck_assert (g_file_get_contents (path, &before, &before_size, NULL));
  g_autofree char *damaged = check (home->journal, FALSE, 1);
  ck_assert_ptr_nonnull (strstr (damaged, "the journal is damaged"));
  g_autofree char *said = check (home->journal, TRUE, 0);
  ck_assert_ptr_nonnull (strstr (said, "the journal is damaged"));
  ck_assert_ptr_nonnull (strstr (said, "repaired; the old files are beside it as "));
  ck_assert (g_str_has_suffix (said, "the journal is whole\n"));
  g_autofree char *rest = g_strdup (strstr (said, " as ") + strlen (" as "));
  *strchr (rest, '*') = '\0';
  ck_assert (g_file_get_contents (rest, &kept_bytes, &kept_size, NULL));
  ck_assert_uint_eq (kept_size, before_size);
  ck_assert_mem_eq (kept_bytes, before, before_size);

  start ();
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->damaged, 0);
  ck_assert_uint_gt (status->persistent, 0);
  ck_assert_uint_lt (status->persistent, 301);
}

TEST_MAIN ("irisd-backup", set_up, tear_down)
