/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of leases, with a clock that is made up.
 */
#include "core-test-run.h"
#include "leases-fixture.h"

TEST (an_item_goes_to_a_worker_of_its_service_and_ends_once)
{
  Worker worker;
  Item item;
  IrisdLeaseEntry *entry = NULL;
  worker_init (&worker);
  item_init (&item, 0);
  ck_assert (!irisd_leases_add (leases, &item.entry, "thumbnail", now));
  enroll (&worker, IRIS_PLACE_ANY, 1, "thumbnail");
  ck_assert (irisd_leases_knows (leases, IRISD_SPACE_SHARED, "thumbnail", FALSE, now));
  ck_assert (!irisd_leases_knows (leases, IRISD_SPACE_SHARED, "rotate", FALSE, now));
  add (&item, "thumbnail");
  ck_assert_uint_eq (worker.given->len, 1);
  ck_assert_uint_eq (item.entry.attempts, 1);
  done (&worker, &item);
  ck_assert_int_eq (irisd_leases_done (leases, &worker.base, item.lease, now, &entry),
                    IRISD_LEASE_UNKNOWN);
  ck_assert_uint_eq (worker.base.done, 1);
  leave (&worker);
}

TEST (capacity_is_persistent_and_the_oldest_comes_first)
{
  Worker worker;
  Item items[5];
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 2, "a b");
  for (guint i = 0; i < 5; i++)
    {
      item_init (&items[i], i);
      add (&items[i], i % 2 == 0 ? "a" : "b");
    }
  ck_assert_uint_eq (worker.given->len, 2);
  for (guint i = 0; i < 5; i++)
    {
      ck_assert_uint_eq (worker.given->len, MIN (i + 2, 5));
      done (&worker, &items[i]);
    }
  leave (&worker);
}

TEST (workers_share_and_the_longest_idle_is_next)
{
  Worker workers[2];
  Item items[4];
  for (guint i = 0; i < 2; i++)
    {
      worker_init (&workers[i]);
      enroll (&workers[i], IRIS_PLACE_ANY, 2, "a");
    }
  for (guint i = 0; i < 4; i++)
    {
      item_init (&items[i], i);
      add (&items[i], "a");
      ck_assert_ptr_eq (items[i].worker, &workers[i % 2]);
    }
  for (guint i = 0; i < 4; i++)
    done (&workers[i % 2], &items[i]);
  leave (&workers[0]);
  leave (&workers[1]);
}

TEST (a_hint_is_a_wish_and_a_strict_one_an_order)
{
  Worker here, there;
  Item wish, order, other;
  worker_init (&here);
  worker_init (&there);
  enroll (&here, 0, 1, "a");
  enroll (&there, 1, 1, "a");
  item_init (&wish, 0);
  item_init (&order, 1);
  item_init (&other, 2);
  wish.entry.place = order.entry.place = 1;
  order.entry.strict = TRUE;
  add (&wish, "a");
  ck_assert_ptr_eq (wish.worker, &there); /* though the other one is idle for longer */
  add (&order, "a");
  ck_assert_ptr_null (order.worker);
  add (&other, "a");
  ck_assert_ptr_eq (other.worker, &here);
  done (&here, &other);
  ck_assert_ptr_null (order.worker);
  done (&there, &wish);
  ck_assert_ptr_eq (order.worker, &there);
  wish.n_ends = 0;
  add (&wish, "a");
  ck_assert_ptr_eq (wish.worker, &here); /* its wish has no capacity left */
  done (&here, &wish);
  done (&there, &order);
  leave (&here);
  leave (&there);
}

