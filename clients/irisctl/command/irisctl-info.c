/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl places, status: what irisd is and has.
 */
#include "clients/irisctl/output/irisctl-output.h"

static void
print_table (CtlTable *table)
{
  ctl_table_fit_terminal (table);
  ctl_table_flush (table);
}

/* How much of the time since irisd was started its workers have worked, 0 to 1. */
static double
load_of (const IrisClientStatus *status, const IrisClientPlaceStatus *place)
{
  double most = (double) status->uptime_ms * 1e6 * MAX (place->workers, 1);

  return most > 0 ? MIN ((double) place->busy_ns / most, 1) : 0;
}

/* irisd may have been started anew between the two answers, with other places. */
static const IrisClientPlaceStatus *
find_status (const IrisClientStatus *status, const IrisClientPlace *place)
{
  static const IrisClientPlaceStatus none = { .name = (char *) "" };

  return (guint) place->id < status->places->len
             ? g_ptr_array_index (status->places, (guint) place->id)
             : &none;
}

static void
place_json (JsonBuilder *builder, const IrisClientStatus *status, const IrisClientPlaceStatus *now)
{
  ctl_json_int (builder, "active", now->active);
  ctl_json_bool (builder, "drained", now->drained);
  ctl_json_double (builder, "load", load_of (status, now));
  ctl_json_int (builder, "backlog", (gint64) now->backlog);
  ctl_json_int (builder, "stolen_in", (gint64) now->stolen_in);
  ctl_json_int (builder, "stolen_out", (gint64) now->stolen_out);
}

static void
places_json (GPtrArray *places, const IrisClientStatus *status)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < places->len; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (places, i);

      json_builder_begin_object (builder);
      ctl_json_int (builder, "id", place->id);
      ctl_json_string (builder, "name", place->name);
      ctl_json_string (builder, "cpus", place->cpus);
      ctl_json_string (builder, "memory_nodes", place->memory_nodes);
      ctl_json_int (builder, "workers", place->workers);
      ctl_json_bool (builder, "bound", place->bound);
      place_json (builder, status, find_status (status, place));
      ctl_json_string (builder, "endpoint", place->endpoint);
      json_builder_set_member_name (builder, "distances");
      json_builder_begin_array (builder);
      for (guint j = 0; j < place->n_distances; j++)
        json_builder_add_int_value (builder, place->distances[j]);
      json_builder_end_array (builder);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  ctl_json_print (builder);
}

static void
add_place (CtlTable *table, const IrisClientStatus *now, const IrisClientPlace *place)
{
  const IrisClientPlaceStatus *it = find_status (now, place);

  ctl_table_add (table, ctl_number ((guint64) place->id), g_strdup (place->name),
                 g_strdup (place->cpus), ctl_number (place->workers), ctl_number (it->active),
                 g_strdup_printf ("%.0f %%", load_of (now, it) * 100), ctl_number (it->backlog),
                 ctl_number (it->stolen_in), ctl_number (it->stolen_out),
                 it->drained ? ctl_table_colour (CTL_COLOUR_YELLOW, g_strdup ("drained"))
                             : g_strdup ("open"),
                 g_strdup (place->memory_nodes), g_strdup (place->bound ? "yes" : "no"),
                 g_strdup (place->endpoint));
}

static int
run_places (Ctl *ctl, int argc, char **argv)
{
  static const char *const headings[] = { ">id",     "name",     "cpus",      ">workers", ">active",
                                          ">load",   ">backlog", ">in",       ">out",     "state",
                                          "+memory", "+bound",   "+endpoint", NULL };
  g_autoptr (CtlTable) table = NULL;
  g_autoptr (IrisClientStatus) now = NULL;
  g_autoptr (GPtrArray) places = NULL;
  g_autoptr (GError) error = NULL;
  int status = ctl_connect (ctl);

  if (status != CTL_OK)
    return status;

  now = ctl_get_status (ctl, &error);
  if (now == NULL)
    return ctl_fail_asking (error, 0);
  places = iris_client_get_places (ctl->client);
  if (ctl->json)
    {
      places_json (places, now);
      return CTL_OK;
    }
  table = ctl_table_new (headings, ctl->verbose);
  for (guint i = 0; i < places->len; i++)
    add_place (table, now, g_ptr_array_index (places, i));
  print_table (table);

  return CTL_OK;
}

const CtlCommand ctl_places = {
  .name = "places",
  .arguments = "",
  .summary = "list the places, their cpus, workers and load",
  .description =
      "The load is the part of the time since irisd was started that the workers\n"
      "worked; commands and worker processes have no worker. In and out are the items\n"
      "that a place has stolen and that were stolen from it. With --verbose there are\n"
      "more columns: memory, whether workers are bound to the cpus, and the endpoint.\n\n"
      "Example:\n"
      "  irisctl places --json | jq '.[].name'\n",
  .asks_only = TRUE,
  .run = run_places,
};

