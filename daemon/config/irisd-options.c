/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's command line.
 */
#include "daemon/config/irisd-options.h"

#include "daemon/base/irisd-error.h"

#include <fcntl.h>

/* Filled by GOption; irisd_config_set() checks each text afterwards. */
struct _IrisdRawOptions
{
  char *dir;
  char *places;
  char *workers;
  char *scheduler;
  char *topology;
  char *tcp;
  char *http;
  char *otlp;
  char *cluster;
  char *node;
  char *log_level;
  char *log_format;
  char *journal;
  char *config;
  char *check_journal;
  gboolean repair;
  char **plugins;
  char **plugin_dirs;
  gboolean no_bind;
  gboolean paused;
  gboolean verbose;
  gboolean check_config;
  gboolean version;
  int ready_fd;
};

typedef IrisdRawOptions RawOptions;

static void
raw_options_free (RawOptions *raw)
{
  g_free (raw->dir);
  g_free (raw->places);
  g_free (raw->workers);
  g_free (raw->scheduler);
  g_free (raw->topology);
  g_free (raw->tcp);
  g_free (raw->http);
  g_free (raw->otlp);
  g_free (raw->cluster);
  g_free (raw->node);
  g_free (raw->log_level);
  g_free (raw->log_format);
  g_free (raw->journal);
  g_free (raw->config);
  g_free (raw->check_journal);
  g_strfreev (raw->plugins);
  g_strfreev (raw->plugin_dirs);
  g_free (raw);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (RawOptions, raw_options_free)

/* What reaches other programs and machines. */
static void
add_further_entries (GOptionContext *context, RawOptions *raw)
{
  const GOptionEntry entries[] = {
    { "http", 0, 0, G_OPTION_ARG_STRING, &raw->http,
      "Start irisd-web, which shows irisd over HTTP at ADDRESS:PORT", "ADDRESS:PORT" },
    { "otlp", 0, 0, G_OPTION_ARG_STRING, &raw->otlp,
      "Start irisd-web, which sends spans of items to an OTLP/HTTP collector", "URL" },
    { "cluster", 0, 0, G_OPTION_ARG_STRING, &raw->cluster,
      "Join the nodes at a NATS server, such as nats://192.0.2.1:4222", "URL" },
    { "node", 0, 0, G_OPTION_ARG_STRING, &raw->node,
      "Be the node NAME of the cluster (default: the host's name)", "NAME" },
    G_OPTION_ENTRY_NULL,
  };
  g_option_context_add_main_entries (context, entries, NULL);
}

static gboolean
parse_raw (RawOptions *raw, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "dir", 'd', 0, G_OPTION_ARG_FILENAME, &raw->dir,
      "Put the sockets into DIR (default: $XDG_RUNTIME_DIR/iris)", "DIR" },
    { "places", 'p', 0, G_OPTION_ARG_STRING, &raw->places,
      "Divide the machine by LEVEL: auto, machine, package, numa, l3, l2, core, pu, or cpu sets "
      "such as 0-3/4-7",
      "LEVEL" },
    { "workers", 'w', 0, G_OPTION_ARG_STRING, &raw->workers,
      "Run N workers, spread over the places (default: one for each usable cpu)", "N" },
    { "scheduler", 's', 0, G_OPTION_ARG_STRING, &raw->scheduler,
      "Run items by NAME: places (default), workstealing, lockfree or default", "NAME" },
    { "topology", 0, 0, G_OPTION_ARG_STRING, &raw->topology,
      "Take the machine from an hwloc synthetic description or an .xml file", "TOPOLOGY" },
    { "no-bind", 0, 0, G_OPTION_ARG_NONE, &raw->no_bind, "Do not bind threads to their places",
      NULL },
    { "tcp", 0, 0, G_OPTION_ARG_STRING, &raw->tcp,
      "Listen on a loopback address as well; place N gets the port PORT+1+N", "ADDRESS:PORT" },
    { "plugin", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->plugins,
      "Load a plug-in; may be given several times", "FILE" },
    { "plugin-dir", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->plugin_dirs,
      "Load all plug-ins of a directory; may be given several times", "DIR" },
    { "journal", 0, 0, G_OPTION_ARG_FILENAME, &raw->journal,
      "Keep a journal in DIR, so that items can survive irisd; “none” for no journal (default)",
      "DIR" },
    { "paused", 0, 0, G_OPTION_ARG_NONE, &raw->paused,
      "Take items, but run none until a place is resumed (irisctl drain PLACE --resume)", NULL },
    { "config", 'c', 0, G_OPTION_ARG_FILENAME, &raw->config,
      "Read FILE instead of the usual configuration files", "FILE" },
    { "check-config", 0, 0, G_OPTION_ARG_NONE, &raw->check_config,
      "Say whether options and configuration are good, and exit", NULL },
    { "check-journal", 0, 0, G_OPTION_ARG_FILENAME, &raw->check_journal,
      "Say whether the journal in DIR, which is not in use, is whole, and exit", "DIR" },
    { "repair", 0, 0, G_OPTION_ARG_NONE, &raw->repair,
      "With --check-journal: mend it if it is damaged; the old files are kept beside it", NULL },
    { "log-level", 0, 0, G_OPTION_ARG_STRING, &raw->log_level,
      "Log from LEVEL on: error, warning, info (default) or debug", "LEVEL" },
    { "log-format", 0, 0, G_OPTION_ARG_STRING, &raw->log_format,
      "Log in FORM: auto (default), lines, json or journal", "FORM" },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &raw->verbose, "The same as --log-level debug", NULL },
    { "ready-fd", 0, 0, G_OPTION_ARG_INT, &raw->ready_fd,
      "Write “ready ENDPOINT” to the descriptor N once clients can connect", "N" },
    { "version", 'V', 0, G_OPTION_ARG_NONE, &raw->version, "Print the version, and exit", NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("— runs work items at their places");
  g_option_context_add_main_entries (context, entries, NULL);
  add_further_entries (context, raw);

  g_autoptr (GError) local = NULL;
  if (!g_option_context_parse (context, argc, argv, &local))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "%s; irisd --help lists the options",
                       local->message);
  if (*argc > 1)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "irisd takes options only, and “%s” is none; irisd --help lists them",
                       (*argv)[1]);
  return TRUE;
}