TEST (what_a_lost_worker_had_goes_to_others_at_once_and_in_order)
{
  Worker lost, other;
  Item items[4];
  IrisdLeaseEntry *entry = NULL;
  worker_init (&lost);
  worker_init (&other);
  enroll (&lost, IRIS_PLACE_ANY, 3, "a");
  for (guint i = 0; i < 4; i++)
    {
      item_init (&items[i], i);
      add (&items[i], "a");
    }
  guint64 old = items[0].lease;
  enroll (&other, IRIS_PLACE_ANY, 0, "a");
  leave (&lost);
  enroll (&other, IRIS_PLACE_ANY, 1, "a");
  for (guint i = 0; i < 4; i++)
    {
      ck_assert_uint_eq (items[i].entry.attempts, i < 3 ? 2 : 1);
      done (&other, &items[i]);
    }
  ck_assert_int_eq (irisd_leases_done (leases, &other.base, old, now, &entry), IRISD_LEASE_UNKNOWN);
  leave (&other);
}

TEST (an_item_is_leased_so_often_and_then_fails)
{
  Item item;
  item_init (&item, 0);
  for (guint i = 0; i < 3; i++)
    {
      Worker worker;
      worker_init (&worker);
      enroll (&worker, IRIS_PLACE_ANY, 1, "a");
      if (i == 0)
        add (&item, "a");
      ck_assert_uint_eq (item.n_ends, 0);
      ck_assert_uint_eq (item.entry.attempts, i + 1);
      leave (&worker);
    }
  ck_assert_uint_eq (item.n_ends, 1);
  ck_assert_uint_eq (item.why, IRIS_WIRE_ERROR_WORKER_LOST);
}

TEST (a_tireless_item_is_leased_again_and_again)
{
  Item item;
  IrisdLeaseEntry *entry = NULL;
  Worker worker;
  item_init (&item, 0);
  item.entry.tireless = TRUE;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  add (&item, "a");
  for (guint i = 1; i < 10; i++)
    {
      ck_assert_uint_eq (item.entry.attempts, i);
      if (i % 2 == 0)
        ck_assert_int_eq (
            irisd_leases_give_back (leases, &worker.base, item.lease, TRUE, now, &entry),
            IRISD_LEASE_AGAIN);
      else
        {
          now += LEASE_US;
          irisd_leases_expire (leases, now);
          irisd_leases_give_back (leases, &worker.base,
                                  g_array_index (worker.given, guint64, i - 1), FALSE, now, &entry);
        }
    }
  ck_assert_uint_eq (item.n_ends, 0);
  done (&worker, &item);
  leave (&worker);
}

