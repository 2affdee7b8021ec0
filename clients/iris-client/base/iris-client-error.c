/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can go wrong between a program and irisd.
 *
 * An item that failed was still queued at a place and run at a place, and a program that counts
 * items by place wants to know which. The error carries both, as an extended error of GLib.
 */
#include "iris-client-error-private.h"

/* Places are kept plus one, so that the zeroed state of a new error says "none". */
typedef struct
{
  int home_plus_one;
  int place_plus_one;
  guint64 item;
} IrisClientErrorPrivate;

static void
iris_client_error_private_init (IrisClientErrorPrivate *priv)
{
  *priv = (IrisClientErrorPrivate){ 0 };
}

static void
iris_client_error_private_copy (const IrisClientErrorPrivate *from, IrisClientErrorPrivate *to)
{
  *to = *from;
}

static void
iris_client_error_private_clear (IrisClientErrorPrivate *priv)
{
}

/**
 * iris_client_error_quark:
 *
 * Gets the domain of the errors of libiris-client, whose codes are those of [error@ClientError].
 *
 * Returns: the domain
 */
G_DEFINE_EXTENDED_ERROR (IrisClientError, iris_client_error)

/* The nicks are the names of the protocol. */
G_DEFINE_ENUM_TYPE (IrisClientError,
                    iris_client_error,
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_FAILED, "failed"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_MALFORMED, "malformed"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_VERSION, "version"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_HELLO_REQUIRED, "hello-required"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_UNKNOWN_TYPE, "unknown-type"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_UNKNOWN_SERVICE, "unknown-service"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NO_SUCH_PLACE, "no-such-place"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_TOO_LARGE, "too-large"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_BAD_ARGUMENT, "bad-argument"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NOT_FOUND, "not-found"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_CANCELLED, "cancelled"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NO_SUCH_COMMAND, "no-such-command"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_UNREADABLE_FILE, "unreadable-file"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_SHUTTING_DOWN, "shutting-down"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_SERVICE_FAILED, "service-failed"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_DUPLICATE_ID, "duplicate-id"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_BUSY, "busy"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NOT_PERMITTED, "not-permitted"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_INTERNAL, "internal"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NOT_DURABLE, "not-durable"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_JOURNAL_FAILED, "journal-failed"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NO_SUCH_ITEM, "no-such-item"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_UNKNOWN_DEPENDENCY,
                                         "unknown-dependency"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_DEPENDENCY_FAILED, "dependency-failed"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_RAN_TOO_LONG, "ran-too-long"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NO_SUCH_LEASE, "no-such-lease"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NO_WORKER, "no-worker"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_WORKER_LOST, "worker-lost"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_TIME_LIMIT, "time-limit"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_BURIED, "buried"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NOT_REMEMBERED, "not-remembered"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_DEADLINE_PASSED, "deadline-passed"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_KEY_REVOKED, "key-revoked"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NO_CLUSTER, "no-cluster"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NO_SUCH_NODE, "no-such-node"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NODE_AWAY, "node-away"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_NOT_CONNECTED, "not-connected"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_TIMED_OUT, "timed-out"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_DISCONNECTED, "disconnected"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_QUEUE_FULL, "queue-full"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_PROTOCOL, "protocol"),
                    G_DEFINE_ENUM_VALUE (IRIS_CLIENT_ERROR_PENDING, "pending"))

/* Of the protocol's codes, which are below 100. */
static gboolean
is_known (guint code)
{
  g_autoptr (GEnumClass) codes = g_type_class_ref (IRIS_CLIENT_TYPE_ERROR);

  return code > 0 && code < IRIS_CLIENT_ERROR_NOT_CONNECTED
         && g_enum_get_value (codes, (gint) code) != NULL;
}

GError *
iris_client_error_new_from_wire (guint code, const char *reason, int home, int place)
{
  gboolean known = is_known (code);
  GError *error;
  IrisClientErrorPrivate *priv;

  if (reason == NULL || *reason == '\0')
    reason = "irisd reported an error without a message; see its log";
  error = g_error_new_literal (IRIS_CLIENT_ERROR, known ? (int) code : IRIS_CLIENT_ERROR_FAILED,
                               reason);
  priv = iris_client_error_get_private (error);
  priv->home_plus_one = home + 1;
  priv->place_plus_one = place + 1;
  return error;
}

/**
 * iris_client_error_get_name:
 * @error: an error of any domain
 *
 * Gets the stable name of the error's code, as the protocol spells it (`unreadable-file`).
 * For an error of another domain that is `failed`, except that a cancelled GIO call is `cancelled`.
 *
 * Returns: (transfer none): the name
 */
const char *
iris_client_error_get_name (const GError *error)
{
  g_return_val_if_fail (error != NULL, NULL);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return "cancelled";
  if (error->domain == IRIS_CLIENT_ERROR)
    {
      g_autoptr (GEnumClass) names = g_type_class_ref (IRIS_CLIENT_TYPE_ERROR);
      const GEnumValue *value = g_enum_get_value (names, error->code);

      if (value != NULL)
        return value->value_nick;
    }
  return "failed";
}

/* Of an error of another domain nothing is known. */
static const IrisClientErrorPrivate *
private_of (const GError *error)
{
  static const IrisClientErrorPrivate none;

  g_return_val_if_fail (error != NULL, &none);

  return error->domain == IRIS_CLIENT_ERROR ? iris_client_error_get_private (error) : &none;
}

/**
 * iris_client_error_get_home:
 * @error: an error of any domain
 *
 * Gets the place at which the failed item had been queued.
 *
 * Returns: the id of the place, or -1 if the item never got that far
 */
int
iris_client_error_get_home (const GError *error)
{
  return private_of (error)->home_plus_one - 1;
}

/**
 * iris_client_error_get_place:
 * @error: an error of any domain
 *
 * Gets the place at which the failed item ran.
 *
 * Returns: the id of the place, or -1 if the item did not run
 */
int
iris_client_error_get_place (const GError *error)
{
  return private_of (error)->place_plus_one - 1;
}

void
iris_client_error_set_item (GError *error, guint64 item)
{
  iris_client_error_get_private (error)->item = item;
}

/**
 * iris_client_error_get_item:
 * @error: an error of any domain
 *
 * Gets the number of the item that ended by the error.
 *
 * Returns: the number, or 0 if no item ended by it, or one that has no number
 */
guint64
iris_client_error_get_item (const GError *error)
{
  return private_of (error)->item;
}
