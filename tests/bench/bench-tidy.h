/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Things that a benchmark makes outside itself, and that go with it: directories, and servers
 * that work in them.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Before there are other threads: from now on SIGHUP, SIGINT and SIGTERM tidy up, then end us. */
void bench_tidy_begin (void);

/* In a child, behind fork(): signals do there what they are used to. */
void bench_tidy_in_child (void);

char *bench_tidy_make_dir (const char *template, GError **error);
void bench_tidy_set_server (const char *dir, pid_t pid);
void bench_tidy_remove_dir (const char *dir);

G_END_DECLS
