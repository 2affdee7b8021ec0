/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Static probes (USDT) for bpftrace, SystemTap and perf; doc/tracing.md lists them.
 *
 * With <sys/sdt.h> a probe is one nop and a note in the library that says where its arguments are;
 * without it, or with -Dusdt=disabled, it is nothing, and its arguments are not evaluated.
 */
#pragma once

#ifdef IRIS_HAVE_USDT
#include <sys/sdt.h>
#define iris_probe1(name, a)       DTRACE_PROBE1 (iris, name, a)
#define iris_probe2(name, a, b)    DTRACE_PROBE2 (iris, name, a, b)
#define iris_probe3(name, a, b, c) DTRACE_PROBE3 (iris, name, a, b, c)
#else
#define iris_probe1(name, a)       ((void) 0)
#define iris_probe2(name, a, b)    ((void) 0)
#define iris_probe3(name, a, b, c) ((void) 0)
#endif
