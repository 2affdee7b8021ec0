/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The record of attempts: which items run, as what process, for the irisd that starts after a
 * crash.
 *
 * It holds attempts that may crash irisd or leave processes: commands, and persistent items of
 * plug-ins. The record is a file of slots of a fixed size. One pwrite() takes a slot before the
 * attempt begins, and another frees it at the end. The process of a command writes its own line of
 * /proc into its slot before it executes the program (irisd-command-spawn.c). So no program runs
 * unrecorded, and nothing waits for its number.
 *
 * What survives. A written page survives irisd without a sync. It need not survive the machine:
 * then the processes are gone as well, and no item is to blame for a loss of power. So the record
 * of another boot is ignored, and so is that of another pid namespace, whose numbers name other
 * processes.
 *
 * Leases of persistent items have slots too: from the first lease of an item until the journal has
 * its end, or it is tried again. They name no process, so they count in any pid namespace; and they
 * survive an irisd that has found them and ends before they do.
 *
 * Space. The file keeps its size, so a disk that becomes full later has space for its slots. An
 * item that finds no slot runs unrecorded, because accepted items have to go on; that is logged.
 *
 * Any thread may begin and end attempts; the lock is held for table work only. It is a POSIX one
 * because ThreadSanitizer knows those.
 */
#include "daemon/exec/attempts/irisd-attempts.h"

#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-log.h"
#include "daemon/base/irisd-proc.h"
#include "daemon/exec/attempts/irisd-orphans.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC    "IRISATT1"
#define BOOT_ID  "/proc/sys/kernel/random/boot_id"
#define SLOTS    64  /* made at once */
#define STAT_MAX 464 /* bytes of /proc/PID/stat, more than are read */

/* The first slot. */
typedef struct
{
  char magic[8];
  guint64 pid_namespace;
  char boot_id[40];
  char token[40];    /* of the irisd that wrote it */
  char cgroups[400]; /* directory of its commands' control groups, or "" */
} Head;

/* The use of a slot; 0: free. */
enum
{
  USED_BY_ATTEMPT = 1,
  USED_BY_LEASE = 2,
};

typedef struct
{
  guint64 used;
  guint64 item;
  guint64 serial;
  guint64 due_ms; /* of a lease, as are the next ones */
  guint64 started_ms;
  gint64 owner;
  union
  {
    char stat[STAT_MAX]; /* written by the process itself, with a zero after it */
    struct
    {
      guint8 id[16];
      guint32 attempts;
    };
  };
} Slot;

G_STATIC_ASSERT (sizeof (Slot) == 512 && sizeof (Head) <= sizeof (Slot));

/* The serial of a slot that an earlier irisd used for a lease. */
#define SERIAL_FOUND G_MAXUINT64

/* A lease found at the start. */
typedef struct
{
  IrisdLeased leased; /* begins with its key */
  guint slot;
  gboolean wanted; /* its item has not ended */
} Found;

struct _IrisdAttempts
{
  pthread_mutex_t lock;
  char *path;
  int fd;
  gboolean stays;
  Head head;           /* found at the start, until it is renewed */
  GArray *found;       /* IrisdAttempt: of an earlier irisd */
  GHashTable *by_item; /* the number of a persistent item → its index in @found, and 1 */

  /* Under the lock. */
  GArray *serials; /* guint64: of each slot, 0 for a free one */
  GArray *free;    /* guint: slots */
  guint64 last_serial;
  gboolean complained;
  GHashTable *leased; /* found: by item, until they are taken */
};

static off_t
offset_of (guint slot)
{
  return (off_t) sizeof (Slot) * ((off_t) slot + 1);
}

