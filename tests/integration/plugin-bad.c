/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plug-in for tests that cannot be used; BAD says why.
 */
#include "daemon/exec/iris-plugin.h"

enum
{
  VERSION = 1,
  INIT,
  SILENT_INIT,
  NAME,
  TWICE,
  TAKEN,
  EMPTY,
};

static void
run (IrisPluginItem *item)
{
}

static gboolean
init (gpointer *data, GError **error)
{
  if (BAD == INIT)
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "there is no flux capacitor");
  return BAD != INIT && BAD != SILENT_INIT;
}

/* Not called for a plug-in that was not loaded. */
static void
finish (gpointer data)
{
  g_error ("finish was called");
}

static const IrisPluginService services[] = {
  { .name = BAD == EMPTY   ? NULL
            : BAD == NAME  ? "no name"
            : BAD == TAKEN ? "echo"
                           : "bad",
    .summary = "never runs",
    .run = run },
  { .name = BAD == TWICE ? "bad" : NULL, .summary = "never runs", .run = run },
  { .name = NULL },
};

static const IrisPlugin plugin = {
  .interface = BAD == VERSION ? IRIS_PLUGIN_INTERFACE + 1 : IRIS_PLUGIN_INTERFACE,
  .name = "bad",
  .services = services,
  .init = init,
  .finish = finish,
};

IRIS_PLUGIN_EXPORT const IrisPlugin *iris_plugin_get (void);

IRIS_PLUGIN_EXPORT const IrisPlugin *
iris_plugin_get (void)
{
  return &plugin;
}
