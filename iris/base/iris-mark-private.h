/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Marks for Sysprof's timeline; doc/tracing.md lists them.
 *
 * Without libsysprof-capture, or with -Dsysprof=disabled, a mark is nothing, and its arguments are
 * not evaluated. With it, a mark looks at one flag, which says whether Sysprof started the process.
 */
#pragma once

#ifdef IRIS_HAVE_SYSPROF
#include "iris/base/iris-clock-private.h"

/* Written once, by iris_mark_init(). */
extern bool iris_mark_wanted;

void iris_mark_init (void);
void iris_mark_write (int64_t begun_ns, const char *name, const char *format, ...)
    __attribute__ ((format (printf, 3, 4), cold));

/* From @begun_ns, a moment of iris_clock_ns(), until now. */
#define iris_mark(begun_ns, name, ...)                   \
  do                                                     \
    if (iris_unlikely (iris_mark_wanted))                \
      iris_mark_write ((begun_ns), (name), __VA_ARGS__); \
  while (0)
#else
#define iris_mark_init()               ((void) 0)
#define iris_mark(begun_ns, name, ...) ((void) 0)
#endif
