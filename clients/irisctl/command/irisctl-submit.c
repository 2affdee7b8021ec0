/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl submit: items that irisd keeps, one or many.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <string.h>

static char *klass, *key, *keep, *keep_output;
static gboolean detach, bury, pass_stdin, keep_tail, notify;
static char *hook;
static char **hook_words;
static char *payload_file, *path_argument, *content_type;
static char *items_file, *lines_file, *lines_as, *key_prefix;
static gboolean by_nul, resume, keep_going;
static int in_flight = CTL_LINE_IN_FLIGHT;

static void
set_common (CtlItem *item, const Ctl *ctl)
{
  ctl_item_init (item, ctl);
  item->klass = klass;
  item->key = key;
  item->keep = keep;
  item->keep_output = keep_output;
  item->keep_tail = keep_tail;
  item->hook = hook_words;
  item->detach = detach;
  item->bury = bury;
  item->path = path_argument;
  item->content_type = content_type;
}

static int
show_result (Ctl *ctl, const IrisResult *result, gboolean command)
{
  return command ? ctl_show_command_result (ctl, result) : ctl_show_result (ctl, result);
}

static int
show_number (Ctl *ctl, guint64 number)
{
  if (ctl->json)
    ctl_json_print_int ("item", (gint64) number);
  else
    g_print ("%" G_GUINT64_FORMAT "\n", number);

  return CTL_OK;
}

/* Of a command, everything behind the service is the command line. */
static gboolean
read_payload (CtlItem *item, int argc, char **argv, GError **error)
{
  gboolean is_command = g_str_equal (item->service, "command");
  gboolean from_stdin = pass_stdin || (!is_command && argc > 2 && g_str_equal (argv[2], "-"));

  if (payload_file != NULL || from_stdin)
    {
      item->bytes = payload_file != NULL ? ctl_read_file (payload_file, error)
                                         : ctl_read_stdin (error);
      return item->bytes != NULL;
    }
  if (!is_command && argc > 2)
    item->bytes = g_bytes_new (argv[2], strlen (argv[2]));

  return TRUE;
}

/* What stands behind the service is not read as an option, and hardly ever meant as a payload. */
static int
check_options_are_in_front (const Ctl *ctl, int argc, char **argv)
{
  for (int i = 2; i < argc && !ctl->separated; i++)
    if (argv[i][0] == '-' && argv[i][1] != '\0')
      return ctl_fail (CTL_USAGE,
                       "submit: “%s” stands after the service, where options are not read: put it "
                       "before the service, or, if it is the payload, write submit %s -- %s",
                       argv[i], argv[1], argv[i]);

  return CTL_OK;
}

static int
submit_one (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisRequest) request = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GBytes) payload = NULL;
  g_autoptr (GError) error = NULL;
  gboolean command = argc > 1 && g_str_equal (argv[1], "command");
  CtlItem item;
  int status;

  if (!command && check_options_are_in_front (ctl, argc, argv) != CTL_OK)
    return CTL_USAGE;
  if (argc < 2 || (argc > 3 && !command))
    return ctl_fail (CTL_USAGE, "submit takes a service and at most one payload; see irisctl "
                                "submit --help");
  set_common (&item, ctl);
  item.service = argv[1];
  if (command)
    item.args = argv + 2;
  if (!read_payload (&item, argc, argv, &error))
    return ctl_fail (CTL_FAILED, "%s", error->message);
  payload = item.bytes;
  request = ctl_item_make_request (&item, &error);
  if (request == NULL)
    return ctl_fail (CTL_USAGE, "submit: %s", error->message);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  result = ctl_submit (ctl, request, &error);
  if (notify)
    ctl_notify (item.service, error != NULL                                   ? "failed"
                              : result->exit_status > 0 || result->signal > 0 ? "ended badly"
                                                                              : "done");
  if (result == NULL)
    return command ? ctl_command_failure (ctl, error) : ctl_fail_with (error);

  return detach ? show_number (ctl, result->item) : show_result (ctl, result, command);
}

static int
parse_lines_as (CtlLineKind *kind, gboolean command)
{
  static const char *const names[] = { "payload", "argument", "path", NULL };
  guint index = command ? CTL_LINE_ARGUMENT - CTL_LINE_PAYLOAD : 0;
  g_autoptr (GError) error = NULL;

  if (!ctl_choose ("as", lines_as, names, &index, &error))
    return ctl_fail (CTL_USAGE, "submit: %s", error->message);
  *kind = (CtlLineKind) (CTL_LINE_PAYLOAD + index);

  return CTL_OK;
}

