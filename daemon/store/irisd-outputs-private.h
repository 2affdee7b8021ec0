/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of kept outputs, for their writer and their readers.
 */
#pragma once

#include "daemon/store/irisd-output-reader.h"

#include <pthread.h>
#include <sys/queue.h>

G_BEGIN_DECLS

/* An output is divided into this many files of the same size, of which the oldest goes when it is
 * too long; the policy says whether the first half are spared. */
#define IRISD_OUTPUT_SEGMENTS 4

/* What precedes each piece in a file, in the byte order of the machine. */
typedef struct
{
  guint64 offset;
  guint32 size;
  guint32 channel;
  guint32 checksum; /* of the three before and the bytes */
  guint32 unused;
} IrisdOutputHead;

/* Under the lock of the outputs, but for what is the writer's own. */
struct _IrisdKeptOutput
{
  guint64 item; /* first, because it is the key of a table */
  IrisdOutputs *outputs;
  guint refs;       /* of the table, the writer, and readers */
  guint attempt;    /* raised when another attempt begins */
  GArray *segments; /* guint32, the files that are there, in order */
  guint64 n_whole;  /* bytes of the last file that readers may read */
  guint64 on_disk;  /* bytes that it counts for */
  gboolean written; /* an attempt writes it */
  gboolean removed; /* it is not in the table any more */
  GList ended;      /* in the list of those that no attempt writes */
  STAILQ_HEAD (, _IrisdOutputReader) waiting;

  /*< the writer's own >*/
  guint64 segment_size;
  guint64 in_segment;
  guint64 offset; /* how much the command has written */
  guint n_spared; /* files of the beginning that are not removed */
  int fd;
  gboolean failed; /* could not be written; the rest of this attempt is not kept */
};

struct _IrisdOutputs
{
  pthread_mutex_t lock; /* a POSIX one, because ThreadSanitizer knows those */
  char *dir;
  int dir_fd; /* -1: there is no directory yet */
  guint64 most;
  guint64 size;
  GHashTable *by_item;
  GQueue ended; /* outputs that no attempt writes, the longest ended first */
};

struct _IrisdOutputReader
{
  IrisdKeptOutput *output;
  guint attempt;
  guint64 skip_until; /* pieces before that offset are skipped */
  guint32 segment;
  int fd; /* -1: between two files */
  guint64 position;
  IrisdOutputHead head;
  gsize taken; /* bytes of the piece that were given out */
  gboolean waits;
  IrisdMailbox *mailbox;
  IrisdMessage *message;
  STAILQ_ENTRY (_IrisdOutputReader) next;
  guint8 piece[IRISD_OUTPUT_PIECE];
};

/* "ITEM-SEGMENT" in hexadecimal. */
#define IRISD_OUTPUT_NAME_SIZE 26

void irisd_output_make_name (char *name, guint64 item, guint32 segment);
guint32 irisd_output_get_checksum (const IrisdOutputHead *head, const guint8 *data);
IrisdKeptOutput *irisd_outputs_ref (IrisdOutputs *self, guint64 item);
void irisd_kept_output_unref (IrisdKeptOutput *self);

G_END_DECLS
