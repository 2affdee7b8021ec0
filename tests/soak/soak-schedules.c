/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The clock is set back and forth, by hours and days, while irisd runs and while it does not, and
 * irisd has schedules. Each of them must be due again within one of its intervals by the new time,
 * and then have a run.
 */
#include "soak-faulty.h"
#include "soak-history.h"

#define HOUR_MS G_GUINT64_CONSTANT (3600000)
#define MS_NS   G_GINT64_CONSTANT (1000000)

/* Beyond an interval and a jitter. */
#define BIT_MS 5000

typedef struct
{
  const char *name;
  const char *calendar; /* NULL: each hour */
  guint missed;
  guint overlap;
  guint64 jitter_ms;
} Kind;

static const Kind kinds[] = {
  { "cron", "0 * * * *", IRIS_WIRE_MISSED_ONE, IRIS_WIRE_OVERLAP_SKIP, 0 },
  { "cron-late", "15 * * * *", IRIS_WIRE_MISSED_SKIP, IRIS_WIRE_OVERLAP_ALLOW, 600000 },
  { "every", NULL, IRIS_WIRE_MISSED_ONE, IRIS_WIRE_OVERLAP_ALLOW, 0 },
  { "every-late", NULL, IRIS_WIRE_MISSED_ONE, IRIS_WIRE_OVERLAP_QUEUE, 600000 },
};

typedef struct
{
  SoakFigures *figures;
  Faulty faulty;
  Home *home;
  Irisd *irisd;
  Client *client;
  guint64 clock_ms; /* is added to the time of day */
} Days;

static guint64
now_ms (const Days *self)
{
  return (guint64) (g_get_real_time () / 1000) + self->clock_ms;
}

static void
set_clock (Days *self, guint64 clock_ms)
{
  self->clock_ms = clock_ms;
  atomic_store_explicit (&self->faulty.faults->clock_offset_ns, (gint64) clock_ms * MS_NS,
                         memory_order_relaxed);
}

static void
make (Days *self, const Kind *kind)
{
  IrisWireMessage item, request;
  IrisWireBatchBuilder builder;
  client_init_message (self->client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_batch_builder_init (&builder, NULL);
  ck_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
  IrisWireFrame body = iris_wire_batch_builder_get_body (&builder);
  client_init_message (self->client, &request, IRIS_WIRE_SCHEDULE);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_SCHEDULE, kind->name, -1);
  if (kind->calendar != NULL)
    {
      iris_wire_message_set_string (&request, IRIS_WIRE_KEY_CALENDAR, kind->calendar, -1);
      iris_wire_message_set_string (&request, IRIS_WIRE_KEY_ZONE, "UTC", -1);
    }
  else
    iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_EVERY_MS, HOUR_MS);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_MISSED, kind->missed);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_OVERLAP, kind->overlap);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_JITTER_MS, kind->jitter_ms);
  iris_wire_message_set_body (&request, body.data, body.size);
  client_send (self->client, &request);
  client_receive_type (self->client, IRIS_WIRE_CHANGED);
  iris_wire_batch_builder_clear (&builder);
}

static IrisWireSchedules *
list (Days *self)
{
  const IrisWireMessage *reply = client_call (self->client, IRIS_WIRE_SCHEDULES,
                                              IRIS_WIRE_SCHEDULES_REPLY);
  IrisWireSchedules *schedules = iris_wire_schedules_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (schedules);
  ck_assert_uint_eq (schedules->n_schedules, G_N_ELEMENTS (kinds));
  return schedules;
}

static const Kind *
find_kind (const IrisWireScheduleInfo *info)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].name, info->name))
      return &kinds[i];
  ck_abort_msg ("the schedule “%s” was never made", info->name);
}

/* Waits until each is due soon, by the clock as it is. */
static void
wait_until_aimed (Days *self)
{
  const gint64 give_up = g_get_monotonic_time () + GIVE_UP_MS * G_GINT64_CONSTANT (1000);
  for (gboolean aimed = FALSE; !aimed;)
    {
      g_autoptr (IrisWireSchedules) schedules = list (self);
      aimed = TRUE;
      for (guint i = 0; i < schedules->n_schedules; i++)
        {
          const IrisWireScheduleInfo *info = &schedules->schedules[i];
          const Kind *kind = find_kind (info);
          guint64 latest_ms = now_ms (self) + HOUR_MS + kind->jitter_ms + BIT_MS;
          gboolean soon = info->next_ms + BIT_MS > now_ms (self) && info->next_ms <= latest_ms;
          ck_assert_msg (soon || g_get_monotonic_time () < give_up,
                         "“%s” is due at %" G_GUINT64_FORMAT ", and it is %" G_GUINT64_FORMAT,
                         info->name, info->next_ms, now_ms (self));
          aimed &= soon;
        }
    }
}

/* An interval later each has had a run. One that was missed is left out where that is wanted, and a
 * line may meet a time at which it has run already. */
static void
pass_an_hour (Days *self)
{
  g_autoptr (IrisWireSchedules) before = list (self);
  const gint64 give_up = g_get_monotonic_time () + GIVE_UP_MS * G_GINT64_CONSTANT (1000);
  set_clock (self, self->clock_ms + HOUR_MS + 600000 + BIT_MS);
  wait_until_aimed (self);
  for (guint i = 0; i < before->n_schedules; i++)
    {
      const IrisWireScheduleInfo *old = &before->schedules[i];
      const Kind *kind = find_kind (old);
      for (gboolean ran = kind->calendar != NULL; !ran;)
        {
          g_autoptr (IrisWireSchedules) after = list (self);
          ran = after->schedules[i].runs > old->runs;
          ck_assert_msg (ran || g_get_monotonic_time () < give_up, "“%s” has no run", old->name);
        }
    }
}

static void
start (Days *self)
{
  self->irisd = faulty_start (&self->faulty, self->home, NULL);
  self->client = client_hello (self->irisd->front);
}

static void
stop (Days *self)
{
  soak_note_peak (self->figures, self->irisd);
  client_free (self->client);
  if (soak_random (0, 1) == 0)
    irisd_kill (self->irisd);
  else
    irisd_stop (self->irisd);
}

/* Back and forth, but never before the day of the test. */
static void
jump (Days *self)
{
  guint64 hours = soak_random (1, 80);
  if (soak_random (0, 1) == 0)
    set_clock (self, self->clock_ms + hours * HOUR_MS + soak_random (0, 3600000));
  else
    set_clock (self, self->clock_ms - MIN (self->clock_ms, hours * HOUR_MS));
}

void
soak_schedules (SoakFigures *figures)
{
  Days days = { .figures = figures, .home = home_new () };
  guint n_jumps = soak_times (24, 1000);
  guint64 n_runs = 0;
  faulty_init (&days.faulty, days.home);
  set_clock (&days, 100 * HOUR_MS);
  start (&days);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    make (&days, &kinds[i]);
  for (guint i = 0; i < n_jumps; i++)
    {
      gboolean while_away = soak_random (0, 3) == 0;
      if (while_away)
        stop (&days);
      jump (&days);
      if (while_away)
        start (&days);
      wait_until_aimed (&days);
      if (soak_random (0, 1) == 0)
        pass_an_hour (&days);
    }
  g_autoptr (IrisWireSchedules) schedules = list (&days);
  for (guint i = 0; i < schedules->n_schedules; i++)
    n_runs += schedules->schedules[i].runs;
  g_snprintf (figures->note, sizeof figures->note,
              "the clock was set %u times; %" G_GUINT64_FORMAT " runs", n_jumps, n_runs);
  stop (&days);
  faulty_clear (&days.faulty);
  home_free (days.home);
}