/* A worker process would be waited for. */
TEST (a_tireless_patient_item_is_put_off_by_a_drain)
{
  Item items[2];
  Worker worker;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 2, "a");
  for (guint i = 0; i < 2; i++)
    {
      item_init (&items[i], i);
      items[i].entry.patient = TRUE;
      items[i].entry.tireless = i == 0;
      add (&items[i], "a");
    }
  irisd_leases_drain (leases);
  ck_assert_uint_eq (items[0].n_ends, 1);
  ck_assert_uint_eq (items[0].why, IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_uint_eq (worker.stopped, 1);
  ck_assert_uint_eq (worker.why, IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_uint_eq (items[1].n_ends, 0);
  done (&worker, &items[1]);
  leave (&worker);
}

TEST (a_lease_ends_with_its_time_and_can_be_extended)
{
  Worker slow, other;
  Item item;
  IrisdLeaseEntry *entry = NULL;
  worker_init (&slow);
  worker_init (&other);
  enroll (&slow, IRIS_PLACE_ANY, 1, "a");
  item_init (&item, 0);
  add (&item, "a");
  guint64 lease = item.lease;
  ck_assert_int_eq (irisd_leases_next (leases), now + LEASE_US);
  now += LEASE_US - 1;
  irisd_leases_expire (leases, now);
  ck_assert_uint_eq (slow.stopped, 0);
  ck_assert (irisd_leases_extend (leases, &slow.base, lease, LEASE_US * 9, now));
  ck_assert_int_eq (irisd_leases_next (leases), now + LEASE_US); /* never for longer than a lease */
  now += LEASE_US - 1;
  irisd_leases_expire (leases, now);
  ck_assert_uint_eq (slow.stopped, 0);
  enroll (&other, IRIS_PLACE_ANY, 1, "a");
  now++;
  irisd_leases_expire (leases, now);
  ck_assert_uint_eq (slow.stopped, 1);
  ck_assert_uint_eq (slow.why, IRIS_WIRE_ERROR_NO_SUCH_LEASE);
  ck_assert_uint_eq (slow.base.lost, 1);
  ck_assert_ptr_eq (item.worker, &other);
  ck_assert (!irisd_leases_extend (leases, &slow.base, lease, LEASE_US, now));
  ck_assert_ptr_null (irisd_leases_find (leases, &slow.base, lease));
  /* It counts against the capacity until it is answered; and then it is refused. */
  ck_assert_uint_eq (slow.base.leased, 1);
  ck_assert_int_eq (irisd_leases_done (leases, &slow.base, lease, now, &entry),
                    IRISD_LEASE_UNKNOWN);
  ck_assert_ptr_null (entry);
  ck_assert_uint_eq (slow.base.leased, 0);
  done (&other, &item);
  leave (&slow);
  leave (&other);
}

TEST (a_failure_ends_the_item_or_has_it_tried_again)
{
  Worker worker;
  Item item;
  IrisdLeaseEntry *entry = NULL;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  item_init (&item, 0);
  add (&item, "a");
  for (guint i = 0; i < 2; i++)
    {
      ck_assert_int_eq (
          irisd_leases_give_back (leases, &worker.base, item.lease, TRUE, now, &entry),
          IRISD_LEASE_AGAIN);
      ck_assert_ptr_null (entry);
      ck_assert_uint_eq (item.entry.attempts, i + 2);
    }
  ck_assert_int_eq (irisd_leases_give_back (leases, &worker.base, item.lease, TRUE, now, &entry),
                    IRISD_LEASE_ENDED);
  ck_assert_ptr_eq (entry, &item.entry);
  item_init (&item, 1);
  add (&item, "a");
  ck_assert_int_eq (irisd_leases_give_back (leases, &worker.base, item.lease, FALSE, now, &entry),
                    IRISD_LEASE_ENDED);
  ck_assert_int_eq (irisd_leases_give_back (leases, &worker.base, item.lease, FALSE, now, &entry),
                    IRISD_LEASE_UNKNOWN);
  ck_assert_uint_eq (worker.base.failed, 4);
  leave (&worker);
}

TEST (a_withdrawn_item_is_gone_wherever_it_was)
{
  Worker worker;
  Item leased, waiting;
  IrisdLeaseEntry *entry = NULL;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  item_init (&leased, 0);
  item_init (&waiting, 1);
  add (&leased, "a");
  add (&waiting, "a");
  ck_assert_int_eq (irisd_leases_withdraw (leases, &waiting.entry, now), IRISD_LEASE_ENTRY_WAITED);
  ck_assert_int_eq (irisd_leases_withdraw (leases, &waiting.entry, now), IRISD_LEASE_ENTRY_GONE);
  ck_assert_int_eq (irisd_leases_withdraw (leases, &leased.entry, now),
                    IRISD_LEASE_ENTRY_WAS_LEASED);
  ck_assert_uint_eq (worker.stopped, 1);
  ck_assert_uint_eq (worker.why, IRIS_WIRE_ERROR_CANCELLED);
  /* The worker is not given more before it has stopped. */
  item_init (&waiting, 2);
  add (&waiting, "a");
  ck_assert_ptr_null (waiting.worker);
  ck_assert_int_eq (irisd_leases_give_back (leases, &worker.base, leased.lease, FALSE, now, &entry),
                    IRISD_LEASE_STOPPED);
  ck_assert_ptr_null (entry);
  done (&worker, &waiting);
  leave (&worker);
}

TEST (a_service_without_a_worker_waits_a_while)
{
  Worker worker;
  Item items[2];
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 0, "a");
  item_init (&items[0], 0);
  item_init (&items[1], 1);
  add (&items[0], "a");
  leave (&worker);
  ck_assert_int_eq (irisd_leases_next (leases), now + WAIT_US);
  now += WAIT_US - 1;
  irisd_leases_expire (leases, now);
  add (&items[1], "a");
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a"); /* a worker came in time */
  ck_assert_int_eq (irisd_leases_next (leases), now + LEASE_US);
  done (&worker, &items[0]);
  leave (&worker);
  now += WAIT_US;
  irisd_leases_expire (leases, now);
  ck_assert_uint_eq (items[1].n_ends, 1);
  ck_assert_uint_eq (items[1].why, IRIS_WIRE_ERROR_NO_WORKER);
  ck_assert (!irisd_leases_knows (leases, IRISD_SPACE_SHARED, "a", FALSE, now));
  ck_assert_int_eq (irisd_leases_next (leases), G_MAXINT64);
}

