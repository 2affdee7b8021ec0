/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd-web: shows one irisd over HTTP, and sends its spans to a collector.
 *
 * An ordinary client of irisd in one thread: options, then a main loop until SIGTERM or SIGINT.
 */
#include "clients/web/export/web-exporter.h"
#include "clients/web/http/web-server.h"

#include <glib-unix.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#define DEFAULT_ADDRESS "127.0.0.1:4747"
#define DEFAULT_DAYS    365

enum
{
  EXIT_OK = 0,
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
};

typedef struct
{
  char *address;
  char *where;
  char *tls_certificate;
  char *tls_key;
  char **hosts;
  char **limits;
  char *tokens;
  char *new_token;
  char *revoke_token;
  char *role;
  char *otlp;
  char *otlp_headers;
  char *otlp_ca;
  int days;
  gboolean list_tokens;
  gboolean end_with_stdin;
  gboolean version;
} Options;

static int
fail (int status, const char *message)
{
  g_printerr ("irisd-web: %s\n", message);

  return status;
}

static gboolean
check (const Options *options, GError **error)
{
  if (options->otlp == NULL && (options->otlp_headers != NULL || options->otlp_ca != NULL))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--otlp-headers and --otlp-ca need --otlp URL");
  else if (options->days < 1 || options->days > 36500)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--days takes a number from 1 to 36500, not %d", options->days);
  else
    return TRUE;

  return FALSE;
}

static gboolean
parse (Options *options, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "http", 0, 0, G_OPTION_ARG_STRING, &options->address,
      "Listen at ADDRESS:PORT; " DEFAULT_ADDRESS " if not given, port 0 for any", "ADDRESS:PORT" },
    { "dir", 'd', 0, G_OPTION_ARG_STRING, &options->where,
      "irisd's directory, if it is not the usual one", "DIR" },
    { "endpoint", 'e', 0, G_OPTION_ARG_STRING, &options->where,
      "irisd's front door, such as tcp://127.0.0.1:4700", "ENDPOINT" },
    { "tls-certificate", 0, 0, G_OPTION_ARG_FILENAME, &options->tls_certificate,
      "Speak HTTPS with the certificates in FILE (PEM)", "FILE" },
    { "tls-key", 0, 0, G_OPTION_ARG_FILENAME, &options->tls_key,
      "The private key of the certificate (PEM)", "FILE" },
    { "host", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->hosts,
      "Also answer to this name in Host; may be given several times", "NAME" },
    { "limit", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->limits,
      "Change a limit; may be given several times", "NAME=NUMBER" },
    { "tokens", 0, 0, G_OPTION_ARG_FILENAME, &options->tokens,
      "The file of tokens, if it is not the usual one", "FILE" },
    { "new-token", 0, 0, G_OPTION_ARG_STRING, &options->new_token,
      "Make a token, print it, and exit; the file has its hash only", "NAME" },
    { "role", 0, 0, G_OPTION_ARG_STRING, &options->role,
      "Role of the new token: sums, observe (default) or control", "ROLE" },
    { "days", 0, 0, G_OPTION_ARG_INT, &options->days, "Days that the new token is valid; 365",
      "N" },
    { "list-tokens", 0, 0, G_OPTION_ARG_NONE, &options->list_tokens,
      "List names, roles and ends of the tokens, and exit", NULL },
    { "revoke-token", 0, 0, G_OPTION_ARG_STRING, &options->revoke_token, "Remove a token, and exit",
      "NAME" },
    { "otlp", 0, 0, G_OPTION_ARG_STRING, &options->otlp,
      "Send spans of items to an OTLP/HTTP collector; without --http do nothing else", "URL" },
    { "otlp-headers", 0, 0, G_OPTION_ARG_FILENAME, &options->otlp_headers,
      "Headers for the collector, such as Authorization: one a line", "FILE" },
    { "otlp-ca", 0, 0, G_OPTION_ARG_FILENAME, &options->otlp_ca,
      "Trust the collector's certificate if one in FILE (PEM) signed it", "FILE" },
    { "end-with-stdin", 0, 0, G_OPTION_ARG_NONE, &options->end_with_stdin,
      "End when standard input ends, as for a child of irisd", NULL },
    { "version", 'V', 0, G_OPTION_ARG_NONE, &options->version, "Print the version, and exit",
      NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GOptionContext)
      context = g_option_context_new ("— shows irisd over HTTP: metrics, health, a live page");
  g_autofree char *limits = web_limits_describe ();
  g_autofree char *description = g_strdup_printf ("%s\nSee irisd-web(1).\n", limits);

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, description);
  if (!g_option_context_parse (context, argc, argv, error))
    return FALSE;
  if (*argc > 1)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "it takes options only, and “%s” is none", (*argv)[1]);
      return FALSE;
    }

  return check (options, error);
}

static void
list_tokens (WebTokens *tokens)
{
  g_autoptr (GList) list = web_tokens_list (tokens);

  for (GList *l = list; l != NULL; l = l->next)
    {
      const WebToken *token = l->data;
      g_autoptr (GDateTime) end = g_date_time_new_from_unix_local (token->expires_ms / 1000);
      g_autofree char *when = g_date_time_format (end, "%Y-%m-%d %H:%M");

      g_print ("%-24s %-8s %s %s\n", token->name, web_role_get_name (token->role),
               token->expires_ms > g_get_real_time () / 1000 ? "until" : "expired", when);
    }
}

