/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Access: which users are admitted, and what irisd does for them with its own rights.
 *
 * Without a configuration that is irisd's owner alone. Other users that the configuration admits
 * may let irisd compute, and no more: programs run and files are read with the owner's rights, so
 * each of the two has a list of its own. irisd never uses the rights of another user.
 *
 * Each user reaches that user's items (irisd-policy.c). Operators reach all. Root is an operator
 * only if it is named; it can become irisd's user, which always is one. A worker process gets the
 * items of its own user; to get those of others it needs a rule for the user and the service.
 */
#include "daemon/config/irisd-access.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

/* The key of the group that is no list of users. */
#define SERVE "serve"

/* A service that a user may serve to others. */
typedef struct
{
  uid_t uid;
  char *service; /* or "*" */
} Grant;

static void
clear_grant (gpointer data)
{
  Grant *grant = data;
  g_free (grant->service);
}

static const char *const rule_names[IRISD_ACCESS_N_RULES] = {
  [IRISD_ACCESS_ENTER] = "users",
  [IRISD_ACCESS_COMMANDS] = "commands",
  [IRISD_ACCESS_FILES] = "files",
  [IRISD_ACCESS_OPERATE] = "operators",
};

void
irisd_access_init (IrisdAccess *self)
{
  *self = (IrisdAccess){ 0 };
  for (guint rule = 0; rule < IRISD_ACCESS_N_RULES; rule++)
    self->uids[rule] = g_array_new (FALSE, FALSE, sizeof (uid_t));
  self->grants = g_array_new (FALSE, FALSE, sizeof (Grant));
  g_array_set_clear_func (self->grants, clear_grant);
}

void
irisd_access_clear (IrisdAccess *self)
{
  for (guint rule = 0; rule < IRISD_ACCESS_N_RULES; rule++)
    g_array_unref (self->uids[rule]);
  g_array_unref (self->grants);
}

const char *
irisd_access_rule_name (IrisdAccessRule rule)
{
  return rule_names[rule];
}

static gboolean
find_user (const char *name, uid_t *uid, GError **error)
{
  guint64 number;
  if (g_ascii_string_to_unsigned (name, 10, 0, G_MAXUINT32 - 1, &number, NULL))
    {
      *uid = (uid_t) number;
      return TRUE;
    }
  struct passwd entry, *found = NULL;
  char buffer[16384];
  int rc = getpwnam_r (name, &entry, buffer, sizeof buffer, &found);
  if (found != NULL)
    {
      *uid = found->pw_uid;
      return TRUE;
    }
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_USAGE,
               "there is no user “%s”%s%s; write names or numbers with “;” between them", name,
               rc != 0 ? ": " : "", rc != 0 ? g_strerror (rc) : "");
  return FALSE;
}

/* irisd's owner is always admitted, and always an operator. */
static gboolean
may_be_none (guint rule)
{
  return rule != IRISD_ACCESS_ENTER && rule != IRISD_ACCESS_OPERATE;
}

static gboolean
set_rule (IrisdAccess *self, guint rule, const char *value, GError **error)
{
  g_auto (GStrv) names = g_strsplit (value, ";", -1);
  g_array_set_size (self->uids[rule], 0);
  self->not_even_owner[rule] = FALSE;
  for (guint i = 0; names[i] != NULL; i++)
    {
      const char *name = g_strstrip (names[i]);
      uid_t uid;
      if (*name == '\0')
        continue;
      if (may_be_none (rule) && strcmp (name, "none") == 0)
        {
          self->not_even_owner[rule] = TRUE;
          continue;
        }
      if (!find_user (name, &uid, error))
        return FALSE;
      g_array_append_val (self->uids[rule], uid);
    }
  if (!self->not_even_owner[rule] || self->uids[rule]->len == 0)
    return TRUE;
  g_set_error_literal (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“none” stands alone; it excludes irisd's owner too");
  return FALSE;
}

/* One "user: service, service". */
static gboolean
add_grant (IrisdAccess *self, const char *text, GError **error)
{
  g_auto (GStrv) halves = g_strsplit (text, ":", 2);
  g_auto (GStrv) services = g_strsplit (halves[1] != NULL ? halves[1] : "", ",", -1);
  uid_t uid;
  guint n = 0;
  if (!find_user (g_strstrip (halves[0]), &uid, error))
    return FALSE;
  for (guint i = 0; services[i] != NULL; i++)
    {
      const char *name = g_strstrip (services[i]);
      const Grant grant = { uid, g_strdup (name) };
      if (*name != '\0')
        g_array_append_val (self->grants, grant);
      else
        g_free (grant.service);
      n += *name != '\0';
    }
  if (n > 0)
    return TRUE;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_USAGE,
               "“%s” names no service; write “user: service, service” with “;” between users, or "
               "“user: *” for all services",
               text);
  return FALSE;
}

