/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The configuration of irisd, from files and the command line.
 *
 * A key of the [irisd] group and the long option of the same name go through one function, so that
 * the same checks apply. An unknown key is an error: a misspelt limit that is silently ignored is a
 * limit that does not exist.
 */
#include "daemon/config/irisd-config.h"

#include "daemon/base/irisd-error.h"

#include <gio/gio.h>
#include <iris/iris.h>

#include <string.h>

/* Before the name of a service. */
#define SERVICE_GROUP "service "

static const char *const scheduler_names[] = {
  [IRISD_SCHEDULER_PLACES] = "places",
  [IRISD_SCHEDULER_WORKSTEALING] = "workstealing",
  [IRISD_SCHEDULER_LOCKFREE] = "lockfree",
  [IRISD_SCHEDULER_DEFAULT] = "default",
};

IrisdConfig *
irisd_config_new (void)
{
  IrisdConfig *self = g_new0 (IrisdConfig, 1);
  self->places = g_strdup ("auto");
  self->scheduler = IRISD_SCHEDULER_PLACES;
  self->deque = IRIS_DEQUE_SPLIT;
  self->layout = IRIS_LAYOUT_WORKERS;
  self->deal = IRIS_DEAL_OWN;
  self->bind = TRUE;
  self->cgroup = g_strdup ("auto");
  self->plugins = g_ptr_array_new_with_free_func (g_free);
  self->plugin_dirs = g_ptr_array_new_with_free_func (g_free);
  self->log_level = IRISD_LOG_INFO;
  irisd_limits_init (&self->limits);
  irisd_access_init (&self->access);
  self->service_rules = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

void
irisd_config_free (IrisdConfig *self)
{
  g_free (self->dir);
  g_free (self->places);
  g_free (self->topology);
  g_free (self->steal);
  g_free (self->tcp_host);
  g_ptr_array_unref (self->plugins);
  g_ptr_array_unref (self->plugin_dirs);
  irisd_access_clear (&self->access);
  g_free (self->journal);
  g_free (self->cgroup);
  g_hash_table_unref (self->service_rules);
  g_free (self);
}

const char *
irisd_config_scheduler_name (IrisdSchedulerKind kind)
{
  return scheduler_names[kind];
}

static gboolean
set_text (char **field, const char *what, const char *value, GError **error)
{
  if (*value == '\0')
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "%s is empty; give it a value or leave it out", what);
  g_free (*field);
  *field = g_strdup (value);
  return TRUE;
}

static gboolean
set_journal (IrisdConfig *self, const char *value, GError **error)
{
  if (strcmp (value, "none") == 0)
    {
      g_clear_pointer (&self->journal, g_free);
      return TRUE;
    }
  if (*value != '\0' && !g_path_is_absolute (value))
    {
      g_autofree char *absolute = g_canonicalize_filename (value, NULL);
      return set_text (&self->journal, "journal", absolute, error);
    }
  return set_text (&self->journal, "journal", value, error);
}

static gboolean
set_workers (IrisdConfig *self, const char *value, GError **error)
{
  guint64 number = 0;
  if (!g_ascii_string_to_unsigned (value, 10, 0, IRISD_MAX_WORKERS, &number, NULL))
    return irisd_fail (
        error, IRISD_ERROR, IRISD_ERROR_USAGE,
        "“%s” is no number of workers; give one from 1 to %d, or 0 for what fits the "
        "machine",
        value, IRISD_MAX_WORKERS);
  self->n_workers = (guint) number;
  return TRUE;
}

static gboolean
set_scheduler (IrisdConfig *self, const char *value, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (scheduler_names); i++)
    if (strcmp (scheduler_names[i], value) == 0)
      {
        self->scheduler = i;
        return TRUE;
      }
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no scheduler “%s”; choose places, workstealing, lockfree or default",
                     value);
}

/* As "one, two or three", without the nick @but. */
static char *
list_nicks (const GEnumClass *klass, const char *but)
{
  GString *text = g_string_new (NULL);
  const char *last = NULL;
  for (guint i = 0; i < klass->n_values; i++)
    {
      if (g_strcmp0 (klass->values[i].value_nick, but) == 0)
        continue;
      if (last != NULL)
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", last);
      last = klass->values[i].value_nick;
    }
  g_string_append_printf (text, " or %s", last);
  return g_string_free (text, FALSE);
}

/* Sets @field to the value of @type that has this nick, which is not @but. */
static gboolean
set_enum (int *field,
          GType type,
          const char *what,
          const char *but,
          const char *value,
          GError **error)
{
  GEnumClass *klass = g_type_class_ref (type);
  const GEnumValue *found = g_enum_get_value_by_nick (klass, value);
  gboolean good = found != NULL && g_strcmp0 (value, but) != 0;
  if (good)
    *field = found->value;
  else
    {
      g_autofree char *nicks = list_nicks (klass, but);
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_USAGE, "there is no %s “%s”; choose %s", what,
                   value, nicks);
    }
  g_type_class_unref (klass);
  return good;
}

