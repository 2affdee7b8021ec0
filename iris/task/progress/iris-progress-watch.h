/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a monitor knows of the work that it watches, and of groups of it.
 */
#pragma once

#include <iris/task/iris-task.h>

G_BEGIN_DECLS

#define IRIS_TYPE_PROGRESS_GROUP (iris_progress_group_get_type ())
#define IRIS_TYPE_PROGRESS_WATCH (iris_progress_watch_get_type ())

/**
 * IrisProgressGroup:
 *
 * Watches that belong together, with a title of their own.
 */
typedef struct _IrisProgressGroup IrisProgressGroup;

/**
 * IrisProgressWatch:
 *
 * Some work that a monitor watches. It changes in the main context of the monitor, and is read
 * there.
 */
typedef struct _IrisProgressWatch IrisProgressWatch;

IRIS_AVAILABLE_IN_ALL GType iris_progress_group_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisProgressGroup *
iris_progress_group_new (const char *title, const char *plural);
IRIS_AVAILABLE_IN_ALL IrisProgressGroup *iris_progress_group_ref (IrisProgressGroup *self);
IRIS_AVAILABLE_IN_ALL void iris_progress_group_unref (IrisProgressGroup *self);
IRIS_AVAILABLE_IN_ALL const char *iris_progress_group_get_title (IrisProgressGroup *self);
IRIS_AVAILABLE_IN_ALL const char *iris_progress_group_get_plural (IrisProgressGroup *self);

IRIS_AVAILABLE_IN_ALL GType iris_progress_watch_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisProgressWatch *iris_progress_watch_ref (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL void iris_progress_watch_unref (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL const char *iris_progress_watch_get_title (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL IrisProgressGroup *iris_progress_watch_get_group (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL IrisProgressMode iris_progress_watch_get_mode (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL double iris_progress_watch_get_fraction (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL void
iris_progress_watch_get_items (IrisProgressWatch *self, int *processed_items, int *total_items);
IRIS_AVAILABLE_IN_ALL gboolean iris_progress_watch_is_over (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_progress_watch_is_cancelled (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL double iris_progress_watch_get_weight (IrisProgressWatch *self);
IRIS_AVAILABLE_IN_ALL void iris_progress_watch_set_weight (IrisProgressWatch *self, double weight);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisProgressGroup, iris_progress_group_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisProgressWatch, iris_progress_watch_unref)

G_END_DECLS