static void
fill_head (Head *head)
{
  g_autofree char *boot_id = NULL;
  struct stat st;
  *head = (Head){ .pid_namespace = stat ("/proc/self/ns/pid", &st) == 0 ? (guint64) st.st_ino : 0 };
  memcpy (head->magic, MAGIC, sizeof head->magic);
  if (g_file_get_contents (BOOT_ID, &boot_id, NULL, NULL))
    g_strlcpy (head->boot_id, g_strchomp (boot_id), sizeof head->boot_id);
  g_autofree char *uuid = g_uuid_string_random ();
  g_strlcpy (head->token, uuid, sizeof head->token);
}

static gboolean
is_of_this_boot (const Head *found, const Head *own)
{
  return memcmp (found->magic, own->magic, sizeof own->magic) == 0
         && memcmp (found->boot_id, own->boot_id, sizeof own->boot_id) == 0;
}

static void
read_slot (IrisdAttempts *self, const Slot *slot)
{
  IrisdAttempt attempt = { .item = slot->item, .serial = slot->serial };
  IrisdProc proc;
  char stat[STAT_MAX + 1] = "";
  memcpy (stat, slot->stat, STAT_MAX);
  if (irisd_proc_parse (&proc, stat))
    {
      attempt.pid = proc.pid;
      attempt.session = proc.session;
      attempt.start = proc.start;
    }
  g_array_append_val (self->found, attempt);
  if (attempt.item != 0)
    g_hash_table_insert (self->by_item, g_memdup2 (&attempt.item, sizeof attempt.item),
                         GUINT_TO_POINTER (self->found->len));
}

static void
read_lease (IrisdAttempts *self, const Slot *slot, guint index)
{
  Found *found = g_new0 (Found, 1);
  found->leased = (IrisdLeased){
    .item = slot->item,
    .due_ms = slot->due_ms,
    .started_ms = slot->started_ms,
    .owner = slot->owner,
    .attempts = slot->attempts,
  };
  memcpy (found->leased.id, slot->id, sizeof found->leased.id);
  found->slot = index;
  g_hash_table_replace (self->leased, &found->leased.item, found);
}

/* Reads the record of an earlier irisd. */
static void
read_slots (IrisdAttempts *self)
{
  Head head;
  Slot slot;
  if (pread (self->fd, &head, sizeof head, 0) != sizeof head
      || !is_of_this_boot (&head, &self->head))
    return;
  gboolean knows_processes = head.pid_namespace == self->head.pid_namespace;
  self->head = head;
  self->head.token[sizeof head.token - 1] = self->head.cgroups[sizeof head.cgroups - 1] = '\0';
  for (guint i = 0; pread (self->fd, &slot, sizeof slot, offset_of (i)) == sizeof slot; i++)
    if (slot.used == USED_BY_LEASE)
      read_lease (self, &slot, i);
    else if (slot.used != 0 && knows_processes)
      read_slot (self, &slot);
}

static guint
count_slots (IrisdAttempts *self)
{
  struct stat st;
  guint n = fstat (self->fd, &st) == 0 ? (guint) (st.st_size / (off_t) sizeof (Slot)) : 0;
  return n > 0 ? n - 1 : 0; /* without the head */
}

/* The slots of leases found are taken, and can be freed. */
static void
take_found_slots (IrisdAttempts *self)
{
  GHashTableIter iter;
  gpointer found;
  if (g_hash_table_size (self->leased) == 0)
    return;
  g_array_set_size (self->serials, count_slots (self));
  g_hash_table_iter_init (&iter, self->leased);
  while (g_hash_table_iter_next (&iter, NULL, &found))
    g_array_index (self->serials, guint64, ((Found *) found)->slot) = SERIAL_FOUND;
}

/* Opens the record of @dir, which this irisd has locked, or makes one, and reads what a crashed
 * irisd has left. Attempts can begin after irisd_attempts_renew(). @stays: the file stays after an
 * orderly end, which reserves its space. */