TEST (a_patient_item_waits_for_as_long_as_there_is_no_server)
{
  Worker worker;
  Item patient, other;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 0, "a");
  item_init (&patient, 0);
  item_init (&other, 1);
  patient.entry.patient = TRUE;
  add (&patient, "a");
  leave (&worker);
  now += WAIT_US - 1;
  add (&other, "a");
  now += 1;
  irisd_leases_expire (leases, now);
  ck_assert_uint_eq (other.n_ends, 0); /* it came later, and has its own time */
  ck_assert_int_eq (irisd_leases_next (leases), now + WAIT_US - 1);
  now += WAIT_US - 1;
  irisd_leases_expire (leases, now);
  ck_assert_uint_eq (other.n_ends, 1);
  ck_assert_uint_eq (other.why, IRIS_WIRE_ERROR_NO_WORKER);
  ck_assert_uint_eq (patient.n_ends, 0);
  ck_assert_int_eq (irisd_leases_next (leases), G_MAXINT64);
  ck_assert (irisd_leases_knows (leases, IRISD_SPACE_SHARED, "a", TRUE, now));
  ck_assert (!irisd_leases_knows (leases, IRISD_SPACE_SHARED, "a", FALSE, now));
  now += 1000 * WAIT_US;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  done (&worker, &patient);
  leave (&worker);
  now += WAIT_US;
  irisd_leases_expire (leases, now);
  ck_assert (!irisd_leases_knows (leases, IRISD_SPACE_SHARED, "a", TRUE, now));
}

TEST (an_expected_service_is_known_before_its_first_server)
{
  Item item;
  irisd_leases_expect (leases, IRISD_SPACE_SHARED, "soon", FALSE, now);
  irisd_leases_expect (leases, IRISD_SPACE_SHARED, "always", TRUE, now);
  item_init (&item, 0);
  add (&item, "always");
  now += WAIT_US;
  irisd_leases_expire (leases, now);
  ck_assert_uint_eq (item.why, IRIS_WIRE_ERROR_NO_WORKER);
  ck_assert (!irisd_leases_knows (leases, IRISD_SPACE_SHARED, "soon", TRUE, now));
  ck_assert (irisd_leases_knows (leases, IRISD_SPACE_SHARED, "always", FALSE, now));
  ck_assert_int_eq (irisd_leases_next (leases), G_MAXINT64);
}

TEST (expected_services_leave_room_for_served_ones)
{
  Worker worker;
  for (guint i = 0; irisd_leases_has_room_to_expect (leases, IRISD_SPACE_SHARED); i++)
    {
      g_autofree char *name = g_strdup_printf ("soon-%u", i);
      irisd_leases_expect (leases, IRISD_SPACE_SHARED, name, FALSE, now);
      ck_assert_uint_lt (i, 1000);
    }
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a b soon-0");
  ck_assert (irisd_leases_has_room_to_expect (leases, IRISD_SPACE_SHARED));
  leave (&worker);
}

