/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisd says about itself: its counters, those of its places, and its services.
 */
#include "iris-client-answer-private.h"

#include <iris-client/base/iris-client-counted-private.h>

static void
iris_client_status_clear (IrisClientStatus *self)
{
  g_free (self->version);
  g_free (self->scheduler);
  g_free (self->journal);
  g_free (self->journal_says);
  g_ptr_array_unref (self->places);
}

/**
 * iris_client_status_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_client_status_unref:
 * @self: (transfer full): a status
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisClientStatus, iris_client_status)

static void
iris_client_place_status_clear (IrisClientPlaceStatus *self)
{
  g_free (self->name);
}

/**
 * iris_client_place_status_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_client_place_status_unref:
 * @self: (transfer full): the counters of a place
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisClientPlaceStatus, iris_client_place_status)

static void
iris_client_service_clear (IrisClientService *self)
{
  g_free (self->name);
  g_free (self->summary);
}

/**
 * iris_client_service_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_client_service_unref:
 * @self: (transfer full): a service
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisClientService, iris_client_service)

static IrisClientPlaceStatus *
place_status_new (const IrisWirePlaceStatus *place)
{
  IrisClientPlaceStatus *self = g_atomic_rc_box_new0 (IrisClientPlaceStatus);

  self->id = (int) place->id;
  self->name = g_strdup (place->name);
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

/* The text for people of CHANGED. */
gpointer
iris_client_message_read (const IrisWireMessage *answer, GError **error)
{
  return answer->message.len > 0 ? iris_wire_string_dup (&answer->message) : g_strdup ("");
}

/* Of a future irisd there may be more entries than there are by default. */
gpointer
iris_client_statistics_read (const IrisWireMessage *answer, GError **error)
{
  IrisWireLimits limits = *iris_wire_limits_default ();

  limits.max_entries = G_MAXUINT16;
  g_autoptr (IrisWireStatistics)
      statistics = iris_wire_statistics_decode (answer->body, &limits, error);
  return statistics != NULL ? g_variant_ref_sink (iris_wire_statistics_to_variant (statistics))
                            : NULL;
}

/* With the number of the next one, "(taa{sv})". */
gpointer
iris_client_spans_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWireSpans) spans = iris_wire_spans_decode (answer->body, NULL, error);

  return spans != NULL ? g_variant_ref_sink (
             g_variant_new ("(t@aa{sv})", answer->offset, iris_wire_spans_to_variant (spans)))
                       : NULL;
}

/* With what the next page begins behind, "(ayaa{sv})". */
gpointer
iris_client_schedules_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWireSchedules) schedules = iris_wire_schedules_decode (answer->body, NULL, error);

  return schedules != NULL ? g_variant_ref_sink (g_variant_new (
             "(@ay@aa{sv})",
             g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, answer->key.data, answer->key.len, 1),
             iris_wire_schedules_to_variant (schedules)))
                           : NULL;
}

gpointer
iris_client_queues_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWireQueues) queues = iris_wire_queues_decode (answer->body, NULL, error);

  return queues != NULL ? g_variant_ref_sink (iris_wire_queues_to_variant (queues)) : NULL;
}

gpointer
iris_client_nodes_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWireNodes) nodes = iris_wire_nodes_decode (answer->body, NULL, error);

  return nodes != NULL ? g_variant_ref_sink (iris_wire_nodes_to_variant (nodes)) : NULL;
}

gpointer
iris_client_encoded_statistics_read (const IrisWireMessage *answer, GError **error)
{
  return g_bytes_new (answer->body.data, answer->body.size);
}

gpointer
iris_client_status_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWireStatus) status = iris_wire_status_decode (answer->body, NULL, error);
  IrisClientStatus *self;

  if (status == NULL)
    return NULL;
  self = g_atomic_rc_box_new0 (IrisClientStatus);
  self->version = g_strdup (status->version);
  self->scheduler = g_strdup (status->scheduler);
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
  self->journal = g_strdup (status->journal);
  self->journal_says = g_strdup (status->journal_says);
  self->persistent = status->persistent;
  self->persistent_ended = status->persistent_ended;
  self->damaged = status->damaged;
  self->held_back = status->held_back;
  self->places = g_ptr_array_new_full (status->n_places,
                                       (GDestroyNotify) iris_client_place_status_unref);
  for (guint i = 0; i < status->n_places; i++)
    g_ptr_array_add (self->places, place_status_new (&status->places[i]));
  return self;
}

gpointer
iris_client_services_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWireServices) services = iris_wire_services_decode (answer->body, NULL, error);
  GPtrArray *list;

  if (services == NULL)
    return NULL;
  list = g_ptr_array_new_full (services->n_services, (GDestroyNotify) iris_client_service_unref);
  for (guint i = 0; i < services->n_services; i++)
    {
      IrisClientService *service = g_atomic_rc_box_new0 (IrisClientService);

      service->name = g_strdup (services->services[i].name);
      service->summary = g_strdup (services->services[i].summary);
      g_ptr_array_add (list, service);
    }
  return list;
}

/* With the folder, "(msaa{sv})". */
gpointer
iris_client_keys_read (const IrisWireMessage *answer, GError **error)
{
  IrisWireLimits limits = *iris_wire_limits_default ();

  limits.max_entries = G_MAXUINT16;
  g_autoptr (IrisWireClientKeys) keys = iris_wire_client_keys_decode (answer->body, &limits, error);
  g_autofree char *dir = iris_wire_message_has (answer, IRIS_WIRE_KEY_PATH)
                             ? iris_wire_string_dup (&answer->path)
                             : NULL;
  return keys != NULL ? g_variant_ref_sink (
             g_variant_new ("(m^ay@aa{sv})", dir, iris_wire_client_keys_to_variant (keys)))
                      : NULL;
}
