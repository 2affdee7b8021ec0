/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What persistent commands write, kept in files within limits, so that it can be followed.
 *
 * The files lie beside the journal and are not synced: they outlive irisd, and after a crash of the
 * machine an output may lack its end. Each piece has a checksum, and a reader skips what does not
 * fit. An output is at most IRISD_OUTPUT_SEGMENTS files; a full last file is followed by another,
 * and the oldest that is not spared is removed, so nothing that was written is moved.
 *
 * The thread that runs commands writes, gateways read, the journal removes. The lock guards the
 * table, the lists of files and the number of bytes that may be read; a piece is written before
 * that number is raised, so a reader sees whole pieces only, and no thread holds the lock while it
 * writes or reads a piece. A writer never waits for readers: they follow at their own speed, and
 * what is removed before a reader came to it is skipped.
 *
 * Ended outputs are removed with their item, or before that, the longest ended first, when all
 * together are larger than their limit.
 */
#include "daemon/store/irisd-outputs.h"

#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-log.h"
#include "daemon/store/irisd-outputs-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

/* A file takes whole blocks of the disk. */
#define BLOCK G_GUINT64_CONSTANT (4096)

/* The least size of a file. */
#define LEAST_SEGMENT G_GUINT64_CONSTANT (1024)

void
irisd_output_make_name (char *name, guint64 item, guint32 segment)
{
  g_snprintf (name, IRISD_OUTPUT_NAME_SIZE, "%016" G_GINT64_MODIFIER "x-%08x", item, segment);
}

guint32
irisd_output_get_checksum (const IrisdOutputHead *head, const guint8 *data)
{
  uLong crc = crc32_z (0, (const Bytef *) head, G_STRUCT_OFFSET (IrisdOutputHead, checksum));
  return (guint32) crc32_z (crc, data, head->size);
}

