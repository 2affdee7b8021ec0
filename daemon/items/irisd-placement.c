/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The place of an item: the meaning of its hints, and where it ran in the end.
 *
 * A hint names a place by its number, by its name, or by the place of an item or a path. The
 * library's own hint is below this: an item carries a place into the scheduler. A client need not
 * know it; it knows which item made the data, or which file they are. This file turns that into a
 * place. What ran on another node has the number of that node in the history, above those of
 * places; there the item goes then (irisd-away.c), and the place is that node's to find. How much
 * memory an item will touch goes to the scheduler as it is.
 */
#include "daemon/items/irisd-placement.h"

#include "daemon/base/irisd-text.h"
#include "daemon/exec/irisd-place-control.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-dependencies.h"

#include <string.h>

/* Numbers in the history above this one are nodes (irisd_cluster_view_get_number()). */
#define NODES 0x8000

/* Characters of an unknown name that a sentence repeats, and names that it lists. */
#define MAX_QUOTED 64
#define MAX_LISTED 16

#define NEAR_KEYS                                                                    \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_ITEM) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_PATH))

/* Returns the next place in turn, among those that are not drained, for an item without a hint. */
static gint
deal (IrisdItems *self)
{
  guint home = 0;
  for (guint i = 0; i < self->core->n_places; i++)
    {
      home = self->next_home;
      self->next_home = (home + 1) % self->core->n_places;
      if (!irisd_place_control_is_drained (self->core->place_control, (gint) home))
        break;
    }
  return (gint) home;
}

static gboolean
is_numbered (const IrisWireMessage *item)
{
  return iris_wire_message_has (item, IRIS_WIRE_KEY_HINT) && item->hint != IRIS_PLACE_ANY;
}

static gboolean
check_number (IrisdCore *core, gint hint, GError **error)
{
  if (hint >= 0 && (guint) hint < core->n_places)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_PLACE,
               "there is no place %d: this irisd has the places 0 to %u", hint, core->n_places - 1);
  return FALSE;
}

static char *
list_places (IrisdCore *core)
{
  GString *names = g_string_new (NULL);
  for (guint id = 0; id < MIN (core->n_places, MAX_LISTED); id++)
    g_string_append_printf (names, "%s%s", id > 0 ? ", " : "", core->infos[id].name);
  if (core->n_places > MAX_LISTED)
    g_string_append_printf (names, " and %u more", core->n_places - MAX_LISTED);
  return g_string_free (names, FALSE);
}

static gboolean
find_name (IrisdCore *core, const IrisWireString *name, gint *place, GError **error)
{
  for (guint id = 0; id < core->n_places; id++)
    {
      const char *known = core->infos[id].name;
      if (strlen (known) == name->len && memcmp (known, name->data, name->len) == 0)
        {
          *place = (gint) id;
          return TRUE;
        }
    }
  g_autofree char *names = list_places (core);
  g_autofree char *quoted = irisd_text_quote (name->data, (gssize) name->len, MAX_QUOTED);
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_PLACE,
               "there is no place “%s”: this irisd has %s", quoted, names);
  return FALSE;
}

/* Each owner has paths of its own: the places of other owners' paths stay hidden. */
static char *
name_path (gint64 owner, const char *path)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT " %s", owner, path);
}

/* Returns what the history has of the item or path that @item is to be near. Items of other owners
 * are unknown. */
static gint
look_up (IrisdItems *self, const IrisdPeer *peer, const IrisWireMessage *item)
{
  IrisdCore *core = self->core;
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_NEAR_ITEM))
    {
      g_autofree char *path = iris_wire_string_dup (&item->near_path);
      g_autofree char *name = name_path (peer->owner, path);
      return irisd_placement_history_find_path (&core->placement_history, name);
    }
  if (irisd_dependencies_reaches (self, irisd_peer_get_view (peer, IRIS_WIRE_SUBMIT),
                                  item->near_item))
    return irisd_placement_history_find_item (&core->placement_history, item->near_item);
  return IRIS_PLACE_ANY;
}

