/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the commands of irisctl share: options, the connection, errors and exit statuses.
 */
#pragma once

#include <gio/gio.h>
#include <iris-client/iris-client.h>

/* Documented in irisctl(1). */
typedef enum
{
  CTL_OK = 0,
  CTL_FAILED = 1,    /* an item failed */
  CTL_USAGE = 2,     /* the arguments are wrong, or name what does not exist */
  CTL_NO_DAEMON = 3, /* no irisd, or it went away */
  CTL_REFUSED = 4,   /* irisd takes no more items, or not from us */
  CTL_INTERRUPTED = 130,
} CtlExit;

#define CTL_MAX_WAIT_S 86400

/* --footprint and --keep-apart, as they were typed. */
typedef struct
{
  char *size;
  gboolean keep_apart;
} CtlFootprint;

/* --delay to --wait-for-service, as they were typed. */
typedef struct
{
  char *delay, *at, *after_how, *backoff, *time_to_run, *deadline, *queue;
  gboolean wait_for_service;
  char **after;
  int priority; /* -1: not given */
  int retries;
} CtlSchedule;

/* --directory to --grace, as they were typed. */
typedef struct
{
  char *directory, **variables, **limits;
  gboolean clear_environment;
  int nice_by;
  double timeout_s; /* 0: none */
  double grace_s;   /* CTL_NO_GRACE: irisd's own */
} CtlCommandOptions;

#define CTL_NO_GRACE (-1.0)

/* --state to --until, as they were typed. */
typedef struct
{
  char **states;
  char *service, *klass, *key_prefix, *since, *until, *queue;
} CtlFilter;

typedef struct
{
  char *where;       /* --dir or --endpoint; NULL: the usual place */
  char *place;       /* --place */
  char *near;        /* --near: the number of an item, or a path */
  char *traceparent; /* --traceparent */
  char *node;        /* --node */
  gboolean any_node;
  gboolean strict;
  int wait_s; /* --wait */
  gboolean json;
  gboolean verbose;
  gboolean separated; /* a -- said that no more options come */
  CtlFootprint footprint;
  CtlSchedule schedule;
  CtlFilter filter;
  CtlCommandOptions command;

  IrisClient *client;
  GCancellable *cancellable; /* cancelled by the first SIGINT or SIGTERM */
  gboolean asks_node;        /* the command is about @node, if that is given */
  gboolean asks_only;        /* the command submits nothing, and soon ends */
  guint busy_timer;          /* runs while irisd refuses, until that is told */
  gint64 told_busy_us;       /* when it was told last */
} Ctl;

/* What an argument names, for completion. */
typedef enum
{
  CTL_OPERAND_NONE,
  CTL_OPERAND_ITEM,
  CTL_OPERAND_OPEN_ITEM, /* one that has not ended */
  CTL_OPERAND_KICKABLE,  /* one that is buried or delayed */
  CTL_OPERAND_SUSPENDED, /* one that is suspended */
  CTL_OPERAND_PLACE,
  CTL_OPERAND_SERVICE,
  CTL_OPERAND_QUEUE,
  CTL_OPERAND_NODE,    /* what is done to a node, then the node */
  CTL_OPERAND_CLUSTER, /* what is done to the cluster */
  CTL_OPERAND_FILE,    /* a service, then files */
  CTL_OPERAND_DIRECTORY,
  CTL_OPERAND_COMMAND,
} CtlOperand;

#define CTL_ANY (-1)

typedef struct
{
  const char *name;
  const char *arguments; /* for the first line of --help */
  const char *summary;
  const char *description; /* below the options: details and examples */
  CtlOperand operand;
  int least, most;         /* arguments; CTL_ANY: no bound */
  const char *takes;       /* these, in words; NULL: none */
  int options_end;         /* options end at this argument, which begins a command; 0: nowhere */
  gboolean asks_only;      /* it submits nothing and soon ends: allowed when irisd has as many
                              connections as it takes */
  gboolean takes_hints;    /* --place to --keep-apart */
  gboolean takes_schedule; /* --delay to --wait-for-service */
  gboolean takes_filter;   /* --state to --until */
  gboolean takes_node;     /* --node: it may ask another one */
  gboolean takes_command;  /* --directory to --grace */
  const GOptionEntry *entries;
  int (*run) (Ctl *ctl, int argc, char **argv);
} CtlCommand;

