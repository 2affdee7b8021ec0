/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl places, services and status: what irisd is.
 */
#include "irisctl-command.h"
#include "irisctl-json.h"
#include "irisctl-table.h"

/* Parses a command line without arguments, and connects. */
static gboolean
begin (Irisctl *self, const char *command, int argc, char **argv, int *status)
{
  *status = IRISCTL_USAGE;
  if (!irisctl_parse (self, command, NULL, NULL, &argc, &argv))
    return FALSE;
  if (argc > 1)
    {
      irisctl_usage (command, "%s takes no arguments", command);
      return FALSE;
    }
  return irisctl_connect (self, status);
}

static void
print_table (IrisctlTable *table)
{
  g_autofree char *text = irisctl_table_format (table);

  g_print ("%s", text);
}

static char *
format_distances (IrisClientPlace *place)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < place->n_distances; i++)
    g_string_append_printf (text, "%s%u", i == 0 ? "" : " ", place->distances[i]);
  return g_string_free (text, FALSE);
}

static void
places_as_json (GPtrArray *places)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_array (json);
  for (guint i = 0; i < places->len; i++)
    {
      IrisClientPlace *place = g_ptr_array_index (places, i);

      json_builder_begin_object (json);
      irisctl_json_int (json, "id", place->id);
      irisctl_json_string (json, "name", place->name);
      irisctl_json_string (json, "cpus", place->cpus);
      irisctl_json_string (json, "memory-nodes", place->memory_nodes);
      irisctl_json_int (json, "workers", place->workers);
      irisctl_json_boolean (json, "bound", place->bound);
      irisctl_json_string (json, "endpoint", place->endpoint);
      json_builder_set_member_name (json, "distances");
      json_builder_begin_array (json);
      for (guint j = 0; j < place->n_distances; j++)
        json_builder_add_int_value (json, place->distances[j]);
      json_builder_end_array (json);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  irisctl_json_print (json);
}

static void
places_as_table (GPtrArray *places, gboolean verbose)
{
  g_autoptr (IrisctlTable)
      table = irisctl_table_new (verbose ? ">ID|NAME|CPUS|MEMORY|>WORKERS|BOUND|DISTANCES|ENDPOINT"
                                         : ">ID|NAME|CPUS|MEMORY|>WORKERS|BOUND|DISTANCES");

  for (guint i = 0; i < places->len; i++)
    {
      IrisClientPlace *place = g_ptr_array_index (places, i);
      g_autofree char *distances = format_distances (place);

      irisctl_table_addf (table, "%d", place->id);
      irisctl_table_add (table, place->name);
      irisctl_table_add (table, place->cpus);
      irisctl_table_add (table, place->memory_nodes);
      irisctl_table_addf (table, "%u", place->workers);
      irisctl_table_add (table, place->bound ? "yes" : "no");
      irisctl_table_add (table, distances);
      if (verbose)
        irisctl_table_add (table, place->endpoint);
    }
  print_table (table);
}

int
irisctl_places (Irisctl *self, int argc, char **argv)
{
  g_autoptr (GPtrArray) places = NULL;
  int status;

  if (!begin (self, "places", argc, argv, &status))
    return status;
  places = iris_client_get_places (self->client);
  if (self->globals.json)
    places_as_json (places);
  else
    places_as_table (places, self->globals.verbose);
  return IRISCTL_OK;
}

typedef struct
{
  gboolean done;
  GPtrArray *services;
  IrisClientStatus *status;
  GError *error;
} Answer;

static void
services_ready (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Answer *answer = user_data;

  answer->services = iris_client_get_services_finish (IRIS_CLIENT (source), result, &answer->error);
  answer->done = TRUE;
}

static void
services_as_json (GPtrArray *services)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_array (json);
  for (guint i = 0; i < services->len; i++)
    {
      IrisClientService *service = g_ptr_array_index (services, i);

      json_builder_begin_object (json);
      irisctl_json_string (json, "name", service->name);
      irisctl_json_string (json, "summary", service->summary);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  irisctl_json_print (json);
}

static void
services_as_table (GPtrArray *services)
{
  g_autoptr (IrisctlTable) table = irisctl_table_new ("NAME|SUMMARY");

  for (guint i = 0; i < services->len; i++)
    {
      IrisClientService *service = g_ptr_array_index (services, i);

      irisctl_table_add (table, service->name);
      irisctl_table_add (table, service->summary);
    }
  print_table (table);
}

int
irisctl_services (Irisctl *self, int argc, char **argv)
{
  g_autoptr (GPtrArray) services = NULL;
  g_autoptr (GError) error = NULL;
  Answer answer = { 0 };
  int status;

  if (!begin (self, "services", argc, argv, &status))
    return status;
  iris_client_get_services_async (self->client, NULL, services_ready, &answer);
  while (!answer.done)
    g_main_context_iteration (NULL, TRUE);
  services = answer.services;
  error = answer.error;
  if (services == NULL)
    return irisctl_report (self, error);
  if (self->globals.json)
    services_as_json (services);
  else
    services_as_table (services);
  return IRISCTL_OK;
}

