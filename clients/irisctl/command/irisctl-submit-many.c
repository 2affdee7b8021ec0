/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Many items, one for each line of a file.
 *
 * Lines are read as they are needed, and only so many items are under way, so a million lines take
 * no more memory than a thousand. libiris-client gathers them into batches, keeps to irisd's credit
 * and sends again what irisd was too busy for. Items that are kept go on when we are interrupted:
 * they are irisd's; with keys that come from the lines, a second run of the same file finds them
 * again. What irisd has not taken by then is withdrawn, so that an interruption does not wait for
 * an irisd that is full.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"
#include <iris/wire/base/iris-wire-json-private.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Payloads that are under way, together. */
#define MOST_BYTES (64 * 1024 * 1024)

/* Bytes of a file that are read at once for its digest. */
#define DIGEST_AT_ONCE (256 * 1024)

/* How often the progress bar is drawn while nothing comes. */
#define TICK_MS 250

typedef struct
{
  Ctl *ctl;
  const CtlSubmitManyOptions *options;
  CtlLines *lines;
  JsonParser *parser;
  CtlItemMemory memory;
  char *key_prefix; /* NULL: no keys */
  CtlProgress progress;
  gboolean output_is_terminal;
  guint in_flight;
  gsize bytes;
  guint64 n_sent;
  guint64 n_ended; /* detached: were accepted */
  guint64 n_failed;
  guint64 n_refused; /* lines that could not be read among them */
  guint64 n_unknown; /* of which nothing was heard when the connection was lost */
  guint64 n_withdrawn;
  guint64 first_withdrawn; /* the line of the first of them */
  guint64 last_taken;      /* the last line that irisd has taken */
  gboolean read_all;
  gboolean stopped;
  int status;
} Bulk;

typedef struct
{
  Bulk *bulk;
  guint64 line;
  gsize size;
} Sent;

static void
bulk_note (Bulk *self, int status)
{
  self->status = MAX (self->status, status);
}

static void G_GNUC_PRINTF (3, 4) bulk_complain (Bulk *self, guint64 line, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  ctl_progress_end (&self->progress);
  g_printerr ("irisctl: %s:%" G_GUINT64_FORMAT ": %s\n", ctl_lines_get_name (self->lines), line,
              message);
}

/* Before something is printed where the bar is. */
static void
bulk_make_way (Bulk *self)
{
  if (self->output_is_terminal)
    ctl_progress_end (&self->progress);
}

/* A line that is no item, or that irisd does not take. */
static void
bulk_refuse (Bulk *self, guint64 line, int status, const char *why)
{
  self->n_refused++;
  bulk_note (self, status);
  /* Items that were sent before the first bad line was found may be bad too. */
  bulk_complain (self, line, "%s", why);
  self->stopped |= !self->options->keep_going;
}

/* Whether no line after this one can go better. */
static gboolean
is_fatal (const GError *error)
{
  switch (error->domain == IRIS_CLIENT_ERROR ? error->code : -1)
    {
    case IRIS_CLIENT_ERROR_SHUTTING_DOWN:
    case IRIS_CLIENT_ERROR_NOT_DURABLE:
    case IRIS_CLIENT_ERROR_JOURNAL_FAILED:
      return TRUE;
    default:
      return ctl_exit_status (error) == CTL_NO_DAEMON;
    }
}

/* irisd never had it. */
static void
bulk_note_withdrawn (Bulk *self, const Sent *sent)
{
  self->n_sent--;
  self->n_withdrawn++;
  if (self->first_withdrawn == 0 || sent->line < self->first_withdrawn)
    self->first_withdrawn = sent->line;
}

static void
bulk_note_failure (Bulk *self, const Sent *sent, const GError *error)
{
  int status = ctl_exit_status (error);

  gboolean cancelled = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  if (cancelled && ctl_item_is_persistent (&self->options->item))
    bulk_note_withdrawn (self, sent);
  else if (cancelled || g_cancellable_is_cancelled (self->ctl->cancellable))
    self->n_failed++;
  else if (is_fatal (error))
    {
      self->n_refused += status != CTL_NO_DAEMON;
      self->n_unknown += status == CTL_NO_DAEMON;
      if (self->status != status)
        bulk_complain (self, sent->line, "%s", error->message);
      bulk_note (self, status);
      self->stopped = TRUE;
    }
  else if (iris_client_error_get_item (error) == 0 && status != CTL_FAILED)
    bulk_refuse (self, sent->line, status, error->message);
  else
    {
      self->n_failed++;
      bulk_note (self, CTL_FAILED);
      bulk_make_way (self);
      ctl_item_line_print_failure (self->ctl, sent->line, error);
    }
}

