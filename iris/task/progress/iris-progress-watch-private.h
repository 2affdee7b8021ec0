/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The whole of a watch.
 *
 * References: the work holds the port, the port its receiver, the receiver the watch.
 * The monitor holds port and watch until the end is told. The watch knows both the monitor and the
 * task weakly.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/message/iris-message.h"
#include "iris/task/progress/iris-progress-watch.h"

struct _IrisProgressWatch
{
  gatomicrefcount ref_count;
  GWeakRef monitor;
  GWeakRef task;
  char *title;
  IrisProgressGroup *group;
  IrisProgressMode mode;
  double fraction;
  double weight;
  int processed;
  int total;
  bool over;
  bool cancelled;
};

IrisProgressWatch *iris_progress_watch_new (gpointer monitor,
                                            IrisTask *task,
                                            const char *title,
                                            IrisProgressGroup *group);
/* What a message says of it. */
void iris_progress_watch_note (IrisProgressWatch *self, IrisMessage *message);
