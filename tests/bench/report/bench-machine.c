/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The machine on which a figure was measured, in one line, and whether it had other work.
 */
#include "tests/bench/report/bench-report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static char *
cpu_model (void)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL))
    return g_strdup ("unknown processor");
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "model name"))
      {
        const char *colon = strchr (lines[i], ':');

        if (colon != NULL)
          return g_strstrip (g_strdup (colon + 1));
      }

  return g_strdup ("unknown processor");
}

BenchMachine *
bench_machine_new (void)
{
  BenchMachine *self = g_new0 (BenchMachine, 1);
  g_autofree char *model = cpu_model ();
  struct utsname name = { 0 };

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
  g_free (self->description);
  g_free (self);
}
