/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The way back: an IrisMpsc, whose push says whether the owner has to be woken, and a source.
 *
 * Only the sender that finds the mailbox at rest sets the source's ready time, which takes a lock
 * and writes to the context's event descriptor. All others only push.
 */
#include "mail.h"

#include <iris/iris.h>

struct _Mail
{
  GSource source;
  IrisMpsc *box;
  MailFunc func;
  gpointer data;
  guint64 n_wakes, n_tiles;
};

static gboolean
mail_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  Mail *self = (Mail *) source;
  Tile *tile;

  g_source_set_ready_time (source, -1);
  self->n_wakes++;
  while ((tile = iris_mpsc_pop (self->box)) != NULL)
    {
      self->n_tiles++;
      self->func (tile, self->data);
    }
  if (!iris_mpsc_rest (self->box))
    g_source_set_ready_time (source, 0);

  return G_SOURCE_CONTINUE;
}

static GSourceFuncs mail_funcs = { .dispatch = mail_dispatch };

Mail *
mail_new (MailFunc func, gpointer data)
{
  Mail *self = (Mail *) g_source_new (&mail_funcs, sizeof *self);

  self->box = iris_mpsc_new ();
  self->func = func;
  self->data = data;
  g_source_set_static_name (&self->source, "finished tiles");
  g_source_attach (&self->source, g_main_context_get_thread_default ());

  return self;
}

void
mail_free (Mail *self)
{
  Tile *tile;

  g_source_destroy (&self->source);
  while ((tile = iris_mpsc_pop (self->box)) != NULL)
    tile_unref (tile);
  iris_mpsc_unref (self->box);
  g_source_unref (&self->source);
}

void
mail_send (Mail *self, Tile *tile)
{
  if (iris_mpsc_push (self->box, tile))
    g_source_set_ready_time (&self->source, 0);
}

void
mail_get_counts (Mail *self, guint64 *n_wakes, guint64 *n_tiles)
{
  *n_wakes = self->n_wakes;
  *n_tiles = self->n_tiles;
}
