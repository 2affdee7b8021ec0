/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contention: reading what the kernel says. The design is in iris-contention-private.h; the files
 * are described in proc(5) and in Documentation/scheduler/sched-stats.rst and
 * Documentation/accounting/psi.rst of Linux.
 */
#include "iris/sched/pool/iris-contention-private.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
iris_contention_probe_init (IrisContentionProbe *self, const char *proc)
{
  memset (self, 0, sizeof *self);
  self->proc = proc;
}

/* The start of a small file, ended by a zero; false when there is none. */
static bool
read_start (const char *path, char *text, gsize size)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  gssize n;

  if (fd < 0)
    return false;
  n = read (fd, text, size - 1);
  close (fd);
  if (n <= 0)
    return false;
  text[n] = '\0';

  return true;
}

/* The number at @at, and what is behind it; NULL if there is none. */
static const char *
read_number (const char *at, guint64 *number)
{
  char *end;

  *number = g_ascii_strtoull (at, &end, 10);

  return end != at ? end : NULL;
}

/* The number behind @label. */
static bool
find_number (const char *text, const char *label, guint64 *number)
{
  const char *at = strstr (text, label);

  return at != NULL && read_number (at + strlen (label), number) != NULL;
}

static bool
note_missing (const IrisContentionProbe *self, bool *is_missing, const char *name)
{
  if (!*is_missing)
    g_message ("iris: %s/%s cannot be read: contention is judged without it", self->proc, name);
  *is_missing = true;

  return false;
}

static bool
has_file (const IrisContentionProbe *self, gint tid, const char *name)
{
  char path[128];

  g_snprintf (path, sizeof path, "%s/self/task/%d/%s", self->proc, tid, name);

  return access (path, R_OK) == 0;
}

/* Judges a file by its first reading: one that is missing is not asked for again. But where the
 * calling thread has the file and @now's has it no longer, that worker has ended. */
static bool
note_unread (const IrisContentionProbe *self,
             IrisContentionWatched *now,
             bool *is_missing,
             const char *name)
{
  g_autofree char *text = NULL;

  if (!has_file (self, now->tid, name) && has_file (self, (gint) gettid (), name))
    {
      now->has_ended = true;
      return true;
    }
  text = g_strdup_printf ("self/task/TID/%s", name);

  return note_missing (self, is_missing, text);
}

static bool
read_delay (IrisContentionProbe *self, gint tid, IrisContentionWatched *now)
{
  char path[128], text[128];
  const char *rest = NULL;

  if (self->no_delay)
    return false;
  g_snprintf (path, sizeof path, "%s/self/task/%d/schedstat", self->proc, tid);
  if (read_start (path, text, sizeof text))
    rest = read_number (text, &now->running_ns);
  if (rest == NULL || read_number (rest, &now->waiting_ns) == NULL)
    return note_unread (self, now, &self->no_delay, "schedstat");

  return true;
}

static bool
read_switches (IrisContentionProbe *self, gint tid, IrisContentionWatched *now)
{
  char path[128], text[4096];

  if (self->no_switches)
    return false;
  g_snprintf (path, sizeof path, "%s/self/task/%d/status", self->proc, tid);
  if (!read_start (path, text, sizeof text)
      || !find_number (text, "\nnonvoluntary_ctxt_switches:", &now->n_switches))
    return note_unread (self, now, &self->no_switches, "status");

  return true;
}

static bool
read_pressure (IrisContentionProbe *self, guint64 *pressure_us)
{
  char path[128], text[256];

  if (self->no_pressure)
    return false;
  g_snprintf (path, sizeof path, "%s/pressure/cpu", self->proc);
  if (!read_start (path, text, sizeof text) || !find_number (text, "total=", pressure_us))
    return note_missing (self, &self->no_pressure, "pressure/cpu");

  return true;
}

/* Adds what one thread did since it was last looked at, and remembers what it did in all. A thread
 * that was not looked at before, or that has ended, adds nothing. */
static void
watch (IrisContentionProbe *self,
       IrisContentionWatched *before,
       gint tid,
       IrisContentionSample *sample)
{
  IrisContentionWatched now = { .tid = tid };

  sample->has_delay &= read_delay (self, tid, &now);
  sample->has_switches &= read_switches (self, tid, &now);
  if (now.has_ended)
    now.tid = 0;
  if (now.tid != 0 && before->tid == tid)
    {
      sample->running_ns += now.running_ns - before->running_ns;
      sample->waiting_ns += now.waiting_ns - before->waiting_ns;
      sample->n_switches += now.n_switches - before->n_switches;
    }
  *before = now;
}

/* Of the first IRIS_CONTENTION_MAX_WATCHED threads; a @tid of 0 is one that is not there. False
 * for the first look, which has nothing to compare with. */
bool
iris_contention_probe_look (IrisContentionProbe *self,
                            const gint *tids,
                            guint n_tids,
                            gint64 now_us,
                            IrisContentionSample *sample)
{
  guint64 pressure_us = self->pressure_us;
  bool is_first = self->at_us == 0;

  *sample = (IrisContentionSample){
    .elapsed_ns = (guint64) (now_us - self->at_us) * 1000,
    .has_delay = true,
    .has_switches = true,
  };
  for (guint i = 0; i < MIN (n_tids, IRIS_CONTENTION_MAX_WATCHED); i++)
    if (tids[i] != 0)
      watch (self, &self->watched[i], tids[i], sample);
  sample->has_pressure = read_pressure (self, &pressure_us);
  sample->pressure_ns = (pressure_us - self->pressure_us) * 1000;
  self->pressure_us = pressure_us;
  self->at_us = now_us;

  return !is_first;
}

/* Whether there is nothing that could be judged. */
bool
iris_contention_probe_is_blind (const IrisContentionProbe *self)
{
  return self->no_delay && self->no_switches && self->no_pressure;
}
