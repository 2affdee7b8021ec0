/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Orphans: processes that the commands of a crashed irisd have left.
 *
 * A process is one of an attempt's if one of these holds:
 *
 *   - it is in the attempt's control group, if irisd could make one (irisd-cgroup.c);
 *   - its environment has the attempt's mark, which names the irisd by a random number. Children
 *     inherit it, also those that have left the process group or the session;
 *   - it is the process that was recorded: the same number, started at the same time;
 *   - it is in that process's group. The kernel does not give a group's number to another process
 *     while a process is in the group. So if there is a process of the group's number that was
 *     started at another time, the group is another one; if there is none, later members in the
 * recorded session count as the dead leader's. These have no mark only if the command took it away.
 *
 * The kernel may reuse a number between the check and the signal. So irisd opens a descriptor of
 * the process, checks again, and signals the descriptor.
 */
#include "daemon/exec/attempts/irisd-orphans.h"

#include "daemon/base/irisd-proc.h"
#include "daemon/exec/attempts/irisd-cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Processes ended in one round; the next round finds those that they have made meanwhile. */
#define MOST_AT_ONCE 256

/* Time until the next round after a process that cannot be signalled or does not end. */
#define LOOK_AGAIN_MS 20

/* An environment is read up to this size; the mark is the first variable of a command. */
#define MOST_ENVIRONMENT (256 * 1024)

static gboolean
read_environment (pid_t pid, GByteArray *out)
{
  char path[64];
  ssize_t n = 0;
  g_snprintf (path, sizeof path, "/proc/%ld/environ", (long) pid);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  g_byte_array_set_size (out, MOST_ENVIRONMENT + 1);
  gsize size = 0;
  while (fd >= 0 && size < MOST_ENVIRONMENT
         && (n = read (fd, out->data + size, MOST_ENVIRONMENT - size)) > 0)
    size += (gsize) n;
  if (fd >= 0)
    close (fd);
  out->data[size] = '\0';
  g_byte_array_set_size (out, (guint) size + 1);
  return size > 0;
}

/* The serial of the attempt in the environment of a process; 0 for none. */
static guint64
read_mark (pid_t pid, const char *token, GByteArray *scratch)
{
  static const char variable[] = IRISD_ATTEMPTS_VARIABLE "=";
  if (!read_environment (pid, scratch))
    return 0;
  const char *at = (const char *) scratch->data, *end = at + scratch->len - 1;
  gsize token_size = strlen (token);
  for (; at < end; at += strlen (at) + 1)
    {
      const char *value = at + sizeof variable - 1;
      if (strncmp (at, variable, sizeof variable - 1) == 0
          && strncmp (value, token, token_size) == 0 && value[token_size] == '.')
        return g_ascii_strtoull (value + token_size + 1, NULL, 10);
    }
  return 0;
}

static gboolean
is_in_group (const IrisdProc *proc, const IrisdAttempt *attempt)
{
  IrisdProc leader;
  if (attempt->pid == 0 || proc->group != attempt->pid)
    return FALSE;
  if (irisd_proc_read (&leader, attempt->pid))
    return leader.start == attempt->start;
  return proc->session == attempt->session && proc->start >= attempt->start;
}

/* The attempt of a living process. */
static IrisdAttempt *
find_attempt (GArray *attempts, const char *token, const IrisdProc *proc, GByteArray *scratch)
{
  if (!irisd_proc_lives (proc))
    return NULL;
  guint64 serial = read_mark (proc->pid, token, scratch);
  for (guint i = 0; i < attempts->len; i++)
    {
      IrisdAttempt *attempt = &g_array_index (attempts, IrisdAttempt, i);
      if ((serial != 0 && attempt->serial == serial)
          || (proc->pid == attempt->pid && proc->start == attempt->start)
          || is_in_group (proc, attempt))
        return attempt;
    }
  return NULL;
}