IrisdAttempts *
irisd_attempts_open (const char *dir, gboolean stays, GError **error)
{
  g_autofree char *path = g_build_filename (dir, IRISD_ATTEMPTS_NAME, NULL);
  int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    {
      g_set_error (
          error, IRISD_ERROR, IRISD_ERROR_FAILED,
          "cannot open %s: %s; irisd has to be able to write in the directory of its journal", path,
          g_strerror (errno));
      return NULL;
    }
  IrisdAttempts *self = g_new0 (IrisdAttempts, 1);
  pthread_mutex_init (&self->lock, NULL);
  self->path = g_steal_pointer (&path);
  self->fd = fd;
  self->stays = stays;
  self->found = g_array_new (FALSE, TRUE, sizeof (IrisdAttempt));
  self->by_item = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->serials = g_array_new (FALSE, TRUE, sizeof (guint64));
  self->free = g_array_new (FALSE, FALSE, sizeof (guint));
  self->leased = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  fill_head (&self->head);
  read_slots (self);
  take_found_slots (self);
  return self;
}

/* The file stays if it was opened to stay, or if something in it is not settled. */
void
irisd_attempts_close (IrisdAttempts *self)
{
  if (self == NULL)
    return;
  if (!self->stays && self->found->len == 0 && self->free->len == self->serials->len)
    unlink (self->path);
  close (self->fd);
  g_array_unref (self->found);
  g_hash_table_unref (self->by_item);
  g_array_unref (self->serials);
  g_array_unref (self->free);
  g_hash_table_unref (self->leased);
  g_free (self->path);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* Ends the processes that a crashed irisd has left, and waits up to @most_ms until they are gone.
 * Processes that do not end are logged, and their attempt is `stuck`. */
void
irisd_attempts_end_orphans (IrisdAttempts *self, guint64 most_ms)
{
  guint n = irisd_orphans_end (self->found, self->head.token, self->head.cgroups, most_ms);
  if (n > 0)
    irisd_log (IRISD_LOG_WARNING,
               "irisd crashed while commands ran; %u processes of theirs were ended", n);
  for (guint i = 0; i < self->found->len; i++)
    {
      const IrisdAttempt *attempt = &g_array_index (self->found, IrisdAttempt, i);
      const IrisdLogSubject subject = { .item = attempt->item };
      if (attempt->stuck)
        irisd_log_about (&subject, IRISD_LOG_ERROR,
                         "processes of item %" G_GUINT64_FORMAT
                         " (group %ld) are left from before a "
                         "crash and do not end; look at them with ps -g %ld",
                         attempt->item, (long) attempt->pid, (long) attempt->pid);
    }
}

guint
irisd_attempts_get_n_found (IrisdAttempts *self)
{
  return self->found->len;
}

/* Returns the attempt of persistent item @item that was in progress when irisd crashed, or NULL. */
const IrisdAttempt *
irisd_attempts_find (IrisdAttempts *self, guint64 item)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (self->by_item, &item));
  return index > 0 ? &g_array_index (self->found, IrisdAttempt, index - 1) : NULL;
}

/* Makes slots with space on the disk. The lock is held. */
static gboolean
add_slots (IrisdAttempts *self)
{
  guint first = self->serials->len;
  if (posix_fallocate (self->fd, offset_of (first), (off_t) sizeof (Slot) * SLOTS) != 0)
    return FALSE;
  g_array_set_size (self->serials, first + SLOTS);
  for (guint slot = first + SLOTS; slot-- > first;)
    g_array_append_val (self->free, slot);
  return TRUE;
}

/* Drops leases of items that have ended. */
static void
drop_unwanted (IrisdAttempts *self)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->leased);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const Found *found = value;
      if (found->wanted)
        continue;
      g_array_index (self->serials, guint64, found->slot) = 0;
      g_hash_table_iter_remove (&iter);
    }
}

/* Frees all slots but those of leases found. Returns whether that could be written. */
static gboolean
empty_slots (IrisdAttempts *self)
{
  static const Slot none;
  gboolean good = TRUE;
  g_array_set_size (self->free, 0);
  for (guint slot = self->serials->len; slot-- > 0 && good;)
    if (g_array_index (self->serials, guint64, slot) != SERIAL_FOUND)
      {
        good = pwrite (self->fd, &none, sizeof none, offset_of (slot)) == sizeof none;
        g_array_append_val (self->free, slot);
      }
  return good;
}

