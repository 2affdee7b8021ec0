/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The time of day is set back and forth under load. A delay is measured by the monotonic clock, so
 * it ends on time; an item with a time of day waits for that time.
 */
#include "soak-faulty.h"
#include "soak-history.h"

#define WINDOW  48
#define KEEP_MS G_GUINT64_CONSTANT (2592000000)
#define DAY_NS  (G_GINT64_CONSTANT (86400) * 1000000000)

typedef struct
{
  SoakHistory history;
  SoakFaults *faults;
  gint64 base_ns; /* of this run of irisd; the next one is later than all times of this one */
  gint64 offset_ns;
  guint n_at; /* items that wait for a time of day */
} Clock;

static void
set_clock (Clock *self, gint64 offset_ns)
{
  self->offset_ns = offset_ns;
  atomic_store_explicit (&self->faults->clock_offset_ns, offset_ns, memory_order_relaxed);
}

static guint64
now_ms (Clock *self)
{
  return (guint64) (g_get_real_time () / 1000 + self->offset_ns / 1000000);
}

static void
send_one (Clock *self, Client *client)
{
  IrisWireMessage item;
  soak_history_fill (&self->history, client, &item, "echo",
                     soak_random (0, 1) == 0 ? IRIS_WIRE_CLASS_DURABLE : IRIS_WIRE_CLASS_RELAXED);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_MS, KEEP_MS);
  guint how = soak_random (0, 3);
  if (how == 0)
    iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, soak_random (1, 40));
  else if (how == 1)
    iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_AT_MS, now_ms (self) + soak_random (1, 40));
  self->n_at += how == 1;
  soak_history_send (&self->history, client, &item);
}

static void
take_one (Clock *self, Client *client)
{
  const IrisWireMessage *answer = client_receive (client);
  soak_history_take (&self->history, answer);
  ck_assert (answer->type == IRIS_WIRE_ACCEPTED || answer->type == IRIS_WIRE_RESULT
             || answer->type == IRIS_WIRE_PONG);
  if (answer->type == IRIS_WIRE_RESULT)
    client_ack (client, 1);
}

/* With the clock a day back, only items with a time of day may wait. */
static void
check_delays (Clock *self, Client *client)
{
  set_clock (self, self->base_ns - DAY_NS);
  IrisWireMessage item;
  soak_history_fill (&self->history, client, &item, "echo", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 20);
  soak_history_send (&self->history, client, &item);
  guint index = self->history.entries->len - 1;
  set_clock (self, self->base_ns - 2 * DAY_NS);
  while (g_array_index (self->history.entries, SoakEntry, index).ends == 0)
    take_one (self, client);
}

/* In between irisd is killed, and starts under another time of day. */
static void
run_life (Clock *self, Faulty *faulty, Home *home, guint n_items)
{
  self->base_ns += 5 * DAY_NS;
  set_clock (self, self->base_ns);
  Irisd *irisd = faulty_start (faulty, home, NULL);
  soak_history_demand (&self->history, irisd->front);
  Client *client = client_hello (irisd->front);
  for (guint sent = 0; sent < n_items;)
    {
      for (; sent < n_items && self->history.open < WINDOW; sent++)
        send_one (self, client);
      if (soak_random (0, 20) == 0)
        set_clock (self, self->base_ns + (soak_random (0, 1) == 0 ? -DAY_NS : DAY_NS));
      /* Items with a time of day must not fill the window for good. */
      if (self->history.open == WINDOW)
        set_clock (self, self->base_ns + DAY_NS);
      take_one (self, client);
    }
  check_delays (self, client);
  soak_note_peak (self->history.figures, irisd);
  irisd_kill (irisd);
  client_free (client);
  soak_history_forget_connection (&self->history);
}

void
soak_clock (SoakFigures *figures)
{
  guint n_lives = soak_times (2, 40);
  Home *home = home_new ();
  Faulty faulty;
  faulty_init (&faulty, home);
  Clock clock = { .faults = faulty.faults };
  soak_history_init (&clock.history, figures);
  for (guint i = 0; i < n_lives; i++)
    run_life (&clock, &faulty, home, 600);
  g_snprintf (figures->note, sizeof figures->note, "%u lives, %u items wait for a time of day",
              n_lives, clock.n_at);
  set_clock (&clock, clock.base_ns + 5 * DAY_NS);
  Irisd *irisd = faulty_start (&faulty, home, NULL);
  soak_history_demand (&clock.history, irisd->front);
  irisd_stop (irisd);
  soak_history_clear (&clock.history);
  faulty_clear (&faulty);
  home_free (home);
}
