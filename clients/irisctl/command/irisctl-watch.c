/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl watch: what irisd does, again and again.
 *
 * All that is shown of a rate is the difference of two looks at irisd's counters, over the time
 * that irisd itself says lies between them. A terminal shows one picture that is drawn anew;
 * anything else gets a line for each look, of text or of JSON.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>

#define LEAST_INTERVAL_S 0.05

/* To the corner, and wipe the rest of each line and of the screen: nothing flickers. */
#define HOME      "\033[H"
#define WIPE_LINE "\033[K"
#define WIPE_REST "\033[J"
#define CLEAR     "\033[2J"
#define HIDE      "\033[?25l"
#define SHOW      "\033[?25h"

static double interval_s = 1;
static int count;
static gboolean of_items;

typedef struct
{
  const IrisClientStatus *now;
  const IrisClientStatus *before;
  double seconds; /* between them */
} Look;

static double
rate (const Look *look, guint64 now, guint64 before)
{
  return look->seconds > 0 && now > before ? (double) (now - before) / look->seconds : 0;
}

static const IrisClientPlaceStatus *
place_of (const IrisClientStatus *status, guint i)
{
  return g_ptr_array_index (status->places, i);
}

/* How much of the time of a place's workers went into items, 0 to 1. irisd reads its clocks one
 * after the other, so the share of a very short time may come out a little above all of it. */
static double
load_of (const Look *look, guint i)
{
  const IrisClientPlaceStatus *place = place_of (look->now, i);
  double busy = rate (look, place->busy_ns, place_of (look->before, i)->busy_ns) / 1e9;

  return place->workers > 0 ? MIN (busy / place->workers, 1) : 0;
}

static char *
format_load (double load)
{
  char *text = g_strdup_printf ("%.0f %%", 100 * load);

  if (load < 0.005)
    return text;
  return ctl_table_colour (load < 0.9 ? CTL_COLOUR_GREEN : CTL_COLOUR_YELLOW, text);
}

static char *
format_rate (double per_second)
{
  return g_strdup_printf (per_second < 9.95 ? "%.1f" : "%.0f", per_second);
}

static void
append_head (GString *text, const Look *look)
{
  const IrisClientStatus *status = look->now;
  guint64 seconds = status->uptime_ms / 1000;

  g_string_append_printf (
      text, "irisd %s, up %" G_GUINT64_FORMAT ":%02d:%02d, %s%s%s\n", status->version,
      seconds / 3600, (int) (seconds / 60 % 60), (int) (seconds % 60), status->scheduler,
      status->draining ? ", draining" : "", status->ready || status->draining ? "" : ", not ready");
  g_string_append_printf (text,
                          "items       %" G_GUINT64_FORMAT " not ended\n"
                          "per second  %.1f accepted, %.1f ended, %.1f failed, %.1f refused\n",
                          status->in_flight, rate (look, status->accepted, look->before->accepted),
                          rate (look, status->ended, look->before->ended),
                          rate (look, status->failed, look->before->failed),
                          rate (look, status->refused, look->before->refused));
  if (!g_str_equal (status->journal, "none"))
    g_string_append_printf (text,
                            "journal     %s%s%s; %" G_GUINT64_FORMAT
                            " persistent items, %" G_GUINT64_FORMAT " of them ended\n",
                            status->journal, *status->journal_says != '\0' ? ": " : "",
                            status->journal_says, status->persistent,
                            MIN (status->persistent_ended, status->persistent));
  g_string_append_printf (text, "clients     %" G_GUINT64_FORMAT "\n\n", status->peers);
}

