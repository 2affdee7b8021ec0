/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bodies of items and ends that are larger than a message.
 *
 * The body is stored first and then the message that refers to it, so a reference that was ever
 * published leads to a body. All bodies of an item have one owner, its home and its id, by which
 * its home removes them when it has the end: those of hosts that were killed, too.
 */
#include "irisd-stored-body.h"

/* Two tokens of a subject. A node's name is a token as it is. */
char *
irisd_stored_body_get_owner (const IrisWireString *home, const guint8 *item)
{
  char text[IRISD_ITEM_TEXT_SIZE];
  g_autofree char *name = iris_wire_string_dup (home);
  g_autofree char *token = irisd_subject_escape (name);

  irisd_item_to_text (item, text);
  return g_strconcat (token, ".", text, NULL);
}

/* What tools see. */
char *
irisd_stored_body_get_name (const char *owner, gboolean result)
{
  return g_strconcat (owner, result ? ".result" : ".item", NULL);
}

/* Returns: (transfer full): the same as @message, which was made by this node without a body, but
 * with @reference for it; or NULL if it cannot be. */
guint8 *
irisd_stored_body_refer (const IrisdBridgeShared *shared,
                         gconstpointer message,
                         gsize size,
                         const IrisdObjectReference *reference,
                         gsize *new_size)
{
  IrisdWorkMessage decoded;

  if (!irisd_work_message_decode (&decoded, message, size, shared->secret, NULL))
    return NULL;
  decoded.stored = TRUE;
  decoded.reference = *reference;
  return irisd_work_message_encode (&decoded, shared->secret, new_size, NULL);
}

/* Removes one result, which is not that of the end. */
void
irisd_stored_body_remove (const IrisdBridgeShared *shared, const char *owner, const char *nuid)
{
  irisd_object_store_remove (shared->bodies, owner, nuid);
}

/* The item has ended, and its home has all of the end. */
void
irisd_stored_body_remove_all (const IrisdBridgeShared *shared, const char *owner)
{
  g_autofree char *item = irisd_stored_body_get_name (owner, FALSE);
  g_autofree char *result = irisd_stored_body_get_name (owner, TRUE);

  irisd_object_store_remove (shared->bodies, owner, NULL);
  irisd_object_store_remove_name (shared->bodies, item);
  irisd_object_store_remove_name (shared->bodies, result);
}
