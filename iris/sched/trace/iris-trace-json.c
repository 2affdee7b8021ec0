/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A trace as JSON: the trace event format, which Perfetto and Chromium read.
 *
 * A place is a process with the number place + 1, a worker a thread of it, and what lies in the
 * place's queues one more thread. An item, and the time in which a worker slept, are slices. A
 * steal is an arrow from the queues of the place that was robbed to the worker: a flow from one
 * short slice to another, because a flow needs slices to hang on. Times are microseconds since the
 * trace began.
 *
 * Source of the form: "Trace Event Format", the document of Chromium's tracing.
 */
#include "iris/sched/trace/iris-trace-json-private.h"

#include <dlfcn.h>
#include <string.h>

/* Text is written when there is so much of it. */
#define WRITE_AT (64 * 1024)

/* The number of the thread that stands for the queues of a place. */
#define QUEUES_TID 1000000

/* Of the two slices of a steal, in nanoseconds: as short as the form tells. */
#define STEAL_NS 1

struct IrisTraceJson
{
  GOutputStream *stream;
  GString *text;
  GHashTable *functions; /* names, by address */
  gint64 from_ns;
  gint64 to_ns;
  guint64 n_flows;
  GString *summary; /* of the workers */
};

/* An item, or a sleep, that has begun. */
typedef struct
{
  IrisTraceKind kind;
  gint64 begun_ns;
  uint64_t function;
  const char *name;
  uint64_t number;
} Open;

static gboolean
write_out (IrisTraceJson *self, gsize keep, GCancellable *cancellable, GError **error)
{
  if (self->text->len <= keep)
    return TRUE;
  if (!g_output_stream_write_all (self->stream, self->text->str, self->text->len, NULL, cancellable,
                                  error))
    return FALSE;
  g_string_truncate (self->text, 0);
  return TRUE;
}

static void
add_string (GString *text, const char *string)
{
  g_string_append_c (text, '"');
  for (const guchar *at = (const guchar *) string; *at != '\0'; at++)
    if (*at == '"' || *at == '\\')
      g_string_append_printf (text, "\\%c", *at);
    else if (*at < ' ' || *at >= 0x7f)
      g_string_append_printf (text, "\\u%04x", *at);
    else
      g_string_append_c (text, (char) *at);
  g_string_append_c (text, '"');
}

/* A symbol, or, of a function that has none, its library and place there. */
static const char *
get_function (IrisTraceJson *self, uint64_t address)
{
  gpointer key = (gpointer) (uintptr_t) address;
  char *name = g_hash_table_lookup (self->functions, key);
  Dl_info info;

  if (name != NULL)
    return name;
  if (dladdr (key, &info) == 0)
    name = g_strdup_printf ("0x%" G_GINT64_MODIFIER "x", address);
  else if (info.dli_sname != NULL)
    name = g_strdup (info.dli_sname);
  else
    {
      g_autofree char *file = g_path_get_basename (info.dli_fname);

      name = g_strdup_printf ("%s+0x%zx", file,
                              (gsize) (address - (uint64_t) (uintptr_t) info.dli_fbase));
    }
  g_hash_table_insert (self->functions, key, name);
  return name;
}

static void
add_time (IrisTraceJson *self, const char *key, gint64 ns)
{
  g_string_append_printf (self->text, ",\"%s\":%" G_GINT64_FORMAT ".%03u", key, ns / 1000,
                          (guint) (ns % 1000));
}

/* The beginning of an event, without its last brace. */
static void
add_event (IrisTraceJson *self, char phase, guint place, guint thread, gint64 when_ns)
{
  g_string_append_printf (self->text, ",\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", phase, place + 1,
                          thread);
  add_time (self, "ts", MAX (when_ns - self->from_ns, 0));
}

