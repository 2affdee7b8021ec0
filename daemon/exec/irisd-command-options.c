/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The options of a command: keys of an item beside the program and its arguments.
 */
#include "daemon/exec/irisd-command-options.h"

#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-text.h"

#include <string.h>

/* 366 days in milliseconds: a longer time is a mistake, and would overflow. */
#define LONGEST_MS (G_GUINT64_CONSTANT (366) * 24 * 3600 * 1000)

/* Characters of a wrong value in a message. */
#define MAX_QUOTED 64

/* irisd itself enforces `output`. A command that ignores SIGXCPU is killed one second later. */
#define OUTPUT (-1)

static const struct
{
  const char *name;
  int resource;
  guint extra; /* from the soft limit to the hard one */
} known_limits[IRISD_COMMAND_MAX_LIMITS] = {
  { "cpu", RLIMIT_CPU, 1 },         { "memory", RLIMIT_AS, 0 }, { "files", RLIMIT_NOFILE, 0 },
  { "file-size", RLIMIT_FSIZE, 0 }, { "core", RLIMIT_CORE, 0 }, { "output", OUTPUT, 0 },
};

#define OPTION_KEYS                                                                              \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_STREAM) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_DIRECTORY)                \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_ENVIRONMENT) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_CLEAR_ENVIRONMENT) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NICE) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_LIMITS)                   \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_TIME_LIMIT_MS) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_GRACE_MS)        \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEEP_OUTPUT) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_OUTPUT_POLICY))

/* Returns whether @item has a key that only commands may have. */
gboolean
irisd_command_options_are_given (const IrisWireMessage *item)
{
  return (item->present & OPTION_KEYS) != 0;
}

static gboolean
refuse (GError **error, const char *format, const IrisWireString *value)
{
  g_autofree char *quoted = irisd_text_quote (value->data, (gssize) value->len, MAX_QUOTED);
  g_autofree char *reason = g_strdup_printf ("%s: “%s”", format, quoted);
  return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT, "%s", reason);
}

static gboolean
check_times (const IrisWireMessage *item, GError **error)
{
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_TIME_LIMIT_MS)
      && (item->time_limit_ms == 0 || item->time_limit_ms > LONGEST_MS))
    return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "a time limit is 1 millisecond to 366 days; leave it out for none");
  if (item->grace_ms > LONGEST_MS)
    return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "the time from SIGTERM to SIGKILL is at most 366 days");
  return TRUE;
}

static gboolean
check_directory (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_DIRECTORY)
      || (item->directory.len > 0 && item->directory.data[0] == '/'))
    return TRUE;
  return refuse (error, "a command's directory is an absolute path; irisd does not know yours",
                 &item->directory);
}

static gboolean
check_environment (const IrisWireMessage *item, GError **error)
{
  IrisWireArgsIter iter;
  IrisWireString variable;
  iris_wire_args_iter_init (&iter, &item->environment);
  while (iris_wire_args_iter_next (&iter, &variable))
    if (variable.len == 0 || variable.data[0] == '=')
      return refuse (error, "a variable is NAME=VALUE, or NAME to remove it", &variable);
  return TRUE;
}

static gboolean
parse_limit (const IrisWireString *text, guint *row, guint64 *value)
{
  for (*row = 0; *row < G_N_ELEMENTS (known_limits); (*row)++)
    {
      gsize len = strlen (known_limits[*row].name);
      if (text->len <= len + 1 || memcmp (text->data, known_limits[*row].name, len) != 0
          || text->data[len] != '=')
        continue;
      g_autofree char *digits = g_strndup (text->data + len + 1, text->len - len - 1);
      return g_ascii_string_to_unsigned (digits, 10, 0, G_MAXINT64, value, NULL);
    }
  return FALSE;
}

