/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The name that an item for another node has in the cluster.
 *
 * Under that name the cluster keeps the item's end, and an item has one end. An item that failed
 * and is kicked is to have another one, so it gets another name, in the transaction that records
 * the kick.
 */
#include "daemon/store/irisd-cluster-name.h"

#include <iris/wire/iris-wire.h>

/* @header is that of a stored SUBMIT. One without such a name stays as it is, as does one that
 * cannot be read: it fails when it is to run. */
void
irisd_cluster_name_renew (IrisdBlob *header)
{
  const guint8 type = IRIS_WIRE_SUBMIT;
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 }, { &type, 1 }, { id, sizeof id },
    { header->data, header->size }, { NULL, 0 },
  };
  guint32 name[IRIS_WIRE_ID_SIZE / sizeof (guint32)];
  IrisWireLimits limits = *iris_wire_limits_default ();
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage item;

  limits.max_header = limits.max_string = G_MAXINT;
  limits.max_args = limits.max_entries = G_MAXINT;
  iris_wire_encoder_init (&encoder, &limits);
  if (!iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &limits, &item, NULL)
      || !iris_wire_message_has (&item, IRIS_WIRE_KEY_CLUSTER_ITEM))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (name); i++)
    name[i] = g_random_int ();
  iris_wire_message_set_cluster_item (&item, (const guint8 *) name);
  if (!iris_wire_encode (&encoder, &item, NULL))
    return;
  /* @item borrows from what is freed here, and is encoded. */
  g_free (header->data);
  header->size = encoder.frames[3].size;
  header->data = g_memdup2 (encoder.frames[3].data, header->size);
}
