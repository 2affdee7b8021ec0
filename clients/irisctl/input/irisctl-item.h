/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An item as the command line or a line of a file describes it.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

#include <json-glib/json-glib.h>

/* It owns nothing. */
typedef struct
{
  char *service;
  char *place;
  char *near; /* the number of an item, or a path */
  char *path;
  char *content_type;
  char *payload;        /* as text */
  char *payload_base64; /* or so */
  GBytes *bytes;        /* or so */
  char **args;
  gboolean strict;
  CtlSchedule schedule;
  CtlCommandOptions command;
  char *klass; /* NULL: durable */
  char *key;
  char *keep;
  gboolean detach;
  gboolean bury;
} CtlItem;

/* What the members of an object are made into; use it again for the next one. */
typedef struct
{
  GStringChunk *strings;
  GPtrArray *lists;
} CtlItemMemory;

void ctl_item_memory_init (CtlItemMemory *self);
void ctl_item_memory_reset (CtlItemMemory *self);
void ctl_item_memory_clear (CtlItemMemory *self);

/* What the options that all items share say. */
void ctl_item_init (CtlItem *self, const Ctl *ctl);

/* Lets the members of @object, which are called as the long options, stand in for what @self says.
 * What is set lives as long as @object and @memory. */
gboolean ctl_item_read (CtlItem *self, JsonObject *object, CtlItemMemory *memory, GError **error);

gboolean ctl_item_is_persistent (const CtlItem *self);

/* Judges it. NULL with a sentence that says what is wrong. */
IrisRequest *ctl_item_make_request (const CtlItem *self, GError **error);

/* The number of an item. CTL_OK, or CTL_USAGE after printing that @text is none. */
int ctl_parse_item_number (const char *text, guint64 *number);