/* What goes with a file of items, and what does not. */
static int
check_bulk (void)
{
  const char *wrong = payload_file != NULL    ? "--file"
                      : pass_stdin            ? "--stdin"
                      : path_argument != NULL ? "--path"
                      : key != NULL           ? "--key"
                                              : NULL;
  gboolean is_volatile = klass != NULL && g_str_equal (klass, "volatile");
  const char *path = items_file != NULL ? items_file : lines_file;

  if (items_file != NULL && lines_file != NULL)
    return ctl_fail (CTL_USAGE, "submit: --items and --lines exclude each other");
  if (wrong != NULL)
    return ctl_fail (CTL_USAGE,
                     "submit: %s is for one item; with --items or --lines it is said in each line, "
                     "or by --as or --key-prefix",
                     wrong);
  if (items_file != NULL && lines_as != NULL)
    return ctl_fail (CTL_USAGE, "submit: --as is for --lines; an object says itself what it is");
  if (key_prefix != NULL && resume)
    return ctl_fail (CTL_USAGE, "submit: --key-prefix and --resume exclude each other");
  if ((key_prefix != NULL || resume) && is_volatile)
    return ctl_fail (CTL_USAGE, "submit: --key-prefix and --resume are for persistent items: "
                                "choose the class relaxed or durable");
  if (resume && g_str_equal (path, "-"))
    return ctl_fail (CTL_USAGE, "submit: --resume needs a file, which it reads twice; for standard "
                                "input choose a --key-prefix");
  if (in_flight < 1 || in_flight > CTL_LINE_MOST_IN_FLIGHT)
    return ctl_fail (CTL_USAGE, "submit: --in-flight takes 1 to %d, not %d",
                     CTL_LINE_MOST_IN_FLIGHT, in_flight);

  return CTL_OK;
}

static int
submit_many (Ctl *ctl, int argc, char **argv)
{
  gboolean command = argc > 1 && g_str_equal (argv[1], "command");
  CtlSubmitManyOptions options = {
    .path = items_file != NULL ? items_file : lines_file,
    .kind = CTL_LINE_JSON,
    .delimiter = by_nul ? '\0' : '\n',
    .key_prefix = key_prefix,
    .resume = resume,
    .keep_going = keep_going,
    .in_flight = in_flight,
  };
  int status = check_bulk ();

  if (status == CTL_OK && lines_file != NULL)
    status = parse_lines_as (&options.kind, command);
  if (status != CTL_OK)
    return status;
  if (lines_file != NULL && argc < 2)
    return ctl_fail (CTL_USAGE, "submit --lines takes the service that the lines are for");
  if (argc > 2 && !command)
    return ctl_fail (CTL_USAGE, "submit: the payloads come from the file: leave out “%s”", argv[2]);
  set_common (&options.item, ctl);
  options.item.service = argc > 1 ? argv[1] : NULL;
  if (command)
    options.item.args = argv + 2;

  return ctl_submit_many (ctl, &options);
}

/* What is to be done when the item has ended. */
static int
prepare_ends (void)
{
  g_autoptr (GError) error = NULL;

  if (notify && (detach || items_file != NULL || lines_file != NULL))
    return ctl_fail (CTL_USAGE,
                     "submit: --notify is for one item that irisctl waits for; of others "
                     "irisctl wait --notify tells");
  if (hook != NULL && !g_shell_parse_argv (hook, NULL, &hook_words, &error))
    return ctl_fail (CTL_USAGE, "submit: --hook takes a program and its arguments: %s",
                     error->message);

  return CTL_OK;
}

static int
run_submit (Ctl *ctl, int argc, char **argv)
{
  int status = prepare_ends ();

  if (status != CTL_OK)
    return status;
  if (items_file != NULL || lines_file != NULL)
    return submit_many (ctl, argc, argv);
  if (by_nul || lines_as != NULL || key_prefix != NULL || resume || keep_going
      || in_flight != CTL_LINE_IN_FLIGHT)
    return ctl_fail (CTL_USAGE, "submit: --null, --as, --key-prefix, --resume, --keep-going and "
                                "--in-flight are for --items and --lines");

  return submit_one (ctl, argc, argv);
}

