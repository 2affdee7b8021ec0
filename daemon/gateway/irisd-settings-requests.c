/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about the settings in force: RELOAD and KEYS.
 *
 * The main thread reads files and publishes settings, so a RELOAD goes to it by a mailbox. It comes
 * back with the outcome and travels from gateway to gateway: each takes the new settings, and cuts
 * off whom they do not admit, before it passes the request on. So when the client has its answer no
 * gateway acts by older settings.
 */
#include "daemon/gateway/irisd-settings-requests.h"

#include "daemon/base/irisd-broadcast.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-session.h"
#include "daemon/gateway/irisd-submit.h"

#include <string.h>

typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *home; /* the gateway of the connection that asks */
  guint visited;      /* gateways that have the settings */
  IrisdPeer *peer;    /* the client that asks; belongs to @home */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint n_changed;
  char *text;
  GError *error;
} Reload;

static void
reload_free (IrisdBroadcast *broadcast)
{
  Reload *self = (Reload *) broadcast;
  irisd_peer_unref (self->peer);
  g_clear_error (&self->error);
  g_free (self->text);
  g_free (self);
}

static void
answer (IrisdGateway *gateway, const Reload *self)
{
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    return;
  if (self->error != NULL)
    {
      irisd_send_refusal (gateway, &caller, self->request_id, self->error);
      return;
    }
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_CHANGED, self->request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_COUNT, self->n_changed);
  iris_wire_message_set_string (&reply, IRIS_WIRE_KEY_MESSAGE, self->text, -1);
  irisd_send_answer (gateway, &caller, &reply);
}

/* The gateways are visited in their order, and @home again at the end. */
static void
run (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  Reload *self = (Reload *) broadcast;
  const IrisdCore *core = gateway->core;
  irisd_session_follow_settings (gateway);
  if (self->visited < core->n_gateways)
    irisd_mailbox_post (&core->gateways[self->visited++]->mailbox, &broadcast->message);
  else if (gateway != self->home)
    irisd_mailbox_post (&self->home->mailbox, &broadcast->message);
  else
    {
      answer (gateway, self);
      reload_free (broadcast);
    }
}

static const IrisdBroadcastClass reload_class = { .run = run, .free = reload_free };

/* Has the main thread read the configuration again; the answer comes later. */
void
irisd_settings_requests_reload (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request)
{
  if (!irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  Reload *reload = g_new0 (Reload, 1);
  irisd_broadcast_init (&reload->base, &reload_class);
  reload->home = self;
  reload->peer = irisd_peer_ref (caller->peer);
  reload->peer->n_questions++;
  memcpy (reload->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  irisd_mailbox_post (&self->core->main_mailbox, &reload->base.message);
  irisd_core_wake_main (self->core);
}

/* Returns @message, a RELOAD, to its gateway: with @text, which says what changed, or an @error.
 * For the main thread. */
void
irisd_settings_requests_answer (IrisdMessage *message,
                                guint n_changed,
                                const char *text,
                                const GError *error)
{
  Reload *self = (Reload *) irisd_broadcast_from_message (message);
  const gsize most = self->home->core->wire_limits.max_string;
  self->n_changed = n_changed;
  if (error != NULL)
    self->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                               "the configuration stays as it was: %s", error->message);
  else if (strlen (text) <= most)
    self->text = g_strdup (text);
  else
    self->text = g_strdup_printf ("%u settings changed; irisd's log has a line for each",
                                  n_changed);
  irisd_mailbox_post (&self->home->mailbox, message);
}

/* Messages that the main thread takes no more; the gateways have ended. */
void
irisd_settings_requests_drop (IrisdMessage *messages)
{
  while (messages != NULL)
    {
      IrisdMessage *next = messages->next;
      reload_free (irisd_broadcast_from_message (messages));
      messages = next;
    }
}

static void
describe_key (IrisdKeyUse *use, const IrisdKey *key, IrisWireClientKey *out)
{
  gint64 seen_ms;
  guint n_connections;
  irisd_key_use_get (use, key->owner, &n_connections, &seen_ms);
  *out = (IrisWireClientKey){
    .name = g_strdup (key->name),
    .public_key = g_strdup (key->public_key),
    .roles = irisd_roles_to_text (key->roles),
    .any_service = key->services == NULL,
    .services = g_strdupv (key->services),
    .rate = key->rate,
    .owner = (guint64) key->owner,
    .connections = n_connections,
    .seen_ms = (guint64) seen_ms,
  };
}

void
irisd_settings_requests_answer_keys (IrisdGateway *self,
                                     const IrisdCaller *caller,
                                     const IrisWireMessage *request)
{
  const IrisdKeys *keys = irisd_core_get_settings (self->core)->keys;
  const gboolean one = iris_wire_message_has (request, IRIS_WIRE_KEY_KEY_NAME);
  g_autofree char *name = one ? iris_wire_string_dup (&request->key_name) : NULL;
  g_autoptr (IrisWireClientKeys) list = iris_wire_client_keys_new (irisd_keys_get_count (keys));
  guint n = 0;
  for (guint i = 0; i < irisd_keys_get_count (keys); i++)
    {
      const IrisdKey *key = irisd_keys_get (keys, i);
      if (!one || g_str_equal (key->name, name))
        describe_key (&self->core->key_use, key, &list->keys[n++]);
    }
  list->n_keys = n;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = iris_wire_client_keys_encode (list, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_KEYS_REPLY, request->request_id);
  const char *dir = irisd_keys_get_dir (keys);
  if (dir != NULL)
    iris_wire_message_set_string (&reply, IRIS_WIRE_KEY_PATH, dir, -1);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}