static void
bulk_note_end (Bulk *self, const Sent *sent, const IrisResult *result)
{
  self->n_ended++;
  self->last_taken = MAX (self->last_taken, sent->line);
  bulk_make_way (self);
  if (self->options->item.detach)
    ctl_item_line_print_number (self->ctl, sent->line, result->item);
  else
    {
      if (result->signal > 0 || result->exit_status > 0)
        {
          self->n_failed++;
          bulk_note (self, CTL_FAILED);
        }
      ctl_item_line_print_result (self->ctl, sent->line, result);
    }
  /* A reader that goes away, as head does, wants no more. */
  if (ferror (stdout) && !self->stopped)
    {
      self->stopped = TRUE;
      bulk_note (self,
                 ctl_fail (CTL_FAILED,
                           "cannot write to standard output: it was closed, or its disk is full"));
    }
}

static void
on_end (GObject *source, GAsyncResult *async, gpointer data)
{
  g_autofree Sent *sent = data;
  Bulk *self = sent->bulk;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult) result = iris_client_submit_finish (IRIS_CLIENT (source), async, &error);

  self->in_flight--;
  self->bytes -= sent->size;
  if (result != NULL)
    bulk_note_end (self, sent, result);
  else
    bulk_note_failure (self, sent, error);
}

/* {} in an argument stands for the line; where there is none, the line comes behind them. */
static char **
fill_arguments (char **args, const char *line, CtlItemMemory *memory)
{
  guint n = args != NULL ? g_strv_length (args) : 0;
  char **list = g_new0 (char *, n + 2);
  gboolean any = FALSE;

  g_ptr_array_add (memory->lists, list);
  for (guint i = 0; i < n; i++)
    {
      g_auto (GStrv) parts = g_strsplit (args[i], "{}", -1);
      g_autofree char *filled = g_strjoinv (line, parts);

      any |= parts[0] != NULL && parts[1] != NULL;
      list[i] = g_string_chunk_insert (memory->strings, filled);
    }
  if (!any)
    list[n] = g_string_chunk_insert (memory->strings, line);

  return list;
}

/* json-glib cuts a string at a NUL; a payload must not be cut in silence. */
static gboolean
has_nul (const char *line, gsize size)
{
  if (strlen (line) < size)
    return TRUE;
  for (const char *c = strchr (line, '\\'); c != NULL; c = strchr (c + 2, '\\'))
    if (g_str_has_prefix (c, "\\u0000"))
      return TRUE;
    else if (c[1] == '\0')
      break;

  return FALSE;
}

static gboolean
read_json (Bulk *self, CtlItem *item, const char *line, gsize size, GError **error)
{
  JsonNode *root;
  g_autoptr (GError) local = NULL;
  const char *fault = iris_wire_json_fault (line, size);

  if (fault != NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "%s; a line is one item, such as {\"service\": \"echo\", \"payload\": "
                   "\"hello\"}",
                   fault);
      return FALSE;
    }
  if (!json_parser_load_from_data (self->parser, line, (gssize) size, &local))
    {
      /* The parser counts lines too, and there is only this one. */
      const char *why = strchr (local->message, ' ');

      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "this is not JSON:%s",
                   why != NULL ? why : "");
      return FALSE;
    }
  if (has_nul (line, size))
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                           "a string holds a NUL byte, which would end it: say a payload like that "
                           "in \"payload-base64\"");
      return FALSE;
    }
  root = json_parser_get_root (self->parser);
  g_return_val_if_fail (root != NULL && JSON_NODE_HOLDS_OBJECT (root), FALSE);

  return ctl_item_read (item, json_node_get_object (root), &self->memory, error);
}

static gboolean
check_plain (Bulk *self, const char *line, gsize size, GError **error)
{
  if (strlen (line) == size)
    return TRUE;
  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                       self->options->kind == CTL_LINE_PATH ? "a path holds no NUL byte"
                                                            : "an argument holds no NUL byte");

  return FALSE;
}

static IrisRequest *
read_line (Bulk *self, const char *line, gsize size, GError **error)
{
  CtlItem item = self->options->item;
  g_autofree char *key = NULL;
  g_autoptr (GBytes) payload = NULL;

  ctl_item_memory_reset (&self->memory);
  switch (self->options->kind)
    {
    case CTL_LINE_JSON:
      if (!read_json (self, &item, line, size, error))
        return NULL;
      break;
    case CTL_LINE_PAYLOAD:
      item.bytes = payload = g_bytes_new (line, size);
      break;
    case CTL_LINE_ARGUMENT:
      if (!check_plain (self, line, size, error))
        return NULL;
      item.args = fill_arguments (item.args, line, &self->memory);
      break;
    case CTL_LINE_PATH:
      if (!check_plain (self, line, size, error))
        return NULL;
      item.path = (char *) line;
      break;
    }
  if (item.key == NULL && self->key_prefix != NULL)
    item.key = key = g_strdup_printf ("%s%" G_GUINT64_FORMAT, self->key_prefix,
                                      ctl_lines_get_number (self->lines));

  return ctl_item_make_request (&item, error);
}