/* The bytes of the disk that a file takes; 0 if it is not there. */
static guint64
measure (IrisdOutputs *self, const char *name)
{
  struct stat st;
  if (fstatat (self->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return 0;
  return ((guint64) st.st_size + BLOCK - 1) / BLOCK * BLOCK + BLOCK;
}

static void
count (IrisdKeptOutput *output, guint64 more, guint64 less)
{
  output->on_disk += more - less;
  output->outputs->size += more - less;
}

static void
wake_readers (IrisdKeptOutput *self)
{
  IrisdOutputReader *reader;
  while ((reader = STAILQ_FIRST (&self->waiting)) != NULL)
    {
      STAILQ_REMOVE_HEAD (&self->waiting, next);
      reader->waits = FALSE;
      irisd_mailbox_post (reader->mailbox, reader->message);
    }
}

/* All but the last file are counted as they are; of the last one the count is the writer's. */
static void
remove_segment (IrisdKeptOutput *self, guint index)
{
  char name[IRISD_OUTPUT_NAME_SIZE];
  irisd_output_make_name (name, self->item, g_array_index (self->segments, guint32, index));
  guint64 size = MIN (measure (self->outputs, name), self->on_disk);
  if (unlinkat (self->outputs->dir_fd, name, 0) == 0)
    count (self, 0, size);
  g_array_remove_index (self->segments, index);
}

static void
remove_segments (IrisdKeptOutput *self)
{
  while (self->segments->len > 0)
    remove_segment (self, self->segments->len - 1);
  count (self, 0, self->on_disk);
  self->n_whole = 0;
}

static IrisdKeptOutput *
add (IrisdOutputs *self, guint64 item)
{
  IrisdKeptOutput *output = g_new0 (IrisdKeptOutput, 1);
  output->item = item;
  output->outputs = self;
  output->refs = 1;
  output->fd = -1;
  output->ended.data = output;
  output->segments = g_array_new (FALSE, FALSE, sizeof (guint32));
  STAILQ_INIT (&output->waiting);
  g_hash_table_add (self->by_item, output);
  return output;
}

static void
set_ended (IrisdKeptOutput *self, gboolean ended)
{
  GQueue *queue = &self->outputs->ended;
  gboolean listed = self->ended.prev != NULL || self->ended.next != NULL
                    || queue->head == &self->ended;
  if (ended && !listed)
    g_queue_push_tail_link (queue, &self->ended);
  else if (!ended && listed)
    g_queue_unlink (queue, &self->ended);
}

/* Under the lock. */
static void
unref (IrisdKeptOutput *self)
{
  /* One that has nothing was there for its readers alone. */
  if (--self->refs == 1 && !self->removed && self->segments->len == 0)
    {
      set_ended (self, FALSE);
      g_hash_table_remove (self->outputs->by_item, self);
      self->refs = 0;
    }
  if (self->refs > 0)
    return;
  g_array_unref (self->segments);
  g_free (self);
}

void
irisd_kept_output_unref (IrisdKeptOutput *self)
{
  IrisdOutputs *outputs = self->outputs;
  pthread_mutex_lock (&outputs->lock);
  unref (self);
  pthread_mutex_unlock (&outputs->lock);
}

/* The output of an item, which need not have written anything yet. */
IrisdKeptOutput *
irisd_outputs_ref (IrisdOutputs *self, guint64 item)
{
  pthread_mutex_lock (&self->lock);
  IrisdKeptOutput *output = g_hash_table_lookup (self->by_item, &item);
  if (output == NULL)
    output = add (self, item);
  output->refs++;
  pthread_mutex_unlock (&self->lock);
  return output;
}

/* Under the lock. Readers keep what they have open. */
static void
discard (IrisdKeptOutput *self)
{
  remove_segments (self);
  set_ended (self, FALSE);
  g_hash_table_remove (self->outputs->by_item, self);
  self->removed = TRUE;
  wake_readers (self);
  unref (self);
}

/* Under the lock. */
static void
make_room (IrisdOutputs *self)
{
  while (self->size > self->most && self->ended.head != NULL)
    discard (self->ended.head->data);
}

/* Returns whether @name is that of a file of an output. */
static gboolean
parse_name (const char *name, guint64 *item, guint32 *segment)
{
  char again[IRISD_OUTPUT_NAME_SIZE];
  if (strlen (name) != IRISD_OUTPUT_NAME_SIZE - 1)
    return FALSE;
  *item = g_ascii_strtoull (name, NULL, 16);
  *segment = (guint32) g_ascii_strtoull (name + 17, NULL, 16);
  irisd_output_make_name (again, *item, *segment);
  return strcmp (name, again) == 0;
}

static gint
compare_segments (gconstpointer a, gconstpointer b)
{
  guint32 left = *(const guint32 *) a, right = *(const guint32 *) b;
  return left < right ? -1 : left > right;
}

static gint
compare_items (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const IrisdKeptOutput *left = a, *right = b;
  return left->item < right->item ? -1 : left->item > right->item;
}

/* Finds the outputs that were kept before this start. */
static void
find_files (IrisdOutputs *self)
{
  DIR *dir = fdopendir (dup (self->dir_fd));
  GHashTableIter iter;
  IrisdKeptOutput *output;
  guint64 item;
  guint32 segment;
  for (struct dirent *entry; dir != NULL && (entry = readdir (dir)) != NULL;)
    {
      if (!parse_name (entry->d_name, &item, &segment))
        continue;
      output = g_hash_table_lookup (self->by_item, &item);
      if (output == NULL)
        output = add (self, item);
      g_array_append_val (output->segments, segment);
      count (output, measure (self, entry->d_name), 0);
    }
  if (dir != NULL)
    closedir (dir);
  g_hash_table_iter_init (&iter, self->by_item);
  while (g_hash_table_iter_next (&iter, (gpointer *) &output, NULL))
    {
      g_array_sort (output->segments, compare_segments);
      output->n_whole = G_MAXUINT64;
      set_ended (output, TRUE);
    }
  g_queue_sort (&self->ended, compare_items, NULL);
}

static int
open_dir (const char *dir)
{
  return open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* Keeps outputs in @dir, which it makes when it has one, of which all together have @most bytes. */
IrisdOutputs *
irisd_outputs_new (const char *dir, guint64 most, GError **error)
{
  int fd = open_dir (dir);
  if (fd < 0 && errno != ENOENT)
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "cannot keep the output of commands in %s: %s", dir, g_strerror (errno));
      return NULL;
    }
  IrisdOutputs *self = g_new0 (IrisdOutputs, 1);
  pthread_mutex_init (&self->lock, NULL);
  self->dir = g_strdup (dir);
  self->dir_fd = fd;
  self->most = most;
  self->by_item = g_hash_table_new (g_int64_hash, g_int64_equal);
  g_queue_init (&self->ended);
  if (fd >= 0)
    find_files (self);
  return self;
}

/* No attempt writes, and there are no readers. */
void
irisd_outputs_free (IrisdOutputs *self)
{
  if (self == NULL)
    return;
  GHashTableIter iter;
  IrisdKeptOutput *output;
  g_hash_table_iter_init (&iter, self->by_item);
  while (g_hash_table_iter_next (&iter, (gpointer *) &output, NULL))
    {
      g_array_unref (output->segments);
      g_free (output);
    }
  g_hash_table_unref (self->by_item);
  if (self->dir_fd >= 0)
    close (self->dir_fd);
  g_free (self->dir);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* Removes outputs of items that are not there, and those that are too many. */
void
irisd_outputs_retain (IrisdOutputs *self, IrisdOutputFilter is_there, gpointer user_data)
{
  pthread_mutex_lock (&self->lock);
  for (GList *link = self->ended.head; link != NULL;)
    {
      IrisdKeptOutput *output = link->data;
      link = link->next;
      if (!is_there (output->item, user_data))
        discard (output);
    }
  make_room (self);
  pthread_mutex_unlock (&self->lock);
}

/* The item is forgotten. */
void
irisd_outputs_remove (IrisdOutputs *self, guint64 item)
{
  pthread_mutex_lock (&self->lock);
  IrisdKeptOutput *output = g_hash_table_lookup (self->by_item, &item);
  if (output != NULL)
    discard (output);
  pthread_mutex_unlock (&self->lock);
}

/* The bytes of the disk that all outputs take. */
guint64
irisd_outputs_get_size (IrisdOutputs *self)
{
  pthread_mutex_lock (&self->lock);
  guint64 size = self->size;
  pthread_mutex_unlock (&self->lock);
  return size;
}

/* An attempt of item @item begins, of which about @most bytes are to be kept. Returns NULL while
 * another one is written. */
IrisdKeptOutput *
irisd_outputs_begin (IrisdOutputs *self, guint64 item, guint64 most, IrisdOutputPolicy policy)
{
  pthread_mutex_lock (&self->lock);
  IrisdKeptOutput *output = g_hash_table_lookup (self->by_item, &item);
  if (output != NULL && output->written)
    {
      pthread_mutex_unlock (&self->lock);
      return NULL;
    }
  if (output == NULL)
    output = add (self, item);
  remove_segments (output);
  set_ended (output, FALSE);
  output->refs++;
  output->attempt++;
  output->written = TRUE;
  output->segment_size = MAX (most / IRISD_OUTPUT_SEGMENTS, LEAST_SEGMENT);
  output->in_segment = output->offset = 0;
  output->n_spared = policy == IRISD_OUTPUT_HEAD_AND_TAIL ? IRISD_OUTPUT_SEGMENTS / 2 : 0;
  output->failed = FALSE;
  wake_readers (output);
  pthread_mutex_unlock (&self->lock);
  return output;
}

/* The rest of the attempt is not kept; the command knows nothing of it. */
static void
fail (IrisdKeptOutput *self)
{
  static IrisdLogSite site;
  irisd_log_limited (&site, IRISD_LOG_WARNING,
                     "the output of item %" G_GUINT64_FORMAT " cannot be kept: %s", self->item,
                     g_strerror (errno));
  self->failed = TRUE;
}

/* Under the lock. */
static gboolean
has_dir (IrisdOutputs *self)
{
  if (self->dir_fd < 0 && (mkdir (self->dir, 0700) == 0 || errno == EEXIST))
    self->dir_fd = open_dir (self->dir);
  return self->dir_fd >= 0;
}

/* Begins another file, and removes the oldest one that is not spared. */
static gboolean
next_segment (IrisdKeptOutput *self)
{
  IrisdOutputs *outputs = self->outputs;
  char name[IRISD_OUTPUT_NAME_SIZE];
  pthread_mutex_lock (&outputs->lock);
  guint n = self->segments->len;
  guint32 segment = n == 0 ? 0 : g_array_index (self->segments, guint32, n - 1) + 1;
  irisd_output_make_name (name, self->item, segment);
  int fd = self->removed || !has_dir (outputs)
               ? -1
               : openat (outputs->dir_fd, name,
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0)
    {
      if (n >= IRISD_OUTPUT_SEGMENTS)
        remove_segment (self, self->n_spared);
      g_array_append_val (self->segments, segment);
      self->n_whole = 0;
      count (self, BLOCK, 0);
      make_room (outputs);
    }
  pthread_mutex_unlock (&outputs->lock);
  if (self->fd >= 0)
    close (self->fd);
  self->fd = fd;
  self->in_segment = 0;
  return fd >= 0;
}

static guint64
blocks (guint64 size)
{
  return (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* Lets readers see what was written. Returns whether the output is still wanted. */
static gboolean
publish (IrisdKeptOutput *self, gsize size)
{
  pthread_mutex_lock (&self->outputs->lock);
  gboolean wanted = !self->removed;
  if (wanted)
    {
      count (self, blocks (self->in_segment + size), blocks (self->in_segment));
      self->n_whole = self->in_segment + size;
      make_room (self->outputs);
      wake_readers (self);
    }
  pthread_mutex_unlock (&self->outputs->lock);
  self->in_segment += size;
  return wanted;
}

static void
write_piece (IrisdKeptOutput *self, guint channel, const guint8 *data, gsize size)
{
  IrisdOutputHead head = { .offset = self->offset, .size = (guint32) size, .channel = channel };
  head.checksum = irisd_output_get_checksum (&head, data);
  if ((self->fd < 0 || self->in_segment >= self->segment_size) && !next_segment (self))
    {
      if (!self->removed)
        fail (self);
      return;
    }
  const struct iovec parts[] = { { &head, sizeof head }, { (void *) data, size } };
  ssize_t n = writev (self->fd, parts, 2);
  if (n != (ssize_t) (sizeof head + size))
    {
      if (n >= 0)
        errno = ENOSPC;
      fail (self);
    }
  else if (!publish (self, (gsize) n))
    self->failed = TRUE;
}

void
irisd_kept_output_write (IrisdKeptOutput *self, guint channel, const guint8 *data, gsize size)
{
  for (gsize done = 0; done < size;)
    {
      gsize n = MIN (MIN (size - done, IRISD_OUTPUT_PIECE), self->segment_size);
      if (!self->failed)
        write_piece (self, channel, data + done, n);
      self->offset += n;
      done += n;
    }
}

/* The attempt has ended, and writes nothing any more. */
void
irisd_kept_output_end (IrisdKeptOutput *self)
{
  IrisdOutputs *outputs = self->outputs;
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  pthread_mutex_lock (&outputs->lock);
  self->written = FALSE;
  if (!self->removed && self->segments->len > 0)
    set_ended (self, TRUE);
  wake_readers (self);
  unref (self);
  pthread_mutex_unlock (&outputs->lock);
}
