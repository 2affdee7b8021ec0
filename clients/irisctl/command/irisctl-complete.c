/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can be typed next, for the shells: from the table of commands, and from what irisd has.
 */
#include "clients/irisctl/command/irisctl-command.h"

#include <string.h>

/* Values of options; the first line that fits the command. */
static const struct
{
  const char *command; /* NULL: any */
  const char *option;
  const char *values;
} values[] = {
  { "kick", "state", "buried delayed" },
  { NULL, "state", "queued delayed leased running done failed cancelled buried open ended" },
  { "submit", "class", "durable relaxed volatile" },
  { NULL, "class", "durable relaxed" },
  { NULL, "priority", "0 1 2 3 4 5 6 7 8 9" },
  { NULL, "after-how", "all any success" },
  { NULL, "hints", "none round-robin by-directory near" },
  { NULL, "as", "payload argument path" },
  { "queue", "limit", "0 1 2 3 4 6 8" },
  { NULL, "limit", "cpu= memory= files= file-size= core= output=" },
};

/* How far the words before the last one are. */
typedef struct
{
  const char *current;
  const CtlCommand *command;   /* NULL: before it */
  GArray *entries;             /* of GOptionEntry */
  const GOptionEntry *pending; /* its value comes next */
  gboolean no_options;         /* behind -- */
  int n_operands;
  int other;                        /* where another command line begins; -1: nowhere */
  const char *where_option, *where; /* --dir or --endpoint */
  const char *node;                 /* of --node; NULL: the own one */
} Typed;

static void
offer (const Typed *self, const char *before, const char *value, const char *meaning)
{
  g_autofree char *whole = g_strconcat (before, value, NULL);

  if (g_str_has_prefix (whole, self->current))
    g_print ("%s%s%s\n", whole, meaning != NULL ? "\t" : "", meaning != NULL ? meaning : "");
}

/* A column of what irisctl prints. irisd may not answer: the user does not wait longer. */
static void
ask (const Typed *self, const char *before, const char *command, guint column)
{
  const char *list[] = { "--reverse", "--limit=100", NULL };
  g_autoptr (GStrvBuilder) argv = g_strv_builder_new ();
  g_auto (GStrv) args = NULL, lines = NULL;
  g_auto (GStrv) words = g_strsplit (command, " ", -1);
  g_autofree char *text = NULL;

  g_strv_builder_add_many (argv, "timeout", "1", "irisctl", NULL);
  if (self->where != NULL)
    g_strv_builder_add_many (argv, self->where_option, self->where, NULL);
  g_strv_builder_addv (argv, (const char **) words);
  if (g_str_equal (words[0], "list"))
    g_strv_builder_addv (argv, list);
  if (g_str_equal (words[0], "list") && self->node != NULL)
    g_strv_builder_add_many (argv, "--node", self->node, NULL);
  args = g_strv_builder_end (argv);
  if (!g_spawn_sync (NULL, args, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                     &text, NULL, NULL, NULL))
    return;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 1; lines[0] != NULL && lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit_set (g_strstrip (lines[i]), " ", 0);
      guint at = 0;

      for (char **field = fields; *field != NULL; field++)
        if (**field != '\0' && at++ == column)
          offer (self, before, *field, NULL);
    }
}

