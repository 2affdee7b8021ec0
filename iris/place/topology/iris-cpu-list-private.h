/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lists of cpus as text, in the form that the kernel writes: "0-3,8".
 */
#pragma once

#include <glib.h>
#include <hwloc.h>

/* The highest cpu number that a list may name. Linux itself ends at 8191; a text that names more is
 * a mistake, and the bitmap that it would need is memory for nothing. */
#define IRIS_CPU_LIST_MAX_CPU 65535

hwloc_bitmap_t iris_cpu_list_parse (const char *text, GError **error);
char *iris_cpu_list_format (hwloc_const_bitmap_t cpus);
