/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of SCHEDULES_REPLY: schedules, when they are due, and how their last runs ended.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireScheduleInfo:
 * @name: key 0, its name; owned
 * @owner: key 1, whose it is: the number of a user or key
 * @calendar: key 2, its line, or empty; owned
 * @every_ms: key 3, milliseconds from one run to the next; 0: it has a line
 * @zone: key 4, the time zone of the line, or empty; owned
 * @jitter_ms: key 5, each run is late by a time of its own, up to this one
 * @missed: key 6, an #IrisWireMissed
 * @overlap: key 7, an #IrisWireOverlap
 * @suspended: key 8, it makes no runs
 * @next_ms: key 9, when the next run begins, in Unix time; 0: never, or it waits for the last run
 * @last_ms: key 10, when the last run was submitted; 0: there was none
 * @item: key 11, the number of that run's item
 * @state: key 12, in which #IrisWireState that item ended; 0: it has not, or this is not known
 * @runs: key 13, how many runs there were
 * @skipped: key 14, how many runs were left out, because they were missed or overlapped
 * @service: key 15, the service of its items; owned
 * @args: key 16, their arguments; the rest of many is told as one `…`; owned
 * @exit_code: key 17, how the command of that item ended, as in #IrisWirePersistentItem
 * @node: key 18, the node that they are for, or empty; owned
 * @any_node: key 19, they are for any node
 * @place: key 20, the place that they are for, by its name or its number, or empty; owned
 * @strict: key 21, they run nowhere else
 *
 * One schedule.
 */
typedef struct
{
  char *name;
  guint64 owner;
  char *calendar;
  guint64 every_ms;
  char *zone;
  guint64 jitter_ms;
  guint32 missed;
  guint32 overlap;
  gboolean suspended;
  guint64 next_ms;
  guint64 last_ms;
  guint64 item;
  guint32 state;
  guint64 runs;
  guint64 skipped;
  char *service;
  char **args;
  guint32 exit_code;
  char *node;
  gboolean any_node;
  char *place;
  gboolean strict;
} IrisWireScheduleInfo;

/**
 * IrisWireSchedules:
 * @n_schedules: length of @schedules
 * @schedules: (array length=n_schedules): in the order of their owners and names; owned
 *
 * Some of them.
 */
typedef struct
{
  guint n_schedules;
  IrisWireScheduleInfo *schedules;
} IrisWireSchedules;

/**
 * iris_wire_schedules_new:
 *
 * Returns: (transfer full): schedules that are all zeroes; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireSchedules *iris_wire_schedules_new (guint n_schedules);

/**
 * iris_wire_schedules_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_schedules_free (IrisWireSchedules *self);

/**
 * iris_wire_schedules_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *iris_wire_schedules_encode (const IrisWireSchedules *self,
                                    const IrisWireLimits *limits,
                                    GError **error);

/**
 * iris_wire_schedules_decode:
 * @body: the body of a SCHEDULES_REPLY
 *
 * Returns: (transfer full): the schedules, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireSchedules *
iris_wire_schedules_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_schedules_to_variant:
 *
 * The same by the names of the protocol: an array of dictionaries, "aa{sv}".
 *
 * Returns: (transfer none): a floating value
 */
IRIS_AVAILABLE_IN_ALL
GVariant *iris_wire_schedules_to_variant (const IrisWireSchedules *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireSchedules, iris_wire_schedules_free)

G_END_DECLS