static void
add_name (IrisTraceJson *self, const char *what, guint place, gint thread, const char *name)
{
  g_string_append_printf (self->text, ",\n{\"ph\":\"M\",\"pid\":%u,", place + 1);
  if (thread >= 0)
    g_string_append_printf (self->text, "\"tid\":%d,", thread);
  g_string_append_printf (self->text, "\"name\":\"%s\",\"args\":{\"name\":", what);
  add_string (self->text, name);
  g_string_append (self->text, "}}");
}

static void
add_slice (IrisTraceJson *self,
           const IrisTraceLine *line,
           const Open *open,
           gint64 end_ns,
           bool cut)
{
  gint64 begin_ns = MAX (open->begun_ns, self->from_ns);

  add_event (self, 'X', line->place, line->index, begin_ns);
  add_time (self, "dur", MAX (end_ns - begin_ns, 0));
  if (open->kind == IRIS_TRACE_PARK)
    {
      g_string_append_printf (self->text, ",\"cat\":\"park\",\"name\":\"parked\"%s}",
                              cut ? ",\"args\":{\"unfinished\":true}" : "");
      return;
    }
  g_string_append (self->text, ",\"cat\":\"item\",\"name\":");
  add_string (self->text, open->name != NULL ? open->name : get_function (self, open->function));
  g_string_append (self->text, ",\"args\":{\"function\":");
  add_string (self->text, get_function (self, open->function));
  if (open->number != 0)
    g_string_append_printf (self->text, ",\"number\":%" G_GUINT64_FORMAT, open->number);
  g_string_append_printf (self->text, "%s}}", cut ? ",\"unfinished\":true" : "");
}

static void
add_steal (IrisTraceJson *self, const IrisTraceLine *line, const IrisTraceEvent *event)
{
  gint64 now_ns = iris_trace_event_get_time (event);
  guint from = (guint) (event->what >> 32), n = (guint) event->what;
  const struct
  {
    guint place, thread;
    char phase;
    const char *name;
  } ends[] = {
    { from, QUEUES_TID, 's', "stolen" },
    { line->place, line->index, 'f', "steal" },
  };

  self->n_flows++;
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      add_event (self, 'X', ends[i].place, ends[i].thread, now_ns);
      add_time (self, "dur", STEAL_NS);
      g_string_append_printf (
          self->text,
          ",\"cat\":\"steal\",\"name\":\"%s\",\"args\":{\"items\":%u,\"from\":%u,\"to\":%u}}",
          ends[i].name, n, from, line->place);
      add_event (self, ends[i].phase, ends[i].place, ends[i].thread, now_ns);
      g_string_append_printf (self->text,
                              ",\"cat\":\"steal\",\"name\":\"steal\",\"id\":%" G_GUINT64_FORMAT
                              ",\"bp\":\"e\"}",
                              self->n_flows);
    }
}

/* Ends what began last, if it is of that kind: of an item that began before the oldest event there
 * is only the end. */
static void
close_last (IrisTraceJson *self,
            const IrisTraceLine *line,
            GArray *open,
            IrisTraceKind kind,
            gint64 now_ns)
{
  Open *last = open->len > 0 ? &g_array_index (open, Open, open->len - 1) : NULL;

  if (last == NULL || last->kind != kind)
    return;
  add_slice (self, line, last, now_ns, false);
  g_array_set_size (open, open->len - 1);
}

static void
add_one (IrisTraceJson *self, const IrisTraceLine *line, GArray *open, const IrisTraceEvent *event)
{
  gint64 now_ns = iris_trace_event_get_time (event);
  IrisTraceKind kind = iris_trace_event_get_kind (event);
  Open *last = open->len > 0 ? &g_array_index (open, Open, open->len - 1) : NULL;

  switch (kind)
    {
    case IRIS_TRACE_ITEM:
    case IRIS_TRACE_PARK:
      g_array_append_val (open,
                          ((Open){ .kind = kind, .begun_ns = now_ns, .function = event->what }));
      break;
    case IRIS_TRACE_END:
      close_last (self, line, open, IRIS_TRACE_ITEM, now_ns);
      break;
    case IRIS_TRACE_WAKE:
      close_last (self, line, open, IRIS_TRACE_PARK, now_ns);
      break;
    case IRIS_TRACE_NAME:
      if (last != NULL && last->name == NULL)
        last->name = (const char *) (uintptr_t) event->what;
      break;
    case IRIS_TRACE_NUMBER:
      if (last != NULL && last->number == 0)
        last->number = event->what;
      break;
    case IRIS_TRACE_STEAL:
      add_steal (self, line, event);
      break;
    }
}

