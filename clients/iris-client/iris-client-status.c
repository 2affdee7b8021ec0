/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisd says about itself: its counters, those of its places, and its services.
 */
#include "iris-client-status-private.h"

G_DEFINE_BOXED_TYPE (IrisClientStatus,
                     iris_client_status,
                     iris_client_status_ref,
                     iris_client_status_unref)
G_DEFINE_BOXED_TYPE (IrisClientPlaceStatus,
                     iris_client_place_status,
                     iris_client_place_status_ref,
                     iris_client_place_status_unref)
G_DEFINE_BOXED_TYPE (IrisClientService,
                     iris_client_service,
                     iris_client_service_ref,
                     iris_client_service_unref)

/**
 * iris_client_status_ref:
 *
 * Adds a reference. Safe from any thread.
 *
 * Returns: (transfer full): @self
 */
IrisClientStatus *
iris_client_status_ref (IrisClientStatus *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

static void
iris_client_status_clear (gpointer data)
{
  IrisClientStatus *self = data;

  g_free (self->version);
  g_free (self->scheduler);
  g_free (self->journal);
  g_free (self->journal_says);
  g_ptr_array_unref (self->places);
}

/**
 * iris_client_status_unref:
 * @self: (transfer full): a status
 *
 * Drops a reference. Safe from any thread.
 */
void
iris_client_status_unref (IrisClientStatus *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release_full (self, iris_client_status_clear);
}

/**
 * iris_client_place_status_ref:
 * @self: the counters of a place
 *
 * Adds a reference. Safe from any thread.
 *
 * Returns: (transfer full): @self
 */
IrisClientPlaceStatus *
iris_client_place_status_ref (IrisClientPlaceStatus *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

static void
iris_client_place_status_clear (gpointer data)
{
  IrisClientPlaceStatus *self = data;

  g_free (self->name);
}

/**
 * iris_client_place_status_unref:
 * @self: (transfer full): the counters of a place
 *
 * Drops a reference. Safe from any thread.
 */
void
iris_client_place_status_unref (IrisClientPlaceStatus *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release_full (self, iris_client_place_status_clear);
}

/**
 * iris_client_service_ref:
 *
 * Adds a reference. Safe from any thread.
 *
 * Returns: (transfer full): @self
 */
IrisClientService *
iris_client_service_ref (IrisClientService *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

static void
iris_client_service_clear (gpointer data)
{
  IrisClientService *self = data;

  g_free (self->name);
  g_free (self->summary);
}

/**
 * iris_client_service_unref:
 * @self: (transfer full): a service
 *
 * Drops a reference. Safe from any thread.
 */
void
iris_client_service_unref (IrisClientService *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release_full (self, iris_client_service_clear);
}

static char *
dup_or_empty (const char *text)
{
  return g_strdup (text != NULL ? text : "");
}

static IrisClientPlaceStatus *
iris_client_place_status_new_from_wire (const IrisWirePlaceStatus *place)
{
  IrisClientPlaceStatus *self = g_atomic_rc_box_new0 (IrisClientPlaceStatus);

  self->id = (int) place->id;
  self->name = dup_or_empty (place->name);
  self->workers = place->workers;
  self->hinted = place->hinted;
  self->executed = place->executed;
  self->stolen_in = place->stolen_in;
  self->stolen_out = place->stolen_out;
  self->bytes = place->bytes;
  self->busy_ns = place->busy_ns;
  self->drained = place->drained;
  self->active = place->active;
  self->backlog = place->backlog;
  return self;
}

IrisClientStatus *
iris_client_status_new_from_wire (const IrisWireStatus *status)
{
  IrisClientStatus *self = g_atomic_rc_box_new0 (IrisClientStatus);

  self->version = dup_or_empty (status->version);
  self->scheduler = dup_or_empty (status->scheduler);
  self->pid = status->pid;
  self->uptime_ms = status->uptime_ms;
  self->draining = status->draining;
  self->peers = status->peers;
  self->in_flight = status->in_flight;
  self->accepted = status->accepted;
  self->ended = status->ended;
  self->failed = status->failed;
  self->malformed = status->malformed;
  self->refused = status->refused;
  self->ready = status->ready;
  self->journal = dup_or_empty (status->journal);
  self->journal_says = dup_or_empty (status->journal_says);
  self->persistent = status->persistent;
  self->persistent_ended = status->persistent_ended;
  self->damaged = status->damaged;
  self->held_back = status->held_back;
  self->places = g_ptr_array_new_full (status->n_places,
                                       (GDestroyNotify) iris_client_place_status_unref);
  for (guint i = 0; i < status->n_places; i++)
    g_ptr_array_add (self->places, iris_client_place_status_new_from_wire (&status->places[i]));
  return self;
}

GPtrArray *
iris_client_services_new_from_wire (const IrisWireServices *services)
{
  GPtrArray *list = g_ptr_array_new_full (services->n_services,
                                          (GDestroyNotify) iris_client_service_unref);

  for (guint i = 0; i < services->n_services; i++)
    {
      IrisClientService *service = g_atomic_rc_box_new0 (IrisClientService);

      service->name = dup_or_empty (services->services[i].name);
      service->summary = dup_or_empty (services->services[i].summary);
      g_ptr_array_add (list, service);
    }
  return list;
}