/* Drops all that was found, except leases of items that have not ended, and begins a new record in
 * the same file. @cgroups is the directory of commands' control groups, or "". */
void
irisd_attempts_renew (IrisdAttempts *self, const char *cgroups)
{
  g_array_set_size (self->found, 0);
  g_hash_table_remove_all (self->by_item);
  fill_head (&self->head);
  g_strlcpy (self->head.cgroups, cgroups, sizeof self->head.cgroups);
  /* The head last: if irisd is killed in between, its slots are those of the earlier irisd. */
  pthread_mutex_lock (&self->lock);
  drop_unwanted (self);
  g_array_set_size (self->serials, MAX (self->serials->len, count_slots (self)));
  gboolean good = empty_slots (self)
                  && pwrite (self->fd, &self->head, sizeof self->head, 0) == sizeof self->head;
  if (good && self->serials->len == 0)
    good = add_slots (self);
  pthread_mutex_unlock (&self->lock);
  if (!good)
    irisd_log (IRISD_LOG_WARNING,
               "cannot write %s: %s; after a crash irisd would not know what "
               "ran. Make room, and start it again",
               self->path, g_strerror (errno));
}

/* Takes a slot, and notes its serial in @taken. Returns %IRISD_ATTEMPT_NONE if there is none. */
static guint
take_slot (IrisdAttempts *self, Slot *taken)
{
  guint slot = IRISD_ATTEMPT_NONE;
  gboolean complain = FALSE;
  pthread_mutex_lock (&self->lock);
  if (self->free->len > 0 || add_slots (self))
    {
      slot = g_array_index (self->free, guint, self->free->len - 1);
      g_array_set_size (self->free, self->free->len - 1);
      taken->serial = ++self->last_serial;
      g_array_index (self->serials, guint64, slot) = taken->serial;
    }
  else
    {
      complain = !self->complained;
      self->complained = TRUE;
    }
  pthread_mutex_unlock (&self->lock);
  if (complain)
    irisd_log (IRISD_LOG_WARNING,
               "cannot record all running items: %s has no room; make room. After a "
               "crash irisd would not know the others",
               self->path);
  return slot;
}

/* Returns the slot if that many bytes of it could be written; else frees it. */
static guint
write_slot (IrisdAttempts *self, guint slot, const Slot *taken, gsize size)
{
  if (slot == IRISD_ATTEMPT_NONE
      || pwrite (self->fd, taken, size, offset_of (slot)) == (ssize_t) size)
    return slot;
  irisd_attempts_end (self, slot);
  return IRISD_ATTEMPT_NONE;
}

/* Records that an attempt begins; @item is 0 for a volatile item. Returns its slot, for
 * irisd_attempts_end(); IRISD_ATTEMPT_NONE if it could not be recorded. */
guint
irisd_attempts_begin (IrisdAttempts *self, guint64 item)
{
  Slot taken = { .used = USED_BY_ATTEMPT, .item = item };
  if (self == NULL)
    return IRISD_ATTEMPT_NONE;
  guint slot = take_slot (self, &taken);
  /* With the first byte of the process: its old contents no longer count. */
  return write_slot (self, slot, &taken, G_STRUCT_OFFSET (Slot, stat) + 1);
}

/* Copies the lease of a persistent item that has not ended, or how often it was leased, from a
 * record that was not renewed yet. Such a lease survives irisd_attempts_renew(). Returns whether
 * there is one. */
gboolean
irisd_attempts_find_leased (IrisdAttempts *self, guint64 item, IrisdLeased *out)
{
  Found *found = self != NULL ? g_hash_table_lookup (self->leased, &item) : NULL;
  if (found == NULL)
    return FALSE;
  found->wanted = TRUE;
  *out = found->leased;
  return TRUE;
}

