/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node leaves in the cluster that no other node may run: the items that are strict as to it.
 *
 * The stream is asked how many messages the subjects of such items have. Unlike the consumer, which
 * may be gone, it counts what was delivered and is not acknowledged, too.
 */
#include "daemon/cluster/members/irisd-leftovers.h"

#include "daemon/cluster/engine/irisd-subjects.h"

typedef struct
{
  IrisdLeftoversFunc func;
  gpointer user_data;
} Count;

static void
add (JsonObject *subjects, const char *subject, JsonNode *number, gpointer user_data)
{
  guint64 *sum = user_data;
  if (JSON_NODE_HOLDS_VALUE (number))
    *sum += (guint64) MAX (json_node_get_int (number), 0);
}

static void
take_info (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  g_autofree Count *count = user_data;
  JsonNode *state = reply != NULL ? json_object_get_member (reply, "state") : NULL;
  guint64 sum = 0;
  if (state != NULL && JSON_NODE_HOLDS_OBJECT (state))
    {
      JsonNode *subjects = json_object_get_member (json_node_get_object (state), "subjects");
      if (subjects != NULL && JSON_NODE_HOLDS_OBJECT (subjects))
        json_object_foreach_member (json_node_get_object (subjects), add, &sum);
    }
  count->func (sum, error, count->user_data);
}

/* Calls @func with the number of items in @work_stream that are strict as to @node. */
void
irisd_leftovers_count (IrisdEngine *engine,
                       const char *work_stream,
                       const char *node,
                       IrisdLeftoversFunc func,
                       gpointer user_data)
{
  g_autofree char *subject = g_strconcat ("$JS.API.STREAM.INFO.", work_stream, NULL);
  g_autofree char *json = g_strdup_printf (
      "{\"subjects_filter\":\"" IRISD_SUBJECT_WORK "%s.strict.>\"}", node);
  Count *count = g_new (Count, 1);
  *count = (Count){ func, user_data };
  irisd_engine_request (engine, subject, json, 0, take_info, count);
}
