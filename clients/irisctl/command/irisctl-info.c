/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl workers, services: what serves items.
 */
#include "clients/irisctl/output/irisctl-output.h"

static void
print_table (CtlTable *table)
{
  ctl_table_fit_terminal (table);
  ctl_table_flush (table);
}

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
