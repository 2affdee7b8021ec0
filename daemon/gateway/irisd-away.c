/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items and requests that are for other nodes, or come from them.
 *
 * An item for another node gets a name that is unique in the cluster and becomes a leased item of
 * the service that only the bridge serves (irisd-worker-processes.c). Everything else about it is
 * as for any other item of this node.
 *
 * An item, or a request, of another node comes from the bridge, on behalf of its owner. While it is
 * handled, the bridge's peer has the owner, the roles and the turns of that owner, so the checks,
 * limits and views are the ones that a connection of that owner would have.
 */
#include "daemon/gateway/irisd-away.h"

#include "daemon/base/irisd-text.h"
#include "daemon/cluster/members/irisd-members.h"
#include "daemon/cluster/policy/irisd-item-route.h"
#include "daemon/items/irisd-placement.h"

#include <string.h>
#include <unistd.h>

/* Characters of an unknown name in a message. */
#define MAX_QUOTED 64

#define NEAR_KEYS \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_ITEM) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_PATH))
#define HINT_KEYS (IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME))

/* The client of the items of an owner on other nodes. Odd, so it is no object, and above all
 * processes (irisd_peer_set_client()). */
#define CLIENT_OF(owner) GSIZE_TO_POINTER (((gsize) 1 << 62) | ((gsize) (owner) << 1) | 1)

static gboolean
refuse (GError **error, IrisWireError code, const char *reason)
{
  g_set_error_literal (error, IRIS_WIRE_ERROR, (gint) code, reason);
  return FALSE;
}

static gboolean
refuse_alone (GError **error)
{
#ifdef IRISD_HAVE_CLUSTER
  return refuse (error, IRIS_WIRE_ERROR_NO_CLUSTER,
                 "this irisd is in no cluster: leave out the node, or have irisd join one, "
                 "[cluster] in its configuration");
#else
  return refuse (error, IRIS_WIRE_ERROR_NO_CLUSTER,
                 "this irisd is in no cluster: it was built without clusters; leave out the node, "
                 "or build irisd with -Dcluster=enabled");
#endif
}

static gboolean
refuse_for_now (GError **error)
{
  return refuse (error, IRIS_WIRE_ERROR_BUSY,
                 "this irisd has just started and does not know the cluster yet: try again");
}

/* Looks for the node @name. @own: whether it is this one. */
gboolean
irisd_away_find_node (IrisdGateway *self, const IrisWireString *name, gboolean *own, GError **error)
{
  IrisdClusterView *cluster = self->core->cluster;
  if (cluster == NULL)
    return refuse_alone (error);
  g_autofree char *text = iris_wire_string_dup (name);
  *own = strcmp (text, irisd_cluster_view_get_own (cluster)) == 0;
  if (*own || irisd_cluster_view_has_node (cluster, text))
    return TRUE;
  if (irisd_cluster_view_is_unknown (cluster))
    return refuse_for_now (error);
  g_autofree char *quoted = irisd_text_quote (text, -1, MAX_QUOTED);
  g_autofree char *names = irisd_cluster_view_list_nodes (cluster);
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_NODE,
               "there is no node “%s”: this cluster has %s", quoted, names);
  return FALSE;
}

/* Takes NODE/PLACE apart. */
static gboolean
split_hint (IrisWireMessage *item, GError **error)
{
  const IrisWireString whole = item->hint_name;
  const char *slash = iris_wire_message_has (item, IRIS_WIRE_KEY_HINT_NAME)
                          ? memchr (whole.data, '/', whole.len)
                          : NULL;
  if (slash == NULL)
    return TRUE;
  const gsize n = (gsize) (slash - whole.data);
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_NODE)
      && (item->node.len != n || memcmp (item->node.data, whole.data, n) != 0))
    return refuse (error, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "the node and the place NODE/PLACE name two nodes: name one");
  if (n == 0 || n + 1 == whole.len)
    return refuse (error, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "a place of another node is named NODE/PLACE, and one of the two is empty");
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_NODE, whole.data, (gssize) n);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_HINT_NAME, slash + 1,
                                (gssize) (whole.len - n - 1));
  return TRUE;
}

