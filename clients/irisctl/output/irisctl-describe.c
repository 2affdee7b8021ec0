/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Persistent items in words: command lines, times, places.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <pwd.h>
#include <string.h>

#define MS_PER_SECOND G_GUINT64_CONSTANT (1000)
#define MS_PER_MINUTE (60 * MS_PER_SECOND)
#define MS_PER_HOUR   (60 * MS_PER_MINUTE)
#define MS_PER_DAY    (24 * MS_PER_HOUR)

static char *
two_units (guint64 ms, guint64 big, char big_name, guint64 small, char small_name)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT "%c%02u%c", ms / big, big_name,
                          (guint) (ms % big / small), small_name);
}

char *
ctl_format_duration (guint64 ms)
{
  if (ms < 10 * MS_PER_SECOND)
    return g_strdup_printf ("%u.%us", (guint) (ms / MS_PER_SECOND),
                            (guint) (ms % MS_PER_SECOND / 100));
  if (ms < MS_PER_MINUTE)
    return g_strdup_printf ("%us", (guint) (ms / MS_PER_SECOND));
  if (ms < MS_PER_HOUR)
    return two_units (ms, MS_PER_MINUTE, 'm', MS_PER_SECOND, 's');
  if (ms < MS_PER_DAY)
    return two_units (ms, MS_PER_HOUR, 'h', MS_PER_MINUTE, 'm');

  return two_units (ms, MS_PER_DAY, 'd', MS_PER_HOUR, 'h');
}

char *
ctl_format_time (guint64 unix_ms)
{
  g_autoptr (GDateTime) time = NULL;

  if (unix_ms == 0)
    return g_strdup ("-");
  time = g_date_time_new_from_unix_local ((gint64) (unix_ms / 1000));
  return time != NULL ? g_date_time_format (time, "%F %T") : g_strdup ("?");
}

static gboolean
is_plain_word (const char *text)
{
  for (const char *at = text; *at != '\0'; at++)
    if (!g_ascii_isalnum (*at) && strchr ("_@%+=:,./-", *at) == NULL && (guchar) *at < 0x80)
      return FALSE;

  return *text != '\0';
}

char *
ctl_format_args (const char *const *args)
{
  GString *line = g_string_new (NULL);

  for (guint i = 0; args != NULL && args[i] != NULL; i++)
    {
      g_autofree char *quoted = is_plain_word (args[i]) ? g_strdup (args[i])
                                                        : g_shell_quote (args[i]);

      g_string_append_printf (line, "%s%s", i > 0 ? " " : "", quoted);
    }

  return g_string_free (line, FALSE);
}

static gboolean
runs (const IrisClientItem *item)
{
  return item->state == IRIS_CLIENT_ITEM_RUNNING || item->state == IRIS_CLIENT_ITEM_LEASED;
}

guint64
ctl_item_elapsed_ms (const IrisClientItem *item, guint64 now_ms)
{
  guint64 until_ms = runs (item) ? now_ms : item->ended_ms;

  return item->started_ms > 0 && until_ms > item->started_ms ? until_ms - item->started_ms : 0;
}

/* How a command ended, if not well; else where the item is. */
char *
ctl_format_state (const IrisClientItem *item)
{
  if (item->signal > 0)
    return g_strdup_printf ("signal %d", item->signal);
  if (item->exit_status > 0)
    return g_strdup_printf ("exit %d", item->exit_status);
  return g_strdup (item->state_name);
}

char *
ctl_format_item_time (const IrisClientItem *item, guint64 now_ms)
{
  gboolean waits = item->state == IRIS_CLIENT_ITEM_DELAYED
                   || item->state == IRIS_CLIENT_ITEM_QUEUED;
  gboolean known = item->started_ms > 0 && (runs (item) || item->ended_ms > 0);
  g_autofree char *text = NULL;

  if (waits && item->due_ms > now_ms)
    text = ctl_format_duration (item->due_ms - now_ms);
  else if (known)
    text = ctl_format_duration (ctl_item_elapsed_ms (item, now_ms));
  else
    return g_strdup ("-");

  return g_strdup_printf ("%s %s", waits ? "in" : runs (item) ? "for" : "took", text);
}

