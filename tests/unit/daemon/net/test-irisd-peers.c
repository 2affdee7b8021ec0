/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Connections and their outboxes: order, limit, and age.
 */
#include "core-test-run.h"
#include "daemon/net/irisd-outbox.h"
#include "daemon/net/irisd-peer.h"

#include <check.h>
#include <errno.h>

static IrisdReply *
make_reply (guint8 number)
{
  const guint8 id[IRIS_WIRE_ID_SIZE] = { number };
  const guint8 type = IRIS_WIRE_PONG, header = 0x80;
  const IrisWireFrame frames[] = {
    { (const guint8 *) "IRS1", 4 }, { &type, 1 }, { id, sizeof id }, { &header, 1 }, { &number, 1 }
  };
  return irisd_reply_new (frames, NULL);
}

TEST (an_outbox_keeps_order_and_limit)
{
  void *context = zmq_ctx_new ();
  void *router = zmq_socket (context, ZMQ_ROUTER);
  void *dealer = zmq_socket (context, ZMQ_DEALER);
  int one = 1, none = 0;
  zmq_setsockopt (router, ZMQ_ROUTER_MANDATORY, &one, sizeof one);
  zmq_setsockopt (router, ZMQ_LINGER, &none, sizeof none);
  zmq_setsockopt (dealer, ZMQ_LINGER, &none, sizeof none);
  zmq_setsockopt (dealer, ZMQ_ROUTING_ID, "me", 2);
  ck_assert_int_eq (zmq_bind (router, "inproc://outbox"), 0);

  IrisdOutbox outbox = { 0 };
  IrisdRoute route = { 2, "me" };
  for (guint8 i = 0; i < 5; i++)
    ck_assert (irisd_outbox_push (&outbox, make_reply (i), 5));
  ck_assert (!irisd_outbox_push (&outbox, make_reply (5), 5));
  ck_assert_uint_eq (outbox.count, 5);

  /* No peer of that name is connected yet: nothing goes out, and nothing is lost. */
  ck_assert_int_eq (irisd_outbox_flush (&outbox, router, &route), EHOSTUNREACH);
  ck_assert_uint_eq (outbox.count, 5);

  ck_assert_int_eq (zmq_connect (dealer, "inproc://outbox"), 0);
  ck_assert_int_eq (zmq_send (dealer, "hello", 5, 0), 5);
  char bytes[32];
  ck_assert_int_eq (zmq_recv (router, bytes, sizeof bytes, 0), 2);
  ck_assert_int_eq (zmq_recv (router, bytes, sizeof bytes, 0), 5);
  ck_assert_int_eq (irisd_outbox_flush (&outbox, router, &route), 0);
  ck_assert_uint_eq (outbox.count, 0);
  for (guint8 i = 0; i < 5; i++)
    {
      const int sizes[] = { 4, 1, IRIS_WIRE_ID_SIZE, 1, 1 };
      for (guint frame = 0; frame < G_N_ELEMENTS (sizes); frame++)
        ck_assert_int_eq (zmq_recv (dealer, bytes, sizeof bytes, 0), sizes[frame]);
      ck_assert_int_eq (bytes[0], i);
    }
  ck_assert (irisd_outbox_push (&outbox, make_reply (9), 5));
  irisd_outbox_clear (&outbox);
  zmq_close (router);
  zmq_close (dealer);
  zmq_ctx_term (context);
}

TEST (peers_are_found_by_route_and_sorted_by_age)
{
  IrisdPeers peers;
  irisd_peers_init (&peers);
  IrisdRoute routes[3] = { { 1, "a" }, { 2, "ab" }, { 5, "\0\1\2\3\4" } };
  for (guint i = 0; i < 3; i++)
    ck_assert_ptr_null (irisd_peers_lookup (&peers, &routes[i]));
  for (guint i = 0; i < 3; i++)
    irisd_peers_add (&peers, &routes[i]);
  for (guint i = 0; i < 3; i++)
    ck_assert (irisd_route_equal (&irisd_peers_lookup (&peers, &routes[i])->route, &routes[i]));
  irisd_peers_touch (&peers, irisd_peers_lookup (&peers, &routes[0]));
  for (guint i = 1; i <= 3; i++)
    {
      IrisdPeer *oldest = irisd_peers_get_oldest (&peers);
      ck_assert (irisd_route_equal (&oldest->route, &routes[i % 3]));
      irisd_peers_remove (&peers, oldest);
    }
  ck_assert_uint_eq (irisd_peers_get_count (&peers), 0);
  irisd_peers_clear (&peers);
}

TEST_MAIN ("irisd-peers", NULL, NULL)