static void
drop_keys (IrisWireMessage *item, IrisWireKeys keys)
{
  item->present &= ~keys;
  if ((keys & IRIS_WIRE_BIT (IRIS_WIRE_KEY_NODE)) != 0)
    item->node = (IrisWireString){ 0 };
  if ((keys & IRIS_WIRE_BIT (IRIS_WIRE_KEY_ANY_NODE)) != 0)
    item->any_node = FALSE;
}

static gboolean
check_promise (IrisdGateway *self, const IrisWireMessage *item, GError **error)
{
  g_autofree char *why = item->klass == IRIS_WIRE_CLASS_DURABLE
                             ? irisd_cluster_view_get_refusal (self->core->cluster)
                             : NULL;
  if (why == NULL)
    return TRUE;
  if (irisd_cluster_view_is_unknown (self->core->cluster))
    return refuse_for_now (error);
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_DURABLE,
               "a durable item cannot go to another node: %s", why);
  return FALSE;
}

static gboolean
check_names (const IrisWireMessage *item, GError **error)
{
  const gsize n = item->service.len
                  + (iris_wire_message_has (item, IRIS_WIRE_KEY_HINT_NAME) ? item->hint_name.len
                                                                           : 0);
  if (n <= IRISD_ITEM_MOST_NAMES)
    return TRUE;
  g_set_error (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "an item cannot go to another node: the names of its service and place have %" G_GSIZE_FORMAT
      " bytes, and may have %d; shorten them",
      n, IRISD_ITEM_MOST_NAMES);
  return FALSE;
}

/* @item goes to another node from here on. */
static gboolean
send_away (IrisdGateway *self, IrisWireMessage *item, GError **error)
{
  guint32 name[IRIS_WIRE_ID_SIZE / sizeof (guint32)];
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_NEAR_ITEM))
    return refuse (error, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "an item for another node cannot be near an item of this one: leave out "
                   "near-item");
  if (!check_names (item, error) || !check_promise (self, item, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (name); i++)
    name[i] = g_random_int ();
  iris_wire_message_set_cluster_item (item, (const guint8 *) name);
  return TRUE;
}

/* @node: (nullable): any. Others may take it from there. */
static gboolean
send_to (IrisdGateway *self, IrisWireMessage *item, const char *node, GError **error)
{
  if (node != NULL)
    {
      drop_keys (item, IRIS_WIRE_BIT (IRIS_WIRE_KEY_ANY_NODE));
      iris_wire_message_set_string (item, IRIS_WIRE_KEY_NODE, node, -1);
    }
  else
    iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_ANY_NODE, TRUE);
  return send_away (self, item, error);
}

/* Where the policy has @item go, which is for any node that has its service; ANY while this node is
 * not in the picture. All nodes pull from ANY, so what only some can run goes to one of them. Sets
 * @node, for as long as irisd runs, if it is one. */
static IrisdItemRoute
choose_route (IrisdGateway *self, const IrisWireMessage *item, gboolean any_node, const char **node)
{
  IrisdItemRoute route = IRISD_ITEM_ANY;
  *node = NULL;
  if (self->core->members == NULL)
    return route;
  g_autoptr (IrisdMembers) members = irisd_members_box_get (self->core->members);
  const IrisdNodeMap map = irisd_members_get_map (members);
  const IrisdNodeView *own = irisd_node_map_find (&map, members->own);
  g_autofree char *service = iris_wire_string_dup (&item->service);
  if (own != NULL)
    {
      const IrisdOwnNode here = { .view = *own };
      const IrisdItemWish wish = {
        .service = service,
        .any_node = any_node,
        .lot = (guint64) g_random_int () << 32 | g_random_int (),
      };
      route = irisd_item_route_choose (&here, &map, &wish, g_get_monotonic_time (), node);
    }
  /* The nodes of a cluster are few. */
  *node = g_intern_string (*node);
  return route;
}

/* @item has the key `any-node`, as true. */
static gboolean
route_to_any (IrisdGateway *self, IrisWireMessage *item, GError **error)
{
  if (self->core->cluster == NULL)
    return refuse_alone (error);
  if (item->strict || item->hint >= 0 || iris_wire_message_has (item, IRIS_WIRE_KEY_HINT_NAME))
    return refuse (error, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "an item for any node has no place: leave out hint, hint-name and strict, or "
                   "any-node");
  const char *node = NULL;
  IrisdItemRoute route = irisd_cluster_view_is_empty (self->core->cluster)
                             ? IRISD_ITEM_LOCAL
                             : choose_route (self, item, TRUE, &node);
  if (route != IRISD_ITEM_LOCAL)
    return send_to (self, item, node, error);
  drop_keys (item, IRISD_AWAY_KEYS);
  return TRUE;
}

