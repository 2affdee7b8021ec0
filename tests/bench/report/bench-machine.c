/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The machine on which a figure was measured, and what about it makes figures doubtful.
 *
 * Times of /proc/stat are of the whole machine, so what this process and its children took is
 * subtracted: the rest is other processes'. Time that the host gave to other machines is "stolen".
 */
#include "tests/bench/report/bench-machine.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Percent from which a warning is given. */
#define MOST_OF_OTHERS 5.0
#define MOST_STOLEN    0.5
#define MOST_FREQUENCY 5.0

/* Seconds of all processors together, since the machine started. */
typedef struct
{
  gdouble busy;
  gdouble stolen;
  gdouble all;
  gdouble mine; /* of this process and the children that it has waited for */
} Times;

typedef struct _BenchWatch
{
  char *root;
  cpu_set_t allowed;
  Times start;
} BenchWatch;

/* --- reading ---------------------------------------------------------------------------------- */

static char *
read_text (const BenchWatch *watch, const char *path)
{
  g_autofree char *full = g_strconcat (watch->root, path, NULL);
  char *text = NULL;

  if (!g_file_get_contents (full, &text, NULL, NULL))
    return NULL;

  return g_strchomp (text);
}

static char *
read_of_processor (const BenchWatch *watch, guint processor, const char *name)
{
  g_autofree char *path = g_strdup_printf ("/sys/devices/system/cpu/cpu%u/%s", processor, name);

  return read_text (watch, path);
}

static char *
cpu_model (const BenchWatch *watch)
{
  g_autofree char *text = read_text (watch, "/proc/cpuinfo");
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "model name"))
      {
        const char *colon = strchr (lines[i], ':');

        if (colon != NULL)
          return g_strstrip (g_strdup (colon + 1));
      }

  return g_strdup ("unknown processor");
}

static gdouble
seconds_of (struct timeval time)
{
  return (gdouble) time.tv_sec + (gdouble) time.tv_usec / 1e6;
}

static gdouble
my_time (void)
{
  struct rusage self, children;

  getrusage (RUSAGE_SELF, &self);
  getrusage (RUSAGE_CHILDREN, &children);

  return seconds_of (self.ru_utime) + seconds_of (self.ru_stime) + seconds_of (children.ru_utime)
         + seconds_of (children.ru_stime);
}

/* user nice system idle iowait irq softirq steal, in ticks. */
static gboolean
read_times (const BenchWatch *watch, Times *times)
{
  g_autofree char *text = read_text (watch, "/proc/stat");
  gdouble tick = (gdouble) sysconf (_SC_CLK_TCK), fields[8] = { 0 };
  const char *rest = text;

  *times = (Times){ .mine = my_time () };
  if (text == NULL || !g_str_has_prefix (text, "cpu "))
    return FALSE;
  rest += strlen ("cpu ");
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      char *end;

      fields[i] = (gdouble) g_ascii_strtoull (rest, &end, 10) / tick;
      rest = end;
      times->all += fields[i];
    }
  times->stolen = fields[7];
  times->busy = times->all - fields[3] - fields[4] - fields[7];

  return TRUE;
}

/* The first processor of a core names it. */
static guint
first_sibling (const BenchWatch *watch, guint processor)
{
  g_autofree char *list = read_of_processor (watch, processor, "topology/thread_siblings_list");

  return list != NULL ? (guint) g_ascii_strtoull (list, NULL, 10) : processor;
}

static void
count_processors (BenchMachine *self)
{
  g_autoptr (GHashTable) cores = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < CPU_SETSIZE; i++)
    {
      g_autofree char *governor = NULL;

      if (!CPU_ISSET (i, &self->watch->allowed))
        continue;
      self->n_processors++;
      g_hash_table_add (cores, GUINT_TO_POINTER (first_sibling (self->watch, i)));
      governor = read_of_processor (self->watch, i, "cpufreq/scaling_governor");
      if (governor != NULL && self->governor == NULL)
        self->governor = g_steal_pointer (&governor);
      else if (governor != NULL && !g_str_equal (governor, self->governor))
        {
          g_free (self->governor);
          self->governor = g_strdup ("mixed");
        }
    }
  self->n_cores = g_hash_table_size (cores);
}