static void
append_places (GString *text, const Look *look)
{
  static const char *const headings[] = { "place", ">workers", ">load", ">backlog", ">ended/s",
                                          ">in/s", ">out/s",   ">MB/s", NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, FALSE);
  g_autofree char *rows = NULL;

  ctl_table_fit_terminal (table);
  for (guint i = 0; i < look->now->places->len; i++)
    {
      const IrisClientPlaceStatus *place = place_of (look->now, i);
      const IrisClientPlaceStatus *before = place_of (look->before, i);

      ctl_table_add (table, g_strdup (place->name), ctl_number (place->active),
                     format_load (load_of (look, i)),
                     place->drained ? ctl_table_colour (CTL_COLOUR_YELLOW, g_strdup ("drained"))
                                    : ctl_number (place->backlog),
                     format_rate (rate (look, place->executed, before->executed)),
                     format_rate (rate (look, place->stolen_in, before->stolen_in)),
                     format_rate (rate (look, place->stolen_out, before->stolen_out)),
                     format_rate (rate (look, place->bytes, before->bytes) / 1e6));
    }
  rows = ctl_table_to_string (table);
  g_string_append (text, rows);
}

/* Draws over what was there: at most what fits, or the terminal would scroll. */
static void
show_screen (const Look *look)
{
  g_autoptr (GString) head = g_string_new (NULL);
  g_autoptr (GString) places = g_string_new (NULL);
  guint columns = ctl_terminal_columns (), rows = ctl_terminal_rows (), n = 0;
  g_auto (GStrv) lines = NULL, table = NULL;

  append_head (head, look);
  append_places (places, look);
  lines = g_strsplit (head->str, "\n", -1);
  table = g_strsplit (places->str, "\n", -1);
  fputs (HOME, stdout);
  for (char **line = lines; line[1] != NULL && n + 1 < rows; line++, n++)
    {
      g_autofree char *cut = ctl_terminal_cut (*line, columns);

      printf ("%s" WIPE_LINE "\n", cut);
    }
  for (char **line = table; line[1] != NULL && n + 1 < rows; line++, n++)
    printf ("%s" WIPE_LINE "\n", *line);
  if (n + 2 < rows)
    fputs (WIPE_LINE "\n", stdout);
  fputs ("Press q to end." WIPE_REST, stdout);
  fflush (stdout);
}

static void
show_line (const Look *look)
{
  const IrisClientStatus *status = look->now;
  guint64 backlog = 0;
  double busy = 0;
  guint workers = 0;

  for (guint i = 0; i < status->places->len; i++)
    {
      const IrisClientPlaceStatus *place = place_of (status, i);

      backlog += place->backlog;
      busy += load_of (look, i) * place->workers;
      workers += place->workers;
    }
  g_print ("%" G_GUINT64_FORMAT " not ended, %" G_GUINT64_FORMAT " at the places, load %.0f %%, "
           "%.1f accepted/s, %.1f ended/s, %.1f failed/s, %" G_GUINT64_FORMAT " persistent\n",
           status->in_flight, backlog, workers > 0 ? 100 * busy / workers : 0,
           rate (look, status->accepted, look->before->accepted),
           rate (look, status->ended, look->before->ended),
           rate (look, status->failed, look->before->failed), status->persistent);
}

static void
place_json (JsonBuilder *builder, const Look *look, guint i)
{
  const IrisClientPlaceStatus *place = place_of (look->now, i);
  const IrisClientPlaceStatus *before = place_of (look->before, i);

  json_builder_begin_object (builder);
  ctl_json_int (builder, "id", place->id);
  ctl_json_string (builder, "name", place->name);
  ctl_json_int (builder, "workers", place->workers);
  ctl_json_double (builder, "load", load_of (look, i));
  ctl_json_int (builder, "active", place->active);
  ctl_json_bool (builder, "drained", place->drained);
  ctl_json_int (builder, "backlog", (gint64) place->backlog);
  ctl_json_double (builder, "ended_per_s", rate (look, place->executed, before->executed));
  ctl_json_double (builder, "stolen_in_per_s", rate (look, place->stolen_in, before->stolen_in));
  ctl_json_double (builder, "stolen_out_per_s", rate (look, place->stolen_out, before->stolen_out));
  ctl_json_double (builder, "bytes_per_s", rate (look, place->bytes, before->bytes));
  json_builder_end_object (builder);
}