/* An option that may be given several times. The shell's working directory is the user's own. */
static gboolean
apply_all (IrisdConfig *config, const char *key, const char *option, char **values, GError **error)
{
  for (guint i = 0; values != NULL && values[i] != NULL; i++)
    {
      g_autofree char *absolute = g_canonicalize_filename (values[i], NULL);
      if (!irisd_config_set (config, key, absolute, error))
        {
          g_prefix_error (error, "--%s: ", option);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
apply_cluster (IrisdConfig *config,
               const char *name,
               const char *option,
               const char *value,
               GError **error)
{
  if (value == NULL || irisd_config_set_named (config, name, value, "the command line", error))
    return TRUE;
  g_prefix_error (error, "--%s: ", option);
  return FALSE;
}

static gboolean
apply (IrisdConfig *config, const RawOptions *raw, GError **error)
{
  const struct
  {
    const char *key;
    const char *value;
  } given[] = {
    { "dir", raw->dir },
    { "places", raw->places },
    { "workers", raw->workers },
    { "scheduler", raw->scheduler },
    { "topology", raw->topology },
    { "tcp", raw->tcp },
    { "http", raw->http },
    { "otlp", raw->otlp },
    { "journal", raw->journal },
    { "bind", raw->no_bind ? "false" : NULL },
    { "paused", raw->paused ? "true" : NULL },
    { "log-level", raw->verbose ? "debug" : NULL },
    { "log-level", raw->log_level },
    { "log-format", raw->log_format },
  };
  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    if (given[i].value != NULL && !irisd_config_set (config, given[i].key, given[i].value, error))
      {
        g_prefix_error (error, "--%s: ", given[i].key);
        return FALSE;
      }
  return apply_cluster (config, "[cluster] url", "cluster", raw->cluster, error)
         && apply_cluster (config, "[cluster] node", "node", raw->node, error)
         && apply_all (config, "plugins", "plugin", raw->plugins, error)
         && apply_all (config, "plugin-dirs", "plugin-dir", raw->plugin_dirs, error);
}

/* Otherwise a descriptor that is not open would be noticed only after the whole start. */
static gboolean
check_ready_fd (int fd, GError **error)
{
  if (fd == -1 || (fd >= 0 && fcntl (fd, F_SETFD, FD_CLOEXEC) == 0))
    return TRUE;
  return irisd_fail (
      error, IRISD_ERROR, IRISD_ERROR_USAGE,
      "--ready-fd: %d is not an open descriptor of this process; open it before irisd is started",
      fd);
}

static IrisdConfig *
read_config (const RawOptions *raw, char **files, GError **error)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  for (guint i = 0; files[i] != NULL && !raw->version; i++)
    if (!irisd_config_load_file (config, files[i], error))
      return NULL;
  if (!apply (config, raw, error) || !irisd_config_check (config, error)
      || (!raw->version && !irisd_config_load_keys (config, error)))
    return NULL;
  return g_steal_pointer (&config);
}

/* Reads the command line and the configuration files; the command line has precedence. */
IrisdOptions *
irisd_options_parse (int *argc, char ***argv, GError **error)
{
  g_autoptr (RawOptions) raw = g_new0 (RawOptions, 1);
  raw->ready_fd = -1;
  if (!parse_raw (raw, argc, argv, error) || !check_ready_fd (raw->ready_fd, error))
    return NULL;
  if (raw->repair && raw->check_journal == NULL)
    {
      g_set_error_literal (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                           "--repair mends the journal that is checked: add --check-journal DIR");
      return NULL;
    }

  g_autoptr (IrisdOptions) self = g_new0 (IrisdOptions, 1);
  self->ready_fd = raw->ready_fd;
  self->check_config = raw->check_config;
  self->check_journal = g_steal_pointer (&raw->check_journal);
  self->repair = raw->repair;
  self->version = raw->version;
  self->files = irisd_config_find_files (raw->config);
  self->config = read_config (raw, self->files, error);
  self->raw = g_steal_pointer (&raw);
  return self->config != NULL ? g_steal_pointer (&self) : NULL;
}

/* Reads the configuration files as they are now. The command line still has precedence. */
IrisdConfig *
irisd_options_read_again (const IrisdOptions *self, GError **error)
{
  g_auto (GStrv) files = irisd_config_find_files (self->raw->config);
  return read_config (self->raw, files, error);
}

void
irisd_options_free (IrisdOptions *self)
{
  g_clear_pointer (&self->raw, raw_options_free);
  g_clear_pointer (&self->config, irisd_config_free);
  g_strfreev (self->files);
  g_free (self->check_journal);
  g_free (self);
}
