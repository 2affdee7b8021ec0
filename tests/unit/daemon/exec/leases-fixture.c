/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A table of leases with a clock that is made up, workers and items for it.
 */
#include "leases-fixture.h"

IrisdLeases *leases;
gint64 now;

static gboolean
may_give (IrisdLeaseEntry *entry, gpointer user_data)
{
  return !((Item *) entry)->owes;
}

static void
hold (IrisdLeaseEntry *entry, gpointer user_data)
{
  ((Item *) entry)->n_holds++;
}

static void
give (IrisdWorker *lease_worker, guint64 lease, IrisdLeaseEntry *entry, gpointer user_data)
{
  Worker *worker = (Worker *) lease_worker;
  Item *item = (Item *) entry;
  ck_assert_uint_le (lease_worker->leased, lease_worker->capacity);
  ck_assert_uint_eq (item->n_ends, 0);
  g_array_append_val (worker->given, lease);
  item->worker = worker;
  item->lease = lease;
}

static void
stop (IrisdWorker *lease_worker, guint64 lease, IrisWireError why, gpointer user_data)
{
  Worker *worker = (Worker *) lease_worker;
  worker->stopped++;
  worker->why = why;
}

static void
end_badly (IrisdLeaseEntry *entry, IrisWireError why, gpointer user_data)
{
  Item *item = (Item *) entry;
  item->n_ends++;
  item->why = why;
  item->worker = NULL;
}

static void
begin_to_wait (IrisdLeaseEntry *entry, gpointer user_data)
{
}

static const IrisdLeaseEvents events = { .may_give = may_give,
                                         .hold = hold,
                                         .give = give,
                                         .wait = begin_to_wait,
                                         .stop = stop,
                                         .fail = end_badly };

void
set_up (void)
{
  static const IrisdLeaseRules rules = {
    .lease_us = LEASE_US, .wait_us = WAIT_US, .attempts = 3, .max_services = 4, .n_places = N_PLACES
  };
  now = 1;
  leases = irisd_leases_new (&rules, &events, NULL);
}

void
tear_down (void)
{
  irisd_leases_expire (leases, G_MAXINT64 - 1);
  irisd_leases_free (leases);
}

void
worker_init (Worker *self)
{
  memset (self, 0, sizeof *self);
  self->given = g_array_new (FALSE, FALSE, sizeof (guint64));
}

gboolean
try_enroll (Worker *self, gint place, guint capacity, const char *names, GError **error)
{
  g_auto (GStrv) list = g_strsplit (names, " ", -1);
  guint n = *names != '\0' ? g_strv_length (list) : 0;
  g_autoptr (IrisWireServices) services = iris_wire_services_new (n);
  for (guint i = 0; i < n; i++)
    services->services[i].name = g_strdup (list[i]);
  return irisd_leases_enroll (leases, &self->base, place, capacity, services, now, error);
}

void
enroll (Worker *self, gint place, guint capacity, const char *names)
{
  ck_assert (try_enroll (self, place, capacity, names, NULL));
}

void
leave (Worker *self)
{
  irisd_leases_leave (leases, &self->base, now);
  ck_assert_uint_eq (self->base.leased, 0);
  g_array_unref (self->given);
}

void
item_init (Item *self, guint number)
{
  *self = (Item){ .entry = { .place = IRIS_PLACE_ANY }, .number = number };
}

void
add (Item *self, const char *name)
{
  ck_assert (irisd_leases_add (leases, &self->entry, name, now));
}

void
done (Worker *worker, Item *item)
{
  IrisdLeaseEntry *entry = NULL;
  ck_assert_ptr_eq (item->worker, worker);
  ck_assert_int_eq (irisd_leases_done (leases, &worker->base, item->lease, now, &entry),
                    IRISD_LEASE_ENDED);
  ck_assert_ptr_eq (entry, &item->entry);
  item->worker = NULL;
  item->n_ends++;
}
