/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a pool that runs on threads of ours does without: forks, bound threads, messages for
 * debugging, and the watch for other programs.
 */
#pragma once

/* No worker forks; scenario-forks.c has that. */

IrisForkStack *
iris_place_queues_get_forks (IrisWorkerPool *pool, IrisWorker *self)
{
  return NULL;
}

IrisItem *
iris_place_queues_steal_fork (IrisWorkerPool *pool, IrisWorker *self)
{
  return NULL;
}

bool
iris_place_queues_has_forks (IrisWorkerPool *pool)
{
  return false;
}

void
iris_fork_stack_clear (IrisForkStack *self)
{
}

gboolean
iris_place_is_bound (const IrisPlace *self)
{
  return FALSE;
}

gboolean
iris_place_bind_current_thread (const IrisPlace *self, guint index, GError **error)
{
  return TRUE;
}

unsigned iris_debug_keys;

void
iris_debug_init (void)
{
}

void
iris_debug_print (const char *format, ...)
{
}

void
iris_contention_start (IrisContention *self)
{
}

void
iris_contention_stop (IrisContention *self)
{
}

void
iris_contention_free (IrisContention *self)
{
}

void
iris_contention_rouse (IrisContention *self)
{
}
