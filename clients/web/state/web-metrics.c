/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The statistics as text for Prometheus.
 *
 * Names and units follow Prometheus' rules: base units (seconds, bytes), _total for counters. The
 * two formats differ in the names of counters in HELP and TYPE (OpenMetrics leaves out _total), in
 * the type of the information series, and in the end
 * (`# EOF`); promtool reads the classic one only. A family is a row of a table; its samples are
 * written by walking the list of its section, so 64 places and 1,000 services are some 12,000 lines
 * without a look-up.
 */
#include "clients/web/state/web-metrics.h"

#include "clients/web/base/web-json.h"
#include "clients/web/state/web-cluster-json.h"
#include "clients/web/state/web-rates.h"

#include <string.h>

/* Bucket i of the wire counts what was below 2^(10+i) nanoseconds; the text has every second one,
 * from 4 µs to 275 s. */
#define FIRST_BITS   12
#define LAST_BITS    38
#define STEP_BITS    2
#define BITS_OF_WIRE 10

typedef enum
{
  U64,
  U32,
  BOOL,
  NANOSECONDS,
  MILLISECONDS,
} Kind;

/* A series that each record of a section has once. */
typedef struct
{
  const char *name; /* without _total */
  gboolean counter;
  Kind kind;
  gsize offset;
  const char *help;
} Family;

typedef struct
{
  GString *text;
  gboolean open;
} Writer;

#define COUNTER(type, field, kind, name, help)            \
  {                                                       \
    name, TRUE, kind, G_STRUCT_OFFSET (type, field), help \
  }
#define GAUGE(type, field, kind, name, help)               \
  {                                                        \
    name, FALSE, kind, G_STRUCT_OFFSET (type, field), help \
  }

#define D IrisWireDaemonStatistics
static const Family daemon_families[] = {
  GAUGE (D, ready, BOOL, "irisd_ready", "Whether irisd takes all kinds of items"),
  GAUGE (D, draining, BOOL, "irisd_draining", "Whether irisd takes no more items"),
  GAUGE (D,
         started_ms,
         MILLISECONDS,
         "irisd_start_time_seconds",
         "When irisd was started, since 1970"),
  GAUGE (D, connections, U64, "irisd_connections", "Connections that said HELLO"),
  GAUGE (D, strangers, U64, "irisd_pending_connections", "Connections that have not said HELLO"),
  COUNTER (D, accepted, U64, "irisd_items_accepted", "Items accepted"),
  GAUGE (D, in_flight, U64, "irisd_items_in_flight", "Items accepted and not ended"),
  GAUGE (D,
         held_back,
         U64,
         "irisd_items_held_back",
         "Items that wait for a permit of their client or service"),
  GAUGE (D, spilled, U64, "irisd_items_spilled", "Items that only the journal holds"),
  COUNTER (D, malformed, U64, "irisd_malformed_messages", "Messages that did not parse"),
  COUNTER (D, busy, U64, "irisd_busy", "Requests answered with BUSY"),
  GAUGE (D, credits, U64, "irisd_credit_items", "Items that the connections may have in flight"),
  GAUGE (D,
         credits_used,
         U64,
         "irisd_credit_items_used",
         "Items that the connections have in flight"),
  GAUGE (D,
         byte_credits,
         U64,
         "irisd_credit_bytes",
         "Bytes that the connections may have in flight"),
  GAUGE (D,
         byte_credits_used,
         U64,
         "irisd_credit_used_bytes",
         "Bytes that the connections have in flight"),
  GAUGE (D, commands_running, U64, "irisd_commands_running", "Commands that run"),
  COUNTER (D, commands_started, U64, "irisd_commands_started", "Commands that were started"),
  GAUGE (D, memory_bytes, U64, "irisd_resident_memory_bytes", "Resident memory of irisd"),
  GAUGE (D,
         payload_bytes,
         U64,
         "irisd_payload_bytes",
         "Bytes of payloads and results that irisd holds"),
  COUNTER (D, cpu_ns, NANOSECONDS, "irisd_cpu_seconds", "Processor time of irisd"),
};
#undef D

