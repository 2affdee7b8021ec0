/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Things that a benchmark makes outside itself, and that go with it.
 *
 * Signals that end a program are taken by a thread of our own, because a handler could not do what
 * has to be done. It sleeps until one comes. No thread makes anything new while it tidies up: it
 * has the lock then, and keeps it until the end.
 */
#include "bench-tidy.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_DIRS 16

static GMutex lock;
static GHashTable *servers; /* pid by directory, 0 if there is none */

static sigset_t signals;

/* One that is ignored, as SIGHUP under nohup(1), stays so. */
static void
fill_signals (void)
{
  static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
  struct sigaction action;

  sigemptyset (&signals);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (sigaction (numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset (&signals, numbers[i]);
}

static int
remove_one (const char *path, const struct stat *status, int type, struct FTW *walk)
{
  return remove (path);
}

/* A server that is being killed may make a file behind our back until it is dead. */
static void
remove_all (const char *dir)
{
  struct stat status;

  while (lstat (dir, &status) == 0)
    if (nftw (dir, remove_one, OPEN_DIRS, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOTEMPTY
        && errno != EEXIST && errno != ENOENT)
      return;
}

static gpointer
wait_for_signal (gpointer data)
{
  GHashTableIter iter;
  gpointer dir, pid;
  int number = 0;

  if (sigwait (&signals, &number) != 0)
    return NULL;
  g_mutex_lock (&lock);
  g_hash_table_iter_init (&iter, servers);
  while (g_hash_table_iter_next (&iter, &dir, &pid))
    {
      if (pid != NULL)
        kill (GPOINTER_TO_INT (pid), SIGKILL);
      remove_all (dir);
    }
  signal (number, SIG_DFL);
  pthread_sigmask (SIG_UNBLOCK, &signals, NULL);
  raise (number);
  return NULL;
}

void
bench_tidy_begin (void)
{
  if (servers != NULL)
    return;
  servers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  fill_signals ();
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  g_thread_unref (g_thread_new ("bench-tidy", wait_for_signal, NULL));
}

void
bench_tidy_in_child (void)
{
  sigprocmask (SIG_UNBLOCK, &signals, NULL);
}

/**
 * bench_tidy_make_dir:
 *
 * Returns: a new directory, which goes with us
 */
char *
bench_tidy_make_dir (const char *template, GError **error)
{
  char *dir;

  g_mutex_lock (&lock);
  dir = g_dir_make_tmp (template, error);
  if (dir != NULL)
    g_hash_table_insert (servers, g_strdup (dir), NULL);
  g_mutex_unlock (&lock);

  return dir;
}

/**
 * bench_tidy_set_server:
 * @dir: one of ours
 * @pid: the server that works in it; 0: none
 */
void
bench_tidy_set_server (const char *dir, pid_t pid)
{
  g_mutex_lock (&lock);
  g_hash_table_insert (servers, g_strdup (dir), GINT_TO_POINTER (pid));
  g_mutex_unlock (&lock);
}

void
bench_tidy_remove_dir (const char *dir)
{
  g_mutex_lock (&lock);
  remove_all (dir);
  g_hash_table_remove (servers, dir);
  g_mutex_unlock (&lock);
}