/* What only the bridge may say. */
static gboolean
check_bridge (const IrisdCaller *caller, const IrisWireMessage *request, GError **error)
{
  const IrisWireKeys keys = IRIS_WIRE_BIT (IRIS_WIRE_KEY_FOR_OWNER)
                            | IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEY_NAME)
                            | IRIS_WIRE_BIT (IRIS_WIRE_KEY_CLUSTER_ITEM);
  if ((request->present & keys) == 0)
    return TRUE;
  if (!caller->peer->bridge)
    return refuse (error, IRIS_WIRE_ERROR_NOT_PERMITTED,
                   "only the bridge of irisd's own user acts for other owners: leave out "
                   "for-owner, key-name and cluster-item");
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_FOR_OWNER))
    return TRUE;
  return refuse (error, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "key-name and cluster-item are about an item of another node: add for-owner");
}

/* What @item is to be near may have run on another node. */
static gboolean
is_near (IrisdGateway *self, const IrisWireMessage *item)
{
  return self->core->cluster != NULL && (item->present & NEAR_KEYS) != 0
         && (item->present & (IRIS_WIRE_BIT (IRIS_WIRE_KEY_NODE) | HINT_KEYS)) == 0
         && (item->present & NEAR_KEYS) != NEAR_KEYS && !(item->any_node && item->strict);
}

/* @item is to be near another one, or a path: it gets the node where that ran, or stays here if
 * that was here. If that is not known, or nodes take no such item, the wish has no effect; one that
 * is strict is refused later then. */
static void
settle_near (IrisdGateway *self, const IrisdCaller *caller, IrisWireMessage *item)
{
  gboolean known;
  const char *node = irisd_placement_find_node (&self->items, caller->peer, item, &known);
  if (node != NULL
      && (!irisd_cluster_view_has_node (self->core->cluster, node)
          || (!item->strict && !check_promise (self, item, NULL))))
    {
      node = NULL;
      known = FALSE;
    }
  if (known)
    drop_keys (item, IRIS_WIRE_BIT (IRIS_WIRE_KEY_ANY_NODE));
  if (node != NULL)
    {
      iris_wire_message_set_string (item, IRIS_WIRE_KEY_NODE, node, -1);
      /* The number means nothing there; that node knows the place of a path, but strict means the
       * node. */
      item->present &= ~(item->strict ? NEAR_KEYS : IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_ITEM));
    }
  else if (item->any_node)
    item->present &= ~NEAR_KEYS;
}

/* @item is a SUBMIT with a key of IRISD_CLUSTER_KEYS. Sets @out to what is to be done of it: as an
 * away item (irisd_is_away()), or here. */
gboolean
irisd_away_route (IrisdGateway *self,
                  const IrisdCaller *caller,
                  const IrisWireMessage *item,
                  IrisWireMessage *out,
                  GError **error)
{
  gboolean own = TRUE;
  *out = *item;
  if (!check_bridge (caller, item, error))
    return FALSE;
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_FOR_OWNER))
    {
      drop_keys (out, IRISD_AWAY_KEYS | IRIS_WIRE_BIT (IRIS_WIRE_KEY_AFTER_AWAY));
      return item->klass == IRIS_WIRE_CLASS_VOLATILE
             || refuse (error, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                        "an item of another node is recorded there: send it as volatile");
    }
  if (self->core->cluster != NULL && !split_hint (out, error))
    return FALSE;
  if (is_near (self, out))
    settle_near (self, caller, out);
  if (!iris_wire_message_has (out, IRIS_WIRE_KEY_NODE))
    return !out->any_node || route_to_any (self, out, error);
  if (!irisd_away_find_node (self, &out->node, &own, error))
    return FALSE;
  if (out->any_node)
    return refuse (error, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "an item is for one node or for any: leave out node or any-node");
  if (!own)
    return send_away (self, out, error);
  drop_keys (out, IRISD_AWAY_KEYS);
  /* Strict about this node, not about a place: items of its services stay here anyway. */
  if (out->strict && (out->present & (HINT_KEYS | NEAR_KEYS)) == 0
      && irisd_services_lookup (self->core->services, &out->service) != NULL)
    iris_wire_message_set_boolean (out, IRIS_WIRE_KEY_STRICT, FALSE);
  return TRUE;
}