#define P IrisWirePlaceStatistics
static const Family place_families[] = {
  GAUGE (P, workers, U32, "irisd_place_workers", "Workers of a place"),
  GAUGE (P, active, U32, "irisd_place_active_workers", "Workers of a place that are to take part"),
  GAUGE (P, drained, BOOL, "irisd_place_drained", "Whether a place takes no more items"),
  GAUGE (P,
         backlog,
         U64,
         "irisd_place_backlog_items",
         "Items that were queued at a place and have not come back"),
  COUNTER (P, hinted, U64, "irisd_place_hinted_items", "Items whose hint named a place"),
  COUNTER (P, executed, U64, "irisd_place_executed_items", "Items that ran at a place"),
  COUNTER (P, failed, U64, "irisd_place_failed_items", "Items that ran at a place and failed"),
  COUNTER (P,
           stolen_in,
           U64,
           "irisd_place_stolen_in_items",
           "Items that a place stole from others"),
  COUNTER (P,
           stolen_out,
           U64,
           "irisd_place_stolen_out_items",
           "Items that others stole from a place"),
  COUNTER (P, bytes, U64, "irisd_place_worked_on_bytes", "Bytes that services worked on"),
  COUNTER (P,
           busy_ns,
           NANOSECONDS,
           "irisd_place_busy_seconds",
           "Time that the workers of a place spent on items"),
  COUNTER (P, steals_tried, U64, "irisd_place_steals_tried", "Looks into another place for work"),
  COUNTER (P, steals_made, U64, "irisd_place_steals_made", "Looks that found work"),
  COUNTER (P,
           steals_lapsed,
           U64,
           "irisd_place_steals_lapsed",
           "Looks at items that were gone by then"),
  COUNTER (P, parks, U64, "irisd_place_parks", "How often a worker of a place slept"),
  COUNTER (P, wakes, U64, "irisd_place_wakes", "How often a worker of a place was woken"),
};
#undef P

#define S IrisWireServiceStatistics
static const Family service_families[] = {
  GAUGE (S, waiting, U64, "irisd_service_items", "Items of a service that wait or run"),
  GAUGE (S,
         leased,
         U64,
         "irisd_service_leased_items",
         "Items of a service that worker processes have"),
  COUNTER (S, retried, U64, "irisd_service_retries", "How often an item was tried again"),
  COUNTER (S, buried, U64, "irisd_service_burials", "How often an item was buried"),
  COUNTER (S, run_ns, NANOSECONDS, "irisd_service_run_seconds", "Time that items ran"),
  COUNTER (S,
           queue_ns,
           NANOSECONDS,
           "irisd_service_queue_seconds",
           "Time that items waited for their run"),
};
#undef S

#define L IrisWireLimitStatistics
static const Family limit_families[] = {
  GAUGE (L, value, U64, "irisd_limit", "Value of a limit; 0 for none"),
  COUNTER (L, busy, U64, "irisd_limit_busy", "Requests that a limit refused with BUSY"),
};
static const Family limit_used_family =
    GAUGE (L, used, U64, "irisd_limit_used", "How much of a limit is used");
#undef L

#define J IrisWireJournalStatistics
static const Family journal_families[] = {
  GAUGE (J, items, U64, "irisd_journal_items", "Items in the journal"),
  GAUGE (J, ended, U64, "irisd_journal_ended_items", "Items in the journal that have ended"),
  GAUGE (J,
         damaged,
         U64,
         "irisd_journal_damaged_items",
         "Items that the journal had lost when irisd was started, at least"),
  COUNTER (J, rows, U64, "irisd_journal_rows_written", "Rows written to the journal"),
  COUNTER (J, bytes, U64, "irisd_journal_written_bytes", "Bytes of rows written to the journal"),
  GAUGE (J, file_bytes, U64, "irisd_journal_file_bytes", "Size of the journal's database"),
  GAUGE (J, log_bytes, U64, "irisd_journal_log_bytes", "Size of the journal's log"),
  GAUGE (J, free_bytes, U64, "irisd_journal_free_bytes", "Free space of the journal's disk"),
};
#undef J

