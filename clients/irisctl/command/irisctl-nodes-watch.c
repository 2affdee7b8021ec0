/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl nodes --watch: the nodes of the cluster, again and again.
 *
 * A terminal shows one picture that is drawn anew; anything else gets a line for each look, of text
 * or of JSON. What a node tells of itself is up to three seconds old, so a second between two looks
 * misses nothing.
 */
#include "clients/irisctl/command/irisctl-nodes.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>

/* To the corner, and wipe the rest of each line and of the screen: nothing flickers. */
#define HOME      "\033[H"
#define WIPE_LINE "\033[K"
#define WIPE_REST "\033[J"
#define CLEAR     "\033[2J"
#define HIDE      "\033[?25l"
#define SHOW      "\033[?25h"

typedef struct
{
  Ctl *ctl;
  gboolean on_screen;
  GVariant *nodes; /* what was seen last; NULL: nothing yet */
} Watch;

static guint64
sum_of (GVariant *list, const char *key)
{
  guint64 sum = 0;

  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) node = g_variant_get_child_value (list, i);
      guint64 number = 0;
      guint32 state = 0;

      /* What a node that is silent told last is old. */
      g_variant_lookup (node, "state", "u", &state);
      if (state == IRIS_WIRE_NODE_HERE || state == IRIS_WIRE_NODE_DRAINING)
        g_variant_lookup (node, key, "t", &number);
      sum += number;
    }
  return sum;
}

static guint
count_in (GVariant *list, guint32 wanted)
{
  guint n = 0;

  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) node = g_variant_get_child_value (list, i);
      guint32 state = 0;

      n += g_variant_lookup (node, "state", "u", &state) && state == wanted;
    }
  return n;
}

/* One line: what this node is in the cluster, and sums of all that are here. */
static char *
describe (GVariant *nodes)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (nodes, "nodes", G_VARIANT_TYPE ("aa{sv}"));
  const char *name = "", *reason = "";
  guint32 state = 0;
  g_autoptr (GString) text = g_string_new (NULL);

  g_variant_lookup (nodes, "node", "&s", &name);
  g_variant_lookup (nodes, "reason", "&s", &reason);
  g_variant_lookup (nodes, "state", "u", &state);
  g_string_append_printf (text, "node %s, ", name);
  if (state == IRIS_WIRE_CLUSTER_JOINED)
    g_string_append (text, "in the cluster");
  else
    g_string_append_printf (text, "not in the cluster: %s",
                            *reason != '\0' ? reason : "it joins just now");
  g_string_append_printf (
      text, "; %u here, %u draining, %u gone", count_in (list, IRIS_WIRE_NODE_HERE),
      count_in (list, IRIS_WIRE_NODE_DRAINING), count_in (list, IRIS_WIRE_NODE_GONE));
  g_string_append_printf (
      text,
      "; %" G_GUINT64_FORMAT " running, %" G_GUINT64_FORMAT " waiting, %" G_GUINT64_FORMAT " away",
      sum_of (list, "running"), sum_of (list, "backlog"), sum_of (list, "away"));

  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Draws over what was there: at most what fits, or the terminal would scroll. */
static void
draw (const Watch *self)
{
  g_autofree char *head = describe (self->nodes);
  g_autofree char *table = ctl_nodes_to_table (self->ctl, self->nodes);
  g_auto (GStrv) parts = g_strsplit (head, "; ", -1);
  g_auto (GStrv) rows = g_strsplit (table, "\n", -1);
  guint columns = ctl_terminal_columns (), most = ctl_terminal_rows (), n = 0;

  fputs (HOME, stdout);
  for (char **part = parts; *part != NULL && n + 1 < most; part++, n++)
    {
      g_autofree char *cut = ctl_terminal_cut (*part, columns);

      printf ("%s" WIPE_LINE "\n", cut);
    }
  if (n + 1 < most)
    {
      fputs (WIPE_LINE "\n", stdout);
      n++;
    }
  for (char **row = rows; *row != NULL && row[1] != NULL && n + 1 < most; row++, n++)
    printf ("%s" WIPE_LINE "\n", *row);
  fputs ("Press q to end." WIPE_REST, stdout);
  fflush (stdout);
}

static gboolean
on_resize (gpointer data)
{
  const Watch *self = data;

  fputs (CLEAR, stdout);
  if (self->nodes != NULL)
    draw (self);

  return G_SOURCE_CONTINUE;
}

static void
show (const Watch *self)
{
  if (self->on_screen)
    draw (self);
  else if (self->ctl->json)
    ctl_nodes_print_json (self->nodes, TRUE);
  else
    {
      g_autofree char *line = describe (self->nodes);

      g_print ("%s\n", line);
    }
}

/* What there is to see is an error, or that the user has had enough. */
static int
look (Watch *self, double interval_s, int count)
{
  for (int n = 0; count == 0 || n < count; n++)
    {
      g_autoptr (GError) error = NULL;
      guint32 state = 0;

      if (n > 0)
        ctl_pause (self->ctl, (guint) (interval_s * 1000));
      if (g_cancellable_is_cancelled (self->ctl->cancellable))
        return CTL_OK;
      g_clear_pointer (&self->nodes, g_variant_unref);
      self->nodes = ctl_nodes_get (self->ctl, &error);
      if (self->nodes == NULL)
        return g_cancellable_is_cancelled (self->ctl->cancellable) ? CTL_OK : ctl_fail_with (error);
      g_variant_lookup (self->nodes, "state", "u", &state);
      if (state == IRIS_WIRE_CLUSTER_NONE)
        return ctl_fail (CTL_FAILED,
                         "this irisd is in no cluster, so there are no nodes to watch: %s",
                         ctl_nodes_why_none (self->nodes));
      show (self);
      if (!ctl_output_is_good ())
        return ctl_fail (CTL_FAILED,
                         "cannot write to standard output: it was closed, or its disk is full");
    }
  return CTL_OK;
}

/* The terminal is as it was before anything else is written to it. */
static int
look_on_screen (Watch *self, double interval_s, int count)
{
  guint resize = g_unix_signal_add (SIGWINCH, on_resize, self);
  int status;

  {
    G_GNUC_UNUSED g_autoptr (CtlKeys) keys = ctl_keys_new (self->ctl->cancellable);

    fputs (HIDE CLEAR, stdout);
    status = look (self, interval_s, count);
    fputs (SHOW "\n", stdout);
    fflush (stdout);
  }
  g_source_remove (resize);

  return status;
}

int
ctl_nodes_watch (Ctl *ctl, double interval_s, int count)
{
  Watch self = { ctl, !ctl->json && ctl_terminal_is_screen (), NULL };
  int status = self.on_screen ? look_on_screen (&self, interval_s, count)
                              : look (&self, interval_s, count);

  g_clear_pointer (&self.nodes, g_variant_unref);
  return status;
}
