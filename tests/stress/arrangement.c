/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arrangements: the table, and making them.
 */
#include "arrangement.h"

#define N_PLACES  3
#define N_WORKERS 2 /* of each place; and of each bound one */

static const struct
{
  IrisLayout layout;
  IrisDequeKind deque;
} forms[] = {
  { IRIS_LAYOUT_WORKERS, IRIS_DEQUE_CHASE_LEV },   { IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT },
  { IRIS_LAYOUT_WORKERS, IRIS_DEQUE_ABP },         { IRIS_LAYOUT_WORKERS, IRIS_DEQUE_STEAL_HALF },
  { IRIS_LAYOUT_WORKERS, IRIS_DEQUE_LOCKED },      { IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_CHASE_LEV },
  { IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_SPLIT },      { IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_ABP },
  { IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_STEAL_HALF }, { IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_LOCKED },
  { IRIS_LAYOUT_SHARED, IRIS_DEQUE_LOCKED },       { IRIS_LAYOUT_MAILBOXES, IRIS_DEQUE_SPLIT },
  { IRIS_LAYOUT_MAILBOXES, IRIS_DEQUE_CHASE_LEV },
};

#define N_FORMS G_N_ELEMENTS (forms)

guint
arrangement_count (void)
{
  return ARRANGEMENT_PLACES + 2 * 2 * N_FORMS;
}

Arrangement
arrangement_get (guint i)
{
  Arrangement self = { .kind = (ArrangementKind) MIN (i, ARRANGEMENT_PLACES) };

  if (i < ARRANGEMENT_PLACES)
    return self;
  i -= ARRANGEMENT_PLACES;
  self.layout = forms[i % N_FORMS].layout;
  self.deque = forms[i % N_FORMS].deque;
  self.deal = i / N_FORMS % 2 == 0 ? IRIS_DEAL_OWN : IRIS_DEAL_ROUND_ROBIN;
  self.bound = i / N_FORMS / 2 != 0;

  return self;
}

static const char *
nick_of (GType type, gint value)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (type);

  return g_enum_get_value (klass, value)->value_nick;
}

char *
arrangement_dup_name (const Arrangement *self)
{
  static const char *const names[] = { "default", "lock-free", "work-stealing", "main context" };

  if (self->kind != ARRANGEMENT_PLACES)
    return g_strdup (names[self->kind]);

  return g_strdup_printf (
      "places, %s, %s, deal %s, %s", nick_of (IRIS_TYPE_LAYOUT, (gint) self->layout),
      nick_of (IRIS_TYPE_DEQUE_KIND, (gint) self->deque),
      nick_of (IRIS_TYPE_DEAL, (gint) self->deal), self->bound ? "bound" : "unbound");
}

static IrisPlaces *
make_places (bool bound)
{
  g_autoptr (GError) error = NULL;
  IrisPlaces *places;

  if (!bound)
    return iris_places_new_unbound (N_PLACES, N_WORKERS);
  places = iris_places_new_full (NULL, "pu", N_WORKERS * g_get_num_processors (), IRIS_BIND_CPU,
                                 &error);
  if (places == NULL)
    ck_abort_msg ("no bound places: %s", error->message);

  return places;
}

static gpointer
run_loop (gpointer loop)
{
  g_main_loop_run (loop);

  return NULL;
}

static void
stage_open_main_context (Stage *self)
{
  g_autoptr (GMainContext) context = g_main_context_new ();

  self->scheduler = iris_gmainscheduler_new (context);
  self->loop = g_main_loop_new (context, FALSE);
  self->thread = g_thread_new ("loop", run_loop, self->loop);
}

static void
stage_open_places (Stage *self, const Arrangement *arrangement)
{
  g_autoptr (IrisPlaces) places = make_places (arrangement->bound);

  self->n_places = iris_places_get_n_places (places);
  self->scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "layout",
                                  arrangement->layout, "deque", arrangement->deque, "deal",
                                  arrangement->deal, NULL);
}

void
stage_open (Stage *self, const Arrangement *arrangement)
{
  *self = (Stage){ NULL };
  switch (arrangement->kind)
    {
    case ARRANGEMENT_DEFAULT:
      self->scheduler = iris_scheduler_new_full (3, 3);
      break;
    case ARRANGEMENT_LOCK_FREE:
      self->scheduler = iris_lfscheduler_new_full (3, 3);
      break;
    case ARRANGEMENT_WORK_STEALING:
      self->scheduler = iris_wsscheduler_new_full (3, 3);
      break;
    case ARRANGEMENT_MAIN_CONTEXT:
      stage_open_main_context (self);
      break;
    case ARRANGEMENT_PLACES:
      stage_open_places (self, arrangement);
      break;
    }
}

void
stage_end (Stage *self, IrisShutdown how)
{
  iris_scheduler_shutdown (self->scheduler, how);
}

static gboolean
quit (gpointer loop)
{
  g_main_loop_quit (loop);

  return G_SOURCE_REMOVE;
}

void
stage_free (Stage *self)
{
  if (self->loop != NULL)
    {
      /* From within: a loop that has not begun to run yet would not notice. */
      g_autoptr (GSource) source = g_idle_source_new ();

      g_source_set_callback (source, quit, self->loop, NULL);
      g_source_attach (source, g_main_loop_get_context (self->loop));
      g_thread_join (self->thread);
      g_main_loop_unref (self->loop);
    }
  g_clear_object (&self->scheduler);
}

guint
stage_choose_n (guint few, guint many)
{
  if (g_getenv ("IRIS_SOAK") != NULL)
    return many;

  return CORE_TEST_LOAD (few);
}
