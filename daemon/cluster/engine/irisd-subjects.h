/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The subjects of items in the cluster, and the names that are tokens of them.
 *
 * A token has the bytes A-Z, a-z, 0-9, "_" and "-"; each other byte of a name is "=XX", in
 * upper-case hexadecimal, so a token is never empty, has no dot and no wildcard, and gives back the
 * name. The place "-" of a subject is none; a place that is called "-" is "=2D".
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The longest name of a node. */
#define IRISD_NODE_NAME_MAX 32

#define IRISD_SUBJECT_WORK  "iris.w."
#define IRISD_SUBJECT_ENDS  "iris.e."
#define IRISD_SUBJECT_LATER "iris.l."
#define IRISD_SUBJECT_DUE   "iris.due."
#define IRISD_SUBJECT_DEAD  "iris.x."

/* What a subject of work says; strings are the names, not the tokens. */
typedef struct
{
  char *node; /* NULL: any */
  gboolean strict;
  char *place; /* NULL: none */
  char *service;
  char *item; /* of one that has waited for its time; else NULL */
} IrisdWorkSubject;

/* [a-z][a-z0-9-]{0,31}; "any" is none. */
gboolean irisd_node_name_is_valid (const char *name);

char *irisd_subject_escape (const char *name);
/* NULL if @token is not what irisd_subject_escape() makes. */
char *irisd_subject_unescape (const char *token);

/* "iris.w.any.soft.-.SERVICE" or "iris.w.NODE.soft|strict.PLACE.SERVICE". @node NULL: any, which is
 * never strict and has no place. */
char *
irisd_subject_for_work (const char *node, gboolean strict, const char *place, const char *service);

/* Of an item that waits for its time, by its id as text. While it waits there is a copy under
 * "iris.l.HOME.ITEM"; when its time has come, one under "iris.due." and the rest of the subject of
 * its work, with ".ITEM" behind, which comes as a subject of work with that behind. */
char *irisd_subject_for_later (const char *home, const char *item);
char *irisd_subject_for_due (const char *work, const char *item);
char *irisd_subject_for_late_work (const char *work, const char *item);
/* Of what is due, wherever it goes; and the subject of its work, or NULL. */
char *irisd_subject_for_any_due (const char *item);
char *irisd_subject_get_work (const char *due);

/* Of a schedule, by the id of its chain as text: of its head "iris.l.HOME.head.CHAIN", without the
 * id of all heads; and of the copy of its next run "iris.l.HOME.next.CHAIN". */
char *irisd_subject_for_head (const char *home, const char *chain);
char *irisd_subject_for_next (const char *home, const char *chain);
gboolean irisd_subject_parse_work (const char *subject, IrisdWorkSubject *work);
void irisd_work_subject_clear (IrisdWorkSubject *work);

/* "iris.e.HOME.ITEM", "iris.n.NODE.end", "iris.n.NODE.ask" */
char *irisd_subject_for_end (const char *home, const char *item);
char *irisd_subject_for_node (const char *node, const char *what);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisdWorkSubject, irisd_work_subject_clear)

G_END_DECLS
