/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A reader of an item's kept output: from the beginning, at its own speed.
 *
 * It has its own descriptor and its own copy of one piece, so a slow one costs the writer and other
 * readers nothing. A file that was removed while it is open is read to its end. When another
 * attempt begins, the reader begins with that one, and offsets begin at 0 again. One thread at a
 * time uses a reader.
 */
#include "daemon/store/irisd-output-reader.h"

#include "daemon/store/irisd-outputs-private.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Pieces that ended before @offset are skipped. */
IrisdOutputReader *
irisd_output_reader_new (IrisdOutputs *outputs, guint64 item, guint64 offset)
{
  IrisdOutputReader *self = g_new0 (IrisdOutputReader, 1);
  self->output = irisd_outputs_ref (outputs, item);
  self->skip_until = offset;
  self->fd = -1;
  pthread_mutex_lock (&outputs->lock);
  self->attempt = self->output->attempt;
  pthread_mutex_unlock (&outputs->lock);
  return self;
}

/* It does not wait. */
void
irisd_output_reader_free (IrisdOutputReader *self)
{
  if (self == NULL)
    return;
  if (self->fd >= 0)
    close (self->fd);
  irisd_kept_output_unref (self->output);
  g_free (self);
}

/* Its offset is one of that attempt: if another one has begun, nothing is passed over. */
void
irisd_output_reader_expect (IrisdOutputReader *self, guint attempt)
{
  if (self->attempt != attempt)
    self->skip_until = 0;
}

/* Of what was read last. */
guint
irisd_output_reader_get_attempt (const IrisdOutputReader *self)
{
  return self->attempt;
}

static void
leave_segment (IrisdOutputReader *self)
{
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  self->position = 0;
}

/* Under the lock. Opens the first file at or after the one that is due. */
static gboolean
open_segment (IrisdOutputReader *self)
{
  const GArray *segments = self->output->segments;
  char name[IRISD_OUTPUT_NAME_SIZE];
  for (guint i = 0; i < segments->len; i++)
    {
      guint32 segment = g_array_index (segments, guint32, i);
      if (segment < self->segment)
        continue;
      irisd_output_make_name (name, self->output->item, segment);
      self->segment = segment;
      self->fd = openat (self->output->outputs->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
      if (self->fd >= 0)
        return TRUE;
    }
  return FALSE;
}

/* Under the lock. How many bytes of the open file may be read, and whether it may still grow. */
static guint64
get_bound (IrisdOutputReader *self, gboolean *last)
{
  const GArray *segments = self->output->segments;
  *last = segments->len > 0
          && g_array_index (segments, guint32, segments->len - 1) == self->segment;
  return *last ? self->output->n_whole : G_MAXUINT64;
}

/* Finds a file with another piece; without one, returns FALSE. */
static gboolean
go_to_piece (IrisdOutputReader *self)
{
  IrisdKeptOutput *output = self->output;
  gboolean found = FALSE, last = FALSE;
  pthread_mutex_lock (&output->outputs->lock);
  if (self->attempt != output->attempt)
    {
      leave_segment (self);
      self->attempt = output->attempt;
      self->segment = 0;
      self->skip_until = 0;
    }
  if (self->fd >= 0 || open_segment (self))
    {
      guint64 bound = get_bound (self, &last);
      found = self->position + sizeof self->head <= bound;
      if (!found && !last)
        found = TRUE; /* the end of the file will tell */
    }
  pthread_mutex_unlock (&output->outputs->lock);
  return found;
}

static gboolean
read_all (IrisdOutputReader *self, gpointer data, gsize size)
{
  gsize done = 0;
  while (done < size)
    {
      ssize_t n = pread (self->fd, (char *) data + done, size - done,
                         (off_t) (self->position + done));
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      done += (gsize) n;
    }
  self->position += size;
  return TRUE;
}

/* Reads a piece. At the end of a file, or at bytes that were not written so, the next file is
 * due. */
static gboolean
read_piece (IrisdOutputReader *self)
{
  IrisdOutputHead *head = &self->head;
  self->taken = 0;
  if (read_all (self, head, sizeof *head) && head->size > 0 && head->size <= IRISD_OUTPUT_PIECE
      && read_all (self, self->piece, head->size)
      && irisd_output_get_checksum (head, self->piece) == head->checksum)
    return TRUE;
  *head = (IrisdOutputHead){ 0 };
  leave_segment (self);
  self->segment++;
  return FALSE;
}

/* Gives out at most @most bytes, of one channel. Returns FALSE if there are none now, also if @most
 * is 0. */
gboolean
irisd_output_reader_read (IrisdOutputReader *self, gsize most, IrisdOutputPart *part)
{
  while (self->taken >= self->head.size)
    {
      if (!go_to_piece (self))
        return FALSE;
      if (read_piece (self) && self->head.offset < self->skip_until)
        self->taken = (gsize) MIN (self->skip_until - self->head.offset, self->head.size);
    }
  *part = (IrisdOutputPart){
    .channel = self->head.channel,
    .offset = self->head.offset + self->taken,
    .data = self->piece + self->taken,
    .size = MIN (most, self->head.size - self->taken),
  };
  self->taken += part->size;
  return TRUE;
}

/* Has @message posted to @mailbox once, when there may be more to read. Returns FALSE if there may
 * be now. */
gboolean
irisd_output_reader_wait (IrisdOutputReader *self, IrisdMailbox *mailbox, IrisdMessage *message)
{
  IrisdKeptOutput *output = self->output;
  gboolean last = FALSE;
  pthread_mutex_lock (&output->outputs->lock);
  gboolean more = self->attempt != output->attempt;
  if (!more && self->fd >= 0)
    more = self->position < get_bound (self, &last) || !last;
  else if (!more && output->segments->len > 0)
    more = g_array_index (output->segments, guint32, output->segments->len - 1) >= self->segment;
  if (!more)
    {
      self->waits = TRUE;
      self->mailbox = mailbox;
      self->message = message;
      STAILQ_INSERT_TAIL (&output->waiting, self, next);
    }
  pthread_mutex_unlock (&output->outputs->lock);
  return !more;
}

/* Returns FALSE if the message has been posted. */
gboolean
irisd_output_reader_stop_waiting (IrisdOutputReader *self)
{
  pthread_mutex_lock (&self->output->outputs->lock);
  gboolean waited = self->waits;
  if (waited)
    STAILQ_REMOVE (&self->output->waiting, self, _IrisdOutputReader, next);
  self->waits = FALSE;
  pthread_mutex_unlock (&self->output->outputs->lock);
  return waited;
}