static void
status_json (const IrisClientStatus *status)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  ctl_json_string (builder, "version", status->version);
  ctl_json_int (builder, "pid", (gint64) status->pid);
  ctl_json_double (builder, "uptime_s", status->uptime_ms / 1e3);
  ctl_json_string (builder, "scheduler", status->scheduler);
  ctl_json_bool (builder, "draining", status->draining);
  ctl_json_int (builder, "clients", (gint64) status->peers);
  ctl_json_int (builder, "in_flight", (gint64) status->in_flight);
  ctl_json_int (builder, "accepted", (gint64) status->accepted);
  ctl_json_int (builder, "ended", (gint64) status->ended);
  ctl_json_int (builder, "failed", (gint64) status->failed);
  ctl_json_int (builder, "malformed", (gint64) status->malformed);
  ctl_json_int (builder, "refused", (gint64) status->refused);
  ctl_json_bool (builder, "ready", status->ready);
  ctl_json_string (builder, "journal", status->journal);
  ctl_json_string (builder, "journal_says", status->journal_says);
  ctl_json_int (builder, "persistent", (gint64) status->persistent);
  ctl_json_int (builder, "persistent_ended", (gint64) status->persistent_ended);
  ctl_json_int (builder, "damaged", (gint64) status->damaged);
  ctl_json_int (builder, "held_back", (gint64) status->held_back);
  json_builder_set_member_name (builder, "places");
  json_builder_begin_array (builder);
  for (guint i = 0; i < status->places->len; i++)
    {
      const IrisClientPlaceStatus *place = g_ptr_array_index (status->places, i);

      json_builder_begin_object (builder);
      ctl_json_int (builder, "id", place->id);
      ctl_json_string (builder, "name", place->name);
      ctl_json_int (builder, "workers", place->workers);
      ctl_json_int (builder, "active", place->active);
      ctl_json_bool (builder, "drained", place->drained);
      ctl_json_int (builder, "backlog", (gint64) place->backlog);
      ctl_json_int (builder, "hinted", (gint64) place->hinted);
      ctl_json_int (builder, "executed", (gint64) place->executed);
      ctl_json_int (builder, "stolen_in", (gint64) place->stolen_in);
      ctl_json_int (builder, "stolen_out", (gint64) place->stolen_out);
      ctl_json_int (builder, "bytes", (gint64) place->bytes);
      ctl_json_double (builder, "busy_s", place->busy_ns / 1e9);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  ctl_json_print (builder);
}

static void
status_text (const IrisClientStatus *status)
{
  static const char *const headings[] = { "place",     ">workers",   ">hinted",
                                          ">executed", ">stolen in", ">stolen out",
                                          ">bytes",    ">busy s",    NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, FALSE);
  g_autofree char *clients = NULL;

  clients = ctl_count (status->peers, "client");
  g_print ("irisd %s, process %" G_GUINT64_FORMAT ", up %.0f s, scheduler %s%s\n", status->version,
           status->pid, status->uptime_ms / 1e3, status->scheduler,
           status->draining ? ", draining" : "");
  g_print ("%s; items: %" G_GUINT64_FORMAT " accepted, %" G_GUINT64_FORMAT
           " ended (%" G_GUINT64_FORMAT " failed), %" G_GUINT64_FORMAT " not ended\n"
           "refused for a limit: %" G_GUINT64_FORMAT
           "; messages that did not parse: %" G_GUINT64_FORMAT "\n",
           clients, status->accepted, status->ended, status->failed, status->in_flight,
           status->refused, status->malformed);
  if (!g_str_equal (status->journal, "none"))
    g_print ("journal %s%s%s; persistent items: %" G_GUINT64_FORMAT "; damaged: %" G_GUINT64_FORMAT
             "\n",
             status->journal, *status->journal_says != '\0' ? ": " : "", status->journal_says,
             status->persistent, status->damaged);
  if (status->held_back > 0)
    g_print ("%" G_GUINT64_FORMAT " %s for others of their client or service to end\n",
             status->held_back, status->held_back == 1 ? "item waits" : "items wait");
  g_print ("\n");
  for (guint i = 0; i < status->places->len; i++)
    {
      const IrisClientPlaceStatus *place = g_ptr_array_index (status->places, i);

      ctl_table_add (table, g_strdup (place->name), ctl_number (place->workers),
                     ctl_number (place->hinted), ctl_number (place->executed),
                     ctl_number (place->stolen_in), ctl_number (place->stolen_out),
                     ctl_number (place->bytes), ctl_seconds (place->busy_ns));
    }
  print_table (table);
}

static int
run_status (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisClientStatus) status = NULL;
  g_autoptr (GError) error = NULL;
  int code = ctl_connect (ctl);

  if (code != CTL_OK)
    return code;
  status = ctl_get_status (ctl, &error);
  if (status == NULL)
    return ctl_fail_asking (error, 0);

  if (ctl->json)
    status_json (status);
  else
    status_text (status);

  return CTL_OK;
}

