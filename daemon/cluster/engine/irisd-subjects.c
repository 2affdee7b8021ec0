/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The subjects of items in the cluster; see irisd-subjects.h. What is parsed here came from another
 * node or from a person with a NATS client.
 */
#include "daemon/cluster/engine/irisd-subjects.h"

#include <string.h>

#define ANY  "any"
#define NONE "-"

gboolean
irisd_node_name_is_valid (const char *name)
{
  gsize n = 0;

  if (!g_ascii_islower (name[0]) || g_str_equal (name, ANY))
    return FALSE;
  while (g_ascii_islower (name[n]) || g_ascii_isdigit (name[n]) || name[n] == '-')
    n++;
  return name[n] == '\0' && n <= IRISD_NODE_NAME_MAX;
}

static gboolean
is_plain (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '-';
}

static gboolean
is_upper_hex (char c)
{
  return g_ascii_isdigit (c) || (c >= 'A' && c <= 'F');
}

char *
irisd_subject_escape (const char *name)
{
  GString *token = g_string_sized_new (strlen (name) + 1);

  if (g_str_equal (name, NONE))
    g_string_append (token, "=2D");
  else
    for (const char *c = name; *c; c++)
      {
        if (is_plain (*c))
          g_string_append_c (token, *c);
        else
          g_string_append_printf (token, "=%02X", (guchar) *c);
      }
  return g_string_free (token, FALSE);
}

char *
irisd_subject_unescape (const char *token)
{
  g_autoptr (GString) name = g_string_sized_new (strlen (token) + 1);
  g_autofree char *again = NULL;

  for (const char *c = token; *c; c++)
    {
      if (is_plain (*c))
        g_string_append_c (name, *c);
      else if (*c == '=' && is_upper_hex (c[1]) && is_upper_hex (c[2]))
        {
          int byte = g_ascii_xdigit_value (c[1]) * 16 + g_ascii_xdigit_value (c[2]);
          if (byte == 0)
            return NULL;
          g_string_append_c (name, (char) byte);
          c += 2;
        }
      else
        return NULL;
    }
  /* Each name has one token, else two subjects would mean the same. */
  again = irisd_subject_escape (name->str);
  if (name->len == 0 || !g_str_equal (again, token))
    return NULL;
  return g_string_free (g_steal_pointer (&name), FALSE);
}

char *
irisd_subject_for_work (const char *node, gboolean strict, const char *place, const char *service)
{
  g_autofree char *service_token = irisd_subject_escape (service);
  g_autofree char *place_token = NULL;

  g_return_val_if_fail (node || (!strict && !place), NULL);
  g_return_val_if_fail (service[0] != '\0', NULL);
  place_token = place ? irisd_subject_escape (place) : g_strdup (NONE);
  return g_strconcat (IRISD_SUBJECT_WORK, node ? node : ANY, strict ? ".strict." : ".soft.",
                      place_token, ".", service_token, NULL);
}

char *
irisd_subject_for_later (const char *home, const char *item)
{
  return g_strconcat (IRISD_SUBJECT_LATER, home, ".", item, NULL);
}

char *
irisd_subject_for_head (const char *home, const char *chain)
{
  return g_strconcat (IRISD_SUBJECT_LATER, home, ".head.", chain != NULL ? chain : "*", NULL);
}

char *
irisd_subject_for_next (const char *home, const char *chain)
{
  return g_strconcat (IRISD_SUBJECT_LATER, home, ".next.", chain, NULL);
}

char *
irisd_subject_for_due (const char *work, const char *item)
{
  g_return_val_if_fail (g_str_has_prefix (work, IRISD_SUBJECT_WORK), NULL);
  return g_strconcat (IRISD_SUBJECT_DUE, work + strlen (IRISD_SUBJECT_WORK), ".", item, NULL);
}

char *
irisd_subject_for_late_work (const char *work, const char *item)
{
  return g_strconcat (work, ".", item, NULL);
}

char *
irisd_subject_for_any_due (const char *item)
{
  return g_strconcat (IRISD_SUBJECT_DUE, "*.*.*.*.", item, NULL);
}

char *
irisd_subject_get_work (const char *due)
{
  const char *rest = due + strlen (IRISD_SUBJECT_DUE);
  const char *item = strrchr (due, '.');

  if (!g_str_has_prefix (due, IRISD_SUBJECT_DUE) || item <= rest)
    return NULL;
  g_autofree char *middle = g_strndup (rest, (gsize) (item - rest));
  return g_strconcat (IRISD_SUBJECT_WORK, middle, NULL);
}

/* Its id as text. */
static gboolean
is_item (const char *token)
{
  gsize n = 0;

  while (g_ascii_isdigit (token[n]) || (token[n] >= 'a' && token[n] <= 'f'))
    n++;
  return n == 32 && token[n] == '\0';
}

void
irisd_work_subject_clear (IrisdWorkSubject *work)
{
  g_clear_pointer (&work->node, g_free);
  g_clear_pointer (&work->place, g_free);
  g_clear_pointer (&work->service, g_free);
  g_clear_pointer (&work->item, g_free);
  work->strict = FALSE;
}

gboolean
irisd_subject_parse_work (const char *subject, IrisdWorkSubject *work)
{
  g_auto (GStrv) tokens = NULL;
  gboolean any;
  guint n;

  memset (work, 0, sizeof *work);
  if (!g_str_has_prefix (subject, IRISD_SUBJECT_WORK))
    return FALSE;
  tokens = g_strsplit (subject + strlen (IRISD_SUBJECT_WORK), ".", 6);
  n = g_strv_length (tokens);
  if (n != 4 && (n != 5 || !is_item (tokens[4])))
    return FALSE;
  any = g_str_equal (tokens[0], ANY);
  work->strict = g_str_equal (tokens[1], "strict");
  if ((!any && !irisd_node_name_is_valid (tokens[0]))
      || (!work->strict && !g_str_equal (tokens[1], "soft"))
      || (any && (work->strict || !g_str_equal (tokens[2], NONE))))
    goto wrong;
  work->node = any ? NULL : g_strdup (tokens[0]);
  if (!g_str_equal (tokens[2], NONE) && !(work->place = irisd_subject_unescape (tokens[2])))
    goto wrong;
  if (!(work->service = irisd_subject_unescape (tokens[3])))
    goto wrong;
  work->item = g_strdup (tokens[4]);
  return TRUE;

wrong:
  irisd_work_subject_clear (work);
  return FALSE;
}

char *
irisd_subject_for_end (const char *home, const char *item)
{
  return g_strconcat (IRISD_SUBJECT_ENDS, home, ".", item, NULL);
}

char *
irisd_subject_for_node (const char *node, const char *what)
{
  return g_strconcat ("iris.n.", node, ".", what, NULL);
}
