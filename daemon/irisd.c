/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd: serves the places of a machine on sockets, and runs the items that clients send.
 */
#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-readiness.h"
#include "daemon/config/irisd-options.h"
#include "daemon/config/irisd-places.h"
#include "daemon/irisd-daemon.h"
#include "daemon/store/irisd-store.h"

#include <locale.h>

static int
fail (const GError *error)
{
  irisd_log (IRISD_LOG_ERROR, "%s", error->message);
  return error->domain == IRISD_ERROR ? error->code : IRISD_ERROR_FAILED;
}

/* A good configuration is one of which places can be made. */
static int
check_config (const IrisdOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisPlaces) places = irisd_places_new (options->config, &error);
  if (places == NULL)
    return fail (error);
  for (guint i = 0; options->files[i] != NULL; i++)
    g_print ("%s is good\n", options->files[i]);
  g_print ("irisd would serve %u places with %u workers\n", iris_places_get_n_places (places),
           iris_places_get_n_workers (places));
  return 0;
}

static int
check_journal (const char *dir)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *report = NULL;
  gboolean whole = irisd_store_check (dir, &report, &error);
  if (error != NULL)
    return fail (error);
  g_print ("%s\n", report);
  return whole ? 0 : 1;
}

static int
serve (const IrisdOptions *options)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_daemon_block_signals (&error))
    return fail (error);
  irisd_log_start_writer ();
  g_autoptr (IrisdDaemon) daemon = irisd_daemon_new (options->config, &error);
  if (daemon == NULL)
    return fail (error);

  g_autofree char *endpoints = irisd_daemon_get_endpoints (daemon);
  irisd_log (IRISD_LOG_INFO, "serving at %s", endpoints);
  irisd_notify_ready_fd (options->ready_fd, endpoints);
  irisd_notify_service_manager ("READY=1");
  return irisd_daemon_run (daemon);
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisdOptions) options = irisd_options_parse (&argc, &argv, &error);
  if (options == NULL)
    return fail (error);
  if (options->version)
    {
      g_print ("irisd %s\n", IRISD_VERSION);
      return 0;
    }
  if (options->check_journal != NULL)
    return check_journal (options->check_journal);
  irisd_log_set_level (options->config->log_level);
  int status = options->check_config ? check_config (options) : serve (options);
  irisd_log_end_writer ();
  return status;
}
