/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd as a node of a cluster that the environment describes, without other nodes and without a
 * bridge: the test is both.
 *
 * IRIS_TEST_NODES has the other nodes with their services, such as `b:resize,thumbnail c`.
 * IRIS_TEST_MAX_AWAY: how many items may be away. IRIS_TEST_REFUSAL: why durable ones may not.
 */
#include "daemon/base/irisd-readiness.h"
#include "daemon/config/irisd-options.h"
#include "daemon/irisd-daemon.h"

#include <locale.h>

#define MAX_AWAY 1000

static IrisdClusterView *
make_view (void)
{
  const char *most = g_getenv ("IRIS_TEST_MAX_AWAY");
  const char *text = g_getenv ("IRIS_TEST_NODES");
  IrisdClusterView *view = irisd_cluster_view_new (
      "a", most != NULL ? g_ascii_strtoull (most, NULL, 10) : MAX_AWAY);
  g_auto (GStrv) nodes = g_strsplit (text != NULL ? text : "", " ", -1);
  for (char **node = nodes; *node != NULL; node++)
    {
      g_auto (GStrv) parts = g_strsplit (*node, ":", 2);
      g_auto (GStrv) services = g_strsplit (parts[1] != NULL ? parts[1] : "", ",", -1);
      irisd_cluster_view_set_node (view, parts[0], (const char *const *) services);
    }
  irisd_cluster_view_set_refusal (view, g_getenv ("IRIS_TEST_REFUSAL"));
  irisd_cluster_view_set_unknown (view, g_getenv ("IRIS_TEST_UNKNOWN") != NULL);
  return view;
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisdOptions) options = irisd_options_parse (&argc, &argv, &error);
  if (options == NULL || !irisd_daemon_block_signals (&error))
    g_error ("%s", error->message);
  g_autoptr (IrisdClusterView) view = make_view ();
  options->config->cluster_view = view;
  irisd_log_start_writer ();
  g_autoptr (IrisdDaemon) daemon = irisd_daemon_new (options->config, &error);
  if (daemon == NULL)
    g_error ("%s", error->message);
  g_autofree char *endpoints = irisd_daemon_get_endpoints (daemon);
  irisd_notify_ready_fd (options->ready_fd, endpoints);
  int status = irisd_daemon_run (daemon);
  irisd_log_end_writer ();
  return status;
}
