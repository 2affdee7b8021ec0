/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The record of attempts: what was under way is found, its processes are ended, and no others.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-proc.h"
#include "daemon/exec/attempts/irisd-attempts.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *dir;
static char *path;
static IrisdAttempts *attempts;

static void
open_record (void)
{
  g_autoptr (GError) error = NULL;
  attempts = irisd_attempts_open (dir, TRUE, &error);
  ck_assert_msg (attempts != NULL, "%s", error != NULL ? error->message : "");
}

/* irisd crashes, and is back. */
static void
crash (void)
{
  irisd_attempts_close (attempts);
  open_record ();
}

static void
set_up (void)
{
  dir = g_dir_make_tmp ("irisd-attempts-XXXXXX", NULL);
  path = g_build_filename (dir, IRISD_ATTEMPTS_NAME, NULL);
  open_record ();
  irisd_attempts_renew (attempts, "");
}

static void
tear_down (void)
{
  irisd_attempts_close (attempts);
  g_unlink (path);
  g_rmdir (dir);
  g_clear_pointer (&path, g_free);
  g_clear_pointer (&dir, g_free);
}

/* A process that leads a group and has recorded itself, as a command does. */
static pid_t
start_process (guint slot)
{
  int ready[2];
  char byte;
  off_t at = 0;
  int fd = irisd_attempts_get_process_fd (attempts, slot, &at);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (pipe (ready), 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      char text[441] = "";
      int stat = open ("/proc/self/stat", O_RDONLY);
      setpgid (0, 0);
      if (read (stat, text, sizeof text - 1) > 0 && pwrite (fd, text, strlen (text) + 1, at) > 0
          && write (ready[1], "", 1) == 1)
        for (;;)
          pause ();
      _exit (1);
    }
  ck_assert_int_eq (read (ready[0], &byte, 1), 1);
  close (ready[0]);
  close (ready[1]);
  return pid;
}

static int
reap (pid_t pid)
{
  int status = 0;
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  return WIFSIGNALED (status) ? WTERMSIG (status) : 0;
}

static void
assert_lives_and_end (pid_t pid)
{
  ck_assert_int_eq (waitpid (pid, NULL, WNOHANG), 0);
  kill (pid, SIGTERM);
  ck_assert_int_eq (reap (pid), SIGTERM);
}

/* Changes what a process has recorded: @was becomes @is. */
static void
change_record (const char *was, const char *is)
{
  g_autofree char *bytes = NULL;
  gsize size = 0;
  ck_assert (g_file_get_contents (path, &bytes, &size, NULL));
  gsize n = strlen (was);
  ck_assert_uint_eq (n, strlen (is));
  char *found = NULL;
  for (gsize i = 0; found == NULL && i + n <= size; i++)
    if (memcmp (bytes + i, was, n) == 0)
      found = bytes + i;
  ck_assert_ptr_nonnull (found);
  memcpy (found, is, n);
  int fd = open (path, O_WRONLY);
  ck_assert_int_eq (pwrite (fd, bytes, size, 0), (ssize_t) size);
  close (fd);
}

TEST (what_was_under_way_is_found_and_what_has_ended_is_not)
{
  guint slots[200];
  for (guint i = 0; i < G_N_ELEMENTS (slots); i++)
    slots[i] = irisd_attempts_begin (attempts, i + 1);
  for (guint i = 0; i < G_N_ELEMENTS (slots); i += 2)
    irisd_attempts_end (attempts, slots[i]);
  crash ();
  ck_assert_uint_eq (irisd_attempts_get_n_found (attempts), 100);
  for (guint i = 0; i < G_N_ELEMENTS (slots); i++)
    ck_assert ((irisd_attempts_find (attempts, i + 1) != NULL) == (i % 2 == 1));
  /* It is found again until it was dealt with. */
  crash ();
  ck_assert_uint_eq (irisd_attempts_get_n_found (attempts), 100);
  irisd_attempts_renew (attempts, "");
  crash ();
  ck_assert_uint_eq (irisd_attempts_get_n_found (attempts), 0);
}

static void
note_leased (guint64 item)
{
  const IrisdLeased leased = { .item = item,
                               .due_ms = 1000 + item,
                               .started_ms = 500,
                               .owner = 42,
                               .id = "lease of an item",
                               .attempts = 3 };
  ck_assert_uint_ne (irisd_attempts_note_leased (attempts, IRISD_ATTEMPT_NONE, &leased),
                     IRISD_ATTEMPT_NONE);
}

TEST (leases_of_items_that_have_not_ended_are_found_again_and_again)
{
  IrisdLeased leased;
  guint n = 0;
  for (guint64 item = 1; item <= 100; item++)
    note_leased (item);
  guint running = irisd_attempts_begin (attempts, 200);
  for (guint lives = 0; lives < 3; lives++)
    {
      crash ();
      ck_assert_uint_eq (irisd_attempts_get_n_found (attempts), lives == 0 ? 1 : 0);
      for (guint64 item = 2; item <= 100; item += 2)
        {
          ck_assert (irisd_attempts_find_leased (attempts, item, &leased));
          ck_assert_uint_eq (leased.due_ms, 1000 + item);
          ck_assert_uint_eq (leased.started_ms, 500);
          ck_assert_int_eq (leased.owner, 42);
          ck_assert_uint_eq (leased.attempts, 3);
          ck_assert_mem_eq (leased.id, "lease of an item", sizeof leased.id);
        }
      irisd_attempts_renew (attempts, "");
      ck_assert_uint_eq (irisd_attempts_take_leased (attempts, 1, &n), IRISD_ATTEMPT_NONE);
    }
  ck_assert_uint_ne (running, IRISD_ATTEMPT_NONE);
  /* What is taken can be changed, and given back. */
  guint slot = irisd_attempts_take_leased (attempts, 2, &n);
  ck_assert_uint_eq (n, 3);
  irisd_attempts_note_due (attempts, slot, 0);
  irisd_attempts_end (attempts, irisd_attempts_take_leased (attempts, 4, &n));
  crash ();
  ck_assert (irisd_attempts_find_leased (attempts, 2, &leased));
  ck_assert_uint_eq (leased.due_ms, 0);
  ck_assert (!irisd_attempts_find_leased (attempts, 4, &leased));
}

