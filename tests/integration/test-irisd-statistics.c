/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisd counts: each counter moves, once for each thing that it counts, and the sums fit.
 */
#include "irisd-home.h"

#define N_ITEMS 60
#define HOUR_MS G_GINT64_CONSTANT (3600000)

static Home *home;
static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  home = home_new ();
  irisd = home_start (home, "[client]\nitems = 500\n[limits]\nlease-ms = 300000\n");
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
}

/* @sections: bits, or 0 for all of them without naming one. */
static IrisWireStatistics *
ask (Client *who, guint32 sections)
{
  IrisWireMessage request;
  g_autoptr (GError) error = NULL;
  client_init_message (who, &request, IRIS_WIRE_STATISTICS);
  if (sections != 0)
    iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_SECTIONS, sections);
  client_send (who, &request);
  const IrisWireMessage *reply = client_receive_type (who, IRIS_WIRE_STATISTICS_REPLY);
  IrisWireStatistics *statistics = iris_wire_statistics_decode (reply->body, NULL, &error);
  ck_assert_msg (statistics != NULL, "%s", error != NULL ? error->message : "no error");
  return statistics;
}

static guint64
sum_of (const guint64 *numbers, guint n)
{
  guint64 sum = 0;
  for (guint i = 0; i < n; i++)
    sum += numbers[i];
  return sum;
}

static const IrisWireServiceStatistics *
find_service (const IrisWireStatistics *statistics, const char *name)
{
  for (guint i = 0; i < statistics->n_services; i++)
    if (g_str_equal (statistics->services[i].name, name))
      return &statistics->services[i];
  return NULL;
}

static const IrisWireLimitStatistics *
find_limit (const IrisWireStatistics *statistics, const char *name)
{
  for (guint i = 0; i < statistics->n_limits; i++)
    if (g_str_equal (statistics->limits[i].name, name))
      return &statistics->limits[i];
  ck_abort_msg ("there is no limit %s", name);
}

static void
submit_failing (guint klass, gboolean bury)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "sha256", "", klass);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, "/nonexistent/file", -1);
  if (bury)
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_BURY, TRUE);
  client_send (client, &item);
  client_receive_type (client, IRIS_WIRE_ACCEPTED);
  client_receive_type (client, IRIS_WIRE_ERROR_REPLY);
}

static void
submit_late (void)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DEADLINE_MS, 1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_DEADLINE_PASSED);
}

/* An item behind the occupied worker of place 0. */
static guint64
submit_behind (void)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "x", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  client_send (client, &item);
  return client->next_id;
}

/* Three volatile ones, of which one is cancelled and one is late; two that fail; one that is
 * buried, one that is done durably. */
static void
end_in_all_ways (void)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  client_occupy (client, gate, 0);
  submit_late ();
  guint64 unwanted = submit_behind ();
  client_cancel (client, unwanted);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_CANCELLED);
  gate_open (gate);
  client_receive_type (client, IRIS_WIRE_RESULT);
  submit_failing (IRIS_WIRE_CLASS_VOLATILE, FALSE);
  submit_failing (IRIS_WIRE_CLASS_RELAXED, FALSE);
  submit_failing (IRIS_WIRE_CLASS_DURABLE, TRUE);
  persistent_submit_echo (client, "kept", IRIS_WIRE_CLASS_DURABLE, FALSE);
  client_receive_type (client, IRIS_WIRE_RESULT);
}