/* An idempotent deque may give out an item twice. */
static gboolean
set_deque (IrisdConfig *self, const char *value, GError **error)
{
  int kind;
  if (!set_enum (&kind, IRIS_TYPE_DEQUE_KIND, "deque", "idempotent", value, error))
    return FALSE;
  self->deque = (IrisDequeKind) kind;
  return TRUE;
}

static gboolean
set_layout (IrisdConfig *self, const char *value, GError **error)
{
  int layout;
  if (!set_enum (&layout, IRIS_TYPE_LAYOUT, "layout", NULL, value, error))
    return FALSE;
  self->layout = (IrisLayout) layout;
  return TRUE;
}

static gboolean
set_deal (IrisdConfig *self, const char *value, GError **error)
{
  int deal;
  if (!set_enum (&deal, IRIS_TYPE_DEAL, "deal", NULL, value, error))
    return FALSE;
  self->deal = (IrisDeal) deal;
  return TRUE;
}

static gboolean
set_steal (IrisdConfig *self, const char *value, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (IrisStealPolicy) policy = iris_steal_policy_parse (value, &local);
  if (policy == NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "%s", local->message);
  g_free (self->steal);
  self->steal = g_strdup (value);
  return TRUE;
}

static gboolean
set_boolean (gboolean *field, const char *value, GError **error)
{
  *field = strcmp (value, "true") == 0;
  if (*field || strcmp (value, "false") == 0)
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "“%s” is neither true nor false",
                     value);
}

static gboolean
set_cgroup (IrisdConfig *self, const char *value, GError **error)
{
  if (strcmp (value, "auto") == 0 || strcmp (value, "none") == 0 || g_path_is_absolute (value))
    return set_text (&self->cgroup, "cgroup", value, error);
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "“%s” is neither auto nor none nor the path of a control group", value);
}

/* Adds to the list; a name that the dynamic linker would search for is no path. */
static gboolean
add_paths (GPtrArray *list, const char *value, GError **error)
{
  g_auto (GStrv) paths = g_strsplit (value, ";", -1);
  for (guint i = 0; paths[i] != NULL; i++)
    {
      if (*paths[i] == '\0' && i > 0 && paths[i + 1] == NULL)
        break; /* a semicolon at the end */
      if (!g_path_is_absolute (paths[i]))
        return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                           "“%s” is not absolute; write the path from / on", paths[i]);
      g_ptr_array_add (list, g_strdup (paths[i]));
    }
  return TRUE;
}

static gboolean
set_log_level (IrisdConfig *self, const char *value, GError **error)
{
  if (irisd_log_level_from_name (value, &self->log_level))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no log level “%s”; choose error, warning, info or debug", value);
}

/* Without encryption and keys only this machine may connect. */
static gboolean
is_loopback (const char *host)
{
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (host);
  return address != NULL && g_inet_address_get_is_loopback (address);
}

static gboolean
set_tcp (IrisdConfig *self, const char *value, GError **error)
{
  const char *colon = strrchr (value, ':');
  guint64 port = 0;
  if (colon == NULL || colon == value
      || !g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT16, &port, NULL))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” is no address to listen on; write it like 127.0.0.1:4700", value);

  g_autofree char *host = g_strndup (value, colon - value);
  gsize len = strlen (host);
  if (host[0] == '[' && host[len - 1] == ']')
    {
      host[len - 1] = '\0';
      memmove (host, host + 1, len - 1);
    }
  if (!is_loopback (host))
    return irisd_fail (
        error, IRISD_ERROR, IRISD_ERROR_USAGE,
        "irisd listens on loopback only, because TCP has no encryption and no keys yet; "
        "write 127.0.0.1:%u or [::1]:%u instead of “%s”",
        (guint) port, (guint) port, value);
  g_free (self->tcp_host);
  self->tcp_host = g_steal_pointer (&host);
  self->tcp_port = (guint16) port;
  return TRUE;
}

#define FIELD(name) G_STRUCT_OFFSET (IrisdConfig, name)