/* TRUE if the options asked for a change or a list of tokens. */
static gboolean
manage_tokens (const Options *options, WebTokens *tokens, GError **error)
{
  WebRole role = WEB_ROLE_OBSERVE;

  if (options->role != NULL && !web_role_parse (options->role, &role, error))
    return TRUE;
  if (options->new_token != NULL)
    {
      g_autofree char *token = web_tokens_add (tokens, options->new_token, role,
                                               (guint) options->days, error);

      if (token != NULL)
        g_print ("%s\n", token);
      return TRUE;
    }
  if (options->revoke_token != NULL)
    {
      web_tokens_revoke (tokens, options->revoke_token, error);
      return TRUE;
    }
  if (options->list_tokens && web_tokens_load (tokens, error))
    list_tokens (tokens);

  return options->list_tokens;
}

static gboolean
quit (gpointer loop)
{
  g_main_loop_quit (loop);

  return G_SOURCE_CONTINUE;
}

/* What comes there is dropped. */
static gboolean
stdin_changed (int fd, GIOCondition condition, gpointer loop)
{
  char dropped[512];

  if (read (fd, dropped, sizeof dropped) > 0)
    return G_SOURCE_CONTINUE;
  g_main_loop_quit (loop);

  return G_SOURCE_REMOVE;
}

static void
run_loop (const Options *options)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  const guint term = g_unix_signal_add (SIGTERM, quit, loop);
  const guint interrupt = g_unix_signal_add (SIGINT, quit, loop);

  if (options->end_with_stdin)
    g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP, stdin_changed, loop);
  fflush (stdout);
  g_main_loop_run (loop);
  g_source_remove (term);
  g_source_remove (interrupt);
}

/* With --otlp alone it listens nowhere. */
static int
serve (const Options *options, WebTokens *tokens, const WebLimits *limits)
{
  const WebExporterOptions export_options = { options->otlp, options->otlp_headers,
                                              options->otlp_ca };
  g_autoptr (WebState) state = web_state_new (options->where, limits);
  g_autoptr (WebHistory) history = NULL;
  g_autoptr (WebExporter) exporter = NULL;
  g_autoptr (WebServer) server = NULL;
  g_autoptr (GError) error = NULL;
  WebServerOptions server_options = {
    .address = options->address != NULL ? options->address : DEFAULT_ADDRESS,
    .tls_certificate = options->tls_certificate,
    .tls_key = options->tls_key,
    .hosts = options->hosts,
    .limits = *limits,
  };

  if (options->otlp != NULL)
    {
      exporter = web_exporter_new (&export_options, state, limits, &error);
      if (exporter == NULL)
        return fail (EXIT_FAILED, error->message);
      server_options.exports = web_exporter_get_counts (exporter);
      g_print ("irisd-web: spans go to %s\n", web_exporter_get_url (exporter));
    }
  if (options->otlp == NULL || options->address != NULL)
    {
      history = web_history_new (state);
      server = web_server_new (&server_options, tokens, state, history, &error);
      if (server == NULL)
        return fail (EXIT_FAILED, error->message);
      g_print ("irisd-web: listening at %s\n", web_server_get_url (server));
    }
  run_loop (options);

  return EXIT_OK;
}

static int
run (const Options *options)
{
  g_autoptr (WebTokens) tokens = web_tokens_new (options->tokens);
  g_autoptr (GError) error = NULL;
  WebLimits limits;

  web_limits_init (&limits);
  for (guint i = 0; options->limits != NULL && options->limits[i] != NULL; i++)
    if (!web_limits_set (&limits, options->limits[i], &error))
      return fail (EXIT_USAGE, error->message);
  if (manage_tokens (options, tokens, &error))
    return error != NULL ? fail (EXIT_FAILED, error->message) : EXIT_OK;

  return serve (options, tokens, &limits);
}

int
main (int argc, char **argv)
{
  Options options = { .days = DEFAULT_DAYS };
  g_autoptr (GError) error = NULL;
  int status;

  setlocale (LC_ALL, "");
  g_set_prgname ("irisd-web");
  signal (SIGPIPE, SIG_IGN);
  if (!parse (&options, &argc, &argv, &error))
    {
      g_autofree char *text = g_strdup_printf ("%s; irisd-web --help lists the options",
                                               error->message);

      status = fail (EXIT_USAGE, text);
    }
  else if (options.version)
    {
      g_print ("irisd-web %s\n", IRIS_VERSION);
      status = EXIT_OK;
    }
  else
    {
      status = run (&options);
    }
  g_free (options.address);
  g_free (options.where);
  g_free (options.tls_certificate);
  g_free (options.tls_key);
  g_strfreev (options.hosts);
  g_strfreev (options.limits);
  g_free (options.tokens);
  g_free (options.new_token);
  g_free (options.revoke_token);
  g_free (options.role);
  g_free (options.otlp);
  g_free (options.otlp_headers);
  g_free (options.otlp_ca);

  return status;
}
