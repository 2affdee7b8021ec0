/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Counters of the processor and the kernel over all threads of a run.
 *
 * Inheritance makes the kernel switch events with each thread, about a microsecond a switch where
 * they are the hardware's, so they are open only where they were asked for.
 */
#include "tests/bench/measure/bench-counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PMUS "/sys/bus/event_source/devices"

typedef struct
{
  const char *name;
  const char *label;
  guint32 type;
  guint64 config;
  const char *sysfs; /* the event's name there, instead of type and config */
} Event;

static const Event events[BENCH_N_COUNTERS] = {
  [BENCH_CYCLES] = { "cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
  [BENCH_INSTRUCTIONS] = { "instructions", "instructions", PERF_TYPE_HARDWARE,
                           PERF_COUNT_HW_INSTRUCTIONS },
  [BENCH_LL_REFERENCES] = { "ll_references", "last-level references", PERF_TYPE_HARDWARE,
                            PERF_COUNT_HW_CACHE_REFERENCES },
  [BENCH_LL_MISSES] = { "ll_misses", "last-level misses", PERF_TYPE_HARDWARE,
                        PERF_COUNT_HW_CACHE_MISSES },
  [BENCH_LL_HITS] = { "ll_hits", "last-level hits" },
  [BENCH_L2_REFERENCES] = { "l2_references", "L2 references", .sysfs = "l2d_cache" },
  [BENCH_L2_MISSES] = { "l2_misses", "L2 misses", .sysfs = "l2d_cache_refill" },
  [BENCH_TASK_CLOCK] = { "task_clock", "processor time, ns", PERF_TYPE_SOFTWARE,
                         PERF_COUNT_SW_TASK_CLOCK },
  [BENCH_PAGE_FAULTS] = { "page_faults", "page faults", PERF_TYPE_SOFTWARE,
                          PERF_COUNT_SW_PAGE_FAULTS },
  [BENCH_SWITCHES] = { "context_switches", "context switches", PERF_TYPE_SOFTWARE,
                       PERF_COUNT_SW_CONTEXT_SWITCHES },
  [BENCH_MIGRATIONS] = { "cpu_migrations", "migrations", PERF_TYPE_SOFTWARE,
                         PERF_COUNT_SW_CPU_MIGRATIONS },
};

typedef struct
{
  guint64 value;
  guint64 enabled; /* nanoseconds */
  guint64 running;
} Reading;

static int files[BENCH_N_COUNTERS] = { [0 ... BENCH_N_COUNTERS - 1] = -1 };
static Reading before[BENCH_N_COUNTERS];
static BenchCounts last;
static gboolean is_open, is_counting;

const char *
bench_counter_name (BenchCounter counter)
{
  return events[counter].name;
}

const char *
bench_counter_label (BenchCounter counter)
{
  return events[counter].label;
}

/* --- opening ---------------------------------------------------------------------------------- */

static gboolean
read_number (const char *folder, const char *name, const char *prefix, guint64 *number)
{
  g_autofree char *path = g_build_filename (PMUS, folder, name, NULL), *text = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL) || !g_str_has_prefix (text, prefix))
    return FALSE;
  *number = g_ascii_strtoull (text + strlen (prefix), NULL, 0);

  return TRUE;
}

/* An event that one of the processor's units names, such as "event=0x17". */
static gboolean
find_named (const char *event, struct perf_event_attr *attributes)
{
  g_autoptr (GDir) units = g_dir_open (PMUS, 0, NULL);
  g_autofree char *name = g_build_filename ("events", event, NULL);
  const char *unit;
  guint64 type, config;

  while (units != NULL && (unit = g_dir_read_name (units)) != NULL)
    if (read_number (unit, name, "event=", &config) && read_number (unit, "type", "", &type))
      {
        attributes->type = (guint32) type;
        attributes->config = config;
        return TRUE;
      }

  return FALSE;
}