const CtlCommand ctl_status = {
  .name = "status",
  .arguments = "",
  .summary = "show what irisd has done and is doing, place by place",
  .asks_only = TRUE,
  .run = run_status,
};

static GPtrArray *
get_workers (Ctl *ctl, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_get_workers_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  return iris_client_get_workers_finish (ctl->client, ctl_wait (&result), error);
}

static GPtrArray *
get_services (Ctl *ctl, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_get_services_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  return iris_client_get_services_finish (ctl->client, ctl_wait (&result), error);
}

static void
workers_json (GPtrArray *workers)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < workers->len; i++)
    {
      const IrisClientWorker *worker = g_ptr_array_index (workers, i);

      json_builder_begin_object (builder);
      ctl_json_string (builder, "name", worker->name);
      json_builder_set_member_name (builder, "services");
      json_builder_begin_array (builder);
      for (char **service = worker->services; *service != NULL; service++)
        json_builder_add_string_value (builder, *service);
      json_builder_end_array (builder);
      ctl_json_int (builder, "place", worker->place);
      ctl_json_int (builder, "capacity", worker->capacity);
      ctl_json_int (builder, "leased", worker->leased);
      ctl_json_int (builder, "done", (gint64) worker->done);
      ctl_json_int (builder, "failed", (gint64) worker->failed);
      ctl_json_int (builder, "lost", (gint64) worker->lost);
      ctl_json_double (builder, "silent_s", worker->silent_ms / 1e3);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  ctl_json_print (builder);
}

static void
workers_text (GPtrArray *workers)
{
  static const char *const headings[] = { "name",    ">place", ">capacity", ">leased",  ">done",
                                          ">failed", ">lost",  ">silent s", "services", NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, FALSE);

  for (guint i = 0; i < workers->len; i++)
    {
      const IrisClientWorker *worker = g_ptr_array_index (workers, i);

      ctl_table_add (table, g_strdup (worker->name),
                     worker->place >= 0 ? ctl_number ((guint64) worker->place) : g_strdup ("-"),
                     ctl_number (worker->capacity), ctl_number (worker->leased),
                     ctl_number (worker->done), ctl_number (worker->failed),
                     ctl_number (worker->lost), ctl_seconds (worker->silent_ms * 1000000),
                     g_strjoinv (" ", worker->services));
    }
  print_table (table);
}

static int
run_workers (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GPtrArray) workers = NULL;
  g_autoptr (GError) error = NULL;
  int status = ctl_connect (ctl);

  if (status != CTL_OK)
    return status;
  workers = get_workers (ctl, &error);
  if (workers == NULL)
    return ctl_fail_with (error);

  if (ctl->json)
    workers_json (workers);
  else if (workers->len > 0 || !ctl_terminal_print_instead ("no worker processes"))
    workers_text (workers);

  return CTL_OK;
}

const CtlCommand ctl_workers = {
  .name = "workers",
  .arguments = "",
  .summary = "list the worker processes, their services and items",
  .description = "Example:\n"
                 "  irisctl workers --json | jq '.[] | select(.leased > 0)'\n",
  .asks_only = TRUE,
  .run = run_workers,
};

static guint
count_workers (GPtrArray *workers, const char *service)
{
  guint n = 0;

  for (guint i = 0; i < workers->len; i++)
    {
      const IrisClientWorker *worker = g_ptr_array_index (workers, i);

      n += g_strv_contains ((const char *const *) worker->services, service);
    }
  return n;
}

static int
run_services (Ctl *ctl, int argc, char **argv)
{
  static const char *const headings[] = { "name", ">workers", "what it does", NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, FALSE);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GPtrArray) services = NULL;
  g_autoptr (GPtrArray) workers = NULL;
  g_autoptr (GError) error = NULL;
  int status = ctl_connect (ctl);

  if (status != CTL_OK)
    return status;
  services = get_services (ctl, &error);
  if (services != NULL)
    workers = get_workers (ctl, &error);
  if (workers == NULL)
    return ctl_fail_with (error);

  json_builder_begin_array (builder);
  for (guint i = 0; i < services->len; i++)
    {
      const IrisClientService *service = g_ptr_array_index (services, i);
      guint n = count_workers (workers, service->name);

      json_builder_begin_object (builder);
      ctl_json_string (builder, "name", service->name);
      ctl_json_string (builder, "summary", service->summary);
      ctl_json_int (builder, "workers", n);
      json_builder_end_object (builder);
      ctl_table_add (table, g_strdup (service->name), n > 0 ? ctl_number (n) : g_strdup ("-"),
                     g_strdup (service->summary));
    }
  json_builder_end_array (builder);
  if (ctl->json)
    ctl_json_print (builder);
  else
    print_table (table);

  return CTL_OK;
}

const CtlCommand ctl_services = {
  .name = "services",
  .arguments = "",
  .summary = "list the services of irisd and its worker processes",
  .asks_only = TRUE,
  .run = run_services,
};