#define C IrisWireClusterStatistics
static const Family cluster_families[] = {
  GAUGE (C, draining, BOOL, "irisd_cluster_draining", "Whether this node takes no items of others"),
  GAUGE (C, away, U64, "irisd_cluster_away_items", "Items of this node that the cluster has"),
  GAUGE (C,
         held,
         U64,
         "irisd_cluster_held_items",
         "Items for the cluster that its servers have not stored yet"),
  GAUGE (C, guests, U64, "irisd_cluster_guest_items", "Items of the cluster that are at this node"),
  COUNTER (C,
           published,
           U64,
           "irisd_cluster_published_items",
           "Items that the servers have stored for this node"),
  COUNTER (C,
           away_ended,
           U64,
           "irisd_cluster_away_items_ended",
           "Items of this node that ended in the cluster"),
  COUNTER (C,
           ends_found,
           U64,
           "irisd_cluster_ends_found",
           "Ends that were not told in time and were looked for"),
  COUNTER (C,
           delivered,
           U64,
           "irisd_cluster_delivered_items",
           "Items of the cluster that were given to this node"),
  COUNTER (C,
           redelivered,
           U64,
           "irisd_cluster_redelivered_items",
           "Items given to this node that had been given to a node before"),
  COUNTER (C,
           guests_ended,
           U64,
           "irisd_cluster_guest_items_ended",
           "Items of the cluster whose end this node has stored"),
  COUNTER (C,
           late_ends,
           U64,
           "irisd_cluster_late_ends",
           "Items that ran here although another end was stored first"),
  COUNTER (C,
           given_back,
           U64,
           "irisd_cluster_given_back_items",
           "Items of the cluster that this node gave back"),
  COUNTER (C,
           dead_letters,
           U64,
           "irisd_cluster_dead_letters",
           "Messages that no node can run and that this node set aside"),
  COUNTER (C,
           failed,
           U64,
           "irisd_cluster_failed_publications",
           "Items and ends that the servers did not store"),
  COUNTER (C,
           bytes_sent,
           U64,
           "irisd_cluster_sent_bytes",
           "Bytes of items and ends that were sent"),
  COUNTER (C,
           bytes_received,
           U64,
           "irisd_cluster_received_bytes",
           "Bytes of items that were given to this node"),
  COUNTER (C,
           rescued,
           U64,
           "irisd_cluster_rescued_items",
           "Items taken from nodes that were gone or drained"),
  COUNTER (C,
           steals_lapsed,
           U64,
           "irisd_cluster_steals_lapsed",
           "Nodes taken from after a refusal, because they stood still"),
  COUNTER (C, reports, U64, "irisd_cluster_reports", "How often this node told of itself"),
  COUNTER (C,
           reports_failed,
           U64,
           "irisd_cluster_failed_reports",
           "How often this node could not tell of itself"),
  COUNTER (C, connects, U64, "irisd_cluster_connects", "Connections made to a server of NATS"),
};
#undef C

#define W WebOwnCounts
static const Family own_families[] = {
  GAUGE (W, pages, U64, "irisd_web_pages", "Pages that read irisd-web's events"),
  GAUGE (W, connections, U64, "irisd_web_connections", "Connections to irisd-web"),
  COUNTER (W, requests, U64, "irisd_web_requests", "Requests to irisd-web"),
  COUNTER (W, exports.sent, U64, "irisd_web_otlp_sent_spans", "Spans that the collector took"),
  COUNTER (W,
           exports.dropped,
           U64,
           "irisd_web_otlp_dropped_spans",
           "Spans that the collector refused, or that came too fast for it"),
  GAUGE (W, exports.waiting, U64, "irisd_web_otlp_queued_spans", "Spans that wait to be sent"),
  COUNTER (W,
           exports.failures,
           U64,
           "irisd_web_otlp_failed_requests",
           "Requests that the collector refused or did not answer"),
};
#undef W

/* The first lines of a family. */
static void
write_head (Writer *self, const char *name, const char *type, const char *help)
{
  const char *end = !self->open && g_str_equal (type, "counter") ? "_total" : "";

  g_string_append_printf (self->text, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name,
                          end, type);
}

/* A label's value between its quotes. */
static char *
escape (const char *value)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);
  GString *text = g_string_sized_new (strlen (valid));

  for (const char *c = valid; *c != '\0'; c++)
    if (*c == '\n')
      g_string_append (text, "\\n");
    else if (*c == '"' || *c == '\\')
      g_string_append_printf (text, "\\%c", *c);
    else
      g_string_append_c (text, *c);

  return g_string_free (text, FALSE);
}

static char *
make_label (const char *name, const char *value)
{
  g_autofree char *escaped = escape (value);

  return g_strdup_printf ("%s=\"%s\"", name, escaped);
}

/* NAME{LABELS} with a space behind it. */
static void
write_name (Writer *self, const char *name, const char *end, const char *labels)
{
  g_string_append (self->text, name);
  g_string_append (self->text, end);
  if (labels != NULL)
    {
      g_string_append_c (self->text, '{');
      g_string_append (self->text, labels);
      g_string_append_c (self->text, '}');
    }
  g_string_append_c (self->text, ' ');
}

