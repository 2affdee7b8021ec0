/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Marks for Sysprof's timeline.
 */
#include "iris/base/iris-mark-private.h"

#ifdef IRIS_HAVE_SYSPROF
#include <stdarg.h>
#include <sysprof-capture.h>

bool iris_mark_wanted;

/* Before the first worker of the process starts. */
void
iris_mark_init (void)
{
  iris_mark_wanted = sysprof_collector_is_active ();
}

/* Sysprof's clock need not be ours, so only the duration is told by ours. */
void
iris_mark_write (int64_t begun_ns, const char *name, const char *format, ...)
{
  int64_t duration = iris_clock_ns () - begun_ns;
  va_list args;

  va_start (args, format);
  sysprof_collector_mark_vprintf (SYSPROF_CAPTURE_CURRENT_TIME - duration, duration, "iris", name,
                                  format, args);
  va_end (args);
}
#endif
