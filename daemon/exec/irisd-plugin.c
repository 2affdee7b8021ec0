/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loads plug-ins and runs their services.
 *
 * A plug-in is loaded by the main thread before there are others, and finished and unloaded by it
 * after they have ended. In between all data is constant except the item of a run, which is on the
 * worker's stack.
 *
 * A plug-in is checked before use: first the version of its interface, since all else may differ in
 * another one, then the names, then its `init`. Services enter the registry only after all checks,
 * so a plug-in is loaded whole or not at all.
 */
#include "daemon/exec/irisd-input.h"
#include "daemon/exec/irisd-plugin.h"

#include "daemon/base/irisd-error.h"
#include "daemon/exec/iris-plugin.h"
#include "daemon/exec/irisd-job.h"

#include <gmodule.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NAME 64

typedef struct
{
  char *path;
  GModule *module;
  const IrisPlugin *plugin;
  gpointer data;
  gboolean ready; /* `init` succeeded, so `finish` is due */
  GPtrArray *services;
} Plugin;

/* A service as the registry and the plug-in see it. */
typedef struct
{
  IrisdService service; /* first: the registry returns it */
  const IrisPluginService *own;
  Plugin *plugin;
} PluginService;

struct _IrisdPlugins
{
  GPtrArray *plugins; /* of Plugin */
};

/* The item of one run. */
typedef struct
{
  IrisPluginItem item; /* first: the plug-in returns it */
  IrisdJob *job;
  IrisdSleeper sleeper;
  gboolean sleeps;
  gboolean waits;
} Run;

static IrisdJob *
job_of (IrisPluginItem *item)
{
  return ((Run *) item)->job;
}

static gconstpointer
get_payload (IrisPluginItem *item, gsize *size)
{
  const IrisWireFrame payload = irisd_job_get_payload (job_of (item));
  *size = payload.size;
  return payload.data;
}

static const char *const *
get_args (IrisPluginItem *item)
{
  static const char *const none[] = { NULL };
  IrisdJob *job = job_of (item);
  return job->args != NULL ? (const char *const *) job->args : none;
}

static const char *
get_path (IrisPluginItem *item)
{
  return job_of (item)->path;
}

static int
get_place (IrisPluginItem *item)
{
  return job_of (item)->place;
}

static gboolean
must_stop (IrisPluginItem *item)
{
  return irisd_job_must_stop (job_of (item));
}

static int
get_stop_fd (IrisPluginItem *item)
{
  Run *run = (Run *) item;
  if (!run->sleeps)
    run->sleeps = irisd_running_enter (&run->job->core->running, &run->sleeper, run->job);
  return run->sleeps ? run->sleeper.fd : -1;
}

static void
take_result (IrisPluginItem *item, gpointer data, gsize size, const char *content_type)
{
  irisd_job_take_result (job_of (item), data, size, content_type);
}

static void
fail (IrisPluginItem *item, const char *reason)
{
  IrisdJob *job = job_of (item);
  if (irisd_job_must_stop (job))
    irisd_job_fail_stopped (job);
  else
    irisd_job_fail (job, IRIS_WIRE_ERROR_SERVICE_FAILED, "%s", reason);
}

static void
begin_waiting (IrisPluginItem *item)
{
  Run *run = (Run *) item;
  if (run->waits)
    return;
  run->waits = TRUE;
  iris_worker_begin_blocking ();
  irisd_job_leave_worker (run->job);
}

static void
end_waiting (IrisPluginItem *item)
{
  Run *run = (Run *) item;
  if (run->waits)
    iris_worker_end_blocking ();
  run->waits = FALSE;
}

static const IrisPluginCalls calls = {
  .get_payload = get_payload,
  .get_args = get_args,
  .get_path = get_path,
  .get_place = get_place,
  .must_stop = must_stop,
  .get_stop_fd = get_stop_fd,
  .take_result = take_result,
  .fail = fail,
  .begin_waiting = begin_waiting,
  .end_waiting = end_waiting,
};

static void
run_item (IrisdJob *job)
{
  const PluginService *self = (const PluginService *) job->service;
  Run run = { .item = { .calls = &calls, .data = self->plugin->data }, .job = job };
  /* A volatile item is not run again, so it cannot crash irisd twice. */
  guint attempt = job->persistent != NULL ? irisd_attempts_begin (job->core->attempts, job->id)
                                          : IRISD_ATTEMPT_NONE;
  self->own->run (&run.item);
  end_waiting (&run.item);
  irisd_attempts_end (job->core->attempts, attempt);
  job->result.bytes = irisd_job_get_payload (job).size;
  if (run.sleeps)
    irisd_running_leave (&job->core->running, &run.sleeper);
}