static void
write_number (Writer *self, const char *name, const char *end, const char *labels, guint64 value)
{
  write_name (self, name, end, labels);
  web_append_number (self->text, value);
  g_string_append_c (self->text, '\n');
}

static void
write_real (Writer *self, const char *name, const char *end, const char *labels, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  write_name (self, name, end, labels);
  g_string_append (self->text, g_ascii_formatd (digits, sizeof digits, "%.15g", value));
  g_string_append_c (self->text, '\n');
}

static void
write_sample (Writer *self, const Family *family, const char *labels, gconstpointer record)
{
  gconstpointer member = (const char *) record + family->offset;
  const char *end = family->counter ? "_total" : "";

  switch (family->kind)
    {
    case U64:
      write_number (self, family->name, end, labels, *(const guint64 *) member);
      break;
    case U32:
      write_number (self, family->name, end, labels, *(const guint32 *) member);
      break;
    case BOOL:
      write_number (self, family->name, end, labels, *(const gboolean *) member ? 1 : 0);
      break;
    case NANOSECONDS:
      write_real (self, family->name, end, labels, (double) *(const guint64 *) member / 1e9);
      break;
    case MILLISECONDS:
      write_real (self, family->name, end, labels, (double) *(const guint64 *) member / 1e3);
      break;
    }
}

/* All families of a section: the samples of a family stand together. @labels is NULL for a section
 * of one record. */
static void
write_families (Writer *self,
                const Family *families,
                guint n_families,
                gconstpointer records,
                guint n,
                gsize size,
                char **labels)
{
  for (guint f = 0; f < n_families; f++)
    {
      write_head (self, families[f].name, families[f].counter ? "counter" : "gauge",
                  families[f].help);
      for (guint i = 0; i < n; i++)
        write_sample (self, &families[f], labels != NULL ? labels[i] : NULL,
                      (const char *) records + i * size);
    }
}

static void
write_histogram (Writer *self,
                 const char *name,
                 const char *label,
                 const guint64 *buckets,
                 guint n,
                 guint64 sum_ns)
{
  const char *comma = label != NULL ? "," : "";
  guint64 below = 0;
  guint at = 0;

  for (guint bits = FIRST_BITS; bits <= LAST_BITS; bits += STEP_BITS)
    {
      char le[G_ASCII_DTOSTR_BUF_SIZE];

      for (; at < n && at + BITS_OF_WIRE <= bits; at++)
        below += buckets[at];
      g_ascii_formatd (le, sizeof le, "%.12g", (double) (1ull << bits) / 1e9);
      g_string_append (self->text, name);
      g_string_append (self->text, "_bucket{");
      if (label != NULL)
        g_string_append (self->text, label);
      g_string_append (self->text, comma);
      g_string_append (self->text, "le=\"");
      g_string_append (self->text, le);
      g_string_append (self->text, "\"} ");
      web_append_number (self->text, below);
      g_string_append_c (self->text, '\n');
    }
  for (; at < n; at++)
    below += buckets[at];
  g_string_append_printf (self->text, "%s_bucket{%s%sle=\"+Inf\"} %" G_GUINT64_FORMAT "\n", name,
                          label != NULL ? label : "", comma, below);
  write_real (self, name, "_sum", label, (double) sum_ns / 1e9);
  write_number (self, name, "_count", label, below);
}

static void
write_info (Writer *self, const char *name, const char *help)
{
  /* The classic format has no type for it. */
  if (self->open)
    g_string_append_printf (self->text, "# HELP %s %s\n# TYPE %s info\n", name, help, name);
  else
    g_string_append_printf (self->text, "# HELP %s_info %s\n# TYPE %s_info gauge\n", name, help,
                            name);
}

