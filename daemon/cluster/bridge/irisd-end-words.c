/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Words to the homes of items.
 *
 * They are sent when a turn of the main loop has ended, so those that the engine hands over at once
 * are together. The source is never ready: it has the end of the turn, before the engine's source,
 * which then gives its messages away.
 */
#include "irisd-end-words.h"

#include "daemon/cluster/bridge/irisd-end-pack.h"

struct _IrisdEndWords
{
  const IrisdBridgeShared *shared;
  GHashTable *packs; /* utf8 IrisdEndPack: by home */
  GSource *source;
  gboolean any; /* not sent yet */
};

typedef struct
{
  GSource source;
  IrisdEndWords *words;
} WordsSource;

static void
send_pack (IrisdEndWords *self, const char *home, IrisdEndPack *pack)
{
  gsize size;
  g_autofree char *subject = irisd_subject_for_node (home, "end");
  gconstpointer message;

  if (pack->n == 0)
    return;
  message = irisd_end_pack_get_message (pack, &size);
  irisd_engine_send (self->shared->engine, subject, NULL, NULL, 0, message, size);
  irisd_end_pack_clear (pack);
}

static void
send_all (IrisdEndWords *self)
{
  GHashTableIter iter;
  gpointer home, pack;

  if (!self->any)
    return;
  self->any = FALSE;
  g_hash_table_iter_init (&iter, self->packs);
  while (g_hash_table_iter_next (&iter, &home, &pack))
    send_pack (self, home, pack);
}

static gboolean
source_prepare (GSource *source, int *timeout_ms)
{
  *timeout_ms = -1;
  send_all (((WordsSource *) source)->words);
  return FALSE;
}

static gboolean
source_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

IrisdEndWords *
irisd_end_words_new (const IrisdBridgeShared *shared)
{
  static GSourceFuncs funcs = { .prepare = source_prepare, .dispatch = source_dispatch };
  IrisdEndWords *self = g_new0 (IrisdEndWords, 1);

  self->shared = shared;
  self->packs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                       (GDestroyNotify) irisd_end_pack_free);
  self->source = g_source_new (&funcs, sizeof (WordsSource));
  ((WordsSource *) self->source)->words = self;
  g_source_set_priority (self->source, G_PRIORITY_DEFAULT - 1); /* before the engine's */
  g_source_set_static_name (self->source, "irisd-end-words");
  g_source_attach (self->source, shared->context);
  return self;
}

/* The @end, which is copied, is sent soon. */
void
irisd_end_words_add (IrisdEndWords *self, const char *home, gconstpointer end, gsize size)
{
  IrisdEndPack *pack = g_hash_table_lookup (self->packs, home);

  if (pack == NULL)
    {
      pack = irisd_end_pack_new ();
      g_hash_table_insert (self->packs, g_strdup (home), pack);
    }
  if ((pack->n > 0 && !irisd_bridge_fits (self->shared, pack->bytes->len + size))
      || !irisd_end_pack_add (pack, end, size))
    {
      send_pack (self, home, pack);
      irisd_end_pack_add (pack, end, size);
    }
  self->any = TRUE;
}

/* The engine is still there: what was not sent is. */
void
irisd_end_words_stop (IrisdEndWords *self)
{
  send_all (self);
  g_source_destroy (self->source);
}

void
irisd_end_words_free (IrisdEndWords *self)
{
  g_source_unref (self->source);
  g_hash_table_unref (self->packs);
  g_free (self);
}
