/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd is started anew again and again while four pipelining clients of libiris-client go on.
 *
 * Each client always has a window of durable items, and submits one for each that ends. irisd ends
 * by SIGTERM and begins again at the same sockets and journal after a number of ends; no client may
 * see an error, and each item ends once. A client's pause is the time between the last end before
 * a restart and the first one behind it.
 */
#include "soak.h"

#include <iris-client/iris-client.h>
#include <signal.h>

#define N_CLIENTS 4
#define WINDOW    64

/* Ends of all clients between two restarts: the fewest, and how many more in a long run. */
#define LEAST_ENDS 500
#define MORE_ENDS  3500

typedef struct _Upgrades Upgrades;

typedef struct
{
  Upgrades *upgrades;
  IrisClient *client;
  gint64 last_us;   /* when it was last told an end */
  gboolean crossed; /* and irisd was started anew since */
} Program;

typedef struct
{
  Program *program;
  guint64 number;
} Entry;

struct _Upgrades
{
  char *base, *dir, *option;
  SoakFigures *figures;
  Program programs[N_CLIENTS];
  GArray *ended;  /* gboolean by number */
  GArray *pauses; /* gint64, in microseconds */
  guint64 in_flight;
  gboolean closing;
};

static void submit (Program *program);

static Irisd *
start (Upgrades *self)
{
  const char *const options[] = { TWO_PLACES, self->option, NULL };
  return irisd_start_in (self->dir, NULL, options);
}

static void
note_end (Program *program)
{
  Upgrades *self = program->upgrades;
  gint64 now = g_get_monotonic_time ();
  gint64 pause = now - program->last_us;
  if (program->crossed)
    g_array_append_val (self->pauses, pause);
  program->crossed = FALSE;
  program->last_us = now;
}

static void
on_end (GObject *source, GAsyncResult *async, gpointer data)
{
  g_autofree Entry *entry = data;
  Program *program = entry->program;
  Upgrades *self = program->upgrades;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult) result = iris_client_submit_finish (IRIS_CLIENT (source), async, &error);
  ck_assert_msg (result != NULL, "%s", error != NULL ? error->message : "");
  g_autofree char *text = iris_result_dup_text (result);
  ck_assert_uint_eq (g_ascii_strtoull (text, NULL, 10), entry->number);
  gboolean *ended = &g_array_index (self->ended, gboolean, entry->number);
  self->figures->duplicates += *ended;
  self->figures->ended += !*ended;
  *ended = TRUE;
  self->in_flight--;
  note_end (program);
  if (!self->closing)
    submit (program);
}

static void
submit (Program *program)
{
  Upgrades *self = program->upgrades;
  Entry *entry = g_new0 (Entry, 1);
  const gboolean not_yet = FALSE;
  *entry = (Entry){ program, self->ended->len };
  g_array_append_val (self->ended, not_yet);
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, entry->number);
  g_autoptr (GBytes) payload = g_bytes_new (text, strlen (text));
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  iris_request_set_payload (request, payload);
  iris_request_set_durability (request, IRIS_DURABILITY_DURABLE);
  self->in_flight++;
  self->figures->accepted++;
  iris_client_submit_async (program->client, request, NULL, on_end, entry);
}

static void
on_exit_of_irisd (GObject *source, GAsyncResult *async, gpointer data)
{
  ck_assert (g_subprocess_wait_finish (G_SUBPROCESS (source), async, NULL));
  *(gboolean *) data = TRUE;
}

/* The clients go on meanwhile. */
static void
end_irisd (Upgrades *self, Irisd *irisd)
{
  gboolean ended = FALSE;
  soak_note_peak (self->figures, irisd);
  g_subprocess_wait_async (irisd->process, NULL, on_exit_of_irisd, &ended);
  irisd_signal (irisd, SIGTERM);
  while (!ended)
    g_main_context_iteration (NULL, TRUE);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_release (irisd);
}

static void
run_until (Upgrades *self, guint64 n_ended)
{
  while (self->figures->ended < n_ended)
    g_main_context_iteration (NULL, TRUE);
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 left = *(const gint64 *) a, right = *(const gint64 *) b;
  return left < right ? -1 : left > right;
}

static void
describe_pauses (Upgrades *self)
{
  GArray *pauses = self->pauses;
  ck_assert_uint_gt (pauses->len, 0);
  g_array_sort (pauses, compare_times);
  const guint middle = pauses->len / 2;
  g_snprintf (self->figures->note, sizeof self->figures->note,
              "%u pauses of clients: median %.0f ms, worst %.0f ms", pauses->len,
              g_array_index (pauses, gint64, middle) / 1000.0,
              g_array_index (pauses, gint64, pauses->len - 1) / 1000.0);
}

static void
go_through_upgrades (Upgrades *self)
{
  Irisd *irisd = start (self);
  for (guint i = 0; i < N_CLIENTS; i++)
    {
      self->programs[i] = (Program){ self, iris_client_new (self->dir), 0, FALSE };
      for (guint k = 0; k < WINDOW; k++)
        submit (&self->programs[i]);
    }
  for (guint n = soak_times (3, 20); n > 0; n--)
    {
      run_until (self, self->figures->ended + LEAST_ENDS
                           + soak_random (0, soak_times (LEAST_ENDS, MORE_ENDS)));
      end_irisd (self, irisd);
      /* Ends that came while irisd ended are before the restart. */
      for (guint i = 0; i < N_CLIENTS; i++)
        self->programs[i].crossed = self->programs[i].last_us != 0;
      irisd = start (self);
    }
  run_until (self, self->figures->ended + LEAST_ENDS);
  self->closing = TRUE;
  while (self->in_flight > 0)
    g_main_context_iteration (NULL, TRUE);
  for (guint i = 0; i < N_CLIENTS; i++)
    g_object_unref (self->programs[i].client);
  soak_note_peak (self->figures, irisd);
  irisd_stop (irisd);
}

void
soak_upgrades (SoakFigures *figures)
{
  Upgrades self = { .figures = figures };
  self.base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  self.dir = g_build_filename (self.base, "d", NULL);
  self.option = g_strconcat ("--journal=", self.base, "/j", NULL);
  self.ended = g_array_new (FALSE, TRUE, sizeof (gboolean));
  self.pauses = g_array_new (FALSE, FALSE, sizeof (gint64));
  go_through_upgrades (&self);
  describe_pauses (&self);
  irisd_remove_all (self.base);
  g_array_unref (self.ended);
  g_array_unref (self.pauses);
  g_free (self.option);
  g_free (self.dir);
  g_free (self.base);
}