static void
complete_value (const Typed *self, const GOptionEntry *entry, const char *before)
{
  const char *kind = entry->arg_description;
  const char *comma = strrchr (self->current, ',');

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    if (g_str_equal (values[i].option, entry->long_name)
        && (values[i].command == NULL || g_str_equal (values[i].command, self->command->name)))
      {
        g_auto (GStrv) list = g_strsplit (values[i].values, " ", -1);
        /* Several states, with commas. */
        g_autofree char *some = comma != NULL
                                    ? g_strndup (self->current, (gsize) (comma + 1 - self->current))
                                    : g_strdup (before);

        for (char **value = list; *value != NULL; value++)
          offer (self, some, *value, NULL);
        return;
      }
  if (g_str_equal (kind, "NODE"))
    ask (self, before, "nodes", 0);
  else if (g_str_equal (kind, "PLACE") && self->node == NULL)
    ask (self, before, "places", 1);
  else if (g_str_equal (kind, "SERVICE"))
    ask (self, before, "services", 0);
  else if (g_str_equal (kind, "QUEUE"))
    ask (self, before, "queues", 0);
  else if (g_str_equal (kind, "DIR"))
    g_print (":directories\n");
  else if (g_str_equal (kind, "NAME[=VALUE]"))
    {
      g_auto (GStrv) names = g_listenv ();
      g_autofree char *set = g_strjoinv ("= ", names);
      g_auto (GStrv) list = g_strsplit (set, " ", -1);

      for (char **name = list; *name != NULL; name++)
        offer (self, before, *name, NULL);
    }
  else if (entry->arg == G_OPTION_ARG_FILENAME)
    g_print (":files\n");
}

static gboolean
takes_value (const GOptionEntry *entry)
{
  return entry->arg != G_OPTION_ARG_NONE;
}

/* By its long name up to @end, or by its short one. */
static const GOptionEntry *
find_option (const Typed *self, const char *word, gsize length)
{
  for (guint i = 0; i < self->entries->len; i++)
    {
      const GOptionEntry *entry = &g_array_index (self->entries, GOptionEntry, i);

      if (word[1] == '-' ? strlen (entry->long_name) == length - 2
                               && strncmp (entry->long_name, word + 2, length - 2) == 0
                         : length == 2 && entry->short_name == word[1])
        return entry;
    }

  return NULL;
}

static void
note_value (Typed *self, const GOptionEntry *entry, const char *value)
{
  if (g_str_equal (entry->long_name, "node"))
    self->node = value;
  if (!g_str_equal (entry->long_name, "dir") && !g_str_equal (entry->long_name, "endpoint"))
    return;
  self->where_option = g_str_equal (entry->long_name, "dir") ? "--dir" : "--endpoint";
  self->where = value;
}

static void
read_option (Typed *self, const char *word)
{
  const char *equals = strchr (word, '=');
  gsize length = equals != NULL ? (gsize) (equals - word) : strlen (word);
  const GOptionEntry *entry = find_option (self, word, length);

  if (entry == NULL || !takes_value (entry))
    return;
  if (equals != NULL)
    note_value (self, entry, equals + 1);
  else
    self->pending = entry;
}

static void
read_operand (Typed *self, Ctl *ctl, int i, char **words)
{
  if (self->command != NULL)
    {
      self->n_operands++;
      if (self->command->options_end == 1)
        self->other = i;
      else if (self->command->options_end == 2 && g_str_equal (words[i], "command"))
        self->other = i + 1 + (words[i + 1] != NULL && g_str_equal (words[i + 1], "--"));
      return;
    }
  self->command = ctl_command_find (words[i]);
  if (self->command == NULL)
    return;
  g_array_set_size (self->entries, 0);
  g_option_context_free (ctl_command_context (self->command, ctl, self->entries));
}

/* FALSE if there is no such command. */
static gboolean
read_words (Typed *self, Ctl *ctl, int n, char **words)
{
  for (int i = 0; i + 1 < n && self->other < 0; i++)
    if (self->pending != NULL)
      {
        note_value (self, self->pending, words[i]);
        self->pending = NULL;
      }
    else if (self->no_options || words[i][0] != '-' || words[i][1] == '\0')
      {
        read_operand (self, ctl, i, words);
        if (self->command == NULL)
          return FALSE;
      }
    else if (g_str_equal (words[i], "--"))
      self->no_options = TRUE;
    else
      read_option (self, words[i]);

  return TRUE;
}