START_TEST (each_end_is_counted_once_by_class_and_outcome)
{
  end_in_all_ways ();
  g_autoptr (IrisWireStatistics) all = ask (client, 0);
  const IrisWireDaemonStatistics *daemon = all->daemon;
  const IrisWireOutcomeStatistics *outcomes = daemon->outcomes;
  guint64 sum = 0;
  ck_assert_uint_eq (all->sections, IRIS_WIRE_ALL_SECTIONS);
  ck_assert_uint_eq (daemon->n_outcomes, 3);
  for (guint i = 0; i < 3; i++)
    {
      ck_assert_uint_eq (outcomes[i].klass, i);
      sum += outcomes[i].done + outcomes[i].failed + outcomes[i].cancelled + outcomes[i].expired
             + outcomes[i].buried;
    }
  ck_assert_uint_eq (outcomes[IRIS_WIRE_CLASS_VOLATILE].done, 1);
  ck_assert_uint_eq (outcomes[IRIS_WIRE_CLASS_VOLATILE].failed, 1);
  ck_assert_uint_eq (outcomes[IRIS_WIRE_CLASS_VOLATILE].cancelled, 1);
  ck_assert_uint_eq (outcomes[IRIS_WIRE_CLASS_VOLATILE].expired, 1);
  ck_assert_uint_eq (outcomes[IRIS_WIRE_CLASS_RELAXED].failed, 1);
  ck_assert_uint_eq (outcomes[IRIS_WIRE_CLASS_DURABLE].buried, 1);
  ck_assert_uint_eq (outcomes[IRIS_WIRE_CLASS_DURABLE].done, 1);
  ck_assert_uint_eq (daemon->accepted, 7);
  ck_assert_uint_eq (daemon->in_flight, 0);
  ck_assert_uint_eq (sum, daemon->accepted);
  ck_assert_uint_eq (daemon->states[IRIS_WIRE_STATE_BURIED], 1);
  ck_assert_uint_eq (daemon->states[IRIS_WIRE_STATE_DONE], 1);
  ck_assert_uint_eq (daemon->states[IRIS_WIRE_STATE_FAILED], 1);
}
END_TEST

START_TEST (services_and_places_have_the_same_ends_and_times)
{
  end_in_all_ways ();
  g_autoptr (IrisWireStatistics) all = ask (client, 0);
  const IrisWireServiceStatistics *echo = find_service (all, "echo");
  const IrisWireServiceStatistics *sha256 = find_service (all, "sha256");
  guint64 runs = 0, delays = 0, failed = 0, run_ns = 0, queue_ns = 0, service_ns = 0, wait_ns = 0;
  ck_assert_uint_eq (echo->done, 1);
  ck_assert_uint_eq (echo->cancelled, 1);
  ck_assert_uint_eq (echo->expired, 1);
  ck_assert_uint_eq (sha256->failed, 2);
  ck_assert_uint_eq (sha256->buried, 1);
  ck_assert_uint_eq (find_service (all, "hold")->done, 1);
  ck_assert_str_eq (all->services[0].name, "other");
  for (guint i = 0; i < all->n_places; i++)
    {
      const IrisWirePlaceStatistics *place = &all->places[i];
      ck_assert_uint_eq (place->n_queue_delay, IRIS_WIRE_N_BUCKETS);
      ck_assert_uint_eq (place->n_run_time, IRIS_WIRE_N_BUCKETS);
      delays += sum_of (place->queue_delay, IRIS_WIRE_N_BUCKETS);
      runs += sum_of (place->run_time, IRIS_WIRE_N_BUCKETS);
      failed += place->failed;
      run_ns += place->run_time_ns;
      queue_ns += place->queue_delay_ns;
    }
  for (guint i = 0; i < all->n_services; i++)
    {
      ck_assert_uint_eq (all->services[i].waiting, 0);
      service_ns += all->services[i].run_ns;
      wait_ns += all->services[i].queue_ns;
    }
  /* All but the cancelled and the late one ran. */
  ck_assert_uint_eq (runs, 5);
  ck_assert_uint_eq (delays, runs);
  ck_assert_uint_eq (failed, 3);
  ck_assert_uint_eq (run_ns, service_ns);
  ck_assert_uint_eq (queue_ns, wait_ns);
  ck_assert_uint_gt (run_ns, 0);
}
END_TEST

START_TEST (items_that_wait_and_run_are_in_their_states)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  IrisWireMessage item;
  client_occupy (client, gate, 0);
  submit_behind ();
  persistent_fill (client, &item, "echo", "later", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  client_send (client, &item);
  client_receive_type (client, IRIS_WIRE_ACCEPTED);
  g_autoptr (IrisWireStatistics) all = ask (client, IRIS_WIRE_SECTION_DAEMON);
  const guint64 *states = all->daemon->states;
  ck_assert_uint_eq (states[IRIS_WIRE_STATE_RUNNING], 1);
  ck_assert_uint_eq (states[IRIS_WIRE_STATE_QUEUED], 1);
  ck_assert_uint_eq (states[IRIS_WIRE_STATE_DELAYED], 1);
  ck_assert_uint_eq (all->daemon->in_flight, 3);
  ck_assert_uint_eq (all->daemon->credits_used, 3);
  ck_assert_uint_gt (all->daemon->payload_bytes, 0);
  guint64 delayed = client->next_id - 1;
  client_cancel (client, delayed);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_CANCELLED);
  gate_open (gate);
  for (guint i = 0; i < 2; i++)
    client_receive_type (client, IRIS_WIRE_RESULT);
  g_autoptr (IrisWireStatistics) after = ask (client, IRIS_WIRE_SECTION_DAEMON);
  ck_assert_uint_eq (sum_of (after->daemon->states, after->daemon->n_states), 0);
  ck_assert_uint_eq (after->daemon->in_flight, 0);
  ck_assert_uint_eq (after->daemon->credits_used, 3); /* completions without ACK */
  client_ack (client, 3);
  g_autoptr (IrisWireStatistics) acked = ask (client, IRIS_WIRE_SECTION_DAEMON);
  ck_assert_uint_eq (acked->daemon->credits_used, 0);
}
END_TEST