static const GOptionEntry submit_entries[] = {
  { "class", 'c', 0, G_OPTION_ARG_STRING, &klass,
    "What survives a crash: volatile, relaxed (on the disk within a moment) or durable (before it "
    "is accepted; default)",
    "CLASS" },
  { "key", 'k', 0, G_OPTION_ARG_STRING, &key,
    "Run it only if irisd has no item with this key; else give the result of that one", "KEY" },
  { "keep", 0, 0, G_OPTION_ARG_STRING, &keep,
    "Keep the result this long: seconds, or a number with m, h or d", "TIME" },
  { "keep-output", 0, 0, G_OPTION_ARG_STRING, &keep_output,
    "Keep so much of a command's output for irisctl follow: bytes, or a number with K, M or G",
    "SIZE" },
  { "keep-tail", 0, 0, G_OPTION_ARG_NONE, &keep_tail,
    "Of a longer output keep its end only, not its beginning as well", NULL },
  { "detach", 'D', 0, G_OPTION_ARG_NONE, &detach,
    "Print the item's number once it is accepted, and do not wait", NULL },
  { "bury", 'B', 0, G_OPTION_ARG_NONE, &bury,
    "Set it aside when its last attempt fails, until it is kicked or cancelled", NULL },
  { "hook", 0, 0, G_OPTION_ARG_STRING, &hook,
    "Have irisd run this when the item has ended: a program and its arguments, quoted as for a "
    "shell",
    "COMMAND" },
  { "notify", 0, 0, G_OPTION_ARG_NONE, &notify, "Tell the desktop when it has ended", NULL },
  { "file", 'f', 0, G_OPTION_ARG_FILENAME, &payload_file, "Send the content of this file", "FILE" },
  { "path", 0, 0, G_OPTION_ARG_FILENAME, &path_argument,
    "The file to work on, which irisd opens (sha256, wordcount)", "FILE" },
  { "content-type", 0, 0, G_OPTION_ARG_STRING, &content_type, "What the payload is", "TYPE" },
  { "stdin", 'i', 0, G_OPTION_ARG_NONE, &pass_stdin, "Give a command this standard input", NULL },
  { "items", 'I', 0, G_OPTION_ARG_FILENAME, &items_file,
    "Submit an item for each line of this file (-: standard input), a JSON object", "FILE" },
  { "lines", 'L', 0, G_OPTION_ARG_FILENAME, &lines_file,
    "Submit an item for each line of this file (-: standard input), its payload, or an argument of "
    "a "
    "command",
    "FILE" },
  { "as", 0, 0, G_OPTION_ARG_STRING, &lines_as, "What a line is: payload, argument or path",
    "WHAT" },
  { "null", '0', 0, G_OPTION_ARG_NONE, &by_nul, "Lines end with a NUL byte", NULL },
  { "key-prefix", 0, 0, G_OPTION_ARG_STRING, &key_prefix,
    "Give each line a key: this and its number", "PREFIX" },
  { "resume", 0, 0, G_OPTION_ARG_NONE, &resume,
    "Give each line a key made of the file, so that no line is submitted twice", NULL },
  { "keep-going", 0, 0, G_OPTION_ARG_NONE, &keep_going,
    "Go on after a line that cannot be read or is refused", NULL },
  { "in-flight", 0, 0, G_OPTION_ARG_INT, &in_flight, "At most so many items at once (1024)", "N" },
  { NULL },
};

const CtlCommand ctl_submit_command = {
  .name = "submit",
  .arguments =
      "SERVICE [PAYLOAD|-] | command [--] PROGRAM [ARGUMENT…] | --items FILE | --lines FILE "
      "SERVICE",
  .summary = "submit persistent items, which survive a crash",
  .description =
      "irisd needs a journal for persistent items: irisd --journal DIR.\n\n"
      "Each line of --items is a JSON object. Its members are named like the options,\n"
      "and service, args, payload, payload-base64; options stand for what a line\n"
      "leaves out. With --lines a command gets the line in place of {} in its\n"
      "arguments, or after them. A line is printed for each item: number of the line,\n"
      "number of the item, how it ended, and its result; with --detach the number of\n"
      "the item.\n\n"
      "Examples:\n"
      "  irisctl submit --detach command make -C /src all\n"
      "  irisctl wait 7 && irisctl result 7\n"
      "  irisctl submit --key backup-2026-02-03 --keep 7d command /usr/bin/backup\n"
      "  irisctl submit --items night.jsonl --detach --resume --keep 2d\n"
      "  find . -name '*.wav' -print0 | irisctl submit -0 --lines - command flac -s {}\n",
  .takes_hints = TRUE,
  .takes_schedule = TRUE,
  .takes_command = TRUE,
  .operand = CTL_OPERAND_SERVICE,
  .most = CTL_ANY,
  .takes = "a service and at most one payload",
  .options_end = 2,
  .entries = submit_entries,
  .run = run_submit,
};