/* A key has a function, or the field of a text, a truth value or a list of paths. */
static const struct
{
  const char *key;
  gboolean (*set) (IrisdConfig *self, const char *value, GError **error);
  gsize text, boolean, paths;
} keys[] = {
  { "dir", .text = FIELD (dir) },
  { "journal", set_journal },
  { "paused", .boolean = FIELD (paused) },
  { "cgroup", set_cgroup },
  { "places", .text = FIELD (places) },
  { "topology", .text = FIELD (topology) },
  { "workers", set_workers },
  { "scheduler", set_scheduler },
  { "deque", set_deque },
  { "layout", set_layout },
  { "deal", set_deal },
  { "steal", set_steal },
  { "bind", .boolean = FIELD (bind) },
  { "log-level", set_log_level },
  { "tcp", set_tcp },
  { "tcp-trusted", .boolean = FIELD (tcp_trusted) },
  { "plugins", .paths = FIELD (plugins) },
  { "plugin-dirs", .paths = FIELD (plugin_dirs) },
  { "plugins-required", .boolean = FIELD (plugins_required) },
};

/* Sets @key of the [irisd] group from text. Returns whether there is such a key and it may have
 * that value. */
gboolean
irisd_config_set (IrisdConfig *self, const char *key, const char *value, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      if (strcmp (keys[i].key, key) != 0)
        continue;
      if (keys[i].set != NULL)
        return keys[i].set (self, value, error);
      if (keys[i].boolean > 0)
        return set_boolean (G_STRUCT_MEMBER_P (self, keys[i].boolean), value, error);
      if (keys[i].paths > 0)
        return add_paths (G_STRUCT_MEMBER (GPtrArray *, self, keys[i].paths), value, error);
      return set_text (G_STRUCT_MEMBER_P (self, keys[i].text), key, value, error);
    }
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no key “%s”; irisd.conf(5) lists them all", key);
}

/* The [journal] group has a directory, and the limits about the journal. */
static gboolean
set_journal_key (IrisdConfig *self, const char *key, const char *value, GError **error)
{
  static const char *const limits[] = { "keep-ms", "max-keep-ms", "relaxed-ms", "persistent-items",
                                        NULL };
  if (strcmp (key, "dir") == 0)
    return set_journal (self, value, error);
  if (strcmp (key, "reserve") == 0)
    return irisd_limits_set (&self->limits, "journal-reserve", value, error);
  if (g_strv_contains (limits, key))
    return irisd_limits_set (&self->limits, key, value, error);
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no key “%s” in [journal]; irisd.conf(5) lists them all", key);
}

/* GKeyFile does not report the line of a key. Returns 0 if it cannot be found. */
static guint
find_line (const char *text, gsize length, const char *group, const char *key)
{
  g_autofree char *copy = g_strndup (text, length);
  g_auto (GStrv) lines = g_strsplit (copy, "\n", -1);
  g_autofree char *header = g_strdup_printf ("[%s]", group);
  gboolean inside = FALSE;
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strstrip (lines[i]);
      if (line[0] == '[')
        {
          inside = strcmp (line, header) == 0;
          if (inside && key == NULL)
            return i + 1;
        }
      else if (inside && key != NULL && g_str_has_prefix (line, key))
        {
          const char *rest = line + strlen (key);
          while (g_ascii_isspace (*rest))
            rest++;
          if (*rest == '=')
            return i + 1;
        }
    }
  return 0;
}

/* Puts file, line and group before an error's message. */
static void
prefix_error (GError **error,
              const char *path,
              const char *text,
              gsize length,
              const char *group,
              const char *key)
{
  guint line = find_line (text, length, group, key);
  if (line > 0)
    g_prefix_error (error, "%s, line %u, [%s] %s: ", path, line, group, key != NULL ? key : "");
  else
    g_prefix_error (error, "%s, [%s] %s: ", path, group, key != NULL ? key : "");
}

/* The rule of a group; NULL if the group has none. */
static IrisdFairRule *
find_rule (IrisdConfig *self, const char *group)
{
  if (strcmp (group, "client") == 0)
    return &self->client_rule;
  if (!g_str_has_prefix (group, SERVICE_GROUP) || group[strlen (SERVICE_GROUP)] == '\0')
    return NULL;
  const char *name = group + strlen (SERVICE_GROUP);
  IrisdFairRule *rule = g_hash_table_lookup (self->service_rules, name);
  if (rule == NULL)
    {
      rule = g_new0 (IrisdFairRule, 1);
      g_hash_table_insert (self->service_rules, g_strdup (name), rule);
    }
  return rule;
}