/* What travels with a request about an item of that number. */
static void
change (IrisWireType type, guint64 item)
{
  persistent_ask (client, type, item);
  client_receive_type (client, IRIS_WIRE_CHANGED);
}

START_TEST (a_suspended_item_is_in_its_state)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "later", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  change (IRIS_WIRE_SUSPEND, number);
  g_autoptr (IrisWireStatistics) during = ask (client, IRIS_WIRE_SECTION_DAEMON);
  ck_assert_uint_eq (during->daemon->states[IRIS_WIRE_STATE_SUSPENDED], 1);
  ck_assert_uint_eq (during->daemon->states[IRIS_WIRE_STATE_DELAYED], 0);
  ck_assert_uint_eq (during->daemon->credits_used, 0);
  change (IRIS_WIRE_RESUME, number);
  g_autoptr (IrisWireStatistics) after = ask (client, IRIS_WIRE_SECTION_DAEMON);
  ck_assert_uint_eq (after->daemon->states[IRIS_WIRE_STATE_SUSPENDED], 0);
  ck_assert_uint_eq (after->daemon->states[IRIS_WIRE_STATE_DELAYED], 1);
}
END_TEST

START_TEST (steals_are_counted_by_pair)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  client_occupy (client, gate, 0);
  for (guint i = 0; i < N_ITEMS; i++)
    client_submit (client, "echo", "x", 1, 0, FALSE);
  for (guint i = 0; i < N_ITEMS; i++)
    ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->place, 1);
  g_autoptr (IrisWireStatistics)
      both = ask (client, IRIS_WIRE_SECTION_STEALS | IRIS_WIRE_SECTION_PLACES);
  ck_assert_uint_eq (both->n_steals, 2);
  for (guint to = 0; to < 2; to++)
    {
      const IrisWireStealStatistics *row = &both->steals[to];
      ck_assert_uint_eq (row->place, to);
      ck_assert_uint_eq (row->n_distances, 2);
      ck_assert_uint_eq (row->n_items, 2);
      ck_assert_uint_eq (row->items[1 - to], both->places[to].stolen_in);
      ck_assert_uint_eq (row->items[1 - to], both->places[1 - to].stolen_out);
      ck_assert_uint_eq (sum_of (row->steals, 2), both->places[to].steals_made);
    }
  ck_assert_uint_eq (both->steals[1].items[0], N_ITEMS);
  ck_assert_uint_eq (both->places[1].executed, N_ITEMS);
  ck_assert_uint_gt (both->places[1].steals_tried, 0);
  ck_assert_uint_gt (both->places[0].parks + both->places[1].parks, 0);
  ck_assert_uint_eq (both->places[1].n_steals_refused, 4);
  gate_open (gate);
  client_receive_type (client, IRIS_WIRE_RESULT);
}
END_TEST

START_TEST (a_place_tells_where_it_lies)
{
  g_autoptr (IrisWireStatistics) places = ask (client, IRIS_WIRE_SECTION_PLACES);
  for (guint i = 0; i < 2; i++)
    {
      ck_assert_uint_eq (places->places[i].package, i);
      ck_assert_uint_eq (places->places[i].core, i);
      ck_assert_uint_eq (places->places[i].l3, G_MAXUINT32); /* there is none */
      ck_assert_uint_eq (places->places[i].workers, 1);
      ck_assert_uint_eq (places->places[i].active, 1);
    }
}
END_TEST

