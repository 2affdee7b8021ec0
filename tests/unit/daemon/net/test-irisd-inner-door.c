/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The door inside of the process: what shows the token is irisd's own, nothing else is.
 */
#include "core-test-run.h"
#include "daemon/net/irisd-inner-door.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

static IrisdRoute
make_route (const char *text)
{
  IrisdRoute route = { (guint8) strlen (text), "" };
  memcpy (route.bytes, text, route.size);
  return route;
}

TEST (only_a_routing_id_that_begins_with_the_token_has_an_address)
{
  void *context = zmq_ctx_new ();
  void *router = zmq_socket (context, ZMQ_ROUTER);
  IrisdInnerDoor *door = irisd_inner_door_new (router, NULL);
  ck_assert_ptr_nonnull (door);
  g_autofree char *own = g_strconcat (irisd_inner_door_get_token (door), "-7", NULL);
  g_autofree char *cut = g_strndup (own, strlen (irisd_inner_door_get_token (door)) - 1);
  g_autofree char *wrong = g_strdup (own);
  g_autofree char *address = g_strdup_printf ("localhost:%u:%u:%d", (guint) geteuid (),
                                              (guint) getegid (), (int) getpid ());
  wrong[3] = wrong[3] == '0' ? '1' : '0';
  IrisdRoute route = make_route (own);
  ck_assert_str_eq (irisd_inner_door_find_address (door, &route), address);
  ck_assert_ptr_null (irisd_inner_door_find_address (NULL, &route));
  route = make_route (cut);
  ck_assert_ptr_null (irisd_inner_door_find_address (door, &route));
  route = make_route (wrong);
  ck_assert_ptr_null (irisd_inner_door_find_address (door, &route));
  irisd_inner_door_free (door);
  zmq_close (router);
  zmq_ctx_term (context);
}

/* The routing id reaches the ROUTER, and its messages have no address: the gateway asks the door.
 */
TEST (a_connection_comes_with_its_routing_id_and_without_an_address)
{
  void *context = zmq_ctx_new ();
  void *router = zmq_socket (context, ZMQ_ROUTER);
  void *dealer = zmq_socket (context, ZMQ_DEALER);
  IrisdInnerDoor *door = irisd_inner_door_new (router, NULL);
  const char *token = irisd_inner_door_get_token (door);
  zmq_msg_t id, text;
  IrisdRoute route;
  int none = 0;
  zmq_setsockopt (dealer, ZMQ_LINGER, &none, sizeof none);
  zmq_setsockopt (dealer, ZMQ_ROUTING_ID, token, strlen (token));
  ck_assert_int_eq (zmq_connect (dealer, IRISD_INNER_ENDPOINT), 0);
  ck_assert_int_eq (zmq_send (dealer, "x", 1, 0), 1);
  zmq_msg_init (&id);
  zmq_msg_init (&text);
  ck_assert_int_gt (zmq_msg_recv (&id, router, 0), 0);
  ck_assert_int_eq (zmq_msg_recv (&text, router, 0), 1);
  irisd_route_init (&route, &id);
  ck_assert_ptr_null (zmq_msg_gets (&text, "Peer-Address"));
  ck_assert_ptr_nonnull (irisd_inner_door_find_address (door, &route));
  zmq_msg_close (&id);
  zmq_msg_close (&text);
  irisd_inner_door_free (door);
  zmq_close (dealer);
  zmq_close (router);
  zmq_ctx_term (context);
}

TEST_MAIN ("irisd-inner-door", NULL, NULL)