/* The kernel's part is left out where an unprivileged process may not count it. */
static int
open_event (const Event *event)
{
  struct perf_event_attr attributes = { .type = event->type,
                                        .size = sizeof attributes,
                                        .config = event->config,
                                        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED
                                                       | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                        .inherit = 1,
                                        .exclude_hv = 1 };
  int file;

  if (event->sysfs != NULL && !find_named (event->sysfs, &attributes))
    {
      errno = ENOENT;
      return -1;
    }
  file = (int) syscall (SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (file < 0 && (errno == EACCES || errno == EPERM))
    {
      attributes.exclude_kernel = 1;
      file = (int) syscall (SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }

  return file;
}

static gboolean
is_hardware (BenchCounter counter)
{
  return counter < BENCH_TASK_CLOCK && counter != BENCH_LL_HITS;
}

static char *
describe_failure (int number)
{
  if (number == EACCES || number == EPERM)
    return g_strdup ("the kernel forbids them; lower /proc/sys/kernel/perf_event_paranoid to 2");
  if (number == ENOENT || number == EOPNOTSUPP || number == ENODEV)
    return g_strdup ("the processor, or the virtual machine, offers none");

  return g_strdup_printf ("perf_event_open: %s", g_strerror (number));
}

gboolean
bench_counters_open (BenchCounting what, char **why)
{
  gboolean has_hardware = FALSE;
  int number = 0;

  *why = NULL;
  for (guint i = BENCH_CYCLES; what != BENCH_COUNT_NOTHING && i < BENCH_N_COUNTERS; i++)
    {
      if (events[i].name == NULL || i == BENCH_LL_HITS
          || (!is_hardware (i) && what != BENCH_COUNT_ALL))
        continue;
      files[i] = open_event (&events[i]);
      if (files[i] >= 0)
        has_hardware = has_hardware || is_hardware (i);
      else if (number == 0)
        number = errno;
    }
  is_open = what != BENCH_COUNT_NOTHING;
  if (is_open && !has_hardware)
    *why = describe_failure (number);

  return has_hardware;
}

void
bench_counters_close (void)
{
  for (guint i = 0; i < BENCH_N_COUNTERS; i++)
    {
      if (files[i] >= 0)
        close (files[i]);
      files[i] = -1;
    }
  is_open = FALSE;
}

gboolean
bench_counters_are_open (void)
{
  return is_open;
}

gboolean
bench_counters_has (BenchCounter counter)
{
  if (counter == BENCH_LL_HITS)
    return files[BENCH_LL_REFERENCES] >= 0 && files[BENCH_LL_MISSES] >= 0;

  return files[counter] >= 0;
}

/* --- runs ------------------------------------------------------------------------------------- */

static gboolean
read_event (guint i, Reading *reading)
{
  return files[i] >= 0 && read (files[i], reading, sizeof *reading) == sizeof *reading;
}

void
bench_counters_begin (void)
{
  is_counting = is_open;
  for (guint i = 0; is_counting && i < BENCH_N_COUNTERS; i++)
    {
      if (files[i] >= 0 && !read_event (i, &before[i]))
        before[i] = (Reading){ 0 };
    }
}

/* What was counted in part of the time, for all of it. */
static gdouble
difference (const Reading *from, const Reading *to)
{
  gdouble value = (gdouble) (to->value - from->value);
  guint64 enabled = to->enabled - from->enabled, running = to->running - from->running;

  if (running == 0)
    return enabled == 0 ? value : NAN;

  return value * (gdouble) enabled / (gdouble) running;
}

void
bench_counters_end (void)
{
  Reading after;

  /* The workload may have ended it before its checks. */
  if (!is_counting)
    return;
  is_counting = FALSE;
  for (guint i = 0; i < BENCH_N_COUNTERS; i++)
    last.values[i] = read_event (i, &after) ? difference (&before[i], &after) : NAN;
  last.values[BENCH_LL_HITS] = last.values[BENCH_LL_REFERENCES] - last.values[BENCH_LL_MISSES];
}

BenchCounts
bench_counters_last (void)
{
  return last;
}
