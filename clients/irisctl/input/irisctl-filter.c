/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The options that say which of the persistent items are meant.
 */
#include "clients/irisctl/input/irisctl-input.h"

static const struct
{
  const char *name;
  guint states; /* bit N: the state N */
} words[] = {
  { "queued", 1U << IRIS_CLIENT_ITEM_QUEUED },
  { "running", 1U << IRIS_CLIENT_ITEM_RUNNING },
  { "done", 1U << IRIS_CLIENT_ITEM_DONE },
  { "failed", 1U << IRIS_CLIENT_ITEM_FAILED },
  { "cancelled", 1U << IRIS_CLIENT_ITEM_CANCELLED },
  { "delayed", 1U << IRIS_CLIENT_ITEM_DELAYED },
  { "leased", 1U << IRIS_CLIENT_ITEM_LEASED },
  { "buried", 1U << IRIS_CLIENT_ITEM_BURIED },
  { "suspended", 1U << IRIS_CLIENT_ITEM_SUSPENDED },
  { "open", 1U << IRIS_CLIENT_ITEM_QUEUED | 1U << IRIS_CLIENT_ITEM_DELAYED
                | 1U << IRIS_CLIENT_ITEM_LEASED | 1U << IRIS_CLIENT_ITEM_RUNNING
                | 1U << IRIS_CLIENT_ITEM_SUSPENDED },
  { "ended", 1U << IRIS_CLIENT_ITEM_DONE | 1U << IRIS_CLIENT_ITEM_FAILED
                 | 1U << IRIS_CLIENT_ITEM_CANCELLED },
};

GOptionEntry *
ctl_filter_entries (CtlFilter *filter)
{
  const GOptionEntry entries[] = {
    { "state", 0, 0, G_OPTION_ARG_STRING_ARRAY, &filter->states,
      "Only items that are queued, delayed, leased, running, suspended, done, failed, cancelled or "
      "buried; open (the first five) or ended (the next three); several with commas",
      "STATE" },
    { "service", 0, 0, G_OPTION_ARG_STRING, &filter->service, "Only items of this service",
      "SERVICE" },
    { "queue", 0, 0, G_OPTION_ARG_STRING, &filter->queue, "Only items of this queue", "QUEUE" },
    { "class", 'c', 0, G_OPTION_ARG_STRING, &filter->klass,
      "Only items that are relaxed or durable", "CLASS" },
    { "key", 'k', 0, G_OPTION_ARG_STRING, &filter->key_prefix,
      "Only items whose key begins with this", "PREFIX" },
    { "since", 0, 0, G_OPTION_ARG_STRING, &filter->since,
      "Only items accepted then or later: a time of day, or how long ago, such as 2h", "WHEN" },
    { "until", 0, 0, G_OPTION_ARG_STRING, &filter->until, "Only items accepted before then",
      "WHEN" },
    { NULL },
  };

  return g_memdup2 (entries, sizeof entries);
}

void
ctl_filter_clear (CtlFilter *filter)
{
  g_strfreev (filter->states);
  g_free (filter->service);
  g_free (filter->klass);
  g_free (filter->queue);
  g_free (filter->key_prefix);
  g_free (filter->since);
  g_free (filter->until);
}

gboolean
ctl_filter_is_given (const CtlFilter *filter)
{
  return filter->states != NULL || filter->service != NULL || filter->klass != NULL
         || filter->queue != NULL || filter->key_prefix != NULL || filter->since != NULL
         || filter->until != NULL;
}

/* 0 if there is no such word. */
guint
ctl_filter_parse_state (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_equal (words[i].name, name))
      return words[i].states;

  return 0;
}

void
ctl_filter_add_states (IrisClientQuery *query, guint states)
{
  for (guint state = 1; state < 32; state++)
    if ((states >> state & 1) != 0)
      iris_client_query_add_state (query, (IrisClientItemState) state);
}

const char *
ctl_filter_state_name (IrisClientItemState state)
{
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i].states == 1U << state)
      return words[i].name;

  return "unknown";
}

int
ctl_filter_get_states (const CtlFilter *filter, const char *command, guint *states)
{
  *states = 0;
  for (char **texts = filter->states; texts != NULL && *texts != NULL; texts++)
    {
      g_auto (GStrv) names = g_strsplit (*texts, ",", -1);

      for (char **name = names; *name != NULL; name++)
        {
          guint named = ctl_filter_parse_state (*name);

          if (named == 0)
            return ctl_fail (CTL_USAGE,
                             "%s: there is no state “%s”: choose queued, delayed, leased, "
                             "running, done, failed, cancelled, buried, open or ended",
                             command, *name);
          *states |= named;
        }
    }

  return CTL_OK;
}

/* A time of day, or how long ago. */
static gboolean
parse_when (const char *text, guint64 *ms)
{
  guint64 ago;
  gint64 at;

  if (ctl_parse_duration (text, &ago))
    {
      guint64 now = (guint64) g_get_real_time () / 1000;

      *ms = ago < now ? now - ago : 1;
      return TRUE;
    }
  if (!ctl_parse_time (text, &at))
    return FALSE;
  *ms = (guint64) MAX (at, 1);

  return TRUE;
}

static int
set_times (IrisClientQuery *query, const CtlFilter *filter, const char *command)
{
  const char *const names[] = { "since", "until" };
  const char *const texts[] = { filter->since, filter->until };
  guint64 times[2] = { 0, 0 };

  for (guint i = 0; i < 2; i++)
    if (texts[i] != NULL && !parse_when (texts[i], &times[i]))
      return ctl_fail (CTL_USAGE,
                       "%s: --%s takes a time such as 2026-12-24T18:00:00 or @1800000000, or how "
                       "long ago, such as 90s, 2h or 1d, not “%s”",
                       command, names[i], texts[i]);
  iris_client_query_set_accepted (query, times[0], times[1]);

  return CTL_OK;
}

static int
set_class (IrisClientQuery *query, const char *name, const char *command)
{
  static const char *const names[] = { "relaxed", "durable", NULL };
  guint index = 0;
  g_autoptr (GError) error = NULL;

  if (!ctl_choose ("class", name, names, &index, &error))
    return ctl_fail (CTL_USAGE, "%s: %s: other items are not persistent", command, error->message);
  if (name != NULL)
    iris_client_query_set_durability (query, (IrisDurability) (IRIS_DURABILITY_RELAXED + index));

  return CTL_OK;
}

IrisClientQuery *
ctl_filter_make_query (const CtlFilter *filter, const char *command)
{
  g_autoptr (IrisClientQuery) query = iris_client_query_new ();
  guint states;

  if (ctl_filter_get_states (filter, command, &states) != CTL_OK
      || set_times (query, filter, command) != CTL_OK
      || set_class (query, filter->klass, command) != CTL_OK)
    return NULL;
  ctl_filter_add_states (query, states);
  iris_client_query_set_service (query, filter->service);
  iris_client_query_set_queue (query, filter->queue);
  iris_client_query_set_key_prefix (query, filter->key_prefix);

  return g_steal_pointer (&query);
}

GPtrArray *
ctl_filter_next_page (Ctl *ctl, IrisClientQuery *query, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_list_next_async (ctl->client, query, ctl->cancellable, ctl_take_result, &result);
  return iris_client_list_next_finish (ctl->client, ctl_wait (&result), error);
}