static gboolean
is_blank (const char *line)
{
  return line[strspn (line, " \t\r")] == '\0';
}

static void
bulk_send (Bulk *self, const char *line, gsize size)
{
  guint64 number = ctl_lines_get_number (self->lines);
  g_autoptr (IrisRequest) request = NULL;
  g_autoptr (GError) error = NULL;
  Sent *sent;

  if (self->options->kind == CTL_LINE_JSON && is_blank (line))
    return;
  request = read_line (self, line, size, &error);
  if (request == NULL)
    {
      bulk_refuse (self, number, CTL_USAGE, error->message);
      return;
    }
  sent = g_new (Sent, 1);
  *sent = (Sent){ self, number, size };
  self->n_sent++;
  self->in_flight++;
  self->bytes += size;
  iris_client_submit_async (
      self->ctl->client, request,
      ctl_item_is_persistent (&self->options->item) ? NULL : self->ctl->cancellable, on_end, sent);
}

static void
bulk_fill (Bulk *self)
{
  while (!self->read_all && !self->stopped && self->in_flight < (guint) self->options->in_flight
         && self->bytes < MOST_BYTES && !g_cancellable_is_cancelled (self->ctl->cancellable))
    {
      g_autoptr (GError) error = NULL;
      const char *line;
      gsize size;

      switch (ctl_lines_next (self->lines, &line, &size, &error))
        {
        case CTL_LINES_LINE:
          bulk_send (self, line, size);
          break;
        case CTL_LINES_WAIT:
          return;
        case CTL_LINES_END:
          self->read_all = TRUE;
          break;
        case CTL_LINES_FAILED:
          bulk_note (self, ctl_fail (CTL_FAILED, "%s", error->message));
          self->stopped = TRUE;
          break;
        }
    }
}

static gboolean
bulk_tick (gpointer data)
{
  Bulk *self = data;
  double fraction = ctl_lines_get_fraction (self->lines);
  double seconds = (double) (g_get_monotonic_time () - self->progress.begin) / G_USEC_PER_SEC;
  const char *ended = self->options->item.detach ? "accepted" : "ended";
  double done = (double) (self->n_ended + self->n_failed + self->n_refused);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%" G_GUINT64_FORMAT " sent, %" G_GUINT64_FORMAT " %s",
                          self->n_sent, self->n_ended, ended);
  if (self->n_failed + self->n_refused > 0)
    g_string_append_printf (text, ", %" G_GUINT64_FORMAT " failed",
                            self->n_failed + self->n_refused);
  g_string_append_printf (text, ", %.0f/s", seconds > 0 ? done / seconds : 0);
  if (fraction > 0 && fraction < 1)
    g_string_append_printf (text, ", %.0f s left", seconds * (1 - fraction) / fraction);
  ctl_progress_show (&self->progress, fraction, text->str);
  g_string_free (text, TRUE);

  return G_SOURCE_CONTINUE;
}

/* Whether to wait for the items under way. Of items that irisd keeps only whether they were
 * accepted, once we are interrupted; that it tells soon, or never. */
static gboolean
bulk_waits (const Bulk *self)
{
  if (self->in_flight == 0)
    return !self->read_all && !self->stopped
           && !g_cancellable_is_cancelled (self->ctl->cancellable);

  return !g_cancellable_is_cancelled (self->ctl->cancellable) || self->options->item.detach
         || !ctl_item_is_persistent (&self->options->item);
}

/* The beginning of the keys: what the user gave, or a digest of all that makes the items. */
static gboolean
bulk_make_prefix (Bulk *self, GError **error)
{
  const CtlSubmitManyOptions *options = self->options;
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (GFile) file = NULL;
  g_autoptr (GFileInputStream) stream = NULL;
  g_autofree guint8 *buffer = NULL;
  gssize n;

  self->key_prefix = g_strdup (options->key_prefix);
  if (!options->resume)
    return TRUE;
  for (char **arg = options->item.args; arg != NULL && *arg != NULL; arg++)
    g_checksum_update (sum, (const guchar *) *arg, (gssize) strlen (*arg) + 1);
  if (options->item.service != NULL)
    g_checksum_update (sum, (const guchar *) options->item.service, -1);
  file = g_file_new_for_path (options->path);
  stream = g_file_read (file, NULL, error);
  if (stream == NULL)
    return FALSE;
  buffer = g_malloc (DIGEST_AT_ONCE);
  while ((n = g_input_stream_read (G_INPUT_STREAM (stream), buffer, DIGEST_AT_ONCE, NULL, error))
         > 0)
    g_checksum_update (sum, buffer, n);
  self->key_prefix = g_strdup_printf ("%.16s-", g_checksum_get_string (sum));

  return n == 0;
}

