/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd: serves the places of a machine on sockets, and runs the items that clients send.
 */
#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-log-journald.h"
#include "daemon/base/irisd-readiness.h"
#include "daemon/config/irisd-options.h"
#include "daemon/config/irisd-places.h"
#include "daemon/irisd-daemon.h"
#include "daemon/irisd-web-process.h"
#include "daemon/net/irisd-runtime-dir.h"
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
  const IrisdClusterConfig *cluster = &options->config->cluster;
  g_autoptr (GBytes) secret = NULL;
  if (cluster->url != NULL && (secret = irisd_cluster_config_load_secret (cluster, &error)) == NULL)
    return fail (error);
  for (guint i = 0; options->files[i] != NULL; i++)
    g_print ("%s is good\n", options->files[i]);
  g_print ("irisd would serve %u places with %u workers\n", iris_places_get_n_places (places),
           iris_places_get_n_workers (places));
  if (cluster->url != NULL)
    {
      g_autofree char *node = irisd_cluster_config_get_node (cluster);
      g_autofree char *servers = irisd_cluster_config_hide_secrets (cluster->url);
      g_print ("it would be the node %s of the cluster at %s\n", node, servers);
    }
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

/* Mends the journal, if it has to be, and says what it is like before and after. */
static int
repair_journal (const char *dir)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *kept = NULL;
  int status = check_journal (dir);
  if (status != 1)
    return status;
  IrisdRuntimeDir *lock = irisd_runtime_dir_open (dir, "--check-journal", FALSE, &error);
  if (lock == NULL || !irisd_store_repair (dir, &kept, &error))
    status = fail (error);
  g_clear_pointer (&lock, irisd_runtime_dir_close);
  if (error != NULL)
    return status;
  g_print ("\nrepaired; the old files are beside it as %s*\n\n", kept);
  return check_journal (dir);
}

static IrisdConfig *
read_again (gpointer options, GError **error)
{
  return irisd_options_read_again (options, error);
}

static int
serve (const IrisdOptions *options)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_daemon_block_signals (&error)
      || !irisd_log_set_format (options->config->log_format, IRISD_JOURNALD_SOCKET, &error))
    return fail (error);
  irisd_log_start_writer ();
  g_autoptr (IrisdDaemon) daemon = irisd_daemon_new (options->config, &error);
  if (daemon == NULL)
    return fail (error);

  irisd_daemon_set_read (daemon, read_again, (gpointer) options);
  g_autofree char *endpoints = irisd_daemon_get_endpoints (daemon);
  irisd_log (IRISD_LOG_INFO, "serving at %s", endpoints);
  irisd_notify_ready_fd (options->ready_fd, endpoints);

  g_auto (GStrv) each = g_strsplit (endpoints, " ", 2);
  IrisdWebProcess *web = irisd_web_process_start (options->config, each[0]);
  int status = irisd_daemon_run (daemon);
  g_clear_pointer (&web, irisd_web_process_stop);
  return status;
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
    return options->repair ? repair_journal (options->check_journal)
                           : check_journal (options->check_journal);
  irisd_log_set_level (options->config->log_level);
  int status = options->check_config ? check_config (options) : serve (options);
  irisd_log_end_writer ();
  return status;
}