/* Returns whether another node has the service of @item, which this one does not have. */
gboolean
irisd_away_has_service (IrisdGateway *self, const IrisWireMessage *item)
{
  if (self->core->cluster == NULL || item->strict || item->service.len == 0
      || iris_wire_message_has (item, IRIS_WIRE_KEY_FOR_OWNER))
    return FALSE;
  g_autofree char *name = iris_wire_string_dup (&item->service);
  return irisd_cluster_view_has_service (self->core->cluster, name);
}

/* The hint of @item, if it has one, is about this node, which does not have its service. */
gboolean
irisd_away_route_to_any (IrisdGateway *self, IrisWireMessage *item, GError **error)
{
  item->present &= ~(IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME)
                     | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_ITEM));
  const char *node;
  item->hint = IRIS_PLACE_ANY;
  choose_route (self, item, FALSE, &node);
  return send_to (self, item, node, error);
}

/* The owner is a key of the node that the request comes from. Keys of one owner and different names
 * are not the same. */
static const IrisdKey *
find_key (const IrisdConfig *settings, const IrisWireMessage *request, GError **error)
{
  const IrisdKey *key = irisd_keys_find_owner (settings->keys, (gint64) request->for_owner);
  g_autofree char *name = iris_wire_string_dup (&request->key_name);
  if (key != NULL && strcmp (key->name, name) == 0 && key->public_key[0] != '\0')
    return key;
  g_autofree char *quoted = irisd_text_quote (name, -1, MAX_QUOTED);
  g_set_error (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
      "the owner of the item is the key “%s”, which this node does not have; copy its file "
      "to the folder of keys of this node",
      quoted);
  return NULL;
}

/* Fills @caller as for a connection of the owner. */
static gboolean
set_caller (IrisdGateway *self, const IrisWireMessage *request, IrisdCaller *caller, GError **error)
{
  const IrisdConfig *settings = irisd_core_get_settings (self->core);
  const gint64 owner = (gint64) request->for_owner;
  caller->public_key = NULL;
  caller->over_tcp = owner < 0;
  caller->uid = owner >= 0 ? owner : IRISD_UID_UNKNOWN;
  if (irisd_owner_is_key (owner))
    {
      const IrisdKey *key = find_key (settings, request, error);
      caller->public_key = key != NULL ? key->public_key : NULL;
      return key != NULL;
    }
  if (owner < 0 || irisd_access_allows (&settings->access, IRISD_ACCESS_ENTER, owner))
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
               "this node does not admit the user %" G_GINT64_FORMAT
               "; ask its irisd's owner to name that user under [access] users",
               owner);
  return FALSE;
}

/* @request has the key `for-owner`. Until irisd_acting_end(), which has to come if this succeeds,
 * the bridge's peer is one of the owner. @acting->caller is the caller meanwhile. */
gboolean
irisd_acting_begin (IrisdGateway *self,
                    const IrisdCaller *caller,
                    const IrisWireMessage *request,
                    IrisdActing *acting,
                    GError **error)
{
  IrisdPeer *peer = caller->peer;
  *acting = (IrisdActing){
    .caller = *caller, .owner = peer->owner, .roles = peer->roles, .client = peer->client
  };
  if (!check_bridge (caller, request, error) || !set_caller (self, request, &acting->caller, error))
    return FALSE;
  const gint64 owner = acting->caller.uid;
  IrisdRoles roles = irisd_config_find_roles (irisd_core_get_settings (self->core), owner);
  if (!irisd_policy_check (request->type, roles, error))
    return FALSE;
  irisd_peer_ref (peer);
  peer->owner = owner != IRISD_UID_UNKNOWN ? owner : irisd_policy_new_guest ();
  peer->roles = roles;
  peer->client = CLIENT_OF (request->for_owner);
  return TRUE;
}

void
irisd_acting_end (IrisdActing *self)
{
  IrisdPeer *peer = self->caller.peer;
  peer->owner = self->owner;
  peer->roles = self->roles;
  peer->client = self->client;
  irisd_peer_unref (peer);
}