TEST (slots_of_leases_are_not_given_to_others_and_are_used_again)
{
  IrisdLeased leased;
  struct stat before, after;
  for (guint64 item = 1; item <= 60; item++)
    note_leased (item);
  ck_assert_int_eq (stat (path, &before), 0);
  crash ();
  for (guint64 item = 1; item <= 50; item++)
    ck_assert (irisd_attempts_find_leased (attempts, item, &leased));
  irisd_attempts_renew (attempts, "");
  for (guint64 item = 61; item <= 70; item++)
    note_leased (item);
  ck_assert_int_eq (stat (path, &after), 0);
  ck_assert_int_eq (after.st_size, before.st_size);
  crash ();
  for (guint64 item = 1; item <= 70; item++)
    ck_assert (irisd_attempts_find_leased (attempts, item, &leased) == (item <= 50 || item > 60));
}

TEST (the_record_does_not_grow_from_life_to_life)
{
  struct stat before, after;
  irisd_attempts_begin (attempts, 1);
  ck_assert_int_eq (stat (path, &before), 0);
  for (guint i = 0; i < 5; i++)
    {
      crash ();
      irisd_attempts_renew (attempts, "");
      irisd_attempts_begin (attempts, 1);
    }
  ck_assert_int_eq (stat (path, &after), 0);
  ck_assert_int_eq (after.st_size, before.st_size);
}

TEST (a_recorded_process_is_ended)
{
  guint slot = irisd_attempts_begin (attempts, 7);
  pid_t pid = start_process (slot);
  crash ();
  const IrisdAttempt *attempt = irisd_attempts_find (attempts, 7);
  ck_assert_ptr_nonnull (attempt);
  ck_assert_int_eq (attempt->pid, pid);
  irisd_attempts_end_orphans (attempts, 60000);
  ck_assert (!attempt->stuck);
  ck_assert_int_eq (reap (pid), SIGKILL);
}

TEST (a_process_that_has_the_number_of_a_recorded_one_is_left_alone)
{
  guint slot = irisd_attempts_begin (attempts, 7);
  pid_t pid = start_process (slot);
  IrisdProc proc;
  ck_assert (irisd_proc_read (&proc, pid));
  g_autofree char *was = g_strdup_printf (" %" G_GUINT64_FORMAT " ", proc.start);
  g_autofree char *is = g_strdup_printf (" %" G_GUINT64_FORMAT " ", proc.start - 1);
  change_record (was, is);
  crash ();
  ck_assert_uint_eq (irisd_attempts_find (attempts, 7)->start, proc.start - 1);
  irisd_attempts_end_orphans (attempts, 60000);
  assert_lives_and_end (pid);
}

TEST (what_ran_before_the_machine_was_started_counts_for_nothing)
{
  g_autofree char *boot_id = NULL;
  guint slot = irisd_attempts_begin (attempts, 7);
  pid_t pid = start_process (slot);
  ck_assert (g_file_get_contents ("/proc/sys/kernel/random/boot_id", &boot_id, NULL, NULL));
  g_strchomp (boot_id);
  g_autofree char *other = g_strdup (boot_id);
  other[0] = other[0] == '0' ? '1' : '0';
  change_record (boot_id, other);
  crash ();
  ck_assert_uint_eq (irisd_attempts_get_n_found (attempts), 0);
  irisd_attempts_end_orphans (attempts, 60000);
  assert_lives_and_end (pid);
}

TEST (what_is_no_record_is_taken_for_an_empty_one)
{
  static const char junk[] = "this is not what irisd has written";
  irisd_attempts_begin (attempts, 7);
  irisd_attempts_close (attempts);
  ck_assert (g_file_set_contents (path, junk, -1, NULL));
  open_record ();
  ck_assert_uint_eq (irisd_attempts_get_n_found (attempts), 0);
  irisd_attempts_renew (attempts, "");
  irisd_attempts_begin (attempts, 8);
  crash ();
  ck_assert_ptr_nonnull (irisd_attempts_find (attempts, 8));
}

TEST (a_stat_is_read_whatever_the_program_is_called)
{
  IrisdProc proc;
  ck_assert (
      irisd_proc_parse (&proc, "12 (a) Z (b) S 1 13 14 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 99 1"));
  ck_assert_int_eq (proc.pid, 12);
  ck_assert_int_eq (proc.state, 'S');
  ck_assert_int_eq (proc.group, 13);
  ck_assert_int_eq (proc.session, 14);
  ck_assert_uint_eq (proc.start, 99);
  ck_assert (!irisd_proc_parse (&proc, ""));
  ck_assert (!irisd_proc_parse (&proc, "12 (a) S 1 13 14"));
  ck_assert (!irisd_proc_parse (&proc, "12 (a)"));
}

TEST_MAIN ("irisd-attempts", set_up, tear_down)
