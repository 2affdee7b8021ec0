/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item of another node is here, whether one that failed is tried again, and how long
 * completions are gathered. Pure.
 */
#include "irisd-guest-rules.h"

#include <string.h>

/* A node that does not have the service gives an item back if it was delivered at most so often
 * beyond its retries, for another one that has it. */
#define MOST_ELSEWHERE 3

/* Completions are left unread for so long at most, and only if as many are expected to come
 * meanwhile. */
#define MOST_REST_NS   G_GUINT64_CONSTANT (40000000)
#define LEAST_REST_NS  G_GUINT64_CONSTANT (2000000)
#define LEAST_TOGETHER 8

#define DEFAULT_BACKOFF_MS 1000
#define MOST_BACKOFF_MS    3600000

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

/* The keys of a SUBMIT that its home deals with, or that are about other items of it. */
#define HOME_KEYS                                                                                 \
  (K (CLASS) | K (KEY) | K (KEEP_MS) | K (DETACH) | K (BURY) | K (SESSION) | K (DELAY_MS)         \
   | K (AT_MS) | K (AFTER) | K (AFTER_AWAY) | K (AFTER_HOW) | K (RETRIES) | K (BACKOFF_MS)        \
   | K (DEADLINE_MS) | K (QUEUE) | K (HOOK) | K (NEAR_ITEM) | K (WAIT_FOR_SERVICE) | K (ANY_NODE) \
   | K (NODE))

#define PLACE_KEYS (K (HINT) | K (HINT_NAME) | K (STRICT))

static gboolean
is_node (const IrisWireString *name, const char *node)
{
  return name->len == strlen (node) && memcmp (name->data, node, name->len) == 0;
}

/* Sets @out to the SUBMIT of the bridge of @node for @submit, which came with @from. */
void
irisd_guest_make_submit (const IrisdWorkMessage *from,
                         const IrisWireMessage *submit,
                         const char *node,
                         IrisWireMessage *out)
{
  *out = *submit;
  /* A place of another node means nothing here, and its order neither. */
  if (!iris_wire_message_has (out, IRIS_WIRE_KEY_NODE) || !is_node (&out->node, node))
    out->present &= ~PLACE_KEYS;
  else if ((out->present & (K (HINT) | K (HINT_NAME) | K (NEAR_PATH))) == 0)
    out->present &= ~K (STRICT); /* strict as to the node */
  out->present &= ~HOME_KEYS;
  out->klass = IRIS_WIRE_CLASS_VOLATILE;
  iris_wire_message_set_boolean (out, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_uint (out, IRIS_WIRE_KEY_FOR_OWNER, from->owner);
  if (from->key_name.len > 0)
    iris_wire_message_set_string (out, IRIS_WIRE_KEY_KEY_NAME, from->key_name.data,
                                  (gssize) from->key_name.len);
  iris_wire_message_set_cluster_item (out, from->item);
}

/* The pause after so many tries. */
guint64
irisd_guest_get_backoff_ms (const IrisWireMessage *submit, guint64 n_tries)
{
  guint64 first = submit->backoff_ms;

  if (!iris_wire_message_has (submit, IRIS_WIRE_KEY_BACKOFF_MS))
    first = DEFAULT_BACKOFF_MS;
  first = MIN (first, MOST_BACKOFF_MS);
  return MIN (first << MIN (n_tries - 1, 12), MOST_BACKOFF_MS);
}

/* Whether another delivery of an item that failed with @code may end otherwise. @n_delivered counts
 * all deliveries, @n_tries those that may have run. */
gboolean
irisd_guest_may_try_again (const IrisdWorkMessage *from,
                           const IrisWireMessage *submit,
                           guint64 n_delivered,
                           guint64 n_tries,
                           guint code)
{
  switch (code)
    {
    case IRIS_WIRE_ERROR_UNKNOWN_SERVICE:
      return n_delivered <= (guint64) from->tries + MOST_ELSEWHERE && !submit->strict;
    case IRIS_WIRE_ERROR_CANCELLED:
    case IRIS_WIRE_ERROR_BAD_ARGUMENT:
    case IRIS_WIRE_ERROR_NOT_PERMITTED:
    case IRIS_WIRE_ERROR_NO_SUCH_PLACE:
    case IRIS_WIRE_ERROR_TOO_LARGE:
      return FALSE;
    default:
      return n_tries <= from->tries;
    }
}

/* How long the bridge reads no completions, in microseconds, while items that run for @mean_run_ns
 * are in hand. Each group of ends that is stored costs the servers a round of their replicas, and
 * each completion that is read alone wakes a thread. Half of the work in hand stays for the time in
 * which more is asked for. Few or long items are not waited for: their ends are not delayed. */
gint64
irisd_guest_get_rest_us (guint64 n_in_hand, guint64 mean_run_ns, guint n_workers)
{
  guint64 rest_ns;

  if (mean_run_ns == 0 || mean_run_ns > MOST_REST_NS || n_workers == 0)
    return 0;
  rest_ns = MIN (n_in_hand * mean_run_ns / n_workers / 2, MOST_REST_NS);
  if (rest_ns < LEAST_REST_NS || rest_ns * n_workers / mean_run_ns < LEAST_TOGETHER)
    return 0;
  return (gint64) (rest_ns / 1000);
}
