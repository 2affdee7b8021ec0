/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Faults of the journal under load: its disk is full, while irisd runs and when it starts; and a
 * sync fails once, which is final until irisd is started again.
 */
#include "soak-faulty.h"
#include "soak-history.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define WINDOW 32

/* --- the shim ----------------------------------------------------------------------------------
 */

void
faulty_init (Faulty *self, Home *home)
{
  self->path = g_build_filename (home->base, "faults", NULL);
  int fd = open (self->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (ftruncate (fd, sizeof *self->faults), 0);
  self->faults = mmap (NULL, sizeof *self->faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ck_assert (self->faults != MAP_FAILED);
  close (fd);
}

void
faulty_clear (Faulty *self)
{
  munmap (self->faults, sizeof *self->faults);
  g_free (self->path);
}

/* Sanitizers want to be first in the list; that they are behind the shim does no harm. */
Irisd *
faulty_start (Faulty *self, Home *home, const char *config)
{
  g_autofree char *before = g_strdup (g_getenv ("ASAN_OPTIONS"));
  g_autofree char *options = g_strconcat (before != NULL ? before : "", ":verify_asan_link_order=0",
                                          NULL);
  g_setenv ("LD_PRELOAD", SOAK_SHIM, TRUE);
  g_setenv ("IRIS_FAULTS", self->path, TRUE);
  g_setenv ("ASAN_OPTIONS", options, TRUE);
  Irisd *irisd = home_start (home, config);
  g_unsetenv ("LD_PRELOAD");
  g_unsetenv ("IRIS_FAULTS");
  if (before != NULL)
    g_setenv ("ASAN_OPTIONS", before, TRUE);
  else
    g_unsetenv ("ASAN_OPTIONS");
  return irisd;
}

/* --- a full disk -------------------------------------------------------------------------------
 */

static gboolean
mount_small (Home *home)
{
  ck_assert_int_eq (g_mkdir (home->journal, 0700), 0);
  return unshare (CLONE_NEWNS) == 0 && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
         && mount ("iris-soak", home->journal, "tmpfs", 0, "size=32m,mode=0700") == 0;
}

static gboolean
is_full (Client *client)
{
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  gboolean ready = strcmp (status->journal, "ready") == 0;
  ck_assert_int_eq (status->ready, ready);
  ck_assert (ready || strcmp (status->journal, "full") == 0);
  return !ready;
}

static void
wait_until_ready (const char *front)
{
  g_autoptr (Client) client = client_hello (front);
  while (is_full (client))
    ;
}

static void
send_more (SoakHistory *history, Client *client, gboolean detach)
{
  while (history->open < WINDOW)
    {
      IrisWireMessage item;
      soak_history_fill (history, client, &item, "echo", IRIS_WIRE_CLASS_DURABLE);
      if (detach)
        iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      soak_history_send (history, client, &item);
    }
}

/* Submits until the journal refuses one; then reads the other answers. A detached item gets no
 * answer after ACCEPTED. */
static void
send_until_refused (SoakHistory *history, Client *client)
{
  gboolean refused = FALSE;
  while (!refused || history->open > 0)
    {
      if (!refused)
        send_more (history, client, TRUE);
      const IrisWireMessage *answer = client_receive (client);
      soak_history_take (history, answer);
      if (answer->type == IRIS_WIRE_ACCEPTED)
        history->open--;
      else if (answer->type != IRIS_WIRE_PONG)
        {
          assert_error (answer, IRIS_WIRE_ERROR_JOURNAL_FAILED);
          refused = TRUE;
        }
    }
}

void
soak_disk (SoakFigures *figures)
{
  static const char config[] = "[journal]\nreserve = 8M\n";
  guint n_rounds = soak_times (3, 40);
  Home *home = home_new ();
  if (!mount_small (home))
    {
      figures->skipped = "this user may not mount a small file system";
      home_free (home);
      return;
    }
  SoakHistory history;
  soak_history_init (&history, figures);
  history.padding = 30000;
  for (guint round = 0; round < n_rounds; round++)
    {
      Irisd *irisd = home_start (home, config);
      wait_until_ready (irisd->front);
      Client *client = client_hello (irisd->front);
      /* The log frees its space when the disk is full, and that may suffice. */
      do
        send_until_refused (&history, client);
      while (!is_full (client));
      client_free (client);
      soak_history_forget_connection (&history);
      soak_note_peak (figures, irisd);
      if (soak_random (0, 1) == 0)
        irisd_kill (irisd);
      else
        irisd_stop (irisd);

      irisd = home_start (home, config);
      soak_history_demand (&history, irisd->front);
      wait_until_ready (irisd->front);
      soak_note_peak (figures, irisd);
      irisd_stop (irisd);
    }
  g_snprintf (figures->note, sizeof figures->note, "%u times full, and started on it", n_rounds);
  soak_history_clear (&history);
  ck_assert_int_eq (umount2 (home->journal, MNT_DETACH), 0);
  home_free (home);
}

/* --- a sync that fails -------------------------------------------------------------------------
 */

/* irisd logs the failure, takes no durable item, and goes on with items that need no disk. */
static void
check_read_only (Irisd *irisd)
{
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert (!status->ready);
  ck_assert_str_eq (status->journal, "failed");
  g_autofree char *log = irisd_read_log (irisd);
  ck_assert_ptr_nonnull (strstr (log, "could not be synced"));
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_DURABLE);
  client_send (client, &item);
  const IrisWireMessage *refusal = client_receive (client);
  assert_error (refusal, IRIS_WIRE_ERROR_JOURNAL_FAILED);
  g_autofree char *reason = iris_wire_string_dup (&refusal->message);
  ck_assert_ptr_nonnull (strstr (reason, "could not be synced"));
  client_submit (client, "echo", "volatile", 8, IRIS_PLACE_ANY, FALSE);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "volatile"));
}