START_TEST (the_journal_tells_its_syncs_and_sizes)
{
  persistent_submit_echo (client, "kept", IRIS_WIRE_CLASS_DURABLE, TRUE);
  g_autoptr (IrisWireStatistics) one = ask (client, IRIS_WIRE_SECTION_JOURNAL);
  const IrisWireJournalStatistics *journal = one->journal;
  ck_assert_str_eq (journal->state, "ready");
  ck_assert_str_eq (journal->reason, "");
  ck_assert_uint_ge (journal->items, 1);
  ck_assert_uint_ge (journal->syncs, 1);
  ck_assert_uint_eq (sum_of (journal->sync_time, IRIS_WIRE_N_BUCKETS), journal->syncs);
  ck_assert_uint_gt (journal->sync_time_ns, 0);
  ck_assert_uint_ge (journal->rows, 1);
  ck_assert_uint_gt (journal->bytes, 0);
  ck_assert_uint_gt (journal->file_bytes, 0);
  ck_assert_uint_gt (journal->free_bytes, 0);
}
END_TEST

START_TEST (commands_are_counted_while_they_run)
{
  g_autofree char *begun = gate_new (irisd, "begun"), *gate = gate_new (irisd, "gate");
  client_submit_command (
      client, "",
      (const char *const[]){ "sh", "-c", "echo >\"$0\"; exec cat \"$1\"", begun, gate, NULL });
  close (gate_wait (begun));
  g_autoptr (IrisWireStatistics) during = ask (client, IRIS_WIRE_SECTION_DAEMON);
  /* The command may be there before irisd has counted it. */
  while (during->daemon->commands_running == 0)
    {
      iris_wire_statistics_free (during);
      during = ask (client, IRIS_WIRE_SECTION_DAEMON);
    }
  ck_assert_uint_eq (during->daemon->commands_running, 1);
  ck_assert_uint_eq (during->daemon->commands_started, 1);
  ck_assert_uint_eq (during->daemon->states[IRIS_WIRE_STATE_RUNNING], 1);
  gate_open (gate);
  client_receive_type (client, IRIS_WIRE_RESULT);
  g_autoptr (IrisWireStatistics) after = ask (client, IRIS_WIRE_SECTION_DAEMON);
  ck_assert_uint_eq (after->daemon->commands_running, 0);
  ck_assert_uint_eq (after->daemon->commands_started, 1);
}
END_TEST

START_TEST (a_worker_process_and_its_leases_are_told)
{
  g_autoptr (Client) worker = client_hello (irisd->front);
  client_enroll (worker, "render", 1);
  for (guint i = 0; i < 2; i++)
    client_submit (client, "render", "x", 1, IRIS_PLACE_ANY, FALSE);
  guint64 lease = message_get_id (client_receive_type (worker, IRIS_WIRE_LEASE));
  g_autoptr (IrisWireStatistics) all = ask (client, 0);
  const IrisWireServiceStatistics *render = find_service (all, "render");
  ck_assert_uint_eq (render->leased, 1);
  ck_assert_uint_eq (render->waiting, 1);
  ck_assert_uint_eq (all->daemon->states[IRIS_WIRE_STATE_LEASED], 1);
  ck_assert_uint_eq (all->n_processes, 1);
  ck_assert_str_eq (all->processes[0].services[0], "render");
  ck_assert_uint_eq (all->processes[0].leases, 1);
  ck_assert_uint_eq (all->daemon->connections, 2);

  IrisWireMessage done;
  client_init_message (worker, &done, IRIS_WIRE_DONE);
  for (guint i = 0; i < 2; i++)
    {
      message_set_id (&done, lease);
      memcpy (done.request_id, worker->message.request_id, IRIS_WIRE_ID_SIZE);
      client_send (worker, &done);
      client_receive_type (client, IRIS_WIRE_RESULT);
      if (i == 0)
        client_receive_type (worker, IRIS_WIRE_LEASE);
    }
  g_autoptr (IrisWireStatistics) after = ask (client, 0);
  ck_assert_uint_eq (find_service (after, "render")->done, 2);
  ck_assert_uint_eq (find_service (after, "render")->leased, 0);
  ck_assert_uint_eq (after->processes[0].done, 2);
}
END_TEST

