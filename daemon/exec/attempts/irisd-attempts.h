/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The record of attempts: which items run, as what process, for the irisd that starts after a
 * crash.
 */
#pragma once

#include <glib.h>

#include <sys/types.h>

G_BEGIN_DECLS

/* The file's name in its directory. */
#define IRISD_ATTEMPTS_NAME "attempts"

/* Variable in the environment of each command: its attempt. */
#define IRISD_ATTEMPTS_VARIABLE "IRISD_ATTEMPT"

/* An attempt that is not recorded. */
#define IRISD_ATTEMPT_NONE G_MAXUINT

/* An attempt that was in progress when an earlier irisd crashed. */
typedef struct
{
  guint64 item;   /* the number of the item; 0: it is volatile */
  guint64 serial; /* which attempt of that irisd it was */
  pid_t pid;      /* its process, which led a group of that number; 0: there was none */
  pid_t session;  /* the session of that process */
  guint64 start;  /* when that process was started, see IrisdProc */
  gboolean stuck; /* some of its processes could not be ended */
} IrisdAttempt;

/* A leased item, recorded for the irisd that starts after a crash. */
typedef struct
{
  guint64 item; /* the number of a persistent item */
  /* Unix time in milliseconds until which a worker process has leased it; 0: it waits */
  guint64 due_ms;
  guint64 started_ms; /* Unix time in milliseconds at which that began */
  gint64 owner;       /* the user of the worker process */
  guint8 id[16];      /* the request id that names the lease */
  guint32 attempts;   /* how often the item was leased */
} IrisdLeased;

typedef struct _IrisdAttempts IrisdAttempts;

IrisdAttempts *irisd_attempts_open (const char *dir, gboolean stays, GError **error);
void irisd_attempts_close (IrisdAttempts *self);
void irisd_attempts_end_orphans (IrisdAttempts *self, guint64 most_ms);
guint irisd_attempts_get_n_found (IrisdAttempts *self);
const IrisdAttempt *irisd_attempts_find (IrisdAttempts *self, guint64 item);
void irisd_attempts_renew (IrisdAttempts *self, const char *cgroups);

guint irisd_attempts_begin (IrisdAttempts *self, guint64 item);
void irisd_attempts_end (IrisdAttempts *self, guint slot);
void irisd_attempts_drop (IrisdAttempts *self, guint slot);
int irisd_attempts_get_process_fd (IrisdAttempts *self, guint slot, off_t *offset);
char *irisd_attempts_get_name (IrisdAttempts *self, guint slot);

gboolean irisd_attempts_find_leased (IrisdAttempts *self, guint64 item, IrisdLeased *out);
guint irisd_attempts_take_leased (IrisdAttempts *self, guint64 item, guint *attempts);
guint irisd_attempts_note_leased (IrisdAttempts *self, guint slot, const IrisdLeased *leased);
void irisd_attempts_note_due (IrisdAttempts *self, guint slot, guint64 due_ms);

G_END_DECLS