/* Returns the slot of a lease found, which the caller then owns, and sets @attempts;
 * IRISD_ATTEMPT_NONE if there is none. @item is a job again. */
guint
irisd_attempts_take_leased (IrisdAttempts *self, guint64 item, guint *attempts)
{
  guint slot = IRISD_ATTEMPT_NONE;
  if (self == NULL)
    return slot;
  pthread_mutex_lock (&self->lock);
  const Found *found = g_hash_table_lookup (self->leased, &item);
  if (found != NULL)
    {
      slot = found->slot;
      *attempts = found->leased.attempts;
      g_hash_table_remove (self->leased, &item);
    }
  pthread_mutex_unlock (&self->lock);
  return slot;
}

/* A lease begins; @slot is the item's or IRISD_ATTEMPT_NONE. Returns the item's slot, for
 * irisd_attempts_end(); IRISD_ATTEMPT_NONE if it could not be recorded. */
guint
irisd_attempts_note_leased (IrisdAttempts *self, guint slot, const IrisdLeased *leased)
{
  Slot taken = {
    .used = USED_BY_LEASE,
    .item = leased->item,
    .due_ms = leased->due_ms,
    .started_ms = leased->started_ms,
    .owner = leased->owner,
  };
  if (self == NULL)
    return IRISD_ATTEMPT_NONE;
  memcpy (taken.id, leased->id, sizeof taken.id);
  taken.attempts = leased->attempts;
  if (slot == IRISD_ATTEMPT_NONE)
    slot = take_slot (self, &taken);
  return write_slot (self, slot, &taken, G_STRUCT_OFFSET (Slot, attempts) + sizeof taken.attempts);
}

void
irisd_attempts_note_due (IrisdAttempts *self, guint slot, guint64 due_ms)
{
  off_t at = offset_of (slot) + (off_t) G_STRUCT_OFFSET (Slot, due_ms);
  if (slot != IRISD_ATTEMPT_NONE && pwrite (self->fd, &due_ms, sizeof due_ms, at) != sizeof due_ms)
    irisd_log (IRISD_LOG_WARNING, "cannot write %s: %s", self->path, g_strerror (errno));
}

void
irisd_attempts_end (IrisdAttempts *self, guint slot)
{
  static const guint64 unused;
  if (slot == IRISD_ATTEMPT_NONE)
    return;
  if (pwrite (self->fd, &unused, sizeof unused, offset_of (slot)) != sizeof unused)
    irisd_log (IRISD_LOG_WARNING, "cannot write %s: %s", self->path, g_strerror (errno));
  irisd_attempts_drop (self, slot);
}

/* Frees the slot without writing: the record of an item that has ended is ignored. */
void
irisd_attempts_drop (IrisdAttempts *self, guint slot)
{
  if (slot == IRISD_ATTEMPT_NONE)
    return;
  pthread_mutex_lock (&self->lock);
  g_array_index (self->serials, guint64, slot) = 0;
  g_array_append_val (self->free, slot);
  pthread_mutex_unlock (&self->lock);
}

/* Returns the descriptor to which the attempt's process writes /proc/self/stat, with a zero after
 * it, at @offset; -1 for none. */
int
irisd_attempts_get_process_fd (IrisdAttempts *self, guint slot, off_t *offset)
{
  if (slot == IRISD_ATTEMPT_NONE)
    return -1;
  *offset = offset_of (slot) + (off_t) G_STRUCT_OFFSET (Slot, stat);
  return self->fd;
}

/* Returns a name that no other attempt has. As the value of IRISD_ATTEMPTS_VARIABLE or of a control
 * group it identifies all processes of the attempt. */
char *
irisd_attempts_get_name (IrisdAttempts *self, guint slot)
{
  pthread_mutex_lock (&self->lock);
  guint64 serial = g_array_index (self->serials, guint64, slot);
  pthread_mutex_unlock (&self->lock);
  return irisd_orphans_name (self->head.token, serial);
}