/* Returns the other node that has the item or path which @item, with one such key, is to be near;
 * NULL if none has. @known: whether it is known at all, if only of a place here. */
const char *
irisd_placement_find_node (IrisdItems *self,
                           const IrisdPeer *peer,
                           const IrisWireMessage *item,
                           gboolean *known)
{
  const gint place = look_up (self, peer, item);
  *known = place != IRIS_PLACE_ANY;
  return place > NODES ? irisd_cluster_view_get_name (self->core->cluster, (guint) (place - NODES))
                       : NULL;
}

/* Fails only if the hint is strict and the place is not known. */
static gboolean
find_near (IrisdItems *self,
           const IrisdPeer *peer,
           const IrisWireMessage *item,
           gint *place,
           GError **error)
{
  *place = look_up (self, peer, item);
  if (*place > NODES)
    *place = IRIS_PLACE_ANY;
  if (*place != IRIS_PLACE_ANY || !item->strict)
    return TRUE;
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_NEAR_ITEM))
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_REMEMBERED,
                 "irisd does not remember where item %" G_GUINT64_FORMAT
                 " was (limit remembered-places): name a place, or leave out strict",
                 item->near_item);
  else
    g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_REMEMBERED,
                         "irisd does not remember where the path was last worked on (limit "
                         "remembered-paths): name a place, or leave out strict");
  return FALSE;
}

static guint
count_hints (const IrisWireMessage *item)
{
  return (guint) is_numbered (item) + iris_wire_message_has (item, IRIS_WIRE_KEY_HINT_NAME)
         + iris_wire_message_has (item, IRIS_WIRE_KEY_NEAR_ITEM)
         + iris_wire_message_has (item, IRIS_WIRE_KEY_NEAR_PATH);
}

/* Sets the place that the item's hint means; IRIS_PLACE_ANY if it has none, or none that is
 * known. */
static gboolean
read_hint (IrisdItems *self,
           const IrisdPeer *peer,
           const IrisWireMessage *item,
           gint *place,
           GError **error)
{
  IrisdCore *core = self->core;
  *place = IRIS_PLACE_ANY;
  if ((item->present & NEAR_KEYS) == 0)
    {
      if (!is_numbered (item))
        return TRUE;
      *place = item->hint;
      return check_number (core, item->hint, error);
    }
  if (count_hints (item) > 1)
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "an item has one hint: give one of hint, hint-name, near-item and "
                           "near-path");
      return FALSE;
    }
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_HINT_NAME))
    return find_name (core, &item->hint_name, place, error);
  return find_near (self, peer, item, place, error);
}

static gboolean
check_strict (IrisdCore *core, gboolean hinted, GError **error)
{
  if (!hinted)
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "a strict item has to name its place: add a hint, or leave out strict");
      return FALSE;
    }
  if (!core->placed && core->n_places > 1)
    {
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "the scheduler “%s” knows no places, so it cannot be strict about one: start "
                   "irisd with --scheduler places",
                   irisd_config_scheduler_name (core->config->scheduler));
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_memory (const IrisWireMessage *item, GError **error)
{
  if (!item->keep_apart || item->footprint > 0)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "an item can be kept apart only by the memory that it declares: add "
                       "footprint, the bytes that it will touch, or leave out keep-apart");
  return FALSE;
}

/* Moves an item for a drained place to another one, if it is not strict. */
static gboolean
leave_drained (IrisdItems *self, const IrisWireMessage *item, gint *home, GError **error)
{
  if (!item->strict)
    {
      *home = irisd_place_control_choose_other (self->core->place_control, *home);
      return TRUE;
    }
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "place %d is drained and takes no items: name another one, leave out strict, or "
               "resume it (irisctl drain PLACE --resume)",
               *home);
  return FALSE;
}