static gboolean
set_grants (IrisdAccess *self, const char *value, GError **error)
{
  g_auto (GStrv) entries = g_strsplit (value, ";", -1);
  g_array_set_size (self->grants, 0);
  for (guint i = 0; entries[i] != NULL; i++)
    if (*g_strstrip (entries[i]) != '\0' && !add_grant (self, entries[i], error))
      return FALSE;
  return TRUE;
}

/* Sets @key of the group [access]. @value has user names or numbers, with `;` between them; for
 * `commands` and `files` also `none`; for `serve` each with services. Returns whether there are
 * such a key and such users. */
gboolean
irisd_access_set (IrisdAccess *self, const char *key, const char *value, GError **error)
{
  for (guint rule = 0; rule < IRISD_ACCESS_N_RULES; rule++)
    if (strcmp (rule_names[rule], key) == 0)
      return set_rule (self, rule, value, error);
  if (strcmp (key, SERVE) == 0)
    return set_grants (self, value, error);
  g_set_error (
      error, IRISD_ERROR, IRISD_ERROR_USAGE,
      "there is no key “%s” in this group; it has users, commands, files, operators and serve",
      key);
  return FALSE;
}

static gboolean
lists (const IrisdAccess *self, IrisdAccessRule rule, gint64 uid)
{
  for (guint i = 0; i < self->uids[rule]->len; i++)
    if ((gint64) g_array_index (self->uids[rule], uid_t, i) == uid)
      return TRUE;
  return FALSE;
}

static gboolean
check_is_let_in (const IrisdAccess *self, uid_t uid, const char *key, GError **error)
{
  if (irisd_access_allows (self, IRISD_ACCESS_ENTER, uid))
    return TRUE;
  g_set_error (
      error, IRISD_ERROR, IRISD_ERROR_USAGE,
      "[access] %s names the user %u, which is not admitted; name that user under users as "
      "well",
      key, (guint) uid);
  return FALSE;
}

/* Returns whether the rules fit together: a user with a right must be admitted. */
gboolean
irisd_access_check (const IrisdAccess *self, GError **error)
{
  for (guint rule = 1; rule < IRISD_ACCESS_N_RULES; rule++)
    for (guint i = 0; i < self->uids[rule]->len; i++)
      if (!check_is_let_in (self, g_array_index (self->uids[rule], uid_t, i), rule_names[rule],
                            error))
        return FALSE;
  for (guint i = 0; i < self->grants->len; i++)
    if (!check_is_let_in (self, g_array_index (self->grants, Grant, i).uid, SERVE, error))
      return FALSE;
  return TRUE;
}

/* Returns whether others than the owner are admitted, so that the sockets have to be open to
 * them. */
gboolean
irisd_access_is_shared (const IrisdAccess *self)
{
  return self->uids[IRISD_ACCESS_ENTER]->len > 0;
}

/* Returns whether @rule includes @uid, which may be IRISD_UID_UNKNOWN. */
gboolean
irisd_access_allows (const IrisdAccess *self, IrisdAccessRule rule, gint64 uid)
{
  if (uid == IRISD_UID_UNKNOWN)
    return FALSE;
  return uid == (gint64) geteuid () ? !self->not_even_owner[rule] : lists (self, rule, uid);
}

/* Returns whether that user's worker processes get items of other users; operators' do. */
gboolean
irisd_access_may_serve (const IrisdAccess *self, gint64 uid, const char *service)
{
  if (irisd_access_allows (self, IRISD_ACCESS_OPERATE, uid))
    return TRUE;
  for (guint i = 0; i < self->grants->len; i++)
    {
      const Grant *grant = &g_array_index (self->grants, Grant, i);
      if ((gint64) grant->uid == uid
          && (strcmp (grant->service, "*") == 0 || strcmp (grant->service, service) == 0))
        return TRUE;
    }
  return FALSE;
}

/* Returns the user of @address, which ZeroMQ reports for a connection, or IRISD_UID_UNKNOWN. Over
 * ipc it is `localhost:UID:GID:PID`, from the kernel. */
gint64
irisd_access_parse_address (const char *address)
{
  if (address == NULL || !g_str_has_prefix (address, "localhost:"))
    return IRISD_UID_UNKNOWN;
  const char *digits = address + strlen ("localhost:");
  char *end = NULL;
  errno = 0;
  guint64 uid = g_ascii_isdigit (*digits) ? g_ascii_strtoull (digits, &end, 10) : G_MAXUINT64;
  return errno == 0 && uid < G_MAXUINT32 && *end == ':' ? (gint64) uid : IRISD_UID_UNKNOWN;
}