static gboolean
take_limits (IrisdCommandOptions *self, const IrisWireMessage *item, GError **error)
{
  guint seen = 0;
  IrisWireArgsIter iter;
  IrisWireString text;
  iris_wire_args_iter_init (&iter, &item->limits);
  while (iris_wire_args_iter_next (&iter, &text))
    {
      guint row;
      guint64 value;
      if (!parse_limit (&text, &row, &value))
        return refuse (error,
                       "a limit is cpu=SECONDS, memory=BYTES, files=NUMBER, file-size=BYTES, "
                       "core=BYTES or output=BYTES",
                       &text);
      if ((seen & 1u << row) != 0)
        return refuse (error, "a limit is given twice; give each limit once", &text);
      seen |= 1u << row;
      if (known_limits[row].resource == OUTPUT)
        self->max_output = value;
      else
        self->limits[self->n_limits++] = (IrisdCommandLimit){
          .name = known_limits[row].name,
          .resource = known_limits[row].resource,
          .bounds = { .rlim_cur = value, .rlim_max = value + known_limits[row].extra },
        };
    }
  return TRUE;
}

/* Returns whether all options of @item, of the service command, can be used. */
gboolean
irisd_command_options_check (const IrisWireMessage *item, GError **error)
{
  IrisdCommandOptions scratch = { 0 };
  return !irisd_command_options_are_given (item)
         || (check_times (item, error) && check_directory (item, error)
             && check_environment (item, error) && take_limits (&scratch, item, error));
}

/* @item has passed irisd_command_options_check(). Returns its options, or NULL if it has none. */
IrisdCommandOptions *
irisd_command_options_new (const IrisWireMessage *item)
{
  if (!irisd_command_options_are_given (item))
    return NULL;
  IrisdCommandOptions *self = g_new0 (IrisdCommandOptions, 1);
  self->max_output = G_MAXUINT64;
  self->keep_output = iris_wire_message_has (item, IRIS_WIRE_KEY_KEEP_OUTPUT) ? item->keep_output
                                                                              : G_MAXUINT64;
  self->keep_tail = item->output_policy == IRIS_WIRE_OUTPUT_POLICY_TAIL;
  /* Of an item of another node, whose home keeps the output. */
  self->copied = iris_wire_message_has (item, IRIS_WIRE_KEY_STREAM)
                 && iris_wire_message_has (item, IRIS_WIRE_KEY_KEEP_OUTPUT)
                 && iris_wire_message_has (item, IRIS_WIRE_KEY_FOR_OWNER);
  self->streamed = iris_wire_message_has (item, IRIS_WIRE_KEY_STREAM) && !self->copied;
  self->credit = item->stream;
  self->nice = item->nice;
  self->clear_environment = item->clear_environment;
  self->time_limit_ms = item->time_limit_ms;
  self->has_grace = iris_wire_message_has (item, IRIS_WIRE_KEY_GRACE_MS);
  self->grace_ms = item->grace_ms;
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_DIRECTORY))
    self->directory = iris_wire_string_dup (&item->directory);
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_ENVIRONMENT))
    self->environment = iris_wire_args_dup (&item->environment);
  take_limits (self, item, NULL);
  return self;
}

void
irisd_command_options_free (IrisdCommandOptions *self)
{
  if (self == NULL)
    return;
  g_free (self->directory);
  g_strfreev (self->environment);
  g_free (self);
}

/* Returns the environment of the command, or NULL for irisd's own. */
char **
irisd_command_options_make_environment (const IrisdCommandOptions *self)
{
  if (self == NULL || (self->environment == NULL && !self->clear_environment))
    return NULL;
  char **result = self->clear_environment ? g_new0 (char *, 1) : g_get_environ ();
  for (guint i = 0; self->environment != NULL && self->environment[i] != NULL; i++)
    {
      const char *variable = self->environment[i];
      const char *equals = strchr (variable, '=');
      g_autofree char *name = equals != NULL ? g_strndup (variable, (gsize) (equals - variable))
                                             : g_strdup (variable);
      result = equals != NULL ? g_environ_setenv (result, name, equals + 1, TRUE)
                              : g_environ_unsetenv (result, name);
    }
  return result;
}