static void
plugin_free (gpointer data)
{
  Plugin *self = data;
  if (self->ready && self->plugin->finish != NULL)
    self->plugin->finish (self->data);
  g_clear_pointer (&self->services, g_ptr_array_unref);
  if (self->module != NULL)
    g_module_close (self->module);
  g_free (self->path);
  g_free (self);
}

static gboolean refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
refuse (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *reason = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, IRISD_ERROR, IRISD_ERROR_FAILED, reason);
  return FALSE;
}

/* A user that can write the file gets all rights of irisd. */
static gboolean
is_ours (const char *path, GError **error)
{
  struct stat st;
  if (stat (path, &st) != 0)
    return refuse (error, "it cannot be examined: %s", g_strerror (errno));
  if (!S_ISREG (st.st_mode))
    return refuse (error, "it is not an ordinary file");
  if ((st.st_uid != geteuid () && st.st_uid != 0) || (st.st_mode & 022) != 0)
    return refuse (error,
                   "another user can write it (mode %04o, owner %u); it has to belong to you or "
                   "to root, chmod go-w it",
                   (guint) (st.st_mode & 07777), (guint) st.st_uid);
  return TRUE;
}

static gboolean
open_module (Plugin *self, GError **error)
{
  gpointer symbol = NULL;
  self->module = g_module_open (self->path, G_MODULE_BIND_LOCAL);
  if (self->module == NULL)
    return refuse (error, "it cannot be loaded: %s", g_module_error ());
  if (!g_module_symbol (self->module, "iris_plugin_get", &symbol) || symbol == NULL)
    return refuse (error, "it is no plug-in of irisd: it has no function iris_plugin_get; take it "
                          "out of the directory of plug-ins");
  self->plugin = ((IrisPluginGet) symbol) ();
  if (self->plugin == NULL)
    return refuse (error,
                   "its iris_plugin_get returns NULL; have it return the plug-in's description");
  if (self->plugin->interface != IRIS_PLUGIN_INTERFACE)
    return refuse (error,
                   "it was built for version %u of the interface of plug-ins, and this irisd has "
                   "version %d; build it again",
                   self->plugin->interface, IRIS_PLUGIN_INTERFACE);
  return TRUE;
}

static gboolean
is_name (const char *name)
{
  gsize len = strlen (name);
  return len > 0 && len <= MAX_NAME
         && strspn (name, "-_." G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS) == len;
}

static gboolean
check_service (const IrisPluginService *own, IrisdServices *services, GError **error)
{
  const IrisWireString name = { own->name, strlen (own->name) };
  if (!is_name (own->name))
    return refuse (
        error,
        "the name of one of its services is not made of 1 to %d letters, digits, “-”, “_” and “.”",
        MAX_NAME);
  if (own->run == NULL || own->summary == NULL || !g_utf8_validate (own->summary, -1, NULL))
    return refuse (error, "its service “%s” has no run function, or no summary in UTF-8",
                   own->name);
  if (irisd_services_lookup (services, &name) != NULL)
    return refuse (error, "there is a service “%s” already; give it another name", own->name);
  return TRUE;
}

static gboolean
check_plugin (Plugin *self, IrisdServices *services, GError **error)
{
  const IrisPlugin *plugin = self->plugin;
  if (plugin->name == NULL || !is_name (plugin->name))
    return refuse (error, "its name is not made of 1 to %d letters, digits, “-”, “_” and “.”",
                   MAX_NAME);
  if (plugin->services == NULL || plugin->services[0].name == NULL)
    return refuse (error, "it brings no service; list at least one");
  for (const IrisPluginService *own = plugin->services; own->name != NULL; own++)
    {
      if (!check_service (own, services, error))
        return FALSE;
      for (const IrisPluginService *earlier = plugin->services; earlier < own; earlier++)
        if (strcmp (earlier->name, own->name) == 0)
          return refuse (error, "it brings two services “%s”; give one of them another name",
                         own->name);
    }
  return TRUE;
}

static gboolean
init_plugin (Plugin *self, GError **error)
{
  g_autoptr (GError) local = NULL;
  if (self->plugin->init != NULL && !self->plugin->init (&self->data, &local))
    return refuse (error, "its init failed: %s",
                   local != NULL ? local->message : "it did not say why");
  self->ready = TRUE;
  return TRUE;
}