static void
write_daemon (Writer *self, const IrisWireDaemonStatistics *it)
{
  static const char *const classes[] = { "volatile", "relaxed", "durable" };
  g_autofree char *version = make_label ("version", it->version);
  g_autofree char *scheduler = make_label ("scheduler", it->scheduler);
  g_autofree char *labels = g_strdup_printf ("%s,%s", version, scheduler);

  write_info (self, "irisd", "Version and scheduler of irisd");
  write_number (self, "irisd", "_info", labels, 1);
  write_families (self, daemon_families, G_N_ELEMENTS (daemon_families), it, 1, 0, NULL);
  write_head (self, "irisd_items", "gauge", "Items in each state");
  for (guint s = 1; s < it->n_states; s++)
    {
      g_autofree char *label = make_label ("state", iris_wire_state_name (s));

      write_number (self, "irisd_items", "", label, it->states[s]);
    }
  write_head (self, "irisd_items_ended", "counter", "Items that have ended");
  for (guint i = 0; i < it->n_outcomes; i++)
    {
      const IrisWireOutcomeStatistics *o = &it->outcomes[i];
      const char *class = o->klass < G_N_ELEMENTS (classes) ? classes[o->klass] : "unknown";
      const guint64 values[] = { o->done, o->failed, o->cancelled, o->expired };
      static const char *const names[] = { "done", "failed", "cancelled", "expired" };

      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        {
          g_autofree char *label = g_strdup_printf ("class=\"%s\",outcome=\"%s\"", class, names[j]);

          write_number (self, "irisd_items_ended", "_total", label, values[j]);
        }
    }
  write_head (self, "irisd_items_buried", "counter", "How often an item was buried");
  for (guint i = 0; i < it->n_outcomes; i++)
    {
      const IrisWireOutcomeStatistics *o = &it->outcomes[i];
      g_autofree char *label = make_label (
          "class", o->klass < G_N_ELEMENTS (classes) ? classes[o->klass] : "unknown");

      write_number (self, "irisd_items_buried", "_total", label, o->buried);
    }
}

static char **
make_place_labels (const IrisWireStatistics *it)
{
  char **labels = g_new0 (char *, it->n_places + 1);

  for (guint i = 0; i < it->n_places; i++)
    labels[i] = make_label ("place", it->places[i].name);

  return labels;
}

static void
write_part (GString *labels, const char *name, guint32 part)
{
  if (part != G_MAXUINT32)
    g_string_append_printf (labels, ",%s=\"%u\"", name, part);
}

static void
write_refusals (Writer *self, const IrisWireStatistics *it, char **labels)
{
  write_head (self, "irisd_place_steals_refused", "counter",
              "Looks that the policy did without, by reason");
  for (guint i = 0; i < it->n_places; i++)
    for (guint j = 0; j < MIN (it->places[i].n_steals_refused, WEB_N_REFUSALS); j++)
      {
        g_autofree char *label = g_strdup_printf ("%s,reason=\"%s\"", labels[i],
                                                  web_refusal_names[j]);

        write_number (self, "irisd_place_steals_refused", "_total", label,
                      it->places[i].steals_refused[j]);
      }
}

static void
write_places (Writer *self, const IrisWireStatistics *it, char **labels)
{
  write_info (self, "irisd_place", "Where a place is: its id, processors and parts of the machine");
  for (guint i = 0; i < it->n_places; i++)
    {
      const IrisWirePlaceStatistics *p = &it->places[i];
      g_autofree char *cpus = make_label ("cpus", p->cpus);
      g_autoptr (GString) text = g_string_new (labels[i]);

      g_string_append_printf (text, ",id=\"%u\",%s", p->id, cpus);
      write_part (text, "package", p->package);
      write_part (text, "numa", p->numa_node);
      write_part (text, "l3", p->l3);
      write_part (text, "l2", p->l2);
      write_part (text, "core", p->core);
      write_number (self, "irisd_place", "_info", text->str, 1);
    }
  write_families (self, place_families, G_N_ELEMENTS (place_families), it->places, it->n_places,
                  sizeof it->places[0], labels);
  write_refusals (self, it, labels);
  write_head (self, "irisd_place_queue_delay_seconds", "histogram",
              "From being accepted to being run");
  for (guint i = 0; i < it->n_places; i++)
    write_histogram (self, "irisd_place_queue_delay_seconds", labels[i], it->places[i].queue_delay,
                     it->places[i].n_queue_delay, it->places[i].queue_delay_ns);
  write_head (self, "irisd_place_run_time_seconds", "histogram", "Time that an item ran");
  for (guint i = 0; i < it->n_places; i++)
    write_histogram (self, "irisd_place_run_time_seconds", labels[i], it->places[i].run_time,
                     it->places[i].n_run_time, it->places[i].run_time_ns);
}

/* The sum of @values over all places at @distance, once a distance: at its first place. FALSE for
 * the others. */