START_TEST (busy_is_counted_by_the_limit_that_said_it)
{
  Irisd *small = irisd_start ("[limits]\nin-flight-items = 2\n", ONE_WORKER, NULL);
  g_autoptr (Client) there = client_hello (small->front);
  g_autofree char *gate = gate_new (small, "gate");
  client_occupy (there, gate, 0);
  client_submit (there, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_submit (there, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_receive_type (there, IRIS_WIRE_BUSY);
  g_autoptr (IrisWireStatistics) all = ask (there, 0);
  guint64 busy = 0;
  for (guint i = 0; i < all->n_limits; i++)
    busy += all->limits[i].busy;
  ck_assert_uint_eq (find_limit (all, "in-flight-items")->busy, 1);
  ck_assert_uint_eq (find_limit (all, "in-flight-items")->value, 2);
  ck_assert_uint_eq (busy, 1);
  ck_assert_uint_eq (all->daemon->busy, 1);
  ck_assert_str_eq (all->journal->state, "none");
  gate_open (gate);
  for (guint i = 0; i < 2; i++)
    client_receive_type (there, IRIS_WIRE_RESULT);
  client_free (g_steal_pointer (&there));
  irisd_finish (small);
}
END_TEST

START_TEST (an_operator_sees_who_is_at_a_limit)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  client_occupy (client, gate, 0);
  g_autoptr (IrisWireStatistics) limits = ask (client, IRIS_WIRE_SECTION_LIMITS);
  const IrisWireLimitStatistics *items = find_limit (limits, "client-items");
  g_autofree char *name = g_strdup_printf ("process %d", getpid ());
  ck_assert_uint_eq (items->value, 500);
  ck_assert (items->counted);
  ck_assert_uint_eq (items->used, 1);
  ck_assert_uint_eq (items->n_users, 1);
  ck_assert_str_eq (items->users[0].name, name);
  ck_assert_uint_eq (items->users[0].used, 1);
  ck_assert_uint_eq (items->users[0].value, 500);
  ck_assert (find_limit (limits, "total-items")->counted);
  ck_assert_uint_eq (find_limit (limits, "total-items")->used, 1);
  ck_assert_uint_eq (find_limit (limits, "max-peers")->used, 1);
  ck_assert (!find_limit (limits, "max-header")->counted);
  gate_open (gate);
  client_receive_type (client, IRIS_WIRE_RESULT);
}
END_TEST

START_TEST (sections_that_were_not_asked_for_are_empty)
{
  for (guint section = 1; section <= IRIS_WIRE_ALL_SECTIONS; section <<= 1)
    {
      g_autoptr (IrisWireStatistics) one = ask (client, section);
      ck_assert_uint_eq (one->sections, section);
      ck_assert_uint_eq (one->n_daemon, section == IRIS_WIRE_SECTION_DAEMON);
      ck_assert_uint_eq (one->n_places, section == IRIS_WIRE_SECTION_PLACES ? 2 : 0);
      ck_assert_uint_eq (one->n_steals, section == IRIS_WIRE_SECTION_STEALS ? 2 : 0);
      ck_assert_uint_eq (one->n_services > 0, section == IRIS_WIRE_SECTION_SERVICES);
      ck_assert_uint_eq (one->n_limits > 0, section == IRIS_WIRE_SECTION_LIMITS);
      ck_assert_uint_eq (one->n_journal, section == IRIS_WIRE_SECTION_JOURNAL);
      ck_assert_uint_eq (one->n_processes, 0);
      /* This irisd is in no cluster. */
      ck_assert_uint_eq (one->n_cluster, 0);
    }
}
END_TEST

START_TEST (irisd_tells_of_itself)
{
  g_autoptr (IrisWireStatistics) one = ask (client, IRIS_WIRE_SECTION_DAEMON);
  const IrisWireDaemonStatistics *daemon = one->daemon;
  ck_assert_int_eq ((pid_t) daemon->pid, irisd->pid);
  ck_assert (daemon->ready);
  ck_assert (!daemon->draining);
  ck_assert_str_eq (daemon->not_ready, "");
  ck_assert_uint_eq (daemon->connections, 1);
  ck_assert_uint_eq (daemon->credits, 1024);
  ck_assert_uint_gt (daemon->memory_bytes, 0);
  ck_assert_uint_gt (daemon->cpu_ns, 0);
  ck_assert_uint_gt (daemon->started_ms, 0);
}
END_TEST

static void
send_trace (Client *who, guint64 ms)
{
  IrisWireMessage request;
  client_init_message (who, &request, IRIS_WIRE_TRACE);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, ms);
  client_send (who, &request);
}

