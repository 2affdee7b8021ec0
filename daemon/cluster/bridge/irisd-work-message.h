/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What nodes send each other about an item: the item itself, its end, and requests about items with
 * their answers.
 *
 * Each is one run of bytes, the payload of a message of NATS:
 *
 *     0   4  "IRSC"
 *     4   1  version: 1; 2 if the body is in the store of large bodies; 3 if there is a chain
 *     5   1  kind: 1 an item, 2 an end, 3 a request about items of a node, 4 the answer to one,
 *            5 what an item tells while it runs, 6 the home's word about that
 *     6   1  type of the IRS1 message: SUBMIT, or RESULT or ERROR, or that of the request or
 *            answer; OUTPUT, PART, PROGRESS or PING; PONG
 *     7   1  flags: 1 the end stands for a cancel, or the run is not wanted any more;
 *            2 the request reaches the items of all owners;
 *            4 the body is a reference (IrisdObjectReference) to the body of the item or end;
 *            8 more of the same PART follows; 16 the word is sure;
 *            32 the item is a run of a schedule: in front of its body are the chain
 *            (IrisdRunChain), with which its host goes on, and before that its length, 4 bytes
 *     8  16  the item's id in the cluster; of a request and its answer, an id of the request
 *    24   8  the owner's number; of a request, whose items it reaches; of what a run tells, how
 *            many bytes came before; of a word, how many have come
 *    32   8  when the message was made, Unix time in milliseconds
 *    40   8  of an item: when it must have begun, Unix time in milliseconds; 0: no matter; of a
 *            word: how many bytes may come
 *    48   4  of an item: how often it may be tried again; of an end, what a run tells and a word:
 *            which try it is
 *    52   1  length of the home's name
 *    53   1  length of the name of the node that ran it, or that is asked
 *    54   1  length of the name of the owner's key
 *    55   1  0
 *    56   4  length of the IRS1 header
 *    60      home, node, key name, header, chain, body
 *    end-32  HMAC-SHA256 of everything before it, by the secret of the cluster
 *
 * Numbers are big-endian. The signature is what makes a host believe the owner: only a node that
 * has the secret can say on whose behalf an item runs. It also covers the ids, so the end of one
 * item is no end of another one. What a later version adds goes into the IRS1 header, of which
 * unknown keys are ignored; only what a host must not ignore needs a new version.
 */
#pragma once

#include "daemon/cluster/engine/irisd-object.h"

#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* The latest. A message has the first in which it can be said. */
#define IRISD_WORK_MESSAGE_VERSION        3
#define IRISD_WORK_MESSAGE_SIGNATURE_SIZE 32

/* What the bytes hold beside names, header and body. */
#define IRISD_WORK_MESSAGE_OVERHEAD (60 + IRISD_WORK_MESSAGE_SIGNATURE_SIZE)

/* A shorter secret could be found by trying. */
#define IRISD_CLUSTER_SECRET_LEAST 16

typedef enum
{
  IRISD_WORK_MESSAGE_ITEM = 1,
  IRISD_WORK_MESSAGE_END = 2,
  IRISD_WORK_MESSAGE_ASK = 3,
  IRISD_WORK_MESSAGE_ANSWER = 4,
  IRISD_WORK_MESSAGE_TOLD = 5,
  IRISD_WORK_MESSAGE_WORD = 6,
} IrisdWorkMessageKind;

/* Why bytes are refused. */
typedef enum
{
  IRISD_WORK_MESSAGE_ERROR_FOREIGN, /* no message of irisd */
  IRISD_WORK_MESSAGE_ERROR_NEWER,   /* one of a later version; a newer irisd can read it */
  IRISD_WORK_MESSAGE_ERROR_DAMAGED,
  IRISD_WORK_MESSAGE_ERROR_FORGED, /* the signature is not that of this cluster */
} IrisdWorkMessageError;

#define IRISD_WORK_MESSAGE_ERROR (irisd_work_message_error_quark ())
GQuark irisd_work_message_error_quark (void);

/* The secret of a cluster, ready to sign. One thread at a time. */
typedef struct _IrisdClusterSecret IrisdClusterSecret;

IrisdClusterSecret *irisd_cluster_secret_new (gconstpointer secret, gsize size, GError **error);
void irisd_cluster_secret_free (IrisdClusterSecret *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdClusterSecret, irisd_cluster_secret_free)

/* Decoded it borrows from the bytes; to be encoded, from wherever it likes. */
typedef struct
{
  IrisdWorkMessageKind kind;
  guint8 type;
  gboolean cancelled;
  gboolean all_owners; /* of a request */
  gboolean stored;     /* of an item or end: @reference leads to the body, and @body is nothing */
  gboolean continues;  /* of what a run tells */
  gboolean sure;       /* of a word */
  guint8 item[IRIS_WIRE_ID_SIZE];
  guint64 owner; /* or a number of bytes */
  gint64 made_ms;
  gint64 begin_ms; /* or a number of bytes */
  guint32 tries;
  IrisWireString home;
  IrisWireString node;
  IrisWireString key_name;
  IrisWireFrame header;
  IrisWireFrame body;
  IrisdObjectReference reference;
  IrisWireFrame chain; /* of an item; empty: none */
} IrisdWorkMessage;

guint8 *irisd_work_message_encode (const IrisdWorkMessage *self,
                                   IrisdClusterSecret *secret,
                                   gsize *size,
                                   GError **error);
gboolean irisd_work_message_decode (IrisdWorkMessage *self,
                                    gconstpointer data,
                                    gsize size,
                                    IrisdClusterSecret *secret,
                                    GError **error);
gboolean
irisd_work_message_open (const IrisdWorkMessage *self, IrisWireMessage *out, GError **error);
gsize irisd_work_message_get_size (const IrisdWorkMessage *self);

/* An item's id as text: 32 hexadecimal digits. */
#define IRISD_ITEM_TEXT_SIZE (2 * IRIS_WIRE_ID_SIZE + 1)

void irisd_item_to_text (const guint8 *item, char *text);
gboolean irisd_item_from_text (const char *text, gsize len, guint8 *item);

G_END_DECLS