TEST (an_item_is_not_leased_after_its_deadline)
{
  Worker workers[2];
  Item item;
  worker_init (&workers[0]);
  worker_init (&workers[1]);
  enroll (&workers[0], IRIS_PLACE_ANY, 1, "a");
  item_init (&item, 0);
  item.entry.patient = TRUE;
  item.entry.deadline = now + 1;
  add (&item, "a");
  ck_assert_ptr_eq (item.worker, &workers[0]);
  enroll (&workers[1], IRIS_PLACE_ANY, 1, "a");
  now += 1;
  leave (&workers[0]);
  ck_assert_uint_eq (item.n_ends, 1);
  ck_assert_uint_eq (item.why, IRIS_WIRE_ERROR_DEADLINE_PASSED);
  leave (&workers[1]);
}

TEST (draining_leases_put_off_what_no_worker_has)
{
  Worker worker;
  Item items[3];
  for (guint i = 0; i < 3; i++)
    {
      item_init (&items[i], i);
      items[i].entry.patient = TRUE;
    }
  irisd_leases_expect (leases, IRISD_SPACE_SHARED, "b", FALSE, now);
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  add (&items[0], "a");
  add (&items[1], "a");
  add (&items[2], "b");
  irisd_leases_drain (leases);
  ck_assert_uint_eq (items[2].why, IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_uint_eq (items[1].why, IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_uint_eq (items[0].n_ends, 0);
  done (&worker, &items[0]);
  leave (&worker);
}

TEST (what_is_leased_outlives_the_name_of_its_service)
{
  Worker worker;
  Item item;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 2, "a b");
  item_init (&item, 0);
  add (&item, "a");
  enroll (&worker, IRIS_PLACE_ANY, 2, "b"); /* serves it no more, but has it */
  now += WAIT_US;
  irisd_leases_expire (leases, now);
  ck_assert (!irisd_leases_knows (leases, IRISD_SPACE_SHARED, "a", FALSE, now));
  ck_assert_uint_eq (item.n_ends, 0);
  done (&worker, &item);
  item_init (&item, 1);
  enroll (&worker, IRIS_PLACE_ANY, 2, "a");
  add (&item, "a");
  enroll (&worker, IRIS_PLACE_ANY, 2, "");
  now += WAIT_US;
  irisd_leases_expire (leases, now);
  leave (&worker); /* no worker to give it to, and no name to wait under */
  ck_assert_uint_eq (item.n_ends, 1);
  ck_assert_uint_eq (item.why, IRIS_WIRE_ERROR_NO_WORKER);
}

TEST (an_item_is_passed_over_while_its_client_has_too_much_unacknowledged)
{
  Worker worker;
  Item items[2];
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 0, "a");
  for (guint i = 0; i < 2; i++)
    {
      item_init (&items[i], i);
      items[i].owes = i == 0;
      add (&items[i], "a");
    }
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  ck_assert_uint_eq (items[0].n_holds, 1);
  ck_assert_int_eq (irisd_leases_withdraw (leases, &items[0].entry, now), IRISD_LEASE_ENTRY_GONE);
  done (&worker, &items[1]);
  items[0].owes = FALSE;
  add (&items[0], "a");
  done (&worker, &items[0]);
  leave (&worker);
}

static guint64
restore (Item *item, gint64 owner, gint64 left_us)
{
  irisd_leases_expect (leases, IRISD_SPACE_SHARED, "a", FALSE, now);
  item_init (item, 0);
  item->entry.attempts = 1;
  item->entry.patient = TRUE;
  guint64 lease = irisd_leases_restore (leases, &item->entry, "a", owner, left_us, now);
  ck_assert_uint_ne (lease, 0);
  ck_assert_int_eq (irisd_leases_get_state (&item->entry), IRISD_LEASE_ENTRY_WAS_LEASED);
  return lease;
}