/* The time line of so many milliseconds, in which two items run if they are over in time. */
static GString *
trace_items (guint64 ms)
{
  GString *text = g_string_new (NULL);
  guint n_results = 0;
  gboolean ended = FALSE;
  send_trace (client, ms);
  for (guint i = 0; i < 2; i++)
    client_submit_path (client, "sha256", g_getenv ("IRISD"));
  while (n_results < 2 || !ended)
    {
      const IrisWireMessage *message = client_receive (client);
      if (message->type == IRIS_WIRE_RESULT)
        {
          n_results++;
          continue;
        }
      ck_assert_int_eq (message->type, IRIS_WIRE_TRACE_REPLY);
      ck_assert (!ended);
      g_string_append_len (text, (const char *) message->body.data, (gssize) message->body.size);
      ended = message->ends;
    }
  return text;
}

START_TEST (a_time_line_comes_in_parts_that_end)
{
  GString *text = trace_items (500);
  /* On a busy machine the items need longer. */
  for (guint64 ms = 1000; strstr (text->str, "\"cat\":\"item\",\"name\":\"sha256\"") == NULL;
       ms *= 2)
    {
      g_string_free (text, TRUE);
      text = trace_items (ms);
    }
  ck_assert (g_str_has_prefix (text->str, "{"));
  ck_assert (g_str_has_suffix (text->str, "}\n"));
  ck_assert_ptr_nonnull (strstr (text->str, "\"traceEvents\":["));
  ck_assert_ptr_nonnull (strstr (text->str, "\"worker\":1,\"place\":1"));
  g_string_free (text, TRUE);
}
END_TEST

/* The thread that waits for its end does not hold up the end of irisd either. */
START_TEST (one_time_line_is_made_at_a_time_and_not_for_ever)
{
  send_trace (client, 0);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  send_trace (client, 3600000);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  send_trace (client, 600000);
  send_trace (client, 1);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BUSY);
}
END_TEST

/* Private services are part of `other`. */
START_TEST (a_guest_sees_sums_and_no_names)
{
  Irisd *open = irisd_start (NULL, ONE_WORKER, "--tcp=127.0.0.1:0", NULL);
  g_autoptr (Client) operator= client_hello (open->front);
  g_autoptr (Client) guest = client_hello (open->tcp);
  client_submit (operator, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_receive_type (operator, IRIS_WIRE_RESULT);
  g_autoptr (IrisWireStatistics) all = ask (guest, 0);
  ck_assert_uint_eq (all->daemon->accepted, 1);
  ck_assert_uint_eq (find_service (all, "echo")->done, 1);
  for (guint i = 0; i < all->n_limits; i++)
    ck_assert_uint_eq (all->limits[i].n_users, 0);
  client_free (g_steal_pointer (&operator));
  client_free (g_steal_pointer (&guest));
  irisd_finish (open);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-statistics");
  TCase *kept = tcase_create ("with a journal"), *other = tcase_create ("other");
  tcase_add_checked_fixture (kept, set_up, tear_down);
  tcase_add_test (kept, each_end_is_counted_once_by_class_and_outcome);
  tcase_add_test (kept, services_and_places_have_the_same_ends_and_times);
  tcase_add_test (kept, items_that_wait_and_run_are_in_their_states);
  tcase_add_test (kept, a_suspended_item_is_in_its_state);
  tcase_add_test (kept, steals_are_counted_by_pair);
  tcase_add_test (kept, a_place_tells_where_it_lies);
  tcase_add_test (kept, the_journal_tells_its_syncs_and_sizes);
  tcase_add_test (kept, commands_are_counted_while_they_run);
  tcase_add_test (kept, a_worker_process_and_its_leases_are_told);
  tcase_add_test (kept, an_operator_sees_who_is_at_a_limit);
  tcase_add_test (kept, sections_that_were_not_asked_for_are_empty);
  tcase_add_test (kept, irisd_tells_of_itself);
  tcase_add_test (kept, a_time_line_comes_in_parts_that_end);
  tcase_add_test (kept, one_time_line_is_made_at_a_time_and_not_for_ever);
  tcase_add_test (other, busy_is_counted_by_the_limit_that_said_it);
  tcase_add_test (other, a_guest_sees_sums_and_no_names);
  suite_add_tcase (suite, kept);
  suite_add_tcase (suite, other);
  return core_test_run (suite);
}