static void
show_json (const Look *look)
{
  const IrisClientStatus *status = look->now;
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  ctl_json_double (builder, "uptime_s", status->uptime_ms / 1e3);
  ctl_json_double (builder, "interval_s", look->seconds);
  ctl_json_bool (builder, "ready", status->ready);
  ctl_json_bool (builder, "draining", status->draining);
  ctl_json_int (builder, "clients", (gint64) status->peers);
  ctl_json_int (builder, "in_flight", (gint64) status->in_flight);
  ctl_json_double (builder, "accepted_per_s",
                   rate (look, status->accepted, look->before->accepted));
  ctl_json_double (builder, "ended_per_s", rate (look, status->ended, look->before->ended));
  ctl_json_double (builder, "failed_per_s", rate (look, status->failed, look->before->failed));
  ctl_json_double (builder, "refused_per_s", rate (look, status->refused, look->before->refused));
  ctl_json_string (builder, "journal", status->journal);
  ctl_json_int (builder, "persistent", (gint64) status->persistent);
  ctl_json_int (builder, "persistent_ended", (gint64) status->persistent_ended);
  json_builder_set_member_name (builder, "places");
  json_builder_begin_array (builder);
  for (guint i = 0; i < status->places->len; i++)
    place_json (builder, look, i);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  ctl_json_print_line (builder);
}

/* A daemon that was started anew counts from nothing. */
static gboolean
is_another (const IrisClientStatus *now, const IrisClientStatus *before)
{
  return now->pid != before->pid || now->uptime_ms < before->uptime_ms
         || now->places->len != before->places->len;
}

static void
show (const Ctl *ctl, const Look *look, gboolean on_screen)
{
  if (ctl->json)
    show_json (look);
  else if (on_screen)
    show_screen (look);
  else
    show_line (look);
}

/* What was drawn last, for another size of the terminal. */
typedef struct
{
  IrisClientStatus *now, *before;
} Drawn;

static void
drawn_set (Drawn *self, IrisClientStatus *now, IrisClientStatus *before)
{
  g_clear_pointer (&self->now, iris_client_status_unref);
  g_clear_pointer (&self->before, iris_client_status_unref);
  self->now = now != NULL ? iris_client_status_ref (now) : NULL;
  self->before = before != NULL ? iris_client_status_ref (before) : NULL;
}

static Look
look_at (const IrisClientStatus *now, const IrisClientStatus *before)
{
  return (Look){ now, before, (double) (now->uptime_ms - before->uptime_ms) / 1e3 };
}

static gboolean
on_resize (gpointer data)
{
  const Drawn *drawn = data;

  fputs (CLEAR, stdout);
  if (drawn->now != NULL)
    {
      const Look look = look_at (drawn->now, drawn->before);

      show_screen (&look);
    }

  return G_SOURCE_CONTINUE;
}

/* What there is to see is an error, or that the user has had enough. */
static int
watch (Ctl *ctl, gboolean on_screen, Drawn *drawn)
{
  g_autoptr (IrisClientStatus) before = NULL;
  g_autoptr (GError) error = NULL;

  before = ctl_get_status (ctl, &error);
  for (int n = 0; before != NULL && (count == 0 || n < count); n++)
    {
      g_autoptr (IrisClientStatus) now = NULL;

      ctl_pause (ctl, (guint) (interval_s * 1000));
      if (g_cancellable_is_cancelled (ctl->cancellable))
        return CTL_OK;
      now = ctl_get_status (ctl, &error);
      if (now == NULL)
        break;
      if (!is_another (now, before))
        {
          const Look look = look_at (now, before);

          drawn_set (drawn, now, before);
          show (ctl, &look, on_screen);
          if (!ctl_output_is_good ())
            return ctl_fail (CTL_FAILED,
                             "cannot write to standard output: it was closed, or its disk is full");
        }
      g_clear_pointer (&before, iris_client_status_unref);
      before = g_steal_pointer (&now);
    }
  if (error == NULL)
    return CTL_OK;

  return g_cancellable_is_cancelled (ctl->cancellable) ? CTL_OK : ctl_fail_with (error);
}