static void
add_services (Plugin *self, IrisdServices *services)
{
  self->services = g_ptr_array_new_with_free_func (g_free);
  for (const IrisPluginService *own = self->plugin->services; own->name != NULL; own++)
    {
      PluginService *service = g_new0 (PluginService, 1);
      service->service = (IrisdService){
        .name = own->name,
        .summary = own->summary,
        .output_grows = (own->flags & IRIS_PLUGIN_RESULT_GROWS) != 0,
        .reaches_out = (own->flags & IRIS_PLUGIN_REACHES_OUT) != 0,
        .check = irisd_input_check,
        .run = run_item,
      };
      service->own = own;
      service->plugin = self;
      g_ptr_array_add (self->services, service);
      irisd_services_add (services, &service->service);
    }
}

static gboolean
load (IrisdPlugins *plugins, const char *path, IrisdServices *services, GError **error)
{
  Plugin *self = g_new0 (Plugin, 1);
  self->path = g_strdup (path);
  if (!is_ours (path, error) || !open_module (self, error) || !check_plugin (self, services, error)
      || !init_plugin (self, error))
    {
      g_prefix_error (error, "cannot use the plug-in %s: ", path);
      plugin_free (self);
      return FALSE;
    }
  add_services (self, services);
  g_ptr_array_add (plugins->plugins, self);
  irisd_log (IRISD_LOG_INFO, "loaded the plug-in %s%s%s from %s", self->plugin->name,
             self->plugin->version != NULL ? " " : "",
             self->plugin->version != NULL ? self->plugin->version : "", path);
  return TRUE;
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Lists the plug-ins of the directory, sorted, so that their order is always the same. */
static gboolean
list_dir (const char *path, GPtrArray *found, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (GPtrArray) here = g_ptr_array_new ();
  g_autoptr (GDir) dir = g_dir_open (path, 0, &local);
  if (dir == NULL)
    return refuse (error, "cannot read the directory of plug-ins %s: %s", path, local->message);
  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    if (g_str_has_suffix (name, "." G_MODULE_SUFFIX))
      g_ptr_array_add (here, g_build_filename (path, name, NULL));
  g_ptr_array_sort (here, compare_paths);
  g_ptr_array_extend_and_steal (found, g_steal_pointer (&here));
  return TRUE;
}

/* Logs the failure or, if plug-ins are required, fails. */
static gboolean
go_on (const IrisdConfig *config, GError **local, GError **error)
{
  if (*local == NULL)
    return TRUE;
  if (config->plugins_required)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (local), "plugins-required: ");
      return FALSE;
    }
  irisd_log (IRISD_LOG_ERROR, "%s", (*local)->message);
  g_clear_error (local);
  return TRUE;
}

/**
 * irisd_plugins_load:
 * @config: which plug-ins
 * @services: where their services go
 * @error: return location for a #GError of the domain %IRISD_ERROR
 *
 * Loads the plug-ins that are named, then those of the directories. A plug-in that cannot be used
 * is logged and left out, unless the configuration has `plugins-required`.
 *
 * Returns: (transfer full) (nullable): the plug-ins, which have to outlive @services
 */
IrisdPlugins *
irisd_plugins_load (const IrisdConfig *config, IrisdServices *services, GError **error)
{
  IrisdPlugins *self = g_new0 (IrisdPlugins, 1);
  self->plugins = g_ptr_array_new_with_free_func (plugin_free);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  gboolean good = TRUE;
  for (guint i = 0; i < config->plugins->len; i++)
    g_ptr_array_add (paths, g_strdup (g_ptr_array_index (config->plugins, i)));
  for (guint i = 0; good && i < config->plugin_dirs->len; i++)
    {
      g_autoptr (GError) local = NULL;
      list_dir (g_ptr_array_index (config->plugin_dirs, i), paths, &local);
      good = go_on (config, &local, error);
    }
  for (guint i = 0; good && i < paths->len; i++)
    {
      g_autoptr (GError) local = NULL;
      load (self, g_ptr_array_index (paths, i), services, &local);
      good = go_on (config, &local, error);
    }
  if (!good)
    g_clear_pointer (&self, irisd_plugins_free);
  return self;
}

/* No item of theirs may run any more. */
void
irisd_plugins_free (IrisdPlugins *self)
{
  if (self == NULL)
    return;
  /* The last one first: it may depend on those before it. */
  while (self->plugins->len > 0)
    g_ptr_array_remove_index (self->plugins, self->plugins->len - 1);
  g_ptr_array_unref (self->plugins);
  g_free (self);
}