const char *
ctl_place_name (const Ctl *ctl, int id)
{
  g_autoptr (GPtrArray) places = iris_client_get_places (ctl->client);

  for (guint i = 0; places != NULL && i < places->len; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (places, i);

      if (place->id == id)
        return place->name;
    }

  return "";
}

char *
ctl_format_place (const Ctl *ctl, const IrisClientItem *item)
{
  /* The names of another node's places are not known here. */
  const char *name = ctl->asks_node && ctl->node != NULL ? "" : ctl_place_name (ctl, item->place);

  if (*name != '\0')
    return g_strdup (name);
  return item->place >= 0 ? g_strdup_printf ("%d", item->place) : g_strdup ("-");
}

/* The node of an item that is away, as NODE/; else its place. */
char *
ctl_format_node_or_place (const Ctl *ctl, const IrisClientItem *item)
{
  return *item->node != '\0' ? g_strconcat (item->node, "/", NULL) : ctl_format_place (ctl, item);
}

/* A user by name; by number if that has none. A key as key:NAME, which no user is called. */
char *
ctl_format_owner (const IrisClientItem *item)
{
  struct passwd entry, *found = NULL;
  char buffer[16384];

  if (*item->owner_name != '\0')
    return g_strconcat ("key:", item->owner_name, NULL);
  if (item->owner > G_MAXUINT32)
    return g_strdup_printf ("key:%" G_GUINT64_FORMAT, item->owner);
  getpwuid_r ((uid_t) item->owner, &entry, buffer, sizeof buffer, &found);
  return found != NULL ? g_strdup (found->pw_name)
                       : g_strdup_printf ("%" G_GUINT64_FORMAT, item->owner);
}

static void
args_json (JsonBuilder *builder, const IrisClientItem *item)
{
  json_builder_set_member_name (builder, "args");
  json_builder_begin_array (builder);
  for (char **arg = item->args; *arg != NULL; arg++)
    json_builder_add_string_value (builder, *arg);
  json_builder_end_array (builder);
}

void
ctl_item_json (const Ctl *ctl, JsonBuilder *builder, const IrisClientItem *item)
{
  guint64 now_ms = (guint64) (g_get_real_time () / 1000);
  g_autofree char *place = ctl_format_place (ctl, item);
  g_autofree char *owner = ctl_format_owner (item);

  json_builder_begin_object (builder);
  ctl_json_int (builder, "item", (gint64) item->number);
  ctl_json_string (builder, "state", item->state_name);
  ctl_json_string (builder, "class", item->durability);
  ctl_json_string (builder, "service", item->service);
  ctl_json_string (builder, "key", item->key);
  ctl_json_int (builder, "uid", (gint64) item->owner);
  ctl_json_string (builder, "owner", owner);
  ctl_json_int (builder, "attempts", item->attempts);
  ctl_json_int (builder, "bytes", (gint64) item->bytes);
  ctl_json_int (builder, "crashes", item->crashes);
  ctl_json_string (builder, "place", place);
  if (*item->node != '\0')
    ctl_json_string (builder, "node", item->node);
  args_json (builder, item);
  ctl_json_string (builder, "traceparent", item->traceparent);
  ctl_json_double (builder, "accepted", item->accepted_ms / 1e3);
  ctl_json_double (builder, "due", item->due_ms / 1e3);
  ctl_json_double (builder, "started", item->started_ms / 1e3);
  ctl_json_double (builder, "elapsed", ctl_item_elapsed_ms (item, now_ms) / 1e3);
  ctl_json_double (builder, "ended", item->ended_ms / 1e3);
  ctl_json_double (builder, "expires", item->expires_ms / 1e3);
  ctl_json_string (builder, "error", item->error_name);
  ctl_json_string (builder, "message", item->message);
  if (item->state == IRIS_CLIENT_ITEM_DONE)
    {
      ctl_json_int (builder, "exit_status", item->exit_status);
      ctl_json_int (builder, "signal", item->signal);
    }
  json_builder_end_object (builder);
}