static void
offer_commands (const Typed *self)
{
  const CtlCommand *command;

  for (guint i = 0; (command = ctl_command_nth (i)) != NULL; i++)
    offer (self, "", command->name, command->summary);
  offer (self, "", "help", "show help");
}

static void
offer_options (const Typed *self)
{
  offer (self, "", "--help", "Show help");
  for (guint i = 0; i < self->entries->len; i++)
    {
      const GOptionEntry *entry = &g_array_index (self->entries, GOptionEntry, i);
      g_autofree char *name = g_strconcat (entry->long_name, takes_value (entry) ? "=" : "", NULL);

      if ((entry->flags & G_OPTION_FLAG_HIDDEN) == 0)
        offer (self, "--", name, entry->description);
    }
}

static void
offer_words (const Typed *self, const char *words)
{
  g_auto (GStrv) list = g_strsplit (words, " ", -1);

  for (char **word = list; *word != NULL; word++)
    offer (self, "", *word, NULL);
}

static void
offer_operands (const Typed *self)
{
  switch (self->command->operand)
    {
    case CTL_OPERAND_ITEM:
      ask (self, "", "list", 0);
      break;
    case CTL_OPERAND_OPEN_ITEM:
      ask (self, "", "list --state=open", 0);
      break;
    case CTL_OPERAND_KICKABLE:
      ask (self, "", "list --state=buried,delayed", 0);
      break;
    case CTL_OPERAND_SUSPENDED:
      ask (self, "", "list --state=suspended", 0);
      break;
    case CTL_OPERAND_PLACE:
      if (self->n_operands == 0)
        ask (self, "", "places", 1);
      break;
    case CTL_OPERAND_NODE:
      if (self->n_operands == 0)
        offer_words (self, "drain resume remove");
      else if (self->n_operands == 1)
        ask (self, "", "nodes", 0);
      break;
    case CTL_OPERAND_CLUSTER:
      if (self->n_operands == 0)
        offer_words (self, "init check");
      break;
    case CTL_OPERAND_QUEUE:
      if (self->n_operands == 0)
        ask (self, "", "queues", 0);
      break;
    case CTL_OPERAND_SERVICE:
    case CTL_OPERAND_FILE:
      if (self->n_operands == 0)
        ask (self, "", "services", 0);
      else if (self->command->operand == CTL_OPERAND_FILE)
        g_print (":files\n");
      break;
    case CTL_OPERAND_COMMAND:
    case CTL_OPERAND_NONE:
    default:
      break;
    }
}

static void
complete_current (Typed *self, int n)
{
  const char *equals = strchr (self->current, '=');
  const GOptionEntry *entry = NULL;

  if (!self->no_options && g_str_has_prefix (self->current, "--") && equals != NULL)
    entry = find_option (self, self->current, (gsize) (equals - self->current));
  if (self->pending != NULL)
    complete_value (self, self->pending, "");
  else if (entry != NULL && takes_value (entry))
    {
      g_autofree char *before = g_strndup (self->current, (gsize) (equals + 1 - self->current));

      complete_value (self, entry, before);
    }
  else if (self->current[0] == '-' && !self->no_options && self->other < 0)
    offer_options (self);
  else if (self->command == NULL)
    offer_commands (self);
  else if (self->other >= 0 || self->command->options_end == 1)
    g_print (":command %d\n", self->other >= 0 ? self->other : n - 1);
  else
    offer_operands (self);
}

void
ctl_complete (int n, char **words)
{
  Ctl ctl = { 0 };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (GOptionEntry));
  const GOptionEntry version = { .long_name = "version", .description = "Print the version" };
  Typed self = { .current = words[n - 1], .entries = entries, .other = -1 };

  ctl_common_add_options (&ctl, context, entries);
  g_array_append_val (entries, version);
  if (n == 2 && g_str_equal (words[0], "help"))
    offer_commands (&self);
  else if (read_words (&self, &ctl, n, words))
    complete_current (&self, n);
}