static void
status_ready (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Answer *answer = user_data;

  answer->status = iris_client_get_status_finish (IRIS_CLIENT (source), result, &answer->error);
  answer->done = TRUE;
}

static void
place_status_as_json (JsonBuilder *json, IrisClientPlaceStatus *place)
{
  json_builder_begin_object (json);
  irisctl_json_int (json, "id", place->id);
  irisctl_json_string (json, "name", place->name);
  irisctl_json_int (json, "workers", place->workers);
  irisctl_json_int (json, "hinted", (gint64) place->hinted);
  irisctl_json_int (json, "executed", (gint64) place->executed);
  irisctl_json_int (json, "stolen-in", (gint64) place->stolen_in);
  irisctl_json_int (json, "stolen-out", (gint64) place->stolen_out);
  irisctl_json_int (json, "bytes", (gint64) place->bytes);
  irisctl_json_int (json, "busy-ns", (gint64) place->busy_ns);
  json_builder_end_object (json);
}

static void
status_as_json (IrisClientStatus *status)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  irisctl_json_string (json, "version", status->version);
  irisctl_json_int (json, "pid", (gint64) status->pid);
  irisctl_json_int (json, "uptime-ms", (gint64) status->uptime_ms);
  irisctl_json_string (json, "scheduler", status->scheduler);
  irisctl_json_boolean (json, "draining", status->draining);
  irisctl_json_int (json, "peers", (gint64) status->peers);
  irisctl_json_int (json, "in-flight", (gint64) status->in_flight);
  irisctl_json_int (json, "accepted", (gint64) status->accepted);
  irisctl_json_int (json, "ended", (gint64) status->ended);
  irisctl_json_int (json, "failed", (gint64) status->failed);
  irisctl_json_int (json, "refused", (gint64) status->refused);
  irisctl_json_int (json, "malformed", (gint64) status->malformed);
  json_builder_set_member_name (json, "places");
  json_builder_begin_array (json);
  for (guint i = 0; i < status->places->len; i++)
    place_status_as_json (json, g_ptr_array_index (status->places, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
  irisctl_json_print (json);
}

/* A duration in its two largest units. */
static char *
format_uptime (guint64 ms)
{
  guint64 s = ms / 1000;

  if (s < 60)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " s", s);
  if (s < 3600)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " min %" G_GUINT64_FORMAT " s", s / 60, s % 60);
  if (s < 86400)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " h %" G_GUINT64_FORMAT " min", s / 3600,
                            s / 60 % 60);
  return g_strdup_printf ("%" G_GUINT64_FORMAT " d %" G_GUINT64_FORMAT " h", s / 86400,
                          s / 3600 % 24);
}

static void
status_as_table (IrisClientStatus *status)
{
  g_autoptr (IrisctlTable) table = irisctl_table_new (
      ">ID|NAME|>WORKERS|>HINTED|>EXECUTED|>STOLEN IN|>STOLEN OUT|>SECONDS");
  g_autofree char *uptime = format_uptime (status->uptime_ms);

  g_print ("irisd %s, process %" G_GUINT64_FORMAT ", up %s, scheduler “%s”%s\n", status->version,
           status->pid, uptime, status->scheduler, status->draining ? ", stopping" : "");
  g_print ("items: %" G_GUINT64_FORMAT " accepted, %" G_GUINT64_FORMAT
           " in flight, %" G_GUINT64_FORMAT " ended (%" G_GUINT64_FORMAT " failed)\n",
           status->accepted, status->in_flight, status->ended, status->failed);
  g_print ("clients: %" G_GUINT64_FORMAT " connected, %" G_GUINT64_FORMAT
           " items refused, %" G_GUINT64_FORMAT " bad messages\n\n",
           status->peers, status->refused, status->malformed);
  for (guint i = 0; i < status->places->len; i++)
    {
      IrisClientPlaceStatus *place = g_ptr_array_index (status->places, i);

      irisctl_table_addf (table, "%d", place->id);
      irisctl_table_add (table, place->name);
      irisctl_table_addf (table, "%u", place->workers);
      irisctl_table_addf (table, "%" G_GUINT64_FORMAT, place->hinted);
      irisctl_table_addf (table, "%" G_GUINT64_FORMAT, place->executed);
      irisctl_table_addf (table, "%" G_GUINT64_FORMAT, place->stolen_in);
      irisctl_table_addf (table, "%" G_GUINT64_FORMAT, place->stolen_out);
      irisctl_table_addf (table, "%.3f", (double) place->busy_ns / 1e9);
    }
  print_table (table);
}

int
irisctl_status (Irisctl *self, int argc, char **argv)
{
  g_autoptr (IrisClientStatus) irisd = NULL;
  g_autoptr (GError) error = NULL;
  Answer answer = { 0 };
  int status;

  if (!begin (self, "status", argc, argv, &status))
    return status;
  iris_client_get_status_async (self->client, NULL, status_ready, &answer);
  while (!answer.done)
    g_main_context_iteration (NULL, TRUE);
  irisd = answer.status;
  error = answer.error;
  if (irisd == NULL)
    return irisctl_report (self, error);
  if (self->globals.json)
    status_as_json (irisd);
  else
    status_as_table (irisd);
  return IRISCTL_OK;
}
