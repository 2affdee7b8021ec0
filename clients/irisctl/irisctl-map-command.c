/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl map: the command line, and what is said at the end.
 */
#include "irisctl-map.h"

#include <errno.h>
#include <string.h>

#define DEFAULT_IN_FLIGHT 256
#define MAX_IN_FLIGHT     65536

static void
map_options_clear (IrisctlMapOptions *options)
{
  g_free (options->hint.place);
  g_free (options->hints);
  g_free (options->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisctlMapOptions, map_options_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisctlMap, irisctl_map_clear)

static gboolean
parse_rule (IrisctlMapOptions *options)
{
  const char *hints = options->hints != NULL ? options->hints : "round-robin";

  if (options->hint.place != NULL && options->hints != NULL)
    {
      irisctl_usage ("map", "--place and --hints exclude each other");
      return FALSE;
    }
  if (options->hint.place != NULL)
    options->rule = IRISCTL_HINTS_PLACE;
  else if (strcmp (hints, "round-robin") == 0)
    options->rule = IRISCTL_HINTS_ROUND_ROBIN;
  else if (strcmp (hints, "by-directory") == 0)
    options->rule = IRISCTL_HINTS_BY_DIRECTORY;
  else if (strcmp (hints, "none") == 0)
    options->rule = IRISCTL_HINTS_NONE;
  else
    {
      irisctl_usage ("map", "--hints is one of none, round-robin, by-directory");
      return FALSE;
    }
  if (options->rule == IRISCTL_HINTS_NONE && options->hint.strict)
    {
      irisctl_usage ("map", "--strict needs hints to be strict about");
      return FALSE;
    }
  return TRUE;
}

static gboolean
parse (Irisctl *self, IrisctlMapOptions *options, int *argc, char ***argv)
{
  const GOptionEntry entries[] = {
    { "hints", 'H', 0, G_OPTION_ARG_STRING, &options->hints,
      "none, round-robin (default) or by-directory", "RULE" },
    { "in-flight", 'n', 0, G_OPTION_ARG_INT, &options->in_flight,
      "Have at most N items under way (default: 256)", "N" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Write lines as sha256sum does into FILE", "FILE" },
    { "print", 'P', 0, G_OPTION_ARG_NONE, &options->print,
      "Print these lines (the table goes to stderr)", NULL },
    G_OPTION_ENTRY_NULL,
  };

  options->in_flight = DEFAULT_IN_FLIGHT;
  if (!irisctl_parse (self, "map", entries, &options->hint, argc, argv) || !parse_rule (options))
    return FALSE;
  if (*argc < 3)
    irisctl_usage ("map", "map takes a service, and files or directories");
  else if (options->in_flight < 1 || options->in_flight > MAX_IN_FLIGHT)
    irisctl_usage ("map", "--in-flight takes 1 to %d", MAX_IN_FLIGHT);
  else if (options->print && (options->output != NULL || self->globals.json))
    irisctl_usage ("map", "--print, --output and --json cannot all have standard output; take "
                          "--output with --json");
  else
    {
      options->service = (*argv)[1];
      options->paths = *argv + 2;
      return TRUE;
    }
  return FALSE;
}

/* Finds the place of --place among those that irisd has. */
static IrisClientPlace *
find_place (GPtrArray *places, const char *wanted)
{
  for (guint i = 0; i < places->len; i++)
    {
      IrisClientPlace *place = g_ptr_array_index (places, i);
      g_autofree char *id = g_strdup_printf ("%d", place->id);

      if (strcmp (place->name, wanted) == 0 || strcmp (id, wanted) == 0)
        return place;
    }
  irisctl_complain ("there is no place %s; “irisctl places” lists them", wanted);
  return NULL;
}

static void
report_as_json (IrisctlMap *map)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  irisctl_json_string (json, "service", map->options->service);
  irisctl_json_int (json, "files", (gint64) map->sent);
  irisctl_json_int (json, "failed", (gint64) map->failed);
  irisctl_json_double (json, "seconds", map->seconds);
  irisctl_tally_as_json (map->tally, json);
  if (map->fatal != NULL)
    {
      irisctl_json_string (json, "error", iris_client_error_get_name (map->fatal));
      irisctl_json_string (json, "message", map->fatal->message);
    }
  json_builder_end_object (json);
  irisctl_json_print (json);
}

static void
report_as_text (IrisctlMap *map)
{
  g_autofree char *table = irisctl_tally_format (map->tally);
  g_autofree char *size = g_format_size (map->tally->total.bytes);
  FILE *out = map->options->print ? stderr : stdout;

  fprintf (out,
           "%s\n%" G_GUINT64_FORMAT " files, %s, %" G_GUINT64_FORMAT
           " failed, %.2f s, %.0f files/s\n",
           table, map->sent, size, map->failed, map->seconds,
           map->seconds > 0 ? (double) map->sent / map->seconds : 0);
}

static int
finish (IrisctlMap *map)
{
  Irisctl *self = map->irisctl;
  gboolean closed = map->out == NULL || map->out == stdout || fclose (map->out) == 0;

  fflush (stdout);
  if (self->globals.json)
    report_as_json (map);
  else
    report_as_text (map);
  if (map->write_failed || !closed)
    {
      irisctl_complain ("cannot write %s: %s",
                        map->options->output != NULL ? map->options->output : "the output",
                        g_strerror (errno));
      return IRISCTL_FAILED;
    }
  if (self->signal != 0)
    return IRISCTL_SIGNALLED + self->signal;
  if (map->fatal != NULL)
    return irisctl_report (self, map->fatal);
  return map->failed > 0 ? IRISCTL_FAILED : IRISCTL_OK;
}

int
irisctl_map (Irisctl *self, int argc, char **argv)
{
  g_auto (IrisctlMapOptions) options = { { 0 } };
  g_auto (IrisctlMap) map = { .irisctl = self, .options = &options };
  int status;

  if (!parse (self, &options, &argc, &argv))
    return IRISCTL_USAGE;
  if (!irisctl_connect (self, &status))
    return status;
  map.places = iris_client_get_places (self->client);
  if (options.rule == IRISCTL_HINTS_PLACE)
    {
      map.only_place = find_place (map.places, options.hint.place);
      if (map.only_place == NULL)
        return IRISCTL_REFUSED;
    }
  map.out = options.print ? stdout : NULL;
  if (options.output != NULL && (map.out = fopen (options.output, "we")) == NULL)
    {
      irisctl_complain ("cannot write %s: %s", options.output, g_strerror (errno));
      return IRISCTL_FAILED;
    }
  irisctl_map_work (&map);
  return finish (&map);
}
