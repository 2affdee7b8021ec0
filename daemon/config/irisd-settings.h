/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The settings in force: a configuration that is replaced as a whole while threads read it.
 */
#pragma once

#include "daemon/config/irisd-config.h"

#include <stdatomic.h>

G_BEGIN_DECLS

/* When a reader has last passed a point at which it held no settings. */
typedef struct
{
  _Alignas(64) _Atomic guint64 version; /* that it saw there */
} IrisdSettingsReader;

typedef struct
{
  _Atomic (const IrisdConfig *) current;
  _Atomic guint64 version; /* counts publications */
  IrisdSettingsReader *readers;
  guint n_readers;
  GQueue *old; /* the publisher's: configurations that readers may still use, oldest first */
} IrisdSettings;

void irisd_settings_init (IrisdSettings *self, IrisdConfig *first, guint n_readers);
void irisd_settings_clear (IrisdSettings *self);
void irisd_settings_publish (IrisdSettings *self, IrisdConfig *config);
guint irisd_settings_collect (IrisdSettings *self);
void irisd_settings_leave (IrisdSettings *self, guint reader);

/* Returns the settings in force. A reader may use them until it passes its next point, the
 * publisher until it publishes. */
static inline const IrisdConfig *
irisd_settings_get (IrisdSettings *self)
{
  /* Acquires the configuration's content from irisd_settings_publish(). */
  return atomic_load_explicit (&self->current, memory_order_acquire);
}

/* The thread of number @reader passes a point: it uses no settings that it got before. Returns
 * whether others were published since its last point. */
static inline gboolean
irisd_settings_pass (IrisdSettings *self, guint reader)
{
  IrisdSettingsReader *own = &self->readers[reader];
  /* Acquires the publication: from here on the thread gets that configuration or a later one. */
  guint64 version = atomic_load_explicit (&self->version, memory_order_acquire);
  /* The thread is the only writer. */
  if (G_LIKELY (version == atomic_load_explicit (&own->version, memory_order_relaxed)))
    return FALSE;
  /* Releases the thread's last uses of older configurations to irisd_settings_collect(). */
  atomic_store_explicit (&own->version, version, memory_order_release);
  return TRUE;
}

G_END_DECLS