static void
bulk_report (Bulk *self)
{
  const CtlSubmitManyOptions *options = self->options;
  guint64 line = self->first_withdrawn > 0 ? self->first_withdrawn - 1
                                           : ctl_lines_get_number (self->lines);
  gboolean interrupted = g_cancellable_is_cancelled (self->ctl->cancellable);
  g_autofree char *sent = ctl_count (self->n_sent, "item");
  g_autofree char *refused = ctl_count (self->n_refused, "line");

  g_printerr (
      "irisctl: %s sent: %" G_GUINT64_FORMAT " %s, %" G_GUINT64_FORMAT " failed, %s refused\n",
      sent, self->n_ended, options->item.detach ? "accepted" : "ended", self->n_failed, refused);
  if (self->n_unknown > 0)
    g_printerr ("irisctl: the connection was lost: whether irisd accepted %" G_GUINT64_FORMAT
                " of them is not known; irisctl list shows those that it stored\n",
                self->n_unknown);
  if (interrupted && ctl_item_is_persistent (&options->item) && self->in_flight > 0)
    g_printerr ("irisctl: %u under way go on: irisctl list --state open shows them, irisctl wait "
                "--all waits for them\n",
                self->in_flight);
  if ((self->read_all && self->n_withdrawn == 0) || (!interrupted && !self->stopped))
    return;
  if (self->last_taken > line)
    g_printerr ("irisctl: irisd accepted some of the lines from %" G_GUINT64_FORMAT
                " to %" G_GUINT64_FORMAT "\n",
                line + 1, self->last_taken);
  if (self->key_prefix != NULL)
    g_printerr ("irisctl: stopped at line %" G_GUINT64_FORMAT
                ": to go on, run the same command again: no item is submitted twice while irisd "
                "has the first one (--keep)\n",
                line);
  else
    g_printerr ("irisctl: stopped at line %" G_GUINT64_FORMAT
                ": to go on, submit the lines after it (tail -n +%" G_GUINT64_FORMAT
                "); with --resume or --key-prefix the whole file can be submitted again\n",
                line, line + 1);
}

/* Once we are interrupted, what irisd has not taken, and what it refuses from then on, ends. */
static gboolean
bulk_goes_on (Bulk *self)
{
  if (g_cancellable_is_cancelled (self->ctl->cancellable))
    iris_client_withdraw_unsent (self->ctl->client);

  return bulk_waits (self);
}

static void
bulk_work (Bulk *self)
{
  guint tick = 0;

  ctl_progress_begin (&self->progress);
  if (self->progress.shown)
    tick = g_timeout_add (TICK_MS, bulk_tick, self);
  for (bulk_fill (self); bulk_goes_on (self); bulk_fill (self))
    if (!g_main_context_iteration (NULL, FALSE))
      {
        /* A reader of the output does not wait for more. */
        fflush (stdout);
        g_main_context_iteration (NULL, TRUE);
      }
  if (tick != 0)
    g_source_remove (tick);
  ctl_progress_end (&self->progress);
  if (!ctl_output_is_good ())
    bulk_note (self, CTL_FAILED);
  bulk_report (self);
}

int
ctl_submit_many (Ctl *ctl, const CtlSubmitManyOptions *options)
{
  Bulk self = { .ctl = ctl, .options = options, .output_is_terminal = isatty (STDOUT_FILENO) };
  g_autoptr (GError) error = NULL;

  self.lines = ctl_lines_open (options->path, options->delimiter, &error);
  if (self.lines == NULL || !bulk_make_prefix (&self, &error))
    self.status = ctl_fail (CTL_USAGE, "submit: %s", error->message);
  else if ((self.status = ctl_connect (ctl)) == CTL_OK)
    {
      /* However long irisd is too busy: a program may be reading the output. */
      g_object_set (ctl->client, "busy-timeout", (guint) G_MAXINT, NULL);
      self.parser = json_parser_new_immutable ();
      ctl_item_memory_init (&self.memory);
      bulk_work (&self);
      ctl_item_memory_clear (&self.memory);
      g_clear_object (&self.parser);
    }
  g_clear_pointer (&self.lines, ctl_lines_free);
  g_free (self.key_prefix);

  return g_cancellable_is_cancelled (ctl->cancellable) ? CTL_INTERRUPTED : self.status;
}