TEST (a_restored_lease_belongs_to_the_worker_that_claims_it)
{
  Worker pending, old;
  Item item;
  IrisdLeaseEntry *entry = NULL;
  guint64 lease = restore (&item, 7, LEASE_US);
  worker_init (&pending);
  worker_init (&old);
  pending.base.owner = 8;
  old.base.owner = 7;
  ck_assert_ptr_null (irisd_leases_find (leases, &old.base, lease)); /* not enrolled */
  enroll (&pending, IRIS_PLACE_ANY, 1, "a");
  enroll (&old, IRIS_PLACE_ANY, 1, "a");
  ck_assert_uint_eq (pending.given->len + old.given->len, 0);
  ck_assert (!irisd_leases_extend (leases, &pending.base, lease, LEASE_US, now));
  ck_assert (irisd_leases_extend (leases, &old.base, lease, LEASE_US, now));
  ck_assert_uint_eq (old.base.leased, 1);
  ck_assert_int_eq (irisd_leases_done (leases, &old.base, lease, now, &entry), IRISD_LEASE_ENDED);
  ck_assert_ptr_eq (entry, &item.entry);
  ck_assert_uint_eq (old.base.leased, 0);
  leave (&pending);
  leave (&old);
}

TEST (a_restored_lease_ends_with_its_time_which_is_that_of_a_new_one_at_most)
{
  Worker worker;
  Item item;
  guint64 lease = restore (&item, 0, LEASE_US * 9);
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  ck_assert_int_eq (irisd_leases_next (leases), now + LEASE_US);
  now += LEASE_US;
  irisd_leases_expire (leases, now);
  ck_assert_ptr_eq (item.worker, &worker);
  ck_assert_uint_eq (item.entry.attempts, 2);
  ck_assert_ptr_null (irisd_leases_find (leases, &worker.base, lease));
  done (&worker, &item);
  leave (&worker);
}

TEST (a_restored_lease_can_be_withdrawn_and_does_not_hold_up_the_end)
{
  Worker worker;
  Item withdrawn, away, closed;
  guint64 lease = restore (&withdrawn, 0, LEASE_US);
  ck_assert_int_eq (irisd_leases_withdraw (leases, &withdrawn.entry, now),
                    IRISD_LEASE_ENTRY_WAS_LEASED);
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  ck_assert_ptr_null (irisd_leases_find (leases, &worker.base, lease));
  restore (&closed, 0, LEASE_US);
  restore (&away, 0, LEASE_US);
  irisd_leases_drain (leases);
  ck_assert_uint_eq (away.n_ends, 1);
  ck_assert_uint_eq (away.why, IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert (away.entry.away);
  irisd_leases_close (leases);
  ck_assert_uint_eq (closed.n_ends, 1);
  leave (&worker);
}

TEST (too_many_services_are_refused_and_nothing_changes)
{
  Worker worker;
  g_autoptr (GError) error = NULL;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a b");
  ck_assert (!try_enroll (&worker, IRIS_PLACE_ANY, 1, "b c d e", &error));
  ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE));
  ck_assert_ptr_nonnull (strstr (error->message, "total-worker-services (4)"));
  ck_assert (irisd_leases_knows (leases, IRISD_SPACE_SHARED, "a", FALSE, now));
  ck_assert (!irisd_leases_knows (leases, IRISD_SPACE_SHARED, "c", FALSE, now));
  leave (&worker);
}

TEST (closing_ends_everything)
{
  Worker worker;
  Item leased, waiting, late;
  worker_init (&worker);
  enroll (&worker, IRIS_PLACE_ANY, 1, "a");
  item_init (&leased, 0);
  item_init (&waiting, 1);
  item_init (&late, 2);
  add (&leased, "a");
  add (&waiting, "a");
  irisd_leases_close (leases);
  ck_assert_uint_eq (leased.why, IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_uint_eq (waiting.why, IRIS_WIRE_ERROR_SHUTTING_DOWN);
  ck_assert_uint_eq (worker.stopped, 1);
  add (&late, "a");
  ck_assert_uint_eq (late.n_ends, 1);
  leave (&worker);
  ck_assert_uint_eq (leased.n_ends, 1);
}

TEST_MAIN ("irisd-leases", set_up, tear_down)