/* Each completion is acknowledged, so that it is deleted; one that could not be written is owed. */
static void
send_until_sync_fails (SoakHistory *history, Client *client, SoakFaults *faults)
{
  gboolean failed = FALSE;
  guint before = soak_random (1, 400);
  while (!failed || history->open > 0)
    {
      if (!failed)
        send_more (history, client, FALSE);
      const IrisWireMessage *answer = client_receive (client);
      soak_history_take (history, answer);
      if (answer->type == IRIS_WIRE_RESULT)
        client_ack (client, 1);
      if (answer->type == IRIS_WIRE_ERROR_REPLY)
        {
          assert_error (answer, IRIS_WIRE_ERROR_JOURNAL_FAILED);
          failed = TRUE;
        }
      if (before > 0 && --before == 0)
        atomic_store_explicit (&faults->failing_syncs, 1, memory_order_relaxed);
    }
}

void
soak_sync (SoakFigures *figures)
{
  guint n_rounds = soak_times (5, 100);
  Home *home = home_new ();
  Faulty faulty;
  SoakHistory history;
  faulty_init (&faulty, home);
  soak_history_init (&history, figures);
  for (guint round = 0; round < n_rounds; round++)
    {
      Irisd *irisd = faulty_start (&faulty, home, NULL);
      Client *client = client_hello (irisd->front);
      send_until_sync_fails (&history, client, faulty.faults);
      ck_assert_int_eq (atomic_load_explicit (&faulty.faults->failed_syncs, memory_order_relaxed),
                        (int) round + 1);
      check_read_only (irisd);
      client_free (client);
      soak_history_forget_connection (&history);
      soak_note_peak (figures, irisd);
      if (soak_random (0, 1) == 0)
        irisd_kill (irisd);
      else
        irisd_stop (irisd);

      irisd = faulty_start (&faulty, home, NULL);
      wait_until_ready (irisd->front);
      soak_history_demand (&history, irisd->front);
      irisd_stop (irisd);
    }
  g_snprintf (figures->note, sizeof figures->note, "%u syncs failed, once each", n_rounds);
  soak_history_clear (&history);
  faulty_clear (&faulty);
  home_free (home);
}