static gboolean
sum_at_distance (const guint64 *values,
                 guint n,
                 const guint32 *distances,
                 guint first,
                 guint64 *sum)
{
  *sum = 0;
  for (guint i = 0; i < first; i++)
    if (distances[i] == distances[first])
      return FALSE;
  for (guint i = first; i < n; i++)
    if (distances[i] == distances[first])
      *sum += values[i];

  return TRUE;
}

static void
write_by_distance (Writer *self,
                   const IrisWireStatistics *it,
                   char **labels,
                   const char *name,
                   const char *help,
                   gboolean items)
{
  write_head (self, name, "counter", help);
  for (guint i = 0; i < it->n_steals; i++)
    {
      const IrisWireStealStatistics *s = &it->steals[i];
      const guint64 *values = items ? s->items : s->steals;
      guint n = MIN (items ? s->n_items : s->n_steals, s->n_distances);
      guint64 sum;

      for (guint j = 0; s->place < it->n_places && j < n; j++)
        if (j != s->place && sum_at_distance (values, n, s->distances, j, &sum))
          {
            g_autofree char *label = g_strdup_printf ("%s,distance=\"%u\"", labels[s->place],
                                                      s->distances[j]);

            write_number (self, name, "_total", label, sum);
          }
    }
}

static void
write_steals (Writer *self, const IrisWireStatistics *it, char **labels)
{
  write_by_distance (self, it, labels, "irisd_steals", "Looks that found work, by distance", FALSE);
  write_by_distance (self, it, labels, "irisd_stolen_items", "Items stolen, by distance", TRUE);
}

static void
write_service_ends (Writer *self, const IrisWireServiceStatistics *it, const char *label)
{
  static const char *const names[] = { "done", "failed", "cancelled", "expired" };
  const guint64 values[] = { it->done, it->failed, it->cancelled, it->expired };

  for (guint j = 0; j < G_N_ELEMENTS (values); j++)
    {
      g_string_append (self->text, "irisd_service_items_ended_total{");
      g_string_append (self->text, label);
      g_string_append (self->text, ",outcome=\"");
      g_string_append (self->text, names[j]);
      g_string_append (self->text, "\"} ");
      web_append_number (self->text, values[j]);
      g_string_append_c (self->text, '\n');
    }
}

static void
write_services (Writer *self, const IrisWireStatistics *it)
{
  g_auto (GStrv) labels = g_new0 (char *, it->n_services + 1);

  for (guint i = 0; i < it->n_services; i++)
    labels[i] = make_label ("service", it->services[i].name);
  write_families (self, service_families, G_N_ELEMENTS (service_families), it->services,
                  it->n_services, sizeof it->services[0], labels);
  write_head (self, "irisd_service_items_ended", "counter", "Items of a service that have ended");
  for (guint i = 0; i < it->n_services; i++)
    write_service_ends (self, &it->services[i], labels[i]);
}

static void
write_limits (Writer *self, const IrisWireStatistics *it)
{
  g_auto (GStrv) labels = g_new0 (char *, it->n_limits + 1);

  for (guint i = 0; i < it->n_limits; i++)
    labels[i] = make_label ("limit", it->limits[i].name);
  write_families (self, limit_families, G_N_ELEMENTS (limit_families), it->limits, it->n_limits,
                  sizeof it->limits[0], labels);
  write_head (self, limit_used_family.name, "gauge", limit_used_family.help);
  for (guint i = 0; i < it->n_limits; i++)
    if (it->limits[i].counted)
      write_sample (self, &limit_used_family, labels[i], &it->limits[i]);
}

static void
write_journal (Writer *self, const IrisWireJournalStatistics *it)
{
  static const char *const states[] = { "ready", "full", "failed" };

  if (g_str_equal (it->state, "none"))
    return;
  write_head (self, "irisd_journal_state", "gauge", "1 for the state that the journal is in");
  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    {
      g_autofree char *label = make_label ("state", states[i]);

      write_number (self, "irisd_journal_state", "", label, g_str_equal (it->state, states[i]));
    }
  write_families (self, journal_families, G_N_ELEMENTS (journal_families), it, 1, 0, NULL);
  write_head (self, "irisd_journal_sync_seconds", "histogram", "Time of a sync of the journal");
  write_histogram (self, "irisd_journal_sync_seconds", NULL, it->sync_time, it->n_sync_time,
                   it->sync_time_ns);
}

