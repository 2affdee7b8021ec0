/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The settings in force: a configuration that is replaced as a whole while threads read it.
 *
 * One thread publishes: irisd's main thread. The readers are a fixed number of threads, the
 * gateways and the ZAP handler's. A reader takes no lock and counts no references: it loads one
 * pointer. In each turn it passes a point at which it holds no settings, and writes there which
 * publication it has seen. This is reclamation by quiescent states (McKenney and Slingwine,
 * "Read-Copy Update", 1998).
 *
 * Invariant: a configuration is freed only after each reader has passed a point at which it saw the
 * publication of the next one, or a later one. Before that point the reader may use the old one;
 * its release store there orders these uses before the publisher's acquire load, and so before
 * free(). After the point it cannot get the old one: it acquired `version`, which was stored after
 * `current`, so coherence gives it the newer pointer.
 *
 * A configuration is constant from its publication on. So a thread that is no reader must not get
 * one: what it needs is given to it under a lock (irisd_fair_rules_change() and the like), or is a
 * setting that a running irisd does not change (irisd-config-diff.c).
 *
 * A reader that sleeps holds back what it might use. The publisher wakes the readers, and collects
 * when it runs next. The price is an acquire load in each turn of a reader, on a cache line that is
 * written once in a reload.
 */
#include "daemon/config/irisd-settings.h"

/* The version of a reader that has ended: it holds back nothing. */
#define GONE G_MAXUINT64

typedef struct
{
  const IrisdConfig *config;
  guint64 until; /* the publication that replaced it */
} Old;

/* Takes @first. */
void
irisd_settings_init (IrisdSettings *self, IrisdConfig *first, guint n_readers)
{
  *self = (IrisdSettings){ .n_readers = n_readers, .old = g_queue_new () };
  self->readers = g_aligned_alloc0 (n_readers, sizeof *self->readers, 64);
  atomic_init (&self->current, first);
}

/* The readers have ended. */
void
irisd_settings_clear (IrisdSettings *self)
{
  for (guint i = 0; i < self->n_readers; i++)
    irisd_settings_leave (self, i);
  irisd_settings_collect (self);
  g_clear_pointer (&self->old, g_queue_free);
  irisd_config_free ((IrisdConfig *) irisd_settings_get (self));
  g_aligned_free (self->readers);
}

/* Takes @config; from now on readers get it. Wake them, so that the one before can be freed. */
void
irisd_settings_publish (IrisdSettings *self, IrisdConfig *config)
{
  /* Only this thread writes either of the two. */
  guint64 version = atomic_load_explicit (&self->version, memory_order_relaxed) + 1;
  Old *old = g_new (Old, 1);
  *old = (Old){ irisd_settings_get (self), version };
  g_queue_push_tail (self->old, old);
  /* Releases the content of @config to irisd_settings_get(). */
  atomic_store_explicit (&self->current, config, memory_order_release);
  /* Releases `current` to irisd_settings_pass(). */
  atomic_store_explicit (&self->version, version, memory_order_release);
}

static guint64
find_least_seen (IrisdSettings *self)
{
  guint64 least = GONE;
  for (guint i = 0; i < self->n_readers; i++)
    /* Acquires the reader's last uses of what is freed afterwards. */
    least = MIN (least, atomic_load_explicit (&self->readers[i].version, memory_order_acquire));
  return least;
}

/* Frees what no reader uses any more; for the publisher. Returns how many are left. */
guint
irisd_settings_collect (IrisdSettings *self)
{
  if (g_queue_is_empty (self->old))
    return 0;
  guint64 seen = find_least_seen (self);
  for (Old *old; (old = g_queue_peek_head (self->old)) != NULL && old->until <= seen;)
    {
      g_queue_pop_head (self->old);
      irisd_config_free ((IrisdConfig *) old->config);
      g_free (old);
    }
  return g_queue_get_length (self->old);
}

/* The thread of number @reader ends, or never started. */
void
irisd_settings_leave (IrisdSettings *self, guint reader)
{
  /* As in irisd_settings_pass(). */
  atomic_store_explicit (&self->readers[reader].version, GONE, memory_order_release);
}