/* Of the fastest processor, in MHz; those without work may be slow. NAN: it is not told. */
static gdouble
read_frequency (const BenchMachine *self)
{
  gdouble fastest = NAN;

  for (guint i = 0; i < CPU_SETSIZE; i++)
    {
      g_autofree char *khz = CPU_ISSET (i, &self->watch->allowed)
                                 ? read_of_processor (self->watch, i, "cpufreq/scaling_cur_freq")
                                 : NULL;

      if (khz != NULL)
        fastest = fmax (fastest, g_ascii_strtod (khz, NULL) / 1e3);
    }

  return fastest;
}

/* --- judging ---------------------------------------------------------------------------------- */

BenchMachine *
bench_machine_new (const char *root)
{
  BenchMachine *self = g_new0 (BenchMachine, 1);
  g_autofree char *model = NULL;
  struct utsname name = { 0 };

  self->watch = g_new0 (BenchWatch, 1);
  self->watch->root = g_strdup (root);
  self->warnings = g_ptr_array_new_with_free_func (g_free);
  self->slowest = self->fastest = self->others = self->stolen = NAN;
  if (sched_getaffinity (0, sizeof self->watch->allowed, &self->watch->allowed) != 0)
    CPU_SET (0, &self->watch->allowed);
  count_processors (self);
  read_times (self->watch, &self->watch->start);
  model = cpu_model (self->watch);
  uname (&name);
  self->description = g_strdup_printf (
      "%s, %u processors, %s %s %s, GLib %u.%u.%u", model, g_get_num_processors (), name.sysname,
      name.release, name.machine, glib_major_version, glib_minor_version, glib_micro_version);
  if (getloadavg (self->load, G_N_ELEMENTS (self->load)) < (int) G_N_ELEMENTS (self->load))
    self->load[0] = self->load[1] = self->load[2] = -1;
  self->is_busy = self->load[0] > BENCH_BUSY_LOAD;

  return self;
}

void
bench_machine_free (BenchMachine *self)
{
  g_ptr_array_unref (self->warnings);
  g_free (self->watch->root);
  g_free (self->watch);
  g_free (self->governor);
  g_free (self->description);
  g_free (self);
}

void
bench_machine_look (gpointer data)
{
  BenchMachine *self = data;
  gdouble now = read_frequency (self);

  self->slowest = fmin (self->slowest, now);
  self->fastest = fmax (self->fastest, now);
}

void
bench_machine_warn (BenchMachine *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (self->warnings, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
judge_times (BenchMachine *self)
{
  const Times *start = &self->watch->start;
  Times now;
  gdouble all;

  if (!read_times (self->watch, &now) || start->all <= 0 || now.all <= start->all)
    return;
  all = (now.all - start->all) / 100;
  self->stolen = (now.stolen - start->stolen) / all;
  self->others = fmax (((now.busy - start->busy) - (now.mine - start->mine)) / all, 0);
  if (self->others > MOST_OF_OTHERS)
    bench_machine_warn (self, "other processes took %.0f %% of the processors' time while this ran",
                        self->others);
  if (self->stolen > MOST_STOLEN)
    bench_machine_warn (self,
                        "%.1f %% of the processors' time was stolen: the host gave it to other "
                        "virtual machines",
                        self->stolen);
}

static void
judge_frequency (BenchMachine *self)
{
  if (self->governor != NULL && !g_str_equal (self->governor, "performance"))
    bench_machine_warn (self,
                        "the frequency governor is “%s”, so short runs may be slow ones; choose "
                        "“performance”",
                        self->governor);
  if ((self->fastest / self->slowest - 1) * 100 > MOST_FREQUENCY)
    bench_machine_warn (self,
                        "the processors' frequency changed between rounds, from %.0f to %.0f MHz",
                        self->slowest, self->fastest);
}

void
bench_machine_judge (BenchMachine *self, guint most_workers)
{
  if (self->is_busy)
    bench_machine_warn (self, "the machine had other work when this began (load %.2f)",
                        self->load[0]);
  judge_times (self);
  if (self->n_cores < self->n_processors && most_workers > self->n_cores)
    bench_machine_warn (self,
                        "%u processors are hyper-threads of %u core%s: of %u workers some share "
                        "a core",
                        self->n_processors, self->n_cores, self->n_cores == 1 ? "" : "s",
                        most_workers);
  if (most_workers > self->n_processors)
    bench_machine_warn (self, "%u workers share %u processors", most_workers, self->n_processors);
  judge_frequency (self);
}