static gboolean
choose_here (IrisdItems *self,
             const IrisdPeer *peer,
             const IrisWireMessage *item,
             gint *home,
             gboolean *hinted,
             GError **error)
{
  gint place;
  if (!check_memory (item, error) || !read_hint (self, peer, item, &place, error))
    return FALSE;
  if (place == IRIS_PLACE_ANY && self->place != IRISD_FRONT)
    place = self->place;
  *hinted = place != IRIS_PLACE_ANY;
  if (item->strict && !check_strict (self->core, *hinted, error))
    return FALSE;
  *home = *hinted ? place : deal (self);
  return !irisd_place_control_is_drained (self->core->place_control, *home)
         || leave_drained (self, item, home, error);
}

/* Sets @home to the place of the item's hint; else to the place of the socket that it came by; else
 * to the next in turn. One for another node has its hint there. @hinted: whether the hint chose.
 * Returns whether there is such a place. */
gboolean
irisd_placement_choose_home (IrisdItems *self,
                             const IrisdPeer *peer,
                             const IrisWireMessage *item,
                             gint *home,
                             gboolean *hinted,
                             GError **error)
{
  if (!irisd_is_away (item))
    return choose_here (self, peer, item, home, hinted, error);
  IrisWireMessage plain;
  iris_wire_message_init (&plain, IRIS_WIRE_SUBMIT, item->request_id);
  const gboolean chosen = choose_here (self, peer, &plain, home, hinted, error);
  *hinted = FALSE;
  return chosen;
}

/* Its hint is about another node. */
static gboolean
is_away (const IrisdJob *job)
{
  return job->leased_item != NULL && job->leased_item->away != NULL;
}

/* Adds to an item with another hint the place that this meant when it was accepted: the item is
 * queued there again after a restart, when the history is lost. Changes @item, the job's SUBMIT. */
void
irisd_placement_pin_hint (const IrisdJob *job, IrisWireMessage *item)
{
  if ((item->present & NEAR_KEYS) == 0 || is_away (job))
    return;
  iris_wire_message_set_int (item, IRIS_WIRE_KEY_HINT, job->home);
}

/* Makes a stored SUBMIT what its client sent. */
void
irisd_placement_unpin_hint (IrisWireMessage *item)
{
  if ((item->present & NEAR_KEYS) != 0 && !irisd_is_away (item))
    item->present &= ~IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT);
  item->present &= ~IRIS_WIRE_BIT (IRIS_WIRE_KEY_CLUSTER_ITEM);
}

static const char *
path_of (const IrisdJob *job)
{
  if (job->near_path != NULL)
    return job->near_path;
  return job->path != NULL || job->leased_item == NULL ? job->path : job->leased_item->path;
}

static void
note (IrisdItems *self, const IrisdJob *job, gint place)
{
  const char *path = path_of (job);
  irisd_placement_history_note_item (&self->core->placement_history, job->id, place);
  if (path == NULL)
    return;
  g_autofree char *name = name_path (job->owner, path);
  irisd_placement_history_note_path (&self->core->placement_history, name, place);
}

static void
note_node (IrisdItems *self, const IrisdJob *job, const char *node)
{
  guint number = node != NULL ? irisd_cluster_view_get_number (self->core->cluster, node) : 0;
  if (number > 0)
    note (self, job, NODES + (gint) number);
}

/* Remembers the home of a new job, whose number is given. */
void
irisd_placement_note_home (IrisdItems *self, const IrisdJob *job)
{
  if (!is_away (job))
    note (self, job, job->home);
  else if (self->core->cluster != NULL)
    note_node (self, job, job->leased_item->away->sent_to);
}

/* Remembers where the job ran, if that was not at home. */
void
irisd_placement_note_place (IrisdItems *self, const IrisdJob *job)
{
  if (is_away (job))
    {
      if (self->core->cluster != NULL)
        note_node (self, job, job->leased_item->away->node);
    }
  else if (job->place != job->home && job->place != IRIS_PLACE_ANY)
    note (self, job, job->place);
}