static void
write_processes (Writer *self, const IrisWireStatistics *it)
{
  guint64 capacity = 0, leases = 0;

  for (guint i = 0; i < it->n_processes; i++)
    {
      capacity += it->processes[i].capacity;
      leases += it->processes[i].leases;
    }
  write_head (self, "irisd_worker_processes", "gauge", "Worker processes");
  write_number (self, "irisd_worker_processes", "", NULL, it->n_processes);
  write_head (self, "irisd_worker_process_capacity_items", "gauge",
              "Items that the worker processes take at once");
  write_number (self, "irisd_worker_process_capacity_items", "", NULL, capacity);
  write_head (self, "irisd_worker_process_leased_items", "gauge",
              "Items that the worker processes have");
  write_number (self, "irisd_worker_process_leased_items", "", NULL, leases);
}

static void
write_cluster_states (Writer *self, const IrisWireClusterStatistics *it)
{
  const guint32 counts[] = { it->nodes_here, it->nodes_draining, it->nodes_gone };
  static const char *const names[] = { "here", "draining", "gone" };

  write_head (self, "irisd_cluster_connected", "gauge",
              "Whether this node is in its cluster, and not alone");
  write_number (self, "irisd_cluster_connected", "", NULL, it->state == IRIS_WIRE_CLUSTER_JOINED);
  write_head (self, "irisd_cluster_state", "gauge", "1 for what this node is in the cluster");
  for (guint32 i = IRIS_WIRE_CLUSTER_JOINING; i <= IRIS_WIRE_CLUSTER_REFUSED; i++)
    {
      g_autofree char *label = make_label ("state", web_cluster_name_state (i));

      write_number (self, "irisd_cluster_state", "", label, it->state == i);
    }
  write_head (self, "irisd_cluster_nodes", "gauge", "Nodes that this one knows, by their state");
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      g_autofree char *label = make_label ("state", names[i]);

      write_number (self, "irisd_cluster_nodes", "", label, counts[i]);
    }
}

static void
write_cluster (Writer *self, const IrisWireClusterStatistics *it)
{
  static const char *const distances[] = { "rack", "zone", "far" };
  g_autofree char *node = make_label ("node", it->node);

  write_info (self, "irisd_cluster", "The name of this node");
  write_number (self, "irisd_cluster", "_info", node, 1);
  write_cluster_states (self, it);
  write_families (self, cluster_families, G_N_ELEMENTS (cluster_families), it, 1, 0, NULL);
  write_head (self, "irisd_cluster_stolen_items", "counter",
              "Items that this node took from others, by distance");
  for (guint i = 0; i < MIN (it->n_stolen, G_N_ELEMENTS (distances)); i++)
    {
      g_autofree char *label = make_label ("distance", distances[i]);

      write_number (self, "irisd_cluster_stolen_items", "_total", label, it->stolen[i]);
    }
  write_head (self, "irisd_cluster_steals_refused", "counter",
              "Looks at nodes that were left alone, by reason");
  for (guint i = 0; i < MIN (it->n_steals_refused, WEB_N_REFUSALS); i++)
    {
      g_autofree char *label = make_label ("reason", web_refusal_names[i]);

      write_number (self, "irisd_cluster_steals_refused", "_total", label, it->steals_refused[i]);
    }
}

void
web_metrics_write (GString *text, const WebSample *sample, const WebOwnCounts *own, gboolean open)
{
  Writer self = { text, open };
  const IrisWireDaemonStatistics *daemon = web_sample_get_daemon (sample);

  write_head (&self, "irisd_up", "gauge", "Whether irisd answers irisd-web");
  write_number (&self, "irisd_up", "", NULL, daemon != NULL);
  write_families (&self, own_families, G_N_ELEMENTS (own_families), own, 1, 0, NULL);
  if (daemon != NULL)
    {
      const IrisWireStatistics *it = sample->statistics;
      g_auto (GStrv) labels = make_place_labels (it);

      write_daemon (&self, daemon);
      write_places (&self, it, labels);
      write_steals (&self, it, labels);
      write_services (&self, it);
      write_limits (&self, it);
      if (it->n_journal > 0)
        write_journal (&self, &it->journal[0]);
      write_processes (&self, it);
      if (it->n_cluster > 0)
        write_cluster (&self, &it->cluster[0]);
    }
  if (open)
    g_string_append (text, "# EOF\n");
}