extern const CtlCommand ctl_places, ctl_services, ctl_workers, ctl_status, ctl_send, ctl_map,
    ctl_run, ctl_cancel, ctl_submit_command, ctl_wait_command, ctl_follow_command, ctl_result,
    ctl_list, ctl_show, ctl_watch, ctl_top, ctl_kick, ctl_bury, ctl_pause_command,
    ctl_resume_command, ctl_drain, ctl_set_workers, ctl_reload, ctl_backup, ctl_trace, ctl_key,
    ctl_every, ctl_cron, ctl_schedules, ctl_queue, ctl_queues, ctl_nodes, ctl_node, ctl_cluster,
    ctl_edit, ctl_again;

/* Prints "irisctl: ..." on standard error and returns @status. */
int ctl_fail (int status, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Sets @error, for what was typed, and returns FALSE. */
gboolean ctl_refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Which of the names, NULL at the end, @text is; it stays what it is if @text is NULL. FALSE with
 * an error that lists them. */
gboolean ctl_choose (const char *option,
                     const char *text,
                     const char *const *names,
                     guint *index,
                     GError **error);

/* A place by its name or its id. -1 after printing that there is none. */
int ctl_find_place (const Ctl *ctl, const char *text);

/* Prints the error and returns the exit status that its code stands for. */
int ctl_fail_with (const GError *error);
int ctl_exit_status (const GError *error);

/* The same for what only asked irisd: if we were interrupted, it says that item @number, or all
 * items if that is 0, goes on. */
int ctl_fail_asking (const GError *error, guint64 number);

/* "1 item", "2 items". */
char *ctl_count (guint64 n, const char *noun);

/* False when standard output is a full disk, or its reader has gone. */
gboolean ctl_output_is_good (void);

/* Connects, and waits for it. CTL_OK, or the exit status after printing why not. */
int ctl_connect (Ctl *ctl);

IrisClientStatus *ctl_get_status (Ctl *ctl, GError **error);

/* For calls that are waited for: pass ctl_take_result and the address of a GAsyncResult pointer,
 * then wait. */
void ctl_take_result (GObject *source, GAsyncResult *result, gpointer slot);
GAsyncResult *ctl_wait (GAsyncResult **slot);

/* Lets the main context run for so long, or until we are interrupted. */
void ctl_pause (Ctl *ctl, guint ms);

/* The options, the check of what was typed (CTL_OK or CTL_USAGE after printing why not), and what
 * they do to a request. */
GOptionEntry *ctl_schedule_entries (CtlSchedule *schedule);
gboolean ctl_schedule_validate (const CtlSchedule *schedule, GError **error);
int ctl_schedule_check (const CtlSchedule *schedule, const char *command);
void ctl_schedule_apply (const CtlSchedule *schedule, IrisRequest *request);
void ctl_schedule_clear (CtlSchedule *schedule);
gboolean ctl_parse_duration (const char *text, guint64 *ms);

/* Bytes, or a number with K, M or G, powers of 1024, as irisd.conf has them. */
gboolean ctl_parse_size (const char *text, guint64 *size);
gboolean ctl_parse_time (const char *text, gint64 *ms);
gboolean ctl_parse_at (const char *text, GDateTime *now, gint64 *ms);

GOptionEntry *ctl_footprint_entries (CtlFootprint *footprint);
gboolean ctl_footprint_validate (const CtlFootprint *footprint, GError **error);
void ctl_footprint_apply (const CtlFootprint *footprint, IrisRequest *request);
void ctl_footprint_clear (CtlFootprint *footprint);

/* Gives a request the hint and the footprint of the command line. */
void ctl_hint (const Ctl *ctl, IrisRequest *request);

/* The trace of --traceparent, or of the program that has called irisctl, or NULL. What cannot be
 * read there is left out, as W3C's recommendation has it: it is the caller's fault, and not the
 * item's. */
void ctl_find_trace (const Ctl *ctl, char **traceparent, char **tracestate);
void ctl_set_trace (const Ctl *ctl, IrisRequest *request);
void ctl_set_hint (IrisRequest *request, const char *place, const char *near, gboolean strict);