static gboolean
load_group (IrisdConfig *self,
            GKeyFile *file,
            const char *group,
            const char **bad_key,
            GError **error)
{
  gboolean is_limits = strcmp (group, "limits") == 0;
  gboolean is_access = strcmp (group, "access") == 0;
  gboolean is_journal = strcmp (group, "journal") == 0;
  IrisdFairRule *rule = find_rule (self, group);
  *bad_key = NULL;
  if (!is_limits && !is_access && !is_journal && rule == NULL && strcmp (group, "irisd") != 0)
    return irisd_fail (
        error, IRISD_ERROR, IRISD_ERROR_USAGE,
        "there is no such group; irisd knows [irisd], [access], [journal], [limits], "
        "[client] and [service NAME]");

  g_auto (GStrv) names = g_key_file_get_keys (file, group, NULL, NULL);
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_autoptr (GError) local = NULL;
      g_autofree char *value = g_key_file_get_string (file, group, names[i], &local);
      gboolean good = value == NULL  ? FALSE
                      : is_limits    ? irisd_limits_set (&self->limits, names[i], value, &local)
                      : is_access    ? irisd_access_set (&self->access, names[i], value, &local)
                      : is_journal   ? set_journal_key (self, names[i], value, &local)
                      : rule != NULL ? irisd_fair_rule_set (rule, names[i], value, &local)
                                     : irisd_config_set (self, names[i], value, &local);
      if (!good)
        {
          *bad_key = g_intern_string (names[i]);
          return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "%s", local->message);
        }
    }
  return TRUE;
}

/* Reads a configuration file's @text; @path is for error messages, which name file, line and key.
 * Returns whether all of it is valid. */
gboolean
irisd_config_load_text (IrisdConfig *self,
                        const char *path,
                        const char *text,
                        gsize length,
                        GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) local = NULL;
  if (!g_key_file_load_from_data (file, text, length, G_KEY_FILE_NONE, &local))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "%s: %s", path, local->message);

  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  for (guint i = 0; groups[i] != NULL; i++)
    {
      const char *bad_key = NULL;
      if (!load_group (self, file, groups[i], &bad_key, error))
        {
          prefix_error (error, path, text, length, groups[i], bad_key);
          return FALSE;
        }
    }
  return TRUE;
}

/* Reads @path over the present values. Returns whether all of it is valid. */
gboolean
irisd_config_load_file (IrisdConfig *self, const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize length = 0;
  g_autoptr (GError) local = NULL;
  if (!g_file_get_contents (path, &text, &length, &local))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "cannot read the configuration: %s",
                       local->message);
  return irisd_config_load_text (self, path, text, length, error);
}

/* Returns the files to read, later ones over earlier ones: @option alone, or those of
 * `/etc/iris/irisd.conf` and `$XDG_CONFIG_HOME/iris/irisd.conf` that exist. */
char **
irisd_config_find_files (const char *option)
{
  g_autoptr (GStrvBuilder) files = g_strv_builder_new ();
  if (option != NULL)
    g_strv_builder_add (files, option);
  else
    {
      g_autofree char *own = g_build_filename (g_get_user_config_dir (), "iris", "irisd.conf",
                                               NULL);
      const char *candidates[] = { IRISD_SYSCONFDIR "/iris/irisd.conf", own };
      for (guint i = 0; i < G_N_ELEMENTS (candidates); i++)
        if (g_file_test (candidates[i], G_FILE_TEST_EXISTS))
          g_strv_builder_add (files, candidates[i]);
    }
  return g_strv_builder_end (files);
}

/* A database row has room for 10^9 bytes, with its header. */
static gboolean
check_journal_bodies (const IrisdConfig *self, GError **error)
{
  const guint64 most = G_GUINT64_CONSTANT (900000000);
  if (self->journal == NULL || self->limits.max_body <= most)
    return TRUE;
  return irisd_fail (
      error, IRISD_ERROR, IRISD_ERROR_USAGE,
      "max-body is too large for the journal: a body there has at most %" G_GUINT64_FORMAT
      " bytes; lower [limits] max-body (%" G_GUINT64_FORMAT ") or do without a journal",
      most, self->limits.max_body);
}

/* Returns whether the limits fit each other: each allowed item can be accepted, and each allowed
 * result sent. */
gboolean
irisd_config_check (const IrisdConfig *self, GError **error)
{
  const IrisdLimits *limits = &self->limits;
  const struct
  {
    const char *lesser_name, *greater_name;
    guint64 lesser, greater;
  } rules[] = {
    { "max-output", "max-body", limits->max_output, limits->max_body },
    { "max-body", "in-flight-bytes", limits->max_body, limits->in_flight_bytes },
    { "in-flight-bytes", "total-bytes", limits->in_flight_bytes, limits->total_bytes },
    { "in-flight-items", "total-items", limits->in_flight_items, limits->total_items },
    { "keep-ms", "max-keep-ms", limits->keep_ms, limits->max_keep_ms },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].lesser > rules[i].greater)
      return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                         "[limits] %s (%" G_GUINT64_FORMAT ") is more than %s (%" G_GUINT64_FORMAT
                         "); lower the one or raise the other",
                         rules[i].lesser_name, rules[i].lesser, rules[i].greater_name,
                         rules[i].greater);
  return irisd_access_check (&self->access, error) && check_journal_bodies (self, error);
}