/* A process to end, by its descriptor. */
typedef struct
{
  GArray *attempts;
  const char *token;
  const char *cgroups;
  GByteArray *scratch;
  struct pollfd fds[MOST_AT_ONCE];
  guint n_fds;
  gboolean any;        /* some process was found, whether it could be signalled or not */
  gboolean mark_stuck; /* attempts of the remaining processes are stuck */
} Search;

static void
look_at (Search *self, pid_t pid)
{
  IrisdProc proc, again;
  IrisdAttempt *attempt = NULL;
  if (!irisd_proc_read (&proc, pid)
      || (attempt = find_attempt (self->attempts, self->token, &proc, self->scratch)) == NULL)
    return;
  self->any = TRUE;
  attempt->stuck |= self->mark_stuck;
  int fd = (int) syscall (SYS_pidfd_open, pid, 0);
  if (fd >= 0 && irisd_proc_read (&again, pid) && again.start == proc.start
      && syscall (SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0)
    self->fds[self->n_fds++] = (struct pollfd){ .fd = fd, .events = POLLIN };
  else if (fd >= 0)
    close (fd);
}

static void
look_into_cgroup (Search *self, IrisdAttempt *attempt)
{
  g_autofree char *name = irisd_orphans_name (self->token, attempt->serial);
  g_autofree char *cgroup = irisd_cgroup_path (self->cgroups, name);
  irisd_cgroup_kill (cgroup);
  int fd = irisd_cgroup_find (cgroup);
  if (fd < 0)
    return;
  self->any = TRUE;
  attempt->stuck |= self->mark_stuck;
  self->fds[self->n_fds++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

static void
look_at_all (Search *self)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, NULL);
  self->any = FALSE;
  for (guint i = 0; *self->cgroups != '\0' && i < self->attempts->len && i < MOST_AT_ONCE; i++)
    look_into_cgroup (self, &g_array_index (self->attempts, IrisdAttempt, i));
  for (const char *name;
       dir != NULL && self->n_fds < MOST_AT_ONCE && (name = g_dir_read_name (dir)) != NULL;)
    {
      pid_t pid = (pid_t) g_ascii_strtoull (name, NULL, 10);
      if (pid > 1 && pid != getpid ())
        look_at (self, pid);
    }
}

/* Waits for the signalled processes. Returns how many have ended. */
static guint
wait_for (Search *self, gint64 until)
{
  guint gone = 0;
  for (guint i = 0; i < self->n_fds; i++)
    {
      gint64 left_us = MAX (until - g_get_monotonic_time (), 0);
      gone += poll (&self->fds[i], 1, (int) MIN (left_us / 1000 + 1, G_MAXINT)) > 0;
      close (self->fds[i].fd);
    }
  if (self->n_fds == 0)
    poll (NULL, 0, LOOK_AGAIN_MS);
  self->n_fds = 0;
  return gone;
}

/* Returns the name of the attempt @serial of the irisd with the random number @token. */
char *
irisd_orphans_name (const char *token, guint64 serial)
{
  return g_strdup_printf ("%s.%" G_GUINT64_FORMAT, token, serial);
}

/* Kills the processes of attempts, and waits up to @most_ms until none is left. Attempts with
 * processes left then are `stuck`. Returns how many processes have ended. */
guint
irisd_orphans_end (GArray *attempts, const char *token, const char *cgroups, guint64 most_ms)
{
  gint64 until = g_get_monotonic_time () + (gint64) most_ms * 1000;
  Search self = { .attempts = attempts, .token = token, .cgroups = cgroups };
  guint gone = 0;
  if (attempts->len == 0)
    return 0;
  self.scratch = g_byte_array_new ();
  do
    {
      self.mark_stuck = g_get_monotonic_time () >= until;
      look_at_all (&self);
      if (self.any)
        gone += wait_for (&self, until);
    }
  while (self.any && !self.mark_stuck);
  g_byte_array_unref (self.scratch);
  return gone;
}