/* The terminal is as it was before anything else is written to it. */
static int
watch_screen (Ctl *ctl)
{
  G_GNUC_UNUSED g_autoptr (CtlKeys) keys = ctl_keys_new (ctl->cancellable);
  Drawn drawn = { NULL, NULL };
  guint resize = g_unix_signal_add (SIGWINCH, on_resize, &drawn);
  int status;

  fputs (HIDE CLEAR, stdout);
  status = watch (ctl, TRUE, &drawn);
  fputs (SHOW "\n", stdout);
  fflush (stdout);
  g_source_remove (resize);
  drawn_set (&drawn, NULL, NULL);

  return status;
}

static int
run_watch (Ctl *ctl, int argc, char **argv)
{
  gboolean on_screen = !ctl->json && ctl_terminal_is_screen ();
  Drawn drawn = { NULL, NULL };
  g_autoptr (IrisClientQuery) query = NULL;
  int status;

  if (!(interval_s >= LEAST_INTERVAL_S && interval_s <= CTL_MAX_WAIT_S))
    return ctl_fail (CTL_USAGE, "watch: --interval takes %g to %d seconds, not %g",
                     LEAST_INTERVAL_S, CTL_MAX_WAIT_S, interval_s);
  if (count < 0)
    return ctl_fail (CTL_USAGE, "watch: --count takes a number of looks, not %d", count);
  if (ctl_filter_is_given (&ctl->filter) && !of_items)
    return ctl_fail (CTL_USAGE, "watch: options that select items need --items");
  if (of_items && (query = ctl_filter_make_query (&ctl->filter, "watch")) == NULL)
    return CTL_USAGE;
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  if (of_items)
    return ctl_watch_items (ctl, interval_s, count);

  if (on_screen)
    return watch_screen (ctl);
  status = watch (ctl, FALSE, &drawn);
  drawn_set (&drawn, NULL, NULL);

  return status;
}

static const GOptionEntry watch_entries[] = {
  { "interval", 'i', 0, G_OPTION_ARG_DOUBLE, &interval_s, "The time between two looks (default: 1)",
    "SECONDS" },
  { "count", 'n', 0, G_OPTION_ARG_INT, &count,
    "End after so many looks (default: with the key q, or Ctrl-C)", "N" },
  { "items", 0, 0, G_OPTION_ARG_NONE, &of_items,
    "Show persistent items, each time that one changes its state", NULL },
  { NULL },
};

const CtlCommand ctl_watch = {
  .name = "watch",
  .arguments = "",
  .summary = "show what irisd does, once a second",
  .description = "On a terminal one picture is drawn anew, until the key q is pressed; otherwise\n"
                 "there is a line for each look. Load is the share of the workers' time that\n"
                 "went into items, without commands and worker processes, which have no worker;\n"
                 "the backlog of a place are the items that were queued there and have not\n"
                 "ended, and in and out those that it stole or that were stolen from it.\n\n"
                 "With --items there is a line for each persistent item, at first for those that\n"
                 "have not ended, then whenever one is in another state than it was at the last\n"
                 "look; with --state, when it is in one of these. A state that lasts shorter is\n"
                 "not seen: shorten --interval.\n\n"
                 "Examples:\n"
                 "  irisctl watch --interval 5\n"
                 "  irisctl watch --items --key nightly- --interval 0.2\n"
                 "  irisctl watch --json --count 10 | jq .ended_per_s\n",
  .takes_filter = TRUE,
  .entries = watch_entries,
  .run = run_watch,
};
