/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is sent for items of this node.
 */
#include "irisd-away-message.h"

#include <string.h>

/* The end of a cancelled item. */
guint8 *
irisd_away_make_claim (const IrisdBridgeShared *shared,
                       IrisWireEncoder *encoder,
                       const guint8 *item,
                       gsize *size)
{
  IrisWireMessage error;
  IrisdWorkMessage claim = {
    .kind = IRISD_WORK_MESSAGE_END,
    .type = IRIS_WIRE_ERROR_REPLY,
    .cancelled = TRUE,
    .made_ms = g_get_real_time () / 1000,
    .home = { shared->node, strlen (shared->node) },
  };

  iris_wire_message_init (&error, IRIS_WIRE_ERROR_REPLY, item);
  iris_wire_message_set_uint (&error, IRIS_WIRE_KEY_CODE, IRIS_WIRE_ERROR_CANCELLED);
  iris_wire_message_set_string (&error, IRIS_WIRE_KEY_ERROR_NAME,
                                iris_wire_error_name (IRIS_WIRE_ERROR_CANCELLED), -1);
  iris_wire_message_set_string (&error, IRIS_WIRE_KEY_MESSAGE,
                                "the item was cancelled before it was done", -1);
  if (!iris_wire_encode (encoder, &error, NULL))
    return NULL;
  claim.header = encoder->frames[3];
  memcpy (claim.item, item, sizeof claim.item);
  return irisd_work_message_encode (&claim, shared->secret, size, NULL);
}

static char *
dup_if (const IrisWireMessage *message, IrisWireKey key, const IrisWireString *string)
{
  return iris_wire_message_has (message, key) && string->len > 0 ? iris_wire_string_dup (string)
                                                                 : NULL;
}

/* Where the item of @submit is published. */
char *
irisd_away_make_subject (const IrisWireMessage *submit)
{
  g_autofree char *node = dup_if (submit, IRIS_WIRE_KEY_NODE, &submit->node);
  g_autofree char *place = dup_if (submit, IRIS_WIRE_KEY_HINT_NAME, &submit->hint_name);
  g_autofree char *service = iris_wire_string_dup (&submit->service);

  if (node == NULL)
    g_clear_pointer (&place, g_free);
  return irisd_subject_for_work (node, node != NULL && submit->strict, place, service);
}
