/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisd says about itself: its counters, those of its places, and its services.
 */
#pragma once

#include <iris-client/base/iris-client-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_CLIENT_TYPE_STATUS       (iris_client_status_get_type ())
#define IRIS_CLIENT_TYPE_PLACE_STATUS (iris_client_place_status_get_type ())
#define IRIS_CLIENT_TYPE_SERVICE      (iris_client_service_get_type ())

/**
 * IrisClientPlaceStatus:
 * @id: the place
 * @name: its name
 * @workers: its workers
 * @hinted: items queued at it because their hint said so
 * @executed: items that ran at it
 * @stolen_in: items that it took from other places
 * @stolen_out: items that other places took from it
 * @bytes: bytes that its items worked on
 * @busy_ns: nanoseconds that its items ran for
 * @drained: whether it takes no items
 * @active: how many of its workers are to take part
 * @backlog: items that were queued at it and have not come back
 *
 * The counters of a place, since irisd started. Its fields are to be read only.
 */
typedef struct
{
  int id;
  char *name;
  guint workers;
  guint64 hinted;
  guint64 executed;
  guint64 stolen_in;
  guint64 stolen_out;
  guint64 bytes;
  guint64 busy_ns;
  gboolean drained;
  guint active;
  guint64 backlog;
} IrisClientPlaceStatus;

/**
 * IrisClientStatus:
 * @version: irisd's version
 * @pid: its process id
 * @uptime_ms: milliseconds since it started
 * @scheduler: the name of its scheduler
 * @draining: whether it is stopping: it finishes what it has and takes nothing more
 * @peers: connections to it
 * @in_flight: items accepted and not ended
 * @accepted: items accepted so far
 * @ended: items ended so far, failed ones included
 * @failed: items that ended with an error
 * @malformed: messages that it could not read
 * @refused: items refused as busy
 * @ready: whether it takes all kinds of items
 * @journal: `none`, `ready`, `full` (only ends are written) or `failed` (nothing is)
 * @journal_says: why the journal is not ready, else empty
 * @persistent: items that it keeps
 * @persistent_ended: of those that it keeps, the ones that have ended
 * @damaged: what of the journal could not be read when irisd was started
 * @held_back: items that wait because as many of their client or service run as may
 * @places: (element-type IrisClientPlaceStatus): the places, by id
 *
 * The state of irisd. Its fields are to be read only.
 */
typedef struct
{
  char *version;
  guint64 pid;
  guint64 uptime_ms;
  char *scheduler;
  gboolean draining;
  guint64 peers;
  guint64 in_flight;
  guint64 accepted;
  guint64 ended;
  guint64 failed;
  guint64 malformed;
  guint64 refused;
  gboolean ready;
  char *journal;
  char *journal_says;
  guint64 persistent;
  guint64 persistent_ended;
  guint64 damaged;
  guint64 held_back;
  GPtrArray *places;
} IrisClientStatus;

/**
 * IrisClientService:
 * @name: what items name it by
 * @summary: one line about what it does
 *
 * A service that irisd offers. Its fields are to be read only.
 */
typedef struct
{
  char *name;
  char *summary;
} IrisClientService;

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_client_status_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientStatus *iris_client_status_ref (IrisClientStatus *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_status_unref (IrisClientStatus *self);

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_client_place_status_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientPlaceStatus *iris_client_place_status_ref (IrisClientPlaceStatus *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_place_status_unref (IrisClientPlaceStatus *self);

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_client_service_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisClientService *iris_client_service_ref (IrisClientService *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_client_service_unref (IrisClientService *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisClientStatus, iris_client_status_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisClientPlaceStatus, iris_client_place_status_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisClientService, iris_client_service_unref)

G_END_DECLS