/* @from_ns and @to_ns: when the trace began and ended, by iris_clock_ns(). */
IrisTraceJson *
iris_trace_json_new (GOutputStream *stream, gint64 from_ns, gint64 to_ns, guint n_places)
{
  IrisTraceJson *self = g_new0 (IrisTraceJson, 1);

  self->stream = g_object_ref (stream);
  self->text = g_string_new ("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  g_string_append (self->text, "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\","
                               "\"args\":{\"sort_index\":0}}");
  self->functions = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->summary = g_string_new (NULL);
  self->from_ns = from_ns;
  self->to_ns = to_ns;
  for (guint place = 0; place < n_places; place++)
    {
      g_autofree char *name = g_strdup_printf ("place %u", place);

      add_name (self, "process_name", place, -1, name);
      add_name (self, "thread_name", place, QUEUES_TID, "queues");
    }
  return self;
}

gboolean
iris_trace_json_add (IrisTraceJson *self,
                     const IrisTraceLine *line,
                     GCancellable *cancellable,
                     GError **error)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (Open));
  g_autofree char *name = g_strdup_printf ("worker %u", line->index);
  guint64 n_noted = 0;

  add_name (self, "thread_name", line->place, (gint) line->index, name);
  for (uint64_t i = 0; i < line->n_events; i++)
    {
      gint64 when_ns = iris_trace_event_get_time (&line->events[i]);

      /* One that was late for the trace before, or for this one. */
      if (when_ns < self->from_ns || when_ns > self->to_ns)
        continue;
      n_noted += iris_trace_event_get_kind (&line->events[i]) == IRIS_TRACE_ITEM;
      add_one (self, line, open, &line->events[i]);
      if (!write_out (self, WRITE_AT, cancellable, error))
        return FALSE;
    }
  while (open->len > 0)
    {
      add_slice (self, line, &g_array_index (open, Open, open->len - 1), self->to_ns, true);
      g_array_set_size (open, open->len - 1);
    }
  g_string_append_printf (self->summary,
                          "%s{\"worker\":%u,\"place\":%u,\"items\":%" G_GUINT64_FORMAT
                          ",\"noted\":%" G_GUINT64_FORMAT ",\"lost_events\":%" G_GUINT64_FORMAT "}",
                          self->summary->len > 0 ? "," : "", line->index, line->place,
                          (guint64) line->n_items, n_noted, (guint64) line->n_lost);
  return write_out (self, WRITE_AT, cancellable, error);
}

gboolean
iris_trace_json_end (IrisTraceJson *self, GCancellable *cancellable, GError **error)
{
  g_string_append_printf (self->text,
                          "\n],\"otherData\":{\"clock\":\"CLOCK_MONOTONIC\",\"from_ns\":"
                          "%" G_GINT64_FORMAT ",\"to_ns\":%" G_GINT64_FORMAT
                          ",\"workers\":[%s]}}\n",
                          self->from_ns, self->to_ns, self->summary->str);
  return write_out (self, 0, cancellable, error);
}

void
iris_trace_json_free (IrisTraceJson *self)
{
  g_object_unref (self->stream);
  g_string_free (self->text, TRUE);
  g_string_free (self->summary, TRUE);
  g_hash_table_unref (self->functions);
  g_free (self);
}
